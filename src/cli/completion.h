/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the writers of completion scripts share. */
#ifndef CLI_COMPLETION_H
#define CLI_COMPLETION_H

#include "cli/table.h"

enum complete {
	COMPLETE_NONE, /* a value that cannot be guessed */
	COMPLETE_WORDS,
	COMPLETE_FILE,
	COMPLETE_USER,
	COMPLETE_PID,
	COMPLETE_COMMAND,
	COMPLETE_PROGRAM,
};

/* How the value of @o is completed; COMPLETE_WORDS adds the words to @words. */
enum complete complete_value(const struct opt *o, struct buf *words);
/* The same for the operands of @cmd, read from their synopsis. */
enum complete complete_operand(const struct command *cmd, struct buf *words);

void completion_bash(const struct command *const *commands, size_t n, struct buf *out);
void completion_zsh(const struct command *const *commands, size_t n, struct buf *out);

#endif
