/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The public face: stages in their order. */
#include "lang/lang.h"

#include "base/clock.h"
#include "base/json.h"
#include "lang/check/check.h"
#include "lang/front/format.h"
#include "lang/front/import.h"
#include "lang/front/parse.h"
#include "lang/row.h"
#include "lang/run/run.h"
#include "lang/run/unwinder.h"
#include "symbol/procmaps.h"

/* Any bytes, NULs too, and one NUL after them. */
static char *copy_text(const char *text, size_t len)
{
	char *copy = xmalloc(len + 1);

	memcpy(copy, text, len);
	copy[len] = 0;
	return copy;
}

/* A stage only runs on a program without errors. */
static int compile_stages(struct comp *c, struct err *e)
{
	struct parse_opts po = { c->opts->params, c->opts->n_params, c->opts->compat };

	comp_choose(c);
	if (c->refused)
		return err_set(e, EOPNOTSUPP, "%s", c->refused);
	if (!c->diags.errors)
		parse_program(&c->prog, &c->src, &po, &c->diags);
	if (!c->diags.errors)
		comp_configure(c);
	/* tables and rows are shown by who runs the tool */
	if (c->opts->header)
		c->config.print_maps_on_exit = false;
	if (!c->diags.errors)
		comp_filter_rows(c);
	if (!c->diags.errors)
		comp_expand_macros(c);
	if (!c->diags.errors)
		comp_resolve(c);
	if (!c->diags.errors)
		comp_check(c);
	if (!c->diags.errors)
		comp_place_maps(c);
	if (!c->diags.errors)
		return comp_generate(c, e);
	return err_set(e, EINVAL, "the program has errors");
}

/* Says at its place in the program which file could not be imported. */
static int refuse_import(struct lang *l, struct span_at at, struct err *e)
{
	struct err why = *e;
	struct comp *c = &l->c;

	*e = (struct err)ERR_INIT;
	c->src = (struct source){ .name = l->name, .text = l->text, .len = l->len };
	diag_error(&c->diags, at, "%s", why.what);
	if (why.hint)
		diag_hint(&c->diags, "%s", why.hint);
	err_release(&why);
	return err_set(e, EINVAL, "the program has errors");
}

static int compile_with(struct lang *l, u32 string_room, struct err *e)
{
	struct cursor cursor = { 0 };
	struct span_at import = SPAN_NOWHERE;
	struct comp *c = &l->c;
	int rc;

	c->lang = l;
	c->string_room = string_room;
	c->start_ns = clock_ns(CLOCK_BOOTTIME);
	c->text = copy_text(l->text, l->len);
	rc = import_expand(l->name, c->text, l->len, c->opts, &c->arena, &c->imported, &c->src,
			   &import, e);
	c->src.made_from = c->opts->made_from;
	if (rc < 0)
		return import.start == UINT32_MAX || !e ? rc : refuse_import(l, import, e);
	c->at = &cursor;
	rc = compile_stages(c, e);
	c->at = NULL;
	vec_release(&cursor.vars);
	vec_release(&cursor.options);
	return rc;
}

/* Strings as long as the script asks for; shorter ones where a program has no room for them. */
static int compile(struct lang *l, struct err *e)
{
	const struct lang_opts *opts = l->c.opts;
	u32 room = TYPE_MAX_STRING;
	int rc;

	while ((rc = compile_with(l, room, e)) < 0 && l->c.too_large && room > 2048) {
		struct err why = l->c.unwinder_err;
		bool no_unwinder = l->c.no_unwinder;

		l->c.unwinder_err = (struct err)ERR_INIT;
		comp_release(&l->c);
		comp_init(&l->c, opts);
		l->c.no_unwinder = no_unwinder;
		l->c.unwinder_err = why;
		if (e) {
			err_release(e);
			*e = (struct err)ERR_INIT;
		}
		room = (room - room / 8) & ~7u;
	}
	if (rc == 0 && l->c.strings_cut)
		diag_warning(
			&l->c.diags, SPAN_NOWHERE,
			"strings are cut to %u bytes: longer ones do not fit into this program",
			room - 1);
	return rc;
}

int lang_compile(const char *name, const char *text, size_t len, const struct lang_opts *opts,
		 struct lang **ret, struct buf *diagnostics, struct err *e)
{
	struct lang *l = xcalloc(1, sizeof(*l));
	int rc;

	comp_init(&l->c, opts);
	l->name = name;
	l->text = copy_text(text, len);
	l->len = len;
	l->r.c = &l->c;
	rc = compile(l, e);
	diags_render(&l->c.diags, &l->c.src, !opts->no_warnings, diagnostics);
	if (rc == 0 && l->c.diags.errors)
		rc = err_set(e, EINVAL, "the program has errors");
	if (rc < 0) {
		lang_free(l);
		return rc;
	}
	l->r.boot_to_wall = clock_wall_ns() - clock_ns(CLOCK_BOOTTIME);
	*ret = l;
	return 0;
}

