/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/ftrace_run.h"

#include "base/clock.h"
#include "base/stop.h"
#include "host/kallsyms.h"

enum { TEXT_MOST = 64 << 20, FORMAT_MOST = 1 << 20, CMDLINES_MOST = 4 << 20 };
#define KEPT_MOST (1ull << 30)
#define ROUND_NS  (100 * NSEC_PER_MSEC)

struct ftrace_run {
	struct ftrace_run_opts opts;
	struct ftrace trace;
	struct tracedat data;
	struct ftrace_reader *reader;
	u64 kept;     /* bytes of pages */
	u64 not_kept; /* pages */
	u64 lost;
};

/* --- what is needed to read it ---------------------------------------------------------------- */

static int keep_file(struct tracedat *t, const struct tracefs *fs, const char *file, size_t max,
		     struct tracedat_text *ret, struct err *e)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	int r = tracefs_read(fs, file, max, &text, e);

	if (r >= 0)
		*ret = tracedat_keep(t, buf_str(&text), text.len);
	return r;
}

static int add_format(struct tracedat *t, const struct tracefs *fs, const char *sys,
		      const char *name, struct err *e)
{
	struct tracedat_format f = { .system = arena_strndup(&t->arena, sys, strlen(sys)) };
	char path[512];
	int r;

	snprintf(path, sizeof(path), "events/%s/%s/format", sys, name);
	r = keep_file(t, fs, path, FORMAT_MOST, &f.text, e);
	if (r >= 0)
		vec_push(&t->formats, f);
	return r;
}

static int add_formats(struct tracedat *t, const struct ftrace *f, const char *word, struct err *e)
{
	struct tracepoint_list list = { 0 };
	int r = ftrace_setup_find(f, word, &list, e);

	for (size_t i = 0; r >= 0 && i < list.names.len; i++)
		r = add_format(t, &f->fs, list.names.items[i].sys, list.names.items[i].name, e);
	tracepoint_list_release(&list);
	return r;
}

static int keep_symbols(struct tracedat *t, struct err *e)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	int r = kallsyms_read(NULL, TEXT_MOST, &text, e);

	if (r >= 0)
		t->kallsyms = tracedat_keep(t, buf_str(&text), text.len);
	return r;
}

/* Formats, symbols and names: what a trace needs to be read anywhere. */
static int describe(const struct ftrace_setup *s, const struct ftrace *f, struct tracedat *t,
		    struct err *e)
{
	int r = keep_file(t, &f->fs, "events/header_page", FORMAT_MOST, &t->header_page, e);

	t->page = f->page;
	if (r >= 0)
		r = keep_file(t, &f->fs, "events/header_event", FORMAT_MOST, &t->header_event, e);
	if (r >= 0)
		r = add_formats(t, f, "ftrace:*", e);
	for (size_t i = 0; r >= 0 && i < s->events.len; i++)
		r = add_formats(t, f, s->events.items[i], e);
	if (r >= 0)
		r = keep_symbols(t, e);
	/* without them strings of trace_printk() are addresses, and tasks have no names */
	if (r >= 0)
		(void)keep_file(t, &f->fs, "printk_formats", TEXT_MOST, &t->printk, NULL);
	return r < 0 ? r : 0;
}

/* --- the run ---------------------------------------------------------------------------------- */

static int set_up(struct ftrace_run *r, bool top, struct err *e)
{
	int rc = ftrace_open(&r->trace, top, e);

	if (rc >= 0)
		rc = ftrace_setup_apply(&r->opts.setup, &r->trace, e);
	return rc;
}

