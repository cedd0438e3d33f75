/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A compiled print format: only for the files tracefield*.c. */
#ifndef PROFILE_TRACEFIELD_TREE_H
#define PROFILE_TRACEFIELD_TREE_H

#include "base/arena.h"
#include "base/vec.h"
#include "capture/tracepoint.h"
#include "profile/tracefield.h"

enum {
	TRACEFIELD_NODES_MOST = 1 << 16,
	TRACEFIELD_DEPTH_MOST = 200,    /* of nested parentheses */
	TRACEFIELD_TREE_MOST = 1000,    /* levels of the tree: evaluation recurses */
	TRACEFIELD_TEXT_MOST = 1 << 16, /* bytes that one sample may become */
};

/* Nodes are found by their index; 0: none. */
enum node_kind {
	NODE_NONE,
	NODE_NUMBER,   /* value */
	NODE_TEXT,     /* text: a literal */
	NODE_NAME,     /* text: a word without a known value (jiffies): 0 */
	NODE_FIELD,    /* value: index of the field */
	NODE_DYNAMIC,  /* __get_dynamic_array(field) */
	NODE_LENGTH,   /* __get_dynamic_array_len(field) */
	NODE_STRING,   /* __get_str(field) */
	NODE_BITMASK,  /* __get_bitmask(field) */
	NODE_ADDRESS,  /* &a */
	NODE_LOAD,     /* *a: value is the size of what is there */
	NODE_INDEX,    /* a[b] */
	NODE_CAST,     /* (type)a: value is the size, 0 for pointers; is_signed */
	NODE_UNARY,    /* op a */
	NODE_BINARY,   /* a op b */
	NODE_CHOICE,   /* a ? b : c */
	NODE_FLAGS,    /* __print_flags(a, b, { value, name }...): list */
	NODE_SYMBOLIC, /* __print_symbolic(a, list) */
	NODE_HEX,      /* __print_hex(a, b) */
	NODE_HEX_STR,  /* __print_hex_str(a, b): without spaces */
	NODE_ARRAY,    /* __print_array(a, b, value: element size) */
};

enum operator{
	OP_NOT = 1,
	OP_INVERT,
	OP_MINUS,
	OP_MUL,
	OP_DIV,
	OP_MOD,
	OP_ADD,
	OP_SUB,
	OP_SHL,
	OP_SHR,
	OP_LT,
	OP_GT,
	OP_LE,
	OP_GE,
	OP_EQ,
	OP_NE,
	OP_AND,
	OP_XOR,
	OP_OR,
	OP_LOGICAL_AND,
	OP_LOGICAL_OR,
};

/* One { value, "name" } of a list. */
struct tracefield_name {
	s64 value;
	const char *name;
};

struct node {
	u8 kind; /* enum node_kind */
	u8 op;   /* enum operator */
	bool is_signed;
	u16 depth; /* of the tree below */
	u32 a, b, c;
	s64 value;
	const char *text;
	u32 first, n; /* names[first, first + n) */
};

/* One piece of the format string: literal text, then a conversion (conv 0: none). */
struct piece {
	const char *text;
	u32 len;
	char conv;       /* d i u o x X c s p, or 0 */
	char sub[8];     /* what follows %p: "I6c" */
	char flags[6];   /* "-+ #0" */
	s8 length;       /* hh -2, h -1, l 1, ll 2 */
	bool star_width; /* the width is the argument before */
	bool star_precision;
	s32 width, precision; /* -1: none */
	u32 width_arg, precision_arg, arg;
};

struct tracefield {
	struct tracepoint_format format;
	struct arena arena;
	const char *fault;
	VEC(struct node) nodes; /* [0] unused */
	VEC(struct tracefield_name) names;
	VEC(struct piece) pieces;
};

/* tracefield_parse.c: fills nodes and pieces; false sets @t->fault. */
bool tracefield_compile(struct tracefield *t, const char *print_fmt);
/* tracefield_pieces.c: splits the format string and gives its conversions their arguments. */
bool tracefield_split(struct tracefield *t, const char *fmt, const u32 *args, size_t n_args);

/* One run over the data of a sample. */
struct tracefield_run {
	const struct tracefield *t;
	const struct tracefield_env *env;
	const u8 *data;
	u32 size;
	struct buf *out;
};

struct tracefield_bytes {
	const u8 *p; /* NULL: none */
	u32 n;
};

struct tracefield_value {
	u64 bits;
	bool is_unsigned; /* all 64 bits count: compare and divide without sign */
};

/* tracefield_eval.c */
struct tracefield_value tracefield_eval(const struct tracefield_run *r, u32 node);
/* The bytes that an array, a string or the address of a field stands for. */
struct tracefield_bytes tracefield_eval_bytes(const struct tracefield_run *r, u32 node);
u64 tracefield_read(const struct tracefield_run *r, const u8 *p, u32 size);
struct tracefield_bytes tracefield_field_bytes(const struct tracefield_run *r,
					       const struct tracepoint_field *f);
/* tracefield_text.c: the node as text, as %s shows it. */
void tracefield_eval_text(const struct tracefield_run *r, u32 node, struct buf *out);
/* tracefield_address.c: %pM, %pI4, %pI6c, %pIS, %pU; false: not one of these. */
bool tracefield_print_address(const struct tracefield_run *r, const struct piece *p);

#endif