void lang_free(struct lang *l)
{
	if (!l)
		return;
	run_release(&l->r);
	comp_release(&l->c);
	free(l->text);
	free(l);
}

/* The kernel did not take the unwinder after the program: once more, with frame pointers. */
static int compile_without_unwinder(struct lang *l, struct err *e)
{
	const struct lang_opts *opts = l->c.opts;
	struct err why = ERR_INIT;

	if (e) {
		why = *e;
		*e = (struct err)ERR_INIT;
	}
	run_close(&l->r, false);
	comp_release(&l->c);
	comp_init(&l->c, opts);
	l->c.no_unwinder = true;
	l->c.unwinder_err = why;
	return compile(l, e);
}

static int load(struct lang *l, struct err *e)
{
	int rc;

	/* The compiler's diagnostics have been reported. */
	diags_release(&l->c.diags);
	rc = run_load(&l->r, e);
	if (rc < 0 && rc != -EPERM && comp_calls_unwinder(&l->c)) {
		rc = compile_without_unwinder(l, e);
		if (rc == 0)
			rc = run_load(&l->r, e);
	}
	return rc;
}

int lang_start(struct lang *l, struct buf *diagnostics, struct err *e)
{
	int rc = load(l, e);

	if (rc == 0)
		rc = run_attach(&l->r, e);
	if (rc < 0)
		run_close(&l->r, true);
	diags_render(&l->c.diags, &l->c.src, true, diagnostics);
	return rc;
}

int lang_verify(struct lang *l, struct buf *diagnostics, struct err *e)
{
	int rc = load(l, e);

	run_close(&l->r, false);
	diags_render(&l->c.diags, &l->c.src, true, diagnostics);
	return rc;
}

u32 lang_probe_count(const struct lang *l)
{
	return (u32)l->c.targets.len;
}

int lang_loop(struct lang *l, const struct lang_sink *sink, int child_fd, struct err *e)
{
	l->r.sink = sink;
	return run_loop(&l->r, child_fd, e);
}

int lang_rows(struct lang *l, const char *map, void (*row)(void *ctx, const struct lang_row *row),
	      void *ctx)
{
	const struct map_def *m = comp_map(&l->c, map, false);

	if (!m)
		return -ENOENT;
	run_rows(&l->r, m, row, ctx);
	return 0;
}

void lang_clear(struct lang *l, const char *map)
{
	const struct map_def *m = comp_map(&l->c, map, false);

	if (m)
		run_clear_map(&l->r, m, false);
}

void lang_stop(struct lang *l, bool background)
{
	run_close(&l->r, background);
}

/* To lines of text or JSON in @out, or into @result. */
struct report {
	struct buf *out;
	struct result *result;
	bool json;
};

static void report_line(const struct report *r, u64 n, const char *key, const char *text)
{
	if (r->result) {
		result_loss(r->result, key, text, n);
	} else if (n && r->json) {
		buf_addf(r->out, "{\"type\": \"loss\", \"data\": {\"count\": %llu, \"what\": ",
			 (unsigned long long)n);
		json_quote(r->out, text, strlen(text));
		buf_addstr(r->out, "}}\n");
	} else if (n) {
		buf_addf(r->out, "%llu %s\n", (unsigned long long)n, text);
	}
}

static void report_checks(const struct unwind_counts *counts, const struct report *out)
{
	const __u64 *n = counts->n;

	report_line(out, n[UNWIND_COUNT_MISRECOGNISED], "stacks_misrecognised",
		    "checked user stacks were not what they had been recognised as; others like "
		    "them may be wrong (config = { walk_always = true } avoids it)");
	if (out->result && n[UNWIND_COUNT_RECOGNISED]) {
		result_fact(out->result, "stacks_recognised", NULL,
			    value_u(VALUE_COUNT, n[UNWIND_COUNT_RECOGNISED]));
		result_fact(out->result, "stacks_checked", NULL,
			    value_u(VALUE_COUNT, n[UNWIND_COUNT_CHECKED]));
	}
	if (out->json && n[UNWIND_COUNT_RECOGNISED])
		buf_addf(out->out,
			 "{\"type\": \"stacks\", \"data\": {\"recognised\": %llu, \"checked\": "
			 "%llu, "
			 "\"misrecognised\": %llu}}\n",
			 (unsigned long long)n[UNWIND_COUNT_RECOGNISED],
			 (unsigned long long)n[UNWIND_COUNT_CHECKED],
			 (unsigned long long)n[UNWIND_COUNT_MISRECOGNISED]);
}

