/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test:NAME and bench:NAME: programs that are run by us, to be judged or timed. */
#include "lang/run/run.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/stop.h"
#include "host/bpf_sys.h"

/* bpftrace colours the marks of tests wherever they go. */
#define GREEN(mark) "\033[32m[" mark "]\033[0m"
#define RED(mark)   "\033[31m[" mark "]\033[0m"

enum { BENCH_FIRST = 64, BENCH_MOST = 1 << 22 };

/* Long enough for the clock and the scheduler not to matter. */
#define BENCH_NS (100 * NSEC_PER_MSEC)

static void add_name(struct run *r, const char *name, struct buf *out)
{
	if (r->c->opts->format == LANG_JSON) {
		buf_addstr(out, "{\"name\": ");
		json_quote(out, name, strlen(name));
	} else {
		buf_addstr(out, name);
	}
}

/* As bpftrace has it: {"name": { */
static void json_result(const char *name, struct buf *out)
{
	buf_addch(out, '{');
	json_quote(out, name, strlen(name));
	buf_addstr(out, ": {");
}

/* --- tests ------------------------------------------------------------------------------------ */

static void show_test(struct run *r, const struct timed *t, u32 number, bool passed, u64 ns)
{
	struct buf text = BUF_INIT;

	if (r->c->opts->format == LANG_JSON && r->c->opts->compat) {
		json_result(t->event, &text);
		buf_addf(&text, "\"duration\": %llu, \"passed\": %s, \"output\": \"\"}}",
			 (unsigned long long)ns, passed ? "true" : "false");
		run_json(r, "test_result", text.data, text.len);
	} else if (r->c->opts->format == LANG_JSON) {
		add_name(r, t->event, &text);
		buf_addf(&text, ", \"passed\": %s}", passed ? "true" : "false");
		run_json(r, "test_result", text.data, text.len);
	} else if (r->c->opts->compat) {
		buf_addf(&text, GREEN(" RUN      ") " %s\n%s %s (%llu μs)\n", t->event,
			 passed ? GREEN("       OK ") : RED("  FAILED  "), t->event,
			 (unsigned long long)(ns / NSEC_PER_USEC));
		run_write(r, false, text.data, text.len);
	} else {
		buf_addf(&text, "%sok %u - ", passed ? "" : "not ", number);
		add_name(r, t->event, &text);
		buf_addch(&text, '\n');
		run_write(r, false, text.data, text.len);
	}
	buf_release(&text);
}

/* A test passes when it returns nothing or 0 and did not end the program with another code. */
static int run_test(struct run *r, const struct timed *t, bool *ret_passed)
{
	u32 value = 0;
	int rc;

	r->stopping = false;
	r->exit_code = 0;
	rc = run_once(t->prog_fd, &value);
	if (rc < 0)
		return rc;
	run_drain(r);
	*ret_passed = value == 0 && r->exit_code == 0;
	return 0;
}

/* @names: a line for each test that failed. */
static void show_summary(struct run *r, u32 number, u32 failed, const struct buf *names)
{
	if (!number)
		return;
	buf_reset(&r->line);
	buf_addf(&r->line, GREEN("==========") " %u test%s ran.\n", number, number == 1 ? "" : "s");
	buf_addf(&r->line, GREEN("  PASSED  ") " %u test%s.\n", number - failed,
		 number - failed == 1 ? "" : "s");
	if (failed)
		buf_addf(&r->line, RED("  FAILED  ") " %u test%s, listed below:\n%s", failed,
			 failed == 1 ? "" : "s", buf_str(names));
	run_write(r, false, r->line.data, r->line.len);
}

int run_tests(struct run *r, struct err *e)
{
	_cleanup_buf_ struct buf names = BUF_INIT;
	u32 number = 0, failed = 0, all = 0;

	vec_each(it, &r->timed)
		all += it->provider == &probe_test;
	if (all && r->c->opts->compat && r->c->opts->format != LANG_JSON) {
		buf_reset(&r->line);
		buf_addf(&r->line, GREEN("==========") " Running %u tests.\n", all);
		run_write(r, false, r->line.data, r->line.len);
	}
	vec_each(it, &r->timed) {
		bool passed = false;
		u64 start;
		int rc;

		if (it->provider != &probe_test || stop_requested())
			continue;
		start = clock_mono_ns();
		rc = run_test(r, it, &passed);
		if (rc < 0)
			return err_sys(e, -rc, "cannot run 'test:%s'", it->event);
		failed += !passed;
		if (!passed)
			buf_addf(&names, RED("  FAILED  ") " %s\n", it->event);
		show_test(r, it, ++number, passed, clock_mono_ns() - start);
	}
	if (r->c->opts->compat && r->c->opts->format != LANG_JSON) {
		show_summary(r, number, failed, &names);
	} else if (r->c->opts->format != LANG_JSON) {
		buf_reset(&r->line);
		buf_addf(&r->line, "1..%u\n", number);
		run_write(r, false, r->line.data, r->line.len);
	}
	r->exit_code = failed ? 1 : 0;
	return 0;
}

