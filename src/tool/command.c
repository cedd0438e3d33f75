/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a header block to a command: its options, operands, examples. */
#include "tool/recorded.h"

enum { TOP_MOST = 1000000 };

#define AT(field) .offset = offsetof(struct tool_args, field)

/* When a uniform option makes sense. */
enum applies {
	ALWAYS,
	FOR_TABLES,
	FOR_SLOWER,
	FOR_STACKS,
	FOR_TIMES,
	FOR_ROWS,
	FOR_MAPS,
	FOR_FILES,   /* a recording can take the place of the running kernel */
	FOR_TARGETS, /* the script asks target() */
};

static const struct uniform {
	enum applies when;
	struct opt opt;
} uniform[] = {
	{ FOR_TARGETS,
	  { 'p', "pid", OPT_PIDS, AT(pids), .arg = "PID[,PID]", .group = "Target",
	    .help = "these processes with all their threads" } },
	{ FOR_TARGETS,
	  { 't', "tid", OPT_PIDS, AT(tids), .arg = "TID[,TID]", .group = "Target",
	    .help = "these threads" } },
	{ FOR_TARGETS,
	  { 'u', "user", OPT_STRINGS, AT(users), .arg = "USER", .group = "Target",
	    .help = "the processes of this user, by name or number", .alias = "uid" } },
	{ FOR_TARGETS,
	  { 'G', "cgroup", OPT_STRINGS, AT(cgroups), .arg = "CGROUP", .group = "Target",
	    .help = "the processes of this control group, by path" } },
	{ FOR_TARGETS,
	  { .name = "comm",
	    .type = OPT_STRING,
	    AT(comm),
	    .arg = "GLOB",
	    .group = "Target",
	    .help = "commands of this name; '*' may begin or end it" } },
	{ FOR_TARGETS,
	  { .name = "children",
	    .type = OPT_FLAG,
	    AT(children),
	    .group = "Target",
	    .help = "with -p: also the processes that these start" } },
	{ ALWAYS,
	  { 'd', "duration", OPT_DURATION, AT(duration), .arg = "TIME", .group = "Target",
	    .help = "stop after this time, like 10s or 500ms; else, or with 0, at "
		    "Ctrl-C" } },
	{ FOR_SLOWER,
	  { .name = "min",
	    .type = OPT_DURATION,
	    AT(min),
	    .arg = "TIME",
	    .group = "Output",
	    .help = "leave out what is faster; 0 shows all" } },
	{ FOR_ROWS,
	  { .name = "filter",
	    .type = OPT_STRING,
	    AT(filter),
	    .arg = "EXPR",
	    .group = "Output",
	    .help = "rows for which this is true, like 'pid == 1 && bytes > 4K'" } },
	/* before --interval, which has the same letter elsewhere */
	{ FOR_FILES,
	  { 'i', "input", OPT_FILE, AT(input), .arg = "FILE", .group = "Target",
	    .help = "these events of a recording, also of perf, not the running kernel" } },
	{ FOR_MAPS,
	  { .short_name = 'i',
	    .name = "interval",
	    .type = OPT_DURATION,
	    AT(interval),
	    .arg = "TIME",
	    .group = "Output",
	    .help = "a table or histogram each time, as the first operand" } },
	{ FOR_TABLES,
	  { .short_name = 'r',
	    .name = "top",
	    .type = OPT_U64,
	    AT(top),
	    .arg = "N",
	    .group = "Output",
	    .max = TOP_MOST,
	    .alias = "rows maxrows",
	    .help = "only the first N rows; 0 is all" } },
	{ FOR_TABLES,
	  { .name = "sort",
	    .type = OPT_STRING,
	    AT(sort),
	    .arg = "COLUMN",
	    .group = "Output",
	    .help = "sort by this column, largest first; '-COLUMN': smallest first" } },
	{ ALWAYS,
	  { 'T', "timestamp", OPT_FLAG, AT(timestamp), .group = "Output",
	    .help = "with the time of day" } },
	{ ALWAYS,
	  { 'o', "output", OPT_FILE, AT(output.path), .arg = "FILE", .group = "Output",
	    .help = "write the result there" } },
	{ ALWAYS,
	  { .name = "force",
	    .type = OPT_FLAG,
	    AT(output.force),
	    .group = "Output",
	    .help = "overwrite files that exist" } },
	{ FOR_STACKS,
	  { .name = "flame",
	    .type = OPT_FILE,
	    AT(flame),
	    .arg = "FILE",
	    .group = "Output",
	    .help = "draw the stacks as a flame graph at the end: FILE.svg, or FILE.html" } },
	{ FOR_TIMES,
	  { .name = "heatmap",
	    .type = OPT_FILE,
	    AT(heatmap),
	    .arg = "FILE.svg",
	    .group = "Output",
	    .help = "draw the times as a heat map of latencies at the end" } },
	{ ALWAYS,
	  { 'j', "as-json", OPT_FLAG, AT(json), .flags = OPT_HIDDEN,
	    .help = "--json, as bcc's tools spell it" } },
	{ ALWAYS,
	  { .name = "source",
	    .type = OPT_FLAG,
	    AT(source),
	    .group = "Output",
	    .help = "print the script, and do not run it" } },
};

