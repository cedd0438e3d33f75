/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What goes into SVG from outside: escaped names, attributes for names. */
#include "base/io.h"
#include "view/svg.h"

static const char replacement[] = "\xef\xbf\xbd";

/* Length of the character at @s if it is one that XML allows, else 0. */
static size_t xml_char(const u8 *s, size_t n)
{
	static const u32 least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t len = *s < 0x80 ? 1 : *s >= 0xf0 ? 4 : *s >= 0xe0 ? 3 : 2;
	u32 c = len == 1 ? *s : *s & (0x7fu >> len);

	if (len == 1)
		return *s >= 0x20 && *s != 0x7f;
	if (*s < 0xc2 || *s > 0xf4 || len > n)
		return 0;
	for (size_t i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (c < least[len] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff) || (c & ~1u) == 0xfffe)
		return 0;
	/* the second set of control characters */
	return c < 0xa0 ? 0 : len;
}

static const char *entity(char c)
{
	switch (c) {
	case '&': return "&amp;";
	case '<': return "&lt;";
	case '>': return "&gt;";
	case '"': return "&quot;";
	case '\'': return "&#39;";
	default: return NULL;
	}
}

void svg_escape(struct buf *out, const char *s, size_t n, bool utf8)
{
	for (size_t i = 0; i < n;) {
		size_t len = utf8 || (u8)s[i] < 0x80 ? xml_char((const u8 *)s + i, n - i) : 1;
		const char *text = entity(s[i]);

		if (text)
			buf_addstr(out, text);
		else if (len)
			buf_add(out, s + i, len);
		else
			buf_addstr(out, utf8 ? replacement : "?");
		i += MAX(len, (size_t)1);
	}
}

/* --- attributes for names ------------------------------------------------------------------ */

enum { NAMEATTR_MOST = 64 << 20 };

int svg_nameattr_read(struct svg_nameattr *a, const char *path, struct err *e)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	char *line, *end;
	int r = io_read_file(path, NAMEATTR_MOST, &text, e);

	if (r < 0 || !text.len)
		return r;
	vec_push(&a->attrs, "");
	for (line = text.data; *line; line = end) {
		size_t len = strcspn(line, "\n"), name = strcspn(line, "\t\n");
		u32 id;

		end = line + len + (line[len] == '\n');
		if (name == len) {
			if (len)
				return err_set(e, EBADMSG, "'%s': '%.*s' has no attributes", path,
					       (int)MIN(len, (size_t)40), line);
			continue;
		}
		id = intern_bytes(&a->names, line, name);
		if (id == a->attrs.len)
			vec_push(&a->attrs, "");
		a->attrs.items[id] = arena_strndup(&a->arena, line + name + 1, len - name - 1);
	}
	return 0;
}

void svg_nameattr_release(struct svg_nameattr *a)
{
	intern_release(&a->names);
	vec_release(&a->attrs);
	arena_release(&a->arena);
}

void svg_page(struct buf *page, const char *title, const struct buf *svg)
{
	const char *start = strstr(svg->data, "<svg");

	buf_addstr(page, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
			 "<meta name=\"viewport\" content=\"width=device-width\">"
			 "<meta name=\"color-scheme\" content=\"light dark\">"
			 "<style>@media (prefers-color-scheme: dark) { body { background: #1c1d22 "
			 "} }</style>"
			 "<title>");
	svg_escape(page, title, strlen(title), true);
	buf_addstr(page, "</title></head><body>\n");
	buf_addstr(page, start ? start : "");
	buf_addstr(page, "</body></html>\n");
}
