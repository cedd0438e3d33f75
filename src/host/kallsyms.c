/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/kallsyms.h"

#include <fcntl.h>

enum { READ_BYTES = 1 << 18 };

int kallsyms_read(const char *path, size_t max, struct buf *ret, struct err *e)
{
	path = path ? path : "/proc/kallsyms";
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t got = 0;

	if (fd < 0)
		return err_sys(e, errno, "cannot open '%s'", path);
	while (got < max) {
		size_t want = MIN(max - got, (size_t)READ_BYTES);
		ssize_t n = read(fd, buf_reserve(ret, want), want);

		if (n < 0)
			return err_sys(e, errno, "cannot read '%s'", path);
		if (!n)
			break;
		buf_added(ret, (size_t)n);
		got += (size_t)n;
	}
	return 0;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* "ffffffff81000000 T _stext" or "ffffffffc0201000 t ext4_read\t[ext4]" */
static bool parse_line(const char *p, const char *end, struct kallsyms_line *ret)
{
	const char *begin = p, *tab;
	u64 address = 0;

	for (int digit; p < end && (digit = hex_digit(*p)) >= 0; p++)
		address = address << 4 | (u64)digit;
	if (p == begin || p - begin > 16 || end - p < 4 || p[0] != ' ' || p[2] != ' ')
		return false;
	*ret = (struct kallsyms_line){ .address = address, .type = p[1], .name = p + 3 };
	tab = memchr(ret->name, '\t', (size_t)(end - ret->name));
	ret->name_len = (size_t)((tab ? tab : end) - ret->name);
	if (tab && end - tab > 3 && tab[1] == '[' && end[-1] == ']') {
		ret->module = tab + 2;
		ret->module_len = (size_t)(end - 1 - ret->module);
	}
	return ret->name_len > 0 && ret->name_len <= KALLSYMS_MAX_NAME && ret->name[0] != '\0';
}

bool kallsyms_next(const char **text, const char *end, struct kallsyms_line *ret)
{
	while (*text < end) {
		const char *begin = *text, *newline = memchr(begin, '\n', (size_t)(end - begin));

		*text = newline ? newline + 1 : end;
		if (parse_line(begin, newline ? newline : end, ret))
			return true;
	}
	return false;
}

bool kallsyms_is(const struct kallsyms_line *l, const char *name)
{
	return l->name_len == strlen(name) && memcmp(l->name, name, l->name_len) == 0;
}

bool kallsyms_lookup(const char *text, size_t len, const char *name, u64 *ret)
{
	const char *end = text + len;
	struct kallsyms_line l;

	while (kallsyms_next(&text, end, &l)) {
		if (l.address && kallsyms_is(&l, name)) {
			*ret = l.address;
			return true;
		}
	}
	return false;
}
