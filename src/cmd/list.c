/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fathom list: what can be counted and sampled here. */
#include <fnmatch.h>
#include <strings.h>

#include "base/buf.h"
#include "base/json.h"
#include "capture/catalog.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "result/result.h"

struct list_args {
	bool all;
	bool json;
	bool bare; /* --no-desc, --raw-dump */
	bool ignored;
	const char *output;
};

struct list {
	const str_list *patterns;
	struct result *result;
	struct table *table;
	size_t found;
	bool as_perf; /* a word for a kind is no part of a name */
};

static bool matches(const char *pattern, const char *name)
{
	if (strpbrk(pattern, "*?["))
		return fnmatch(pattern, name, FNM_CASEFOLD) == 0;
	return strcasestr(name, pattern) != NULL;
}

/* The words of perf list for kinds of events are understood, too. */
static bool is_kind(const char *pattern, enum catalog_kind kind)
{
	static const struct {
		const char *word;
		enum catalog_kind kind;
	} words[] = {
		{ "hw", CATALOG_HARDWARE },           { "sw", CATALOG_SOFTWARE },
		{ "hwcache", CATALOG_CACHE },         { "pmu", CATALOG_PMU },
		{ "tracepoint", CATALOG_TRACEPOINT }, { "pfm", CATALOG_VENDOR },
		{ "breakpoint", CATALOG_OTHER },      { "rawpmu", CATALOG_OTHER },
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (words[i].kind == kind && streq(pattern, words[i].word))
			return true;
	}
	return streq(pattern, catalog_kind_name(kind));
}

static bool is_any_kind(const char *pattern)
{
	for (enum catalog_kind kind = 0; kind <= CATALOG_FIELD; kind++) {
		if (is_kind(pattern, kind))
			return true;
	}
	return false;
}

static bool list_wants(void *ctx, enum catalog_kind kind, const char *name, const char *alias)
{
	const struct list *l = ctx;

	if (l->patterns->len == 0)
		return true;
	vec_each(p, l->patterns) {
		if (l->as_perf && is_any_kind(*p) && !is_kind(*p, kind))
			continue;
		if (is_kind(*p, kind) || matches(*p, name) || (alias && matches(*p, alias)))
			return true;
	}
	return false;
}

static void list_entry(void *ctx, const struct catalog_entry *entry)
{
	struct list *l = ctx;
	struct row *row = table_row(l->result, l->table);
	const char *text = entry->description ? entry->description : "";

	row->cells[0] = value_text(l->result, entry->name);
	row->cells[1] = value_text(l->result, catalog_kind_name(entry->kind));
	row->cells[2] = value_text(l->result, entry->encoding);
	row->cells[3] = value_text(l->result, entry->alias);
	if (entry->alias)
		row->cells[4] = value_textf(l->result, "or %s: %s", entry->alias, text);
	else if (*text)
		row->cells[4] = value_text(l->result, text);
	row->style = entry->kind == CATALOG_FIELD ? STYLE_DIM : STYLE_NONE;
	l->found++;
}

/* --- by perf's name --------------------------------------------------------------------------- */

struct perf_list {
	struct list list;
	struct json *json;
	bool bare;
	struct buf *out;
};

static const char *perf_kind(enum catalog_kind kind)
{
	switch (kind) {
	case CATALOG_HARDWARE: return "Hardware event";
	case CATALOG_SOFTWARE: return "Software event";
	case CATALOG_CACHE: return "Hardware cache event";
	case CATALOG_PMU: return "Kernel PMU event";
	case CATALOG_TRACEPOINT: return "Tracepoint event";
	case CATALOG_VENDOR: return "Vendor event";
	default: return "Hardware breakpoint";
	}
}

static void perf_entry(void *ctx, const struct catalog_entry *entry)
{
	struct perf_list *l = ctx;

	if (entry->kind == CATALOG_FIELD)
		return;
	l->list.found++;
	if (l->json) {
		json_open(l->json);
		json_kv_str(l->json, "EventName", entry->name);
		if (entry->alias)
			json_kv_str(l->json, "EventAlias", entry->alias);
		json_kv_str(l->json, "EventType", perf_kind(entry->kind));
		if (entry->encoding)
			json_kv_str(l->json, "Encoding", entry->encoding);
		if (entry->description && *entry->description)
			json_kv_str(l->json, "BriefDescription", entry->description);
		json_close(l->json);
		return;
	}
	if (l->bare) {
		buf_addf(l->out, "%s ", entry->name);
		return;
	}
	buf_addf(l->out, "  %s%s%s", entry->name, entry->alias ? " OR " : "",
		 entry->alias ? entry->alias : "");
	buf_addf(l->out, "%*s [%s]\n",
		 MAX(50 - (int)strlen(entry->name) -
			     (entry->alias ? (int)strlen(entry->alias) + 4 : 0),
		     0),
		 "", perf_kind(entry->kind));
}

