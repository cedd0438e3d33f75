/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the unwinder in the kernel and its user-space half share: rules, the layout of the table
 * maps, the reasons for which a stack ends, and the records in the ring. Fixed-width types only;
 * numbers are written out and never reused, because they reach recordings.
 */
#ifndef BPF_UNWIND_ABI_H
#define BPF_UNWIND_ABI_H

#include <linux/types.h>

/* How the CFA (the caller's stack pointer) is found. */
enum unwind_cfa {
	UNWIND_CFA_END = 0,      /* no frame information here */
	UNWIND_CFA_SP = 1,       /* sp + cfa_off */
	UNWIND_CFA_BP = 2,       /* bp + cfa_off */
	UNWIND_CFA_PLT = 3,      /* sp + 8 + ((ip & 15) >= cfa_off ? 8 : 0) */
	UNWIND_CFA_SP_DEREF = 4, /* *(sp + cfa_off) + aux */
	UNWIND_CFA_BP_DEREF = 5, /* *(bp + cfa_off) + aux */
	UNWIND_CFA_SIGNAL = 6,   /* a signal frame: all registers are on the stack */
	UNWIND_CFA_UNSUP = 7,    /* a rule that we do not know */
	UNWIND_CFA_REG = 8,      /* reg + cfa_off; where that register is known */
	UNWIND_CFA_STOP = 9,     /* the outermost frame: the return address is undefined */
	UNWIND_CFA_FAR_FP = 10,  /* by frame pointer, to a frame on another stack */
};

/* How the caller's frame pointer register is found. */
enum unwind_bp {
	UNWIND_BP_SAME = 0,
	UNWIND_BP_CFA = 1, /* *(cfa + bp_off) */
	UNWIND_BP_BP = 2,  /* *(bp + bp_off) */
	UNWIND_BP_SP = 3,  /* *(sp + bp_off) */
	UNWIND_BP_VAL = 4, /* cfa + bp_off */
	UNWIND_BP_REG = 5, /* register bp_off; only where all registers are known */
};

/* How the return address is found. */
enum unwind_ra {
	UNWIND_RA_STD = 0, /* *(cfa - 8) */
	UNWIND_RA_OFF = 1, /* *(cfa + aux) */
	UNWIND_RA_REG = 2, /* register aux; only where all registers are known */
	UNWIND_RA_FP = 3,  /* *(bp + 8), while the caller's stack pointer is elsewhere */
};

/*
 * rbx is followed too, because the dynamic linker's resolver keeps its frame in it. Where the
 * caller's rbx lies is only remembered; it is read when a frame needs it.
 */
#define UNWIND_BX_LOST (-32768)

/*
 * Registers in the order in which the kernel saves them in a signal frame, so that one read of
 * that frame replaces them all. Rules name registers by these numbers, not by DWARF's.
 */
enum unwind_reg {
	UNWIND_REG_R8 = 0,
	UNWIND_REG_R9 = 1,
	UNWIND_REG_R10 = 2,
	UNWIND_REG_R11 = 3,
	UNWIND_REG_R12 = 4,
	UNWIND_REG_R13 = 5,
	UNWIND_REG_R14 = 6,
	UNWIND_REG_R15 = 7,
	UNWIND_REG_DI = 8,
	UNWIND_REG_SI = 9,
	UNWIND_REG_BP = 10,
	UNWIND_REG_BX = 11,
	UNWIND_REG_DX = 12,
	UNWIND_REG_AX = 13,
	UNWIND_REG_CX = 14,
	UNWIND_REG_SP = 15,
	UNWIND_REG_IP = 16,
	UNWIND_REGS = 17,
};

/* From the stack pointer of a signal frame to its saved registers. */
#define UNWIND_SIGNAL_REGS 40

struct unwind_rule {
	__u8 cfa; /* enum unwind_cfa */
	__u8 bp;  /* enum unwind_bp */
	__u8 ra;  /* enum unwind_ra */
	__u8 reg; /* UNWIND_CFA_REG */
	__s32 cfa_off;
	__s16 bp_off;
	__s16 bx_off; /* rbx is saved at cfa + bx_off; 0: not saved, UNWIND_BX_LOST */
	__s32 aux;
};
_Static_assert(sizeof(struct unwind_rule) == 16, "shared with BPF");

