/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fathom argdist: the values of arguments and results, counted or as histograms. */
#include "base/clock.h"
#include "base/fmt.h"
#include "cli/probing.h"
#include "lang/bcc/argdist.h"

enum { PROBES_MOST = 64 };

/* In the order of the command line, -C and -H mixed. */
typedef VEC(struct argdist_word {
	const char *text;
	bool is_hist;
}) argdist_words;

struct argdist_args {
	struct probing_args probing;
	argdist_words words;
	u64 string_size;
	u64 count;
	u64 top;
	bool cumulative;
	str_list ignored;
};

struct argdist {
	struct arena arena;
	const struct argdist_args *args;
	VEC(struct argdist_probe) probes;
};

struct round {
	struct probing *p;
	const struct argdist_probe *probe;
	const struct argdist_args *args;
	struct table *table;
	u64 skip; /* rows that are not among the top */
	u64 total;
};

/* "fd = 1, size = 8" */
static void add_event(const struct argdist_probe *probe, const struct lang_row *row,
		      struct buf *out)
{
	if (!probe->values.len)
		buf_addstr(out, "total calls");
	for (u32 i = 0; i < probe->values.len; i++) {
		buf_addf(out, "%s%s = ", i ? ", " : "",
			 probe->is_default ? "retval" : probe->values.items[i].expr);
		lang_row_key(row, i, 0, out);
	}
}

static void show_count(void *ctx, const struct lang_row *row)
{
	struct round *r = ctx;
	_cleanup_buf_ struct buf event = BUF_INIT;
	struct row *to;

	if (r->skip) {
		r->skip--;
		return;
	}
	add_event(r->probe, row, &event);
	if (!r->table) {
		fprintf(r->p->ctx->out, "\t%-10lld %s\n", (long long)row->value, buf_str(&event));
		return;
	}
	to = table_row(r->p->result, r->table);
	to->cells[0] = value_text(r->p->result, r->probe->title);
	to->cells[1] = value_u(VALUE_COUNT, (u64)row->value);
	to->cells[2] = value_text(r->p->result, buf_str(&event));
}

static void show_hist(void *ctx, const struct lang_row *row)
{
	struct round *r = ctx;
	const char *unit = r->probe->has_label    ? r->probe->title
			   : r->probe->is_default ? "retval"
						  : r->probe->values.items[0].expr;

	probing_hist(r->p, r->probe->title, unit, row->hist, r->total);
}

static void count_row(void *ctx, const struct lang_row *row)
{
	struct round *r = ctx;

	(void)row;
	r->skip++;
}

static void add_total(void *ctx, const struct lang_row *row)
{
	struct round *r = ctx;

	r->total += (u64)row->value;
}

static void show_probe(struct round *r, struct lang *l, u32 number)
{
	char map[16], sums[16];

	snprintf(map, sizeof(map), "@d%u", number);
	snprintf(sums, sizeof(sums), "@s%u", number);
	if (r->probe->is_hist) {
		lang_rows(l, sums, add_total, r);
		lang_rows(l, map, show_hist, r);
		return;
	}
	if (!r->table)
		fprintf(r->p->ctx->out, "%s\n\t%-10s %s\n", r->probe->title, "COUNT", "EVENT");
	if (r->args->top) {
		lang_rows(l, map, count_row, r);
		r->skip = r->skip > r->args->top ? r->skip - r->args->top : 0;
	}
	lang_rows(l, map, show_count, r);
}

static void show(struct probing *p, struct lang *l)
{
	static const struct column columns[] = {
		{ "probe", "PROBE", VALUE_TEXT, 0 },
		{ "count", "COUNT", VALUE_COUNT, 0 },
		{ "event", "EVENT", VALUE_TEXT, COLUMN_FILL },
	};
	_cleanup_buf_ struct buf now = BUF_INIT;
	const struct argdist *d = p->tool;
	struct table *table = NULL;

	if (p->result) {
		table = result_table(p->result, "counts", NULL, columns, ARRAY_SIZE(columns));
	} else {
		fmt_clock(&now, clock_wall_ns(), 0);
		fprintf(p->ctx->out, "[%s]\n", buf_str(&now));
	}
	for (u32 i = 0; i < d->probes.len; i++) {
		struct round r = {
			.p = p, .probe = &d->probes.items[i], .args = d->args, .table = table
		};

		show_probe(&r, l, i);
	}
}

static int add_probe(struct argdist *d, struct probing *p, const struct argdist_word *w)
{
	_cleanup_buf_ struct buf predicate = BUF_INIT;
	struct argdist_probe *probe = vec_new(&d->probes);
	bool machine = cli_is_machine(p->ctx);
	int rc = argdist_parse(probe, &d->arena, w->text, w->is_hist, &p->ctx->err);

	if (rc < 0)
		return rc;
	probing_predicate(&d->args->probing, oneliner_is_user(&probe->spec), NULL, &predicate);
	return argdist_program(probe, (u32)d->probes.len - 1, buf_str(&predicate), machine,
			       &p->source, &p->ctx->err);
}

/* Names of the maps that a round clears: none if all adds up. */
static const char **map_names(struct argdist *d)
{
	const char **maps = arena_zalloc(&d->arena, (2 * d->probes.len + 1) * sizeof(*maps));
	size_t n = 0;

	for (u32 i = 0; i < d->probes.len && !d->args->cumulative; i++) {
		maps[n++] = arena_printf(&d->arena, "@d%u", i);
		maps[n++] = arena_printf(&d->arena, "@s%u", i);
	}
	return maps;
}

