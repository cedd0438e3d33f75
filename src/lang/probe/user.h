/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What user functions and static tracepoints share. */
#ifndef LANG_USER_H
#define LANG_USER_H

#include "elf/find.h"
#include "lang/probe/provider.h"

enum user_mode { USER_PERF, USER_MULTI };

/* The file that a probe names; NULL with a diagnostic. */
const char *user_path(struct comp *c, const struct spec *s, const char *name);
/* Whatever a name or pattern means, without a word where that is nothing. */
void user_files(struct comp *c, const char *name, elf_paths *ret);
bool user_prepare(struct comp *c, struct unit *u);
int user_attach(const struct attach_ctx *a, bool is_return);

#endif
