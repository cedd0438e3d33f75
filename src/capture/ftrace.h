/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's own tracers, through tracefs. Each run has an instance of its own where the kernel
 * allows it, otherwise the top level, if no other program uses that. A guard process puts
 * everything back when we end, whatever ends us.
 */
#ifndef CAPTURE_FTRACE_H
#define CAPTURE_FTRACE_H

#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/vec.h"
#include "host/tracefs.h"

struct ftrace {
	struct tracefs fs;
	int dir;        /* of the instance, or of the top level */
	bool top;       /* the top level: what is changed is put back file by file */
	char name[32];  /* of the instance */
	int guard;      /* its pipe: the guard works when it closes; -1: none */
	VEC(int) rings; /* per_cpu/cpuN/trace_pipe_raw */
	u32 page;       /* bytes of a page of the ring */
};

#define FTRACE_INIT                                         \
	{                                                   \
		.fs = TRACEFS_INIT, .dir = -1, .guard = -1, \
	}

/* What to do with a file: the text is appended to what it holds, or replaces it. */
enum ftrace_how { FTRACE_SET, FTRACE_ADD };

/*
 * @top: files are needed that instances lack (graph filters), or the tracer does not exist in
 * instances. -EBUSY: another program uses the top level.
 */
int ftrace_open(struct ftrace *f, bool top, struct err *e);
void ftrace_release(struct ftrace *f);
/* Writes @text to a file of the instance. */
int ftrace_write(const struct ftrace *f, const char *file, enum ftrace_how how, const char *text,
		 struct err *e);
bool ftrace_has(const struct ftrace *f, const char *file);
int ftrace_read(const struct ftrace *f, const char *file, size_t max, struct buf *ret,
		struct err *e);
/* -EOPNOTSUPP: the kernel lacks it; the error names those that it has. */
int ftrace_has_tracer(const struct ftrace *f, const char *name, struct err *e);
/* Switches the tracer on. -EXDEV: not in an instance. */
int ftrace_tracer(const struct ftrace *f, const char *name, struct err *e);
/* Opens the rings; @snapshot: those of the snapshot. */
int ftrace_open_rings(struct ftrace *f, bool snapshot, struct err *e);
/*
 * All pages that are there now, one call each; never waits. @page is as the kernel wrote it, of
 * f->page bytes.
 */
typedef int (*ftrace_page_fn)(void *ctx, u32 cpu, const void *page, size_t n);
int ftrace_drain(struct ftrace *f, ftrace_page_fn fn, void *ctx, struct err *e);
/* Events that the rings lost or overwrote, from their statistics. */
u64 ftrace_lost(const struct ftrace *f);

/* Instances that a run has left: removes them. *@ret_removed and *@ret_busy count. */
int ftrace_clean(u32 *ret_removed, u32 *ret_busy, struct err *e);

/* ftrace_guard.c: a process that puts tracefs back as soon as @pipe has no writer. */
int ftrace_guard_start(struct ftrace *f, struct err *e);
/* The guard has done its work. */
void ftrace_guard_end(struct ftrace *f);
/* Also used by the guard: everything of @f goes back to its state before. */
void ftrace_restore(const struct ftrace *f);

#endif
