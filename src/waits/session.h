/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Waits as samples of a recording: what 'record --off-cpu' adds to it.
 *
 *	waits_session_new(&s, &opts, e)
 *	waits_session_events(s, events)	each goes to recording_writer_event()
 *	waits_session_start(s, e)		together with the other events
 *	waits_session_read(s, sink, ctx)	in each sweep, before the round is ended
 *	waits_session_stop(s, e)		then read once more
 *	waits_session_threads(s, &n)		how long each thread lived and ran
 *	waits_session_stats(s, &stats); waits_session_free(s)
 *
 * Samples are ordinary ones that perf report reads. The event "offcpu-time" has the stack that
 * left the CPU and as its period the ns that it was blocked; "runqueue-time" the same with the ns
 * that it wanted a CPU; "wakeup-time" the waker's stack, and "chain-time" the waker's own sleep and
 * waker and so on. Raw data (struct wait_record) ties those of one wait together. The time of a
 * sample is the end of the wait, on CLOCK_MONOTONIC: the recording's clock must be that. A wait
 *whose end was found out late has the time of the reading before, so that order is kept.
 */
#ifndef WAITS_SESSION_H
#define WAITS_SESSION_H

#include "recording/wait.h"
#include "recording/writer.h"
#include "waits/engine.h"

struct waits_session_opts {
	struct waits_opts engine; /* filters and period; on_wait, on_thread, send are ours */
	bool wakers;
	bool chains;
	u32 launched; /* launched process that is held before exec: that wait does not count; 0:
			 none */
};

struct waits_session;

int waits_session_new(struct waits_session **ret, const struct waits_session_opts *opts,
		      struct err *e);
void waits_session_free(struct waits_session *s);
/* Returns how many; names and ids belong to the session. */
size_t waits_session_events(const struct waits_session *s, struct writer_event ret[WAIT_EVENTS]);
/* Another file begins, which knows of no mapping yet. */
void waits_session_new_file(struct waits_session *s);
int waits_session_start(struct waits_session *s, struct err *e);
/* Waits that are not over are sent as far as they are. */
int waits_session_stop(struct waits_session *s, struct err *e);
/*
 * In between: the same for a part of the recording that ends here. Waits and accounts go on from
 * here; read once more, then take the accounts.
 */
int waits_session_part(struct waits_session *s, struct err *e);
/* The accounts that came since they were last forgotten: of threads that ended, or that were asked
 * about by _stop() or _part(). Each covers the time since the one before. */
const struct offcpu_thread *waits_session_threads(struct waits_session *s, size_t *ret_n);
void waits_session_forget_threads(struct waits_session *s);
/* Readable when something has to be checked soon; then this takes it in, for the next read. */
int waits_session_fd(const struct waits_session *s);
void waits_session_take(struct waits_session *s);
/* @sink gets whole records; the number of samples or a negative errno. */
int waits_session_read(struct waits_session *s, int (*sink)(void *ctx, const void *p, size_t n),
		       void *ctx);
void waits_session_stats(const struct waits_session *s, struct waits_stats *ret);
u64 waits_session_samples(const struct waits_session *s);
/* The engine, for waits_engine_note_map() and waits_engine_add_pid(). */
struct waits_engine *waits_session_engine(struct waits_session *s);

#endif
