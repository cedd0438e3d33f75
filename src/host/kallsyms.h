/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reader of /proc/kallsyms and of files in that form. */
#ifndef HOST_KALLSYMS_H
#define HOST_KALLSYMS_H

#include "base/buf.h"
#include "base/err.h"

enum { KALLSYMS_MAX_NAME = 1024 };

/* Points into the text. */
struct kallsyms_line {
	u64 address; /* 0: hidden */
	char type;   /* as in nm: 'T', 't', 'W', ... */
	const char *name;
	size_t name_len;
	const char *module; /* without brackets; NULL: the kernel itself */
	size_t module_len;
};

/* At most @max bytes from the start: the kernel formats the list while it is read, 60 ms for all
 * of it. @path NULL: that of the running kernel. */
int kallsyms_read(const char *path, size_t max, struct buf *ret, struct err *e);
/* The next line that is a symbol; moves *@text past it. False: none is left. */
bool kallsyms_next(const char **text, const char *end, struct kallsyms_line *ret);
/* The address of the first symbol of this name that is not hidden. */
bool kallsyms_lookup(const char *text, size_t len, const char *name, u64 *ret);
bool kallsyms_is(const struct kallsyms_line *l, const char *name);

#endif
