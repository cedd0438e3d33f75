/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples and waits of the running machine, as frames. The programs in the kernel run only while
 * a screen needs it; what was sampled is kept for a window of time.
 */
#ifndef TOP_LIVE_H
#define TOP_LIVE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/map.h"
#include "base/vec.h"
#include "top/shares.h"

/* A box of the flame graph. */
struct live_box {
	u32 parent, depth;
	u64 start, weight, self;
	const char *name;
	const char *module;
	u8 kind;   /* enum frame_kind */
	s16 color; /* of the 256 */
};

/* A function, with all its places put together. */
struct live_function {
	const char *name, *module;
	u64 self, total;
	u8 kind;
	u32 first_path, n_paths; /* of profile_frame.paths */
};

/* A caller or a source line of the function that the scope names. */
struct live_detail {
	const char *text;
	u64 weight;
};

/* A thread that samples hit. */
struct live_thread {
	u32 pid, tid;
	const char *comm;
	u64 weight;
};

/* The hottest function of a thread or process. */
struct live_hot {
	const char *name;
	u64 weight;
};

/* A line of the function's code: an instruction or a line of the source. */
struct live_code {
	const char *text;
	double share; /* percent of the function's samples; 0: none, or no instruction */
};

struct profile_frame {
	struct arena arena;
	const char *why; /* there is nothing, and this is why; NULL: there is */
	const char *hint;
	const char *event; /* "cycles", "cpu-clock" */
	u64 samples, weight, lost, cut, user_stacks;
	double seconds; /* of the window */
	double late;    /* seconds that taking and naming its samples took */
	u64 frequency;
	u32 rows;
	bool cold;           /* waits, not samples */
	bool both;           /* in two halves, each of LIVE_HALF */
	u64 hot_ns, cold_ns; /* of these: time of threads in a second */
	u64 serial;          /* of the request that it answers */
	VEC(struct live_box) boxes;
	VEC(struct live_function) functions; /* most first */
	VEC(struct live_detail) paths;       /* that led to hits of a function, most first */
	VEC(struct live_detail) callers, lines;
	VEC(struct live_thread) threads; /* most first */
	VEC(struct live_hot) hot;        /* by thread and, with tid 0, by process */
	struct map hot_at;               /* tid, or pid with bit 32 -> place + 1 */
	VEC(struct live_code) code;      /* of the function that the scope names */
	const char *code_why;            /* there is none, and why; NULL: there is */
	u32 code_hottest;
	double code_most;
};

struct live_wait {
	u32 pid, tid;
	const char *comm, *kind, *place, *waker;
	u32 waker_pid, waker_tid;
	u64 blocked, runq, count, longest;
};

struct waits_frame {
	struct arena arena;
	const char *why, *hint;
	double seconds;
	u64 lost;
	u64 serial;
	struct shares shares;
	VEC(struct live_wait) waits; /* longest first */
};

/* The function that most samples of a thread hit, or (@tid 0) of a process; "": none. */
const char *profile_frame_hottest(const struct profile_frame *f, u32 pid, u32 tid);
void profile_frame_free(struct profile_frame *f);
void waits_frame_free(struct waits_frame *f);

enum { MARKED_MOST = 64 };

/* Whose samples and waits: of all, of a process, a thread, or of those that were marked. */
struct live_of {
	u32 pid, tid; /* 0: all */
	u32 n_marked; /* 0: all */
	u32 marked[MARKED_MOST];
	bool threads; /* @marked are threads, not processes */
};

bool live_is_of(const struct live_of *of, u32 pid, u32 tid);

/* What is requested. */
struct live_request {
	bool samples, waits;
	struct live_of of;
	bool cold; /* the flame graph is of waits, */
	bool both; /* or of samples, too: two frames */
	bool inverted;
	u64 end;                         /* CLOCK_MONOTONIC: the window ends there; 0: now */
	char function[256], module[256]; /* without a function: code of the module alone */
};

/* As a module: the kernel with all that it has loaded. */
#define LIVE_KERNEL "[kernel]"

struct live;

struct live *live_new(u64 frequency, u64 keep_ns);
void live_free(struct live *l);
/* Returns the number of the request: older answers are of something else. */
u64 live_ask(struct live *l, const struct live_request *r);
/* Look this many times less often than once a second; at once where something else is requested. */
void live_pace(struct live *l, u32 times);
/* For poll(). */
int live_fd(const struct live *l);
/* The newest frame since the last call, the caller's; NULL: none. */
struct profile_frame *live_take_profile(struct live *l);
/* Of @cold frames; the other function has those of samples. */
struct profile_frame *live_take_cold(struct live *l);
struct waits_frame *live_take_waits(struct live *l);
/*
 * live_both.c: one flame graph of what threads do on CPUs and of what they wait for. Each half is
 * as wide as the other: on most machines a hundred threads wait for each one that runs.
 */
#define LIVE_HALF (1ull << 40)
struct profile_frame *live_join(const struct profile_frame *hot, const struct profile_frame *cold);

#endif
