/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names for addresses of a machine that is being watched: what runs is read once from /proc, what
 * comes after is told by the kernel (mmap, exec, fork), so that processes that are gone when the
 * result is shown have names too.
 */
#ifndef ANALYSIS_OFFCPU_NAMES_H
#define ANALYSIS_OFFCPU_NAMES_H

#include "capture/session.h"
#include "profile/machine.h"
#include "profile/profile.h"
#include "unwind/offcpu.h"

struct side_record {
	u64 time;
	size_t at; /* in the bytes */
};

struct offcpu_names {
	struct profile *profile;
	struct symbols *symbols;
	struct machine machine;
	struct event_list events;
	struct target target;
	struct session *session; /* NULL: the kernel did not give side-band events */
	struct perf_event_attr attr;
	struct offcpu *engine;             /* is told of mappings; may be NULL */
	const struct python_names *python; /* functions of Python by address; NULL: as mapped */
	u64 lost;                          /* side-band records */
	/* records of a sweep: each CPU has a ring of its own, so they are put in order first */
	struct buf bytes;
	VEC(struct side_record) pending;
};

/* @profile gets the frames and stacks; it must outlive the names. Feed the machine yourself. */
void offcpu_names_init(struct offcpu_names *n, struct profile *profile);
/* The same, fed by the running kernel. */
int offcpu_names_open(struct offcpu_names *n, struct profile *profile, struct err *e);
void offcpu_names_release(struct offcpu_names *n);
/* Takes in what the kernel has told since. */
void offcpu_names_poll(struct offcpu_names *n);

/* Which frames at the innermost end belong to the scheduler's own working, and are left out. */
enum offcpu_cut { OFFCPU_CUT_SLEEPER, OFFCPU_CUT_WAKER, OFFCPU_CUT_IRQ };

/* A stack of the profile; 0 when nothing is left of it. Remembered in s->mark. */
u32 offcpu_names_stack(struct offcpu_names *n, struct offcpu_stack *s, enum offcpu_cut cut);
/* A frame that is not code. */
u32 offcpu_marker(struct profile *p, const char *name);

/* Fills in where the functions lie by which a sender can be told from an interrupt. */
void offcpu_find_senders(struct offcpu_opts *opts);

#endif
