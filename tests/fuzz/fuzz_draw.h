/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A profile, folded and drawn in all ways. */
#ifndef FATHOM_TESTS_FUZZ_DRAW_H
#define FATHOM_TESTS_FUZZ_DRAW_H

#include "analysis/flame.h"
#include "view/fold.h"
#include "view/svg.h"
#include "view/term_flame.h"

static inline int fuzz_drop(struct buf *text, void *ctx)
{
	(void)ctx;
	buf_reset(text);
	return 0;
}

static inline void fuzz_draw_one(struct profile *p, bool reverse, bool chart)
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

static inline void fuzz_draw(struct profile *p)
{
	fold_write(p, &(struct fold_opts){ .kernel = true },
		   &(struct fold_sink){ fuzz_drop, NULL });
	fuzz_draw_one(p, false, false);
	fuzz_draw_one(p, true, false);
	fuzz_draw_one(p, false, true);
}

#endif
