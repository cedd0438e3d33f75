/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/flame_names.h"

static u32 module_name(struct profile *p, u32 module)
{
	const char *path = profile_str(p, module), *slash = strrchr(path, '/');
	_cleanup_free_ char *text = NULL;

	path = slash ? slash + 1 : path;
	text = *path == '[' ? xstrdup(path) : xasprintf("[%s]", path);
	return profile_string(p, text);
}

static u32 shown_name(struct profile *p, const struct frame *f, u32 unknown)
{
	return f->name == unknown && f->module ? module_name(p, f->module) : f->name;
}

u32 *flame_shown_frames(struct profile *p)
{
	u32 n = (u32)p->frames.len, unknown = profile_string(p, "[unknown]");
	_cleanup_map_ struct map known = MAP_INIT;
	u32 *shown = xcalloc(n, sizeof(*shown));

	for (u32 i = 1; i < n; i++) {
		struct frame f = p->frames.items[i];
		u32 name = shown_name(p, &f, unknown);
		u64 *id = map_at(&known, (u64)name << 8 | f.kind);

		if (!*id && name == f.name) {
			*id = i;
		} else if (!*id) {
			f.name = name;
			*id = profile_get_frame(p, &f);
		}
		shown[i] = (u32)*id;
	}
	return shown;
}
