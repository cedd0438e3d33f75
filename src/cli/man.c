/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Manual pages in mdoc, from the same tables as --help. The order of the sections is mdoc's own,
 * which mandoc's checker insists on.
 */
#include "cli/cli.h"

#include "base/buf.h"
#include "cli/table.h"
#include "base/text.h"

#ifndef FATHOM_DATE
#define FATHOM_DATE "November 15, 2026"
#endif

/* Text as it stands: backslashes, and control characters at the start of a line, are escaped. */
static void escape(struct buf *out, const char *s, size_t n)
{
	bool line_start = !out->len || out->data[out->len - 1] == '\n';

	for (size_t i = 0; i < n; i++) {
		if (line_start && (s[i] == '.' || s[i] == '\''))
			buf_addstr(out, "\\&");
		if (s[i] == '\\')
			buf_addstr(out, "\\e");
		else if (s[i] == '-')
			buf_addstr(out, "\\-");
		else
			buf_addch(out, s[i]);
		line_start = s[i] == '\n';
	}
}

/* One argument of a macro, always quoted: names of macros lose their meaning in quotes. */
static void argument(struct buf *out, const char *s)
{
	buf_addstr(out, " \"");
	for (; *s; s++) {
		if (*s == '"')
			buf_addstr(out, "\\(dq");
		else
			escape(out, s, 1);
	}
	buf_addch(out, '"');
}

/* The length of the first sentence of @s: up to a full stop that a blank follows. */
static size_t sentence_len(const char *s, size_t n)
{
	for (size_t i = 0; i + 1 < n; i++) {
		size_t k = i + 1;

		/* "..." stands for something left out */
		if (!strchr(".?!", s[i]) || (i && s[i] == '.' && s[i - 1] == '.'))
			continue;
		while (k < n && strchr("'\")", s[k]))
			k++;
		if (k < n && strchr(" \n", s[k]))
			return k;
	}
	return n;
}

/* Text, filled; mdoc wants each sentence to begin a line. */
static void words(struct buf *out, const char *s, size_t n)
{
	while (n) {
		_cleanup_buf_ struct buf line = BUF_INIT;
		size_t len = sentence_len(s, n);

		text_fill(&line, s, len, 0, 0, 78);
		/* nothing but blanks would be an empty line */
		if (line.len > 1)
			escape(out, buf_str(&line), line.len);
		s += len;
		n -= len;
	}
}

static void text(struct buf *out, const char *s)
{
	words(out, s, strlen(s));
}

/* "flamegraph.pl" and "fathom.data" are names, which stay as they are. */
static bool is_name(const char *s)
{
	size_t n = strcspn(s, " ");
	const char *dot = memchr(s, '.', n);

	return dot && dot + 1 < s + n;
}

/* A line of a table as a sentence: a capital at its start, @stop at its end. */
static void sentence(struct buf *out, const char *s, char stop)
{
	_cleanup_buf_ struct buf line = BUF_INIT;

	if (!s || !*s)
		return;
	buf_addstr(&line, s);
	if (line.data[0] >= 'a' && line.data[0] <= 'z' && !is_name(s))
		line.data[0] = (char)(line.data[0] - 'a' + 'A');
	buf_addch(&line, stop);
	text(out, buf_str(&line));
}

static void paragraphs(struct buf *out, const char *s)
{
	struct paragraph p;
	bool first = true;

	while (text_next(&s, &p)) {
		if (p.literal) {
			buf_addstr(out, ".Bd -literal -offset indent\n");
			escape(out, p.start, p.len);
			buf_addstr(out, "\n.Ed\n");
		} else {
			if (!first)
				buf_addstr(out, ".Pp\n");
			words(out, p.start, p.len);
		}
		first = false;
	}
}

