/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples with complete stacks: a BPF program on perf events that takes the kernel stack and
 * unwinds the user stack by CFI tables, without frame pointers and without copying stacks.
 *
 *	sampler_new		loads the program and its tables; -EOPNOTSUPP: use something else
 *	sampler_attach		once for each perf event descriptor, opened disabled by the caller
 *	sampler_running		tables for what runs already (optional: first samples are whole)
 *	... the caller enables its events ...
 *	sampler_read		whenever sampler_fd() is readable, or 10 times a second
 *	sampler_stats, sampler_free
 *
 * A perf event with this program on it writes no sample of its own into its ring: what comes here
 * is instead of that. Times are CLOCK_MONOTONIC.
 *
 * Functions of CPython (3.11 to 3.13, run without any switch) can stand among the user frames, on
 * the side of the callees of the interpreter's own frame, as addresses from PYTHON_MAP_START on
 * (python_names.h). A recorder of them
 *	- writes, before a sample with python_new set, an MMAP2 record for its process: address
 *	  PYTHON_MAP_START, length PYTHON_MAP_SIZE, offset 0, PROT_EXEC, no inode, PYTHON_MAP_NAME;
 *	- at the end appends python_names_export() to what symbols_export() wrote (FEATURE_NAMES),
 *	  and stores python_names_export_lines() in a section of its own, for python_source_read().
 * perf shows such frames as unknown ones of PYTHON_MAP_NAME. They come only if opts.python asks for
 * them.
 */
#ifndef UNWIND_SAMPLER_H
#define UNWIND_SAMPLER_H

#include "unwind/feed.h"
#include "runtime/python_names.h"

struct sampler_opts {
	u64 ring_bytes;      /* a power of two; 0: 4 MB */
	u32 max_user_frames; /* 0: UNWIND_MAX_FRAMES */
	u32 events;          /* how many different ones will be attached, 0: 1; at most
				UNWIND_EVENTS */
	bool walk_always;    /* no stack is recognised instead of walked */
	bool no_rescue;      /* leave stacks cut that met a file without a table */
	bool python;         /* functions of Python among the user frames: see above */
	struct python_names *python_names; /* where they go, if not into its own */
};

struct sampler_sample {
	u64 time;
	u64 period;
	u64 addr;
	u32 pid;
	u32 tid;
	u32 cpu;
	u32 event;         /* as given to sampler_attach() */
	const u64 *kernel; /* innermost first */
	const u64 *user;   /* innermost first; return addresses from the second on */
	u32 n_kernel;
	u32 n_user;
	u32 fp_steps;        /* user frames that were found by frame pointer */
	enum unwind_end end; /* of the user stack */
	bool user_ip;        /* hit in user code */
	bool rescued;        /* unwound in user space, from a copy of the stack */
	bool python;         /* has Python functions among the user frames */
	bool python_new;     /* the first such sample of its process, or of a new program in it */
	u64 ip;              /* the innermost native user address; 0: not known */
	char comm[UNWIND_COMM];
};

/* Valid during the call only. A negative result ends the reading and is returned. */
typedef int (*sampler_fn)(void *ctx, const struct sampler_sample *s);

struct sampler_stats {
	u64 samples;
	u64 lost; /* the ring was full, or no scratch was free */
	u64 frames;
	u64 rescues;
	u64 rescues_lost;
	u64 kernel_cut;
	u64 python_frames;
	u64 python_unplaced;   /* stacks in which some Python functions found no place */
	u64 python_unreadable; /* frames whose function could not be read any more */
	u64 recognised, checked, misrecognised; /* stacks, see bpf/unwind.bpf.h */
	u64 ends[UNWIND_END_COUNT]; /* user stacks by their end; rescued ones by their final end */
	struct unwind_feed_stats feed;
};

struct sampler;

int sampler_new(struct sampler **ret, const struct sampler_opts *opts, struct err *e);
void sampler_free(struct sampler *s);
/*
 * @event (from 0, below opts.events) comes back in each sample, also in those of children that
 * inherit the perf event. The descriptor stays the caller's, and its event disabled.
 */
int sampler_attach(struct sampler *s, int perf_fd, u32 event, struct err *e);
/* From now on only samples of this process and its descendants. -EOPNOTSUPP in a pid namespace. */
int sampler_only_tree(struct sampler *s, int pid);
/* Tables for the files of all running processes, or of one. Returns the number of new files. */
int sampler_running(struct sampler *s);
int sampler_process(struct sampler *s, int pid);
/* For poll(). */
int sampler_fd(const struct sampler *s);
/* Hands over what waits in the ring; the number of samples or a negative errno. */
int sampler_read(struct sampler *s, sampler_fn fn, void *ctx);
/* What mmap events report: used when a process is gone before its files could be asked for. */
void sampler_note_map(struct sampler *s, int pid, const struct mapping *map);
void sampler_stats(const struct sampler *s, struct sampler_stats *ret);

/* What comes from now on is in another file: python_new is reported again. */
void sampler_new_file(struct sampler *s);

/* The functions met so far; what to write is in python_names.h. */
const struct python_names *sampler_python(const struct sampler *s);

/* See unwind_feed_on_new(). */
void sampler_on_new(struct sampler *s, unwind_feed_new_fn *fn, void *ctx);
/* What run-time code of the processes met so far is called; see unwind/code.h. */
const struct code_names *sampler_code_names(const struct sampler *s);

/* Most words that sampler_callchain() writes. */
enum { SAMPLER_CALLCHAIN_MAX = UNWIND_RECORD_IPS + 2 };
/*
 * The stack in the form of PERF_SAMPLE_CALLCHAIN: PERF_CONTEXT_KERNEL, kernel frames,
 * PERF_CONTEXT_USER, user frames. Returns the number of words.
 */
size_t sampler_callchain(const struct sampler_sample *s, u64 *words, size_t max);
/* The address that was hit, never that of a Python function: perf names it. */
u64 sampler_ip(const struct sampler_sample *s);

#endif
