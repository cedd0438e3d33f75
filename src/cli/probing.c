/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/probing.h"

#include "base/clock.h"
#include "base/fmt.h"
#include "result/hist_text.h"

int probing_init(struct probing *p, struct context *ctx, const struct probing_args *a)
{
	*p = (struct probing){ .ctx = ctx,
			       .args = a,
			       .pattern = ctx->operands.len ? ctx->operands.items[0] : "",
			       .made_from = ctx->operands.len ? ctx->operands.items[0] : "",
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
			      .made_from = p->made_from,
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

void probing_hist(struct probing *p, const char *label, const char *unit,
		  const struct histogram *hist, u64 total)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct histogram h = *hist;

	h.unit = unit;
	h.total = total;
	if (p->result) {
		result_hist_copy(p->result, "histogram", label, unit, &h);
		return;
	}
	hist_text(&h, &(struct hist_text){ .form = HIST_ARROWS, .line = &text });
	fputs(buf_str(&text), p->ctx->out);
}
