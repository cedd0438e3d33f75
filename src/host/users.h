/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of users, from /etc/passwd: the C library's functions need shared objects at run time. A
 * user that is not in it (a directory service) has a number only.
 */
#ifndef HOST_USERS_H
#define HOST_USERS_H

#include "base/err.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/vec.h"

struct users {
	struct intern names;
	VEC(u32) ids;     /* of names, in their order */
	struct map by_id; /* id -> its first name, of @names */
};

#define USERS_INIT \
	{          \
		0  \
	}
#define _cleanup_users_ _cleanup_(users_release)

void users_release(struct users *u);
/* @path NULL: /etc/passwd. */
int users_read(struct users *u, const char *path, struct err *e);
void users_parse(struct users *u, const char *text, size_t len);
/* NULL: not known. */
const char *users_name(const struct users *u, u32 id);
/* The number of a user, by name or by the number itself; -ENOENT. */
int users_id(const struct users *u, const char *user, u32 *ret, struct err *e);

#endif
