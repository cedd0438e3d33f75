/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The inside of struct tasks: what its sources (BPF, /proc) fill. */
#ifndef COUNTERS_TASKS_STATE_H
#define COUNTERS_TASKS_STATE_H

#include "base/map.h"
#include "counters/tasks.h"

enum { TASKS_ROOM = 1024 };

/* A vector of tasks keeps no room of a peak that is over. */
#define tasks_fit(v)                                                                         \
	do {                                                                                 \
		size_t fit_n_ = (v)->len + TASKS_ROOM;                                       \
		if ((v)->cap > 4 * fit_n_) {                                                 \
			(v)->items = xreallocarray((v)->items, fit_n_, sizeof(*(v)->items)); \
			(v)->cap = fit_n_;                                                   \
		}                                                                            \
	} while (0)

enum { TASKS_MOST = 1 << 22 };

struct task {
	struct tasks_thread now;  /* as last seen */
	u64 group[TASK_FIGURES];  /* of threads of a leader that were gone before the first look */
	u64 before[TASK_FIGURES]; /* at the end of the last interval */
	u64 children;             /* ns of children that were waited for, with /proc only; */
	u64 children_before;      /* then */
	u32 sweep;                /* in which it was last seen */
	bool old;                 /* it was there in the interval before */
	bool ended;               /* it has begun to end */
	bool gone;                /* and these are its last figures */
};

struct tasks_source {
	int (*sweep)(struct tasks *t);
	void (*drain)(struct tasks *t);
	void (*release)(struct tasks *t);
};

struct tasks {
	struct tasks_options options;
	const struct tasks_source *source;
	void *state; /* of the source */
	int fd;
	VEC(struct task) list;
	struct map by_key; /* number and start -> place in list + 1 */
	u32 sweeps;
	u64 lost, lost_exec, no_room;
	u64 lost_before, lost_exec_before, no_room_before;
	struct tasks_meter meter, meter_before; /* of all CPUs since the programs were attached */
};

/* The task of a record, made if it is new; NULL: too many. */
struct task *tasks_find(struct tasks *t, const struct tasks_record *r, bool create);
void tasks_take(struct tasks *t, const struct tasks_thread *seen);

int tasks_open_bpf(struct tasks *t, struct err *e);
int tasks_open_proc(struct tasks *t, struct err *e);
/* tasks_rows.c */
void tasks_make_rows(const struct tasks *t, struct task_rows *ret);

#endif
