/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of the feed share: files in feed.c, run-time code in feed_code.c. */
#ifndef UNWIND_FEED_STATE_H
#define UNWIND_FEED_STATE_H

#include "base/intern.h"
#include "runtime/hotspot.h"
#include "runtime/mapwatch.h"
#include "unwind/feed.h"
#include "unwind/pool.h"

struct feed_file {
	struct unwind_key key;
	struct unwind_bin bin;
	struct unwind_version asked; /* with which the kernel asked last */
	bool has_cfi;
};

/* A table of which the kernel gets only the pages that it meets. */
struct feed_later {
	struct unwind_table *table;
	u16 *ids; /* the kernel's numbers of its rules */
	bool met;
};

/* A process with run-time code. */
struct feed_program {
	u32 pid;
	u32 *room; /* rows that each page of its table has */
	struct unwind_bin bin;
	struct hotspot hotspot;
	struct code_rows trampolines;
	const struct code_rows *code; /* the one or the other; NULL: nothing is known about it */
	u64 looked;                   /* when its code was walked last ... */
	u64 rests;                    /* ... and it is not again before this */
	struct mapwatch map;          /* its perf map */
	u64 gone; /* when its process was first seen to have ended; 0: not yet */
};

struct unwind_feed {
	struct unwind_feed_maps maps;
	struct pool pool;
	VEC(struct feed_file) files;
	struct map by_key;   /* hash of the key -> index + 1 */
	struct map by_build; /* hash of build id and layout -> dir << 32 | pages of its table */
	struct map by_dir;   /* dir of a table -> index in later + 1 */
	VEC(struct feed_later) later;
	struct map hints; /* hash of the key -> id in paths */
	struct intern paths;
	struct numbered numbered;
	VEC(struct python_build) pythons; /* index + 1 is known to the kernel */
	VEC(struct feed_program *) programs;
	struct code_names names; /* of run-time code */
	struct mapwatch_base map_base;
	u64 next_watch; /* CLOCK_MONOTONIC */
	u64 renewals;
	u64 renewed; /* when; or since when it is there */
	unwind_feed_new_fn *on_new;
	void *on_new_ctx;
};

/*
 * Something that the kernel may be reading, or remembers, is about to change; and it has. A walk
 * that saw the one number at its start and another at its end is done again.
 */
void feed_begin_change(struct unwind_feed *f);
void feed_end_change(struct unwind_feed *f);

void feed_program_free(struct feed_program *p);
/* All of them, as if none had been seen. */
void feed_drop_programs(struct unwind_feed *f);
/* Rules for the run-time code of a process, as its machine describes it; unwind_need asks too. */
int feed_code(struct unwind_feed *f, u32 pid, u64 program, struct err *e);

#endif
