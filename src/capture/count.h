/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counting events, without samples: every event on every place (a CPU, a thread, a control group
 * on a CPU), read together with how long it was enabled and how long it had a counter.
 *
 *	counting_new -> counting_open -> counting_enable -> counting_read ... -> counting_free
 *
 * It never prints. An event that does not open has its error in counting_failure(); the others
 * count.
 */
#ifndef CAPTURE_COUNT_H
#define CAPTURE_COUNT_H

#include "capture/event.h"
#include "capture/target.h"

enum { COUNT_CELLS_MOST = 1 << 20 };

struct count {
	u64 value;
	u64 enabled; /* ns */
	u64 running; /* ns with a counter; less than @enabled: the kernel multiplexed */
};

/* Where an event counts. */
struct count_place {
	s32 cpu;    /* -1: on whichever CPU the thread runs */
	pid_t tid;  /* -1: all threads */
	s32 cgroup; /* index into the target's groups; -1: none */
};

struct count_opts {
	bool no_inherit; /* not the children */
	bool on_exec;    /* counting begins with the exec of the target */
	bool by_cpu;     /* threads, too, are counted on each CPU of the target */
	bool user_only;
	bool kernel_only;
	bool no_guest;
};

struct counting;

/* Keeps @events and @target, which must live as long as it does. */
struct counting *counting_new(const struct event_list *events, const struct target *target,
			      const struct count_opts *opts);
void counting_free(struct counting *c);

/*
 * Opens everything, disabled. Fails where no event could be opened for lack of rights, of
 * descriptors or of a target; events that this machine does not have are not a failure.
 */
int counting_open(struct counting *c, struct err *e);
void counting_enable(struct counting *c);
void counting_disable(struct counting *c);
/* Brings counting_at() up to date. */
int counting_read(struct counting *c, struct err *e);

const struct count_place *counting_places(const struct counting *c, size_t *ret_n);
/* What was counted since counting_enable(). */
const struct count *counting_at(const struct counting *c, size_t event, size_t place);
/* True: it is counted there (a PMU may count on some CPUs only, a thread may have ended). */
bool counting_has(const struct counting *c, size_t event, size_t place);
/* The kernel let us count it in user space only. */
bool counting_narrowed(const struct counting *c, size_t event);
/* NULL: it is counted somewhere. */
const struct err *counting_failure(const struct counting *c, size_t event);

#endif
