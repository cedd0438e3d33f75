/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where in the code the samples of a recording were taken: for each function its instructions'
 * addresses, and how many samples and how much weight of each event they have.
 */
#ifndef CODE_HITS_H
#define CODE_HITS_H

#include "base/parse.h"
#include "profile/machine.h"
#include "recording/recording.h"

enum { HITS_EVENTS_MOST = 8 };

struct hits_opts {
	const char *event; /* glob; NULL: all */
	const char *dsos;  /* globs for the last part of paths, comma separated */
	const char *comms;
	const char *symbols;
	bool no_kernel, no_user;
	const range_list *pids, *tids, *cpus; /* empty: all */
	u64 time_from, time_to;               /* 0: open */
	bool time_relative;
};

struct hit {
	u64 address; /* in the terms of its function's start */
	u32 function;
	u64 samples[HITS_EVENTS_MOST], weight[HITS_EVENTS_MOST];
};

struct hits_function {
	const char *name; /* NULL: code without any */
	const char *dso;
	u64 start; /* file offset; the address for the kernel and run-time code */
	u64 size;
	u32 module; /* of the symbol store, 0 for the kernel and run-time code */
	u8 kind;    /* enum place_kind */
	s32 pid;    /* of run-time code */
	u64 time;   /* of the last sample in it */
	u64 samples[HITS_EVENTS_MOST], weight[HITS_EVENTS_MOST];
};

struct hits_event {
	char *name;
	bool precise; /* the CPU says which instruction it was */
	bool clock;   /* a timer takes the samples */
	u64 samples, weight;
};

struct hits {
	struct recording *recording;
	struct symbols *symbols;
	struct machine machine;
	const struct hits_opts *opts;
	struct hits_event events[HITS_EVENTS_MOST];
	size_t n_events;
	VEC(struct hit) hits;                /* by function and address, after loading */
	VEC(struct hits_function) functions; /* the heaviest first, after loading */
	struct map function_ids;
	struct map hit_ids; /* of hits_add() */
	bool shared;        /* @symbols are the caller's */
	u64 first_time;
	u64 nowhere;      /* samples outside of any function */
	u64 other_events; /* samples of events after the last that is kept */
	struct buf arch;
};

/* Reads all of @path; @opts must outlive @h. -ENODATA: no sample. */
int hits_load(struct hits *h, const char *path, const struct hits_opts *opts, struct err *e);
void hits_release(struct hits *h);
/*
 * Without a recording: of a machine that is being watched, whose @symbols stay the caller's. Places
 * come by hits_add() until hits_finish().
 */
void hits_init(struct hits *h, struct symbols *symbols, const char *event, const char *arch);
void hits_add(struct hits *h, const struct place *p, const struct process *proc, u64 time,
	      u64 weight);
void hits_finish(struct hits *h);
/* The hits of a function: the first of them, *@ret_n in order of their addresses. */
const struct hit *hits_of(const struct hits *h, u32 function, size_t *ret_n);
/* The heaviest function of that name, as it is, demangled, or without a compiler's suffix. */
const struct hits_function *hits_find(const struct hits *h, const char *name);

#endif
