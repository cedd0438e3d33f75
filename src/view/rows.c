/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/rows.h"

#include "base/fmt.h"
#include "base/json.h"
#include "view/cell.h"
#include "view/term.h"

enum { GAP = 1, TEXT_LEAST = 8, STACK_INDENT = 4 };

static bool is_cell(const struct rows_view *s, size_t i)
{
	const struct rows_column *c = &s->columns[i];

	return !c->absent && !c->hidden && !c->stack;
}

static size_t total_width(const struct rows_view *s)
{
	size_t total = 0;

	for (size_t i = 0; i < s->n; i++)
		if (s->shown[i])
			total += s->columns[i].width + (total ? GAP : 0);
	return total;
}

static size_t last_shown(const struct rows_view *s)
{
	size_t last = SIZE_MAX;

	for (size_t i = 0; i < s->n; i++)
		if (s->shown[i])
			last = i;
	return last;
}

/* The rightmost column that people can do without; SIZE_MAX: none is left. */
static size_t most_spare(const struct rows_view *s)
{
	for (size_t i = s->n; i-- > 0;)
		if (s->shown[i] && s->columns[i].spare)
			return i;
	return SIZE_MAX;
}

/* The last text may be cut: it counts with little. */
static size_t least_width(const struct rows_view *s)
{
	size_t last = last_shown(s), total = total_width(s);

	if (last != SIZE_MAX && s->columns[last].type == VALUE_TEXT &&
	    s->columns[last].width > TEXT_LEAST)
		total -= s->columns[last].width - TEXT_LEAST;
	return total;
}

static bool is_too_wide(const struct rows_view *s)
{
	return s->width > 0 && least_width(s) > (size_t)s->width;
}

/* Names may be cut, addresses may not: what is left of them is useless. */
static void shrink_texts(struct rows_view *s)
{
	for (size_t i = s->n; i-- > 0 && is_too_wide(s);) {
		struct rows_column *c = &s->columns[i];

		if (s->shown[i] && c->type == VALUE_TEXT && !c->uncut && c->width > TEXT_LEAST)
			c->width = MAX((u32)TEXT_LEAST, (u32)strlen(c->title));
	}
}

/* Spare columns go first, then names get shorter, then columns go from the right. */
static void choose_columns(struct rows_view *s)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		s->shown[i] = is_cell(s, i);
	while (is_too_wide(s) && (i = most_spare(s)) != SIZE_MAX)
		s->shown[i] = false;
	shrink_texts(s);
	while (is_too_wide(s) && (i = last_shown(s)) != SIZE_MAX && i > 1)
		s->shown[i] = false;
}

void rows_init(struct rows_view *s, enum rows_format format, const char *command,
	       struct rows_column *columns, size_t n, int width, bool color)
{
	*s = (struct rows_view){ .format = format,
				 .command = command,
				 .columns = columns,
				 .n = n,
				 .width = width,
				 .color = color };
	s->shown = xcalloc(n + 1, sizeof(*s->shown));
	for (size_t i = 0; i < n; i++)
		columns[i].width = MAX(columns[i].width, (u32)strlen(columns[i].title));
	choose_columns(s);
}

void rows_release(struct rows_view *s)
{
	free(s->shown);
	buf_release(&s->cell);
}

static bool on_right(const struct rows_column *c)
{
	return cell_is_number(c->type) && c->type != VALUE_TIME;
}

/*
 * Numbers are never cut; texts are, on a screen, where they would push other columns. The last
 * column has what is left of the line.
 */
static void put(struct rows_view *s, size_t i, bool last, size_t used, struct buf *out)
{
	const struct rows_column *c = &s->columns[i];
	size_t w = fmt_width(buf_str(&s->cell)), most = c->width;

	if (last && s->width > 0)
		most = (size_t)s->width > used ? MAX((size_t)s->width - used, (size_t)1) : 1;
	if (s->width > 0 && w > most && c->type == VALUE_TEXT) {
		buf_truncate(&s->cell, fmt_cut(buf_str(&s->cell), most));
		w = fmt_width(buf_str(&s->cell));
	}
	if (on_right(c) && w < c->width)
		buf_fill(out, ' ', c->width - w);
	buf_addstr(out, buf_str(&s->cell));
	if (!on_right(c) && !last && w < c->width)
		buf_fill(out, ' ', c->width - w);
}