static int list_as_perf(struct context *ctx, const struct list_args *a)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	struct json json = { 0 };
	struct perf_list l = { .list = { .patterns = &ctx->operands, .as_perf = true },
			       .json = a->json ? &json : NULL,
			       .bare = a->bare,
			       .out = &out };
	int code;

	if (a->json) {
		json_init(&json, &out, true);
		json_array(&json);
	} else if (!a->bare) {
		buf_addch(&out, '\n');
	}
	code = catalog_walk(
		&(struct catalog_query){
			.all = a->all, .wanted = list_wants, .entry = perf_entry, .ctx = &l },
		&ctx->err);
	if (code < 0)
		return code;
	if (a->json)
		json_end(&json);
	buf_addch(&out, '\n');
	return a->output ? output_write(ctx, &(struct output_args){ a->output, true }, &out)
			 : cli_print(ctx, &out);
}

/* --- by our own ------------------------------------------------------------------------------- */

static void list_notes(struct result *r, const struct list *l, struct err *e)
{
	if (e->code)
		result_note(r, NOTE_WARNING, e->hint, "tracepoints are not listed: %s", e->what);
	if (l->found == 0)
		result_note(r, NOTE_INFO,
			    "'fathom list --all' also shows what cannot be opened here",
			    "no event matches");
}

static int list_as_table(struct context *ctx, const struct list_args *a)
{
	bool verbose = ctx->common.verbose > 0;
	const struct column columns[] = {
		{ "event", "EVENT", VALUE_TEXT, COLUMN_UNCUT },
		{ "kind", "KIND", VALUE_TEXT, 0 },
		{ "encoding", "ENCODING", VALUE_TEXT, verbose ? 0 : COLUMN_HIDDEN },
		{ "alias", "ALIAS", VALUE_TEXT, COLUMN_HIDDEN },
		{ "description", "DESCRIPTION", VALUE_TEXT, COLUMN_FILL },
	};
	_cleanup_result_ struct result r = { 0 };
	_cleanup_err_ struct err e = ERR_INIT;
	struct list l = { .patterns = &ctx->operands, .result = &r };

	result_init(&r, "list");
	l.table = result_table(&r, "rows", NULL, columns, ARRAY_SIZE(columns));
	int code = catalog_walk(&(struct catalog_query){ .all = a->all,
							 .details = verbose,
							 .wanted = list_wants,
							 .entry = list_entry,
							 .ctx = &l },
				&e);
	if (code < 0)
		return code;
	list_notes(&r, &l, &e);
	code = cli_show(ctx, &r);
	return code == EXIT_OK && l.found == 0 ? EXIT_FAILED : code;
}

static int list_run(struct context *ctx, void *args)
{
	return ctx->as_perf && !cli_is_machine(ctx) ? list_as_perf(ctx, args)
						    : list_as_table(ctx, args);
}

#define PERF(letter, name_, type_, field, help_, ...)                                              \
	OPT_ENTRY(struct list_args, letter, name_, type_, field, NULL, help_, .flags = OPT_HIDDEN, \
		  __VA_ARGS__)

static const struct opt list_options[] = {
	{ .name = "all",
	  .short_name = 'a',
	  .type = OPT_FLAG,
	  .offset = offsetof(struct list_args, all),
	  .help = "also events that the kernel refuses to open here" },
	PERF('j', "perf-json", OPT_FLAG, json, "by perf's name: as JSON of perf's form"),
	PERF('o', "output", OPT_FILE, output, "by perf's name: into this file"),
	PERF(0, "raw-dump", OPT_FLAG, bare, "by perf's name: names alone"),
	PERF('d', "desc", OPT_FLAG, ignored, "accepted for compatibility with perf",
	     .alias = "no-desc long-desc details deprecated"),
	OPT_END,
};

static const struct example list_examples[] = {
	{ "fathom list", "every event that can be used here" },
	{ "fathom list 'sched:*'", "the tracepoints of the scheduler" },
	{ "fathom list -v sched_switch", "one tracepoint with its fields, for --filter" },
	{ "fathom list software --json", "the software events, for a program" },
	{ 0 },
};

const struct command cmd_list = {
	.name = "list",
	.summary = "list the events that can be counted and sampled here",
	.description = "Shows hardware, software and cache events, the events of every PMU that "
		       "the kernel knows, tracepoints and, where libpfm4 is built in, the vendor's "
		       "names. Only what the kernel opens is listed; --all shows the rest, too.\n\n"
		       "A pattern is a glob, a part of a name, or a kind: hardware (hw), software "
		       "(sw), cache, pmu, tracepoint, vendor (pfm). With -v tracepoints show their "
		       "fields and vendor events their unit masks.",
	.question = Q_SELF,
	.options = list_options,
	.args_size = sizeof(struct list_args),
	.operands = "[PATTERN]...",
	.max_operands = SIZE_MAX,
	.aliases = "tplist",
	.examples = list_examples,
	.see_also = "fathom-record perf-list",
	.run = list_run,
};
