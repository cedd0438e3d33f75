/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/term_flame.h"

#include "base/fmt.h"
#include "base/text.h"
#include "view/term.h"

enum { LABEL_LEAST = 3, PERCENT_ROOM = 7, WIDTH_LEAST = 20 };

struct canvas {
	const struct flame *flame;
	const struct term_flame_opts *opts;
	struct svg_colors colors;
	struct buf *out;
	size_t width;
	bool true_color;
	size_t at; /* columns written of this line */
	u64 thin;  /* boxes without a column of their own */
};

/* --- colour -------------------------------------------------------------------------------- */

static unsigned int cube(u8 v)
{
	return v < 48 ? 0 : v < 115 ? 1 : (v - 35u) / 40;
}

static void begin_color(struct canvas *c, struct rgb color)
{
	if (c->true_color)
		buf_addf(c->out, "\033[30;48;2;%u;%u;%um", color.r, color.g, color.b);
	else
		buf_addf(c->out, "\033[30;48;5;%um",
			 16 + 36 * cube(color.r) + 6 * cube(color.g) + cube(color.b));
}

static bool has_true_color(void)
{
	const char *term = getenv("COLORTERM");

	return term && (streq(term, "truecolor") || streq(term, "24bit"));
}

/* --- boxes --------------------------------------------------------------------------------- */

static void pad_to(struct canvas *c, size_t column)
{
	if (column > c->at) {
		buf_fill(c->out, ' ', column - c->at);
		c->at = column;
	}
}

/* The name in @room columns, with its share if that fits, too. */
static void add_label(struct canvas *c, const struct flame_box *b, size_t room)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	size_t len, end, used;
	const char *name = flame_name(c->flame, b, &len);

	fmt_clean(&text, name, len);
	if (fmt_width(buf_str(&text)) + PERCENT_ROOM <= room)
		buf_addf(&text, " %.1f%%",
			 100 * (double)flame_node(c->flame, b)->total / c->flame->whole);
	used = fmt_width(buf_str(&text));
	if (used > room) {
		end = fmt_cut(buf_str(&text), room - (c->opts->unicode ? 1 : 2));
		buf_truncate(&text, end);
		buf_addstr(&text, c->opts->unicode ? "…" : "..");
		used = fmt_width(buf_str(&text));
	}
	buf_add(c->out, buf_str(&text), text.len);
	buf_fill(c->out, ' ', room - MIN(used, room));
}

/* From column @x, @w columns wide: with colour a gap parts it from the next, otherwise a bar. */
static void add_box(struct canvas *c, const struct flame_box *b, size_t x, size_t w)
{
	size_t inner = w > 1 ? w - 1 : w;

	pad_to(c, x);
	if (!c->opts->color) {
		buf_addch(c->out, '|');
		inner = w - 1;
	} else {
		begin_color(c, svg_color(&c->colors, b));
	}
	if (inner >= LABEL_LEAST)
		add_label(c, b, inner);
	else
		buf_fill(c->out, ' ', inner);
	if (c->opts->color) {
		buf_addstr(c->out, TERM_RESET);
		buf_fill(c->out, ' ', w - inner);
	}
	c->at += w;
}

static size_t column_of(const struct canvas *c, u64 weight)
{
	size_t x = (size_t)((double)weight / c->flame->total * (double)c->width + 0.5);

	return MIN(x, c->width);
}

/* --- rows ---------------------------------------------------------------------------------- */

/* Boxes by row, left to right: heads[row] is the first, next[box] the one after, UINT32_MAX none.
 */
struct rows {
	u32 *heads, *tails, *next;
};

