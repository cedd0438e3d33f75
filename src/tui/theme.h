/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The roles of screen elements, and the colours that a theme gives them. Themes are data. */
#ifndef TUI_THEME_H
#define TUI_THEME_H

#include "base/base.h"

enum tui_attr {
	ATTR_BOLD = 1 << 0,
	ATTR_DIM = 1 << 1,
	ATTR_REVERSE = 1 << 2,
	ATTR_UNDERLINE = 1 << 3,
};

enum role {
	ROLE_TEXT,
	ROLE_DIM,
	ROLE_BOLD,
	ROLE_HEAD,   /* headings of columns */
	ROLE_SORTED, /* the heading that is sorted by */
	ROLE_CURSOR, /* the line that keys act on */
	ROLE_TAGGED,
	ROLE_FOUND, /* matches of a search */
	ROLE_TAB,
	ROLE_TAB_ON,
	ROLE_CRUMB, /* where one is */
	ROLE_KEY,   /* names of keys at the bottom, */
	ROLE_KEY_TEXT,
	ROLE_FRAME,
	ROLE_GOOD,
	ROLE_WARN,
	ROLE_BAD,
	ROLE_USER, /* parts of meters: time in programs, */
	ROLE_SYSTEM,
	ROLE_NICE,
	ROLE_IRQ,
	ROLE_IOWAIT,
	ROLE_STEAL,
	ROLE_USED, /* memory, */
	ROLE_CACHE,
	ROLE_SHARED,
	ROLE_READ, /* disks and networks */
	ROLE_WRITE,
	ROLE_RUN, /* what threads do */
	ROLE_RUNNABLE,
	ROLE_DISK,
	ROLE_LOCK,
	ROLE_NET,
	ROLE_SLEEP,
	ROLE_OTHER,
	ROLE_KERNEL, /* code of the kernel */
	ROLE_COUNT
};

struct look_role {
	s16 fg, bg; /* of the 256 colours; -1: the terminal's own */
	u8 attr;    /* enum tui_attr */
};

struct theme {
	const char *name;
	const char *text; /* for whom */
	bool colored;     /* otherwise boxes of flames have bars between them instead of colours */
	struct look_role roles[ROLE_COUNT];
};

/* "bad", "cursor"; NULL: no such role. And back; -1: none. */
const char *role_name(enum role r);
int role_find(const char *name, size_t len);
/* All themes; the first is the default. */
const struct theme *theme_list(size_t *ret_n);
/* NULL: no such theme. */
const struct theme *theme_find(const char *name);
/* The one without colours. */
const struct theme *theme_plain(void);

#endif
