/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What src/bpf/syscalls.bpf.c and user space share: fixed-width types only. */
#ifndef BPF_SYSCALLS_ABI_H
#define BPF_SYSCALLS_ABI_H

#include <linux/types.h>

enum {
	SYSCALLS_MOST = 1024, /* numbers below this are known */
	SYSCALLS_ARGS = 6,
	SYSCALLS_TAKEN = 2,   /* arguments of a call whose memory is taken */
	SYSCALLS_BYTES = 256, /* of each */
	SYSCALLS_GROUPS = 8,  /* control groups that can be asked for */
	SYSCALLS_COMM = 16,
	SYSCALLS_BUCKETS = 40, /* bucket i counts [2^(i-1), 2^i) ns */
};

/* What is taken of an argument that is an address. */
enum syscalls_take {
	SYSCALLS_TEXT = 1,  /* up to a NUL, when the call begins */
	SYSCALLS_IN,        /* as many bytes as another argument says */
	SYSCALLS_IN_FIXED,  /* as many as the table says */
	SYSCALLS_OUT,       /* when it ends, as many as it returned */
	SYSCALLS_OUT_FIXED, /* then as many as the table says */
};

struct syscalls_taken {
	__u8 take;     /* 0: nothing */
	__u8 argument; /* which */
	__u8 length;   /* SYSCALLS_IN: the argument that says how many */
	__u8 size;     /* _FIXED */
};

/* By the number of a call. */
struct syscalls_call {
	__u8 wanted;
	__u8 never_returns;
	struct syscalls_taken taken[SYSCALLS_TAKEN];
};

/* Of a process that is asked for. */
enum syscalls_state {
	SYSCALLS_NOW = 1,
	SYSCALLS_FROM_EXEC, /* it is ours until its first execve() that succeeds */
};

enum syscalls_flags {
	SYSCALLS_UNFINISHED = 1, /* it never returns */
};

struct syscalls_event {
	__u64 end; /* CLOCK_MONOTONIC */
	__u64 ns;  /* how long it took */
	__s64 ret;
	__u64 args[SYSCALLS_ARGS];
	__u32 pid;
	__u32 tid;
	__u32 nr;
	__u32 flags;
	char comm[SYSCALLS_COMM];
	__s16 len[SYSCALLS_TAKEN]; /* < 0: could not be read */
	__u32 pad;
};

/* The same, with what was taken. */
struct syscalls_long {
	struct syscalls_event e;
	char bytes[SYSCALLS_TAKEN][SYSCALLS_BYTES];
};

struct syscalls_key {
	__u32 tid;
	__u32 nr;
};

struct syscalls_sum {
	__u64 count;
	__u64 errors;
	__u64 ns;
	__u64 square_low; /* of the durations, 128 bits */
	__u64 square_high;
	__u64 min;
	__u64 max;
	__u32 pid;
	__u32 flags;
	char comm[SYSCALLS_COMM];
	__u32 buckets[SYSCALLS_BUCKETS];
};

enum syscalls_count {
	SYSCALLS_LOST,    /* events that found no room in the ring */
	SYSCALLS_NO_SUM,  /* calls that found no room in the table of sums */
	SYSCALLS_NO_ROOM, /* threads for which there was no memory */
	SYSCALLS_UNKNOWN, /* calls beyond SYSCALLS_MOST */
	SYSCALLS_COMPAT,  /* calls of 32-bit programs, whose numbers mean other calls */
	SYSCALLS_COUNTS,
};

#endif