static void report_user_stacks(const struct comp *c, const struct report *out)
{
	static const enum unwind_end cut[] = { UNWIND_END_NO_MAP, UNWIND_END_READ,
					       UNWIND_END_BAD_SP, UNWIND_END_BAD_FP,
					       UNWIND_END_UNSUP,  UNWIND_END_REG,
					       UNWIND_END_ZERO };
	struct unwind_counts counts;
	u64 n = 0;

	if (c->no_unwinder && c->ustack_map && out->out && !out->json)
		buf_addf(out->out,
			 "user stacks were taken by frame pointers, most will be cut: %s\n",
			 c->unwinder_err.what ? c->unwinder_err.what : "no unwinder");
	if (!c->unwinder)
		return;
	unwinder_counts(c->unwinder, &counts);
	for (size_t i = 0; i < ARRAY_SIZE(cut); i++)
		n += counts.n[cut[i]];
	report_line(out, counts.n[UNWIND_END_NO_TABLE], "stacks_without_table",
		    "user stacks were cut because the table of a new file was not there yet");
	report_line(out, n, "stacks_cut",
		    "user stacks were cut where their code does not say how to go on");
	report_checks(&counts, out);
}

static void report(const struct lang *l, const struct report *out)
{
	const struct run *r = &l->r;

	report_line(out, r->left_out, "probes_left_out",
		    "probes could not be attached and were left out");
	report_line(out, r->counters[COUNTER_LOST], "events_lost",
		    "events lost because the buffer was full (output is too slow)");
	report_line(out, r->packets_lost, "packets_lost",
		    "packets lost because their buffer was full");
	report_line(out, r->counters[COUNTER_MAP_FULL], "updates_map_full",
		    "updates lost because a map was full (raise max_map_keys)");
	report_line(
		out, r->counters[COUNTER_MAP_MEMORY], "updates_no_memory",
		"updates lost because the kernel had no memory available for a new key (a declared "
		"size sets it aside: let @x = hash(N);)");
	report_line(out, r->counters[COUNTER_READ_KERNEL], "kernel_reads_failed",
		    "reads of kernel memory failed");
	report_line(out, r->counters[COUNTER_READ_USER], "user_reads_failed",
		    "reads of user memory failed (the page was not there)");
	report_line(out, r->counters[COUNTER_STACK], "stacks_lost",
		    "stacks could not be taken or kept");
	report_user_stacks(&l->c, out);
	report_line(out, r->counters[COUNTER_SCRATCH], "events_no_scratch",
		    "events skipped for lack of scratch memory");
	report_line(out, r->counters[COUNTER_LOOP], "loops_cut",
		    "loops cut at their limit of 8388608 rounds");
	report_line(out, r->misses, "hits_missed",
		    "hits missed because a probe was hit inside itself");
	report_line(out, r->unresolved, "stacks_gone", "stacks were gone when they were printed");
	report_line(
		out, procmaps_unknown(r->maps), "addresses_unnamed",
		"addresses have no name: only the last 16384 processes that ended are remembered");
}

void lang_report(struct lang *l, struct buf *out)
{
	report(l, &(struct report){ .out = out });
}

void lang_losses(struct lang *l, struct result *ret)
{
	run_read_counters(&l->r);
	report(l, &(struct report){ .result = ret });
}

void lang_report_json(struct lang *l, struct buf *out)
{
	u64 lost = l->r.counters[COUNTER_LOST];

	if (!l->c.opts->compat)
		report(l, &(struct report){ .out = out, .json = true });
	else if (lost)
		buf_addf(out, "{\"type\": \"lost_events\", \"data\": {\"events\": %llu}}\n",
			 (unsigned long long)lost);
}

int lang_format_source(const char *name, const char *text, size_t len, struct buf *out,
		       struct buf *diagnostics, struct err *e)
{
	struct lang_opts opts = { 0 };
	struct parse_opts po = { 0 };
	struct comp c;
	int rc = 0;

	comp_init(&c, &opts);
	c.text = copy_text(text, len);
	c.src = (struct source){ .name = name, .text = c.text, .len = len };
	parse_program(&c.prog, &c.src, &po, &c.diags);
	diags_render(&c.diags, &c.src, true, diagnostics);
	if (c.diags.errors)
		rc = err_set(e, EINVAL, "the program has errors");
	else
		format_program(&c.prog, out);
	comp_release(&c);
	return rc;
}

void lang_dump(const struct lang *l, struct buf *out)
{
	for (size_t i = 0; i < l->c.units.len; i++) {
		const struct unit *u = &l->c.units.items[i];

		buf_addf(out, "%s (%u targets, %zu instructions, %u bytes of stack)\n",
			 l->c.targets.items[u->first].name, u->n, u->code.insns.len, u->code.stack);
		ir_dump(&u->code, out);
	}
}