int ftrace_run_new(struct ftrace_run **ret, const struct ftrace_run_opts *opts, struct err *e)
{
	struct ftrace_run *r = xcalloc(1, sizeof(*r));
	int rc;

	r->opts = *opts;
	r->trace = (struct ftrace)FTRACE_INIT;
	*ret = r;
	rc = set_up(r, ftrace_setup_needs_top(&opts->setup), e);
	if (rc == -EXDEV) {
		ftrace_release(&r->trace);
		err_release(e);
		rc = set_up(r, true, e);
	}
	if (rc >= 0)
		rc = ftrace_open_rings(&r->trace, false, e);
	if (rc >= 0)
		rc = describe(&opts->setup, &r->trace, &r->data, e);
	if (rc >= 0)
		r->reader = ftrace_reader_new(&r->data);
	return rc;
}

void ftrace_run_free(struct ftrace_run *r)
{
	if (!r)
		return;
	ftrace_release(&r->trace);
	ftrace_reader_free(r->reader);
	tracedat_release(&r->data);
	free(r);
}

static int on_page(void *ctx, u32 cpu, const void *page, size_t n)
{
	struct ftrace_run *r = ctx;

	ftrace_reader_add(r->reader, cpu, page, n);
	if (!r->opts.keep)
		return 0;
	r->kept += r->data.page;
	if (r->kept > KEPT_MOST)
		r->not_kept++;
	else
		tracedat_add_page(&r->data, cpu, page, n);
	return 0;
}

/* The kernel forgets names: they are read while they are there. */
static void learn_names(struct ftrace_run *r, struct buf *text)
{
	if (tracefs_read(&r->trace.fs, "saved_cmdlines", CMDLINES_MOST, text, NULL) >= 0)
		ftrace_reader_comms(r->reader, buf_str(text), text->len);
}

/* Events of this round that are newer than all of the last may have older ones on other CPUs. */
static int take_round(struct ftrace_run *r, bool last, struct err *e)
{
	_cleanup_buf_ struct buf names = BUF_INIT;
	u64 until = last ? UINT64_MAX : ftrace_reader_newest(r->reader);
	int rc = ftrace_drain(&r->trace, on_page, r, e);

	if (rc < 0)
		return rc;
	learn_names(r, &names);
	if (last && r->opts.keep)
		r->data.cmdlines = tracedat_keep(&r->data, buf_str(&names), names.len);
	rc = ftrace_reader_flush(r->reader, until, r->opts.on_event, r->opts.ctx);
	return rc == 0 && r->opts.on_round ? r->opts.on_round(r->opts.ctx) : rc;
}

static int finish(struct ftrace_run *r, int rc, struct err *e)
{
	(void)ftrace_write(&r->trace, "tracing_on", FTRACE_SET, "0", NULL);
	if (rc >= 0 && r->opts.snapshot)
		rc = ftrace_open_rings(&r->trace, true, e);
	if (rc >= 0)
		rc = take_round(r, true, e);
	r->lost = ftrace_lost(&r->trace) + r->not_kept;
	tracedat_seal(&r->data);
	return rc;
}

int ftrace_run_go(struct ftrace_run *r, struct err *e)
{
	u64 end;
	int rc = ftrace_write(&r->trace, "tracing_on", FTRACE_SET, "1", e);

	if (rc >= 0 && r->opts.launch)
		rc = launch_go(r->opts.launch, e);
	end = r->opts.duration ? clock_mono_ns() + r->opts.duration : UINT64_MAX;
	while (rc == 0 && !stop_requested() && clock_mono_ns() < end) {
		if (r->opts.launch && launch_ended(r->opts.launch))
			break;
		stop_wait(MIN(ROUND_NS, end - MIN(end, clock_mono_ns())));
		if (!r->opts.snapshot)
			rc = take_round(r, false, e);
	}
	return finish(r, rc, e);
}

struct ftrace_reader *ftrace_run_reader(const struct ftrace_run *r)
{
	return r->reader;
}

const struct tracedat *ftrace_run_trace(const struct ftrace_run *r)
{
	return &r->data;
}

u64 ftrace_run_lost(const struct ftrace_run *r)
{
	return r->lost;
}

bool ftrace_run_on_top(const struct ftrace_run *r)
{
	return r->trace.top;
}
