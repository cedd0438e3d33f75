/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Causes that account for the time: over the span of a wait, what its waker did. A wait becomes
 * parts, one for each thing that the waker did (ran, wanted a CPU, was blocked and on whom); their
 * times add up to that of the wait.
 */
#ifndef WAITS_BLAME_H
#define WAITS_BLAME_H

#include "waits/observed.h"

/*
 * The waits of @o from index @from on, each with its end, as parts. Of wakers that were not
 * observed nothing is known but where they woke. The largest part of a wait counts it.
 */
void waits_blame(const struct observed *o, size_t from, wait_list *ret);

#endif
