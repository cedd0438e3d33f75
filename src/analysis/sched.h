/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is made of the scheduler's events: delays of tasks, the history of switches, who ran where.
 * Recordings have gaps: nothing here assumes that the task that leaves a CPU is the one
 * that came last.
 */
#ifndef ANALYSIS_SCHED_H
#define ANALYSIS_SCHED_H

#include "waits/sched.h"
#include "waits/sched_kinds.h"

/* --- latency ---------------------------------------------------------------------------------- */

struct sched_latency;
struct sched_latency *sched_latency_new(struct sched_names *names,
					const struct sched_filter *filter);
void sched_latency_free(struct sched_latency *l);
int sched_latency_events(void *latency, const struct sched_event *ev, size_t n);
/* @sort: "avg,max,switches,runtime,comm,pid" in any order, NULL: so. @merge: tasks of one name. */
int sched_latency_result(struct sched_latency *l, const char *sort, bool merge, u32 lines,
			 struct result *ret, struct err *e);

/* --- the history of switches ------------------------------------------------------------------ */

struct sched_turn {
	u64 time; /* it left the CPU then */
	u32 cpu;
	u32 tid;
	u32 next;
	char state;
	bool gap; /* the CPU's last switch was not to this task: its run time is a guess */
	u64 wait; /* from its last leaving to its coming: asleep or not */
	u64 sleep, iowait, preempt; /* what that was */
	u64 delay;                  /* from waking to coming */
	u64 run;
};

typedef int (*sched_turn_fn)(void *ctx, const struct sched_turn *t);
struct sched_wake {
	u64 time;
	u32 cpu;
	u32 waker;
	u32 wakee;
};
typedef int (*sched_wake_fn)(void *ctx, const struct sched_wake *w);

struct sched_move {
	u64 time;
	u32 cpu;
	u32 mover;
	u32 tid;
	u32 from, to;
};
typedef int (*sched_move_fn)(void *ctx, const struct sched_move *m);

struct sched_timehist;
/* @on_wake may be NULL. @idle: only turns of idle tasks, and those that an idle task follows. */
struct sched_timehist *sched_timehist_new(struct sched_names *names,
					  const struct sched_filter *filter, bool idle,
					  sched_turn_fn on_turn, sched_wake_fn on_wake, void *ctx);
/* Migrations, too, for the same ctx. */
void sched_timehist_moves(struct sched_timehist *t, sched_move_fn on_move);
void sched_timehist_free(struct sched_timehist *t);
int sched_timehist_events(void *timehist, const struct sched_event *ev, size_t n);
/* Per task: sums of the above. */
void sched_timehist_result(struct sched_timehist *t, u32 lines, struct result *ret);

/* --- who ran where ---------------------------------------------------------------------------- */

/* One stretch of a task on a CPU, or of its waiting for one. */
enum sched_does { SCHED_RUNS, SCHED_WAITS, SCHED_SLEEPS, SCHED_DISK, SCHED_STOPPED };

struct sched_stretch {
	u64 begin, end;
	u32 cpu;
	u32 tid;
	u32 waker; /* of a wait: its waker, 0: none (preempted) */
	u8 does;   /* enum sched_does */
	u8 kind;   /* enum thread_state: what it waits for; STATE_COUNT: not known */
};
typedef VEC(struct sched_stretch) stretch_list;

struct sched_map {
	struct sched_names *names;
	const struct sched_filter *filter;
	stretch_list stretches; /* complete after sched_map_finish() */
	VEC(struct sched_wake) wakes;
	VEC(struct sched_event) switches; /* for the text; comm pointers are void */
	struct map off;                   /* tid -> index of its wait or sleep in progress + 1 */
	struct {
		u32 tid;
		u64 since; /* 0: not known */
	} cpus[SCHED_CPUS_MOST];
	u64 begin, end; /* the time that is shown; stretches are cut to it, and in order then */
	u64 dropped;    /* beyond SCHED_STRETCHES_MOST */
};

enum { SCHED_STRETCHES_MOST = 2 << 20 };

struct sched_map *sched_map_new(struct sched_names *names, const struct sched_filter *filter);
void sched_map_free(struct sched_map *m);
/* What is requested of all that there is. */
bool sched_map_shows(const struct sched_map *m, const struct sched_stretch *s);
bool sched_map_shows_wake(const struct sched_map *m, const struct sched_wake *w);
int sched_map_events(void *map, const struct sched_event *ev, size_t n);
void sched_map_finish(struct sched_map *m);
/* What the threads that are off their CPUs wait for; before _finish(). */
void sched_map_kinds(struct sched_map *m, const struct sched_kinds *kinds);
/* A column for each CPU, a line for each switch; @lines at most, 0: all. */
void sched_map_text(struct sched_map *m, u32 lines, struct buf *out);
void sched_map_result(struct sched_map *m, u32 lines, struct result *ret);

/* --- summary ---------------------------------------------------------------------------------- */

struct sched_summary;
struct sched_summary *sched_summary_new(struct sched_names *names,
					const struct sched_filter *filter);
void sched_summary_free(struct sched_summary *s);
int sched_summary_events(void *summary, const struct sched_event *ev, size_t n);
/* @width: room for the heat map, a picture of text; 0: as numbers. */
void sched_summary_result(struct sched_summary *s, u32 lines, int width, struct result *ret);

#endif
