/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/err.h"

#include <ctype.h>
#include <stdarg.h>

PRINTF_LIKE(1, 0)
static char *format(const char *fmt, va_list ap)
{
	char *s = NULL;

	if (vasprintf(&s, fmt, ap) < 0)
		oom(strlen(fmt));
	return s;
}

static int positive(int code)
{
	return code < 0 ? -code : code;
}

static void replace(struct err *e, int code, char *what)
{
	free(e->what);
	free(e->hint);
	*e = (struct err){ .code = positive(code), .what = what };
}

const char *err_words(int code)
{
	static _Thread_local char text[96];
	const char *s = strerrordesc_np(positive(code));

	if (!s) {
		snprintf(text, sizeof(text), "error %d", positive(code));
		return text;
	}
	snprintf(text, sizeof(text), "%s", s);
	/* "RPC ..." and "I/O ..." keep their capitals, sentences lose theirs */
	if (islower((unsigned char)text[1]) || text[1] == ' ')
		text[0] = (char)tolower((unsigned char)text[0]);
	return text;
}

int err_set(struct err *e, int code, const char *fmt, ...)
{
	va_list ap;

	if (e) {
		va_start(ap, fmt);
		replace(e, code, format(fmt, ap));
		va_end(ap);
	}
	return -positive(code);
}

int err_sys(struct err *e, int code, const char *fmt, ...)
{
	va_list ap;

	if (e) {
		_cleanup_free_ char *text = NULL;

		va_start(ap, fmt);
		text = format(fmt, ap);
		va_end(ap);
		replace(e, code, xasprintf("%s: %s", text, err_words(code)));
	}
	return -positive(code);
}

void err_hint(struct err *e, const char *fmt, ...)
{
	va_list ap;

	if (!e)
		return;
	free(e->hint);
	va_start(ap, fmt);
	e->hint = format(fmt, ap);
	va_end(ap);
}

int err_prefix(struct err *e, const char *fmt, ...)
{
	_cleanup_free_ char *prefix = NULL;
	va_list ap;
	char *joined;

	if (!e)
		return -EINVAL;
	va_start(ap, fmt);
	prefix = format(fmt, ap);
	va_end(ap);
	joined = xasprintf("%s: %s", prefix, e->what ? e->what : err_words(e->code));
	free(e->what);
	e->what = joined;
	return -e->code;
}

void err_release(struct err *e)
{
	free(e->what);
	free(e->hint);
	*e = (struct err)ERR_INIT;
}
