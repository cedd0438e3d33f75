/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The scheduler's events out of a recording (ours, or of 'perf sched record').
 *
 * Recordings have gaps: events are lost, and some machines do not deliver every switch. So nothing
 * here assumes that the task that leaves a CPU is the one that came last.
 */
#ifndef WAITS_SCHED_H
#define WAITS_SCHED_H

#include "base/buf.h"
#include "base/err.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/parse.h"
#include "base/vec.h"
#include "result/result.h"

struct recording;
struct sched_group;

enum sched_type {
	SCHED_SWITCH,
	SCHED_WAKING,
	SCHED_WAKEUP,
	SCHED_WAKEUP_NEW,
	SCHED_MIGRATE,
	SCHED_RUNTIME,
	SCHED_FORK,
	SCHED_TYPES,
	SCHED_BORN = SCHED_TYPES, /* not a tracepoint: the previous owner of the tid is gone */
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
	u32 next; /* SWITCH: who comes; otherwise whom it is about */
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

/* The task that ran then was only interrupted. */
enum { SCHED_IN_IRQ = 0x08, SCHED_IN_SOFTIRQ = 0x10, SCHED_IN_NMI = 0x40 };

/* Any of these bits in a state, as the tracepoint writes it: it does not want a CPU. */
#define SCHED_STATE_AWAY 0xffu
/* State letter as perf writes it; 'R' for those that would continue running. */
static inline char sched_state_char(u8 state)
{
	return state ? "SDTtXZPI"[__builtin_ctz(state)] : 'R';
}

/* Names of tasks, as the recording's records have them. */
struct sched_names {
	struct intern strings;
	struct sched_tids by_tid; /* tid -> string */
	struct sched_tids pids;   /* tid -> pid */
	bool has[SCHED_TYPES];    /* the recording has events of this type */
	u64 lost;
	u64 events;
	u64 bad;     /* events whose data is too short */
	u64 gaps;    /* switches whose task had not been seen to come, of what is requested */
	char *fault; /* how the recording is damaged, NULL: it is not */
	u64 first, last;
	u32 cpus;                  /* highest seen + 1 */
	u32 machine_cpus;          /* that it has, from the start; 0: not known */
	u32 runs[SCHED_CPUS_MOST]; /* the task that came last, + 1; 0: not known */
};

void sched_names_release(struct sched_names *n);
/* Never empty: ":TID" when nothing is known. */
const char *sched_comm(struct sched_names *n, u32 tid);
/* 0: not known. */
u32 sched_pid(struct sched_names *n, u32 tid);

/* Which events are checked. */
struct sched_filter {
	const range_list *pids; /* processes or threads; NULL or empty: all */
	const range_list *cpus;
	const struct sched_group *group; /* its threads; NULL: all */
	u64 from, to;                    /* ns; 0: open */
	bool relative;                   /* since the first event */
	bool outside;                    /* deliver what is outside, too: the caller cuts it */
	/*
	 * Run times may come with the switch that ends the turn (.ran), and not as events of their
	 * own: half of all events are of this kind. The first that is heard of a task is an event
	 * always. Not where only a part of the time is requested.
	 */
	bool fold_runtime;
	bool record_names; /* names are those of records alone, as for perf */
	u32 types;         /* a bit for each enum sched_type that is wanted; 0: all */
};

/* @n events that follow each other: tracepoints, or a single event of another type. */
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
/* The part of time requested; *ret_to is UINT64_MAX when it is open. */
void sched_filter_window(const struct sched_filter *f, const struct sched_names *n, u64 *ret_from,
			 u64 *ret_to);
/* One of those that are requested: at @time, or whenever. */
bool sched_filter_task_at(const struct sched_filter *f, struct sched_names *n, u32 tid, u64 time);
bool sched_filter_task(const struct sched_filter *f, struct sched_names *n, u32 tid);
bool sched_filter_all_tasks(const struct sched_filter *f);
bool sched_filter_cpu(const struct sched_filter *f, u32 cpu);
/* No CPU is left out. */
bool sched_filter_all_cpus(const struct sched_filter *f);

/* One is missing before this switch: counted, if it is requested. For sched_follow(). */
void sched_gap(struct sched_names *n, const struct sched_filter *f, const struct sched_event *ev);

/*
 * For code that gets a switch and makes the best of it. Kernels do not report every one, even if no
 * event is lost: then a task leaves that never came. True: that is so.
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

#endif
