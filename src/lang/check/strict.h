/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Errors that exist only in bpftrace mode; otherwise these functions do nothing. */
#ifndef LANG_CHECK_STRICT_H
#define LANG_CHECK_STRICT_H

#include "lang/check/check.h"

/* Is this a word, or one after "__builtin_" that bpftrace has? */
bool strict_builtin(const struct comp *c, const char *name);
/* A bare word whose type is requested. */
void strict_word(struct comp *c, const struct node *n);
/* A literal that is longer than strings may be; @at is what is said to be too long. */
void strict_text(struct comp *c, const struct node *n, const struct node *at);
/* A signed index. */
void strict_index(struct comp *c, const struct node *n, const struct node *index);
/* Literals that have no result. */
void strict_fold(struct comp *c, const struct node *n);
/* Strings that are no literals are neither true nor false. */
void strict_condition(struct comp *c, const struct node *n, struct span_at at);
/* exit() in a for loop, which is a function of its own. */
void strict_exit(struct comp *c, const struct node *n);
/* Where an 'if comptime' has its condition: with the word and parentheses. */
struct span_at strict_comptime(const struct comp *c, const struct node *n);
/*
 * str() of literals takes any number of arguments, of which it uses two, and numbers as their text.
 * False: it does not apply.
 */
bool strict_long_str(struct comp *c, const struct node *n);
/* Divides by a zero that is no literal: done and said when the program runs. */
bool strict_divides(const struct comp *c, const struct node *n);
/* May the types meet in a variable, a map or a key? Pointers are no numbers. */
bool strict_pointers(struct comp *c, const struct type *a, const struct type *b);
/* The values of the map that a loop goes through. */
void strict_for_map(struct comp *c, const struct node *map);

/* A parameter that is not given: said in the first pass, which makes a number of it. */
void strict_param(struct comp *c, const struct node *n);
/* The type that the value of the map has for bpftrace: @t, or in a loop through one of aggregations
 * theirs. */
const struct type *strict_type(const struct comp *c, const struct node *n, const struct type *t);
/* Such a value, assigned to a map by @n. */
void strict_loop_value(struct comp *c, const struct node *n, const struct node *value);

#endif
