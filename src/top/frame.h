/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is drawn: plain data that a collector has made and that is constant afterwards, so that
 * drawing never waits for collecting, and a test can draw what it likes.
 */
#ifndef TOP_FRAME_H
#define TOP_FRAME_H

#include "base/arena.h"
#include "counters/snapshot.h"
#include "tui/meter.h"

/* A task with all that its columns show. Strings live in the frame. */
struct top_task {
	struct task_row row;
	const char *user;
	const char *command; /* with arguments; the name of the thread where there are none */
	const char *cgroup;  /* path; "" unknown */
	const char *container;
	u64 time; /* ns on CPUs in all its life; UINT64_MAX: not known */
};

/* A line of a meter. */
struct top_meter {
	const char *group; /* key of the table of meters: "cpu" */
	const char *label;
	const char *text;
	const char *counter; /* for help */
	double share;        /* sum of the parts, for the graph */
	struct meter_part parts[METER_PARTS];
	size_t n_parts;
};

enum { SHEET_COLUMNS = 24 };

/* A table of things other than tasks: disks, interfaces, groups. */
struct top_sheet {
	const char *name;
	const struct monitor_table *def;
	VEC(struct sheet_row {
		const char *instance;
		double values[SHEET_COLUMNS]; /* not a number: not known */
	})
	rows;
};

enum { TOP_SHEETS = 8, FRAME_OWN = 16 };

/* How the rows and the CPU meter agree, ns. */
struct top_account {
	double meter, rows, dead, irq, steal, orphans, unknown;
};

struct machine_frame {
	struct arena arena;
	u64 mono, boot, wall;
	double seconds; /* of the interval */
	double memory;  /* of the machine, bytes */
	double uptime;
	double load[3];
	u32 cpus;
	bool threads; /* rows are threads */
	bool past;    /* not the newest: idle tasks and lives are not known */
	bool by_bpf;
	u32 n_tasks;     /* threads that live */
	u32 n_processes; /* processes that live */
	u32 n_running;
	u64 lost; /* ends of tasks that were not seen */
	VEC(struct top_task) tasks;
	VEC(struct top_meter) meters;
	struct top_sheet sheets[TOP_SHEETS];
	size_t n_sheets;
	struct top_account account;
	double own[FRAME_OWN]; /* formulas of the user's columns; not a number: not known */
	size_t n_own;
	/* own cost */
	u64 collect_ns; /* CPU time of the sweep and of making this */
	double own_percent;
	u64 own_rss;
	u32 pace;        /* looks are this many times rarer than asked for: the budget */
	u64 interval_ns; /* as it is now; longer than asked for when that would cost too much */
	/* the past */
	size_t at, kept; /* this is number @at of @kept */
	u64 kept_bytes;
	char note[256]; /* of machine_source_save() */
	bool note_bad;
	u64 oldest, newest; /* wall clock of what is kept */
};

void machine_frame_free(struct machine_frame *f);

#endif
