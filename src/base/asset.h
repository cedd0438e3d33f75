/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of web/ and tools/ that the build put into the binary, gzip-compressed. */
#ifndef BASE_ASSET_H
#define BASE_ASSET_H

#include "base/base.h"

struct asset {
	const char *name; /* "web/viewer.css"; NULL ends the table */
	const u8 *gzip;
	size_t size;
};

/* NULL: no asset of that name. */
const struct asset *asset_find(const char *name);
/* The whole table, ended by an asset without a name. */
const struct asset *asset_all(void);

#endif
