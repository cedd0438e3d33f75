/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The data of a tracepoint's sample as text, by the `print fmt` of its format file:
 *
 *	print fmt: "comm=%s pid=%d", REC->comm, REC->pid
 *
 * The format is compiled once and then run for each sample. It comes from a recording and the
 * data too: both may be anything. What cannot be compiled is shown as `field=value` pairs.
 */
#ifndef PROFILE_TRACEFIELD_H
#define PROFILE_TRACEFIELD_H

#include "base/buf.h"
#include "base/err.h"

struct tracefield;

/* What a format may refer to in addition to its own data. Functions may be NULL. */
struct tracefield_env {
	bool swap;     /* the data is of the other byte order */
	u32 long_size; /* bytes of a long on the recorded machine; 0: 8 */
	void *ctx;
	/* The kernel's function at @address and where it begins; NULL: not known. */
	const char *(*symbol)(void *ctx, u64 address, u64 *ret_start);
	/* The kernel's constant string at @address (printk_formats); NULL: not known. */
	const char *(*string)(void *ctx, u64 address);
};

/* @text is the format file, @n bytes. Fails only when it does not even name its fields. */
int tracefield_new(const char *text, size_t n, struct tracefield **ret, struct err *e);
void tracefield_free(struct tracefield *t);
/* Appends the text of one sample; @raw_size bytes of data as the kernel wrote them. */
void tracefield_print(const struct tracefield *t, const struct tracefield_env *env, const void *raw,
		      u32 raw_size, struct buf *out);
/* `field=value` pairs, a space before each: what is shown when there is no usable format. */
void tracefield_print_pairs(const struct tracefield *t, const struct tracefield_env *env,
			    const void *raw, u32 raw_size, struct buf *out);

/*
 * One field as the format prints it ("sda", "D|K"), where a conversion is made of that field alone;
 * else, and with @plain, its value. False: there is no such field.
 */
bool tracefield_print_field(const struct tracefield *t, const struct tracefield_env *env,
			    const char *field, bool plain, const void *raw, u32 raw_size,
			    struct buf *out);
/* The @i-th field that is not in every tracepoint; NULL: there are no more. */
const char *tracefield_name(const struct tracefield *t, size_t i);

#endif