/* Rule ids are 16 bits wide in a row; these two exist in every table. */
enum { UNWIND_RULE_END = 0, UNWIND_RULE_UNSUP = 1, UNWIND_MAX_RULES = 16384 };
/* What a look-up in the kernel may return instead of a rule id. */
enum {
	UNWIND_NO_TABLE = 0xfffd,  /* a file whose table is not there yet */
	UNWIND_NO_CFI = 0xfffe,    /* code that belongs to no file */
	UNWIND_NO_MAP = 0xffff,    /* not an executable mapping */
	UNWIND_IN_PYTHON = 0x4000, /* a bit on a rule id: in the file of a Python */
};

/*
 * A row is low16(file offset) << 16 | rule. Rows are cut into pages of 64 KB of file; a page
 * begins with a row of low16 == 0 that holds the rule in force there.
 */
enum {
	UNWIND_PAGE_BITS = 16,
	UNWIND_CHUNK_BITS = 14, /* rows that one array element of the pool holds */
	UNWIND_CHUNK_ROWS = 1 << UNWIND_CHUNK_BITS,
	UNWIND_PAGE_ROWS = UNWIND_CHUNK_ROWS - 1, /* most rows of a page: it is in one chunk */
	UNWIND_SLAB_CHUNKS_BITS = 4,              /* chunks of one inner map: 1 MB */
	UNWIND_SLAB_CHUNKS = 1 << UNWIND_SLAB_CHUNKS_BITS,
	UNWIND_MAX_SLABS = 1024,
};

struct unwind_page {
	__u32 first; /* row of the pool or table */
	__u32 count; /* 0: nothing known about this page; UNWIND_PAGE_LATER: it must be asked for */
};
#define UNWIND_PAGE_LATER 0xffffffffu
_Static_assert(sizeof(struct unwind_page) == 8, "two rows of the pool");

struct unwind_chunk {
	__u32 row[UNWIND_CHUNK_ROWS];
};

/*
 * A file as the kernel knows it. The vDSO is inode 1 of device 0. The run-time code of a process
 * is the inode of its pid on UNWIND_CODE_DEV, and its "size" is the number of its memory.
 */
#define UNWIND_CODE_DEV 0xffffffffu
struct unwind_key {
	__u64 ino;
	__u32 dev; /* major << 20 | minor */
	__u32 pad;
};

/*
 * Which content a file has. A file that is written again in place keeps its number and often its
 * size, and a new one may get the number of one that was deleted: its change time tells. All zero
 * for what is not a file.
 */
struct unwind_version {
	__u64 size;
	__u64 changed;    /* ns since 1970 */
	__u32 generation; /* of the inode number; 0: not known */
	__u32 pad;
};

/* Where the table of a file lies: its pages are written into the pool too, two rows each. */
struct unwind_bin {
	struct unwind_version version;
	__u64 base; /* run-time code: the address of its first page */
	__u32 dir;  /* position of the first struct unwind_page, in rows */
	__u32 pages;
	__u32 python; /* index in unwind_pythons, 0: none */
	__u32 number; /* of the file, for places in it; 0: none */
};

/*
 * Where code is: instead of its address a place in a file, by the file's number. Processes that run
 * the same code have the same places, whatever their addresses are, and a place means the same when
 * the process is gone. An address that is in no file stays what it is.
 */
#define UNWIND_PLACE_BIT    (1ull << 62) /* addresses of users have neither this nor the next */
#define UNWIND_PLACE_OFFSET 40           /* bits of the offset in the file */
enum { UNWIND_FILES = 8192 };            /* that can be known at once */
_Static_assert(UNWIND_FILES < 1ull << (62 - UNWIND_PLACE_OFFSET), "room for their numbers");

static inline __u64 unwind_place(__u32 number, __u64 offset)
{
	return UNWIND_PLACE_BIT | (__u64)number << UNWIND_PLACE_OFFSET | offset;
}

/*
 * An interpreted method of java among the addresses of a stack, in the place of its interpreter: by
 * where its machine keeps it (8-byte aligned, below 2^47). Odd, so that one byte before it is still
 * the same method: readers look there for callers. Its name stands under these UNWIND_METHOD_SIZE
 * addresses.
 */
#define UNWIND_METHOD_BIT (1ull << 61)
enum { UNWIND_METHOD_SIZE = 8, UNWIND_METHOD_AT = -24 }; /* from the frame pointer */

static inline __u64 unwind_method_word(__u64 method)
{
	return UNWIND_METHOD_BIT | method | 1;
}