static void sort_rows(const struct flame *f, struct rows *r)
{
	r->heads = xreallocarray(NULL, f->rows, sizeof(u32));
	r->tails = xreallocarray(NULL, f->rows, sizeof(u32));
	r->next = xreallocarray(NULL, f->boxes.len, sizeof(u32));
	memset(r->heads, 0xff, f->rows * sizeof(u32));
	for (u32 i = 0; i < f->boxes.len; i++) {
		u32 depth = f->boxes.items[i].depth;

		if (r->heads[depth] == UINT32_MAX)
			r->heads[depth] = i;
		else
			r->next[r->tails[depth]] = i;
		r->tails[depth] = i;
		r->next[i] = UINT32_MAX;
	}
}

static void rows_release(struct rows *r)
{
	free(r->heads);
	free(r->tails);
	free(r->next);
}

static void add_row(struct canvas *c, const struct rows *r, u32 depth)
{
	c->at = 0;
	for (u32 i = r->heads[depth]; i != UINT32_MAX; i = r->next[i]) {
		const struct flame_box *b = &c->flame->boxes.items[i];
		size_t x = column_of(c, b->start);
		size_t end = column_of(c, b->start + flame_node(c->flame, b)->total);

		if (end > x)
			add_box(c, b, x, end - x);
		else
			c->thin++;
	}
	if (!c->opts->color)
		buf_addch(c->out, '|');
	buf_addch(c->out, '\n');
}

/* --- words --------------------------------------------------------------------------------- */

/* One after the other as far as the width goes; the next line takes the rest. */
static void add_legend(struct canvas *c)
{
	_cleanup_buf_ struct buf item = BUF_INIT;
	svg_legend legend = { 0 };
	size_t column = 0;

	svg_colors_legend(&c->colors, &legend);
	vec_each(l, &legend) {
		size_t swatch = c->opts->color ? 3 : 0, width;

		buf_reset(&item);
		fmt_clean(&item, l->text, strlen(l->text));
		if (l->share >= 0)
			buf_addf(&item, " %.1f%%", 100 * l->share);
		width = swatch + fmt_width(buf_str(&item));
		if (column && column + 2 + width > c->width) {
			buf_addch(c->out, '\n');
			column = 0;
		} else if (column) {
			buf_addstr(c->out, "  ");
			column += 2;
		}
		if (swatch) {
			begin_color(c, l->color);
			buf_addstr(c->out, "  " TERM_RESET " ");
		}
		buf_addstr(c->out, buf_str(&item));
		column += width;
	}
	if (column)
		buf_addch(c->out, '\n');
	vec_release(&legend);
}

static void add_left_out(struct canvas *c)
{
	_cleanup_buf_ struct buf line = BUF_INIT;
	const struct flame *f = c->flame;
	unsigned long long narrow = f->narrow + c->thin;

	if (f->deep) {
		buf_addf(&line, "%.1f%% of the weight goes deeper than these %u rows",
			 100 * (double)f->deep_weight / f->whole, f->rows);
		text_fill(c->out, buf_str(&line), line.len, 0, 0, c->width);
	}
	if (narrow) {
		buf_reset(&line);
		buf_addf(&line, "%llu boxes are narrower than a column and not shown", narrow);
		text_fill(c->out, buf_str(&line), line.len, 0, 0, c->width);
	}
}

void term_flame(const struct flame *f, const struct term_flame_opts *opts, struct buf *out)
{
	struct canvas c = {
		.flame = f,
		.opts = opts,
		.out = out,
		.width = (size_t)MAX(opts->width - !opts->color, WIDTH_LEAST),
		.true_color = has_true_color(),
	};
	_cleanup_buf_ struct buf subtitle = BUF_INIT, clean = BUF_INIT;
	struct rows rows;

	svg_colors_init(&c.colors, f, &opts->colors);
	sort_rows(f, &rows);
	for (u32 i = 0; i < f->rows; i++)
		add_row(&c, &rows, opts->inverted ? i : f->rows - 1 - i);
	rows_release(&rows);
	flame_subtitle(f, &subtitle);
	fmt_clean(&clean, buf_str(&subtitle), subtitle.len);
	text_fill(out, buf_str(&clean), clean.len, 0, 0, c.width);
	if (opts->color)
		add_legend(&c);
	add_left_out(&c);
}
