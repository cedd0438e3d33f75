/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records of a recording -> samples of a profile. The inside of load.c. */
#ifndef PROFILE_BUILDER_H
#define PROFILE_BUILDER_H

#include "profile/accounts.h"
#include "profile/chainmemo.h"
#include "profile/frames.h"
#include "profile/load.h"
#include "profile/machine.h"
#include "profile/stackcopy.h"
#include "profile/traced.h"
#include "recording/recording.h"

/* The profile's id of a thread that was seen before: its names need not be looked up again. */
struct thread_hint {
	s32 pid, tid;
	u32 comm, cgroup; /* strings of the machine */
	u32 thread;
	bool used;
};

/* The last wait of a recording: its wakers follow it. */
struct builder_wait {
	u64 seq;
	u64 weight;
	u32 stack;
	u32 thread;
	bool added; /* has become the last of profile.wakes */
};

enum { BUILDER_THREADS = 256 };

struct builder {
	struct profile *profile;
	struct machine machine;
	struct frames frames;
	struct stackcopy stacks; /* samples that carry a copy of their stack */
	struct thread_hint threads[BUILDER_THREADS];
	struct chainmemo memo;
	struct accounts_source accounts;
	struct python_source python; /* lines of functions of Python */
	bool has_python;             /* the recording has such functions */
	const struct load_opts *opts;
	struct recording *recording;
	struct traced *traced; /* NULL: not asked for */
	struct map merged;     /* hash of what makes samples equal -> index of the sample + 1 */
	struct map dropped;    /* string -> 1 keep, 2 drop: filters by name, asked once a name */
	u16 *events;           /* recording event index -> profile event */
	size_t n_events;
	bool *wanted; /* recording event index -> passes the event filter */
	struct builder_wait wait;
	u64 first_time;
	u64 records;
};

void builder_init(struct builder *b, struct profile *p, struct recording *r,
		  struct symbols *symbols, const struct load_opts *opts);
void builder_release(struct builder *b);
/* For recording_replay(). */
int builder_record(const struct record *r, void *builder);
/* A record that is not a sample. */
void builder_note(struct builder *b, const struct record *r);
/* The stack of a sample; 0 when nothing is left of it. */
u32 builder_stack(struct builder *b, const struct record *r, struct process *proc);
/* How complete and well named the stacks are; once, when all records have passed. */
void builder_count_health(const struct builder *b);
/* The same for a stack that is not one of a sample of the profile. */
void builder_count_stack(const struct builder *b, u32 stack);

#endif
