/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program as a tree. One node struct serves expressions and statements; what its fields mean
 * depends on the kind and is said there. Everything lives in the program's arena.
 */
#ifndef LANG_AST_H
#define LANG_AST_H

#include "base/arena.h"
#include "base/vec.h"
#include "lang/front/diag.h"

struct type;
struct node;

enum node_kind {
	/* expressions */
	N_INT,         /* ival; flag: unsigned; tn: the enum of a constant; ref: its type */
	N_STR,         /* str, str_len; flag: 'probetype', which is another one in other units */
	N_IDENT,       /* str: a builtin, an enum constant */
	N_VAR,         /* str with its '$'; ref: struct variable */
	N_MAP,         /* str with its '@'; kids: keys; ref: struct map_def */
	N_PARAM,       /* ival: number from 1 */
	N_PARAM_COUNT, /* $# */
	N_CALL,        /* str: function; kids: arguments */
	N_UNARY,       /* op, kids[0]; flag: its value is not used */
	N_INCDEC,      /* op: ++ or --; flag: prefix; kids[0] */
	N_BINARY,      /* op, kids[0], kids[1] */
	N_TERNARY,     /* kids: condition, yes, no; flag: comptime, one of them is dropped */
	N_FIELD,       /* str: field or number; kids[0]; flag: written with -> */
	N_INDEX,       /* kids[0] [ kids[1] ] */
	N_TUPLE,       /* kids; names in tuples of the form (a=1, b=2) */
	N_CAST,        /* tn, kids[0] */
	N_SIZEOF,      /* tn, or kids[0] */
	N_TYPEINFO,    /* tn, or kids[0] */
	N_OFFSETOF,    /* tn or kids[0], str: field */
	N_BLOCK_EXPR,  /* kids: statements, the last one an N_EXPR whose value it has */
	/* statements */
	N_BLOCK,   /* kids; flag: no semicolon at its end */
	N_IF,      /* kids: condition, then, [else]; flag: comptime, whose word begins at op, ival:
		      the kid that is left */
	N_WHILE,   /* kids: condition, body */
	N_FOR_MAP, /* kids: variable, map, body */
	N_FOR_RANGE, /* kids: variable, first, end, body */
	N_UNROLL,    /* kids: count, body */
	N_BREAK,
	N_CONTINUE,
	N_RETURN, /* kids: [value] */
	N_EXPR,   /* kids[0]; flag: _ = kids[0] */
	N_LET,    /* kids: variable, [value]; tn: declared type or NULL */
	N_ASSIGN, /* op: '=' or the operator of a compound one, which begins at ival; kids: target,
		     value */
};

enum { TYPE_NAME_DIMS = 4 };

/* op of a string: was a parameter, numbers are added to it as to a pointer; a format, which may be
 * of any length. */
enum { NODE_PARAM = 1, NODE_FORMAT };

/* A type as written: "struct task_struct *", "uint8[4]", "string[64]". */
struct node;

struct type_name {
	const char *name; /* "struct x", "uint64" */
	u32 pointers;
	u32 n_dims;
	u32 dims[TYPE_NAME_DIMS];
	u32 outer;       /* stars after the dimensions: pointers to the array */
	struct node *of; /* typeof(expression), instead of a name; or NULL */
	struct span_at at;
};

struct node {
	enum node_kind kind;
	u32 op;
	struct span_at at;
	bool flag;
	u32 str_len;
	const char *str;
	u64 ival;
	struct node **kids;
	u32 n_kids;
	u32 height; /* of the tree below: what walks it may recurse */
	const struct type_name *tn;
	const char *const *names; /* N_TUPLE: of the elements, or NULL */
	/* Filled by the checker: */
	const struct type *type;
	void *ref;
	bool folded; /* ival is the value, whatever the kind */
};

/* "tracepoint:sched:sched_*", parameters already put in. */
struct spec {
	const char *text;
	struct span_at at;
};

struct probe {
	VEC(struct spec) specs;
	struct node *predicate; /* or NULL */
	struct node *body;
	struct span_at at;
};

struct config_entry {
	const char *key;
	const char *value;
	struct span_at at;
};

struct macro_def {
	const char *name;
	struct node **params; /* N_VAR, N_MAP or N_IDENT */
	u32 n_params;
	struct node *body; /* N_BLOCK or N_BLOCK_EXPR */
	u32 depth;         /* of expansions under way */
	struct span_at at; /* of its name */
};

/* #define NAME TEXT, and the constants of enums in the script. */
struct define {
	const char *name;
	const char *text; /* NULL: value */
	s64 value;
	const struct type_name *of; /* the enum, or NULL */
	bool busy;                  /* being expanded */
};

struct map_decl {
	const char *name; /* with '@' */
	const char *kind; /* "hash", "lruhash", "percpuhash" ... */
	u64 size;
	struct span_at at;
};

/* A struct, union or enum defined in the script. */
struct c_field {
	const char *name; /* "" for an anonymous one */
	struct type_name tn;
	struct c_struct *inner; /* defined in place, or NULL */
	u32 bits;               /* width of a bit field, 0: none */
};

struct c_struct {
	const char *name; /* "struct x"; "" when anonymous */
	bool is_union;
	bool packed;
	u32 aligned; /* at least; 0: as its members need */
	VEC(struct c_field) fields;
	const struct type *type; /* filled by the checker */
};

/* A line with '#', as it was: the text of the program has blanks there. */
struct directive {
	struct span_at at;
	const char *text;
};

struct program {
	u32 first_blanked; /* 1 + where text begins that an '#if' has left out */
	struct arena arena;
	VEC(struct probe) probes;
	VEC(struct config_entry) config;
	VEC(struct macro_def) macros;
	VEC(struct define) defines;
	VEC(struct map_decl) map_decls;
	VEC(struct c_struct *) structs;
	VEC(const char *) includes;
	VEC(const char *) imports;
	VEC(struct directive) directives;
};

void program_init(struct program *p);
void program_release(struct program *p);
struct define *program_define(struct program *p, const char *name);

/* A copy of the whole subtree. */
struct node *node_clone(struct arena *a, const struct node *n);
/* Calls @visit for the node and everything below it; stops and returns true when it does. */
bool node_any(const struct node *n, bool (*visit)(const struct node *n, void *ctx), void *ctx);

#endif
