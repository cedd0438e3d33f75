/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lang/front/diag.h"

#include "base/fmt.h"

enum { NEAREST_MAX_LEN = 64, LINE_SHOWN = 4096 };

void diags_release(struct diags *d)
{
	vec_each(it, &d->list) {
		free(it->text);
		free(it->hint);
	}
	vec_release(&d->list);
	d->errors = 0;
	d->dropped = 0;
}

static void report(struct diags *d, enum diag_level level, struct span_at at, const char *fmt,
		   va_list ap) PRINTF_LIKE(4, 0);

static void report(struct diags *d, enum diag_level level, struct span_at at, const char *fmt,
		   va_list ap)
{
	struct buf text = BUF_INIT;
	struct diag *n;

	if (d->mute)
		return;
	if (level == DIAG_ERROR)
		d->errors++;
	if (d->list.len >= DIAG_MAX) {
		d->dropped++;
		return;
	}
	buf_vaddf(&text, fmt, ap);
	vec_each(it, &d->list) {
		if (it->at.start == at.start && it->level == level &&
		    streq(it->text, buf_str(&text))) {
			buf_release(&text);
			return;
		}
	}
	n = vec_new(&d->list);
	n->level = level;
	n->at = at;
	n->text = buf_detach(&text);
}

void diag_error(struct diags *d, struct span_at at, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	report(d, DIAG_ERROR, at, fmt, ap);
	va_end(ap);
}

void diag_warning(struct diags *d, struct span_at at, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	report(d, DIAG_WARNING, at, fmt, ap);
	va_end(ap);
}

void diag_hint(struct diags *d, const char *fmt, ...)
{
	struct buf text = BUF_INIT;
	va_list ap;

	if (d->mute || !d->list.len || vec_last(&d->list)->hint)
		return;
	va_start(ap, fmt);
	buf_vaddf(&text, fmt, ap);
	va_end(ap);
	vec_last(&d->list)->hint = buf_detach(&text);
}

static const struct source_part *part_of(const struct source *src, u32 offset)
{
	for (size_t i = 0; i < src->n_parts; i++) {
		if (offset <= src->parts[i].start + src->parts[i].len)
			return &src->parts[i];
	}
	return NULL;
}

/* The file that a byte is in. */
static const char *source_name(const struct source *src, u32 offset)
{
	const struct source_part *part = part_of(src, offset);

	return part ? part->name : src->name;
}

void source_place(const struct source *src, u32 offset, u32 *ret_line, u32 *ret_column)
{
	const struct source_part *part = part_of(src, offset);
	u32 line = 1, column = 1;

	for (size_t i = part ? part->start : 0; i < offset && i < src->len; i++) {
		column++;
		if (src->text[i] == '\n') {
			line++;
			column = 1;
		}
	}
	*ret_line = line;
	*ret_column = column;
}

static void render_line(const struct source *src, const struct diag *d, u32 column, struct buf *out)
{
	size_t begin = MIN(d->at.start, src->len), end;
	size_t tildes = d->at.end > d->at.start ? d->at.end - d->at.start : 1;

	begin -= MIN(column - 1, begin);
	for (end = begin; end < src->len && src->text[end] != '\n' && end - begin < LINE_SHOWN;)
		end++;
	for (size_t i = begin, n; i < end; i += n + 1) {
		const char *tab = memchr(src->text + i, '\t', end - i);

		n = tab ? (size_t)(tab - src->text) - i : end - i;
		fmt_clean(out, src->text + i, n);
		if (tab)
			buf_addch(out, '\t');
	}
	buf_addch(out, '\n');
	if (begin + column - 1 > end)
		return;
	for (size_t i = begin; i < begin + column - 1; i++)
		buf_addch(out, src->text[i] == '\t' ? '\t' : ' ');
	tildes = MIN(tildes, end - (begin + column - 1) + 1);
	buf_fill(out, '~', MAX(tildes, (size_t)1));
	buf_addch(out, '\n');
}

void source_print(const struct source *src, struct span_at at, struct buf *out)
{
	u32 line, column, last_line, last;

	source_place(src, at.start, &line, &column);
	source_place(src, at.end, &last_line, &last);
	if (last_line == line)
		buf_addf(out, "%s:%u:%u-%u: ", source_name(src, at.start), line, column, last);
	else
		buf_addf(out, "%s:%u-%u: ", source_name(src, at.start), line, last_line);
}

/* The text is generated: the place is that of its source. */
static void render_made(const struct source *src, const struct diag *d, struct buf *out)
{
	buf_addf(out, "%s: '", d->level == DIAG_ERROR ? "ERROR" : "WARNING");
	fmt_clean(out, src->made_from, strlen(src->made_from));
	buf_addf(out, "': %s\n", d->text);
	if (d->hint)
		buf_addf(out, "HINT: %s\n", d->hint);
}

static void render_one(const struct source *src, const struct diag *d, struct buf *out)
{
	u32 line, column;

	if (src->made_from) {
		render_made(src, d, out);
		return;
	}
	if (d->at.start == SPAN_NOWHERE.start) {
		buf_addf(out, "%s: %s\n", d->level == DIAG_ERROR ? "ERROR" : "WARNING", d->text);
		return;
	}
	source_place(src, d->at.start, &line, &column);
	source_print(src, d->at, out);
	buf_addf(out, "%s: %s\n", d->level == DIAG_ERROR ? "ERROR" : "WARNING", d->text);
	render_line(src, d, column, out);
	if (d->hint)
		buf_addf(out, "HINT: %s\n", d->hint);
}

void diags_render(const struct diags *d, const struct source *src, bool warnings, struct buf *out)
{
	vec_each(it, &d->list) {
		if (it->level == DIAG_ERROR || (it->level == DIAG_WARNING && warnings))
			render_one(src, it, out);
	}
	if (d->dropped)
		buf_addf(out, "%s: and %zu more\n", src->name, d->dropped);
}

static size_t edit_distance(const char *a, const char *b)
{
	size_t row[NEAREST_MAX_LEN + 1];
	size_t la = strlen(a), lb = strlen(b);

	if (la > NEAREST_MAX_LEN || lb > NEAREST_MAX_LEN)
		return SIZE_MAX;
	for (size_t j = 0; j <= lb; j++)
		row[j] = j;
	for (size_t i = 1; i <= la; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= lb; j++) {
			size_t up = row[j];
			size_t best = diagonal + (a[i - 1] != b[j - 1]);

			best = MIN(best, up + 1);
			row[j] = MIN(best, row[j - 1] + 1);
			diagonal = up;
		}
	}
	return row[lb];
}

const char *diag_nearest(const char *word, const char *(*next)(void *ctx, size_t i), void *ctx)
{
	const char *best = NULL, *candidate;
	size_t best_distance = MAX((size_t)1, strlen(word) / 3) + 1;

	for (size_t i = 0; (candidate = next(ctx, i)); i++) {
		size_t distance = edit_distance(word, candidate);

		if (distance < best_distance) {
			best_distance = distance;
			best = candidate;
		}
	}
	return best;
}
