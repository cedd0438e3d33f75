/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the samples of a function say about its code: the share of each instruction and of each
 * source line, the jumps inside as arrows, two recordings of the same function side by side.
 */
#ifndef ANALYSIS_ANNOTATE_H
#define ANALYSIS_ANNOTATE_H

#include "code/listing.h"
#include "code/source.h"
#include "result/result.h"

enum { ANNOTATE_LANES = 4 };

/* How a line relates to an arrow in one lane. */
enum arrow_part { ARROW_NONE, ARROW_THROUGH, ARROW_FROM, ARROW_TO };

struct annotate_arrows {
	u8 *parts;    /* of line i in lane k: parts[i * ANNOTATE_LANES + k], enum arrow_part */
	bool *top;    /* the upper end of the arrow; likewise */
	size_t lanes; /* in use; the innermost is 0 */
	u64 left_out; /* jumps for which no lane was free */
};

/* Of the function's weight of an event, in percent. */
double annotate_percent(const struct listing *l, const struct listing_line *line, size_t event);
/* The heaviest jumps inside first, short ones inside of longer ones. */
void annotate_arrows_init(struct annotate_arrows *a, const struct listing *l);
void annotate_arrows_release(struct annotate_arrows *a);

/* Tables for machines: the function's lines and its instructions. */
void annotate_result(const struct listing *l, const struct hits *h, struct source_files *files,
		     struct result *ret);
/* The heaviest lines of an event, without those below @min percent; to be released. */
struct line_sum {
	const char *file;
	u32 line;
	u64 samples, weight;
};
typedef VEC(struct line_sum) line_sums;
void annotate_line_sums(const struct listing *l, size_t event, double min, line_sums *ret);
/* Caveats: skid, patched code, missing debug information, omitted parts. */
void annotate_notes(const struct listing *l, const struct hits *h, struct result *ret);
/* The heaviest source lines; @max 0: all. Without lines nothing is added. */
void annotate_hot_lines(const struct listing *l, const struct hits *h, struct source_files *files,
			size_t max, struct result *ret);
/*
 * The same function in two recordings: by source line where both have lines, otherwise by
 * instruction where the code is the same; -EXDEV: neither, and @e says so.
 */
int annotate_diff(const struct listing *before, const struct hits *h, const struct listing *after,
		  const struct hits *g, struct source_files *files, struct result *ret,
		  struct err *e);

#endif
