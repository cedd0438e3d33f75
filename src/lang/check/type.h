/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Types of expressions, variables and map contents.
 *
 * Integers are 64 bits wide while they are worked with; size and sign say what a value was loaded
 * from and how it is shown. What is stored (map keys and values, variables, events) has the size
 * that type_stored() gives: a multiple of 8, integers always 8.
 */
#ifndef LANG_TYPE_H
#define LANG_TYPE_H

#include "base/arena.h"
#include "base/buf.h"
#include "host/btf.h"

enum { TYPE_MAX_SIZE = 1 << 20, TYPE_MAX_STORED = 32000, TYPE_MAX_STRING = 30720 };

/* The name of the type of truth values: numbers that are shown as true and false. */
#define TYPE_BOOL "bool"

enum type_kind {
	T_NONE, /* not known yet */
	T_VOID,
	T_INT,
	T_STR,
	T_BUF,
	T_PTR,
	T_STRUCT,
	T_ARRAY,
	T_TUPLE,
	T_KSTACK,
	T_USTACK,
	T_KSYM,
	T_USYM,
	T_INET,
	T_MAC,
	T_USERNAME,
	T_TIMESTAMP, /* str: format */
	T_CGROUP_PATH,
	T_STRERROR,
	T_SIGNAL_NAME,
	T_SYSCALL_NAME,
	T_TASK_COMM, /* number of a process: its name */
	T_PROBE,     /* number of a target: its name */
	T_FUNC,      /* number of a target: its function */
	/* What only a map can hold: */
	T_COUNT,
	T_SUM,
	T_MIN,
	T_MAX,
	T_AVG,
	T_STATS,
	T_HIST,
	T_LHIST,
	T_TSERIES,
};

enum space {
	SPACE_BPF,    /* plain memory of the program: stack, map values */
	SPACE_CTX,    /* the context */
	SPACE_KERNEL, /* an address to be read with a helper */
	SPACE_USER,
	SPACE_ANY, /* decided by the address at run time */
};

/* What is known of a number: a moment, or the time between two. */
enum type_unit { UNIT_NONE, UNIT_TIME, UNIT_DURATION };

enum stack_mode { STACK_BPFTRACE, STACK_PERF, STACK_RAW, STACK_BUILD_ID };

struct type;

struct field {
	const char *name;
	const struct type *type;
	u32 offset;       /* bytes */
	u32 bit;          /* bit fields: first bit after offset */
	u32 bits;         /* 0: not a bit field */
	bool data_loc;    /* tracepoints: a u32 that says where the data is */
	const char *decl; /* as the kernel declares it, for -lv; or NULL */
};

struct type {
	enum type_kind kind;
	u32 size; /* as in memory */
	bool is_signed;
	bool is_literal;  /* of a literal that is not negative: takes the sign of other types */
	enum space space; /* T_PTR: of what it points to; T_INT: SPACE_BPF, or that of kptr(),
			     uptr() */
	const struct type *elem;
	u32 count;                  /* T_ARRAY */
	u32 btf;                    /* T_STRUCT, T_PTR with elem NULL: id in the kernel's BTF */
	const char *name;           /* T_STRUCT; T_INT of an enum, or TYPE_BOOL */
	const struct field *fields; /* T_STRUCT without BTF; T_TUPLE: elements */
	u32 n_fields;
	/* T_*STACK: depth, mode; T_HIST: bits, 1 when those of a time were chosen for it; T_LHIST:
	   min, max, step; T_TSERIES ...; T_INT: enum type_unit */
	s64 p[4];
	const char *str;
};

struct types {
	struct arena arena;
	struct kbtf *btf; /* NULL until something asks */
	bool btf_failed;
	struct err btf_err;
};

void types_init(struct types *ts);
void types_release(struct types *ts);
/* The kernel's BTF, or NULL. */
struct kbtf *types_btf(struct types *ts);

struct type *type_new(struct types *ts, enum type_kind kind, u32 size);
const struct type *type_int(struct types *ts, u32 size, bool is_signed);
const struct type *type_bool(struct types *ts);
/* The same number as a moment or a duration. */
const struct type *type_in_unit(struct types *ts, const struct type *t, enum type_unit unit);
/* A number of 8 bytes that has the same names as @t. */
const struct type *type_int64_of(struct types *ts, const struct type *t);
const struct type *type_str(struct types *ts, u32 size);
const struct type *type_buf(struct types *ts, u32 size);
const struct type *type_ptr(struct types *ts, const struct type *to, enum space space);
const struct type *type_array(struct types *ts, const struct type *of, u32 count);
const struct type *type_tuple(struct types *ts, const struct type *const *elems,
			      const char *const *names, u32 n);
/* A copy in another address space. */
const struct type *type_in_space(struct types *ts, const struct type *t, enum space space);
const struct type *type_from_btf(struct types *ts, u32 id, enum space space);
/* What a pointer points to; void if unknown. */
const struct type *type_pointee(struct types *ts, const struct type *t);
/* Member of a struct by name. */
bool type_field(struct types *ts, const struct type *t, const char *name, struct field *ret);
/* Name of field @i for messages, or NULL. */
const char *type_field_name(struct types *ts, const struct type *t, u32 i);
/* The type of field @i if it has no name: its members are those of @t. */
const struct type *type_anonymous(struct types *ts, const struct type *t, u32 i);

/* "uint64", "bool", "string" ...: words that begin a cast. */
bool type_is_name(const char *name);
/* The type of one of those words, or NULL. */
const struct type *type_by_name(struct types *ts, const char *name);
/* struct, union or enum or typedef of the kernel, or NULL. */
const struct type *type_by_btf_name(struct types *ts, const char *name, enum space space);

bool type_is_agg(const struct type *t);
bool type_is_number(const struct type *t); /* T_INT, T_PTR and what casts itself to one */
bool type_is_bool(const struct type *t);
/* Bytes in maps and events. */
u32 type_stored(const struct type *t);
/* A tuple whose elements have names, which are matched by them and not by position. */
bool type_is_record(const struct type *t);
/* Number of the element of this name, or n_fields. */
u32 type_record_field(const struct type *t, const char *name);
/* What sizeof says: numbers have the sizes that C gives them. */
u32 type_sizeof(const struct type *t);
u32 type_alignment(const struct type *t);
/* Can values of @b go where @a is expected? */
bool type_fits(const struct type *a, const struct type *b);
/* Equal down to the sizes of strings and the names of constants inside tuples, and buckets. */
bool type_same_size(const struct type *a, const struct type *b);
/* The type that holds both; they fit. */
const struct type *type_merge(struct types *ts, const struct type *a, const struct type *b);
/* As messages name it: "int64", "string[64]", "struct task_struct *". */
void type_print(const struct type *t, struct buf *out);

#endif
