/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/theme.h"

#define NONE -1
#define LOOK(fg_, bg_, attr_)                       \
	{                                           \
		.fg = fg_, .bg = bg_, .attr = attr_ \
	}

/* What themes with colours share: where things are, not what they mean. */
#define PLACES                                                                              \
	[ROLE_TEXT] = LOOK(NONE, NONE, 0), [ROLE_DIM] = LOOK(NONE, NONE, ATTR_DIM),         \
	[ROLE_BOLD] = LOOK(NONE, NONE, ATTR_BOLD), [ROLE_HEAD] = LOOK(16, 36, 0),           \
	[ROLE_SORTED] = LOOK(16, 45, ATTR_BOLD), [ROLE_CURSOR] = LOOK(231, 25, 0),          \
	[ROLE_TAGGED] = LOOK(220, NONE, ATTR_BOLD), [ROLE_FOUND] = LOOK(16, 220, 0),        \
	[ROLE_TAB] = LOOK(250, 236, 0), [ROLE_TAB_ON] = LOOK(16, 45, ATTR_BOLD),            \
	[ROLE_CRUMB] = LOOK(45, NONE, ATTR_BOLD), [ROLE_KEY] = LOOK(NONE, NONE, ATTR_BOLD), \
	[ROLE_KEY_TEXT] = LOOK(16, 36, 0), [ROLE_FRAME] = LOOK(244, NONE, 0)

static const struct theme themes[] = {
	{ .name = "default",
	  .text = "colours on a dark or light background",
	  .colored = true,
	  .roles = { PLACES,
		     [ROLE_GOOD] = LOOK(35, NONE, 0),
		     [ROLE_WARN] = LOOK(178, NONE, 0),
		     [ROLE_BAD] = LOOK(196, NONE, ATTR_BOLD),
		     [ROLE_USER] = LOOK(35, NONE, 0),
		     [ROLE_SYSTEM] = LOOK(196, NONE, 0),
		     [ROLE_NICE] = LOOK(33, NONE, 0),
		     [ROLE_IRQ] = LOOK(178, NONE, 0),
		     [ROLE_IOWAIT] = LOOK(244, NONE, 0),
		     [ROLE_STEAL] = LOOK(133, NONE, 0),
		     [ROLE_USED] = LOOK(35, NONE, 0),
		     [ROLE_CACHE] = LOOK(178, NONE, 0),
		     [ROLE_SHARED] = LOOK(133, NONE, 0),
		     [ROLE_READ] = LOOK(35, NONE, 0),
		     [ROLE_WRITE] = LOOK(33, NONE, 0),
		     [ROLE_RUN] = LOOK(35, NONE, 0),
		     [ROLE_RUNNABLE] = LOOK(196, NONE, 0),
		     [ROLE_DISK] = LOOK(33, NONE, 0),
		     [ROLE_LOCK] = LOOK(178, NONE, 0),
		     [ROLE_NET] = LOOK(133, NONE, 0),
		     [ROLE_SLEEP] = LOOK(244, NONE, 0),
		     [ROLE_OTHER] = LOOK(250, NONE, 0),
		     [ROLE_KERNEL] = LOOK(209, NONE, 0) } },
	/* the colours of Okabe and Ito: distinguished with any colour vision */
	{ .name = "safe",
	  .text = "colours that are distinguished with any colour vision",
	  .colored = true,
	  .roles = { PLACES,
		     [ROLE_GOOD] = LOOK(74, NONE, 0),
		     [ROLE_WARN] = LOOK(178, NONE, 0),
		     [ROLE_BAD] = LOOK(166, NONE, ATTR_BOLD),
		     [ROLE_USER] = LOOK(74, NONE, 0),
		     [ROLE_SYSTEM] = LOOK(166, NONE, 0),
		     [ROLE_NICE] = LOOK(25, NONE, 0),
		     [ROLE_IRQ] = LOOK(178, NONE, 0),
		     [ROLE_IOWAIT] = LOOK(244, NONE, 0),
		     [ROLE_STEAL] = LOOK(175, NONE, 0),
		     [ROLE_USED] = LOOK(74, NONE, 0),
		     [ROLE_CACHE] = LOOK(178, NONE, 0),
		     [ROLE_SHARED] = LOOK(175, NONE, 0),
		     [ROLE_READ] = LOOK(74, NONE, 0),
		     [ROLE_WRITE] = LOOK(166, NONE, 0),
		     [ROLE_RUN] = LOOK(74, NONE, 0),
		     [ROLE_RUNNABLE] = LOOK(166, NONE, 0),
		     [ROLE_DISK] = LOOK(25, NONE, 0),
		     [ROLE_LOCK] = LOOK(178, NONE, 0),
		     [ROLE_NET] = LOOK(175, NONE, 0),
		     [ROLE_SLEEP] = LOOK(244, NONE, 0),
		     [ROLE_OTHER] = LOOK(250, NONE, 0),
		     [ROLE_KERNEL] = LOOK(178, NONE, 0) } },
	{ .name = "mono",
	  .text = "no colours: bold, dim and reverse",
	  .roles = { [ROLE_DIM] = LOOK(NONE, NONE, ATTR_DIM),
		     [ROLE_TEXT] = LOOK(NONE, NONE, 0),
		     [ROLE_BOLD] = LOOK(NONE, NONE, ATTR_BOLD),
		     [ROLE_HEAD] = LOOK(NONE, NONE, ATTR_REVERSE),
		     [ROLE_SORTED] = LOOK(NONE, NONE, ATTR_REVERSE | ATTR_BOLD),
		     [ROLE_CURSOR] = LOOK(NONE, NONE, ATTR_REVERSE),
		     [ROLE_TAGGED] = LOOK(NONE, NONE, ATTR_BOLD),
		     [ROLE_FOUND] = LOOK(NONE, NONE, ATTR_UNDERLINE),
		     [ROLE_TAB] = LOOK(NONE, NONE, 0),
		     [ROLE_TAB_ON] = LOOK(NONE, NONE, ATTR_REVERSE | ATTR_BOLD),
		     [ROLE_CRUMB] = LOOK(NONE, NONE, ATTR_BOLD),
		     [ROLE_KEY] = LOOK(NONE, NONE, ATTR_BOLD),
		     [ROLE_KEY_TEXT] = LOOK(NONE, NONE, ATTR_REVERSE),
		     [ROLE_FRAME] = LOOK(NONE, NONE, 0),
		     [ROLE_GOOD] = LOOK(NONE, NONE, 0),
		     [ROLE_WARN] = LOOK(NONE, NONE, ATTR_BOLD),
		     [ROLE_BAD] = LOOK(NONE, NONE, ATTR_BOLD | ATTR_UNDERLINE),
		     [ROLE_USER... ROLE_COUNT - 1] = LOOK(NONE, NONE, 0) } },
};

