/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Output files in directories where others can write: made beside under a random name and moved
 * in place by descriptor. A link or a file put there by others is replaced, never written
 * to. Links of root and our own are followed, those of other users are not.
 */
#ifndef BASE_OUTFILE_H
#define BASE_OUTFILE_H

#include "base/err.h"

enum { OUTFILE_TEMP = 32 };

struct outfile {
	int dir;
	char *name; /* in @dir */
	int fd;     /* open for writing, mode 0600 */
	char temp[OUTFILE_TEMP];
};

#define OUTFILE_INIT                 \
	{                            \
		.dir = -1, .fd = -1, \
	}

int outfile_open(struct outfile *o, const char *path, struct err *e);
/* Gives it its name, in place of what has that name. */
int outfile_commit(struct outfile *o);
/* Deletes what was not committed; closes. */
void outfile_release(struct outfile *o);

/* A new file in @dir under a name of its own, for writing; *@ret is the name. */
int outfile_temp(int dir, char ret[OUTFILE_TEMP]);
#define OUTFILE_TEMP_PREFIX ".fathom-"

#endif