/* 0: not one. */
static inline __u64 unwind_method(__u64 word)
{
	return word >> 61 == 1 ? (word & ~UNWIND_METHOD_BIT) >> 3 << 3 : 0;
}

/* Functions of Python have bit 63. */
static inline int unwind_is_place(__u64 word)
{
	return word >> 62 == 1;
}

/* Why a stack has no further frame. ROOT is the good end. */
/* What a look for the registers of a task found; see unwind_regs.bpf.h. */
enum {
	UNWIND_REGS_STRANGE = 1, /* the types are of another kernel */
	UNWIND_REGS_NOWHERE = 2,
	UNWIND_REGS_FOUND = 3,
};

enum unwind_end {
	UNWIND_END_NONE = 0,
	UNWIND_END_ROOT = 1,     /* the outermost frame was reached */
	UNWIND_END_NO_MAP = 2,   /* an address outside any executable mapping */
	UNWIND_END_NO_TABLE = 3, /* a file whose table was not there yet */
	UNWIND_END_READ = 4,     /* stack memory could not be read */
	UNWIND_END_BAD_SP = 5,   /* the stack pointer went backwards */
	UNWIND_END_BAD_FP = 6,   /* code without CFI, and no frame pointer chain */
	UNWIND_END_UNSUP = 7,    /* a rule that we do not know */
	UNWIND_END_REG = 8,      /* a register was needed that callers do not keep */
	UNWIND_END_ZERO = 9,     /* the return address was 0 */
	UNWIND_END_DEPTH = 10,   /* more frames than we keep */
	UNWIND_END_NO_REGS = 11, /* no user registers: a kernel thread */
	UNWIND_END_NO_SLOT = 12, /* too many unwinds at once on this CPU */
	UNWIND_END_EXEC = 13,    /* in exec or exit: the old program is unmapped already */
	UNWIND_END_MISSED = 14,  /* a process that began while the program was being attached */
	UNWIND_END_COUNT = 15,
};

enum {
	UNWIND_MAX_FRAMES = 1024,
	UNWIND_MAX_KERNEL = 127,
	UNWIND_RECORD_IPS = UNWIND_MAX_FRAMES + UNWIND_MAX_KERNEL + 1,
	UNWIND_SLOTS = 4,
	UNWIND_MEMO = 2048,        /* rules that each CPU remembers, ... */
	UNWIND_MEMO_LINE = 256,    /* ... in lines of this many */
	UNWIND_STACK_MEMOS = 64,   /* stacks that each CPU remembers */
	UNWIND_MEMO_FRAMES = 64,   /* of each, if they are no more */
	UNWIND_WINDOW_WORDS = 256, /* of a user stack that are read at once ... */
	UNWIND_WINDOW_BYTES = UNWIND_WINDOW_WORDS * 8,
	UNWIND_WINDOW_NEXT = 512, /* ... and if nothing is known about it */
	UNWIND_ASKED = 1024,
	UNWIND_PATH = 512, /* longer ones are left out */
	UNWIND_COMM = 16,
	UNWIND_RESCUE_BYTES = 49152,
	UNWIND_RESCUE_PAGE = 4096,
	UNWIND_RESCUE_VMAS = 64,
	UNWIND_RESCUE_FRAMES = 256,
	UNWIND_RESCUE_PYTHON = 512, /* words about functions of Python */
	UNWIND_VMA_STEPS = 1024,    /* mappings and gaps that are observed for them */
	UNWIND_EVENTS = 16, /* programs that differ only in the number that they put into samples */
};

/* Counters after those for each enum unwind_end, which come first. */
enum unwind_count {
	UNWIND_COUNT_SAMPLES = UNWIND_END_COUNT,
	UNWIND_COUNT_LOST, /* the ring was full */
	UNWIND_COUNT_FRAMES,
	UNWIND_COUNT_FP_FRAMES, /* steps by frame pointer */
	UNWIND_COUNT_RESCUES,   /* stacks copied to be finished later */
	UNWIND_COUNT_RESCUES_LOST,
	UNWIND_COUNT_KERNEL_CUT, /* kernel stacks that failed or filled their room */
	UNWIND_COUNT_PYTHON_FRAMES,
	UNWIND_COUNT_PYTHON_UNPLACED, /* stacks with Python functions that found no place in them */
	UNWIND_COUNT_RECOGNISED,      /* stacks that were not walked, or only in part, ... */
	UNWIND_COUNT_CHECKED,         /* ... those of them that were walked again to see, ... */
	UNWIND_COUNT_MISRECOGNISED,   /* ... and those that were not what the walk found */
	UNWIND_COUNTERS,
};

