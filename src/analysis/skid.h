/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where samples of a clock pile up. Without a PMU a timer's interrupt samples, which comes late
 * where interrupts are off: at the function that switches them on again. What such a sample shows
 * is true for its callers, not for that function.
 */
#ifndef ANALYSIS_SKID_H
#define ANALYSIS_SKID_H

#include "profile/profile.h"
#include "result/result.h"

/* Samples of the event come from a timer's interrupt. */
bool skid_event(const struct profile *p, u16 event);
/* A function of the kernel at which such samples pile up. */
bool skid_function(const char *name);
/* The stack without functions at its end that only switched interrupts on. */
u32 skid_stack(const struct profile *p, u32 stack);
/* How much of the event such samples are. */
double skid_percent(const struct profile *p, u16 event);
/* Says what it means, if it is a percent or more; @charged: the callers have it. */
void skid_note(double percent, bool charged, struct result *ret);

#endif
