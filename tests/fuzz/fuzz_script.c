/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as the text of perf script, drawn and folded again. */
#include "analysis/flame.h"
#include "analysis/fold.h"
#include "profile/load.h"
#include "view/svg.h"
#include "view/term_flame.h"

enum { INPUT_MAX = 1 << 16 };

static int drop(struct buf *text, void *ctx)
{
	(void)ctx;
	buf_reset(text);
	return 0;
}

static void draw(struct profile *p, bool reverse, bool chart)
{
	struct flame_opts opts = { .reverse = reverse, .chart = chart, .group = GROUP_COMM };
	struct svg_opts svg = { .title = "x",
				.height = 16,
				.fonttype = "x",
				.fontsize = 12,
				.fontwidth = 0.59,
				.nametype = "x",
				.factor = 1 };
	struct term_flame_opts term = { .width = 80, .color = true, .unicode = true };
	_cleanup_buf_ struct buf out = BUF_INIT;
	struct flame f;

	flame_choose_event(p, &opts);
	if (flame_init(&f, p, &opts, NULL) < 0)
		return;
	svg_flame(&f, &svg, &out);
	term_flame(&f, &term, &out);
	flame_release(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_err_ struct err e = ERR_INIT;
	struct profile p;

	if (size > INPUT_MAX)
		return 0;
	profile_init(&p);
	if (profile_load_script(&p, (const char *)data, size, NULL, &e) < 0) {
		if (!e.what)
			abort();
	} else {
		fold_write(&p, &(struct fold_opts){ .kernel = true },
			   &(struct fold_sink){ drop, NULL });
		draw(&p, false, false);
		draw(&p, true, false);
		draw(&p, false, true);
	}
	profile_release(&p);
	return 0;
}
