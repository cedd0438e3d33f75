/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For people: header, sections in their order, notes. */
#include "view/view.h"

#include "base/fmt.h"
#include "base/text.h"
#include "view/cell.h"
#include "view/term.h"
#include "view/text.h"

/* As perf has it. */
enum style text_weight(double percent)
{
	return percent >= 5 ? STYLE_HOT : percent >= 0.5 ? STYLE_GOOD : STYLE_NONE;
}

void text_mark(struct text_out *o, size_t at, enum style style)
{
	if (style != STYLE_NONE && o->opts->color && o->n_marks < ARRAY_SIZE(o->marks))
		o->marks[o->n_marks++] =
			(struct text_mark){ .at = at, .len = o->line.len - at, .style = style };
}

void text_flush_long(struct text_out *o, enum style style)
{
	const char *text = buf_str(&o->line);
	size_t len = o->line.len, at = 0;

	while (len && text[len - 1] == ' ')
		len--;
	for (size_t i = 0; i < o->n_marks && o->marks[i].at < len; i++) {
		const struct text_mark *m = &o->marks[i];
		size_t end = MIN(m->at + m->len, len);

		term_add(o->out, text + at, m->at - at, style, o->opts->color);
		term_add(o->out, text + m->at, end - m->at, m->style, o->opts->color);
		at = end;
	}
	term_add(o->out, text + at, len - at, style, o->opts->color);
	buf_addch(o->out, '\n');
	buf_reset(&o->line);
	o->n_marks = 0;
}

/* A mark at the edge, as less(1) has it: half a number must not pass for a whole one. */
void text_flush(struct text_out *o, enum style style)
{
	size_t width = o->opts->width > 0 ? (size_t)o->opts->width : SIZE_MAX;

	while (o->line.len && o->line.data[o->line.len - 1] == ' ')
		buf_truncate(&o->line, o->line.len - 1);
	if (fmt_width(buf_str(&o->line)) > width) {
		buf_truncate(&o->line, fmt_cut(buf_str(&o->line), width - 1));
		buf_addstr(&o->line, o->opts->unicode ? "\xe2\x80\xa6" : ">");
	}
	text_flush_long(o, style);
}

void text_clean(struct text_out *o, const char *s)
{
	fmt_clean(&o->line, s, strlen(s));
}

/* Code without a name, "module+0x1a2b0": its number tells it apart, so that is what stays. */
static const char *tail_of(const char *s)
{
	const char *tail = strrchr(s, '+');

	/* a chain of callers, "a < b < module+0x10", is distinguished by its beginning */
	if (!tail || strchr(s, '<') || !starts_with(tail, "+0x") ||
	    tail[3 + strspn(tail + 3, "0123456789abcdef")])
		return "";
	return tail;
}

void text_cut(struct text_out *o, const char *s, size_t columns)
{
	const char *dots = o->opts->unicode ? "\xe2\x80\xa6" : "...", *tail = tail_of(s);
	size_t dots_width = o->opts->unicode ? 1 : 3, tail_width = strlen(tail);

	if (columns <= tail_width + dots_width) {
		tail = "";
		tail_width = 0;
	}
	if (fmt_width(s) <= columns) {
		buf_addstr(&o->line, s);
	} else if (columns <= dots_width) {
		buf_add(&o->line, s, fmt_cut(s, columns));
	} else {
		buf_add(&o->line, s, fmt_cut(s, columns - dots_width - tail_width));
		buf_addstr(&o->line, dots);
		buf_addstr(&o->line, tail);
	}
}

void text_fit(struct text_out *o, const char *s, size_t columns, bool right)
{
	size_t at = o->line.len, width = fmt_width(s);

	if (right && width < columns)
		buf_fill(&o->line, ' ', columns - width);
	text_cut(o, s, columns);
	/* measured again: a wide character that did not fit leaves a hole */
	width = fmt_width(buf_str(&o->line) + at);
	if (width < columns)
		buf_fill(&o->line, ' ', columns - width);
}

static void fact_text(struct buf *out, const struct fact *f)
{
	fmt_clean(out, f->title, strlen(f->title));
	buf_addstr(out, ": ");
	if (f->value.type == VALUE_TIME)
		fmt_iso_time(out, f->value.u);
	else if (f->value.type)
		cell_text(out, &f->value);
	else
		buf_addch(out, '-');
}

