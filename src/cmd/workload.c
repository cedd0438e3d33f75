/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fathom workload: small programs whose behaviour is known. The names of the programs and of their
 * functions are those of 'perf test -w', so that tests which look for them find them.
 */
#include <math.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/base.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/stop.h"
#include "cli/cli.h"

enum { SECONDS_MOST = 1 << 20, THREADS_MOST = 1024, MESSAGES_MOST = 1 << 20 };

struct workload_args {
	bool symbols;
};

struct work {
	u64 seconds;
	u64 count;
};

/* Kept by name, whatever the compiler would rather do. */
#ifdef __clang__
#define WORK __attribute__((noinline, used))
#else
#define WORK __attribute__((noinline, noclone, used))
#endif

/* --- the programs ----------------------------------------------------------------------------- */

static u64 end_of(const struct work *w)
{
	return clock_mono_ns() + w->seconds * NSEC_PER_SEC;
}

static bool is_over(u64 end)
{
	return stop_requested() || clock_mono_ns() >= end;
}

static WORK int noploop(const struct work *w)
{
	u64 end = end_of(w);

	while (!is_over(end))
		for (volatile u32 i = 0; i < 20000; i++)
			;
	return 0;
}

static WORK void test_loop(u64 end)
{
	while (!is_over(end))
		for (volatile u32 i = 0; i < 20000; i++)
			;
}

static void *thfunc(void *arg)
{
	test_loop(*(const u64 *)arg);
	return NULL;
}

static WORK int thloop(const struct work *w)
{
	u64 end = end_of(w), others = w->count - 1;
	_cleanup_free_ pthread_t *threads = xcalloc(others + 1, sizeof(*threads));
	u64 made = 0;

	while (made < others && pthread_create(&threads[made], NULL, thfunc, &end) == 0)
		made++;
	test_loop(end);
	for (u64 i = 0; i < made; i++)
		pthread_join(threads[i], NULL);
	return made == others ? 0 : -EAGAIN;
}

/* Three calls deep: what unwinders are tested with. */
static WORK void leaf(u64 end)
{
	while (!is_over(end))
		for (volatile u32 i = 0; i < 20000; i++)
			;
}

static WORK void parent(u64 end)
{
	leaf(end);
	__asm__ volatile("");
}

static WORK int leafloop(const struct work *w)
{
	parent(end_of(w));
	__asm__ volatile("");
	return 0;
}

static WORK int sqrtloop(const struct work *w)
{
	u64 end = end_of(w);
	volatile double x = 0;

	while (!is_over(end))
		for (u32 i = 0; i < 20000; i++)
			x = sqrt(x + i);
	return 0;
}

static WORK u32 brstack_foo(u32 n)
{
	__asm__ volatile("");
	return n + 1;
}

static WORK u32 brstack_bar(u32 n)
{
	u32 r = brstack_foo(n);

	__asm__ volatile("");
	return n & 1 ? r : brstack_foo(r);
}

static WORK int brstack(const struct work *w)
{
	u64 end = end_of(w);
	volatile u32 n = 0;

	while (!is_over(end))
		for (u32 i = 0; i < 20000; i++)
			n = brstack_bar(n);
	return 0;
}

/* Two fields of one line of memory, written without an end. */
static struct {
	volatile u64 data1;
	volatile u64 data2;
} buf1 __attribute__((used, aligned(64)));

static WORK int datasym(const struct work *w)
{
	u64 end = end_of(w);

	while (!is_over(end))
		for (u32 i = 0; i < 20000; i++) {
			buf1.data1++;
			if (buf1.data1 == 123)
				buf1.data1 += 5;
			buf1.data2 += buf1.data1;
		}
	return 0;
}

/* A byte back and forth between two processes. */
static WORK int context_switch_loop(const struct work *w)
{
	int there[2], back[2];
	char byte = 0;
	pid_t pid;

	if (pipe(there) < 0 || pipe(back) < 0)
		return -errno;
	pid = fork();
	if (pid < 0)
		return -errno;
	for (u64 i = 0; i < w->count && !stop_requested(); i++) {
		int in = pid ? back[0] : there[0], out = pid ? there[1] : back[1];

		if ((pid && write(out, &byte, 1) != 1) || read(in, &byte, 1) != 1 ||
		    (!pid && write(out, &byte, 1) != 1))
			break;
	}
	if (!pid)
		_exit(0);
	close(there[1]);
	return waitpid(pid, NULL, 0) < 0 ? -errno : 0;
}

static const struct program {
	const char *name;
	int (*run)(const struct work *w);
	const char *count_name; /* what the second operand is; NULL: none */
	u64 count, count_most;
	bool counts_first; /* the first operand is the count, there are no seconds */
	const char *what;
} programs[] = {
	{ "noploop", noploop, NULL, 0, 0, false, "one function that runs" },
	{ "thloop", thloop, "threads", 2, THREADS_MOST, false, "threads that run one function" },
	{ "leafloop", leafloop, NULL, 0, 0, false, "leafloop calls parent, parent calls leaf" },
	{ "sqrtloop", sqrtloop, NULL, 0, 0, false, "square roots" },
	{ "brstack", brstack, NULL, 0, 0, false, "branches that are taken in a known order" },
	{ "datasym", datasym, NULL, 0, 0, false, "writes to two fields of one cache line" },
	{ "context_switch_loop", context_switch_loop, "turns", 10000, MESSAGES_MOST, true,
	  "two processes that wait for each other" },
};

