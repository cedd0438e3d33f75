/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long each thread lived during a recording, and what it did with that time, as the scheduler
 * counted it. It travels in the recording, in the section FEATURE_FATHOM + 5: "FACC", a byte 1,
 * then until the end, as ULEB128,
 *	pid, tid, flags, begin, length, on CPU, blocked, runnable, unknown, comm length, comm
 * with times in ns on the recording's clock.
 */
#ifndef PROFILE_ACCOUNTS_H
#define PROFILE_ACCOUNTS_H

#include "base/buf.h"
#include "base/err.h"
#include "profile/load.h"

enum { ACCOUNTS_SECTION = 5, ACCOUNTS_MOST = 1 << 22, ACCOUNT_COMM_MOST = 64 };

/* The first adds the head. */
void accounts_add(struct buf *out, const struct profile_account *a, const char *comm);
/* Into p->accounts; -EBADMSG with nothing taken when the bytes are broken. */
int accounts_read(struct profile *p, const void *bytes, size_t n, struct err *e);
/* Leaves those that the filters of a loading leave; none where a filter cuts through threads. */
void accounts_filter(struct profile *p, const struct load_opts *opts);

#endif
