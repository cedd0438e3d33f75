/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fathom stackcount: the stacks that lead to a function or event, counted. */
#include "base/folded.h"
#include "cli/probing.h"

struct stackcount_args {
	struct probing_args probing;
	bool kernel_only;
	bool user_only;
	bool per_pid;
	bool offset;
	bool delimited;
	bool folded;
};

struct round {
	struct probing *p;
	const struct stackcount_args *a;
	struct table *table;
	u32 flags;
	/* numbers of the parts of a key; -1: there is none */
	int comm, pid, kernel, user;
};

/* Parts of the key, in the order in which the program has them. */
static void number_parts(struct round *r)
{
	const struct stackcount_args *a = r->a;
	int n = 0;

	r->comm = a->per_pid || a->folded ? n++ : -1;
	r->pid = a->per_pid ? n++ : -1;
	r->kernel = a->user_only ? -1 : n++;
	r->user = a->kernel_only ? -1 : n++;
}

static void add_part(const struct round *r, const struct lang_row *row, int part, u32 flags,
		     struct buf *out)
{
	if (part >= 0)
		lang_row_key(row, (u32)part, flags | r->flags, out);
}

static bool has_delimiter(const struct stackcount_args *a)
{
	return a->delimited && !a->kernel_only && !a->user_only;
}

/* comm;outermost;...;innermost */
static void fold_row(const struct round *r, const struct lang_row *row, struct buf *out)
{
	const int parts[] = { r->comm, r->user, r->kernel };

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		size_t before = out->len;

		if (parts[i] == r->kernel && has_delimiter(r->a))
			buf_addstr(out, before ? ";-" : "-");
		if (parts[i] < 0)
			continue;
		folded_next(out, 0);
		before = out->len;
		add_part(r, row, parts[i], LANG_FRAME_FOLDED, out);
		if (parts[i] == r->comm)
			folded_clean(out, before);
		if (out->len == before && before)
			buf_truncate(out, before - 1);
	}
}

static void print_row(const struct round *r, const struct lang_row *row)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	size_t before;

	if (r->a->folded) {
		fold_row(r, row, &text);
		fprintf(r->p->ctx->out, "%s %lld\n", buf_str(&text), (long long)row->value);
		return;
	}
	add_part(r, row, r->kernel, 0, &text);
	if (text.len)
		buf_addch(&text, '\n');
	if (has_delimiter(r->a))
		buf_addstr(&text, "    --\n");
	before = text.len;
	add_part(r, row, r->user, 0, &text);
	if (text.len > before)
		buf_addch(&text, '\n');
	if (r->pid >= 0) {
		buf_addstr(&text, "    ");
		add_part(r, row, r->comm, 0, &text);
		buf_addstr(&text, " [");
		add_part(r, row, r->pid, 0, &text);
		buf_addstr(&text, "]\n");
	}
	fprintf(r->p->ctx->out, "%s    %lld\n\n", buf_str(&text), (long long)row->value);
}

static void show_row(void *ctx, const struct lang_row *row)
{
	const struct round *r = ctx;
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct row *to;

	if (!r->table) {
		print_row(r, row);
		return;
	}
	fold_row(r, row, &text);
	to = table_row(r->p->result, r->table);
	to->cells[0] = value_text(r->p->result, buf_str(&text));
	buf_reset(&text);
	add_part(r, row, r->pid, 0, &text);
	if (text.len)
		to->cells[1] = value_text(r->p->result, buf_str(&text));
	to->cells[2] = value_u(VALUE_COUNT, (u64)row->value);
}

