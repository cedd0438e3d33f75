/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/asset.h"

/* Made by scripts/gen-assets. */
extern const struct asset fathom_assets[] __attribute__((visibility("hidden")));

const struct asset *asset_all(void)
{
	return fathom_assets;
}

const struct asset *asset_find(const char *name)
{
	for (const struct asset *a = fathom_assets; a->name; a++)
		if (streq(a->name, name))
			return a;
	return NULL;
}
