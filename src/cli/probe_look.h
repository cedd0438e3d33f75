/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looks at what can be probed, for 'fathom probe': variables, source lines, functions. */
#ifndef CLI_PROBE_LOOK_H
#define CLI_PROBE_LOOK_H

#include "capture/probe_text.h"
#include "cli/cli.h"
#include "symbol/probe_dwarf.h"

#include <limits.h>

struct probe_args {
	str_list add, del;
	bool list, force, dry_run;
	const char *vars, *line, *funcs, *exec, *vmlinux;
	u64 target;
	char path[PATH_MAX]; /* of @exec */
};

int probe_open_dwarf(const struct probe_args *a, struct probe_dwarf **ret, struct err *e);
struct probe_place probe_place_of(const struct probe_spec *s);

/* --vars, --line and --funcs. */
int probe_show_vars(struct context *ctx, const struct probe_args *a);
int probe_show_lines(struct context *ctx, const struct probe_args *a);
int probe_list_funcs(struct context *ctx, const struct probe_args *a);

#endif
