/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A trace of the kernel's ring buffers with all that is needed to read it, and its file: trace.dat
 * in version 6, which trace-cmd and KernelShark read. Version 7 is read, too.
 */
#ifndef RECORDING_TRACEDAT_H
#define RECORDING_TRACEDAT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/vec.h"

enum { TRACEDAT_CPUS_MOST = 8192 };

struct tracedat_text {
	const char *p; /* ends with a NUL that is not part of it */
	size_t n;
};

struct tracedat_format {
	const char *system; /* "ftrace" for the tracers' own records */
	struct tracedat_text text;
};

struct tracedat_cpu {
	const u8 *pages; /* whole pages; of a file: points into it */
	size_t n;
	struct buf own; /* of a trace that is being taken: what @pages will point to */
};

struct tracedat {
	struct arena arena;
	struct buf file; /* what was read */
	struct tracedat_text header_page, header_event, kallsyms, printk, cmdlines;
	VEC(struct tracedat_format) formats;
	VEC(struct tracedat_cpu) cpus;
	u32 page;   /* bytes of a page */
	u32 others; /* buffers of the file that are not shown */
};

#define TRACEDAT_INIT \
	{             \
		0     \
	}

void tracedat_release(struct tracedat *t);
struct tracedat_text tracedat_keep(struct tracedat *t, const char *text, size_t n);
/* Adds a page of @n bytes, filled up with zeros. */
void tracedat_add_page(struct tracedat *t, u32 cpu, const void *page, size_t n);
/* After the last page: cpus[].pages are valid. */
void tracedat_seal(struct tracedat *t);

/* The whole file; an error names what is wrong and where. */
int tracedat_read(struct tracedat *t, const char *path, struct err *e);
int tracedat_parse(struct tracedat *t, const void *bytes, size_t n, struct err *e);
void tracedat_write(const struct tracedat *t, struct buf *out);

#endif