/* --- the command ------------------------------------------------------------------------------ */

static int list_programs(struct context *ctx)
{
	static const struct column columns[] = {
		{ "name", "NAME", VALUE_TEXT, 0 },
		{ "operands", "OPERANDS", VALUE_TEXT, 0 },
		{ "what", "WHAT IT DOES", VALUE_TEXT, COLUMN_FILL },
	};
	_cleanup_result_ struct result r = { 0 };
	struct table *t;

	result_init(&r, "workload");
	t = result_table(&r, "rows", NULL, columns, ARRAY_SIZE(columns));
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		const struct program *p = &programs[i];
		struct row *row = table_row(&r, t);

		row->cells[0] = value_text(&r, p->name);
		row->cells[1] =
			value_textf(&r, "%s%s%s%s", p->counts_first ? "" : "[seconds]",
				    p->count_name ? (p->counts_first ? "[" : " [") : "",
				    p->count_name ? p->count_name : "", p->count_name ? "]" : "");
		row->cells[2] = value_text(&r, p->what);
	}
	return cli_show(ctx, &r);
}

/* As perf's own test of symbol tables prints them: addresses and names. */
static int list_symbols(struct context *ctx)
{
	_cleanup_buf_ struct buf out = BUF_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
		buf_addf(&out, " %zu: %lx g %s\n", i, (unsigned long)(uintptr_t)programs[i].run,
			 programs[i].name);
	buf_addf(&out, " %zu: %lx g %s\n", ARRAY_SIZE(programs),
		 (unsigned long)(uintptr_t)test_loop, "test_loop");
	buf_addf(&out, " %zu: %lx g %s\n", ARRAY_SIZE(programs) + 1, (unsigned long)(uintptr_t)leaf,
		 "leaf");
	buf_addf(&out, " %zu: %lx g %s\n", ARRAY_SIZE(programs) + 2,
		 (unsigned long)(uintptr_t)&buf1, "buf1");
	return cli_print(ctx, &out);
}

static int parse_work(const struct context *ctx, const struct program *p, struct work *w,
		      struct err *e)
{
	size_t at = 1;
	int r = 0;

	*w = (struct work){ .seconds = 1, .count = p->count };
	if (!p->counts_first && at < ctx->operands.len)
		r = parse_u64_range(ctx->operands.items[at++], 0, SECONDS_MOST, &w->seconds, e);
	if (r >= 0 && p->count_name && at < ctx->operands.len)
		r = parse_u64_range(ctx->operands.items[at++], 1, p->count_most, &w->count, e);
	if (r >= 0 && at < ctx->operands.len) {
		err_set(e, EINVAL, "unexpected operand '%s'", ctx->operands.items[at]);
		r = -EINVAL;
	}
	return r;
}

static int workload_run(struct context *ctx, void *args)
{
	const struct workload_args *a = args;
	_cleanup_free_ char *name = NULL;
	struct work w;
	int r;

	if (a->symbols)
		return list_symbols(ctx);
	if (!ctx->operands.len)
		return list_programs(ctx);
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		if (!streq(programs[i].name, ctx->operands.items[0]))
			continue;
		if (parse_work(ctx, &programs[i], &w, &ctx->err) < 0)
			return EXIT_USAGE;
		name = xasprintf("perf-%s", programs[i].name);
		if (ctx->as_perf)
			prctl(PR_SET_NAME, name);
		r = programs[i].run(&w);
		return r < 0 ? err_sys(&ctx->err, -r, "'%s' failed", programs[i].name) : 0;
	}
	err_set(&ctx->err, EINVAL, "no workload has the name '%s'", ctx->operands.items[0]);
	err_hint(&ctx->err, "'fathom workload' lists them");
	return EXIT_USAGE;
}

static const struct opt workload_options[] = {
	{ .name = "symbols",
	  .type = OPT_FLAG,
	  .offset = offsetof(struct workload_args, symbols),
	  .help = "the addresses and names of their functions" },
	OPT_END,
};

static const struct example workload_examples[] = {
	{ "fathom workload", "list them" },
	{ "fathom record -- fathom workload thloop 1 3", "one second of three threads" },
	{ "fathom stat -e context-switches fathom workload context_switch_loop 1000",
	  "two switches for each turn" },
	{ 0 },
};

const struct command cmd_workload = {
	.name = "workload",
	.summary = "run a small program whose behaviour is known",
	.description = "Runs one of a few small programs for a second, or as long as the operand "
		       "says: something to try recordings and counters on, with a known answer. "
		       "The names of the programs and of their functions are those of 'perf test "
		       "-w'.",
	.question = Q_SELF,
	.options = workload_options,
	.args_size = sizeof(struct workload_args),
	.operands = "[NAME [SECONDS [COUNT]]]",
	.max_operands = 3,
	.examples = workload_examples,
	.see_also = "fathom-record fathom-stat fathom-perf",
	.run = workload_run,
};
