/* SPDX-License-Identifier: GPL-2.0-or-later */
/* "Did you mean": the nearest of several names by edit distance. */
#ifndef CAPTURE_CLOSEST_H
#define CAPTURE_CLOSEST_H

#include "base/base.h"

enum { CLOSEST_NAME_MOST = 63 }; /* longer names are not compared */

struct closest {
	const char *word;
	size_t len;
	const char *best; /* NULL: nothing near enough so far */
	u32 distance;
};

/* @best must outlive the struct. */
void closest_init(struct closest *c, const char *word, size_t n);
void closest_offer(struct closest *c, const char *name);

#endif