const struct theme *theme_list(size_t *ret_n)
{
	*ret_n = ARRAY_SIZE(themes);
	return themes;
}

const struct theme *theme_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(themes); i++)
		if (streq(themes[i].name, name))
			return &themes[i];
	return NULL;
}

const struct theme *theme_plain(void)
{
	return &themes[ARRAY_SIZE(themes) - 1];
}

static const char *const role_names[ROLE_COUNT] = {
	[ROLE_TEXT] = "text",         [ROLE_DIM] = "dim",       [ROLE_BOLD] = "bold",
	[ROLE_HEAD] = "head",         [ROLE_SORTED] = "sorted", [ROLE_CURSOR] = "cursor",
	[ROLE_TAGGED] = "tagged",     [ROLE_FOUND] = "found",   [ROLE_TAB] = "tab",
	[ROLE_TAB_ON] = "tab_on",     [ROLE_CRUMB] = "crumb",   [ROLE_KEY] = "key",
	[ROLE_KEY_TEXT] = "key_text", [ROLE_FRAME] = "frame",   [ROLE_GOOD] = "good",
	[ROLE_WARN] = "warn",         [ROLE_BAD] = "bad",       [ROLE_USER] = "user",
	[ROLE_SYSTEM] = "system",     [ROLE_NICE] = "nice",     [ROLE_IRQ] = "irq",
	[ROLE_IOWAIT] = "iowait",     [ROLE_STEAL] = "steal",   [ROLE_USED] = "used",
	[ROLE_CACHE] = "cache",       [ROLE_SHARED] = "shared", [ROLE_READ] = "read",
	[ROLE_WRITE] = "write",       [ROLE_RUN] = "run",       [ROLE_RUNNABLE] = "runnable",
	[ROLE_DISK] = "disk",         [ROLE_LOCK] = "lock",     [ROLE_NET] = "net",
	[ROLE_SLEEP] = "sleep",       [ROLE_OTHER] = "other",   [ROLE_KERNEL] = "kernel",
};

const char *role_name(enum role r)
{
	return r < ROLE_COUNT ? role_names[r] : NULL;
}

int role_find(const char *name, size_t len)
{
	for (int i = 0; i < ROLE_COUNT; i++)
		if (strlen(role_names[i]) == len && !strncmp(role_names[i], name, len))
			return i;
	return -1;
}