bool tool_has_kind(const struct tool *t, enum column_kind kind)
{
	vec_each(it, &t->header.columns)
		if (it->kind == kind)
			return true;
	return false;
}

bool tool_streams(const struct tool *t)
{
	return !t->header.shows.len;
}

bool tool_has_keys(const struct tool *t)
{
	size_t n = 0;

	vec_each(it, &t->header.columns)
		n += !column_is_computed(it);
	return n > t->header.shows.len;
}

bool tool_has_histograms(const struct tool *t)
{
	vec_each(it, &t->header.columns)
		if (column_is_hist(it->kind))
			return true;
	return false;
}

static bool does_apply(const struct tool *t, enum applies when)
{
	switch (when) {
	case FOR_TABLES: return !tool_streams(t) && !tool_has_histograms(t);
	case FOR_SLOWER: return t->header.min;
	case FOR_STACKS: return tool_has_kind(t, KIND_STACK);
	case FOR_TIMES: return tool_streams(t) && tool_has_kind(t, KIND_DURATION);
	case FOR_MAPS: return !tool_streams(t);
	case FOR_FILES: return recorded_reads(t);
	case FOR_ROWS: return !tool_has_histograms(t);
	case FOR_TARGETS:
		return t->header.user_process || t->header.may_process ||
		       memmem(t->text.data, t->text.len, "target()", 8);
	case ALWAYS: break;
	}
	return true;
}

static const char *const *split_choices(struct arena *a, const char *text)
{
	const char **list;
	size_t n = 2, i = 0;

	for (const char *c = text; *c; c++)
		n += *c == '|';
	list = arena_zalloc(a, n * sizeof(*list));
	while (*text) {
		size_t len = strcspn(text, "|");

		list[i++] = arena_strndup(a, text, len);
		text += len + (text[len] == '|');
	}
	return list;
}

static struct opt own_option(struct tool *t, const struct tool_option *o, size_t i)
{
	static const enum opt_type types[] = {
		[OPTION_FLAG] = OPT_FLAG,     [OPTION_INT] = OPT_S64,
		[OPTION_STRING] = OPT_STRING, [OPTION_DURATION] = OPT_DURATION,
		[OPTION_SIZE] = OPT_SIZE,     [OPTION_CHOICE] = OPT_CHOICE,
	};
	struct opt ret = { .short_name = o->letter,
			   .name = o->name,
			   .alias = o->alias,
			   .type = types[o->kind],
			   .offset = offsetof(struct tool_args, values) + i * sizeof(u64),
			   .arg = o->arg,
			   .help = o->help,
			   .def = o->def };

	if (o->kind == OPTION_CHOICE)
		ret.choices = split_choices(&t->arena, o->choices);
	return ret;
}

/* A letter belongs to the first that uses it, first of all the header's options. */
static bool letter_taken(const struct opt *table, size_t n, char letter)
{
	for (size_t i = 0; i < n; i++)
		if (table[i].short_name == letter)
			return true;
	return false;
}

