/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What --help and the bare program print. */
#include "cli/cli.h"

#include "base/buf.h"
#include "base/fmt.h"
#include "cli/table.h"
#include "base/text.h"

enum {
	WIDEST = 100,      /* longer lines are hard to read */
	NARROWEST = 20,    /* below it words stick out rather than stand alone */
	SIDE_BY_SIDE = 60, /* narrower: the text goes below its option */
	LABEL_MAX = 28,    /* longer labels have their text on the next line */
	INDENT = 2,
};

struct page {
	struct buf *out;
	size_t width;
	bool color;
};

static const char *const questions[QUESTION_COUNT] = {
	[Q_CPU] = "Where does CPU time go?",
	[Q_WAIT] = "What is being waited for?",
	[Q_TRACE] = "What happens, how often, how long?",
	[Q_TOOL] = "Which tool shows one thing?",
	[Q_LOOK] = "How can I look at a recording?",
	[Q_MACHINE] = "What is this machine, what does it do now?",
	[Q_SELF] = "What can fathom do here?",
};

const char *cli_question(enum question q)
{
	return q > 0 && q < QUESTION_COUNT ? questions[q] : "";
}

static struct page page_of(struct buf *out, bool color, int width)
{
	size_t w = width < NARROWEST ? NARROWEST : (size_t)width;

	return (struct page){ out, MIN(w, (size_t)WIDEST), color };
}

static void strong(const struct page *p, const char *text)
{
	if (p->color)
		buf_addf(p->out, "\033[1m%s\033[0m", text);
	else
		buf_addstr(p->out, text);
}

static void heading(const struct page *p, const char *text)
{
	buf_addch(p->out, '\n');
	if (p->color)
		buf_addstr(p->out, "\033[1m");
	text_fill(p->out, text, strlen(text), 0, 0, p->width);
	if (p->color) {
		buf_truncate(p->out, p->out->len - 1);
		buf_addstr(p->out, "\033[0m\n");
	}
}

/* A label and what it means, in two columns where there is room. */
static void entry(const struct page *p, const char *label, const char *text, size_t column)
{
	size_t at;

	/* in a single column, empty room for a missing letter is confusing */
	if (p->width < SIDE_BY_SIDE) {
		label += strspn(label, " ");
		column = INDENT + 2;
	}
	at = INDENT + fmt_width(label);
	buf_fill(p->out, ' ', INDENT);
	strong(p, label);
	if (at + 2 > column) {
		buf_addch(p->out, '\n');
		at = 0;
	}
	buf_fill(p->out, ' ', column - at);
	text_fill(p->out, text, strlen(text), column, column, p->width);
}

static void option_label(const struct opt *o, struct buf *out)
{
	_cleanup_buf_ struct buf arg = BUF_INIT;
	bool optional = o->flags & OPT_OPTIONAL;

	if (o->short_name)
		buf_addf(out, "-%c%s", o->short_name, o->name ? ", " : "");
	else
		buf_addstr(out, "    ");
	if (o->name)
		buf_addf(out, "--%s%s",
			 o->flags & OPT_NEGATABLE && !starts_with(o->name, "no-") ? "[no-]" : "",
			 o->name);
	if (!opt_takes_value(o))
		return;
	opt_arg_name(o, &arg);
	if (optional)
		buf_addf(out, "[%s%s]", o->name ? "=" : "", buf_str(&arg));
	else
		buf_addf(out, " %s", buf_str(&arg));
}

/* The help line with what else the table contains: choices, default. */
static void option_text(const struct opt *o, struct buf *out)
{
	buf_addstr(out, o->help ? o->help : "");
	if (o->type == OPT_CHOICE && o->choices && o->arg) {
		buf_addstr(out, ": ");
		for (const char *const *c = o->choices; *c; c++)
			buf_addf(out, "%s%s", c == o->choices ? "" : ", ", *c);
	}
	if (o->def && opt_takes_value(o))
		buf_addf(out, " (default: %s)", o->def);
	else if (o->def && streq(o->def, "yes"))
		buf_addstr(out, " (default)");
}

static size_t label_column(const opt_refs *refs)
{
	_cleanup_buf_ struct buf label = BUF_INIT;
	size_t most = 0;

	vec_each(ref, refs) {
		size_t w;

		if (ref->hidden)
			continue;
		buf_reset(&label);
		option_label(ref->opt, &label);
		w = fmt_width(buf_str(&label));
		if (w <= LABEL_MAX)
			most = MAX(most, w);
	}
	return INDENT + most + 2;
}

static void one_option(const struct page *p, const struct opt *o, size_t column)
{
	_cleanup_buf_ struct buf label = BUF_INIT, text = BUF_INIT;

	option_label(o, &label);
	option_text(o, &text);
	entry(p, buf_str(&label), buf_str(&text), column);
}

static void option_group(const struct page *p, const opt_refs *refs, size_t from, size_t column)
{
	const char *group = opt_group(refs->items[from].opt);

	heading(p, group);
	for (size_t i = from; i < refs->len; i++) {
		const struct opt *o = refs->items[i].opt;

		if (!refs->items[i].hidden && streq(opt_group(o), group))
			one_option(p, o, column);
	}
}

static void options(const struct page *p, const struct command *cmd)
{
	opt_refs refs;
	size_t column;

	opts_collect(cmd, &refs);
	column = label_column(&refs);
	for (size_t i = 0; i < refs.len; i++)
		if (opts_group_begins(&refs, i))
			option_group(p, &refs, i, column);
	vec_release(&refs);
}

