/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Closing the last descriptor of a tracepoint takes the kernel 30 to 50 ms, one after the other:
 * hundreds of them would hold up the end of a command for many seconds. A process without a name
 * to anybody takes them over, closes everything else, and ends.
 */
#ifndef CAPTURE_CLOSER_H
#define CAPTURE_CLOSER_H

#include "base/base.h"

/* Closes them, in another process if one can be obtained. Sorts @fds. */
void closer_close(int *fds, size_t n);

#endif
