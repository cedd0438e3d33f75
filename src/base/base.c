/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/base.h"

#include "base/clock.h"
#include "base/err.h"

#include <errno.h>
#include <malloc.h>
#include <stdarg.h>

void oom(size_t size)
{
	const char *limit = err_limit(ENOMEM);

	fprintf(stderr, "fathom: out of memory (%zu bytes asked for)\n", size);
	if (limit)
		fprintf(stderr, "hint: %s\n", limit);
	abort();
}

void *xmalloc(size_t size)
{
	void *p = malloc(size ? size : 1);

	if (!p)
		oom(size);
	return p;
}

void *xcalloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size ? size : 1);

	if (!p)
		oom(n);
	return p;
}

void *xrealloc(void *p, size_t size)
{
	void *q = realloc(p, size ? size : 1);

	if (!q)
		oom(size);
	return q;
}

void *xreallocarray(void *p, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes))
		oom(SIZE_MAX);
	return xrealloc(p, bytes);
}

char *xstrdup(const char *s)
{
	return xmemdup(s, strlen(s) + 1);
}

char *xstrndup(const char *s, size_t n)
{
	size_t len = strnlen(s, n);
	char *copy = xmalloc(len + 1);

	memcpy(copy, s, len);
	copy[len] = '\0';
	return copy;
}

void *xmemdup(const void *p, size_t n)
{
	void *copy = xmalloc(n);

	memcpy(copy, p, n);
	return copy;
}

char *xasprintf(const char *fmt, ...)
{
	char *s = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&s, fmt, ap);
	va_end(ap);
	if (n < 0)
		oom(strlen(fmt));
	return s;
}

bool ends_with(const char *s, const char *suffix)
{
	size_t n = strlen(s), m = strlen(suffix);

	return n >= m && memcmp(s + n - m, suffix, m) == 0;
}

void cleanup_free(void *pointer_to_pointer)
{
	void *p;

	memcpy(&p, pointer_to_pointer, sizeof(p));
	free(p);
}

void cleanup_close(const int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		close(*fd);
	errno = saved;
}

void cleanup_fclose(FILE **f)
{
	if (*f)
		fclose(*f);
}

void mem_give_back(u64 *next)
{
	u64 now = clock_mono_ns();

	if (now < *next)
		return;
	if (*next)
		malloc_trim(0);
	*next = now + 10 * NSEC_PER_SEC;
}
