/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fathom tools: the tool library, by groups, and what of it works here. */
#include "tool/tool.h"

static const struct column shown[] = {
	{ "name", "TOOL", VALUE_TEXT, 0 },
	{ "works", "HERE", VALUE_TEXT, COLUMN_SPARE },
	{ "summary", "SHOWS", VALUE_TEXT, COLUMN_FILL },
	{ "group", "GROUP", VALUE_TEXT, COLUMN_HIDDEN },
	{ "columns", "COLUMNS", VALUE_TEXT, COLUMN_HIDDEN },
	{ "aliases", "ALIASES", VALUE_TEXT, COLUMN_HIDDEN },
	{ "why_not", "WHY NOT", VALUE_TEXT, COLUMN_HIDDEN },
	{ "differs", "DIFFERS", VALUE_TEXT, COLUMN_HIDDEN },
	{ "file", "FILE", VALUE_TEXT, COLUMN_HIDDEN },
	{ "form", "FORM", VALUE_TEXT, COLUMN_HIDDEN },
	{ "kinds", "KINDS", VALUE_TEXT, COLUMN_HIDDEN },
};

enum { NAME, WORKS, SUMMARY, GROUP, COLUMNS, ALIASES, WHY_NOT, DIFFERS, FILE_OF, FORM, KINDS };

/* How its result looks: "rows" come one by one, a "table" or "histogram" each interval. */
static const char *form_of(const struct tool *t)
{
	if (tool_streams(t))
		return "rows";
	return tool_has_histograms(t) ? "histogram" : "table";
}

static struct value kinds_of(struct result *r, const struct tool *t)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	vec_each(it, &t->header.columns)
		buf_addf(&text, "%s%s", text.len ? " " : "", column_kind_name(it->kind));
	return value_text(r, buf_str(&text));
}

static struct value columns_of(struct result *r, const struct tool *t)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	vec_each(it, &t->header.columns)
		buf_addf(&text, "%s%s", text.len ? " " : "", it->name);
	return value_text(r, buf_str(&text));
}

static struct value aliases_of(struct result *r, const struct tool *t)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	vec_each(it, &t->header.aliases)
		buf_addf(&text, "%s%s", text.len ? " " : "", it->name);
	return value_text(r, buf_str(&text));
}

static void add_row(struct result *r, struct table *table, const struct tool *t)
{
	struct err e = ERR_INIT;
	bool works = tool_try(t, &e) == 0;
	struct row *row = table_row(r, table);
	struct value *c = row->cells;

	c[NAME] = value_text(r, t->name);
	c[WORKS] = value_text(r, works ? "yes" : "no");
	c[SUMMARY] = works ? value_text(r, t->header.summary)
			   : value_textf(r, "%s (%s)", t->header.summary, e.what ? e.what : "?");
	c[GROUP] = value_text(r, t->header.group);
	c[COLUMNS] = columns_of(r, t);
	c[ALIASES] = aliases_of(r, t);
	c[WHY_NOT] = value_text(r, works ? NULL : e.what);
	c[DIFFERS] = value_text(r, t->header.differs);
	c[FILE_OF] = value_text(r, t->path);
	c[FORM] = value_text(r, form_of(t));
	c[KINDS] = kinds_of(r, t);
	if (!works)
		row->style = STYLE_DIM;
	err_release(&e);
}

static int tools_run(struct context *ctx, void *args)
{
	const char *only = ctx->operands.len ? ctx->operands.items[0] : NULL;
	_cleanup_result_ struct result r = { 0 };
	u64 n = 0;

	(void)args;
	result_init(&r, "tools");
	for (const struct tool_group *g = tool_groups; g->name; g++) {
		struct table *table = NULL;

		if (only && !streq(only, g->name))
			continue;
		for (size_t i = 0; i < ctx->n_commands; i++) {
			const struct tool *t = tool_of(ctx->commands[i]);

			if (!t || !streq(t->header.group, g->name))
				continue;
			if (!table)
				table = result_table(&r, "tools", g->title, shown,
						     ARRAY_SIZE(shown));
			add_row(&r, table, t);
			n++;
		}
	}
	if (!n) {
		err_set(&ctx->err, EINVAL, "unknown group '%s'", only ? only : "");
		err_hint(&ctx->err,
			 "the groups are: block files cpu processes memory locks network "
			 "runtimes virtual own");
		return EXIT_USAGE;
	}
	result_note(&r, NOTE_INFO, NULL, "%llu tools; 'fathom TOOL --help' says all about one",
		    (unsigned long long)n);
	return cli_show(ctx, &r);
}

static const struct example examples[] = {
	{ "fathom tools", "all of them" },
	{ "fathom tools network", "one group" },
	{ "fathom tools --json", "with columns, other names, and why some do not work here" },
	{ 0 },
};

const struct command cmd_tools = {
	.name = "tools",
	.summary = "the tool library: what each tool shows, and whether it works here",
	.description = "Each tool is one script in the tracing language. 'fathom TOOL --source' "
		       "prints it. "
		       "Scripts with a header block in $XDG_CONFIG_HOME/fathom/tools (or "
		       "~/.config/fathom/tools) are tools as well; one of the same name is used "
		       "instead of "
		       "ours. docs/tools.md says how to write one.",
	.question = Q_SELF,
	.operands = "[GROUP]",
	.max_operands = 1,
	.examples = examples,
	.see_also = "fathom-run fathom-trace",
	.run = tools_run,
};