static void show(struct probing *p, struct lang *l)
{
	static const struct column columns[] = {
		{ "stack", "STACK", VALUE_TEXT, COLUMN_FILL },
		{ "pid", "PID", VALUE_TEXT, 0 },
		{ "count", "COUNT", VALUE_COUNT, 0 },
	};
	struct round r = { .p = p,
			   .a = CONTAINER_OF(p->args, const struct stackcount_args, probing) };

	number_parts(&r);
	r.flags = (r.a->offset ? LANG_FRAME_OFFSET : 0) |
		  (p->ctx->common.verbose && !r.a->folded ? LANG_FRAME_ADDRESS : 0);
	if (p->result) {
		r.table = result_table(p->result, "stacks", NULL, columns, ARRAY_SIZE(columns));
	} else {
		if (!r.a->folded)
			fputc('\n', p->ctx->out);
		probing_time(p);
	}
	lang_rows(l, "@", show_row, &r);
}

static int stackcount_run(struct context *ctx, void *args)
{
	const struct stackcount_args *a = args;
	static const char *const maps[] = { "@", NULL };
	struct probing p;
	int rc = probing_init(&p, ctx, &a->probing);

	if (rc == 0)
		rc = probing_add_probes(&p, false, NULL);
	buf_addf(&p.source, " { @[%s%s%s%s%s] = count(); }\n",
		 a->per_pid || a->folded ? "comm, " : "", a->per_pid ? "pid, " : "",
		 a->user_only ? "" : "kstack", a->user_only || a->kernel_only ? "" : ", ",
		 a->kernel_only ? "" : "ustack");
	rc = rc < 0 ? EXIT_USAGE : probing_run(&p, maps, show);
	probing_release(&p);
	return rc;
}

#define OPTION(...) OPT_ENTRY(struct stackcount_args, __VA_ARGS__)

static const struct opt stackcount_options[] = {
	PROBING_PID(struct stackcount_args),
	PROBING_CPU(struct stackcount_args),
	PROBING_INTERVAL(struct stackcount_args),
	PROBING_DURATION('d', struct stackcount_args),
	OPTION('D', NULL, OPT_DURATION, probing.duration, "TIME", "bcc's letter for it",
	       .flags = OPT_HIDDEN),
	PROBING_TIMESTAMP(struct stackcount_args),
	OPTION('K', "kernel-stacks-only", OPT_FLAG, kernel_only, NULL, "only kernel stacks"),
	OPTION('U', "user-stacks-only", OPT_FLAG, user_only, NULL, "only user stacks",
	       .conflicts = "kernel-stacks-only"),
	OPTION('P', "perpid", OPT_FLAG, per_pid, NULL, "for each process"),
	OPTION('s', "offset", OPT_FLAG, offset, NULL, "show how far into the functions"),
	OPTION(0, "delimited", OPT_FLAG, delimited, NULL, "a line between kernel and user frames"),
	OPTION('f', "folded", OPT_FLAG, folded, NULL, "one line per stack, for flame graphs"),
	PROBING_REGEXP(struct stackcount_args),
	PROBING_SOURCE(struct stackcount_args),
	PROBING_DEBUG(0, "debug", struct stackcount_args),
	OPT_END,
};

static const struct example examples[] = {
	{ "fathom stackcount -d 1s t:sched:sched_switch", "what leads to switches" },
	{ "fathom stackcount -U -d 1s c:malloc", "who calls malloc" },
	{ "fathom stackcount -f -d 1s t:sched:sched_switch | fathom flame -i - -o x.svg",
	  "a flame graph of switches" },
	{ 0 },
};

const struct command cmd_stackcount = {
	.name = "stackcount",
	.summary = "count the stacks that lead to a function or event",
	.description =
		"Counts kernel and user stacks at what the pattern matches, as bcc's tool of "
		"that name does. -v adds the addresses.",
	.question = Q_TRACE,
	.options = stackcount_options,
	.args_size = sizeof(struct stackcount_args),
	.operands = "PATTERN [INTERVAL [COUNT]]",
	.min_operands = 1,
	.max_operands = 3,
	.examples = examples,
	.see_also = "fathom-trace fathom-funccount fathom-flame",
	.run = stackcount_run,
};