static void text_line(struct rows_view *s, const struct value *cells, struct buf *out)
{
	size_t last = last_shown(s), start = out->len;

	for (size_t i = 0; i < s->n; i++) {
		if (!s->shown[i])
			continue;
		if (out->len > start)
			buf_fill(out, ' ', GAP);
		buf_reset(&s->cell);
		if (!cells)
			buf_addstr(&s->cell, s->columns[i].title);
		else if (s->columns[i].coarse && cells[i].type == VALUE_TIME)
			fmt_clock(&s->cell, cells[i].u, 0);
		else if (cells[i].type)
			cell_text(&s->cell, &cells[i]);
		else if (i != last)
			buf_addch(&s->cell, '-');
		put(s, i, i == last, out->len - start, out);
	}
	while (out->len > start && out->data[out->len - 1] == ' ')
		buf_truncate(out, out->len - 1);
	buf_addch(out, '\n');
}

/* Innermost frame first, as other tools show them. */
static void text_stack(struct rows_view *s, const char *folded, struct buf *out)
{
	size_t n = strlen(folded),
	       room = s->width > 0 ? (size_t)MAX(s->width - STACK_INDENT, 20) : 0;

	while (n) {
		size_t from = n;

		while (from && folded[from - 1] != ';')
			from--;
		buf_reset(&s->cell);
		fmt_clean(&s->cell, folded + from, n - from);
		if (room)
			buf_truncate(&s->cell, fmt_cut(buf_str(&s->cell), room));
		buf_fill(out, ' ', STACK_INDENT);
		buf_addstr(out, buf_str(&s->cell));
		buf_addch(out, '\n');
		n = from ? from - 1 : 0;
	}
}

static void json_schema(struct rows_view *s, struct buf *out)
{
	struct json j;

	json_init(&j, out, false);
	json_open(&j);
	json_kv_u64(&j, "schema", RESULT_SCHEMA);
	json_kv_str(&j, "command", s->command);
	json_key(&j, "columns");
	json_array(&j);
	for (size_t i = 0; i < s->n; i++) {
		if (s->columns[i].absent)
			continue;
		json_open(&j);
		json_kv_str(&j, "key", s->columns[i].key);
		json_kv_str(&j, "type", s->columns[i].kind);
		json_kv_str(&j, "unit", s->columns[i].unit);
		json_close(&j);
	}
	json_end(&j);
	json_close(&j);
	buf_addch(out, '\n');
}

static void json_row(struct rows_view *s, const struct value *cells, struct buf *out)
{
	struct json j;

	json_init(&j, out, false);
	json_open(&j);
	for (size_t i = 0; i < s->n; i++) {
		if (s->columns[i].absent)
			continue;
		json_key(&j, s->columns[i].key);
		cell_json(&j, &cells[i]);
	}
	json_close(&j);
	buf_addch(out, '\n');
}

static void csv_row(struct rows_view *s, const struct value *cells, struct buf *out)
{
	bool any = false;

	for (size_t i = 0; i < s->n; i++) {
		if (s->columns[i].absent)
			continue;
		if (any)
			buf_addch(out, ',');
		any = true;
		if (cells)
			cell_csv(out, &cells[i]);
		else
			cell_csv_text(out, s->columns[i].key);
	}
	buf_addch(out, '\n');
}

void rows_begin(struct rows_view *s, struct buf *out)
{
	if (s->format == ROWS_JSON) {
		json_schema(s, out);
	} else if (s->format == ROWS_CSV) {
		csv_row(s, NULL, out);
	} else {
		if (s->color)
			buf_addstr(out, term_style(STYLE_STRONG));
		text_line(s, NULL, out);
		if (s->color)
			buf_addstr(out, TERM_RESET);
	}
}

void rows_add(struct rows_view *s, const struct value *cells, struct buf *out)
{
	if (s->format == ROWS_JSON) {
		json_row(s, cells, out);
		return;
	}
	if (s->format == ROWS_CSV) {
		csv_row(s, cells, out);
		return;
	}
	text_line(s, cells, out);
	for (size_t i = 0; i < s->n; i++)
		if (s->columns[i].stack && !s->columns[i].absent && cells[i].type == VALUE_TEXT)
			text_stack(s, cells[i].s, out);
}
