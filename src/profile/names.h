/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names that travel with a recording. */
#ifndef PROFILE_NAMES_H
#define PROFILE_NAMES_H

#include "base/buf.h"
#include "recording/recording.h"
#include "symbol/symbol.h"

/*
 * The names of all code that the recording at @path touches, as bytes for its section
 * FEATURE_NAMES, those of run-time code, for its section FEATURE_CODE, and source lines with
 * inlined functions, for FEATURE_LINES: with them it shows the same names on any machine. Lines
 * are read as long as that takes little of the time that was recorded, small files first. The
 * recording may still be open for writing; what is flushed counts.
 */
struct profile_names {
	struct buf names, code, lines;
};
void profile_names_release(struct profile_names *n);
/* @wall_shift: from the time of a record to CLOCK_REALTIME; 0: not known. */
int profile_export_names(const char *path, u64 wall_shift, struct profile_names *ret,
			 struct err *e);

/* What a recording carries, for the look-ups of @symbols; a broken section costs names only. */
void profile_import_names(struct symbols *symbols, const struct recording *r);

#endif
