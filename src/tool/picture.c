/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tool/picture.h"

#include "analysis/flame.h"
#include "base/folded.h"
#include "profile/load.h"
#include "view/html.h"
#include "view/svg.h"
#include "view/svg_heatmap.h"

enum { FOLDED_MOST = 256 << 20, POINTS_MOST = 1 << 24 };

static size_t find_kind(const struct tool *t, enum column_kind kind)
{
	for (size_t i = 0; i < t->header.columns.len; i++)
		if (t->header.columns.items[i].kind == kind)
			return i;
	return SIZE_MAX;
}

/* What a stack weighs: bytes, otherwise time, otherwise how often it occurred, otherwise each row
 * counts one. */
static const struct {
	enum column_kind kind;
	const char *unit;
} weights[] = { { KIND_BYTES, "bytes" }, { KIND_DURATION, "ns" }, { KIND_COUNT, "" } };

static u64 weight_of(const struct tool *t, const struct value *cells)
{
	for (size_t i = 0; i < ARRAY_SIZE(weights); i++) {
		size_t at = find_kind(t, weights[i].kind);

		if (at != SIZE_MAX && cells[at].type)
			return cells[at].u;
	}
	return 1;
}

/* Several columns of stacks are one, each outside of the next. */
static void add_stack(struct picture *p, const struct tool *t, const struct value *cells)
{
	size_t start = p->folded.len;

	for (size_t i = 0; i < t->header.columns.len; i++) {
		if (t->header.columns.items[i].kind != KIND_STACK || cells[i].type != VALUE_TEXT ||
		    !*cells[i].s)
			continue;
		folded_next(&p->folded, start);
		buf_addstr(&p->folded, cells[i].s);
	}
	if (p->folded.len > start)
		folded_weight(&p->folded, weight_of(t, cells));
}

void picture_add(struct picture *p, const struct tool *t, const struct tool_args *a,
		 const struct value *cells, u64 wall_ns)
{
	size_t at = a->heatmap ? find_kind(t, KIND_DURATION) : SIZE_MAX;

	if (p->folded.len > FOLDED_MOST || p->points.len > POINTS_MOST) {
		p->left_out++;
		return;
	}
	if (a->flame)
		add_stack(p, t, cells);
	if (at != SIZE_MAX && cells[at].type)
		vec_push(&p->points,
			 (struct latency_point){ .time = wall_ns, .value = cells[at].u });
}

/* Times and bytes have their unit; each of them is one sample. */
static void name_weight(struct profile *p, const struct tool *t)
{
	size_t at = SIZE_MAX, i = 0;

	while (i < ARRAY_SIZE(weights) && (at = find_kind(t, weights[i].kind)) == SIZE_MAX)
		i++;
	if (at == SIZE_MAX || !weights[i].unit[0] || !p->events.len)
		return;
	p->events.items[0].name = profile_string(p, t->header.columns.items[at].name);
	p->events.items[0].unit = profile_string(p, weights[i].unit);
	p->events.items[0].samples = p->samples.len;
	vec_each(s, &p->samples)
		s->count = 1;
}

static int draw_svg(struct profile *profile, const char *title, struct buf *out, struct err *e)
{
	struct svg_opts opts = { SVG_OPTS_DEFAULT, .title = title, .subtitle = "" };
	struct flame_opts fopts = { 0 };
	struct flame flame;
	int rc;

	flame_choose_event(profile, &fopts);
	rc = flame_init(&flame, profile, &fopts, e);
	if (rc == 0) {
		svg_flame(&flame, &opts, out);
		flame_release(&flame);
	}
	return rc;
}

static int draw_flame(const struct picture *p, const struct tool *t, bool page, struct buf *out,
		      struct err *e)
{
	struct html_opts opts = { .title = t->header.summary };
	struct profile profile;
	int rc;

	profile_init(&profile);
	rc = profile_load_folded(&profile, buf_str(&p->folded), p->folded.len, e);
	if (rc == 0) {
		name_weight(&profile, t);
		rc = page ? html_write(&profile, &opts, out, e)
			  : draw_svg(&profile, opts.title, out, e);
	}
	profile_release(&profile);
	return rc;
}

static int draw_heatmap(const struct picture *p, const struct tool *t, struct buf *out,
			struct err *e)
{
	struct heat_view view = { .title = t->header.summary, .log_count = true };
	struct heatmap_opts opts = { 0 };
	struct heatmap map = { 0 };
	int rc = heatmap_latency(&map, &p->points, &opts, e);

	if (rc == 0)
		svg_heatmap(&map, &view, out);
	heatmap_release(&map);
	return rc;
}

static int write_one(struct context *ctx, const struct tool_args *a, const char *path,
		     const struct buf *text)
{
	struct output_args o = { .path = path, .force = a->output.force };

	return output_write(ctx, &o, text);
}

int picture_write(struct picture *p, struct context *ctx, const struct tool *t,
		  const struct tool_args *a)
{
	_cleanup_buf_ struct buf flame = BUF_INIT, heat = BUF_INIT;
	int rc = 0;

	if (a->flame && !p->folded.len)
		rc = err_set(&ctx->err, ENODATA, "there was no stack to draw");
	else if (a->flame)
		rc = draw_flame(p, t, output_is(&(struct output_args){ .path = a->flame }, "html"),
				&flame, &ctx->err);
	if (rc == 0 && a->flame)
		rc = write_one(ctx, a, a->flame, &flame);
	if (rc == 0 && a->heatmap && !p->points.len)
		rc = err_set(&ctx->err, ENODATA, "there was nothing to draw");
	else if (rc == 0 && a->heatmap)
		rc = draw_heatmap(p, t, &heat, &ctx->err);
	if (rc == 0 && a->heatmap)
		rc = write_one(ctx, a, a->heatmap, &heat);
	return rc;
}

void picture_release(struct picture *p)
{
	buf_release(&p->folded);
	vec_release(&p->points);
}
