/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Waits as samples of a recording: what 'record --off-cpu' adds to it.
 *
 *	offcpu_session_new(&s, &opts, e)
 *	offcpu_session_events(s, events)	each goes to recording_writer_event()
 *	offcpu_session_start(s, e)		together with the other events
 *	offcpu_session_read(s, sink, ctx)	in each sweep, before the round is ended
 *	offcpu_session_stop(s, e)		then read once more
 *	offcpu_session_threads(s, &n)		how long each thread lived and ran
 *	offcpu_session_stats(s, &stats); offcpu_session_free(s)
 *
 * Samples are ordinary ones that perf report reads. The event "offcpu-time" has the stack that
 * left the CPU and as its period the ns that it was blocked; "runqueue-time" the same with the ns
 * that it wanted a CPU; "wakeup-time" the waker's stack, and "chain-time" the waker's own sleep and
 * waker and so on. Raw data (struct offcpu_raw) ties those of one wait together. The time of a
 * sample is the end of the wait, on CLOCK_MONOTONIC: the recording's clock must be that. A wait
 *whose end was found out late has the time of the reading before, so that order is kept.
 */
#ifndef UNWIND_OFFCPU_SESSION_H
#define UNWIND_OFFCPU_SESSION_H

#include "recording/writer.h"
#include "unwind/offcpu.h"

enum offcpu_event {
	OFFCPU_EVENT_BLOCKED = 0,
	OFFCPU_EVENT_RUNQ = 1,
	OFFCPU_EVENT_WAKER = 2,
	OFFCPU_EVENT_CHAIN = 3,
	OFFCPU_EVENTS = 4,
};

enum { OFFCPU_ACCOUNTS_MOST = 1 << 20 };

#define OFFCPU_RAW_MAGIC 0x31434f46u /* "FOC1" */

/* What the raw data of a sample says; on disk. */
struct offcpu_raw {
	u32 magic;
	u32 event; /* enum offcpu_event */
	u64 seq;   /* of the wait; all its samples have it */
	u64 blocked;
	u64 runq;
	u32 state;
	s32 syscall;
	u32 flags;    /* enum offcpu_flags */
	u32 link;     /* WAKER: 0; CHAIN: which link */
	u32 kind;     /* enum offcpu_waker of that link */
	u32 is_sleep; /* CHAIN: the stack is that in which the waker of the link before had slept */
	u32 pid, tid; /* RUNQ: who ran before it on that CPU; else of the sample */
	char comm[OFFCPU_COMM]; /* likewise */
	u32 pad;
} PACKED;
_Static_assert(sizeof(struct offcpu_raw) == 84, "4 more than a multiple of 8: perf's rule");

struct offcpu_session_opts {
	struct offcpu_opts engine; /* filters and period; on_wait, on_thread, send are ours */
	bool wakers;
	bool chains;
	u32 launched; /* process that waits for our word to begin: that wait is none; 0: none */
};

struct offcpu_session;

int offcpu_session_new(struct offcpu_session **ret, const struct offcpu_session_opts *opts,
		       struct err *e);
void offcpu_session_free(struct offcpu_session *s);
/* Returns how many; names and ids belong to the session. */
size_t offcpu_session_events(const struct offcpu_session *s,
			     struct writer_event ret[OFFCPU_EVENTS]);
/* Another file begins, which knows of no mapping yet. */
void offcpu_session_new_file(struct offcpu_session *s);
int offcpu_session_start(struct offcpu_session *s, struct err *e);
/* Waits that are not over are sent as far as they are. */
int offcpu_session_stop(struct offcpu_session *s, struct err *e);
/*
 * In between: the same for a part of the recording that ends here. Waits and accounts go on from
 * here; read once more, then take the accounts.
 */
int offcpu_session_part(struct offcpu_session *s, struct err *e);
/* The accounts that came since they were last forgotten: of threads that ended, or that were asked
 * about by _stop() or _part(). Each covers the time since the one before. */
const struct offcpu_thread *offcpu_session_threads(struct offcpu_session *s, size_t *ret_n);
void offcpu_session_forget_threads(struct offcpu_session *s);
/* Readable when something has to be looked at soon; then this takes it in, for the next read. */
int offcpu_session_fd(const struct offcpu_session *s);
void offcpu_session_take(struct offcpu_session *s);
/* @sink gets whole records; the number of samples or a negative errno. */
int offcpu_session_read(struct offcpu_session *s, int (*sink)(void *ctx, const void *p, size_t n),
			void *ctx);
void offcpu_session_stats(const struct offcpu_session *s, struct offcpu_stats *ret);
u64 offcpu_session_samples(const struct offcpu_session *s);
/* Accounts beyond what is kept. */
u64 offcpu_session_threads_lost(const struct offcpu_session *s);
/* The function of the kernel in which an interrupt begins: what called it was only interrupted. */
bool offcpu_is_interrupt(const char *name, size_t n);
/* The engine, for offcpu_note_map() and offcpu_add_pid(). */
struct offcpu *offcpu_session_engine(struct offcpu_session *s);

#endif
