/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How well the stacks of a recording were unwound, as the recorder counted it: for each process how
 * its stacks ended, and where those ended that did not reach the start of their thread. It travels
 * in the recording, in the section FEATURE_HEALTH.
 */
#ifndef PROFILE_HEALTH_H
#define PROFILE_HEALTH_H

#include "base/buf.h"
#include "base/err.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/vec.h"
#include "bpf/unwind_abi.h"
#include "profile/profile.h"

enum {
	HEALTH_PROCESSES_MOST = 1 << 14, /* the rest is counted under pid 0 */
	HEALTH_CUTS_MOST = 1 << 14,
	HEALTH_COMM = 16,
	HEALTH_WHY_MOST = 4096,
};

/* As in the file: numbers are never reused. */
enum health_how { HEALTH_UNKNOWN = 0, HEALTH_KERNEL = 1, HEALTH_COPIES = 2, HEALTH_FP = 3 };

struct health_process {
	s32 pid;
	char comm[HEALTH_COMM];
	u64 samples;
	u64 frames;   /* of users' stacks */
	u64 fp_steps; /* frames that were found by frame pointer */
	u64 rescued;  /* finished in user space because a table was missing */
	u64 copied;   /* unwound in user space altogether */
	u64 ends[UNWIND_END_COUNT];
};

/* Stacks of a process that ended early, at one address. */
struct health_cut {
	s32 pid;
	u32 end; /* enum unwind_end */
	u64 ip;
	u64 count;
	u32 path; /* string; 0: not looked up, or no file */
};

struct health {
	u32 how; /* enum health_how: how most were unwound */
	u64 tables;
	u64 table_bytes;
	u64 lost;
	u64 rescues_lost;
	u64 recognised, checked, misrecognised; /* stacks: see docs/waits.md */
	u64 ends[UNWIND_END_COUNT];             /* of all processes */
	VEC(struct health_process) processes;
	VEC(struct health_cut) cuts;
	struct map process_ids; /* hash of pid and comm -> index + 1 */
	struct map cut_ids;
	struct intern strings;
	char *why; /* why it was nothing better, or NULL */
};

void health_release(struct health *h);

struct health_sample {
	s32 pid;
	const char *comm; /* HEALTH_COMM bytes at most */
	u32 end;          /* enum unwind_end */
	u32 frames;
	u32 fp_steps;
	u64 last_ip; /* outermost user frame, 0: none */
	bool rescued;
	bool copied;
};

void health_add(struct health *h, const struct health_sample *s);
/* Those that have a user part, and those of them that are complete. */
u64 health_user_stacks(const struct health *h);
u64 health_complete(const struct health *h);

/* Bytes for the recording and back. A broken blob is -EBADMSG, and nothing is written. */
void health_pack(const struct health *h, struct buf *out);
int health_unpack(struct health *ret, const void *bytes, size_t n);
/*
 * What the recording at @path says, its cuts with the files in which they lie. -ENODATA when it
 * says nothing: it was not made by us, or without our unwinder.
 */
int health_load(struct health *ret, const char *path, struct err *e);
/* One line: "unwound in the kernel by CFI tables (123 files, 4.2 MB)". */
void health_text(const struct health *h, struct buf *out);
/* Facts for the profile that is made from all of the recording (@whole) or a part of it. */
void health_facts(const struct health *h, bool whole, struct profile *p);

#endif