struct unwind_counts {
	__u64 n[32]; /* UNWIND_COUNTERS are used; a power of two, to be masked */
};
_Static_assert(UNWIND_COUNTERS <= 32, "room");

/* Records in the ring: each begins with its type. */
enum unwind_record_type {
	UNWIND_RECORD_SAMPLE = 1,
	UNWIND_RECORD_NEED = 2,
	UNWIND_RECORD_RESCUE = 3,
};

/*
 * "A file without a table, or a page that is missing": sent again after a while as long as it is
 * seen.
 */
struct unwind_need {
	__u32 type;
	__u32 pid; /* as the first pid namespace counts */
	__u64 start;
	__u64 end;
	struct unwind_version version;
	__u64 page; /* of the file, whose table may be known otherwise */
	struct unwind_key key;
	__u32 path; /* where in the text the path of the file begins; 0: it has none */
	__u32 pad;
	char text[UNWIND_PATH]; /* the path ends with it */
};
_Static_assert(sizeof(struct unwind_need) == 80 + UNWIND_PATH, "shared with BPF");

/*
 * Stacks of waits are not of one moment; those with functions of Python say whose they are instead:
 * a process has a number of its own, which no other will have, and has it from fork to exit.
 */
struct unwind_sample {
	__u32 type;
	__u32 pid;
	__u32 tid;
	union {
		__u32 cpu;
		__u32 parent_pid; /* 0: not known, or the parent runs another program */
	};
	union {
		__u64 time; /* CLOCK_MONOTONIC */
		__u64 process;
	};
	union {
		__u64 period;
		__u64 parent;
	};
	__u64 addr;
	__u32 event; /* number of the program that took it; of waits: unwind_python_names() */
	__u16 n_kernel;
	__u16 n_user;
	__u8 end;     /* enum unwind_end */
	__u8 user_ip; /* the sample hit user code */
	__u16 fp_steps;
	__u16 python;  /* index in unwind_pythons: there are Python frames (unwind_python.h) */
	__u16 program; /* differs, almost surely, when the process runs another program */
	union {
		char comm[UNWIND_COMM];
		__u64 origin; /* the oldest of its ancestors of which all since run its program */
	};
	__u64 ip[UNWIND_RECORD_IPS]; /* kernel frames, then user frames */
};
#define UNWIND_SAMPLE_HEADER 72
_Static_assert(sizeof(struct unwind_sample) == UNWIND_SAMPLE_HEADER + 8 * UNWIND_RECORD_IPS,
	       "shared with BPF");

/* An executable mapping. No file: key.ino is 0. */
struct unwind_vma {
	__u64 start;
	__u64 end;
	__u64 offset;
	struct unwind_key key;
	struct unwind_version version;
};

/*
 * A sample whose user part is still to be unwound: registers, the stack from there on and what was
 * mapped. Where it was unwound up to a frame without a table, registers and stack are those of that
 * frame.
 */
struct unwind_rescue {
	__u32 type;
	__u32 stack_bytes; /* valid bytes of stack[], from regs[UNWIND_REG_SP] on */
	__u64 regs[UNWIND_REGS];
	__u32 n_kernel;
	__u32 n_user; /* frames below, in user[]; 0: nothing is unwound yet */
	__u32 pid;
	__u32 tid;
	__u32 cpu;
	__u32 event;
	__u64 time;
	__u64 period;
	__u64 addr;
	__u8 user_ip;
	__u8 returned; /* with n_user, as in struct unwind_state */
	__u8 full;
	__u8 bx_lost;
	__u32 n_vmas; /* UNWIND_RESCUE_VMAS: there may be more; 0: not known */
	__u32 fp_steps;
	__u16 python; /* as in a sample: functions of Python are among user[], or in py[] */
	__u16 program;
	__u32 n_python; /* of py[] */
	__u32 pad;
	char comm[UNWIND_COMM];
	__u64 kernel[UNWIND_MAX_KERNEL + 1];
	__u64 user[UNWIND_RESCUE_FRAMES];
	__u64 py[UNWIND_RESCUE_PYTHON]; /* functions that have no place yet: see python.bpf.h */
	struct unwind_vma vmas[UNWIND_RESCUE_VMAS];
	__u8 stack[UNWIND_RESCUE_BYTES];
};

#endif
