/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside of the recorder: what its files share. Only these files include it. */
#ifndef RECORDER_STATE_H
#define RECORDER_STATE_H

#include <pthread.h>

#include "capture/spread.h"
#include "profile/health.h"
#include "recorder/counters.h"
#include "recorder/stack_copies.h"
#include "recorder/control.h"
#include "recorder/flight_parts.h"
#include "recorder/prebuild.h"
#include "recorder/recorder.h"
#include "recording/writer.h"
#include "unwind/sampler.h"

/* What is to become of an event of the list. */
struct plan {
	bool ours;    /* the user left it to us how its stacks are taken */
	bool sampler; /* by the kernel's unwinder */
	bool copies;  /* from copies of stacks: until the former is there, or at all */
};

/* One event of the session, as the file shows it. */
struct source {
	struct perf_event_attr attr;   /* in the file */
	struct perf_event_attr opened; /* what the ring's samples look like */
	const u64 *ids;
	size_t n_ids;
	size_t index; /* of the session */
	s32 sampler;  /* its number there, -1: samples come through the ring */
	bool copies;  /* the ring's samples carry registers and stacks */
};

enum { SWEEP_KEPT = 2 << 20 }; /* bytes of a buffer that stay after a peak */

/* The kernel's unwinder and the thread that listens to it. */
struct kernel_stacks {
	struct sampler *sampler; /* NULL: not there (yet) */
	pthread_t thread;
	pthread_mutex_t lock; /* for all below, and the sampler itself */
	u32 events;           /* to be attached to */
	bool has_thread;
	bool late;      /* loads while the program runs already */
	bool loading;   /* from here ... */
	bool loaded;    /* ... to here the thread cannot be stopped */
	bool abandoned; /* it was not waited for */
	bool attached;  /* its samples replace those in the rings */
	bool ready;     /* tables for what runs are there */
	bool paused;    /* the user stopped the counting */
	struct spread spread;
	VEC(int) adopted;  /* events of CPUs instead of the program's, see adopt.c */
	int stop_fd;       /* wakes the thread for its end */
	struct buf out;    /* samples as records, waiting for the next sweep */
	u64 samples;       /* so far */
	struct err why;    /* why it is not used */
	struct map seen;   /* paths for which the sampler has a hint */
	struct map primed; /* hashes of build ids whose names are in the cache */
};

/* Time off the CPU. */
struct waits {
	struct waits_session *session; /* NULL: not wanted */
	struct map known;              /* processes whose mappings are in the file */
	struct map cgroups;            /* number -> its name is in the file */
	struct buf side;               /* records about wakers */
};

struct recorder {
	struct recorder_opts o;
	struct session *session;
	struct recording_writer *writer;
	VEC(struct plan) plans;     /* of each event of the list */
	VEC(struct source) sources; /* of each event of the session */
	struct map by_id;           /* sample id -> index into sources + 1 */
	enum recorder_stacks stacks;
	struct kernel_stacks kernel;
	struct waits waits;
	struct recorder_counters *counters; /* NULL: not wanted */
	struct trace_marks *marks;          /* NULL: not wanted */
	struct python_names python;         /* of both; under kernel.lock */
	struct copies copies;
	struct prebuild prebuild;
	struct health health;
	struct past past;   /* of a flight recorder */
	struct buf records; /* of this sweep, when they cannot be passed on as they are */
	struct buf sweep;   /* scratch */
	char *path;         /* NULL: standard output */
	struct buf cmdline; /* our own, separated by NULs */
	VEC(const char *) argv;
	VEC(char *) files; /* closed ones, oldest first */
	u64 begin;         /* when recording began */
	u64 cpu_begin;     /* our own CPU time then */
	u64 wall;          /* once it is over */
	struct buf kept;   /* records of a batch but those that are left out */
	u64 file_begin;
	u64 round_time;  /* of the last round */
	u64 give_back;   /* when memory is given back next */
	u64 round_bytes; /* what the writer had taken then */
	u64 written;     /* bytes of closed files */
	u64 lost;        /* on the way from the sampler to the file */
	u64 missing;     /* lost in rings without a record that tells */
	u64 reported;    /* losses that the files report, without those in records of the rings */
	size_t notes_shown; /* of the session */
	u64 cpu_back; /* when a CPU came back, until the processes were queried again; 0: none */
	bool kernel_hidden;
	bool holds;    /* sweeps are held back until all rings are read */
	struct err *e; /* of the call that is running */
};

/* stack_plan.c: which events get their stacks by which means. */
void recorder_stacks_plan(struct recorder *r);
void recorder_stacks_explain(const struct recorder *r);
/* After the session is open: fills sources. */
void recorder_stacks_learn(struct recorder *r);
/* The next best means; false when there is none. */
bool recorder_stacks_fall_back(struct recorder *r);

