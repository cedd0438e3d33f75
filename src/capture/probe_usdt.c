/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/probe_usdt.h"

#include "base/parse.h"

#include <ctype.h>

enum { REGISTER_MOST = 8 };

bool probe_usdt_is(const char *text)
{
	return *text == '%' || starts_with(text, "sdt_");
}

int probe_usdt_parse(const char *text, char **ret_provider, char **ret_name, struct err *e)
{
	const char *at = text + (*text == '%'), *rest = starts_with(at, "sdt_"), *colon;

	at = rest ? rest : at;
	colon = strchr(at, ':');
	if (!*at || (colon && (colon == at || !colon[1])) || strpbrk(at, " \t")) {
		err_set(e, EINVAL, "'%s' does not name a static tracepoint", text);
		err_hint(e, "the form is %%PROVIDER:NAME, without arguments: it has its own");
		return -EINVAL;
	}
	*ret_provider = colon ? xstrndup(at, (size_t)(colon - at)) : xstrdup("*");
	*ret_name = xstrdup(colon ? colon + 1 : at);
	return 0;
}

static bool scan_signed(const char **p, s64 *ret)
{
	bool minus = **p == '-';
	const char *s = *p + (minus || **p == '+');
	bool hex = s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
	u64 v;

	s += hex ? 2 : 0;
	if (!scan_u64(&s, s + strlen(s), hex ? 16 : 10, &v))
		return false;
	*ret = (s64)(minus ? 0 - v : v);
	*p = s;
	return true;
}

/* --- one argument ----------------------------------------------------------------------------- */

/* The kernel names registers by their 16 bits, or their number: "%ax" for %eax, "%r8" for %r8d. */
static bool add_x86_register(const char *name, size_t n, struct buf *out)
{
	if (n >= 2 && *name == 'r' && isdigit((unsigned char)name[1])) {
		n -= strchr("dwb", name[n - 1]) != NULL;
		buf_addf(out, "%%%.*s", (int)n, name);
		return true;
	}
	if (n == 3 && (*name == 'r' || *name == 'e')) {
		buf_addf(out, "%%%.*s", 2, name + 1);
		return true;
	}
	/* al, dil: the lower byte; ah is above it */
	if (n == 3 && name[2] == 'l')
		n--;
	else if (n == 2 && name[1] == 'l')
		return buf_addf(out, "%%%cx", *name), true;
	else if (n == 2 && name[1] == 'h')
		return false;
	if (n != 2)
		return false;
	buf_addf(out, "%%%.*s", 2, name);
	return true;
}

static size_t word(const char *p)
{
	size_t n = 0;

	while (isalnum((unsigned char)p[n]))
		n++;
	return n <= REGISTER_MOST ? n : 0;
}

/* "-8(%rbp)", "%eax" */
static bool add_x86(const char *p, struct buf *out)
{
	s64 offset = 0;
	size_t n;

	if (*p == '%') {
		n = word(p + 1);
		return n && !p[1 + n] && add_x86_register(p + 1, n, out);
	}
	if (*p != '(' && !scan_signed(&p, &offset))
		return false;
	if (p[0] != '(' || p[1] != '%')
		return false;
	n = word(p + 2);
	/* with an index register it is more than a place in memory can say; "rip" is no register */
	if (!n || strcmp(p + 2 + n, ")") != 0 || memcmp(p + 2, "rip", 3) == 0)
		return false;
	buf_addf(out, "%+lld(", (long long)offset);
	if (!add_x86_register(p + 2, n, out))
		return false;
	buf_addch(out, ')');
	return true;
}

/* "x0", "w3", "[sp, 16]", "[x29]" */
static bool add_arm(const char *p, struct buf *out)
{
	bool memory = *p == '[';
	size_t n = word(p + memory);
	const char *name = p + memory, *rest = name + n;
	s64 offset = 0;

	if (!n || !strchr("xws", *name))
		return false;
	if (!memory) {
		if (*rest)
			return false;
		buf_addf(out, "%%%c%.*s", *name == 'w' ? 'x' : *name, (int)n - 1, name + 1);
		return true;
	}
	if (*rest == ',') {
		rest += 1 + strspn(rest + 1, " ");
		if (!scan_signed(&rest, &offset))
			return false;
	}
	if (strcmp(rest, "]") != 0)
		return false;
	buf_addf(out, "%+lld(%%%.*s)", (long long)offset, (int)n, name);
	return true;
}

static bool add_constant(const char *p, struct buf *out)
{
	s64 v;

	if (!scan_signed(&p, &v) || *p)
		return false;
	buf_addf(out, "\\%lld", (long long)v);
	return true;
}

static bool add_place(const char *p, struct buf *out)
{
	if (*p == '$')
		return add_constant(p + 1, out);
	if (strchr(p, '%'))
		return add_x86(p, out);
	return isdigit((unsigned char)*p) || *p == '-' ? add_constant(p, out) : add_arm(p, out);
}

/* "-4@%edi": a signed number of 4 bytes. */
static bool add_field(const char *name, const char *text, struct buf *fields)
{
	bool is_signed = *text == '-', is_text = *name == '$';
	const char *at = text + is_signed;
	_cleanup_buf_ struct buf place = BUF_INIT;
	u64 bytes = 8;

	if (strchr(at, '@')) {
		if (!scan_u64(&at, at + strlen(at), 10, &bytes) || *at++ != '@')
			return false;
		if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)
			return false;
	} else {
		at = text;
		is_signed = false;
	}
	if (!add_place(at, &place))
		return false;
	buf_addf(fields, "%s%s=", fields->len ? " " : "", name + is_text);
	if (is_text)
		buf_addf(fields, "+0(%s):string", buf_str(&place));
	else
		buf_addf(fields, "%s:%c%d", buf_str(&place), is_signed ? 's' : 'u', (int)bytes * 8);
	return true;
}

/* --- all of them ------------------------------------------------------------------------------ */

/* Arguments are separated by blanks, which brackets may contain. */
static size_t argument(const char *p)
{
	int depth = 0;
	size_t n = 0;

	for (; p[n] && (p[n] != ' ' || depth > 0); n++)
		depth += (p[n] == '[') - (p[n] == ']');
	return n;
}

u32 probe_usdt_args(const char *note, const char *const *names, struct buf *fields,
		    struct buf *shown)
{
	const char *p = note;
	u32 left_out = 0;

	for (u32 i = 1; *(p += strspn(p, " ")); i++) {
		size_t n = argument(p);
		_cleanup_free_ char *text = xstrndup(p, n);
		char number[16];
		const char *name = number;

		p += n;
		snprintf(number, sizeof(number), "arg%u", i);
		if (names && *names)
			name = *names++;
		if (i <= PROBE_USDT_ARGS_MOST && add_field(name, text, fields))
			buf_addf(shown, " %s", name + (*name == '$'));
		else
			left_out++;
	}
	return left_out;
}
