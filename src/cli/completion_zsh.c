/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A zsh script of _arguments specifications. */
#include "cli/completion.h"

#include "base/buf.h"

/* For the inside of '...': the characters that end a part of a specification are escaped. */
static void quote(struct buf *out, const char *s)
{
	for (; *s; s++) {
		if (*s == '\'')
			buf_addstr(out, "'\\''");
		else if (strchr("[]:\\", *s))
			buf_addf(out, "\\%c", *s);
		else
			buf_addch(out, *s);
	}
}

static void action(enum complete kind, const struct buf *words, struct buf *out)
{
	static const char *const actions[] = {
		[COMPLETE_NONE] = " ",
		[COMPLETE_FILE] = "_files",
		[COMPLETE_USER] = "_users",
		[COMPLETE_PID] = "_pids",
		[COMPLETE_COMMAND] = "_fathom_commands",
		[COMPLETE_PROGRAM] = "_command_names -e",
	};

	if (kind == COMPLETE_WORDS)
		buf_addf(out, "(%s)", buf_str(words));
	else
		buf_addstr(out, actions[kind]);
}

/* "[help]:ARG:action", the same for all names of the option. */
static void spec_end(const struct opt *o, struct buf *out)
{
	_cleanup_buf_ struct buf arg = BUF_INIT, words = BUF_INIT;

	buf_addch(out, '[');
	quote(out, o->help ? o->help : "");
	buf_addch(out, ']');
	if (!opt_takes_value(o))
		return;
	opt_arg_name(o, &arg);
	buf_addstr(out, o->flags & OPT_OPTIONAL ? "::" : ":");
	quote(out, buf_str(&arg));
	buf_addch(out, ':');
	action(complete_value(o, &words), &words, out);
}

static bool repeats(const struct opt *o)
{
	return o->type == OPT_COUNT || o->type == OPT_STRINGS || o->type == OPT_PIDS ||
	       o->type == OPT_RANGES;
}

static void spec(const struct opt *o, const char *dashes, const char *name, const char *suffix,
		 struct buf *out)
{
	buf_addf(out, " \\\n\t\t\t'%s%s%s%s", repeats(o) ? "*" : "", dashes, name, suffix);
	spec_end(o, out);
	buf_addch(out, '\'');
}

static void option(const struct opt *o, struct buf *out)
{
	bool value = opt_takes_value(o), optional = o->flags & OPT_OPTIONAL;
	const char letter[] = { o->short_name, '\0' };
	struct opt_names it;

	opt_names_init(&it, o);
	while (opt_names_next(&it))
		if (!it.alias)
			spec(o, "--", it.text, !value ? "" : optional ? "=-" : "=", out);
	if (o->short_name && !o->after)
		spec(o, "-", letter, !value ? "" : optional ? "-" : "+", out);
}

static void operand(const struct command *cmd, struct buf *out)
{
	_cleanup_buf_ struct buf words = BUF_INIT;
	enum complete kind = complete_operand(cmd, &words);

	if (kind == COMPLETE_NONE)
		return;
	if (kind == COMPLETE_PROGRAM) {
		buf_addstr(out, " \\\n\t\t\t'(-)1:program:_command_names -e'"
				" \\\n\t\t\t'*::argument:_normal'");
		return;
	}
	buf_addstr(out, " \\\n\t\t\t'*:operand:");
	action(kind, &words, out);
	buf_addch(out, '\'');
}

static void command(const struct command *cmd, struct buf *out)
{
	opt_refs refs;

	buf_addf(out, "\t\t%s)\n\t\t\t_arguments -s -S", cmd->name);
	opts_collect(cmd, &refs);
	vec_each(ref, &refs)
		if (!ref->hidden)
			option(ref->opt, out);
	vec_release(&refs);
	operand(cmd, out);
	buf_addstr(out, "\n\t\t\t;;\n");
}

static void command_names(const struct command *const *commands, size_t n, struct buf *out)
{
	buf_addstr(out, "_fathom_commands() {\n\tlocal -a commands\n\tcommands=(\n");
	for (size_t i = 0; i < n; i++) {
		buf_addf(out, "\t\t'%s:", commands[i]->name);
		quote(out, commands[i]->summary);
		buf_addstr(out, "'\n");
	}
	buf_addstr(out, "\t)\n\t_describe -t commands 'fathom command' commands\n}\n\n");
}

void completion_zsh(const struct command *const *commands, size_t n, struct buf *out)
{
	buf_addstr(out, "#compdef fathom\n"
			"# zsh completion for fathom, written by 'fathom completion zsh'\n\n");
	command_names(commands, n, out);
	buf_addstr(out, "_fathom() {\n"
			"\tlocal curcontext=$curcontext state state_descr line\n"
			"\ttypeset -A opt_args\n\n"
			"\t_arguments -C \\\n"
			"\t\t'(- *)'{-h,--help}'[show the commands]' \\\n"
			"\t\t'(- *)'{-V,--version}'[show the version]' \\\n"
			"\t\t'1:command:_fathom_commands' \\\n"
			"\t\t'*::argument:->argument'\n\n"
			"\tcase $state in\n"
			"\targument)\n"
			"\t\tcase $words[1] in\n");
	for (size_t i = 0; i < n; i++)
		command(commands[i], out);
	buf_addstr(out, "\t\tesac\n\t\t;;\n\tesac\n}\n\n"
			"if [[ $funcstack[1] == _fathom ]]; then\n"
			"\t_fathom \"$@\"\n"
			"else\n"
			"\tcompdef _fathom fathom\n"
			"fi\n");
}
