/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/cpp_name.h"

#define PLT_MARK "@plt"

/* Where the parentheses that end at @end (after the last ")") begin; NULL: nowhere. */
static const char *parameters(const char *name, const char *end)
{
	int depth = 0;

	for (const char *p = end; p > name;) {
		p--;
		depth += *p == ')';
		depth -= *p == '(';
		if (!depth)
			return p;
	}
	return NULL;
}

/* The result type of a template function is before its name: "void f<int>". */
static const char *skip_type(const char *name, const char *end)
{
	const char *from = name;
	int depth = 0;

	if (end[-1] != '>')
		return name;
	for (const char *p = name; p < end; p++) {
		if (starts_with(p, "operator"))
			break;
		depth += *p == '<' || *p == '(' || *p == '{' || *p == '[';
		depth -= *p == '>' || *p == ')' || *p == '}' || *p == ']';
		if (*p == ' ' && !depth)
			from = p + 1;
	}
	return from;
}

const char *cpp_name(const char *name, size_t *ret_len, const char **ret_suffix)
{
	const char *end = name + strlen(name), *clone = strstr(name, " [clone ");
	const char *close, *open;

	*ret_suffix = "";
	*ret_len = (size_t)(end - name);
	if (!strchr(name, '('))
		return name;
	if (ends_with(name, PLT_MARK)) {
		*ret_suffix = PLT_MARK;
		end -= strlen(PLT_MARK);
		*ret_len -= strlen(PLT_MARK);
	}
	close = clone ? clone : end;
	/* "const", "&" and the like belong to the parameters */
	while (close > name && (strchr("&", close[-1]) || (close[-1] >= 'a' && close[-1] <= 'z') ||
				close[-1] == ' '))
		close--;
	open = close > name && close[-1] == ')' ? parameters(name, close) : NULL;
	if (!open || open == name || starts_with(open, "(anonymous"))
		return name;
	name = skip_type(name, open);
	*ret_len = (size_t)(open - name);
	return name;
}
