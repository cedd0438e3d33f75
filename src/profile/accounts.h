/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long each thread lived during a recording, and what it did with that time, as the scheduler
 * counted it. It travels in the recording, in pieces of FEATURE_ACCOUNTS as threads end and in the
 * section of that number (the whole of it in older recordings). Each is "FACC", a byte 2,
 * then a message as protocol buffers have them (base/varint.h), with times in ns on the
 * recording's clock:
 *	1	a thread: pid 1, tid 2, flags 3, begin 4, length 5, on CPU 6, blocked 7, runnable 8,
 *		unknown 9, name 10, by ticks in user 11 and kernel 12, switches 13, preemptions 14,
 *		minor 15 and major 16 faults, number of the control group 17
 *	2	a control group: number 1, path 2
 *	3	--wait-period
 *	4	--wait-min
 * In older recordings the byte is 1 and what follows are, until the end, as ULEB128,
 *	pid, tid, flags, begin, length, on CPU, blocked, runnable, unknown, comm length, comm
 */
#ifndef PROFILE_ACCOUNTS_H
#define PROFILE_ACCOUNTS_H

#include "base/buf.h"
#include "base/err.h"
#include "base/map.h"
#include "profile/load.h"

struct record;
struct recording;

enum { ACCOUNTS_MOST = 1 << 22, ACCOUNT_COMM_MOST = 64 };

/* The section is begun by what is common to all: how waits were chosen. */
void accounts_begin(struct buf *out, u64 wait_period, u64 wait_min);
void accounts_add_cgroup(struct buf *out, u64 number, const char *path);
/* @a->comm and @a->cgroup are those of another profile: here they are named. */
void accounts_add(struct buf *out, const struct profile_account *a, const char *comm, u64 cgroup);
/* Into p->accounts; -EBADMSG with nothing taken when the bytes are broken. */
int accounts_read(struct profile *p, const void *bytes, size_t n, struct err *e);

/* Accounts of a recording that is replayed. A broken part is counted as a bad record. */
struct accounts_source {
	struct map cgroups; /* string of "[number]" -> string of the path */
};

void accounts_record(struct accounts_source *s, struct profile *p, const struct record *r);
/* All records have passed: the section, without which none counts, and names of control groups. */
void accounts_take(struct accounts_source *s, struct profile *p, const struct recording *r);
/* Leaves those that the filters of a loading leave; none where a filter cuts through threads. */
void accounts_filter(struct profile *p, const struct load_opts *opts);

#endif
