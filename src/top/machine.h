/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames of the machine: made by a thread that reads the counters, or from a recording. The past is
 * kept as differences (counters/ring.h).
 */
#ifndef TOP_MACHINE_H
#define TOP_MACHINE_H

#include "base/err.h"
#include "top/frame.h"

struct machine_opts {
	u64 interval;   /* ns */
	double budget;  /* percent of a CPU that we may use; 0: no limit */
	u64 keep_bytes; /* of the past */
	u64 keep_ns;
	const char *input;  /* a recording with counters; NULL: this machine */
	const char *record; /* a file that the counters go into at the end; NULL: none */
};

struct machine_source;

int machine_source_new(struct machine_source **ret, const struct machine_opts *o, struct err *e);
void machine_source_free(struct machine_source *m);
/* Ends it, and writes opts.record. */
int machine_source_finish(struct machine_source *m, struct err *e);
/* Starts the thread; of a recording there is none. */
int machine_source_start(struct machine_source *m, struct err *e);
/* False: a recording of samples alone. */
bool machine_source_has_counters(const struct machine_source *m);
/* For poll(): readable when there is a new frame; -1: never. */
int machine_source_fd(const struct machine_source *m);
/* The newest frame, which is the caller's; NULL: none since the last call. Never waits. */
struct machine_frame *machine_source_take(struct machine_source *m);
/*
 * Writes all that is kept of the past to a recording, which opts.input takes; a frame that comes
 * soon has in note how that went.
 */
void machine_source_save(struct machine_source *m, const char *path);
/* From the next frame on; asks for one soon. */
void machine_source_threads(struct machine_source *m, bool threads);
/*
 * Formulas over counters whose values frames have in own, up to FRAME_OWN: those added after the
 * last call are computed from the next look on. @next gives formula @i, NULL after the last.
 */
void machine_source_formulas(struct machine_source *m, const char *(*next)(size_t i));
/* CPU time of all child processes so far: part of our own cost from the next look on. */
void machine_source_children(struct machine_source *m, u64 cpu_ns);
void machine_source_interval(struct machine_source *m, u64 ns);
/* Frame @at of those kept (SIZE_MAX: the newest, and continue). */
void machine_source_seek(struct machine_source *m, size_t at);
/* The frames of all that is kept, for tests and --once: waits for the next one. */
struct machine_frame *machine_source_wait(struct machine_source *m, u64 ns);

#endif
