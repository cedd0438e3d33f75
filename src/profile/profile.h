/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The model of a profile: weighted stacks over time. Whatever it was read from (our recordings,
 * perf's, text), every analysis and picture sees only this.
 *
 * Everything is an id: u32, 0 means "none". Strings are interned. A frame is a function in a
 * module. A stack is a node of a tree: its frame and the stack of its caller, so that equal
 * prefixes are stored once and a parent's id is always smaller than its children's. One pass from
 * the highest id down therefore sums inclusive weights.
 */
#ifndef PROFILE_PROFILE_H
#define PROFILE_PROFILE_H

#include "base/intern.h"
#include "base/map.h"
#include "base/vec.h"

enum frame_kind {
	FRAME_USER,
	FRAME_KERNEL,
	FRAME_JIT,
	FRAME_INTERPRETED,
	FRAME_INLINED,
	FRAME_HYPERVISOR, /* this and the next two are of no file of the machine */
	FRAME_GUEST_KERNEL,
	FRAME_GUEST_USER,
	FRAME_MARKER, /* not code: "[truncated]", "-" between wakers, ... */
};

struct frame {
	u32 name;   /* string */
	u32 module; /* string: path as recorded, "[kernel.kallsyms]", "" */
	u32 file;   /* string, 0: not known */
	u32 line;
	u8 kind;       /* enum frame_kind */
	bool is_root;  /* by its name, filled in by the profile */
	bool no_name;  /* the name was made up (git+0x1a2b0, [unknown]) */
	u32 inline_of; /* frame that it was inlined into, or 0 */
};

struct stack {
	u32 parent; /* stack of the caller; 0: this is a root */
	u32 frame;
};

/* Callees of a stack, the first few of them; most stacks have one. */
struct stack_links {
	u32 first;
	u32 next; /* of the same caller */
};

/* A thread under one name: exec gives a new one. */
struct profile_thread {
	s32 pid;
	s32 tid;
	u32 comm;   /* string */
	u32 cgroup; /* string */
};

struct profile_event {
	u32 name; /* string: "cpu-clock" */
	u32 unit; /* string: "ns", "bytes", "" for plain counts */
	u64 samples;
	u64 weight;    /* sum of the periods */
	u64 frequency; /* Hz asked for, 0: fixed period */
	u64 period;
	bool no_chains; /* only where it happened was recorded, not who called */
};

struct profile_sample {
	u64 time; /* ns on the recording's clock; 0: not known */
	u64 weight;
	u32 stack; /* 0: a sample without any frame */
	u32 thread;
	u32 count; /* samples that were merged into this one */
	s16 cpu;   /* -1: not known */
	u16 event; /* index into events */
};

/* A process with run-time code that has no name. Strings. */
struct profile_nameless {
	s32 pid;
	u32 runtime; /* "java"; 0: not known */
	u32 why;
	u32 hint;
};

/* A file, or the kernel, of whose functions none could be named, or no line is known. Strings. */
struct profile_unnamed {
	u32 module;
	u32 why;
	u32 hint;
	u64 places; /* addresses in it that were met; of lines: samples */
};

/* The time of a thread during the recording, by the scheduler's count; ns. */
struct profile_account {
	s32 pid;
	s32 tid;
	u32 comm;  /* string: the last one it had */
	u32 flags; /* enum offcpu_flags */
	u64 begin; /* on the recording's clock */
	u64 end;
	u64 oncpu;
	u64 blocked;
	u64 runq;
	u64 unknown; /* off CPU, but it was not seen when it left */
	/* not in recordings of older versions: */
	bool counted;     /* what follows is known */
	u32 cgroup;       /* string */
	u64 utime, stime; /* by the kernel's clock ticks */
	u64 switches;     /* away from a CPU; of these: */
	u64 preemptions;
	u64 minor, major; /* page faults, without and with reading */
};

/* The wakers of a wait: the first ended it, the next had woken that one, and so on. */
struct profile_waker {
	u32 stack;       /* of the profile */
	u32 sleep_stack; /* where it had slept itself, 0: it had not */
	u32 comm;        /* string */
	u32 kind;        /* enum offcpu_waker */
};

/* A wait, and the wakers from @first on. */
struct profile_wake {
	u64 time; /* its end */
	u64 weight;
	u32 stack;
	u32 thread;
	u32 first;
	u32 n;
};

/* How user stacks ended: the honest part of a profile. */
enum stack_end {
	STACK_ROOT,    /* reached main, _start, a thread's start */
	STACK_CUT,     /* did not */
	STACK_NO_USER, /* kernel thread, or no user part */
	STACK_END_COUNT
};

/* Data of tracepoints, as text. Strings: how it was requested, and the field. */
struct profile_trace_column {
	u32 key;
	u32 name;
};

struct profile {
	struct intern strings;
	struct intern frame_ids;
	struct intern thread_ids;
	VEC(struct frame) frames;           /* [0] unused */
	VEC(struct stack) stacks;           /* [0] unused */
	VEC(struct stack_links) links;      /* by stack; [0] is that of the roots */
	struct map stack_ids;               /* parent << 32 | frame -> id, where links are full */
	VEC(struct profile_thread) threads; /* [0] unused */
	VEC(struct profile_event) events;
	VEC(struct profile_sample) samples;
	VEC(struct profile_nameless) nameless;
	bool filtered;                        /* only some samples were requested */
	VEC(struct profile_unnamed) unnamed;  /* most places first */
	VEC(struct profile_unnamed) lineless; /* likewise; only if lines were requested */
	VEC(struct profile_account)
	accounts;        /* of recordings of time off the CPU; otherwise none */
	u64 wait_period; /* one wait stands for this time; 0: each is there */
	u64 wait_min;    /* shorter waits were not recorded */

	/* only if asked for when loading: a row has a string for each column */
	VEC(struct profile_trace_column) trace_columns;
	struct intern trace_rows;
	VEC(u32) traces; /* of each sample: its row, 0: none */

	VEC(struct profile_wake) wakes; /* only if asked for when loading; likewise: */
	VEC(struct profile_waker) wakers;

	/* facts of the recording; strings, 0 when not known */
	u32 source, hostname, kernel, arch, command, cpu_model, unwinder, notes;
	u32 cuts; /* why stacks ended early, in words; 0: the recording does not say */
	u32 cpus;
	u64 first_time, last_time; /* of samples */
	u64 wall_start;            /* wall clock of first_time, 0: not known */
	u64 lost_samples;          /* by the kernel, rings full */
	u64 lost_records;
	u64 lost_stacks; /* of waits and wakers: not kept, or cut */
	u64 bad_records;
	u64 throttled;
	u64 aux_bytes; /* of a hardware trace, which is not decoded */
	u32 aux_kind;
	u64 stack_ends[STACK_END_COUNT]; /* samples */
	/* recognised instead of walked; of those, walked too; of those, found to be wrong */
	u64 stacks_recognised, stacks_checked, stacks_misrecognised;
	u64 code_reused;    /* places of run-time code that have the names of several functions */
	u64 guest_samples;  /* taken while a guest of this machine ran; and of these */
	u64 guest_nameless; /* those in its kernel at an address that got no name */
	u64 unnamed_frames; /* frames of all samples that got a made-up name */
	u64 total_frames;
	u32 fault; /* string: the file ended in an error, what and where */
};

#define HEALTH_CODE_REUSED \
	"addresses of run-time code had several functions: they have the names of all"
#define HEALTH_MISRECOGNISED                                                                      \
	"checked stacks that were not what they had been recognised as; others like them may be " \
	"wrong (--walk-always avoids it)"

void profile_init(struct profile *p);
void profile_release(struct profile *p);

u32 profile_string(struct profile *p, const char *s);
const char *profile_str(const struct profile *p, u32 id);
/* The id of an equal frame, or a new one. */
u32 profile_get_frame(struct profile *p, const struct frame *f);
/* The stack that @parent calling @frame makes. */
u32 profile_get_stack(struct profile *p, u32 parent, u32 frame);
/* The same if there is one, else 0. */
u32 profile_find_stack(const struct profile *p, u32 parent, u32 frame);
u32 profile_get_thread(struct profile *p, s32 pid, s32 tid, u32 comm, u32 cgroup);
/* 0: there is none. */
u32 profile_find_thread(const struct profile *p, s32 pid, s32 tid, u32 comm, u32 cgroup);
/* Index of the event of that name, made if new. */
u16 profile_get_event(struct profile *p, const char *name);
void profile_add_sample(struct profile *p, const struct profile_sample *s);
/* Adds the weight and count of @s to the sample at @index. */
void profile_merge_sample(struct profile *p, size_t index, const struct profile_sample *s);

static inline const struct frame *profile_frame_of(const struct profile *p, u32 stack)
{
	return &p->frames.items[p->stacks.items[stack].frame];
}

/* Frames from the root to the leaf; returns how many there are, writes at most @max. */
size_t profile_frames(const struct profile *p, u32 stack, u32 *ret_frames, size_t max);
size_t profile_depth(const struct profile *p, u32 stack);
/* True for what a complete stack begins with: main, _start, clone3, thread starts. */
static inline bool profile_is_root_frame(const struct profile *p, u32 frame)
{
	return p->frames.items[frame].is_root;
}

#endif
