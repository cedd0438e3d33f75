/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the terminal (or what is there instead) can show. */
#ifndef VIEW_TERM_H
#define VIEW_TERM_H

#include "base/buf.h"
#include "result/result.h"

enum { TERM_WIDTH_DEFAULT = 80, TERM_WIDTH_MOST = 10000 };

/* The same order as the values of --color. */
enum term_color { TERM_COLOR_AUTO, TERM_COLOR_ALWAYS, TERM_COLOR_NEVER };

/* Columns of the terminal at @fd, else $COLUMNS, else 80. */
int term_width(int fd);
/* AUTO: @fd is a terminal that is not dumb, and NO_COLOR is not set to anything. */
bool term_color(enum term_color mode, int fd);
/* The locale of the environment is a UTF-8 one. */
bool term_unicode(void);

/* The escape that begins a style ("" for STYLE_NONE) and the one that ends any of them. */
const char *term_style(enum style style);
#define TERM_RESET "\033[0m"

/* Appends @n bytes in that style; plain when @color is off. */
void term_add(struct buf *out, const char *text, size_t n, enum style style, bool color);

#endif