/* --- benches ---------------------------------------------------------------------------------- */

static int time_runs(struct run *r, int prog_fd, u32 times, u64 *ret_ns)
{
	u64 start = clock_mono_ns();

	for (u32 i = 0; i < times; i++) {
		int rc = run_once(prog_fd, NULL);

		if (rc < 0)
			return rc;
		run_drain(r);
	}
	*ret_ns = clock_mono_ns() - start;
	return 0;
}

/* What every run costs, whatever it does. */
static int load_empty(void)
{
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	const struct bpfsys_prog prog = { .type = BPF_PROG_TYPE_RAW_TRACEPOINT,
					  .insns = insns,
					  .n_insns = ARRAY_SIZE(insns),
					  .name = "fathom" };

	return bpfsys_prog_load(&prog);
}

static int run_bench(struct run *r, const struct timed *t, int empty, u64 *ret_ns, u32 *ret_times)
{
	u32 times = BENCH_FIRST;
	u64 ns = 0, base = 0;
	int rc;

	for (;; times *= 2) {
		rc = time_runs(r, t->prog_fd, times, &ns);
		if (rc < 0)
			return rc;
		if (ns >= BENCH_NS || times >= BENCH_MOST || stop_requested())
			break;
	}
	rc = time_runs(r, empty, times, &base);
	if (rc < 0)
		return rc;
	*ret_ns = (ns - MIN(base, ns)) / times;
	*ret_times = times;
	return 0;
}

static void show_bench(struct run *r, const struct timed *t, u64 ns, u32 times)
{
	struct buf text = BUF_INIT;

	if (r->c->opts->format == LANG_JSON && r->c->opts->compat) {
		json_result(t->event, &text);
		buf_addf(&text, "\"average\": %llu, \"iters\": %u}}", (unsigned long long)ns,
			 times);
		run_json(r, "benchmark_result", text.data, text.len);
		buf_release(&text);
		return;
	}
	add_name(r, t->event, &text);
	if (r->c->opts->format == LANG_JSON) {
		buf_addf(&text, ", \"average_ns\": %llu, \"runs\": %u}", (unsigned long long)ns,
			 times);
		run_json(r, "benchmark_result", text.data, text.len);
	} else if (r->c->opts->compat) {
		buf_reset(&text);
		buf_addf(&text, "%-40s %-14llu %u\n", t->event, (unsigned long long)ns, times);
		run_write(r, false, text.data, text.len);
	} else {
		buf_addf(&text, ": %llu ns on average of %u runs\n", (unsigned long long)ns, times);
		run_write(r, false, text.data, text.len);
	}
	buf_release(&text);
}

int run_benches(struct run *r, struct err *e)
{
	_cleanup_close_ int empty = load_empty();

	if (empty < 0)
		return err_sys(e, -empty, "cannot load a program to compare with");
	if (r->c->opts->compat && r->c->opts->format != LANG_JSON) {
		buf_reset(&r->line);
		buf_addf(&r->line, "%-40s %-14s %s\n", "Benchmark", "Time(ns)", "Iterations");
		buf_fill(&r->line, '-', 66);
		buf_addch(&r->line, '\n');
		run_write(r, false, r->line.data, r->line.len);
	}
	vec_each(it, &r->timed) {
		u64 ns = 0;
		u32 times = 0;
		int rc;

		if (it->provider != &probe_bench || stop_requested())
			continue;
		r->mute = true;
		rc = run_bench(r, it, empty, &ns, &times);
		r->mute = false;
		if (rc < 0)
			return err_sys(e, -rc, "cannot run 'bench:%s'", it->event);
		show_bench(r, it, ns, times);
	}
	return 0;
}
