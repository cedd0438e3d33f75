/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The format string -> pieces of text and conversions. */
#include "profile/tracefield_tree.h"

#include <ctype.h>

enum { FIELD_WIDTH_MOST = 1024 };

struct splitter {
	struct tracefield *t;
	const char *at;
	const u32 *args;
	size_t n_args, used;
};

static bool failed(struct splitter *s, const char *why)
{
	if (!s->t->fault)
		s->t->fault = why;
	return false;
}

static bool take_arg(struct splitter *s, u32 *ret)
{
	if (s->used == s->n_args)
		return failed(s, "more conversions than arguments");
	*ret = s->args[s->used++];
	return true;
}

static void parse_flags(struct splitter *s, struct piece *p)
{
	size_t n = 0;

	while (*s->at && strchr("-+ #0", *s->at)) {
		if (n < sizeof(p->flags) - 1 && !strchr(p->flags, *s->at))
			p->flags[n++] = *s->at;
		s->at++;
	}
}

/* A number or "*"; what is not there is -1. */
static bool parse_count(struct splitter *s, s32 *ret, bool *star, u32 *arg)
{
	*ret = -1;
	if (*s->at == '*') {
		*star = true;
		s->at++;
		return take_arg(s, arg);
	}
	for (; isdigit((unsigned char)*s->at); s->at++) {
		*ret = (*ret < 0 ? 0 : *ret) * 10 + (*s->at - '0');
		if (*ret > FIELD_WIDTH_MOST)
			return failed(s, "a field that is too wide");
	}
	return true;
}

static void parse_length(struct splitter *s, struct piece *p)
{
	for (; *s->at && strchr("hlLqjzt", *s->at); s->at++) {
		if (*s->at == 'h')
			p->length--;
		else if (*s->at == 'l')
			p->length++;
		else
			p->length = *s->at == 'L' || *s->at == 'q' ? 2 : 1;
	}
	p->length = p->length > 2 ? 2 : p->length < -2 ? -2 : p->length;
}

/* What the kernel's %p knows: letters and digits that belong to it. */
static void parse_pointer(struct splitter *s, struct piece *p)
{
	size_t n = 0;

	while (isalnum((unsigned char)*s->at) && n < sizeof(p->sub) - 1) {
		/* "%p4": a digit needs a letter before it */
		if (n == 0 && !isalpha((unsigned char)*s->at))
			break;
		if (n == 1 && !strchr("IiUMmhb", p->sub[0]))
			break;
		p->sub[n++] = *s->at++;
	}
}

static bool parse_conversion(struct splitter *s, struct piece *p)
{
	p->width = p->precision = -1;
	parse_flags(s, p);
	if (!parse_count(s, &p->width, &p->star_width, &p->width_arg))
		return false;
	if (*s->at == '.') {
		s->at++;
		if (!parse_count(s, &p->precision, &p->star_precision, &p->precision_arg))
			return false;
		if (!p->star_precision && p->precision < 0)
			p->precision = 0;
	}
	parse_length(s, p);
	if (!*s->at || !strchr("diouxXcsp", *s->at))
		return failed(s, "a conversion that is not known");
	p->conv = *s->at++;
	if (p->conv == 'p')
		parse_pointer(s, p);
	return take_arg(s, &p->arg);
}

bool tracefield_split(struct tracefield *t, const char *fmt, const u32 *args, size_t n_args)
{
	struct splitter s = { .t = t, .at = fmt, .args = args, .n_args = n_args };

	while (*s.at) {
		struct piece p = { .text = s.at };

		while (*s.at && *s.at != '%')
			s.at++;
		p.len = (u32)(s.at - p.text);
		if (*s.at && s.at[1] == '%') {
			/* the first of the two belongs to the text */
			p.len++;
			s.at += 2;
		} else if (*s.at) {
			s.at++;
			if (!parse_conversion(&s, &p))
				return false;
		}
		vec_push(&t->pieces, p);
	}
	return true;
}
