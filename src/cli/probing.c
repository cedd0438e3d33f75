/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/probing.h"

#include "base/clock.h"
#include "base/fmt.h"

enum { STARS = 40, WIDE_AFTER = 32 };

int probing_init(struct probing *p, struct context *ctx, const struct probing_args *a)
{
	*p = (struct probing){ .ctx = ctx,
			       .args = a,
			       .pattern = ctx->operands.len ? ctx->operands.items[0] : "",
			       .probes_each = 1,
			       .source = BUF_INIT };
	buf_addstr(&p->source, "config = { print_maps_on_exit = false; }\n");
	return ctx->operands.len
		       ? oneliner_parse(p->pattern, strlen(p->pattern), &p->spec, &ctx->err)
		       : 0;
}

void probing_release(struct probing *p)
{
	buf_release(&p->source);
}

void probing_predicate(const struct probing_args *a, bool is_user, const char *extra,
		       struct buf *out)
{
	const char *sep = " /";

	if (a->pid && !is_user) {
		buf_addf(out, "%spid == %llu", sep, (unsigned long long)a->pid);
		sep = " && ";
	}
	if (a->tid) {
		buf_addf(out, "%stid == %llu", sep, (unsigned long long)a->tid);
		sep = " && ";
	}
	if (a->cpu_given) {
		buf_addf(out, "%scpu == %llu", sep, (unsigned long long)a->cpu);
		sep = " && ";
	}
	if (extra) {
		buf_addf(out, "%s%s", sep, extra);
		sep = " && ";
	}
	if (sep[1] != '/')
		buf_addch(out, '/');
}

int probing_add_probes(struct probing *p, bool is_return, const char *predicate)
{
	int rc = 0;

	if (p->args->regexp)
		rc = oneliner_probe_regexp(&p->spec, is_return, &p->source, &p->ctx->err);
	else
		oneliner_probe(&p->spec, is_return, &p->source);
	probing_predicate(p->args, oneliner_is_user(&p->spec), predicate, &p->source);
	return rc;
}

/* --- running ---------------------------------------------------------------------------------- */

struct runner {
	struct probing *p;
	void (*show)(struct probing *p, struct lang *l);
};

static void begin_run(void *ctx, struct lang *l)
{
	const struct runner *r = ctx;
	u32 n = lang_probe_count(l) / r->p->probes_each;

	if (!*r->p->pattern)
		cli_progress_watching(r->p->ctx, 0);
	else if (!r->p->ctx->common.quiet)
		fprintf(stderr, "Tracing %u function%s for \"%s\"... Hit Ctrl-C to end.\n", n,
			n == 1 ? "" : "s", r->p->pattern);
}

void probing_time(const struct probing *p)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (!p->args->timestamp)
		return;
	fmt_clock(&text, clock_wall_ns(), 0);
	fprintf(p->ctx->out, "%s\n", buf_str(&text));
}

static void show_round(void *ctx, struct lang *l)
{
	struct runner *r = ctx;
	struct result result;

	if (!*r->p->pattern)
		cli_progress(r->p->ctx, "%s", "");
	if (!cli_is_machine(r->p->ctx)) {
		r->show(r->p, l);
		fflush(r->p->ctx->out);
		return;
	}
	result_init(&result, r->p->ctx->command->name);
	result_fact(&result, "time", NULL, value_u(VALUE_TIME, clock_wall_ns()));
	if (*r->p->pattern)
		result_fact(&result, "pattern", NULL, value_text(&result, r->p->pattern));
	r->p->result = &result;
	r->show(r->p, l);
	r->p->result = NULL;
	cli_show(r->p->ctx, &result);
	result_release(&result);
}

static void say_losses(const struct context *ctx, char *text)
{
	if (ctx->common.quiet)
		return;
	for (char *line = text, *end; line && *line; line = end + 1) {
		end = strchr(line, '\n');
		if (!end)
			break;
		fprintf(stderr, "fathom: %.*s\n", (int)(end - line), line);
	}
}

