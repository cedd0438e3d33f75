/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The engine of recording: a session of events, the stacks of their samples by the best means that
 * works here, and files in perf's format.
 *
 *	struct recorder *r;
 *	recorder_new(&r, &opts);
 *	recorder_open(r, e);		events are open, nothing is counted yet
 *	recorder_begin(r, path, e);	the file has its header and all that is known already
 *	recorder_run(r, duration, e);	until the end of the target, the time, or a stop
 *	recorder_end(r, e);		the file is complete
 *	recorder_summary(r, &summary);
 *	recorder_free(r);
 *
 * It never prints: messages come through the hooks.
 */
#ifndef RECORDER_RECORDER_H
#define RECORDER_RECORDER_H

#include "capture/session.h"
#include "recorder/control.h"
#include "waits/session.h"

/* How stacks of a recording came about, best first. */
enum recorder_stacks {
	RECORDER_STACKS_AS_ASKED, /* the user chose: session.stack */
	RECORDER_STACKS_KERNEL,   /* CFI tables walked in the kernel */
	RECORDER_STACKS_COPIES,   /* the same tables, on copies of stacks, here */
	RECORDER_STACKS_FP,       /* frame pointers */
};

/* When to continue in another file. */
struct recorder_change {
	bool on_signal; /* SIGUSR2, which the caller has blocked */
	u64 bytes;
	u64 ns;
	u64 keep; /* this many closed files, 0: all */
};

/* Any of them may be NULL. */
struct recorder_hooks {
	void (*note)(void *ctx, const char *text, const char *hint);
	void (*wrote)(void *ctx, const char *path); /* a file was closed, recording continues */
	void (*tick)(void *ctx);                    /* after every sweep */
	void (*started)(void *ctx);                 /* from now on events are counted */
	void *ctx;
};

struct recorder_opts {
	struct event_list *events; /* their stack modes are filled in */
	const struct target *target;
	struct launch *launch; /* prepared, or NULL */
	struct session_opts session;
	bool walk_always; /* no stack is recognised instead of walked */
	bool auto_stacks; /* session.stack is for us to find */
	/* time off the CPU, too; its filters say the same as @target; NULL: not wanted */
	const struct waits_session_opts *waits;
	u64 counters;            /* ns between looks at the machine's counters, 0: none */
	u64 delay;               /* ns before counting begins */
	bool paused;             /* it begins when @control says so */
	struct control *control; /* open; NULL: no commands come */
	u64 max_bytes;           /* of all files: recording ends when they are there, 0: no limit */
	bool stamp;              /* the last file, too, gets its time as part of its name */
	int compress;
	bool no_names; /* do not put names into the file */
	const char *user_data;
	struct recorder_change change;
	struct recorder_hooks hooks;
};

struct recorder_summary {
	u64 samples;
	u64 lost;
	u64 overwritten; /* not among @samples: a flight recorder had no room for them */
	u64 throttled;
	u64 bytes; /* of all files */
	u64 wall_ns;
	u64 cpu_ns; /* our own */
	u64 ring_bytes;
	enum recorder_stacks stacks;
	u64 tables; /* files with unwind tables, RECORDER_STACKS_KERNEL */
	u64 table_bytes;
	u64 user_stacks; /* RECORDER_STACKS_KERNEL and _COPIES: those with a user part ... */
	u64 recognised, checked, misrecognised; /* stacks, of samples and waits */
	u64 complete;        /* ... and those that reached the start of their thread */
	u64 waits;           /* samples of time off the CPU; not among @samples */
	u64 waits_lost;      /* among @lost ... */
	u64 waits_lost_ns;   /* ... and their time */
	u64 waits_stackless; /* waits that found no room for their stack */
	const char *why;     /* why it was nothing better, or NULL; valid until recorder_free() */
};

struct recorder;

/* What @opts points to must live as long as the recorder. */
void recorder_new(struct recorder **ret, const struct recorder_opts *opts);
void recorder_free(struct recorder *r);
int recorder_open(struct recorder *r, struct err *e);
/* @path NULL: standard output, in pipe mode. Truncates what is there. */
int recorder_begin(struct recorder *r, const char *path, struct err *e);
int recorder_run(struct recorder *r, u64 duration, struct err *e);
int recorder_end(struct recorder *r, struct err *e);
/* At any time after recorder_open(). */
void recorder_summary(struct recorder *r, struct recorder_summary *ret);
const struct session *recorder_session(const struct recorder *r);
/* The file as it is called now; NULL: standard output. */
const char *recorder_path(const struct recorder *r);

#endif
