/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CPython's frames as the kernel program finds them, and how they are in a stack.
 *
 * Since 3.11 the interpreter keeps the Python functions that one call of its loop runs in a list
 * of its own; only the loop itself has a frame on the C stack. In that frame lies a variable that
 * the list leads to (the anchor): so the list is cut into pieces, and each piece has its place in
 * the native stack, by comparing addresses. No counting of calls, no range of code is needed.
 */
#ifndef BPF_RUNTIME_PYTHON_H
#define BPF_RUNTIME_PYTHON_H

#include <linux/types.h>

enum {
	UNWIND_PYTHONS = 64,           /* different builds of Python at once */
	UNWIND_PYTHON_WORDS = 1024,    /* frames and anchors of one thread */
	UNWIND_PYTHON_THREADS = 512,   /* of a process that are looked through */
	UNWIND_PYTHON_SEEN = 256,      /* threads that are remembered on each CPU, ... */
	UNWIND_PYTHON_LINE = 32,       /* ... and how many of them in one piece of memory */
	UNWIND_PYTHON_FRAME_WORDS = 9, /* of the interpreter's frame that are read */
	UNWIND_PYTHON_NEW = 8192,      /* code objects that were seen already */
	UNWIND_PYTHON_SHIM = 3, /* owner of a frame that only marks an entry (from 3.12 on) */
};

/*
 * A Python frame among the addresses of a stack: bit 63, the code object's address (8-byte aligned,
 * below 2^47), and the instruction's number in it.
 */
#define UNWIND_PYTHON_BIT        (1ull << 63)
#define UNWIND_PYTHON_INSTR_BITS 19
#define UNWIND_PYTHON_NO_INSTR   ((1u << UNWIND_PYTHON_INSTR_BITS) - 1)

static inline __u64 unwind_python_word(__u64 code, __u64 instr)
{
	instr = instr < UNWIND_PYTHON_NO_INSTR ? instr : UNWIND_PYTHON_NO_INSTR;
	return UNWIND_PYTHON_BIT | code >> 3 << UNWIND_PYTHON_INSTR_BITS | instr;
}

static inline __u64 unwind_python_code(__u64 word)
{
	return (word & ~UNWIND_PYTHON_BIT) >> UNWIND_PYTHON_INSTR_BITS << 3;
}

static inline __u32 unwind_python_instr(__u64 word)
{
	return word & UNWIND_PYTHON_NO_INSTR;
}

/* A hash of what functions are called, innermost first: one step, and the part that is sent. */
static inline __u64 unwind_python_named(__u64 hash, __u64 name)
{
	return (hash ^ name) * 0x9e3779b97f4a7c15ull;
}

static inline __u32 unwind_python_names(__u64 hash)
{
	return hash >> 32;
}

/* Where one build of Python keeps what. Offsets in bytes. */
struct unwind_python {
	__u64 runtime; /* from where the file's first byte would be mapped to _PyRuntime */
	__u32 runtime_interpreters;
	__u32 interpreter_next;
	__u32 interpreter_threads;
	__u32 thread_prev;
	__u32 thread_next;
	__u32 thread_id; /* the value of pthread_self() */
	__u32 thread_frame;
	__u32 has_cframe; /* thread_frame leads to a structure on the stack (before 3.13) */
	__u32 cframe_frame;
	__u32 cframe_previous;
	__u32 frame_code;
	__u32 frame_previous;
	__u32 frame_instr;
	__u32 frame_entry; /* a byte: with shims its owner, otherwise whether it is an entry */
	__u32 has_shims;
	__u32 code_instrs; /* first instruction, in the code object */
	__u32 code_name;   /* what it is called: tells it from one that had its address before */
	__u32 pad;
};
_Static_assert(sizeof(struct unwind_python) == 80, "shared with BPF");

#endif
