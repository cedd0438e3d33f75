/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bash script has three tables (options of a command, values of an option, operands of a
 * command), each a function around a case, and one function that reads them. It needs nothing
 * but bash.
 */
#include "cli/completion.h"

#include "base/buf.h"

static const char kind_names[][10] = {
	[COMPLETE_NONE] = "@none", [COMPLETE_FILE] = "@file",       [COMPLETE_USER] = "@user",
	[COMPLETE_PID] = "@pid",   [COMPLETE_COMMAND] = "@command", [COMPLETE_PROGRAM] = "@program",
};

static const char script_end[] =
	"_fathom_reply() {\n"
	"\tlocal words=$1 cur=$2 line\n"
	"\tlocal -a args\n"
	"\tcase $words in\n"
	"\t@none) return ;;\n"
	"\t@file) args=(-f) ;;\n"
	"\t@user) args=(-u) ;;\n"
	"\t@program) args=(-c -f) ;;\n"
	"\t@pid) args=(-W \"$(cd /proc && echo [0-9]*)\") ;;\n"
	"\t@command) args=(-W \"$_fathom_commands\") ;;\n"
	"\t*) args=(-W \"$words\") ;;\n"
	"\tesac\n"
	"\t[[ $words != @file ]] || compopt -o filenames 2>/dev/null\n"
	"\twhile IFS= read -r line; do\n"
	"\t\tCOMPREPLY+=(\"$3$line\")\n"
	"\tdone < <(compgen \"${args[@]}\" -- \"$cur\")\n"
	"}\n"
	"\n"
	"_fathom() {\n"
	"\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
	"\tlocal command='' program='' words='' i\n"
	"\tCOMPREPLY=()\n"
	"\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
	"\t\tcase ${COMP_WORDS[i]} in\n"
	"\t\t--) program=yes ;;\n"
	"\t\t-*) ;;\n"
	"\t\t*) [[ -n $command ]] || command=${COMP_WORDS[i]} ;;\n"
	"\t\tesac\n"
	"\tdone\n"
	"\tif [[ -z $command ]]; then\n"
	"\t\twords=$_fathom_commands\n"
	"\t\t[[ $cur != -* ]] || words='--help --version'\n"
	"\t\t_fathom_reply \"$words\" \"$cur\" ''\n"
	"\t\treturn\n"
	"\tfi\n"
	"\tif [[ -n $program ]]; then\n"
	"\t\t_fathom_reply @program \"$cur\" ''\n"
	"\t\treturn\n"
	"\tfi\n"
	"\t# bash makes three words of --option=value, unless '=' is not in COMP_WORDBREAKS\n"
	"\tif [[ $cur == = ]]; then\n"
	"\t\t_fathom_reply \"$(_fathom_value \"$command\" \"$prev=\")\" '' ''\n"
	"\t\treturn\n"
	"\telif [[ $prev == = ]]; then\n"
	"\t\tprev=${COMP_WORDS[COMP_CWORD - 2]}\n"
	"\t\t_fathom_reply \"$(_fathom_value \"$command\" \"$prev=\")\" \"$cur\" ''\n"
	"\t\treturn\n"
	"\telif [[ $cur == --*=* ]]; then\n"
	"\t\twords=$(_fathom_value \"$command\" \"${cur%%=*}=\")\n"
	"\t\t_fathom_reply \"$words\" \"${cur#*=}\" \"${cur%%=*}=\"\n"
	"\t\treturn\n"
	"\tfi\n"
	"\twords=$(_fathom_value \"$command\" \"$prev\")\n"
	"\tif [[ -z $words && $cur == -* ]]; then\n"
	"\t\twords=$(_fathom_options \"$command\")\n"
	"\telif [[ -z $words ]]; then\n"
	"\t\twords=$(_fathom_operand \"$command\")\n"
	"\tfi\n"
	"\t_fathom_reply \"${words:-@none}\" \"$cur\" ''\n"
	"}\n"
	"\n"
	"complete -F _fathom fathom\n";

