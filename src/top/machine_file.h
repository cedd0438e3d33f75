/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters as a recording without samples: what fathom top --record leaves, and -i reads. */
#ifndef TOP_MACHINE_FILE_H
#define TOP_MACHINE_FILE_H

#include "base/err.h"
#include "counters/track.h"

int machine_file_write(const char *path, const struct track_writer *track, struct err *e);

#endif