static void examples(const struct page *p, const struct command *cmd)
{
	if (!cmd->examples || !cmd->examples->line)
		return;
	heading(p, "Examples");
	for (const struct example *x = cmd->examples; x->line; x++) {
		buf_fill(p->out, ' ', INDENT);
		strong(p, x->line);
		buf_addch(p->out, '\n');
		buf_fill(p->out, ' ', INDENT + 4);
		text_fill(p->out, x->text, strlen(x->text), INDENT + 4, INDENT + 4, p->width);
	}
}

static void usage(const struct page *p, const struct command *cmd)
{
	_cleanup_buf_ struct buf line = BUF_INIT;

	if (cmd->peer_usage) {
		buf_addstr(p->out, cmd->peer_usage);
		return;
	}
	buf_addf(&line, "fathom %s [options]", cmd->name);
	if (cmd->operands)
		buf_addf(&line, " %s", cmd->operands);
	if (cmd->takes_program)
		buf_addstr(&line, " [--] [program [args]]");
	strong(p, "Usage:");
	buf_addch(p->out, ' ');
	text_fill(p->out, buf_str(&line), line.len, 7, 7, p->width);
}

void cli_help(const struct command *cmd, bool color, int width, struct buf *out)
{
	struct page p = page_of(out, color, width);
	_cleanup_buf_ struct buf line = BUF_INIT;

	buf_addf(&line, "fathom %s - %s", cmd->name, cmd->summary);
	text_fill(out, buf_str(&line), line.len, 0, 4, p.width);
	buf_addch(out, '\n');
	usage(&p, cmd);
	if (cmd->description) {
		buf_addch(out, '\n');
		text_paragraphs(out, cmd->description, 0, p.width);
	}
	options(&p, cmd);
	examples(&p, cmd);
	if (cmd->notes) {
		heading(&p, "Notes");
		text_paragraphs(out, cmd->notes, INDENT, p.width);
	}
}

struct step {
	const char *needs; /* commands that must exist for it */
	const char *line;
	const char *text;
};

/* The first three that this build has. */
static const struct step steps[] = {
	{ "doctor", "fathom doctor", "what works on this machine, and how to get the rest" },
	{ "record report", "fathom record -d 5s && fathom report",
	  "where the whole machine spent five seconds" },
	{ "record", "fathom record -d 5s", "sample the whole machine for five seconds" },
	{ "help", "fathom help COMMAND", "options and examples of a command" },
	{ "list", "fathom list", "everything that can be counted or sampled here" },
};

static bool has_all(const struct command *const *commands, size_t n, const char *names)
{
	char name[OPT_NAME_MAX];

	while (word_next(&names, name, sizeof(name)))
		if (!cli_find(commands, n, name))
			return false;
	return true;
}

static void first_steps(const struct page *p, const struct command *const *commands, size_t n)
{
	const char *seen = "";
	size_t shown = 0;

	for (size_t i = 0; i < ARRAY_SIZE(steps) && shown < 3; i++) {
		if (!has_all(commands, n, steps[i].needs))
			continue;
		/* record alone says nothing new after record and report */
		if (starts_with(seen, steps[i].line))
			continue;
		if (!shown)
			heading(p, "First steps");
		seen = steps[i].line;
		buf_fill(p->out, ' ', INDENT);
		strong(p, steps[i].line);
		buf_addch(p->out, '\n');
		buf_fill(p->out, ' ', INDENT + 4);
		text_fill(p->out, steps[i].text, strlen(steps[i].text), INDENT + 4, INDENT + 4,
			  p->width);
		shown++;
	}
}

static void question_group(const struct page *p, const struct command *const *commands, size_t n,
			   enum question q, size_t column)
{
	bool begun = false;

	for (size_t i = 0; i < n; i++) {
		if (commands[i]->question != q)
			continue;
		if (!begun)
			heading(p, questions[q]);
		begun = true;
		entry(p, commands[i]->name, commands[i]->summary, column);
	}
}

/* Is it the first tool of its group? */
static bool begins_group(const struct command *const *commands, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (commands[k]->group && streq(commands[k]->group, commands[i]->group))
			return false;
	return true;
}

/* There are many tools: a line for each group, and "fathom tools" for what each of them does. */
static void tool_groups(const struct page *p, const struct command *const *commands, size_t n,
			size_t column)
{
	bool begun = false;

	for (size_t i = 0; i < n; i++) {
		_cleanup_buf_ struct buf names = BUF_INIT;

		if (commands[i]->question != Q_TOOL || !commands[i]->group ||
		    !begins_group(commands, i))
			continue;
		if (!begun)
			heading(p, questions[Q_TOOL]);
		begun = true;
		for (size_t k = i; k < n; k++)
			if (commands[k]->group && streq(commands[k]->group, commands[i]->group))
				buf_addf(&names, "%s%s", names.len ? " " : "", commands[k]->name);
		entry(p, commands[i]->group, buf_str(&names), column);
	}
}

void cli_overview(const struct command *const *commands, size_t n, bool color, int width,
		  struct buf *out)
{
	static const char intro[] =
		"fathom shows where the time of a Linux machine goes: on a CPU, "
		"waiting for one, or blocked; in which code, woken by whom.";
	static const char line[] = "fathom COMMAND [options] [-- program [args]]";
	struct page p = page_of(out, color, width);
	size_t most = 0;

	text_fill(out, intro, strlen(intro), 0, 0, p.width);
	buf_addch(out, '\n');
	strong(&p, "Usage:");
	buf_addch(out, ' ');
	text_fill(out, line, strlen(line), 7, 7, p.width);
	for (size_t i = 0; i < n; i++)
		most = MAX(most, strlen(commands[i]->name));
	for (int q = 1; q < QUESTION_COUNT; q++) {
		if (q == Q_TOOL)
			tool_groups(&p, commands, n, INDENT + most + 2);
		else
			question_group(&p, commands, n, (enum question)q, INDENT + most + 2);
	}
	first_steps(&p, commands, n);
}
