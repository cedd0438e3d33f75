/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lang/front/fmt.h"

enum { FMT_MAX_WIDTH = 4096 };

static bool number(const char **p, int *ret)
{
	int n = 0;

	while (**p >= '0' && **p <= '9') {
		n = n * 10 + (*(*p)++ - '0');
		if (n > FMT_MAX_WIDTH)
			return false;
	}
	*ret = n;
	return true;
}

static u8 length(const char **p)
{
	u8 bytes = 4;

	for (;; (*p)++) {
		if (**p == 'h')
			bytes = bytes == 2 ? 1 : 2;
		else if (**p == 'l' || **p == 'z' || **p == 'j' || **p == 't')
			bytes = 8;
		else
			return bytes;
	}
}

/* A sign without a letter after it is text. */
static bool begins_conversion(const char *s)
{
	s++;
	s += strspn(s, "-+ #0'");
	s += strspn(s, "0123456789");
	s += *s == '.';
	s += strspn(s, "0123456789");
	return *s == '%' || (*s >= 'A' && *s <= 'Z') || (*s >= 'a' && *s <= 'z') || *s == '*';
}

const char *fmt_next(const char **p, struct conversion *ret)
{
	const char *s = *p, *start;
	size_t n = 0;

	*ret = (struct conversion){ .text = s, .width = -1, .precision = -1 };
	while (*s && !(*s == '%' && begins_conversion(s)))
		s++;
	ret->text_len = (size_t)(s - ret->text);
	start = s;
	if (*s) {
		s++;
		for (; *s && strchr("-+ #0'", *s); s++) {
			if (n + 1 < sizeof(ret->flags))
				ret->flags[n++] = *s;
		}
		if (*s >= '1' && *s <= '9' && !number(&s, &ret->width))
			return start;
		if (*s == '.') {
			s++;
			if (!number(&s, &ret->precision))
				return start;
		}
		ret->bytes = length(&s);
		ret->letter = *s;
		if (s[0] == 'g' && s[1] == 'r') {
			*p = s + 2;
			return NULL;
		}
		if (!strchr("diouxXcspr%", *s))
			return start;
		s++;
		if (ret->letter == 'r' && (*s == 'x' || *s == 'h')) {
			ret->hex_escaped = *s == 'x';
			ret->hex_plain = *s == 'h';
			s++;
		}
	}
	*p = s;
	return NULL;
}
