/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Room for a new recording under a name that may be taken. What is a recording, or empty, moves
 * aside, as perf does; any other file stays unless it is to be overwritten.
 */
#ifndef RECORDER_ROOM_H
#define RECORDER_ROOM_H

#include "base/err.h"

/* Whether @path can be written, before the work of getting ready to; nothing is changed. */
int recorder_check_room(const char *path, bool overwrite, struct err *e);
/* Everything else works: now the existing file moves to PATH.old, unless it is to be overwritten.
 */
int recorder_move_aside(const char *path, bool overwrite, struct err *e);

#endif