static void names_of(const struct opt *o, struct buf *out)
{
	struct opt_names it;

	opt_names_init(&it, o);
	while (opt_names_next(&it))
		if (!it.alias)
			buf_addf(out, " --%s", it.text);
	if (o->short_name && !o->after)
		buf_addf(out, " -%c", o->short_name);
}

static void options_of(const struct command *cmd, struct buf *out)
{
	opt_refs refs;

	opts_collect(cmd, &refs);
	buf_addf(out, "\t%s) echo '", cmd->name);
	vec_each(ref, &refs)
		if (!ref->hidden)
			names_of(ref->opt, out);
	buf_addstr(out, "' ;;\n");
	vec_release(&refs);
}

static void pattern_add(struct buf *out, const char *scope, const char *name, bool *first)
{
	buf_addf(out, "%s%s:%s", *first ? "\t" : " | ", scope, name);
	*first = false;
}

/* "--x=" is asked after an equals sign, "--x" for the next word: not for optional values. */
static void value_of(const char *scope, const struct opt *o, struct buf *out)
{
	_cleanup_buf_ struct buf words = BUF_INIT;
	enum complete kind;
	char text[OPT_NAME_MAX + 4];
	struct opt_names it;
	bool first = true, next = !(o->flags & OPT_OPTIONAL);

	if (!opt_takes_value(o) || o->flags & OPT_HIDDEN)
		return;
	opt_names_init(&it, o);
	while (opt_names_next(&it)) {
		snprintf(text, sizeof(text), "--%s=", it.text);
		pattern_add(out, scope, text, &first);
		text[strlen(text) - 1] = '\0';
		if (next)
			pattern_add(out, scope, text, &first);
	}
	if (o->short_name && !o->after && next) {
		snprintf(text, sizeof(text), "-%c", o->short_name);
		pattern_add(out, scope, text, &first);
	}
	if (first)
		return;
	kind = complete_value(o, &words);
	buf_addf(out, ") echo '%s' ;;\n",
		 kind == COMPLETE_WORDS ? buf_str(&words) : kind_names[kind]);
}

static void values(const struct command *const *commands, size_t n, struct buf *out)
{
	buf_addstr(out, "_fathom_value() {\n\tcase $1:$2 in\n");
	for (size_t i = 0; i < n; i++) {
		opt_refs refs;

		opts_collect(commands[i], &refs);
		vec_each(ref, &refs)
			if (!ref->common)
				value_of(commands[i]->name, ref->opt, out);
		vec_release(&refs);
	}
	for (const struct opt *o = common_options; o->type; o++)
		value_of("*", o, out);
	buf_addstr(out, "\tesac\n}\n\n");
}

static void operands(const struct command *const *commands, size_t n, struct buf *out)
{
	buf_addstr(out, "_fathom_operand() {\n\tcase $1 in\n");
	for (size_t i = 0; i < n; i++) {
		_cleanup_buf_ struct buf words = BUF_INIT;
		enum complete kind = complete_operand(commands[i], &words);

		if (kind != COMPLETE_NONE)
			buf_addf(out, "\t%s) echo '%s' ;;\n", commands[i]->name,
				 kind == COMPLETE_WORDS ? buf_str(&words) : kind_names[kind]);
	}
	buf_addstr(out, "\tesac\n}\n\n");
}

void completion_bash(const struct command *const *commands, size_t n, struct buf *out)
{
	buf_addstr(out, "# bash completion for fathom, written by 'fathom completion bash'\n"
			"# shellcheck shell=bash\n\n_fathom_commands='");
	for (size_t i = 0; i < n; i++)
		buf_addf(out, "%s%s", i ? " " : "", commands[i]->name);
	buf_addstr(out, "'\n\n_fathom_options() {\n\tcase $1 in\n");
	for (size_t i = 0; i < n; i++)
		options_of(commands[i], out);
	buf_addstr(out, "\tesac\n}\n\n");
	values(commands, n, out);
	operands(commands, n, out);
	buf_addstr(out, script_end);
}
