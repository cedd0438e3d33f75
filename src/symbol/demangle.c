/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/demangle.h"

#ifdef HAVE_LIBIBERTY

/* The library's header declares a function of its own by a name of ours. */
#define xmemdup libiberty_xmemdup
#include <libiberty/demangle.h>
#undef xmemdup
#include <setjmp.h>

/*
 * A short name can be made to mean gigabytes. The library's callback cannot refuse, so it jumps:
 * the library keeps nothing but its stack while it calls back.
 */
struct output {
	struct buf *buf;
	size_t begin;
	jmp_buf too_long;
};

static void take_text(const char *text, size_t n, void *context)
{
	struct output *o = context;

	if (o->buf->len - o->begin + n > DEMANGLE_MAX_OUT)
		longjmp(o->too_long, 1);
	buf_add(o->buf, text, n);
}

static bool demangle_to(const char *name, struct output *o)
{
	const int options = DMGL_PARAMS | DMGL_ANSI;

	if (setjmp(o->too_long))
		return false;
	if (rust_demangle_callback(name, options, take_text, o))
		return true;
	buf_truncate(o->buf, o->begin);
	return cplus_demangle_v3_callback(name, options, take_text, o);
}

/* D has no callback; its names hardly grow. */
static bool demangle_d(const char *name, struct buf *ret)
{
	char *text = dlang_demangle(name, 0);

	if (!text)
		return false;
	buf_addstr(ret, text);
	free(text);
	return true;
}

bool demangle(const char *name, struct buf *ret)
{
	struct output o = { .buf = ret, .begin = ret->len };

	if (name[0] != '_' || strnlen(name, DEMANGLE_MAX_IN + 1) > DEMANGLE_MAX_IN)
		return false;
	if (name[1] == 'D' && name[2] >= '0' && name[2] <= '9')
		return demangle_d(name, ret);
	if (!strchr("ZRG_", name[1]) || name[1] == '\0')
		return false;
	if (demangle_to(name, &o))
		return true;
	buf_truncate(ret, o.begin);
	return false;
}

#else

bool demangle(const char *name, struct buf *ret)
{
	(void)name;
	(void)ret;
	return false;
}

#endif