/* "lost: 0" says that nothing is missing: not beside a line that says what is. */
static bool is_untrue(const struct result *r, const struct fact *f)
{
	if (!streq(f->key, "lost") || f->value.type != VALUE_COUNT || f->value.u)
		return false;
	vec_each(l, &r->losses) {
		if (l->count)
			return true;
	}
	return false;
}

/* As many to a line as fit. */
static void facts(struct text_out *o, const struct result *r)
{
	size_t limit = o->opts->width > 0 ? (size_t)o->opts->width : TERM_WIDTH_DEFAULT, used = 0;

	vec_each(f, &r->facts) {
		size_t width;

		if (!f->title || is_untrue(r, f))
			continue;
		buf_reset(&o->cell);
		fact_text(&o->cell, f);
		width = fmt_width(buf_str(&o->cell));
		if (used && used + 2 + width > limit) {
			text_flush_long(o, STYLE_NONE);
			used = 0;
		}
		if (used)
			buf_addstr(&o->line, "  ");
		buf_add(&o->line, buf_str(&o->cell), o->cell.len);
		used += width + (used ? 2 : 0);
	}
	if (used)
		text_flush_long(o, STYLE_NONE);
}

/* Notes are prose: what does not fit the width continues below, indented. */
static void flush_note(struct text_out *o, size_t column, enum style style)
{
	size_t width = o->opts->width > 0 ? (size_t)o->opts->width : TERM_WIDTH_DEFAULT;
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (fmt_width(buf_str(&o->line)) <= width) {
		text_flush_long(o, style);
		return;
	}
	buf_fill(&text, ' ', column);
	text_fill(&text, buf_str(&o->line), o->line.len, column, column + 2, width);
	buf_truncate(&text, text.len - 1);
	buf_reset(&o->line);
	buf_add(&o->line, buf_str(&text), text.len);
	text_flush_long(o, style);
}

static void losses(struct text_out *o, const struct result *r)
{
	vec_each(l, &r->losses) {
		if (!l->count)
			continue;
		buf_addstr(&o->line, "lost: ");
		fmt_count(&o->line, l->count);
		buf_addch(&o->line, ' ');
		text_clean(o, l->text ? l->text : l->key);
		flush_note(o, 0, STYLE_BAD);
	}
}

static void notes(struct text_out *o, const struct result *r)
{
	vec_each(n, &r->notes) {
		bool warning = n->level == NOTE_WARNING;

		buf_addstr(&o->line, warning ? "warning: " : "note: ");
		text_clean(o, n->text);
		flush_note(o, 0, warning ? STYLE_WARN : STYLE_NONE);
		if (!n->hint)
			continue;
		buf_addstr(&o->line, "  hint: ");
		text_clean(o, n->hint);
		flush_note(o, 2, STYLE_NONE);
	}
}

/* Its own lines stay lines, tabs become blanks; nothing is cut. */
static void plain(struct text_out *o, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\n");

		for (size_t at = 0; at < n;) {
			size_t word = strcspn(text + at, "\t\n");

			fmt_clean(&o->line, text + at, word);
			at += word;
			if (at < n) {
				buf_fill(&o->line, ' ', 8 - fmt_width(buf_str(&o->line)) % 8);
				at++;
			}
		}
		text_flush_long(o, STYLE_NONE);
		text += n + (text[n] != '\0');
	}
}

static void section(struct text_out *o, const struct section *s)
{
	switch (s->type) {
	case SECTION_TABLE: text_table(o, s->table); break;
	case SECTION_HISTOGRAM: text_histogram(o, s->histogram); break;
	case SECTION_TREE: text_tree(o, s->tree); break;
	case SECTION_TEXT: plain(o, s->text); break;
	}
}

static void gap(struct text_out *o, size_t start)
{
	if (o->out->len > start)
		buf_addch(o->out, '\n');
}

static int render(const struct result *r, const struct view_opts *opts, struct buf *out,
		  struct err *e UNUSED)
{
	struct text_out o = { .opts = opts, .out = out };
	size_t start = out->len;

	if (r->title) {
		text_clean(&o, r->title);
		text_flush_long(&o, STYLE_STRONG);
	}
	facts(&o, r);
	losses(&o, r);
	for (size_t i = 0; i < r->sections.len; i++) {
		gap(&o, start);
		section(&o, &r->sections.items[i]);
	}
	if (r->notes.len)
		gap(&o, start);
	notes(&o, r);
	buf_release(&o.line);
	buf_release(&o.cell);
	return 0;
}

const struct view view_text = {
	.name = "text",
	.render = render,
};
