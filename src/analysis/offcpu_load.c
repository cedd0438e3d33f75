/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/offcpu_load.h"

int offcpu_load(struct offcpu_load *l, const char *path, enum offcpu_view view, struct err *e)
{
	(void)view;
	*l = (struct offcpu_load){ 0 };
	profile_init(&l->profile);
	return err_set(e, ENOSYS, "'%s': recordings are not read yet", path);
}

void offcpu_load_release(struct offcpu_load *l)
{
	vec_release(&l->waits);
	profile_release(&l->profile);
}
