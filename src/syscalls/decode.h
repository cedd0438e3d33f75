/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A call as text, the way strace writes it: openat(AT_FDCWD, "x", O_RDONLY) = 3 */
#ifndef SYSCALLS_DECODE_H
#define SYSCALLS_DECODE_H

#include "base/buf.h"
#include "syscalls/table.h"

struct decode_opts {
	u32 text; /* bytes of buffers that are shown, at most SYSCALLS_BYTES */
};

/* An event of the ring: its bytes are checked. */
struct decoded {
	const struct syscalls_event *event;
	const char *bytes[SYSCALLS_TAKEN];
	s32 len[SYSCALLS_TAKEN]; /* < 0: could not be read */
};

/* False: too short to be one. */
bool decode_open(const void *data, size_t size, struct decoded *ret);
/* "name(arguments)" */
void decode_call(const struct syscall_table *t, const struct decoded *d,
		 const struct decode_opts *o, struct buf *out);
/* The arguments alone. */
void decode_args(const struct syscall *call, const struct decoded *d, const struct decode_opts *o,
		 struct buf *out);
/* "3", "-1 ENOENT (No such file or directory)", "?", "1 ([{fd=3, revents=POLLIN}])" */
void decode_result(const struct syscall_table *t, const struct decoded *d, struct buf *out);

#endif
