/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who had a CPU while others waited for it, worked out from who ran there and when. */
#ifndef WAITS_TURNS_H
#define WAITS_TURNS_H

#include "base/base.h"
#include "base/vec.h"

/* A thread on a CPU, without a break. */
struct cpu_turn {
	u64 begin, end;
	u32 cpu;
	u32 tid;
};
typedef VEC(struct cpu_turn) turn_list;

/* A thread that wanted this CPU, and got it at @to. */
struct cpu_need {
	u64 from, to;
	u32 cpu;
	u32 last; /* what no turn accounts for was this thread's; 0: none */
};
typedef VEC(struct cpu_need) need_list;

struct ran_instead {
	u32 pid, tid;
	u32 comm; /* string of the profile */
	u64 ns;
	u64 turns;
};
typedef VEC(struct ran_instead) ran_list;

/*
 * Sorts the turns, and cuts each where the next one of that CPU begins. Threads are added to @ret
 * with their times and without names. Returns how much of it belongs to no turn, and is charged to
 * those that ran last.
 */
u64 turns_share(turn_list *turns, const need_list *needs, ran_list *ret);

#endif