static void prologue(struct buf *out, const struct command *cmd)
{
	buf_addstr(out, ".Dd " FATHOM_DATE "\n.Dt FATHOM");
	for (const char *c = cmd ? cmd->name : ""; *c; c++)
		buf_addf(out, "%s%c", cmd->name == c ? "-" : "",
			 *c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
	buf_addstr(out, " 1\n.Os\n.Sh NAME\n.Nm fathom");
	buf_addf(out, "%s%s\n.Nd ", cmd ? "-" : "", cmd ? cmd->name : "");
	text(out, cmd ? cmd->summary : "show where the time of a Linux machine goes");
}

/* "[PID]..." or "bash|zsh" as written: the table's text is already in the form of a synopsis. */
static void synopsis(struct buf *out, const struct command *cmd)
{
	buf_addstr(out, ".Sh SYNOPSIS\n");
	if (!cmd) {
		buf_addstr(out, ".Nm fathom\n.Ar command\n.Op Ar options\n"
				".Op Fl - Ar program Op Ar args\n");
		return;
	}
	buf_addf(out, ".Nm \"fathom %s\"\n.Op Ar options\n", cmd->name);
	if (cmd->operands) {
		buf_addstr(out, ".Ar");
		argument(out, cmd->operands);
		buf_addch(out, '\n');
	}
	if (cmd->takes_program)
		buf_addstr(out, ".Oo Fl - Oc Op Ar program Op Ar args\n");
}

static void option_item(struct buf *out, const struct opt *o)
{
	_cleanup_buf_ struct buf arg = BUF_INIT;

	buf_addstr(out, ".It");
	if (o->short_name)
		buf_addf(out, " Fl %c%s", o->short_name, o->name ? " ," : "");
	if (o->name)
		buf_addf(out, " Fl Fl %s%s",
			 o->flags & OPT_NEGATABLE && !starts_with(o->name, "no-") ? "[no-]" : "",
			 o->name);
	if (opt_takes_value(o)) {
		opt_arg_name(o, &arg);
		buf_addstr(out, o->flags & OPT_OPTIONAL ? " Ns Oo Ns = Ns Ar" : " Ar");
		argument(out, buf_str(&arg));
		buf_addstr(out, o->flags & OPT_OPTIONAL ? " Oc" : "");
	}
	buf_addch(out, '\n');
	sentence(out, o->help, '.');
}

static void option_details(struct buf *out, const struct opt *o)
{
	const char *aliases = o->alias;
	char name[OPT_NAME_MAX], next[OPT_NAME_MAX];
	bool more;

	if (o->type == OPT_CHOICE && o->choices) {
		buf_addstr(out, "One of\n");
		for (const char *const *c = o->choices; *c; c++)
			buf_addf(out, ".Cm %s %s\n", *c, c[1] ? "," : ".");
	}
	if (o->def && opt_takes_value(o)) {
		buf_addstr(out, "The default is\n.Cm");
		argument(out, o->def);
		buf_addstr(out, " .\n");
	}
	if (o->flags & OPT_OPTIONAL && o->implied) {
		buf_addstr(out, "Without a value it means\n.Cm");
		argument(out, o->implied);
		buf_addstr(out, " .\n");
	}
	if (!word_next(&aliases, name, sizeof(name)))
		return;
	buf_addstr(out, "Also called\n");
	do {
		more = word_next(&aliases, next, sizeof(next));
		buf_addf(out, ".Fl Fl %s %s\n", name, more ? "," : ".");
		snprintf(name, sizeof(name), "%s", next);
	} while (more);
}

static void option_group(struct buf *out, const opt_refs *refs, size_t from)
{
	const char *group = opt_group(refs->items[from].opt);

	if (!streq(group, "Options")) {
		buf_addstr(out, ".Ss");
		argument(out, group);
		buf_addch(out, '\n');
	}
	buf_addstr(out, ".Bl -tag -width Ds\n");
	for (size_t i = from; i < refs->len; i++) {
		const struct opt *o = refs->items[i].opt;

		if (refs->items[i].hidden || !streq(opt_group(o), group))
			continue;
		option_item(out, o);
		option_details(out, o);
	}
	buf_addstr(out, ".El\n");
}

static void options(struct buf *out, const struct command *cmd)
{
	opt_refs refs;

	buf_addstr(out, ".Sh OPTIONS\n");
	if (!cmd)
		buf_addstr(out, "Every command takes these;\n.Nm fathom\n.Ar command\n"
				".Fl Fl help\nlists its own.\n");
	opts_collect(cmd, &refs);
	for (size_t i = 0; i < refs.len; i++)
		if (opts_group_begins(&refs, i))
			option_group(out, &refs, i);
	vec_release(&refs);
}

static void environment(struct buf *out)
{
	static const char *const variables[][2] = {
		{ "COLUMNS", "Width of the output when it is not a terminal." },
		{ "FATHOM_BTF", "A file with the types of this kernel, if it was built without "
				"CONFIG_DEBUG_INFO_BTF: BTF, or a vmlinux that has it." },
		{ "LESS", "Options of less; FRX when it is not set." },
		{ "NO_COLOR", "No colour unless requested, if set and not empty." },
		{ "PAGER", "Shows output that is longer than the screen; less when not set, "
			   "nothing when empty." },
		{ "XDG_CACHE_HOME", "Folder of the cache, instead of ~/.cache." },
	};

	buf_addstr(out, ".Sh ENVIRONMENT\n.Bl -tag -width XDG_CACHE_HOME\n");
	for (size_t i = 0; i < ARRAY_SIZE(variables); i++) {
		buf_addf(out, ".It Ev %s\n", variables[i][0]);
		text(out, variables[i][1]);
	}
	buf_addstr(out, ".El\n");
}

static void files(struct buf *out)
{
	buf_addstr(out, ".Sh FILES\n.Bl -tag -width Ds\n"
			".It Pa fathom.data\n"
			"The recording that is written and read when no other is named, in the\n"
			"format of\n.Xr perf\\-record 1 .\n"
			".It Pa fathom.data.old\nThe one before.\n"
			".It Pa ~/.cache/fathom\n"
			"Tables made from programs and libraries, to be quicker the next time.\n"
			".El\n");
}

static void exit_status(struct buf *out, const struct command *cmd)
{
	buf_addstr(out, ".Sh EXIT STATUS\n.Bl -tag -width Ds\n"
			".It 0\nAll went well.\n"
			".It 1\nIt failed.\n"
			".It 2\nThe command line is wrong.\n"
			".It 3\nA privilege or a feature of the kernel is missing.\n"
			".It 4\nNothing was captured, or there is nothing to show.\n");
	if (!cmd || cmd->takes_program)
		buf_addstr(out, ".It other\nThe status of the profiled program.\n");
	buf_addstr(out, ".El\n");
}

static void example_list(struct buf *out, const struct example *x)
{
	for (bool first = true; x && x->line; x++, first = false) {
		if (!first)
			buf_addstr(out, ".Pp\n");
		sentence(out, x->text, ':');
		buf_addstr(out, ".Bd -literal -offset indent\n$ ");
		escape(out, x->line, strlen(x->line));
		buf_addstr(out, "\n.Ed\n");
	}
}

/* The first example of those commands that most begin with. */
static void first_examples(struct buf *out, const struct command *const *commands, size_t n)
{
	const char *names = "doctor record report flame offcpu threads trace diff";
	char name[OPT_NAME_MAX];
	bool begun = false;

	while (word_next(&names, name, sizeof(name))) {
		const struct command *cmd = cli_find(commands, n, name);

		if (!cmd || !cmd->examples)
			continue;
		if (begun)
			buf_addstr(out, ".Pp\n");
		example_list(out, (struct example[]){ cmd->examples[0], { 0 } });
		begun = true;
	}
	/* a build without any of them */
	if (!begun && n && commands[0]->examples)
		example_list(out, commands[0]->examples);
}

static void examples(struct buf *out, const struct command *const *commands, size_t n,
		     const struct command *cmd)
{
	buf_addstr(out, ".Sh EXAMPLES\n");
	if (cmd) {
		example_list(out, cmd->examples);
		return;
	}
	first_examples(out, commands, n);
}

struct reference {
	char name[OPT_NAME_MAX];
	char section[8];
};
typedef VEC(struct reference) references;

/* "perf-record" or "bpf(2)". */
static void reference_add(references *refs, const char *word)
{
	const char *open = strchr(word, '(');
	struct reference r = { .section = "1" };

	snprintf(r.name, sizeof(r.name), "%.*s", (int)strcspn(word, "("), word);
	if (open)
		snprintf(r.section, sizeof(r.section), "%.*s", (int)strcspn(open + 1, ")"),
			 open + 1);
	vec_each(old, refs)
		if (streq(old->name, r.name) && streq(old->section, r.section))
			return;
	vec_push(refs, r);
}

static int reference_compare(const void *a, const void *b)
{
	const struct reference *x = a, *y = b;
	int d = strcmp(x->section, y->section);

	return d ? d : strcasecmp(x->name, y->name);
}

static void see_also(struct buf *out, const struct command *const *commands, size_t n,
		     const struct command *cmd)
{
	references refs = { 0 };
	const char *list = cmd ? cmd->see_also : "perf(1) bpf(2) perf_event_open(2)";
	char name[OPT_NAME_MAX];

	for (size_t i = 0; !cmd && i < n; i++) {
		snprintf(name, sizeof(name), "fathom-%s", commands[i]->name);
		reference_add(&refs, name);
	}
	if (cmd)
		reference_add(&refs, "fathom");
	while (word_next(&list, name, sizeof(name)))
		reference_add(&refs, name);
	vec_sort(&refs, reference_compare);
	buf_addstr(out, ".Sh SEE ALSO\n");
	vec_each(r, &refs) {
		buf_addstr(out, ".Xr ");
		escape(out, r->name, strlen(r->name));
		buf_addf(out, " %s%s\n", r->section, r + 1 < refs.items + refs.len ? " ," : "");
	}
	vec_release(&refs);
}

static void command_list(struct buf *out, const struct command *const *commands, size_t n)
{
	for (int q = 1; q < QUESTION_COUNT; q++) {
		bool begun = false;

		for (size_t i = 0; i < n; i++) {
			if ((int)commands[i]->question != q)
				continue;
			if (!begun)
				buf_addf(out, ".Ss %s\n.Bl -tag -width Ds\n",
					 cli_question((enum question)q));
			begun = true;
			buf_addf(out, ".It Cm \"%s\"\n", commands[i]->name);
			sentence(out, commands[i]->summary, '.');
		}
		if (begun)
			buf_addstr(out, ".El\n");
	}
}

static void description(struct buf *out, const struct command *const *commands, size_t n,
			const struct command *cmd)
{
	buf_addstr(out, ".Sh DESCRIPTION\n");
	if (cmd) {
		paragraphs(out, cmd->description ? cmd->description : cmd->summary);
		return;
	}
	paragraphs(out,
		   "fathom shows where the time of a Linux machine goes: on a CPU, waiting for "
		   "one, or blocked; in which code, woken by whom.\n\n"
		   "Results go to the standard output, everything else to the standard error. "
		   "One interrupt stops and reports, a second one quits.\n\n"
		   "Durations are written like 10s or 500ms, sizes like 64M, frequencies like "
		   "99 or 1khz, lists of CPUs like 0-3,7.");
	command_list(out, commands, n);
}

static void caveats(struct buf *out, const struct command *cmd)
{
	buf_addstr(out, ".Sh CAVEATS\n");
	if (cmd && cmd->notes)
		paragraphs(out, cmd->notes);
	else
		paragraphs(out,
			   "What cannot be seen for lack of a privilege or of a kernel feature "
			   "is named by 'fathom doctor'.");
}

void cli_man(const struct command *const *commands, size_t n, const struct command *cmd,
	     struct buf *out)
{
	prologue(out, cmd);
	synopsis(out, cmd);
	description(out, commands, n, cmd);
	options(out, cmd);
	environment(out);
	files(out);
	exit_status(out, cmd);
	examples(out, commands, n, cmd);
	see_also(out, commands, n, cmd);
	caveats(out, cmd);
}
