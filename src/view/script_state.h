/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The inside of a run: only for the files script*.c. */
#ifndef VIEW_SCRIPT_STATE_H
#define VIEW_SCRIPT_STATE_H

#include "view/script.h"
#include "base/map.h"
#include "profile/kernel_strings.h"
#include "profile/machine.h"
#include "profile/stackcopy.h"
#include "profile/tracefield.h"

/* What is the same for all samples of an event. */
struct script_event {
	bool ready;
	bool wanted;
	bool chain;  /* samples have call chains, and they are shown */
	bool tight;  /* names of threads are not padded */
	bool copied; /* samples have a copy of the user stack */
	u8 type;     /* enum script_type */
	u64 fields;
	char *name; /* "  cpu-clock: ", as wide as the longest */
	size_t name_len;
	struct tracefield *trace;
	u64 period;      /* of samples that carry none */
	bool names_addr; /* addresses are those of faults: shown with their names */
	bool bpf_output;
};

/* Text of a place: "\t  ffffffff81000000 name+0x12 (dso)\n". */
struct script_text {
	u32 offset; /* in texts */
	u32 len;
};

struct script {
	struct recording *recording;
	const struct script_opts *opts;
	struct script_fields fields;
	struct machine machine;
	struct stackcopy stacks;
	VEC(struct script_event) events;
	struct tracefield_env trace_env;
	struct kernel_strings strings;
	struct buf texts;               /* of places */
	VEC(struct script_text) places; /* place.frame -> text; [0] unused */
	struct map other_places;        /* the same for fields other than the first */
	u32 place_fields;               /* fields that @places was made for */
	struct map names_pass;          /* filter by name: string -> 1 yes, 2 no */
	u64 first_time, last_time;
	size_t data_src_width; /* of the widest text of DATA_SRC */
	struct buf out;
	script_write_fn write;
	void *write_ctx;
};

enum { SCRIPT_FLUSH = 1 << 18 };

/* Who and when: the beginning of every line. */
struct script_who {
	s32 pid, tid;
	bool known; /* the thread is known */
	u32 cpu;
	u64 time;
	u32 type; /* of the record */
	u16 misc;
};

/* script_line.c */
void script_line_start(struct script *s, const struct script_event *ev,
		       const struct script_who *who);
void script_line_period(struct buf *b, u64 period);
void script_hex16(struct buf *b, u64 v);
/* script_side.c: records that are not samples. */
void script_side(struct script *s, const struct record *r, const struct script_event *ev);
/* What follows the name of its type; false: nothing is known of it. */
bool script_side_text(struct buf *out, const struct record *r);
/* script_place.c */
void script_place_line(struct script *s, struct process *p, enum address_mode mode, u64 address,
		       u64 fields);
/* " name+0x12 (dso)", as the fields ask for. */
void script_place_tail(struct script *s, struct process *p, enum address_mode mode, u64 address,
		       u64 fields);
/* The name of the file of an address, as perf has it. */
void script_place_dso(struct script *s, struct process *p, enum address_mode mode, u64 address);
/* Where in its file code is, as perf counts it; the address itself if it has none. */
u64 script_place_offset(struct script *s, struct process *p, enum address_mode mode, u64 address);
/* script_branch.c */
enum address_mode script_mode_of_address(u64 address);
void script_branches(struct script *s, const struct script_event *ev, struct process *p,
		     const struct sample *sample);
/* script_insn.c: the instruction that was hit, and how long it is. */
void script_insn(struct script *s, const struct script_event *ev, struct process *p,
		 const struct record *r);
/* script_memory.c: DATA_SRC in words. */
void script_data_src(struct script *s, u64 value);
/* script_sample.c */
void script_sample(struct script *s, const struct record *r, const struct script_event *ev);
/* One of the comma-separated globs matches; asked once a name. @which tells the lists apart. */
bool script_name_passes(struct script *s, const char *globs, u32 which, const char *name);

#endif
