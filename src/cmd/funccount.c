/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fathom funccount: how often functions, tracepoints and static probes are hit. */
#include "cli/probing.h"

struct funccount_args {
	struct probing_args probing;
};

struct round {
	struct probing *p;
	struct table *table;
};

static void show_row(void *ctx, const struct lang_row *row)
{
	struct round *r = ctx;
	struct row *to;

	if (!r->table) {
		fprintf(r->p->ctx->out, "%-36s %8lld\n", row->key, (long long)row->value);
		return;
	}
	to = table_row(r->p->result, r->table);
	to->cells[0] = value_text(r->p->result, row->key);
	to->cells[1] = value_u(VALUE_COUNT, (u64)row->value);
}

static void funccount_show(struct probing *p, struct lang *l)
{
	static const struct column columns[] = {
		{ "func", "FUNC", VALUE_TEXT, 0 },
		{ "count", "COUNT", VALUE_COUNT, 0 },
	};
	struct round r = { .p = p };

	if (p->result) {
		r.table = result_table(p->result, "functions", NULL, columns, ARRAY_SIZE(columns));
	} else {
		fputc('\n', p->ctx->out);
		probing_time(p);
		fprintf(p->ctx->out, "%-36s %8s\n", "FUNC", "COUNT");
	}
	lang_rows(l, "@", show_row, &r);
}

static int funccount_run(struct context *ctx, void *args)
{
	const struct funccount_args *a = args;
	static const char *const maps[] = { "@", NULL };
	struct probing p;
	int rc = probing_init(&p, ctx, &a->probing);

	/* as many as can be attached: no key has to wait for memory */
	buf_addstr(&p.source, "let @ = percpuhash(4096);\n");
	if (rc == 0)
		rc = probing_add_probes(&p, false, NULL);
	buf_addf(&p.source, " { @[%s] = count(); }\n",
		 p.spec.kind == 't' || p.spec.kind == 'u' ? "probe" : "func");
	rc = rc < 0 ? EXIT_USAGE : probing_run(&p, maps, funccount_show);
	probing_release(&p);
	return rc;
}

static const struct opt funccount_options[] = {
	PROBING_PID(struct funccount_args),
	PROBING_CPU(struct funccount_args),
	PROBING_INTERVAL(struct funccount_args),
	PROBING_DURATION('d', struct funccount_args),
	PROBING_TIMESTAMP(struct funccount_args),
	PROBING_REGEXP(struct funccount_args),
	PROBING_SOURCE(struct funccount_args),
	PROBING_DEBUG('D', "debug", struct funccount_args),
	OPT_END,
};

static const struct example examples[] = {
	{ "fathom funccount -d 1 c:malloc", "calls of malloc in a second" },
	{ "fathom funccount -i 1 't:sched:sched_*'", "the scheduler's events, every second" },
	{ "fathom funccount -r -d 1 'c:^mem(cpy|set|move)$'", "by a regular expression" },
	{ "fathom funccount 'vfs_*'", "functions of the virtual file system until Ctrl-C" },
	{ 0 },
};

const struct command cmd_funccount = {
	.name = "funccount",
	.summary = "count calls of functions, tracepoints and static probes",
	.description = "Counts how often what the pattern matches is hit, as bcc's tool of that "
		       "name does.",
	.question = Q_TRACE,
	.options = funccount_options,
	.args_size = sizeof(struct funccount_args),
	.operands = "PATTERN [INTERVAL [COUNT]]",
	.min_operands = 1,
	.max_operands = 3,
	.examples = examples,
	.see_also = "fathom-argdist fathom-trace fathom-funclatency",
	.run = funccount_run,
};
