/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What every file may use: short integer names, compiler attributes, scope cleanup, and the
 * allocation family that never returns NULL.
 */
#ifndef BASE_BASE_H
#define BASE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/banned.h"

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;

#define ARRAY_SIZE(a)         (sizeof(a) / sizeof((a)[0]))
#define PRINTF_LIKE(f, a)     __attribute__((format(printf, f, a)))
#define UNUSED                __attribute__((unused))
#define NORETURN              __attribute__((noreturn))
#define PACKED                __attribute__((packed))
#define likely(x)             __builtin_expect(!!(x), 1)
#define unlikely(x)           __builtin_expect(!!(x), 0)
#define MIN(a, b)             ((a) < (b) ? (a) : (b))
#define MAX(a, b)             ((a) > (b) ? (a) : (b))
#define ALIGN_UP(x, a)        (((x) + (a)-1) & ~((__typeof__(x))(a)-1))
#define DIV_ROUND_UP(n, d)    (((n) + (d)-1) / (d))
#define CONTAINER_OF(p, T, m) ((T *)((const char *)(p)-offsetof(T, m)))

/* Sums and products that stop at the largest number. */
static inline u64 add_sat(u64 a, u64 b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static inline u64 mul_sat(u64 a, u64 b)
{
	u64 product;

	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

/* Numbers at any address, in the order of the machine's bytes. */
static inline u32 load_u32(const void *at)
{
	u32 v;

	memcpy(&v, at, sizeof(v));
	return v;
}

static inline u64 load_u64(const void *at)
{
	u64 v;

	memcpy(&v, at, sizeof(v));
	return v;
}

#define NSEC_PER_SEC  1000000000ull
#define NSEC_PER_MSEC 1000000ull
#define NSEC_PER_USEC 1000ull

/* Runs fn(&variable) when the variable leaves its scope. */
#define _cleanup_(fn) __attribute__((cleanup(fn)))

void cleanup_free(void *pointer_to_pointer);
void cleanup_close(const int *fd);
void cleanup_fclose(FILE **f);
#define _cleanup_free_   _cleanup_(cleanup_free)
#define _cleanup_close_  _cleanup_(cleanup_close)
#define _cleanup_fclose_ _cleanup_(cleanup_fclose)

/* Hands ownership out of a cleanup variable: return TAKE_PTR(p). */
#define TAKE_PTR(p)                            \
	({                                     \
		__typeof__(p) take_tmp_ = (p); \
		(p) = NULL;                    \
		take_tmp_;                     \
	})
#define TAKE_FD(fd)                  \
	({                           \
		int take_fd_ = (fd); \
		(fd) = -1;           \
		take_fd_;            \
	})

/*
 * Memory: these abort with a message when it is exhausted. Sizes that come from outside are
 * capped by the caller before they get here.
 */
void *xmalloc(size_t size) __attribute__((malloc, returns_nonnull, alloc_size(1)));
void *xcalloc(size_t n, size_t size) __attribute__((malloc, returns_nonnull, alloc_size(1, 2)));
void *xrealloc(void *p, size_t size) __attribute__((returns_nonnull, alloc_size(2)));
void *xreallocarray(void *p, size_t n, size_t size)
	__attribute__((returns_nonnull, alloc_size(2, 3)));
char *xstrdup(const char *s) __attribute__((malloc, returns_nonnull));
char *xstrndup(const char *s, size_t n) __attribute__((malloc, returns_nonnull));
void *xmemdup(const void *p, size_t n) __attribute__((malloc, returns_nonnull));
/*
 * Gives memory that was freed back to the kernel, every ten seconds at most: *@next is when. For
 * what runs for days, where one large file leaves memory that is never used again.
 */
void mem_give_back(u64 *next);
char *xasprintf(const char *fmt, ...) PRINTF_LIKE(1, 2) __attribute__((returns_nonnull));
NORETURN void oom(size_t size);

/* String predicates. */
static inline bool streq(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

/* @list ends with NULL. */
static inline bool streq_any(const char *s, const char *const *list)
{
	for (; *list; list++) {
		if (streq(s, *list))
			return true;
	}
	return false;
}

/* The rest of @s after @prefix, or NULL when @s does not begin with it. */
static inline const char *starts_with(const char *s, const char *prefix)
{
	size_t n = strlen(prefix);

	return strncmp(s, prefix, n) == 0 ? s + n : NULL;
}

bool ends_with(const char *s, const char *suffix);

#endif
