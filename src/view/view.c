/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/view.h"

#define VIEW(name) extern const struct view view_##name;
#include "views.inc"
#undef VIEW

static const struct view *const views[] = {
#define VIEW(name) &view_##name,
#include "views.inc"
#undef VIEW
};

const struct view *view_find(const char *name)
{
	if (streq(name, view_text.name))
		return &view_text;
	for (size_t i = 0; i < ARRAY_SIZE(views); i++)
		if (streq(views[i]->name, name))
			return views[i];
	return NULL;
}

const struct view *const *view_all(size_t *ret_n)
{
	*ret_n = ARRAY_SIZE(views);
	return views;
}
