/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bcc's argdist: probes with the expressions whose values are counted.
 *
 *	{p,r,t,u}:{library,category}:function(signature):type,...:expr,...[:filter][#label]
 */
#ifndef LANG_ARGDIST_H
#define LANG_ARGDIST_H

#include "lang/bcc/expr.h"
#include "lang/bcc/oneliner.h"

struct argdist_value {
	const char *type;
	const char *expr; /* as it was written */
};

struct argdist_probe {
	bool is_hist;
	bool is_default; /* nothing was said about what to count */
	const char *title;
	bool has_label;
	struct oneliner_spec spec;
	struct bcc_scope scope;
	VEC(struct argdist_value) values;
	const char *filter; /* or NULL */
};

/* Parses a specifier; everything that is kept goes to the arena. */
int argdist_parse(struct argdist_probe *p, struct arena *arena, const char *text, bool is_hist,
		  struct err *e);
void argdist_release(struct argdist_probe *p);

/*
 * Appends the program of probe number @number. Its map is @dNUMBER, a histogram or counts; with
 * @sums the sum of the values is in @sNUMBER. @predicate is " /.../" or "".
 */
int argdist_program(const struct argdist_probe *p, u32 number, const char *predicate, bool sums,
		    struct buf *out, struct err *e);

#endif
