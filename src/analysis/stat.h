/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counters made into figures: summed over CPUs, cores, sockets, threads or control groups, scaled
 * where the kernel multiplexed, averaged over runs, with what follows from them (instructions per
 * cycle, miss rates, CPUs used).
 *
 *	stat_init -> stat_event ... -> stat_places -> stat_take (each run or interval) -> stat_lines
 */
#ifndef ANALYSIS_STAT_H
#define ANALYSIS_STAT_H

#include "base/arena.h"
#include "capture/count.h"
#include "host/topology.h"
#include "result/result.h"

/* What one line sums up. */
enum stat_by {
	STAT_ALL,
	STAT_CPU,
	STAT_CORE,
	STAT_CLUSTER,
	STAT_DIE,
	STAT_SOCKET,
	STAT_NODE,
	STAT_THREAD,
	STAT_CGROUP,
};

/* What an event means to a metric; STAT_ROLE_NONE: nothing. */
enum stat_role {
	STAT_ROLE_NONE,
	STAT_WALL, /* no event: time that passed */
	STAT_CLOCK,
	STAT_CYCLES,
	STAT_INSTRUCTIONS,
	STAT_BRANCHES,
	STAT_BRANCH_MISSES,
	STAT_STALLED_FRONT,
	STAT_STALLED_BACK,
	STAT_CACHE_REFS,
	STAT_CACHE_MISSES,
	STAT_L1D_LOADS,
	STAT_L1D_MISSES,
	STAT_L1I_LOADS,
	STAT_L1I_MISSES,
	STAT_LLC_LOADS,
	STAT_LLC_MISSES,
	STAT_DTLB_LOADS,
	STAT_DTLB_MISSES,
	STAT_ITLB_LOADS,
	STAT_ITLB_MISSES,
	STAT_SLOTS,
	STAT_RETIRING,
	STAT_BAD_SPEC,
	STAT_FE_BOUND,
	STAT_BE_BOUND,
};

struct stat_event {
	const char *name;
	const char *unit; /* "msec", "Joules"; "" for plain counts */
	double scale;
	enum stat_role role;
	u32 context;     /* which modifiers: only events of the same context have a ratio */
	const char *why; /* not counted: in words, and the remedy or NULL */
	const char *hint;
	bool fraction; /* shown with decimals */
};

struct stat_group {
	const char *label; /* "CPU0", "S0-D0-C1", "bash-1234"; NULL: everything */
	s32 id[3];         /* what it is sorted by */
	u32 cpus;          /* how many it sums up; 0: it is not of CPUs */
};

/* Sums of one run or interval: of each event and group. */
struct stat_span {
	struct count *sums;
	u64 wall; /* ns */
	u64 user; /* ns of the program and of its children */
	u64 system;
};

struct stat_set {
	struct arena arena;
	enum stat_by by;
	bool whole; /* the whole machine is counted */
	bool scale; /* multiplexed counts are scaled up */
	VEC(struct stat_event) events;
	VEC(struct stat_group) groups;
	u32 *group_of; /* place -> group */
	size_t n_places;
	struct count *past; /* by event and place, as of the last stat_take() */
	VEC(struct stat_span) spans;
};

void stat_init(struct stat_set *s, enum stat_by by, bool whole, bool scale);
void stat_release(struct stat_set *s);
/* What is counted, and in which groups. */
void stat_setup(struct stat_set *s, const struct event_list *events, const struct counting *c,
		const struct target *target, const struct topology *topology);
/* With STAT_THREAD a group's id is a thread, which only the caller can name. */
void stat_label_thread(struct stat_set *s, struct stat_group *g, const char *comm);
/* Adds what was counted since the last call; the span has no times yet. */
struct stat_span *stat_take(struct stat_set *s, const struct counting *c);
/* The next counts are of new counters, which begin at 0. */
void stat_restart(struct stat_set *s);
/* Forgets what was taken, but not what has been counted so far. */
void stat_forget(struct stat_set *s);

/* --- figures -------------------------------------------------------------------------------- */

struct stat_mean {
	double mean;
	double spread;    /* standard deviation of the runs */
	double error;     /* of the mean, in percent of it, as perf prints it */
	double low, high; /* the mean of endless runs is between, in 95 of 100 experiments */
	size_t runs;
};

void stat_mean_of(const double *values, size_t n, struct stat_mean *ret);
/* The value that Student's t exceeds, in either direction, with probability @p. */
double stat_student(double freedom, double p);
/* Welch's test: the probability of means that differ so much where nothing changed. */
double stat_welch(const struct stat_mean *a, const struct stat_mean *b);

struct stat_metric {
	double value;
	const char *unit; /* as perf has it: "insn per cycle", "K/sec" */
	int decimals;
	bool percent;
	enum style style;
};

enum { STAT_METRICS_MOST = 2 };
enum stat_state { STAT_COUNTED, STAT_NOT_COUNTED, STAT_NOT_SUPPORTED };

struct stat_line {
	const struct stat_event *event;
	const struct stat_group *group;
	enum stat_state state;
	struct stat_mean value;  /* scaled, in the event's unit */
	double enabled, running; /* ns, means of all runs */
	struct stat_metric metrics[STAT_METRICS_MOST];
	size_t n_metrics;
};

typedef VEC(struct stat_line) stat_lines;

/* The lines of all spans, in perf's order. */
void stat_report(const struct stat_set *s, stat_lines *ret);
/* Means of the times of all spans; @of: offsetof() of one of them in struct stat_span. */
void stat_time(const struct stat_set *s, size_t of, struct stat_mean *ret);

/* --- the table of metrics --------------------------------------------------------------------- */

/* What a metric needs to know about the other events of the same group. */
struct stat_inputs {
	const struct stat_set *stat;
	const struct stat_line *lines; /* one per event */
	double wall;                   /* ns */
};

enum stat_role stat_role_of(const struct event *ev);
size_t stat_metrics(const struct stat_inputs *in, size_t event,
		    struct stat_metric ret[STAT_METRICS_MOST]);
/* The events that a metric of that name needs, as event_parse() reads them; NULL: no such metric.
 */
const char *stat_metric_events(const char *name);
/* Names and meanings, for messages; ends with NULL. */
const char *stat_metric_name(size_t i, const char **ret_meaning);

#endif
