/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One compilation: the program, its types, its targets, its maps, its events. Stages fill it one
 * after the other; the run time only reads it. The checker's state is in check/check.h.
 */
#ifndef LANG_COMP_H
#define LANG_COMP_H

#include "bpf/lang_abi.h"
#include "host/tracefs.h"
#include "lang/front/ast.h"
#include "lang/gen/ir.h"
#include "lang/lang.h"
#include "lang/check/type.h"

struct cursor;
struct gen;
struct val;
struct comp;
struct run;

enum {
	COMP_MAX_TARGETS = 1 << 17,
	COMP_MAX_EVENT = 32768, /* bytes of one event */
	COMP_STACK_DEPTH = LANG_STACK_FRAMES,
	COMP_OWN_FRAMES = 3, /* of a kernel stack that may be our program's: read as well */
};

/* What to do about probes that do not exist or cannot be attached here. */
enum missing_probes { MISSING_ERROR, MISSING_WARN, MISSING_IGNORE };

/* What serves probes on kernel functions: what loads, or always the one or the other. */
enum kernel_probes { KERNEL_AUTO, KERNEL_FENTRY, KERNEL_KPROBE };

struct lang_config {
	u64 max_strlen;
	u64 max_map_keys;
	u64 max_probes;
	u64 max_cat_bytes;
	u64 ring_bytes;
	u64 stack_mode;     /* enum stack_mode */
	u64 missing_probes; /* enum missing_probes */
	u64 kernel_probes;  /* enum kernel_probes */
	u64 hist_bits;      /* of hist() without any */
	u64 license;        /* which of the accepted ones; all are compatible with the GPL */
	u64 latency_bits;   /* the same of a time between two moments */
	bool percentiles;   /* after histograms */
	bool print_maps_on_exit;
	bool no_tseries; /* forbidden */
	bool tseries;    /* asked for */
	bool typeinfo;
	bool cpp_demangle;
	bool cfi_stacks;  /* user stacks by tables; otherwise by frame pointers */
	bool walk_always; /* recognise no user stack */
	const char *str_trunc_trailer;
};

/* A concrete place to attach to. */
struct target {
	const struct provider *provider;
	const char *name;  /* "tracepoint:sched:sched_switch": the value of 'probe' */
	const char *group; /* tracepoints: subsystem; user probes: path of the file;
			      iterators: where it is pinned, or NULL */
	const char *event; /* tracepoint, function, event */
	u64 value;         /* period, offset in the file, address */
	u64 extra;         /* per provider: syscall number, location of a semaphore ... */
	u32 unit_kind;     /* per provider: targets of different kinds need different programs */
	const void *data;  /* per provider */
	const struct type *args;
	bool is_freq;
	u32 pid;
	struct span_at at; /* where the program names it */
};

/* A program to load: the body of one probe for targets first ... first + n - 1. */
struct unit {
	u32 probe;
	u32 first;
	u32 n;
	u32 prog_type;
	u32 attach_type;
	u32 attach_btf;
	u32 attach_prog; /* id of the BPF program whose function that is; 0: the kernel's */
	u32 prog_flags;
	u32 mode; /* per provider: how it is attached */
	bool uses_args;
	bool uses_stack;
	bool reads_user;
	bool attached;
	bool typed_context; /* pointers from the context must keep their types */
	bool checks_stop;   /* returns at once when stop_map says so: closing its link takes long */
	const char *raw_name; /* raw tracepoint */
	u32 dispatch_map;     /* 1 + number of the map from syscall number to target, or 0 */
	struct ir_code code;
	VEC(struct ir_code) subs; /* callbacks, until they are joined */
	VEC(u32) funcs;           /* where functions begin, when there is more than one */
	bool calls_unwinder;
};

struct map_def {
	const char *name;
	const struct type *key;   /* T_TUPLE also for one key; NULL: not keyed */
	const struct type *value; /* T_NONE until it is known */
	bool used;
	bool read;      /* its values are */
	bool unwritten; /* and nothing writes them */
	bool key_known;
	struct span_at at;
	u64 max_keys;
	const char *kind; /* declared, or NULL */
	u32 index;        /* in the list of BPF maps */
};

/* BPF maps, in the order in which they are created. */
struct bpf_map {
	char name[16];
	u32 type;
	u32 key_size;
	u32 value_size;
	u32 max_entries;
	u32 flags;
};

enum event_kind {
	EV_PRINTF,
	EV_HELPER_ERROR,
	EV_ERRORF,
	EV_WARNF,
	EV_RUNTIME_ERROR,
	EV_PRINT_VALUE,
	EV_PRINT_MAP,
	EV_PRINT_MAP_KEY, /* @x[key] of an aggregation */
	EV_CLEAR,
	EV_ZERO,
	EV_EXIT,
	EV_TIME,
	EV_JOIN,
	EV_CAT,
	EV_SYSTEM,
	EV_SKB, /* fmt: the file */
	EV_ROW,
};

/* What is before a packet. */
struct skb_record {
	u64 number; /* of the event */
	u64 time;   /* since boot */
	u64 length; /* of the packet that follows */
	u64 offset; /* bytes of it to leave out */
};

/* What an event with this number means. Records begin with the number as a u64. */
struct event {
	enum event_kind kind;
	const char *fmt;
	struct span_at at;       /* in the source: what errorf() and warnf() complain about */
	const struct type *args; /* T_TUPLE of what follows the number */
	struct map_def *map;
	s64 top, div;
	u32 size;
	bool to_err;
};

/* The operator of a plain assignment. */
#define ASSIGN_PLAIN ((u32)'=')

