/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fathom funclatency: how long functions take, as histograms. */
#include "cli/probing.h"

struct funclatency_args {
	struct probing_args probing;
	bool microseconds;
	bool milliseconds;
	bool by_function;
	u64 level;
};

struct round {
	struct probing *p;
	struct lang *l;
	const char *unit;
	const char *key; /* of the histogram that is shown */
	u64 count;
	s64 total;
};

static const char *unit_of(const struct funclatency_args *a)
{
	return a->milliseconds ? "msecs" : a->microseconds ? "usecs" : "nsecs";
}

static void add_stats(void *ctx, const struct lang_row *row)
{
	struct round *r = ctx;

	if (r->key && !streq(r->key, row->key))
		return;
	r->count += row->count;
	r->total += row->total;
}

static void show_row(void *ctx, const struct lang_row *row)
{
	struct round *r = ctx;
	struct round own = { .key = row->key };

	if (r->p->result)
		lang_rows(r->l, "@stats", add_stats, &own);
	else if (*row->key)
		fprintf(r->p->ctx->out, "\nFunction = %s\n", row->key);
	probing_hist(r->p, row->key, r->unit, row->hist, (u64)own.total);
}

static void show(struct probing *p, struct lang *l)
{
	const struct funclatency_args *a =
		CONTAINER_OF(p->args, const struct funclatency_args, probing);
	struct round r = { .p = p, .l = l, .unit = unit_of(a) };

	if (!p->result) {
		fputc('\n', p->ctx->out);
		probing_time(p);
	}
	lang_rows(l, "@hist", show_row, &r);
	lang_rows(l, "@stats", add_stats, &r);
	if (!p->result && r.count)
		fprintf(p->ctx->out, "\navg = %lld %s, total: %lld %s, count: %llu\n\n",
			(long long)(r.total / (s64)r.count), r.unit, (long long)r.total, r.unit,
			(unsigned long long)r.count);
}

/*
 * A call is known by where its frame lies: recursion, nesting and calls that never return cannot be
 * mixed up. Kernel functions may be probed without registers: there the depth has to do, if nesting
 * is to be expected.
 */
static int add_program(struct probing *p, const struct funclatency_args *a)
{
	bool user = oneliner_is_user(&p->spec);
	bool nested = a->level || memchr(p->spec.name, '*', p->spec.name_len) || a->probing.regexp;
	const char *key = a->by_function ? "[func]" : "";
	const char *at = user ? "tid, reg(\"sp\")" : nested ? "tid, $depth" : "tid";
	const char *back = user ? "tid, reg(\"sp\") - 8" : at;
	int rc;

	buf_addstr(&p->source, "let @start = hash(16384);\n");
	rc = probing_add_probes(p, false, NULL);
	if (rc < 0)
		return rc;
	if (!user && nested)
		buf_addf(&p->source,
			 " {\n\t$depth = @depth[tid];\n\t@start[%s] = nsecs;\n"
			 "\t@depth[tid] = $depth + 1;\n}\n",
			 at);
	else
		buf_addf(&p->source, " { @start[%s] = nsecs; }\n", at);
	rc = probing_add_probes(p, true, !user && nested ? "@depth[tid]" : NULL);
	buf_addstr(&p->source, " {\n");
	if (!user && nested)
		buf_addstr(&p->source, "\t$depth = @depth[tid] - 1;\n\t@depth[tid] = $depth;\n"
				       "\tif ($depth == 0) { delete(@depth, tid); }\n");
	buf_addf(&p->source,
		 "\t$start = @start[%s];\n\tif ($start) {\n"
		 "\t\t$t = (nsecs - $start) / %s;\n\t\t@hist%s = hist($t, 0);\n"
		 "\t\t@stats%s = stats($t);\n\t\tdelete(@start, (%s));\n\t}\n}\n",
		 back,
		 a->milliseconds   ? "1000000"
		 : a->microseconds ? "1000"
				   : "1",
		 key, key, back);
	return rc;
}

static int funclatency_run(struct context *ctx, void *args)
{
	const struct funclatency_args *a = args;
	static const char *const maps[] = { "@hist", "@stats", NULL };
	struct probing p;
	int rc = probing_init(&p, ctx, &a->probing);

	p.probes_each = 2;
	if (rc == 0)
		rc = p.spec.kind == 't' || p.spec.kind == 'u'
			     ? err_set(&ctx->err, EINVAL, "'%s' is not a function", p.pattern)
			     : add_program(&p, a);
	rc = rc < 0 ? EXIT_USAGE : probing_run(&p, maps, show);
	probing_release(&p);
	return rc;
}

#define OPTION(...) OPT_ENTRY(struct funclatency_args, __VA_ARGS__)

static const struct opt funclatency_options[] = {
	PROBING_PID(struct funclatency_args),
	PROBING_INTERVAL(struct funclatency_args),
	PROBING_DURATION('d', struct funclatency_args),
	PROBING_TIMESTAMP(struct funclatency_args),
	OPTION('u', "microseconds", OPT_FLAG, microseconds, NULL, "in microseconds"),
	OPTION('m', "milliseconds", OPT_FLAG, milliseconds, NULL, "in milliseconds",
	       .conflicts = "microseconds"),
	OPTION('F', "function", OPT_FLAG, by_function, NULL, "a histogram for each function"),
	OPTION('l', "level", OPT_U64, level, "DEPTH",
	       "kernel functions call one another or themselves (found out for programs)"),
	PROBING_REGEXP(struct funclatency_args),
	PROBING_SOURCE(struct funclatency_args),
	PROBING_DEBUG('D', "debug", struct funclatency_args),
	OPT_END,
};

static const struct example examples[] = {
	{ "fathom funclatency -d 1 c:malloc", "how long malloc takes" },
	{ "fathom funclatency -u -F 'vfs_*'", "each function of the virtual file system" },
	{ 0 },
};

const struct command cmd_funclatency = {
	.name = "funclatency",
	.summary = "time functions and show the times as histograms",
	.description = "Measures the time between entry and return of what the pattern matches, as "
		       "bcc's tool of that name does.",
	.question = Q_TRACE,
	.options = funclatency_options,
	.args_size = sizeof(struct funclatency_args),
	.operands = "PATTERN [INTERVAL [COUNT]]",
	.min_operands = 1,
	.max_operands = 3,
	.examples = examples,
	.see_also = "fathom-argdist fathom-trace fathom-funccount",
	.run = funclatency_run,
};
