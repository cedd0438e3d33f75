/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Event descriptions in perf's syntax, turned into perf_event_attr.
 *
 *	cycles:u  LLC-load-misses  r1a8  1:0  cpu/event=0x3c,umask=1,period=1000/pp
 *	sched:sched_switch  'syscalls:sys_enter_*'  mem:0x601040/8:rw  {cycles,instructions}:S
 *
 * Only what the text says is set in an attr (type, config, exclude bits, precise_ip, a period or
 * frequency given as a term): the session adds what recording needs. Parsing reads sysfs and
 * tracefs but opens no event.
 */
#ifndef CAPTURE_EVENT_H
#define CAPTURE_EVENT_H

#include <linux/perf_event.h>

#include "base/err.h"
#include "base/vec.h"
#include "host/bpf_sys.h"

enum { EVENT_MOST = 4096, EVENT_TEXT_MOST = 16384 };

/* Where a stack comes from. STACK_UNSET: as the whole session. */
enum stack_mode { STACK_UNSET, STACK_NONE, STACK_FP, STACK_DWARF, STACK_LBR };

struct event {
	char *name; /* as shown, modifiers included: "cycles:u", "sched:sched_switch" */
	struct perf_event_attr attr;
	u64 late[PERFSYS_LATE]; /* config3 and config4, which the attr has no place for */
	u32 leader;         /* index of the group's leader in the list; its own index when alone */
	char *filter;       /* kernel filter text, or NULL; tracepoints only */
	char *unit;         /* "Joules", from the PMU's alias, or NULL */
	double scale;       /* counts times this are in @unit; 1 when there is none */
	char *cpus;         /* cpumask of the PMU ("0-3"): the only CPUs it counts on, or NULL */
	char *sysname;      /* tracepoints: the part before the colon, or NULL */
	bool precise_max;   /* 'P': the highest precise_ip that opens */
	bool sample_read;   /* 'S': the leader samples, the members are read */
	bool weak;          /* 'W': the group may be broken up if it cannot be scheduled */
	bool frequency_set; /* attr.freq and sample_freq come from a term */
	bool period_set;    /* attr.sample_period comes from a term */
	s8 inherit;         /* 1 or 0 by a term, -1: as the session */
	s8 overwrite;       /* likewise */
	enum stack_mode stack;
	u32 stack_size;  /* STACK_DWARF, 0: as the session */
	u32 branch_type; /* branch_sample_type, 0: none */
	u32 argument;    /* which event_parse() call it came from, counted from 0 */
};

/* Roots of the two file systems, so that tests can point elsewhere; NULL: the real ones. */
struct event_source {
	const char *sysfs_devices; /* /sys/bus/event_source/devices */
	const char *tracefs;       /* /sys/kernel/tracing */
};

struct tracefs;
struct event_list {
	VEC(struct event) events;
	u32 arguments; /* event_parse() calls so far */
	struct event_source source;
	struct tracefs *own; /* opened where tracefs is not mounted; NULL: not needed */
};

#define EVENT_LIST_INIT \
	{               \
		0       \
	}
#define _cleanup_event_list_ _cleanup_(event_list_release)

void event_list_release(struct event_list *list);

/*
 * Appends what @text (one -e argument) describes. On error nothing is appended; the message names
 * the event, the token and its column.
 */
int event_parse(struct event_list *list, const char *text, struct err *e);

/*
 * Appends the event that profiles CPU time best here: cycles if the kernel opens it, otherwise
 * cpu-clock. *ret_why (may be NULL) says in words why it is not cycles, or NULL.
 */
int event_add_default(struct event_list *list, const char **ret_why, struct err *e);

/*
 * Sets a kernel filter on the tracepoints of the last event_parse() call, after checking it
 * against their fields. Filters of several calls on the same events are joined with &&.
 */
int event_set_filter(struct event_list *list, const char *filter, struct err *e);

/* True when the kernel opens @attr for this process on any CPU (it is closed again at once). */
bool event_opens(const struct perf_event_attr *attr);

#endif
