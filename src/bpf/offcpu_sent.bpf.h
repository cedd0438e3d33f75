/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The numbers of stacks, wakers and chains that user space has. It is allowed to forget: what is
 * not found here is sent once more, under the same number. User space clears it from time to time,
 * and then forgets what was not sent again since (waits/engine.c): so neither side grows.
 *
 * Words that are written whole: a CPU may see what another one has just put here, or not.
 */
#ifndef BPF_OFFCPU_SENT_BPF_H
#define BPF_OFFCPU_SENT_BPF_H

#include "bpf/offcpu_abi.h"

u64 offcpu_sent[OFFCPU_SENT];

/* The first of two places. */
static __always_inline u64 *offcpu_sent_at(u64 id)
{
	return &offcpu_sent[id >> 32 & (OFFCPU_SENT - 2)];
}

static __always_inline bool offcpu_sent_lookup(u64 id)
{
	u64 *at = offcpu_sent_at(id);

	return likely(READ_ONCE(at[0]) == id) || READ_ONCE(at[1]) == id;
}

/* True: it was not there, and is to be sent. */
static __always_inline bool offcpu_sent_insert(u64 id)
{
	u64 *at = offcpu_sent_at(id);

	if (offcpu_sent_lookup(id))
		return false;
	WRITE_ONCE(at[1], READ_ONCE(at[0]));
	WRITE_ONCE(at[0], id);
	return true;
}

/* It could not be sent. */
static __always_inline void offcpu_sent_invalidate(u64 id)
{
	u64 *at = offcpu_sent_at(id);

	if (READ_ONCE(at[0]) == id)
		WRITE_ONCE(at[0], 0);
	if (READ_ONCE(at[1]) == id)
		WRITE_ONCE(at[1], 0);
}

#endif
