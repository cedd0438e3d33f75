/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Python functions of the current thread, read at the moment of the sample: the thread is the
 * one that is interrupted, so what it keeps about itself stands still.
 *
 * slot->py holds pieces, innermost first: the anchor, then its frames; 0 as anchor is the end.
 */
#ifndef BPF_PYTHON_BPF_H
#define BPF_PYTHON_BPF_H

#include "bpf/ktypes.h"
#include "bpf/unwind_python.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, UNWIND_PYTHONS + 1); /* 0: none */
	__type(key, u32);
	__type(value, struct unwind_python);
} unwind_pythons SEC(".maps");

/*
 * The state of a thread, found once. Whether it still is that thread's is checked each time, and
 * that it is in the list of states: what was freed keeps its content, and a thread that calls into
 * Python again has another state then.
 */
struct python_seen {
	u64 mm;
	u64 thread;
	u64 state;
	u64 interpreter;
	u32 python;
	u32 tid; /* the next thread on the same stack has a state of its own */
};

struct python_seen_line {
	struct python_seen thread[UNWIND_PYTHON_LINE];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, UNWIND_PYTHON_SEEN / UNWIND_PYTHON_LINE);
	__type(key, u32);
	__type(value, struct python_seen_line);
} unwind_python_seen SEC(".maps");

/* Code objects that were in a sample before: what is new is to be read soon. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, UNWIND_PYTHON_NEW);
	__type(key, u32);
	__type(value, u32);
} unwind_python_codes SEC(".maps");

/* Raised when a stack with such code was not sent, so that all of it is new again. */
u64 unwind_python_unsent = 0;

struct python_walk {
	u64 gen;    /* of the program */
	u64 mm;     /* number of the memory; 0: nothing is remembered */
	u64 names;  /* a hash of what its functions are called: addresses of code are used again */
	u64 thread; /* that is looked for: what pthread_self() returns */
	u64 state;
	u64 interpreter;
	u64 frame;
	u64 cframe;
	u64 word[16];
	u32 python; /* index of the layout */
	u32 head;   /* where the anchor of the open piece goes */
	u32 n;
	u32 at;    /* the next piece to splice in */
	u32 ready; /* was looked for */
	u32 fresh; /* has code that was not seen before */
	u64 py[UNWIND_PYTHON_WORDS];
};

static __always_inline u64 python_read(u64 address)
{
	u64 value = 0;

	if (bpf_probe_read_user(&value, sizeof(value), (const void *)address))
		return 0;
	return value;
}

/*
 * Stays the same when libraries are loaded, and in children that are forked. Differs, almost
 * surely, between programs: a stack begins at a random address, and where that is turned off
 * programs still differ in size. It names whose code objects are meant, beside the process.
 */
static __always_inline u64 python_program_of(u64 start_code, u64 end_code, u64 start_stack)
{
	u64 program = start_code ^ (end_code - start_code) * 0x9e3779b97f4a7c15ull;

	return (program << 20 ^ start_stack << 8) | 1;
}

static __always_inline u16 python_program(const struct python_walk *w)
{
	return w->gen >> 8 ^ w->gen >> 24;
}

struct python_loop {
	struct python_walk *w;
	struct unwind_python *l;
};

static long python_one_thread(u32 i, void *ctx)
{
	struct python_walk *w = ((struct python_loop *)ctx)->w;
	struct unwind_python *l = ((struct python_loop *)ctx)->l;

	if (w->state) {
		if (python_read(w->state + l->thread_id) == w->thread)
			return 1;
		w->state = python_read(w->state + l->thread_next);
		if (w->state)
			return 0;
	} else {
		w->state = python_read(w->interpreter + l->interpreter_threads);
		if (w->state)
			return 0;
	}
	w->interpreter = python_read(w->interpreter + l->interpreter_next);
	return w->interpreter ? 0 : 1;
}

static __always_inline void python_close(struct python_walk *w, u64 anchor)
{
	w->py[w->head & (UNWIND_PYTHON_WORDS - 1)] = anchor;
	w->head = w->n;
	w->py[w->n & (UNWIND_PYTHON_WORDS - 1)] = 0;
	w->n++;
}

/* Code, or whatever else has a number. */
static __always_inline void python_note(struct python_walk *w, u64 code)
{
	u64 hash = (code ^ w->gen ^ unwind_python_unsent << 32) * 0x9e3779b97f4a7c15ull;
	u32 at = hash >> 51, tag = hash >> 8;
	u32 *seen = bpf_map_lookup_elem(&unwind_python_codes, &at);

	if (seen && *seen != tag) {
		*seen = tag;
		w->fresh = 1;
	}
}