/* Slots of the counter map: what went wrong in the kernel. */
enum counter {
	COUNTER_LOST, /* events that did not fit into the ring */
	COUNTER_MAP_FULL,
	COUNTER_MAP_MEMORY, /* no memory for a new key at this moment, or the map was locked */
	COUNTER_READ_KERNEL,
	COUNTER_READ_USER,
	COUNTER_STACK,
	COUNTER_SCRATCH, /* no free scratch memory: event skipped */
	COUNTER_LOOP,    /* a loop was cut at its limit */
	COUNTER_COUNT,
};

struct comp {
	struct lang *lang;
	struct program prog;
	struct source src;
	char *text;
	struct buf imported; /* the text with that of imported files */
	struct diags diags;
	struct types types;
	struct arena arena;
	struct lang_config config;
	const struct lang_opts *opts;
	struct tracefs tracefs;
	VEC(struct target) targets;
	VEC(struct unit) units;
	VEC(struct map_def *) maps;
	VEC(struct bpf_map) bpf_maps;
	VEC(struct event) events;
	/* Numbers of BPF maps, 1 + index; 0: does not exist. */
	u32 ring_map, scratch_map, counter_map, kstack_map, ustack_map, zero_map, stop_map, skb_map,
		kstack_seen, ustack_seen;
	struct cursor *at;           /* of the checker; NULL outside of compilation */
	struct unwinder *unwinder;   /* of user stacks; NULL until it is loaded, if it is called */
	struct err unwinder_err;     /* why not */
	bool no_unwinder;            /* user stacks by frame pointers */
	bool user_symbols;           /* addresses of programs will be named */
	struct debuginfo *debuginfo; /* of traced files; NULL until it is requested */
	u32 fentry;                  /* 0: not tried yet, 1: loads, 2: does not */
	u32 uprobe_multi;            /* 0: not asked yet, 1: there is, 2: there is not */
	u64 start_ns;
	u32 string_room;         /* bytes that strings may have, whatever max_strlen says */
	bool strings_cut;        /* max_strlen says more */
	bool too_large;          /* values do not fit: shorter strings may */
	VEC(const char *) notes; /* about the rungs that were chosen */
	const char *refused;     /* why no rung of the script can be used here; or NULL */
};

void comp_init(struct comp *c, const struct lang_opts *opts);
void comp_release(struct comp *c);
struct map_def *comp_map(struct comp *c, const char *name, bool create);
u32 comp_bpf_map(struct comp *c, const char *name, u32 type, u32 key, u32 value, u32 entries);
/* Does a program take user stacks by the unwinder? */
bool comp_calls_unwinder(const struct comp *c);
/* Number of a new event. */
u32 comp_event(struct comp *c, const struct event *e);
/* Opens tracefs at the first call; false with a diagnostic when there is none. */
bool comp_tracefs(struct comp *c);

/* The text of --NAME=VALUE or --NAME among the parameters; NULL when it was not given. */
const char *comp_parameter(const struct comp *c, const char *name);
/* Is this in the kernel's table of symbols? */
bool comp_kernel_symbol(const char *name);
/* Decides conditions that ask the kernel. */
void comp_choose(struct comp *c);
/* Settings of the script, then of the environment. */
void comp_configure(struct comp *c);
/* What a setting is now; *ret_text stays NULL for numbers. False: none, or it is unused.
 */
/* true, yes, on, 1 and their opposites. */
bool comp_truth(const char *text, bool *ret);
bool comp_setting(const struct comp *c, const char *name, u64 *ret_number, const char **ret_text);
/* Numbers and shapes of the BPF maps. */
void comp_place_maps(struct comp *c);
/* Replaces calls of macros by what they stand for. */
void comp_expand_macros(struct comp *c);
/* Expands specs to targets and groups them to units. */
void comp_resolve(struct comp *c);
/* Types and constants of everything. */
void comp_check(struct comp *c);
/* BPF code of every unit. */
int comp_generate(struct comp *c, struct err *e);

/* --- listing ---------------------------------------------------------------------------------- */
/* A type of BTF as C writes it: "struct file *". */
void kbtf_type_name(const struct kbtf *btf, u32 id, struct buf *out);
/* Types of the kernel that match, with their members when @verbose. */
int list_types(struct comp *c, const char *pattern, bool verbose, struct buf *out, struct err *e);

/* --- tables ----------------------------------------------------------------------------------- */
enum {
	FN_AGG = 1 << 0, /* only as the value of a map */
	FN_UNSAFE = 1 << 1,
	FN_STATEMENT = 1 << 2, /* has no value */
	FN_RAW = 1 << 3,       /* its check looks at unchecked arguments */
	FN_FORMAT = 1 << 4,    /* its first argument is a format */
};

struct fn {
	const char *name;
	u8 min_args;
	u8 max_args; /* 255: any number */
	u32 flags;
	void (*check)(struct comp *c, struct node *call);
	void (*emit)(struct gen *g, struct node *call, struct val *ret);
};

struct builtin {
	const char *name;
	void (*check)(struct comp *c, struct node *n);
	void (*emit)(struct gen *g, struct node *n, struct val *ret);
};

const struct fn *fn_find(const char *name);
const char *fn_name_at(void *ctx, size_t i);
const struct builtin *builtin_find(const char *name);
const char *builtin_name_at(void *ctx, size_t i);

/* Groups of functions, each ended by an entry without a name. */
extern const struct fn fn_agg_table[], fn_print_table[], fn_mem_table[], fn_sym_table[],
	fn_map_table[], fn_net_table[], fn_control_table[], fn_str_table[], fn_task_table[],
	fn_row_table[];

#endif
