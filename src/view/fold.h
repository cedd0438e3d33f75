/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A profile as folded stacks, "command;caller;leaf weight", named and sorted as
 * stackcollapse-perf.pl does it.
 */
#ifndef VIEW_FOLD_H
#define VIEW_FOLD_H

#include "base/buf.h"
#include "base/err.h"
#include "profile/profile.h"

struct fold_opts {
	bool pid;     /* command-PID */
	bool tid;     /* command-PID/TID */
	bool kernel;  /* _[k] after functions of the kernel */
	bool jit;     /* _[j] after compiled ones */
	bool inlined; /* _[i] after inlined ones */
	bool addrs;   /* the address of code without name; the profile was loaded with addresses */
	bool context; /* :file:line after the name, the file without its folder */
	bool srcline; /* the same; the module's name after user code without lines */
	bool raw;     /* names as they are: arguments and quotes are kept */
	bool counts;  /* samples instead of the sum of their periods */
	u16 event;
};

/* Appends to @out; hands it to @flush whenever it is large, and at the end. */
struct fold_sink {
	int (*flush)(struct buf *text, void *ctx);
	void *ctx;
};

int fold_write(struct profile *p, const struct fold_opts *opts, const struct fold_sink *sink);

#endif
