/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sums over the way from stacks to their roots, once for all samples: linear in the number of
 * stacks, not in the sum of their depths.
 */
#ifndef ANALYSIS_PATHS_H
#define ANALYSIS_PATHS_H

#include "profile/profile.h"

/* Adds to the weight of each stack, by its number, the weight of all that it called. */
void paths_sum(const struct profile *p, u64 *weights);
/*
 * For each stack 1 if it has a key, and none of its callers has the same: where recursion counts.
 * @keys: by stack, below @n_keys; 0: it has none. The caller frees it.
 */
u8 *paths_outermost(const struct profile *p, const u32 *keys, size_t n_keys);

#endif
