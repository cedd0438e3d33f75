/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording as text, line by line in order of time: what `perf script` prints, to the column,
 * because scripts of other people parse it.
 */
#ifndef VIEW_SCRIPT_H
#define VIEW_SCRIPT_H

#include "base/buf.h"
#include "base/err.h"
#include "base/parse.h"
#include "recording/recording.h"

/* The fields of a sample's line. */
enum script_field {
	SCRIPT_COMM = 1 << 0,
	SCRIPT_TID = 1 << 1,
	SCRIPT_PID = 1 << 2,
	SCRIPT_TIME = 1 << 3,
	SCRIPT_CPU = 1 << 4,
	SCRIPT_EVENT = 1 << 5,
	SCRIPT_TRACE = 1 << 6,
	SCRIPT_IP = 1 << 7,
	SCRIPT_SYM = 1 << 8,
	SCRIPT_DSO = 1 << 9,
	SCRIPT_ADDR = 1 << 10,
	SCRIPT_SYMOFF = 1 << 11,
	SCRIPT_PERIOD = 1 << 12,
	SCRIPT_IREGS = 1 << 13,
	SCRIPT_UREGS = 1 << 14,
	SCRIPT_BRSTACK = 1 << 15,
	SCRIPT_BRSTACKSYM = 1 << 16,
	SCRIPT_DATA_SRC = 1 << 17,
	SCRIPT_WEIGHT = 1 << 18,
	SCRIPT_BPF_OUTPUT = 1 << 19,
	SCRIPT_PHYS_ADDR = 1 << 20,
	SCRIPT_MISC = 1 << 21,
	SCRIPT_TOD = 1 << 22,
	SCRIPT_DATA_PAGE_SIZE = 1 << 23,
	SCRIPT_CODE_PAGE_SIZE = 1 << 24,
	SCRIPT_CGROUP = 1 << 25, /* ours */
	SCRIPT_FLAGS = 1 << 26,
	SCRIPT_SRCLINE = 1 << 27,
	SCRIPT_INS_LAT = 1 << 28,
	SCRIPT_DSOFF = 1 << 29,
	SCRIPT_INSN = 1 << 30,
	SCRIPT_INSNLEN = 1ull << 32,
	SCRIPT_BRSTACKOFF = 1ull << 33,
	SCRIPT_RETIRE_LAT = 1ull << 34,
	SCRIPT_MEMORY =
		SCRIPT_ADDR | SCRIPT_DATA_SRC | SCRIPT_WEIGHT | SCRIPT_INS_LAT | SCRIPT_RETIRE_LAT,
};

/* Events have default fields by their type; "sw:" and the like in -F choose one. */
enum script_type {
	SCRIPT_HW,
	SCRIPT_SW,
	SCRIPT_TRACEPOINT,
	SCRIPT_CACHE,
	SCRIPT_RAW,
	SCRIPT_BREAKPOINT,
	SCRIPT_SYNTH,
	SCRIPT_OTHER,
	SCRIPT_TYPES,
};

struct script_type_fields {
	u64 fields;
	u64 asked;    /* named by the user: missing data is an error, not a smaller line */
	bool changed; /* the user set fields for this type */
};

struct script_fields {
	struct script_type_fields types[SCRIPT_TYPES];
};

/* The fields that perf shows unless asked. */
void script_fields_init(struct script_fields *f);
/* One -F: "comm,ip", "+srcline,-cpu", "trace:time,event"; a later one changes the earlier. */
int script_fields_parse(struct script_fields *f, const char *text, struct err *e);
/* Fits the fields to what the recording's events carry; @chains: call chains are shown. */
int script_fields_fit(struct script_fields *f, const struct recording *r, bool chains,
		      struct err *e);
enum script_type script_type_of(u32 perf_type);

/* Records that are not samples, shown on request. */
enum script_show {
	SCRIPT_SHOW_TASK = 1 << 0,
	SCRIPT_SHOW_MMAP = 1 << 1,
	SCRIPT_SHOW_SWITCH = 1 << 2,
	SCRIPT_SHOW_LOST = 1 << 3,
	SCRIPT_SHOW_NAMESPACE = 1 << 4,
	SCRIPT_SHOW_CGROUP = 1 << 5,
	SCRIPT_SHOW_BPF = 1 << 6,
};

struct script_opts {
	struct script_fields fields;
	u32 show;       /* enum script_show */
	bool ns;        /* nine digits of a second */
	bool no_chains; /* the sampled address alone */
	bool no_inline; /* one line per frame, also where functions were inlined */
	bool no_kernel; /* leave these frames out of chains */
	bool no_user;
	bool reltime;                               /* time since the first line */
	bool deltatime;                             /* time since the line before */
	u64 max_stack;                              /* 0: all */
	const char *comms, *dsos, *symbols, *event; /* comma-separated globs, NULL: all */
	const char *stop_bt;                        /* chains end at these functions */
	const char *guest_kallsyms, *guest_modules; /* files with the names of a guest, or NULL */
	const range_list *pids, *tids, *cpus;       /* NULL or empty: all */
	u64 time_from, time_to;                     /* ns on the recording's clock, 0: open */
	bool time_relative;                         /* to the first sample */
};

/* Takes the text in pieces; anything but 0 ends the run, which returns it. */
typedef int (*script_write_fn)(void *ctx, const char *text, size_t n);

/* Replays @r into text. What could not be shown is in recording_counts() and the like. */
int script_run(struct recording *r, const struct script_opts *opts, script_write_fn write,
	       void *ctx, struct err *e);

/* The header of the file as comment lines; @all: also the long sections (topology, caches). */
void script_header(const struct recording *r, u64 file_time, bool all, struct buf *out);
/*
 * Appends an event's attributes, all that are not 0, as "type: 1, size: 128". @first comes before
 * the first of them, @equals between name and value.
 */
void script_attr(const struct perf_event_attr *attr, const char *first, const char *equals,
		 struct buf *out);

#endif
