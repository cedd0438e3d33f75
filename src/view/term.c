/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/term.h"

#include <strings.h>
#include <sys/ioctl.h>

#include "base/parse.h"

int term_width(int fd)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size = { 0 };
	u64 asked = 0;

	if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col)
		return MIN(size.ws_col, TERM_WIDTH_MOST);
	if (columns && parse_u64_range(columns, 1, TERM_WIDTH_MOST, &asked, NULL) == 0)
		return (int)asked;
	return TERM_WIDTH_DEFAULT;
}

bool term_color(enum term_color mode, int fd)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	if (mode != TERM_COLOR_AUTO)
		return mode == TERM_COLOR_ALWAYS;
	if (no_color && *no_color)
		return false;
	return isatty(fd) && term && *term && !streq(term, "dumb");
}

bool term_unicode(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	/* As setlocale() does: the first that is set decides, whatever the others say. */
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *locale = getenv(names[i]);

		if (locale && *locale)
			return strcasestr(locale, "utf-8") || strcasestr(locale, "utf8");
	}
	return false;
}

const char *term_style(enum style style)
{
	static const char *const escapes[] = {
		[STYLE_NONE] = "",           [STYLE_GOOD] = "\033[32m", [STYLE_BAD] = "\033[1;31m",
		[STYLE_WARN] = "\033[33m",   [STYLE_DIM] = "\033[2m",   [STYLE_STRONG] = "\033[1m",
		[STYLE_KERNEL] = "\033[35m", [STYLE_HOT] = "\033[31m",
	};

	return (size_t)style < ARRAY_SIZE(escapes) ? escapes[style] : "";
}

void term_add(struct buf *out, const char *text, size_t n, enum style style, bool color)
{
	bool styled = color && n && *term_style(style);

	if (styled)
		buf_addstr(out, term_style(style));
	buf_add(out, text, n);
	if (styled)
		buf_addstr(out, TERM_RESET);
}
