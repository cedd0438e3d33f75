/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The scheduler's events out of a recording (ours, or of 'perf sched record'), and what is made of
 * them: delays of tasks, the history of switches, who ran where.
 *
 * Recordings have gaps: events are lost, and some machines do not deliver every switch. So nothing
 * here takes for granted that the task that leaves a CPU is the one that came last.
 */
#ifndef ANALYSIS_SCHED_H
#define ANALYSIS_SCHED_H

#include "base/buf.h"
#include "base/err.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/parse.h"
#include "base/vec.h"
#include "result/result.h"

struct recording;

enum sched_type {
	SCHED_SWITCH,
	SCHED_WAKING,
	SCHED_WAKEUP,
	SCHED_WAKEUP_NEW,
	SCHED_MIGRATE,
	SCHED_RUNTIME,
	SCHED_FORK,
	SCHED_TYPES,
	SCHED_BORN = SCHED_TYPES, /* not a tracepoint: whoever had this tid before is gone */
	SCHED_NAMED,              /* for the reader only */
};

enum {
	SCHED_COMM = 16,
	SCHED_CPUS_MOST = 4096,
	SCHED_TIDS_MOST = 4 << 20,   /* the kernel gives no higher ones */
	SCHED_TIDS_FIRST = 32 << 10, /* and none but these on most machines */
};

/* Small: millions of them wait for their turn. */
struct sched_event {
	u64 time;
	u32 next; /* SWITCH: who comes; else whom it is about */
	u16 cpu;
	u8 type; /* enum sched_type */
	union {
		u8 state;  /* SWITCH: of prev, the bits of SCHED_STATE_AWAY */
		bool weak; /* NAMED: only if no name is known */
		u8 flags;  /* WAKING, WAKEUP, WAKEUP_NEW: SCHED_IN_*, as ftrace writes them */
	};
	union {
		u64 runtime; /* RUNTIME */
		struct {
			u32 prev; /* SWITCH: who leaves; FORK, BORN: the parent */
			union {
				u32 ran; /* SWITCH: ns, see sched_filter.fold_runtime */
				u32 pid; /* NAMED, BORN; 0: not known */
			};
		};
		u32 tid;  /* WAKING, WAKEUP, WAKEUP_NEW: who ran when it happened */
		u32 comm; /* NAMED: string */
		struct {
			u32 mover;    /* MIGRATE: who ran when it happened */
			u16 from, to; /* CPUs */
		};
	};
};
_Static_assert(sizeof(struct sched_event) == 24, "small");

/* Thread -> number, quicker than any hash. A zeroed struct is an empty one. */
struct sched_tids {
	u32 *low; /* of tids below SCHED_TIDS_MOST; memory is used where there are some */
	u32 n_low;
	struct map high; /* of those that no kernel has given: index in more + 1 */
	VEC(u32) more;
};

/* A larger copy of @old, which had *@n items of @size bytes: with one for @tid, and zeros. */
void *sched_by_tid(void *old, u32 *n, size_t size, u32 tid);
void sched_tids_release(struct sched_tids *t);
u32 *sched_tids_grow(struct sched_tids *t, u32 tid);

/* Where the number of @tid is kept, 0 at first. Valid until the next call. */
static inline u32 *sched_tids_at(struct sched_tids *t, u32 tid)
{
	return likely(tid < t->n_low) ? &t->low[tid] : sched_tids_grow(t, tid);
}

/* Whoever ran when it happened was only interrupted. */
enum { SCHED_IN_IRQ = 0x08, SCHED_IN_SOFTIRQ = 0x10, SCHED_IN_NMI = 0x40 };

/* Any of these bits in a state, as the tracepoint writes it: it does not want a CPU. */
#define SCHED_STATE_AWAY 0xffu
/* State letter as perf writes it; 'R' for those that would go on running. */
static inline char sched_state_char(u8 state)
{
	return state ? "SDTtXZPI"[__builtin_ctz(state)] : 'R';
}