/* kernel_stacks.c */
/* Loads the sampler, or leaves the reason in @r->kernel.why. */
int recorder_kernel_load(struct recorder *r);
int recorder_kernel_attach(struct recorder *r);
/* files.c: what processes have done on a CPU that came back, until its events were open again. */
int recorder_file_catch_up(struct recorder *r, struct err *e);
/* session_reopened: the unwinder on that CPU. */
void recorder_reopened(void *recorder, size_t index, int fd);
/* Tables and reading; loading, too, if it is late. */
void recorder_kernel_start_thread(struct recorder *r);
/* From now on the calling thread goes first, where that is allowed and needed; its priority before.
 */
int recorder_hurry(const struct recorder *r);
void recorder_kernel_wait_ready(struct recorder *r);
/* Reads what there is, and moves it to the file; @turn: what comes later goes to another one. */
int recorder_kernel_collect(struct recorder *r, bool turn, struct err *e);
/* A record of type MMAP2. */
void recorder_kernel_note_map(struct recorder *r, const struct record *rec);
/* False when the thread still uses the recorder, which must not be freed then. */
bool recorder_kernel_stop(struct recorder *r);

/* older_tasks.c: tasks of the program that are older than the unwinder. */
void recorder_adopt_tasks(struct recorder *r, struct sampler *s);
void recorder_adopt_end(struct recorder *r);
/* Their timers do not keep step with the program. */
void recorder_adopt_spread(struct recorder *r);
/* Counting stops, or continues: of the session's events, or of those in their place. */
void recorder_adopt_switch(struct recorder *r, bool on);

/* early_names.c: the names of files that may be gone when the recording ends. */
void recorder_prime_names(void *ctx, int fd, const struct elf *elf);

/* sweep.c: what rings hand over. */
int recorder_sweep_records(void *ctx, const void *bytes, size_t n);
/* Whether samples of some event come with copies of their stacks. */
bool recorder_sweep_has_copies(const struct recorder *r);
u32 recorder_sweep_sample_tid(void *ctx, const struct perf_event_header *h);
/* The end of a sweep: what was held back goes to the file, and a round if it is time. */
int recorder_sweep_end(struct recorder *r, bool last, struct err *e);

/* waits.c: all of them do nothing where waits are not wanted. */
int recorder_waits_open(struct recorder *r, struct err *e);
void recorder_waits_release(struct recorder *r);
int recorder_waits_add_events(struct recorder *r, struct err *e);
int recorder_waits_start(struct recorder *r, struct err *e);
void recorder_waits_note_process(struct recorder *r, u32 pid);
/* Of any thread: -1, or readable when something is new that may be gone soon, and taking it in. */
int recorder_waits_fd(const struct recorder *r);
void recorder_waits_take(struct recorder *r);
/* Moves what there is to the file. */
int recorder_waits_collect(struct recorder *r, struct err *e);
/* The file ends here, the waits continue. */
int recorder_waits_part(struct recorder *r, struct err *e);
/* Before the last recorder_waits_collect(). */
int recorder_waits_stop(struct recorder *r, struct err *e);
void recorder_waits_add_accounts(struct recorder *r);
void recorder_waits_facts(struct recorder *r, struct recorder_summary *s);

/* trace_marks.c: all of them do nothing where there is no event ftrace:print. */
void recorder_marks_open(struct recorder *r);
void recorder_marks_release(struct recorder *r);
int recorder_marks_start(struct recorder *r, struct err *e);
int recorder_marks_collect(struct recorder *r, struct err *e);
u64 recorder_marks_lost(const struct recorder *r);

/* flight.c: all of them do nothing where all goes to the file. */
void recorder_flight_plan(struct recorder *r);
/* After a sweep: begins a new part of the past if it is time. */
int recorder_flight_turn(struct recorder *r, struct err *e);
int recorder_flight_write(struct recorder *r, struct err *e);

/* files.c */
int recorder_file_begin(struct recorder *r, struct err *e);
/* A part of the past that stands for itself. */
int recorder_file_part(struct recorder *r, struct err *e);
/* Records: to the file, or to what will become of it. */
int recorder_file_add(struct recorder *r, const void *records, size_t n, struct err *e);
int recorder_file_round(struct recorder *r, struct err *e);
/* Bytes of records so far. */
u64 recorder_file_taken(const struct recorder *r);
int recorder_file_end(struct recorder *r, struct err *e);
int recorder_file_change(struct recorder *r, struct err *e);

/* recorder.c */
/* Losses that no record of a ring reported, since the last call. */
u64 recorder_unreported(struct recorder *r);
void recorder_note(const struct recorder *r, const char *text, const char *hint);

#endif