static int argdist_run(struct context *ctx, void *args)
{
	struct argdist_args *a = args;
	struct argdist d = { .args = a };
	_cleanup_buf_ struct buf made_from = BUF_INIT;
	struct probing p;
	int rc = 0;

	if (!a->words.len) {
		rc = err_set(&ctx->err, EINVAL, "give -C or -H with a probe");
		err_hint(&ctx->err, "fathom argdist -d 2 -H 'p:c:malloc(size_t size):size_t:size'");
	}
	if (a->words.len > PROBES_MOST)
		rc = err_set(&ctx->err, E2BIG, "at most %d probes can be given", PROBES_MOST);
	if (rc < 0)
		return EXIT_USAGE;
	probing_init(&p, ctx, &a->probing);
	vec_each(it, &a->words)
		buf_addf(&made_from, "%s%s", made_from.len ? "' '" : "", it->text);
	p.made_from = buf_str(&made_from);
	p.tool = &d;
	p.count = a->count;
	if (a->string_size)
		buf_addf(&p.source, "config = { max_strlen = %llu; }\n",
			 (unsigned long long)a->string_size);
	for (size_t i = 0; i < a->words.len && rc == 0; i++)
		rc = add_probe(&d, &p, &a->words.items[i]);
	a->probing.debug = ctx->common.verbose;
	rc = rc < 0 ? EXIT_USAGE : probing_run(&p, map_names(&d), show);
	vec_each(it, &d.probes)
		argdist_release(it);
	vec_release(&d.probes);
	arena_release(&d.arena);
	probing_release(&p);
	return rc;
}

static int add_word(void *field, const char *text, bool is_hist)
{
	argdist_words *words = field;

	vec_push(words, (struct argdist_word){ text, is_hist });
	return 0;
}

static int parse_count(void *field, const char *text, struct err *e)
{
	(void)e;
	return add_word(field, text, false);
}

static int parse_hist(void *field, const char *text, struct err *e)
{
	(void)e;
	return add_word(field, text, true);
}

static void argdist_release_args(void *args)
{
	struct argdist_args *a = args;

	vec_release(&a->words);
}

#define OPTION(...) OPT_ENTRY(struct argdist_args, __VA_ARGS__)

static const struct opt argdist_options[] = {
	OPTION('C', "count", OPT_CUSTOM, words, "PROBE", "count the values", .parse = parse_count),
	OPTION('H', "histogram", OPT_CUSTOM, words, "PROBE", "the values as a histogram",
	       .parse = parse_hist),
	PROBING_PID(struct argdist_args),
	PROBING_OPTION('t', "tid", OPT_U64, struct argdist_args, tid, "TID", "only this thread",
		       .max = UINT32_MAX),
	PROBING_OPTION('i', "interval", OPT_DURATION, struct argdist_args, interval, "TIME",
		       "interval between outputs", .def = "1s"),
	PROBING_DURATION('d', struct argdist_args),
	OPTION('n', "number", OPT_U64, count, "COUNT", "end after this many outputs"),
	OPTION('c', "cumulative", OPT_FLAG, cumulative, NULL, "values add up over the outputs"),
	OPTION('T', "top", OPT_U64, top, "COUNT", "only the most frequent values"),
	OPTION('z', "string-size", OPT_U64, string_size, "BYTES",
	       "maximum number of bytes read of a string", .def = "80", .max = 8192),
	PROBING_SOURCE(struct argdist_args),
	OPTION('I', "include", OPT_STRINGS, ignored, "HEADER",
	       "accepted for compatibility with bcc: types come from the kernel and debug "
	       "information",
	       .flags = OPT_HIDDEN),
	OPT_END,
};

static const struct example examples[] = {
	{ "fathom argdist -d 2 -H 'p:c:malloc(size_t size):size_t:size'", "sizes of allocations" },
	{ "fathom argdist -n 2 -C 'p:c:write(int fd):int:fd' -T 5", "descriptors written to most" },
	{ "fathom argdist -n 1 -H 'r:c:read(int fd):u64:$latency:$entry(fd) > 2#read'",
	  "latency in nanoseconds of reads from files other than the standard ones" },
	{ "fathom argdist -n 2 -C 't:sched:sched_switch():int:args->prev_prio'",
	  "a field of a tracepoint" },
	{ 0 },
};

const struct command cmd_argdist = {
	.name = "argdist",
	.summary = "count the values of arguments and results, or their spread",
	.description =
		"Puts probes on functions, tracepoints and static probes and counts the values of "
		"expressions there, as bcc's tool of that name does. A probe is written as\n\n"
		"    KIND:PLACE:NAME(SIGNATURE):TYPE[,TYPE]:EXPR[,EXPR][:FILTER][#LABEL]\n\n"
		"KIND p is the entry of a function, r its return, t a tracepoint, u a static "
		"probe; PLACE is a library or a category of tracepoints, empty for the kernel. "
		"Expressions are C over the parameters of the signature; at returns they can have "
		"$retval, $latency and $entry(parameter), and everywhere $PID and STRCMP(\"text\", "
		"pointer).",
	.question = Q_TRACE,
	.options = argdist_options,
	.args_size = sizeof(struct argdist_args),
	.examples = examples,
	.see_also = "fathom-trace fathom-funccount fathom-funclatency",
	.run = argdist_run,
	.release = argdist_release_args,
};
