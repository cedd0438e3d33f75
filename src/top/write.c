/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/io.h"
#include "top/top.h"
#include "tui/export.h"

void top_write(struct top *t, const char *path)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	_cleanup_err_ struct err e = ERR_INIT;

	if (!*path)
		return;
	if (io_exists(path)) {
		top_complain(t, "'%s' exists: choose another name", path);
		return;
	}
	if (ends_with(path, ".data")) {
		if (t->o.input)
			top_complain(t, "this is a recording already");
		else
			machine_source_save(t->machine, path);
		return;
	}
	/* what is typed is not part of the picture */
	t->prompt = PROMPT_NONE;
	top_draw(t);
	if (ends_with(path, ".svg"))
		grid_export_svg(&t->grid, "fathom top", &out);
	else if (ends_with(path, ".ans"))
		grid_export_ansi(&t->grid, &out);
	else
		grid_export_text(&t->grid, &out);
	if (io_write_file_atomic(path, buf_str(&out), out.len, &e) < 0)
		top_complain(t, "%s", e.what);
	else
		top_say(t, "written: %s", path);
}
