/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/completion.h"

#include "base/buf.h"

enum complete complete_value(const struct opt *o, struct buf *words)
{
	if (o->type == OPT_CHOICE && o->choices) {
		for (const char *const *c = o->choices; *c; c++)
			buf_addf(words, "%s%s", c == o->choices ? "" : " ", *c);
		return COMPLETE_WORDS;
	}
	if (o->type == OPT_FILE)
		return COMPLETE_FILE;
	if (o->type == OPT_PIDS)
		return COMPLETE_PID;
	if (o->arg && streq(o->arg, "USER"))
		return COMPLETE_USER;
	return COMPLETE_NONE;
}

/* "bash|zsh" in the synopsis are the very words to type. */
static bool operand_words(const char *s, struct buf *words)
{
	if (!strchr(s, '|') || s[strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-|[]")])
		return false;
	for (; *s; s++)
		if (*s != '[' && *s != ']')
			buf_addch(words, *s == '|' ? ' ' : *s);
	return true;
}

enum complete complete_operand(const struct command *cmd, struct buf *words)
{
	const char *s = cmd->operands;

	if (s && operand_words(s, words))
		return COMPLETE_WORDS;
	if (s && strstr(s, "COMMAND"))
		return COMPLETE_COMMAND;
	if (s && (strstr(s, "FILE") || strstr(s, "CORE")))
		return COMPLETE_FILE;
	if (s && strstr(s, "PID"))
		return COMPLETE_PID;
	return cmd->takes_program ? COMPLETE_PROGRAM : COMPLETE_NONE;
}

int cli_completion(const struct command *const *commands, size_t n, const char *shell,
		   struct buf *out, struct err *e)
{
	if (streq(shell, "bash")) {
		completion_bash(commands, n, out);
		return 0;
	}
	if (streq(shell, "zsh")) {
		completion_zsh(commands, n, out);
		return 0;
	}
	err_set(e, EINVAL, "no completion for the shell '%s'", shell);
	err_hint(e, "bash and zsh are supported");
	return -EINVAL;
}
