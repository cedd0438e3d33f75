/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pages of the kernel's tracers as typed events, in order of time. */
#ifndef PROFILE_FTRACE_H
#define PROFILE_FTRACE_H

#include "base/err.h"
#include "base/intern.h"
#include "base/map.h"
#include "profile/tracefield.h"
#include "recording/tracedat.h"
#include "symbol/kallsyms.h"

enum ftrace_kind {
	FTRACE_FUNCTION, /* func was called by parent */
	FTRACE_ENTRY,    /* func begins, at depth */
	FTRACE_EXIT,     /* func ended, began at calltime */
	FTRACE_EVENT,    /* a tracepoint, or another record of a tracer */
};

struct ftrace_format;

struct ftrace_event {
	u64 time; /* of the trace clock */
	u32 cpu;
	s32 pid; /* the thread */
	enum ftrace_kind kind;
	u32 depth;
	u64 func, parent;
	u64 calltime, rettime;
	const struct ftrace_format *format;
	const u8 *data;
	u32 size;
};

/* Not 0 ends the reading and is returned. The data is gone when the call returns. */
typedef int (*ftrace_event_fn)(void *ctx, const struct ftrace_event *ev);

struct ftrace_reader;
/* @t is not changed and outlives the reader. Formats that make no sense are left out. */
struct ftrace_reader *ftrace_reader_new(const struct tracedat *t);
void ftrace_reader_free(struct ftrace_reader *r);
/*
 * A page of a running trace. Its events are kept until ftrace_reader_flush() says that no older
 * ones can come.
 */
void ftrace_reader_add(struct ftrace_reader *r, u32 cpu, const void *page, size_t n);
/* Gives, in order, events up to @until. */
int ftrace_reader_flush(struct ftrace_reader *r, u64 until, ftrace_event_fn fn, void *ctx);
/* The newest event so far. */
u64 ftrace_reader_newest(const struct ftrace_reader *r);
/* All pages of the trace, CPUs merged by time. */
int ftrace_reader_all(struct ftrace_reader *r, ftrace_event_fn fn, void *ctx);

/* Names; never NULL. The name of an address is valid until the next call. */
const char *ftrace_reader_comm(const struct ftrace_reader *r, s32 pid);
const char *ftrace_reader_symbol(struct ftrace_reader *r, u64 address);
/* "sched:sched_switch", and the text of the event's data. */
const char *ftrace_reader_name(const struct ftrace_event *ev);
void ftrace_reader_text(struct ftrace_reader *r, const struct ftrace_event *ev, struct buf *out);
/* Newer names: the text of saved_cmdlines. */
void ftrace_reader_comms(struct ftrace_reader *r, const char *text, size_t n);

/* Events lost before a page, pages that are damaged, events of unknown type. */
struct ftrace_losses {
	u64 missed, damaged, unknown;
};
const struct ftrace_losses *ftrace_reader_losses(const struct ftrace_reader *r);

#endif
