/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to the text view: one file per kind of section. */
#ifndef VIEW_TEXT_H
#define VIEW_TEXT_H

#include "view/view.h"

/* A part of the line that has a colour of its own. */
struct text_mark {
	size_t at, len;
	enum style style;
};

enum { TEXT_MARKS = 16 };

struct text_out {
	const struct view_opts *opts;
	struct buf *out;
	struct buf line; /* the line being made; plain text without escapes */
	struct buf cell; /* scratch */
	struct text_mark marks[TEXT_MARKS];
	size_t n_marks;
};

/* Gives the line's text from @at on a colour of its own. */
void text_mark(struct text_out *o, size_t at, enum style style);
/* How much a share of the whole asks for attention. */
enum style text_weight(double percent);
/* Writes @o->line, cut at the width with a mark, without blanks at its end, and empties it. */
void text_flush(struct text_out *o, enum style style);
/* The same, never cut: what must be read in full. */
void text_flush_long(struct text_out *o, enum style style);
/* Appends foreign text to the line, made safe. */
void text_clean(struct text_out *o, const char *s);
/* Appends @s to the line in @columns columns: cut with an ellipsis, or filled up with blanks. */
void text_fit(struct text_out *o, const char *s, size_t columns, bool right);
/* Appends @s to the line, cut with an ellipsis to at most @columns columns. */
void text_cut(struct text_out *o, const char *s, size_t columns);

void text_table(struct text_out *o, const struct table *t);
void text_histogram(struct text_out *o, const struct histogram *h);
void text_tree(struct text_out *o, const struct tree *t);

#endif
