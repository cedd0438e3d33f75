/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code of one process that its run-time compiler named: a perf map, a jitdump, and the entries
 * that a recording carries. Files are found, checked and read again as they grow.
 */
#ifndef RUNTIME_JIT_H
#define RUNTIME_JIT_H

#include "runtime/jitdump.h"
#include "runtime/perfmap.h"

#include <sys/stat.h>
#include <sys/types.h>

/*
 * Opens the jitdump in one of several ways, tried from 0 upwards: a descriptor; -ENOENT where the
 * way does not lead to it; -ENOTSUP: there is no such way, nor a later one.
 */
typedef int (*jit_open_fn)(const void *ctx, unsigned int way);

struct jit {
	pid_t pid;
	uid_t uid;    /* of the process; (uid_t)-1 unknown */
	bool offline; /* no file of this machine is read unless a root is given */
	struct perfmap map;
	struct jitdump carried; /* from the recording */
	u64 ino;                /* of the file, to see it replaced */
	u64 consumed;           /* bytes of it */
	u64 most;               /* of them are read; 0: all */
	bool keep;              /* what a map had that was written again: ... */
	size_t kept;            /* that many entries */
	u32 rewritten;          /* how often it was */
	u8 tail[16];            /* the last bytes that were read, to see it rewritten */
	u64 next_read_ns;
	u64 read_ns;     /* of the last reading */
	const char *why; /* there are no names, or not all; NULL: nothing is known to be missing */
	jit_open_fn open_dump; /* NULL: it has no jitdump */
	const void *open_ctx;
	struct jitdump dump;
	u64 dump_ino;
};

void jit_init(struct jit *j, pid_t pid, bool offline);
void jit_release(struct jit *j);

/* "/tmp/jit-123.dump": whether a mapping of this file says that it is a jitdump. */
bool jit_is_dump(const char *path);
/* The process has mapped another jitdump: the latest is the one that is written to. */
void jit_set_dump(struct jit *j, jit_open_fn open_dump, const void *ctx);

/* The code at an address, from one of the two. */
struct jit_code {
	struct jitdump_entry *dumped;
	struct jitdump *strings; /* of @dumped */
	struct perfmap_entry *mapped;
};

/* Reads what is new in the perf map; its entries are appended to those of j->map. */
void jit_read(struct jit *j, pid_t nspid, const char *root);
int jit_stat(const struct jit *j, struct stat *ret);
/*
 * A root of NULL is /proc/PID/root, a @nspid of 0 is read from /proc. An address that is not known
 * makes the files be read again, but not too often; @time_ns as for symbols_jit().
 */
bool jit_find(struct jit *j, pid_t nspid, const char *root, u64 address, u64 time_ns,
	      struct jit_code *ret);
/* The line of the code at an address as its jitdump has it; NULL: none. */
const struct jitdump_line *jit_line(struct jit *j, u64 address, u64 time_ns);

/* How a function made at run time is unwound, as its jitdump describes. */
struct jit_unwind {
	u64 eh_frame_address; /* of .eh_frame: its pointers are relative to that */
	size_t eh_frame_size; /* the bytes begin with .eh_frame; .eh_frame_hdr is after it */
};

/* Appends the bytes of the unwind information. -ENOENT when there are none for this address. */
int jit_unwind_bytes(struct jit *j, u64 address, u64 time_ns, struct jit_unwind *ret,
		     struct buf *ret_bytes);
/* Appends the instructions of the function at @address, at most @max bytes; -ENOENT: none. */
int jit_code_bytes(struct jit *j, u64 address, u64 time_ns, size_t max, struct buf *ret);
/* How often until @time_ns code took the place of other code; 0: in all, as its dump is now. */
u64 jit_changes(struct jit *j, u64 time_ns);

#endif