/* Names of tasks, as the records of the recording tell them. */
struct sched_names {
	struct intern strings;
	struct sched_tids by_tid; /* tid -> string */
	struct sched_tids pids;   /* tid -> pid */
	bool has[SCHED_TYPES];    /* the recording has events of this type */
	u64 lost;
	u64 events;
	u64 bad;     /* events whose data is too short */
	u64 gaps;    /* switches whose task had not been seen to come, of what is asked for */
	char *fault; /* how the recording is damaged, NULL: it is not */
	u64 first, last;
	u32 cpus;                  /* highest seen + 1 */
	u32 machine_cpus;          /* that it has, from the begin on; 0: not known */
	u32 runs[SCHED_CPUS_MOST]; /* who came last, + 1; 0: not known */
};

void sched_names_release(struct sched_names *n);
/* Never empty: ":TID" when nothing is known. */
const char *sched_comm(struct sched_names *n, u32 tid);
/* 0: not known. */
u32 sched_pid(struct sched_names *n, u32 tid);

/* Which events are looked at. */
struct sched_filter {
	const range_list *pids; /* processes or threads; NULL or empty: all */
	const range_list *cpus;
	u64 from, to;  /* ns; 0: open */
	bool relative; /* since the first event */
	bool outside;  /* deliver what is outside, too: whoever asks cuts it himself */
	/*
	 * Run times may come with the switch that ends the turn (.ran), and not as events of their
	 * own: half of all events are of this kind. The first that is heard of a task is an event
	 * always. Not where only a part of the time is asked for.
	 */
	bool fold_runtime;
	u32 types; /* a bit for each enum sched_type that is wanted; 0: all */
};

/* @n events that follow each other: tracepoints, or a single one that is none. */
typedef int (*sched_fn)(void *ctx, const struct sched_event *events, size_t n);

/*
 * Replays in order of time. @names is filled as it goes and may be used by @fn. Events outside the
 * filter's time are not delivered. -ENODATA when there is no sched_switch at all.
 */
int sched_replay(struct recording *recording, const struct sched_filter *filter,
		 struct sched_names *names, sched_fn fn, void *ctx, struct err *e);
/* @path may be NULL, then @fd is read. */
int sched_read(const char *path, int fd, const struct sched_filter *filter,
	       struct sched_names *names, sched_fn fn, void *ctx, struct err *e);
/* The part of time that is asked for; *ret_to is UINT64_MAX when it is open. */
void sched_filter_window(const struct sched_filter *f, const struct sched_names *n, u64 *ret_from,
			 u64 *ret_to);
bool sched_filter_task(const struct sched_filter *f, struct sched_names *n, u32 tid);
bool sched_filter_cpu(const struct sched_filter *f, u32 cpu);
/* No CPU is left out. */
bool sched_filter_all_cpus(const struct sched_filter *f);

/* One is missing before this switch: counted, if it is asked for. For sched_follow(). */
void sched_gap(struct sched_names *n, const struct sched_filter *f, const struct sched_event *ev);

/*
 * For whoever gets a switch and makes the best of it. Kernels do not tell every one, even if no
 * event is lost: then somebody leaves who never came. True: that is so.
 */
static inline bool sched_follow(struct sched_names *n, const struct sched_filter *f,
				const struct sched_event *ev)
{
	u32 *runs = &n->runs[ev->cpu];
	bool missing = *runs != ev->prev + 1 && *runs;

	if (unlikely(missing))
		sched_gap(n, f, ev);
	*runs = ev->next + 1;
	return missing;
}

/* Loss counters and gaps. */
void sched_health(const struct sched_names *n, struct result *ret);

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
struct sched_stretch {
	u64 begin, end;
	u32 cpu;
	u32 tid;
	u32 waker; /* of a wait: its waker, 0: nobody (preempted) */
	bool waiting;
};
typedef VEC(struct sched_stretch) stretch_list;

struct sched_map {
	struct sched_names *names;
	const struct sched_filter *filter;
	stretch_list stretches; /* complete after sched_map_finish() */
	VEC(struct sched_wake) wakes;
	VEC(struct sched_event) switches; /* for the text; comm pointers are void */
	struct map ready;                 /* tid -> index of its wait in progress + 1 */
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
int sched_map_events(void *map, const struct sched_event *ev, size_t n);
void sched_map_finish(struct sched_map *m);
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