int probing_run(struct probing *p, const char *const *maps,
		void (*show)(struct probing *p, struct lang *l))
{
	_cleanup_buf_ struct buf diagnostics = BUF_INIT, report = BUF_INIT;
	struct context *ctx = p->ctx;
	struct runner r = { p, show };
	struct oneliner o = { .name = ctx->command->name,
			      .ctx = &r,
			      .begin = begin_run,
			      .show = show_round,
			      .maps = maps,
			      .interval = p->args->interval,
			      .duration = p->args->duration,
			      .count = p->count,
			      .pid = (u32)p->args->pid };
	int rc;

	if (ctx->operands.len &&
	    oneliner_rounds(&o, ctx->operands.items + 1, ctx->operands.len - 1, &ctx->err) < 0)
		return EXIT_USAGE;
	if (p->args->source)
		return cli_print(ctx, &p->source);
	if (p->args->debug)
		fputs(buf_str(&p->source), stderr);
	ctx->stream = o.interval != 0;
	rc = oneliner_run(&o, buf_str(&p->source), &diagnostics, &report, &ctx->err);
	fputs(buf_str(&diagnostics), stderr);
	if (rc == -ENOENT && *p->pattern)
		err_hint(&ctx->err, "fathom trace -l 'PATTERN' lists what matches");
	say_losses(ctx, report.data);
	return rc && (ctx->err.code == EPERM || ctx->err.code == ENOTSUP) ? EXIT_MISSING : rc;
}

/* --- histograms ------------------------------------------------------------------------------- */

/* bcc counts 0 and 1 in one row, and has none for what is negative. */
static u64 slot_count(const u64 *buckets, size_t n, size_t slot)
{
	u64 sum = slot + 1 < n ? buckets[slot + 1] : 0;

	return slot == 1 && n > 1 ? sum + buckets[1] : sum;
}

static void hist_row(FILE *out, bool wide, u64 low, u64 high, u64 count, u64 max)
{
	size_t stars = wide ? STARS / 2 : STARS;
	size_t bar = max ? (size_t)((double)stars * (double)count / (double)max) : 0;
	char bars[STARS + 1];

	memset(bars, '*', bar);
	bars[bar] = 0;
	fprintf(out, wide ? "%20llu -> %-20llu" : "%10llu -> %-10llu", (unsigned long long)low,
		(unsigned long long)high);
	fprintf(out, " : %-8llu |%-*s|\n", (unsigned long long)count, (int)stars, bars);
}

void probing_hist(FILE *out, const char *unit, const u64 *buckets, size_t n)
{
	size_t last = 0;
	u64 max = 0;

	for (size_t i = 1; i < n; i++) {
		u64 count = slot_count(buckets, n, i);

		max = MAX(max, count);
		last = count ? i : last;
	}
	if (last) {
		fprintf(out, last > WIDE_AFTER ? "               %-29s" : "     %-19s", unit);
		fputs(" : count     distribution\n", out);
	}
	for (size_t i = 1; i <= last; i++)
		hist_row(out, last > WIDE_AFTER, i == 1 ? 0 : 1ull << (i - 1),
			 i < 64 ? (1ull << i) - 1 : UINT64_MAX, slot_count(buckets, n, i), max);
	if (n && buckets[0])
		fprintf(out, "negative: %llu\n", (unsigned long long)buckets[0]);
}

void probing_result_hist(struct result *r, const char *label, const char *unit,
			 const struct lang_row *row, u64 total)
{
	struct histogram *h = result_hist_log2(r, "histogram", label, unit);

	for (size_t i = 1; i < row->n_buckets; i++)
		hist_add(h, i == 1 ? 0 : 1ull << (i - 2), row->buckets[i]);
	if (row->n_buckets)
		h->under = row->buckets[0];
	h->total = total;
}
