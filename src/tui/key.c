/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/key.h"

#include "base/fmt.h"

static const struct {
	u32 key;
	const char *name;
} names[] = {
	{ TUI_TAB, "Tab" },
	{ TUI_ENTER, "Enter" },
	{ TUI_ESC, "Esc" },
	{ ' ', "Space" },
	{ TUI_BACKSPACE, "Backspace" },
	{ TUI_UP, "Up" },
	{ TUI_DOWN, "Down" },
	{ TUI_LEFT, "Left" },
	{ TUI_RIGHT, "Right" },
	{ TUI_HOME, "Home" },
	{ TUI_END, "End" },
	{ TUI_PAGE_UP, "PgUp" },
	{ TUI_PAGE_DOWN, "PgDn" },
	{ TUI_INSERT, "Ins" },
	{ TUI_DELETE, "Del" },
	{ TUI_BACKTAB, "Shift-Tab" },
	{ TUI_CLICK, "click" },
	{ TUI_DOUBLE_CLICK, "double" },
	{ TUI_WHEEL_UP, "wheelup" },
	{ TUI_WHEEL_DOWN, "wheeldown" },
	{ TUI_DRAG, "drag" },
};

const char *input_name(u32 key, char room[16])
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i].key == key)
			return names[i].name;
	if (key >= TUI_F1 && key <= TUI_F12)
		snprintf(room, 16, "F%u", key - TUI_F1 + 1);
	else if (key > 0 && key < 27)
		snprintf(room, 16, "Ctrl-%c", (char)('A' + key - 1));
	else if (key < 0x7f)
		snprintf(room, 16, "%c", (char)key);
	else
		snprintf(room, 16, "U+%04X", key);
	return room;
}

static bool parse_name(const char *word, size_t n, u32 *ret)
{
	unsigned int number;
	char rest;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strlen(names[i].name) == n && !strncmp(names[i].name, word, n)) {
			*ret = names[i].key;
			return true;
		}
	}
	if (n == 6 && starts_with(word, "Ctrl-") && word[5] >= 'A' && word[5] <= 'Z') {
		*ret = (u32)(word[5] - 'A' + 1);
		return true;
	}
	if (n >= 2 && n <= 3 && word[0] == 'F' && word[1] >= '1' && word[1] <= '9' &&
	    sscanf(word + 1, "%2u%c", &number, &rest) >= 1 && number <= 12) {
		*ret = TUI_F1 + number - 1;
		return true;
	}
	return fmt_rune(word, n, ret) == n;
}

bool input_parse(const char **text, struct input *ret)
{
	const char *s = *text + strspn(*text, " \n");
	size_t n = strcspn(s, " \n"), name = strcspn(s, ": \n");
	u32 key;

	*text = s;
	*ret = (struct input){ 0 };
	if (!n)
		return false;
	if (n > 1 && name < n && name > 0 && parse_name(s, name, &key) && key >= TUI_CLICK &&
	    key <= TUI_LAST && sscanf(s + name, ":%5d,%5d", &ret->x, &ret->y) == 2)
		ret->key = key;
	else if (parse_name(s, n, &key))
		ret->key = key;
	else
		return false;
	*text = s + n;
	return true;
}
