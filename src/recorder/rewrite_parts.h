/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A recording that is being written again: only for the files rewrite*.c. */
#ifndef RECORDER_REWRITE_PARTS_H
#define RECORDER_REWRITE_PARTS_H

#include "recorder/rewrite.h"

#include "base/buf.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/vec.h"
#include "recording/recording.h"
#include "recording/writer.h"

enum { RECORD_MOST = 65536 };

struct known_id {
	bool tried;
	u8 size;
	u8 id[20];
};

/* A function of a jitdump, from the moment when it was there. */
struct jit_mapping {
	u64 time, start, size, offset;
	u32 pid;
	u32 file;  /* of jit.files */
	u32 order; /* in its dump: later ones win at the same time */
};

struct jit_file {
	char *path;
	u8 build_id[20];
};

struct rewrite_jit {
	VEC(struct jit_mapping) mappings; /* those that are still to come are sorted by time */
	size_t next;
	VEC(struct jit_file) files;
	struct map dumps; /* pid -> the number of its latest file + 1 */
	struct buf record;
};

/* The switch that a thread went to sleep with. */
struct sleeper {
	u32 size;
	u64 record[]; /* whole */
};

enum sched_kind { SCHED_OTHER, SCHED_SWITCH, SCHED_EXIT, SCHED_STAT };

struct sched_event {
	enum sched_kind kind;
	u32 pid_at, pid_size; /* of a sched_stat event: the field pid in its raw bytes */
};

struct rewrite_sched {
	VEC(struct sched_event) events; /* by number of the event */
	struct map sleepers;            /* thread -> index into kept + 1 */
	VEC(struct sleeper *) kept;
};

struct rewriter {
	const struct rewrite_opts *opts;
	struct recording *recording;
	struct recording_writer *writer;
	struct rewrite_counts *counts;
	struct intern paths;
	VEC(struct known_id) ids; /* by the number of the path */
	u64 copy[RECORD_MOST / 8];
	struct rewrite_jit jit;
	struct rewrite_sched sched;
	int fault; /* met where none can be returned */
	struct err *e;
};

/* Whether the recording can be brought together with jitdumps. */
int rewrite_jit_check(struct rewriter *w);
/* Whether a record is not to be copied: the mapping that leads to a jitdump, and what it covers. */
bool rewrite_jit_takes(struct rewriter *w, const struct record *r);
/* Writes the mappings that were there by @time. */
int rewrite_jit_until(struct rewriter *w, u64 time);
void rewrite_jit_release(struct rewriter *w);

int rewrite_sched_check(struct rewriter *w);
/* What takes the place of a sample; NULL: nothing does. */
const void *rewrite_sched_stat(struct rewriter *w, const struct record *r);
void rewrite_sched_release(struct rewriter *w);

#endif
