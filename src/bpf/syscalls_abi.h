/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What src/bpf/syscalls.bpf.c and user space share: fixed-width types only. */
#ifndef BPF_SYSCALLS_ABI_H
#define BPF_SYSCALLS_ABI_H

#include <linux/types.h>

enum {
	SYSCALLS_MOST = 1024, /* numbers below this are known */
	SYSCALLS_ARGS = 6,
	SYSCALLS_TAKEN = 4,   /* pieces of memory that are taken of a call */
	SYSCALLS_FEW = 2,     /* this number travels where it is enough */
	SYSCALLS_BYTES = 256, /* of each */
	SYSCALLS_TEXTS = 16,  /* strings of a list, in the pieces after the first */
	SYSCALLS_TEXT_ROOM = 48,
	SYSCALLS_PARTS = 8, /* of a list of buffers: how many are taken, and how much of each */
	SYSCALLS_PART_ROOM = 32,
	SYSCALLS_GROUPS = 8, /* control groups that can be asked for */
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
	SYSCALLS_OUT_TEXT,  /* then up to a NUL */
	SYSCALLS_AFTER,     /* as _IN, when it ends */
};

/* What takes several pieces. */
enum syscalls_special {
	SYSCALLS_LIST_TEXTS = 1, /* pieces 1 to 3: strings of a list that ends with NULL */
	SYSCALLS_VECTOR_IN,      /* 0: struct iovec, 1: parts of the buffers */
	SYSCALLS_VECTOR_OUT,     /* the same when it ends */
	SYSCALLS_MESSAGE_IN,     /* 0: struct msghdr, 1, 2: as above, 3: the name */
	SYSCALLS_MESSAGE_OUT,
};

struct syscalls_taken {
	__u8 take;     /* 0: nothing */
	__u8 argument; /* which */
	__u8 length;   /* _IN, _AFTER: the argument that says how many */
	__u8 size;     /* _FIXED: all of it; otherwise of an element, 0 is 1 */
};

enum {
	SYSCALLS_FILTER_ROWS = 12,
	SYSCALLS_FILTER_NAMED = 4,
	/* where a row continues */
	SYSCALLS_FILTER_YES = 254,
	SYSCALLS_FILTER_NO = 255,
};

enum syscalls_field {
	SYSCALLS_FIELD_RET,
	SYSCALLS_FIELD_DUR, /* ns */
	SYSCALLS_FIELD_ERRNO,
	SYSCALLS_FIELD_PID,
	SYSCALLS_FIELD_TID,
	SYSCALLS_FIELD_NR,
	SYSCALLS_FIELD_COMM,
	SYSCALLS_FIELD_ARG,                                        /* and the next five */
	SYSCALLS_FIELD_NAMED = SYSCALLS_FIELD_ARG + SYSCALLS_ARGS, /* by syscalls_call.named */
};

enum syscalls_op {
	SYSCALLS_OP_EQ = 1,
	SYSCALLS_OP_NE,
	SYSCALLS_OP_LT, /* numbers have a sign */
	SYSCALLS_OP_LE,
	SYSCALLS_OP_GT,
	SYSCALLS_OP_GE,
	SYSCALLS_OP_AND, /* a bit of both */
};

struct syscalls_filter_row {
	__u64 value;
	__u64 more; /* the second half of a name */
	__u8 field;
	__u8 op;
	__u8 yes; /* a later row, or one of SYSCALLS_FILTER_ */
	__u8 no;
	__u8 pad[4];
};

/* By the number of a call. */
struct syscalls_call {
	__u8 wanted;
	__u8 never_returns;
	__u8 pieces; /* how many of them are used */
	__u8 special;
	__u8 named[SYSCALLS_FILTER_NAMED]; /* arguments that the filter names; SYSCALLS_ARGS: none
					    */
	struct syscalls_taken of;          /* @special */
	struct syscalls_taken taken[SYSCALLS_TAKEN];
};

/* Of a process requested. */
enum syscalls_state {
	SYSCALLS_NOW = 1,
	SYSCALLS_FROM_EXEC, /* it is ours until its first execve() that succeeds */
};

enum syscalls_flags {
	SYSCALLS_UNFINISHED = 1, /* it never returns */
	SYSCALLS_MAJOR = 2,      /* no call, but a page fault: args[0] touched args[1] */
	SYSCALLS_MINOR = 4,
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
	/*
	 * < 0: could not be read. Of strings of a list, and of parts of buffers: which were read,
	 * by bit; of the piece after strings: how many there are.
	 */
	__s16 len[SYSCALLS_TAKEN];
	__u64 stack; /* a number of struct lang_stack; 0: none, negative: it could not be kept */
};

/* The same, with what was taken. */
struct syscalls_some {
	struct syscalls_event e;
	char bytes[SYSCALLS_FEW][SYSCALLS_BYTES];
};

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
	SYSCALLS_MAJORS,  /* page faults */
	SYSCALLS_MINORS,
	SYSCALLS_COUNTS,
};

#endif
