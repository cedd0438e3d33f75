/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables are checked by a test, not at every start: each fault is a line "command: what". Examples
 * are parsed with the tables they document, so they cannot name an option that is gone.
 */
#include "cli/cli.h"

#include "base/buf.h"
#include "cli/table.h"

#include <ctype.h>
#include <stdarg.h>

enum {
	SUMMARY_MAX = 66,
	HELP_MAX = 120,
	EXAMPLE_MAX = 78, /* it does not wrap: two columns of --help's 80 are its indent */
	EXAMPLE_WORDS = 64
};

struct check {
	const struct command *const *commands;
	size_t n;
	const struct command *cmd;
	struct buf *out;
};

static void fault(const struct check *c, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void fault(const struct check *c, const char *fmt, ...)
{
	va_list ap;

	buf_addf(c->out, "%s: ", c->cmd->name ? c->cmd->name : "(no name)");
	va_start(ap, fmt);
	buf_vaddf(c->out, fmt, ap);
	va_end(ap);
	buf_addch(c->out, '\n');
}

#define NAME_CHARS "abcdefghijklmnopqrstuvwxyz0123456789-"

static bool good_name(const char *s)
{
	return s && islower((unsigned char)*s) && strlen(s) < OPT_NAME_MAX - 4 &&
	       !s[strspn(s, NAME_CHARS)];
}

/* Other names of an option are those of other programs, which may have a line in them. */
static bool good_alias(const char *s)
{
	return islower((unsigned char)*s) && strlen(s) < OPT_NAME_MAX - 4 &&
	       !s[strspn(s, NAME_CHARS "_")];
}

/* "JSON output" and "CPUs" are fine, "Shows x." is not. */
static void check_line(const struct check *c, const char *what, const char *s, size_t most)
{
	if (!s || !*s) {
		fault(c, "%s: no text", what);
		return;
	}
	if (isupper((unsigned char)s[0]) && islower((unsigned char)s[1]) && s[2] != 's')
		fault(c, "%s: begins with a capital: %s", what, s);
	if (ends_with(s, "."))
		fault(c, "%s: ends with a full stop: %s", what, s);
	if (strchr(s, '\n'))
		fault(c, "%s: more than one line: %s", what, s);
	if (strlen(s) > most)
		fault(c, "%s: longer than %zu: %s", what, most, s);
}

/* After the same operand, or after none. */
static bool same_place(const char *a, const char *b)
{
	return a && b ? streq(a, b) : a == b;
}

static void check_names(const struct check *c, const opt_refs *refs, size_t i)
{
	struct opt_names a, b;

	opt_names_init(&a, refs->items[i].opt);
	while (opt_names_next(&a)) {
		if (!good_name(a.text) &&
		    (streq(a.text, refs->items[i].opt->name) || !good_alias(a.text)))
			fault(c, "--%s: not a good name", a.text);
		for (size_t k = i + 1; k < refs->len; k++) {
			opt_names_init(&b, refs->items[k].opt);
			while (opt_names_next(&b))
				if (streq(a.text, b.text))
					fault(c, "--%s is there twice", a.text);
		}
	}
	for (size_t k = i + 1; k < refs->len; k++)
		if (refs->items[i].opt->short_name &&
		    refs->items[i].opt->short_name == refs->items[k].opt->short_name &&
		    same_place(refs->items[i].opt->after, refs->items[k].opt->after))
			fault(c, "-%c is there twice", refs->items[i].opt->short_name);
}

static void check_conflicts(const struct check *c, const opt_refs *refs, const struct opt *o,
			    const char *label)
{
	const char *list = o->conflicts;
	char name[OPT_NAME_MAX];

	while (word_next(&list, name, sizeof(name))) {
		bool found = false;

		vec_each(ref, refs)
			found |= ref->opt->name && streq(ref->opt->name, name);
		if (!found)
			fault(c, "%s: conflicts with --%s, which is not there", label, name);
	}
}

static void check_value(const struct check *c, const struct opt *o, const char *label)
{
	if (!*value_type_name(o->type))
		fault(c, "%s: no such type", label);
	if (o->type == OPT_CHOICE && (!o->choices || !o->choices[0]))
		fault(c, "%s: a choice without choices", label);
	if (o->type == OPT_CUSTOM && !o->parse)
		fault(c, "%s: custom without a parse function", label);
	if (o->flags & OPT_OPTIONAL && (!o->implied || !opt_takes_value(o)))
		fault(c, "%s: an optional value that implies nothing", label);
	if (o->flags & OPT_NEGATABLE && o->type != OPT_FLAG)
		fault(c, "%s: only flags can be negated", label);
	if (o->arg && !opt_takes_value(o))
		fault(c, "%s: takes no value but names one", label);
}

static void check_option(const struct check *c, const opt_refs *refs, size_t i)
{
	const struct opt_ref *ref = &refs->items[i];
	const struct opt *o = ref->opt;
	_cleanup_buf_ struct buf label = BUF_INIT;

	opt_label(o, &label);
	if (!o->name && !o->short_name)
		fault(c, "an option without a name");
	if (o->short_name && !isalnum((unsigned char)o->short_name))
		fault(c, "%s: not a good letter", buf_str(&label));
	if (!(o->flags & OPT_HIDDEN))
		check_line(c, buf_str(&label), o->help, HELP_MAX);
	if (!ref->common && ref->base + o->offset >= c->cmd->args_size)
		fault(c, "%s: is outside args_size", buf_str(&label));
	if (!ref->common && o->given_offset && ref->base + o->given_offset >= c->cmd->args_size)
		fault(c, "%s: given_offset is outside args_size", buf_str(&label));
	check_value(c, o, buf_str(&label));
	check_names(c, refs, i);
	check_conflicts(c, refs, o, buf_str(&label));
}

/* Cuts @line at the first shell metacharacter; returns the words. */
static int split_example(char *line, char **words)
{
	int n = 0;
	char *at = line;

	while (n < EXAMPLE_WORDS) {
		char *to, quote = 0;

		at += strspn(at, " ");
		if (!*at || strchr("|>;&)<#", *at))
			break;
		words[n++] = to = at;
		for (; *at && (quote || !strchr(" )", *at)); at++) {
			if (quote ? *at == quote : *at == '\'' || *at == '"')
				quote = quote ? 0 : *at;
			else
				*to++ = *at;
		}
		if (*at)
			at++;
		*to = '\0';
	}
	words[n] = NULL;
	return n;
}

static void parse_example(const struct check *c, const char *line, int argc, char **argv)
{
	_cleanup_free_ void *args = xcalloc(1, MAX(c->cmd->args_size, (size_t)1));
	_cleanup_err_ struct err e = ERR_INIT;
	struct context ctx = { .out = stdout };

	if (cli_parse(c->cmd, argc, argv, &ctx, args, &e) < 0)
		fault(c, "example '%s': %s", line, e.what ? e.what : "does not parse");
	cli_args_release(c->cmd, &ctx, args);
}

static void check_example(const struct check *c, const struct example *x)
{
	const char *begin = strstr(x->line, "fathom ");
	_cleanup_free_ char *copy = begin ? xstrdup(begin) : NULL;
	char *words[EXAMPLE_WORDS + 1];
	int n = copy ? split_example(copy, words) : 0, skip = 1;

	check_line(c, "example", x->text, HELP_MAX);
	if (strlen(x->line) > EXAMPLE_MAX)
		fault(c, "example '%s' is too long", x->line);
	if (n > 1 && streq(words[1], "--version"))
		words[1] = (char *)(uintptr_t) "version";
	/* an example may show a sequence: the first command of ours may be another one */
	if (n < 2 || !cli_find(c->commands, c->n, words[skip])) {
		fault(c, "example '%s' runs no command", x->line);
		return;
	}
	if (cli_find(c->commands, c->n, words[skip]) == c->cmd)
		parse_example(c, x->line, n - skip, words + skip);
	else if (!strstr(x->line, c->cmd->name))
		fault(c, "example '%s' is about another command", x->line);
}

static void check_examples(const struct check *c)
{
	if (!c->cmd->examples || !c->cmd->examples->line) {
		fault(c, "no example");
		return;
	}
	for (const struct example *x = c->cmd->examples; x->line; x++)
		check_example(c, x);
}

/* The defaults have to parse: an empty command line shows that. */
static void check_defaults(const struct check *c, const opt_refs *refs)
{
	_cleanup_free_ char *args = xcalloc(1, MAX(c->cmd->args_size, (size_t)1));
	_cleanup_err_ struct err e = ERR_INIT;
	struct context ctx = { 0 };

	vec_each(ref, refs) {
		char *base = ref->common ? (char *)&ctx.common : args;
		const char *text[] = { ref->opt->def, ref->opt->implied };

		for (size_t i = 0; i < ARRAY_SIZE(text); i++) {
			void *field = base + ref->base + ref->opt->offset;

			if (text[i] && value_store(ref->opt, field, text[i], &e) < 0)
				fault(c, "--%s: value '%s' of the table: %s",
				      ref->opt->name ? ref->opt->name : "?", text[i],
				      e.what ? e.what : "does not parse");
		}
	}
	cli_args_release(c->cmd, &ctx, args);
}

static void check_see_also(const struct check *c)
{
	const char *list = c->cmd->see_also;
	char word[OPT_NAME_MAX];

	while (word_next(&list, word, sizeof(word))) {
		const char *name = starts_with(word, "fathom-");

		if (name && !cli_find(c->commands, c->n, name))
			fault(c, "see also '%s': there is no such command", word);
	}
}

static void check_command(const struct check *c)
{
	const struct command *cmd = c->cmd;

	if (!good_name(cmd->name))
		fault(c, "not a good name");
	for (size_t i = 0; i < c->n; i++)
		if (c->commands[i] != cmd && c->commands[i] < cmd &&
		    streq(c->commands[i]->name, cmd->name))
			fault(c, "is there twice");
	check_line(c, "summary", cmd->summary, SUMMARY_MAX);
	if (!cmd->description)
		fault(c, "no description");
	if (!*cli_question(cmd->question))
		fault(c, "answers no question");
	if (!cmd->run)
		fault(c, "no run function");
	if (cmd->min_operands > cmd->max_operands)
		fault(c, "needs more operands than it takes");
	if (!cmd->operands != !cmd->max_operands)
		fault(c, "operands and max_operands disagree");
	check_see_also(c);
}

void cli_check(const struct command *const *commands, size_t n, struct buf *ret_faults)
{
	for (size_t i = 0; i < n; i++) {
		struct check c = { commands, n, commands[i], ret_faults };
		size_t before = ret_faults->len;
		opt_refs refs;

		check_command(&c);
		opts_collect(commands[i], &refs);
		for (size_t k = 0; k < refs.len; k++)
			check_option(&c, &refs, k);
		/* these use the tables, which must be sound for that */
		if (ret_faults->len == before) {
			check_defaults(&c, &refs);
			check_examples(&c);
		}
		vec_release(&refs);
	}
}
