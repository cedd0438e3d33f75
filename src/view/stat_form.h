/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts as text: for people, and in the two forms of 'perf stat' that scripts read. The latter
 * (-x and -j) are perf's byte for byte, also where its manual says something else: the spread
 * is before the run time.
 */
#ifndef VIEW_STAT_FORM_H
#define VIEW_STAT_FORM_H

#include "analysis/stat.h"
#include "base/buf.h"

struct stat_form {
	const char *separator; /* CSV */
	bool interval;         /* lines begin with @time */
	bool summary;          /* all of it, after intervals */
	bool repeated;         /* of several runs: with their spread */
	bool metric_only;
	bool header; /* of a table that continues: only its first part has one */
	bool color;
	bool big;            /* thousands are separated */
	bool table;          /* each run by itself */
	bool whole;          /* of more than the program, whose times do not belong there */
	bool as_perf;        /* the text that perf prints, with a line for each event */
	u64 time;            /* ns since the start */
	int width;           /* for people; 0: no limit */
	const char *subject; /* "'sleep 1'", "the whole machine" */
};

void stat_form_csv(const struct stat_set *s, const stat_lines *lines, const struct stat_form *f,
		   struct buf *out);
void stat_form_json(const struct stat_set *s, const stat_lines *lines, const struct stat_form *f,
		    struct buf *out);
void stat_form_text(const struct stat_set *s, const stat_lines *lines, const struct stat_form *f,
		    struct buf *out);

#endif