static __always_inline void python_push(struct python_walk *w, struct unwind_python *l)
{
	u64 code = w->word[(l->frame_code / 8) & 15] & ~7ull;
	u64 instr = w->word[(l->frame_instr / 8) & 15] - code - l->code_instrs;

	if (!code || code >> 47)
		return;
	u64 name = python_read(code + l->code_name);

	w->py[w->n & (UNWIND_PYTHON_WORDS - 1)] = unwind_python_word(code, instr >> 1);
	w->n++;
	w->names = unwind_python_named(w->names, name);
	python_note(w, code ^ name << 20);
}

static long python_one_frame(u32 i, void *ctx)
{
	struct python_walk *w = ((struct python_loop *)ctx)->w;
	struct unwind_python *l = ((struct python_loop *)ctx)->l;

	/* room for a frame, and for the end after it */
	if (!w->frame || w->n >= UNWIND_PYTHON_WORDS - 2)
		return 1;
	if (bpf_probe_read_user(w->word, UNWIND_PYTHON_FRAME_WORDS * 8, (const void *)w->frame))
		return 1;
	u32 entry = w->word[(l->frame_entry / 8) & 15] >> (l->frame_entry % 8 * 8) & 0xff;

	if (l->has_shims) {
		if (entry == UNWIND_PYTHON_SHIM)
			python_close(w, w->frame);
		else
			python_push(w, l);
	} else {
		python_push(w, l);
		if (entry) {
			python_close(w, w->cframe);
			w->cframe = python_read(w->cframe + l->cframe_previous);
		}
	}
	w->frame = w->word[(l->frame_previous / 8) & 15];
	return 0;
}

/* The state of the current thread; 0: it has none. @runtime may be 0 when it was seen before. */
static __always_inline u64 python_state(struct python_walk *w, struct unwind_python *l, u64 runtime)
{
	struct python_loop loop = { .w = w, .l = l };

	w->state = 0;
	w->interpreter = python_read(runtime + l->runtime_interpreters);
	if (!w->interpreter)
		return 0;
	bpf_loop(UNWIND_PYTHON_THREADS, python_one_thread, &loop, 0);
	if (w->state && python_read(w->state + l->thread_id) != w->thread)
		w->state = 0;
	return w->state;
}

static __always_inline struct python_seen *python_seen_of(struct python_walk *w)
{
	u32 at = ((w->mm ^ w->thread) * 0x9e3779b97f4a7c15ull) >> 56 & (UNWIND_PYTHON_SEEN - 1);
	u32 line = at / UNWIND_PYTHON_LINE;
	struct python_seen_line *seen = bpf_map_lookup_elem(&unwind_python_seen, &line);

	return seen ? &seen->thread[at & (UNWIND_PYTHON_LINE - 1)] : 0;
}

/* What comes before it leads to it. */
static __always_inline bool python_is_listed(const struct python_seen *s,
					     const struct unwind_python *l)
{
	u64 before = python_read(s->state + l->thread_prev);

	return python_read(before ? before + l->thread_next
				  : s->interpreter + l->interpreter_threads) == s->state;
}

/* True when w->state and w->python are what they were before. */
static __always_inline bool python_known(struct python_walk *w)
{
	struct python_seen *seen = python_seen_of(w);
	u32 python;
	struct unwind_python *l;

	if (!seen || !w->mm || seen->mm != w->mm || seen->thread != w->thread ||
	    seen->tid != (u32)bpf_get_current_pid_tgid() || !seen->state)
		return false;
	python = seen->python;
	l = bpf_map_lookup_elem(&unwind_pythons, &python);
	if (!l || python_read(seen->state + l->thread_id) != w->thread ||
	    !python_is_listed(seen, l))
		return false;
	w->state = seen->state;
	w->python = python;
	return true;
}

static __always_inline bool python_find(struct python_walk *w, u64 runtime, u32 python)
{
	struct unwind_python *l = bpf_map_lookup_elem(&unwind_pythons, &python);
	struct python_seen *seen;

	if (!python || !l || !python_state(w, l, runtime))
		return false;
	w->python = python;
	seen = python_seen_of(w);
	if (seen) {
		seen->mm = w->mm;
		seen->thread = w->thread;
		seen->state = w->state;
		seen->interpreter = w->interpreter;
		seen->python = python;
		seen->tid = (u32)bpf_get_current_pid_tgid();
	}
	return true;
}

/* All Python frames of the thread into w->py. */
static __always_inline void python_frames(struct python_walk *w)
{
	u32 python = w->python;
	struct unwind_python *l = bpf_map_lookup_elem(&unwind_pythons, &python);
	struct python_loop loop = { .w = w, .l = l };

	w->head = 0;
	w->names = 0;
	w->n = 1;
	w->at = 0;
	w->py[0] = 0;
	if (!l)
		return;
	w->frame = python_read(w->state + l->thread_frame);
	if (l->has_cframe) {
		w->cframe = w->frame;
		w->frame = python_read(w->cframe + l->cframe_frame);
	}
	bpf_loop(UNWIND_PYTHON_WORDS, python_one_frame, &loop, 0);
}

#endif
