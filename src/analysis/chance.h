/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether two counts of samples differ by more than chance. */
#ifndef ANALYSIS_CHANCE_H
#define ANALYSIS_CHANCE_H

#include "base/base.h"

/*
 * The chance (0..1, two-sided) of counts that differ at least as much when nothing changed. Each
 * of the @after + @before samples falls on the later side with probability @share.
 */
double chance_of(u64 after, u64 before, double share);

#endif
