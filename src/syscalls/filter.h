/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Conditions on calls: "ret < 0 && dur > 1ms", "fd == 3 || count >= 64k". They become rows that the
 * program in the kernel has as constants: the verifier removes what they do not ask for.
 *
 *	expression	and of them with ||
 *	and		terms with &&
 *	term		! term, ( expression ), or field operator value
 *	field		ret, errno, dur, pid, tid, comm, call, arg0 to arg5, or the name of an
 *argument operator	== != < <= > >= & value		a number, with ns us ms s or k m g; -ENOENT,
 *ENOENT; "text"; the name of a call
 */
#ifndef SYSCALLS_FILTER_H
#define SYSCALLS_FILTER_H

#include "syscalls/table.h"

enum { FILTER_NAMED = SYSCALLS_FILTER_NAMED, FILTER_NAME = 32 };

struct syscall_filter {
	struct syscalls_filter_row rows[SYSCALLS_FILTER_ROWS];
	u32 n; /* 0: everything passes */
	bool args;
	char named[FILTER_NAMED][FILTER_NAME]; /* arguments by name: FIELD_NAMED + i */
	u32 n_named;
};

int syscall_filter_parse(struct syscall_filter *f, const char *text, const struct syscall_table *t,
			 struct err *e);
/* Where a call has the named arguments; SYSCALLS_ARGS: it has none of that name. */
void syscall_filter_places(const struct syscall_filter *f, const struct syscall *call,
			   u8 ret_places[FILTER_NAMED]);

#endif
