/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which rows are shown: words, as in htop ("nginx|redis": any of them in command, user or number),
 * or a condition over columns:
 *
 *	cpu > 5 and not (user = root or command ~ "kworker")
 *
 * Numbers may have K, M, G; ~ looks for a text, = compares one as a whole.
 */
#ifndef TOP_FILTER_H
#define TOP_FILTER_H

#include "base/err.h"
#include "top/columns.h"

enum { FILTER_STEPS = 64, FILTER_TEXT = 256 };

struct filter_step {
	u8 op;
	u16 column;
	u16 text; /* offset into texts */
	double number;
};

struct filter {
	u32 n;
	bool words; /* not a condition */
	u32 n_texts;
	struct filter_step steps[FILTER_STEPS];
	char texts[FILTER_TEXT + 2];
};

/* "" matches all. -EINVAL: what is wrong, in @e; columns are known then, so it is not a word. */
int filter_parse(struct filter *f, const char *text, struct err *e);
bool filter_match(const struct filter *f, const struct top_task *t, const struct top_context *ctx);

#endif
