/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A wait on disk: up to four kinds of ordinary samples, tied together by their raw data.
 */
#ifndef RECORDING_WAIT_H
#define RECORDING_WAIT_H

#include "base/base.h"
#include "bpf/offcpu_abi.h"

enum wait_event {
	WAIT_EVENT_BLOCKED = 0,
	WAIT_EVENT_RUNQ = 1,
	WAIT_EVENT_WAKER = 2,
	WAIT_EVENT_CHAIN = 3,
	WAIT_EVENTS = 4,
};

#define WAIT_RECORD_MAGIC 0x31434f46u /* "FOC1" */

/* The raw data of a wait's samples, on disk. */
struct wait_record {
	u32 magic;
	u32 event; /* enum wait_event */
	u64 seq;   /* of the wait; all its samples have it */
	u64 blocked;
	u64 runq;
	u32 state;
	s32 syscall;
	u32 flags;    /* enum offcpu_flags */
	u32 link;     /* WAKER: 0; CHAIN: which link */
	u32 kind;     /* enum offcpu_waker of that link */
	u32 is_sleep; /* CHAIN: the stack is that in which the waker of the link before had slept */
	u32 pid, tid; /* RUNQ: who ran before it on that CPU; otherwise of the sample */
	char comm[OFFCPU_COMM]; /* likewise */
	u32 pad;
} PACKED;
_Static_assert(sizeof(struct wait_record) == 84, "4 more than a multiple of 8: perf's rule");

#endif
