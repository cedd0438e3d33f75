/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the uniform options mean, as text of the tracing language after the script. */
#ifndef TOOL_PRELUDE_H
#define TOOL_PRELUDE_H

#include "tool/tool.h"

/*
 * Puts what the options say in the place of target() in @source, and appends what that needs.
 * @launched is the program that we started; 0: none.
 */
int prelude_target(const struct tool_args *a, pid_t launched, struct buf *source, struct err *e);
/* Appends what several tools need: tools/macros.txt. */
void prelude_macros(struct buf *out);
/* Appends the macro that decides which rows are sent. */
void prelude_filter(const struct tool *t, const char *filter, struct buf *out);
/* The defaults of the options as parameters. */
const char *const *prelude_defaults(const struct tool *t, struct arena *arena, size_t *ret_n);
/*
 * The values of all options as parameters of the script ("--name=value"), ended by NULL. $1 and
 * $2 are the values of the options 'file' and 'function', for names of probes. @pid: the one
 * process that is considered, or 0.
 */
const char *const *prelude_params(const struct tool *t, const struct tool_args *a, int pid,
				  struct arena *arena, size_t *ret_n);

#endif
