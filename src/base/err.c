/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/err.h"

#include <ctype.h>
#include <stdarg.h>
#include <sys/resource.h>

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

static bool is_limited(__rlimit_resource_t what, u64 *ret)
{
	struct rlimit limit;

	if (getrlimit(what, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
		return false;
	*ret = limit.rlim_cur;
	return true;
}

const char *err_limit(int code)
{
	static _Thread_local char text[96];
	u64 limit;

	if (positive(code) == EMFILE && is_limited(RLIMIT_NOFILE, &limit))
		snprintf(text, sizeof(text),
			 "the limit of open files is %llu: raise it with "
			 "'ulimit -n'",
			 (unsigned long long)limit);
	else if (positive(code) == ENOMEM && is_limited(RLIMIT_AS, &limit))
		snprintf(text, sizeof(text),
			 "the limit of address space is %llu KB: raise it with "
			 "'ulimit -v'",
			 (unsigned long long)limit >> 10);
	else if (positive(code) == ENOMEM && is_limited(RLIMIT_DATA, &limit))
		snprintf(text, sizeof(text),
			 "the limit of data is %llu KB: raise it with "
			 "'ulimit -d'",
			 (unsigned long long)limit >> 10);
	else
		return NULL;
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
		if (err_limit(code))
			e->hint = xstrdup(err_limit(code));
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
