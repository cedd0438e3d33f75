/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names for the stacks of a machine that is being watched. Most code is known by its place in a
 * file, so that processes that are gone when the result is shown have names too. What is in no file
 * is requested at once: a run-time tells what its code is called as long as its process runs.
 */
#ifndef WAITS_NAMES_H
#define WAITS_NAMES_H

#include "profile/frames.h"
#include "waits/engine.h"
#include "waits/wait.h"

struct waits_names {
	struct profile *profile;
	struct symbols *symbols;
	struct machine machine;
	struct frames frames;
	const struct waits_engine *engine; /* whose files places are in */
	struct map mapped;                 /* numbers of those that the machine knows */
	size_t n_codes;                    /* names of run-time code that the symbols have */
	size_t renewed;                    /* how many files there were when all was read again */
	u64 memory;                        /* of this process after that; 0: not read yet */
	const struct python_names *python; /* functions of Python by address; NULL: as mapped */
	struct map learned;                /* pid -> how often it was asked what it has mapped */
	u64 next_rest;                     /* when unused names are given back again */
	u64 dropped;                       /* stacks without room in the profile */
	u64 several; /* addresses with several names, of symbols that were given up */
};

/*
 * @profile gets the frames and stacks; it must outlive the names. The engine has opts.places; NULL:
 * stacks have addresses, and waits_names_record() says what is mapped there.
 */
void waits_names_open(struct waits_names *n, struct profile *profile,
		      const struct waits_engine *engine);
void waits_names_release(struct waits_names *n);
/* Gives up all that was read for names, if it has become much; names that were given stay good. */
void waits_names_renew(struct waits_names *n);
/* How many addresses have the names of several functions. */
u64 waits_names_several(const struct waits_names *n);
/* The profile was emptied. */
void waits_names_restart(struct waits_names *n);
/* Asks what all running processes have mapped. */
void waits_names_learn_all(struct waits_names *n);
/* A record of the kernel: MMAP2, COMM, FORK, EXIT. */
void waits_names_record(struct waits_names *n, const void *bytes, size_t size);
/* Closes debug information that was opened for names, now and then. */
void waits_names_rest(struct waits_names *n);
/* Of a process that has ended, when no stack of it will be met any more. */
void waits_names_forget(struct waits_names *n, u32 pid);
/* For opts.on_bare: asks what the process has mapped, as far as that is not known. */
void waits_names_learn(struct waits_names *n, const struct waits_stack *s);

/* Which frames at the innermost end belong to the scheduler's own working, and are left out. */
enum wait_cut { WAIT_CUT_SLEEPER, WAIT_CUT_WAKER, WAIT_CUT_IRQ, WAIT_CUT_NONE };

/*
 * What a profile holds of waits. Frames are shared by stacks with the same callers, and functions
 * by all frames; what is new when there is no room left becomes WAITS_DROPPED, and is counted.
 */
enum { WAITS_FRAMES_MOST = 4 << 20, WAITS_FUNCTIONS_MOST = 1 << 19 };
#define WAITS_DROPPED "[not kept: too many different stacks]"

bool waits_names_full(const struct profile *p);
/* The stack that stands for those without room. */
u32 waits_names_dropped(struct profile *p);
/* A stack of the profile; 0 when nothing is left of it. Remembered in s->mark. */
u32 waits_names_stack(struct waits_names *n, struct waits_stack *s, enum wait_cut cut);

/* Fills in where the functions lie by which a sender can be distinguished from an interrupt. */
void waits_find_senders(struct waits_opts *opts);

#endif
