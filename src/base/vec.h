/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Typed growing arrays: VEC(struct thing) things = { 0 }; vec_push(&things, t);
 * The macros keep the element type, so the compiler checks what goes in and comes out.
 */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include "base/base.h"

#define VEC(T)              \
	struct {            \
		T *items;   \
		size_t len; \
		size_t cap; \
	}

/* The untyped half: makes room for one more item than @len. */
__attribute__((returns_nonnull)) static inline void *vec_grow_(void *items, size_t len, size_t *cap,
							       size_t item_size)
{
	if (len < *cap)
		return items;
	*cap = *cap ? *cap * 2 : 8;
	return xreallocarray(items, *cap, item_size);
}

#define vec_grow(v) ((v)->items = vec_grow_((v)->items, (v)->len, &(v)->cap, sizeof(*(v)->items)))
/* Appends a copy of @x. */
#define vec_push(v, ...) ((void)vec_grow(v), (void)((v)->items[(v)->len++] = (__VA_ARGS__)))
/* Appends a zeroed item and gives its address (valid until the next push). */
#define vec_new(v)                                                                 \
	((void)vec_grow(v), memset(&(v)->items[(v)->len], 0, sizeof(*(v)->items)), \
	 &(v)->items[(v)->len++])
#define vec_pop(v)   ((v)->items[--(v)->len])
#define vec_last(v)  (&(v)->items[(v)->len - 1])
#define vec_clear(v) ((void)((v)->len = 0))
#define vec_reserve(v, n)                                                                    \
	do {                                                                                 \
		size_t vec_n_ = (n);                                                         \
		if (vec_n_ > (v)->cap) {                                                     \
			(v)->items = xreallocarray((v)->items, vec_n_, sizeof(*(v)->items)); \
			(v)->cap = vec_n_;                                                   \
		}                                                                            \
	} while (0)
#define vec_release(v)                   \
	do {                             \
		free((v)->items);        \
		(v)->items = NULL;       \
		(v)->len = (v)->cap = 0; \
	} while (0)
#define vec_each(it, v) \
	for (__typeof__(*(v)->items) *it = (v)->items; it && it < (v)->items + (v)->len; it++)
#define vec_sort(v, compare)                                                       \
	do {                                                                       \
		if ((v)->len > 1)                                                  \
			qsort((v)->items, (v)->len, sizeof(*(v)->items), compare); \
	} while (0)

#endif
