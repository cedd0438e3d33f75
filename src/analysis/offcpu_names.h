/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names for the stacks of a machine that is being watched. Most code is known by its place in a
 * file, so that processes that are gone when the result is shown have names too. What is in no file
 * is asked for at once: a run-time tells what its code is called as long as its process runs.
 */
#ifndef ANALYSIS_OFFCPU_NAMES_H
#define ANALYSIS_OFFCPU_NAMES_H

#include "profile/machine.h"
#include "profile/profile.h"
#include "unwind/offcpu.h"

struct offcpu_names {
	struct profile *profile;
	struct symbols *symbols;
	struct machine machine;
	const struct offcpu *engine;       /* whose files places are in; NULL: there are none */
	size_t n_files;                    /* of those, that the machine knows */
	const struct python_names *python; /* functions of Python by address; NULL: as mapped */
	struct map learned;                /* pid -> how often it was asked what it has mapped */
};

/* @profile gets the frames and stacks; it must outlive the names. Feed the machine yourself. */
void offcpu_names_init(struct offcpu_names *n, struct profile *profile);
/* The same for stacks of a running engine, which has opts.places. */
void offcpu_names_open(struct offcpu_names *n, struct profile *profile,
		       const struct offcpu *engine);
void offcpu_names_release(struct offcpu_names *n);
/* For opts.on_bare: asks what the process has mapped, as far as that is not known. */
void offcpu_names_learn(struct offcpu_names *n, const struct offcpu_stack *s);

/* Which frames at the innermost end belong to the scheduler's own working, and are left out. */
enum offcpu_cut { OFFCPU_CUT_SLEEPER, OFFCPU_CUT_WAKER, OFFCPU_CUT_IRQ };

/* A stack of the profile; 0 when nothing is left of it. Remembered in s->mark. */
u32 offcpu_names_stack(struct offcpu_names *n, struct offcpu_stack *s, enum offcpu_cut cut);
/* A frame that is not code. */
u32 offcpu_marker(struct profile *p, const char *name);

/* Fills in where the functions lie by which a sender can be told from an interrupt. */
void offcpu_find_senders(struct offcpu_opts *opts);

#endif
