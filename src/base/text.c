/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/text.h"

#include "base/fmt.h"

enum { WORD_MAX = 256 };

bool text_next(const char **text, struct paragraph *ret)
{
	const char *s = *text, *end;

	if (!s)
		return false;
	while (*s == '\n')
		s++;
	if (!*s)
		return false;
	end = strstr(s, "\n\n");
	if (!end)
		end = s + strlen(s);
	*text = end;
	while (end > s && end[-1] == '\n')
		end--;
	*ret = (struct paragraph){ s, (size_t)(end - s), *s == ' ' || *s == '\t' };
	return true;
}

static size_t word_width(const char *s, size_t n)
{
	char word[WORD_MAX];

	if (n >= sizeof(word))
		return n;
	memcpy(word, s, n);
	word[n] = '\0';
	return fmt_width(word);
}

void text_fill(struct buf *out, const char *text, size_t len, size_t column, size_t indent,
	       size_t width)
{
	const char *end = text + len;
	bool first = true; /* on its line */

	while (text < end) {
		size_t n = 0, w;

		while (text < end && strchr(" \t\n", *text))
			text++;
		while (text + n < end && !strchr(" \t\n", text[n]))
			n++;
		if (!n)
			break;
		w = word_width(text, n);
		if (!first && column + 1 + w > width) {
			buf_addch(out, '\n');
			buf_fill(out, ' ', indent);
			column = indent;
			first = true;
		}
		if (!first)
			buf_addch(out, ' ');
		buf_add(out, text, n);
		column += w + !first;
		first = false;
		text += n;
	}
	buf_addch(out, '\n');
}

static void literal(struct buf *out, const struct paragraph *p, size_t indent)
{
	const char *s = p->start, *end = s + p->len;

	while (s < end) {
		const char *nl = memchr(s, '\n', (size_t)(end - s));
		const char *stop = nl ? nl : end;

		buf_fill(out, ' ', indent);
		buf_add(out, s, (size_t)(stop - s));
		buf_addch(out, '\n');
		s = stop + 1;
	}
}

void text_paragraphs(struct buf *out, const char *text, size_t indent, size_t width)
{
	struct paragraph p;
	bool first = true;

	while (text_next(&text, &p)) {
		if (!first)
			buf_addch(out, '\n');
		first = false;
		if (p.literal) {
			literal(out, &p, indent);
			continue;
		}
		buf_fill(out, ' ', indent);
		text_fill(out, p.start, p.len, indent, indent, width);
	}
}