static const struct opt *make_options(struct tool *t)
{
	size_t own = t->header.options.len, n = 0;
	struct opt *table =
		arena_zalloc(&t->arena, (own + ARRAY_SIZE(uniform) + 1) * sizeof(*table));

	for (; n < own; n++)
		table[n] = own_option(t, &t->header.options.items[n], n);
	for (size_t i = 0; i < ARRAY_SIZE(uniform); i++) {
		if (!does_apply(t, uniform[i].when))
			continue;
		table[n] = uniform[i].opt;
		if (uniform[i].when == FOR_SLOWER)
			table[n].def = t->header.min;
		if (table[n].short_name && letter_taken(table, n, table[n].short_name))
			table[n].short_name = 0;
		n++;
	}
	return table;
}

static const struct example *make_examples(struct tool *t)
{
	size_t n = t->header.examples.len;
	struct example *list = arena_zalloc(&t->arena, (n + 2) * sizeof(*list));

	for (size_t i = 0; i < n; i++)
		list[i] = (struct example){ t->header.examples.items[i].line,
					    t->header.examples.items[i].text };
	if (!n)
		list[0] = (struct example){ arena_printf(&t->arena, "fathom %s", t->name),
					    "until Ctrl-C" };
	return list;
}

/* The values of an option that may stand alone: "[postgres|mysql]". */
static const char *choice_operand(struct tool *t)
{
	vec_each(it, &t->header.options)
		if (it->kind == OPTION_CHOICE)
			return arena_printf(&t->arena, "[%s]", it->choices);
	return NULL;
}

static void set_operands(struct tool *t)
{
	struct command *c = &t->command;

	bool min = t->header.operand && streq(t->header.operand, "min");
	const char *choices = choice_operand(t);

	if (tool_streams(t)) {
		c->operands = min ? "[MS]" : t->header.operand ? "[VALUE]" : choices;
		c->max_operands = (t->header.operand != NULL) + (choices != NULL);
	} else {
		c->operands =
			t->header.operand ? "[VALUE] [INTERVAL [COUNT]]" : "[INTERVAL [COUNT]]";
		c->max_operands = 2 + (t->header.operand != NULL) + (choices != NULL);
	}
}

/* What the columns are, for the page of the tool. */
static const char *make_description(struct tool *t)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (t->header.about)
		buf_addf(&text, "%s\n\n", t->header.about);
	buf_addstr(&text, "Columns, with their keys in JSON and CSV:");
	vec_each(it, &t->header.columns) {
		buf_addf(&text, "%s %s (%s%s%s)", it == t->header.columns.items ? "" : ",",
			 it->name, column_kind_name(it->kind), column_unit(it->kind) ? ", " : "",
			 column_unit(it->kind) ? column_unit(it->kind) : "");
	}
	buf_addch(&text, '.');
	if (t->header.differs)
		buf_addf(&text, "\n\nDifferent from the tool of this name in bcc: %s",
			 t->header.differs);
	return arena_strdup(&t->arena, buf_str(&text));
}

static const struct column_words *make_columns(struct tool *t)
{
	struct column_words *all =
		arena_alloc(&t->arena, (t->header.columns.len + 1) * sizeof(*all));

	for (size_t i = 0; i < t->header.columns.len; i++) {
		const struct tool_column *c = &t->header.columns.items[i];

		all[i] = (struct column_words){ c->name, column_kind_name(c->kind),
						column_unit(c->kind) };
	}
	all[t->header.columns.len] = (struct column_words){ 0 };
	return all;
}

static const char *make_aliases(struct tool *t)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	vec_each(it, &t->header.aliases)
		buf_addf(&text, "%s%s", text.len ? " " : "", it->name);
	return text.len ? arena_strdup(&t->arena, buf_str(&text)) : NULL;
}

static const char *group_title(const char *name)
{
	for (const struct tool_group *g = tool_groups; g->name; g++)
		if (streq(g->name, name))
			return g->title;
	return "";
}

void tool_make_command(struct tool *t)
{
	t->command = (struct command){
		.name = t->name,
		.summary = t->header.summary,
		.description = make_description(t),
		.question = Q_TOOL,
		.group = group_title(t->header.group),
		.aliases = make_aliases(t),
		.options = make_options(t),
		.args_size = sizeof(struct tool_args) + t->header.options.len * sizeof(u64),
		.takes_program = does_apply(t, FOR_TARGETS),
		.examples = make_examples(t),
		.columns = make_columns(t),
		.notes = t->header.notes,
		.see_also = "fathom-tools fathom-trace",
		.run = tool_run,
	};
	set_operands(t);
}
