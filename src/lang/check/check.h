/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The checker: where it is in the program, and what its files and the tables of functions, builtins
 * and probe types use of it. The cursor lives as long as the compilation; the generator finds the
 * variables of its unit there.
 */
#ifndef LANG_CHECK_CHECK_H
#define LANG_CHECK_CHECK_H

#include "lang/comp.h"

struct variable {
	const char *name;
	u32 declared; /* 1 + offset of its let or first assignment */
	bool fixed;   /* its let gives the type */
	bool visible;
	bool assigned;
	bool empty;         /* declared, and nothing was assigned so far */
	struct span_at let; /* its let, when that assigns nothing */
	bool counts;        /* of a range: never below its begin */
	u32 depth;
	const struct type *type;
	const struct type *of_agg; /* of a loop through a map: what only a map holds, or NULL */
	s32 frame;                 /* offset in the frame; 0: in scratch */
	u32 scratch;
	u32 id; /* of the generator's placement; 0: none yet */
};

/* A named parameter that the script asks for. */
struct option {
	const char *name;
	const char *text; /* its default; NULL: value is */
	u64 value;
	bool other; /* asked for by something else than getopt() */
};

struct cursor {
	const struct probe *probe;
	const struct unit *unit;
	const struct target *target;
	VEC(struct variable *) vars; /* of the unit */
	u32 depth;
	u32 loop_depth;
	u32 for_depth;     /* of these, the for loops */
	u32 dead;          /* above 0: in a branch that is never taken */
	bool in_member;    /* the word is left of a dot */
	bool changed;      /* the type of a variable, in this pass */
	bool maps_changed; /* the type of a map, in this pass */
	bool final;        /* types are settled: errors are reported */
	u32 expansions;    /* of macros */
	VEC(struct option) options;
};

void check_expr(struct comp *c, struct node *n);
void check_stmt(struct comp *c, struct node *n);
void check_map(struct comp *c, struct node *n, bool write);
void check_sizeof(struct comp *c, struct node *n);
void check_var(struct comp *c, struct node *n);
void check_unary(struct comp *c, struct node *n);
void check_binary(struct comp *c, struct node *n);
void check_incdec(struct comp *c, struct node *n);
void check_ternary(struct comp *c, struct node *n);
/* The value of a setting; false when no setting has this name. */
bool config_value(struct comp *c, const char *name, struct node *ret);
/* Makes the node the record of all settings. */
void config_record(struct comp *c, struct node *n);
/* Named parameters that the script does not know are errors. */
void check_options(struct comp *c);
/* Leaves the type open. */
void check_none(struct comp *c, struct node *n);
void check_error(struct comp *c, const struct node *n, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* Hints at the name that is nearest to a mistyped one; @next gets @c. */
void check_suggest(struct comp *c, const char *word, const char *(*next)(void *ctx, size_t i));
/* "Undefined map", with the nearest that is defined. */
void check_no_map(struct comp *c, const struct node *n, const char *name);
/* Makes the node the integer @value. */
void check_fold(struct comp *c, struct node *n, u64 value, bool is_signed);
void check_fold_bool(struct comp *c, struct node *n, bool value);
const struct type *check_type_name(struct comp *c, const struct type_name *tn);
/* The text of a type for messages; lives in the arena. */
const char *check_type_text(struct comp *c, const struct type *t);
const struct type *check_int64(struct comp *c, bool is_signed);
bool check_is_int(const struct node *n);
/* The type of a value that is read: aggregations that are numbers become one. */
const struct type *check_value_type(struct comp *c, const struct node *n);
void check_assign_map(struct comp *c, struct node *n, struct node *target, struct node *value,
		      u32 op);
/* Makes room for what an operator makes of the variable. */
void check_widen(struct comp *c, struct variable *v, const struct node *at);
/* A variable of no name in n->ref: what the node makes outlives its statement. */
void check_keep(struct comp *c, struct node *n, const struct type *t);
struct variable *check_find_var(struct comp *c, const char *name);
/* Warnings in the place of bpftrace, about what is valid but perhaps not intended. */
void advise_discarded(struct comp *c, const struct node *e);
void advise_debugf(struct comp *c, const struct node *n);
/* A variable that nothing was assigned to yet. */
void advise_empty(struct comp *c, const struct node *n, const struct variable *v);
/* What the unit declares and never assigns to. */
void advise_unassigned(struct comp *c);
/* A number that becomes one of a type which does not hold all of its values. */
void advise_cast(struct comp *c, const struct node *value, const struct type *to);
void advise_cast_at(struct comp *c, struct span_at at, const struct type *t, const struct type *to);
void advise_unreachable(struct comp *c, const struct node *block);
void advise_while(struct comp *c, const struct node *n);
void advise_print(struct comp *c, const struct node *n, const struct type *t);
void advise_unstable(struct comp *c, const char *feature);
/* The pass that reports, for the unit whose code comes next. */
void check_unit_final(struct comp *c, const struct unit *u);

#endif
