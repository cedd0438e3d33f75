/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An error that can be shown to a person: what failed, and what to do about it.
 *
 * Functions return a negative errno and, where the caller passes one, fill a struct err. The
 * engine never prints; the command line layer prints an err as
 *
 *	fathom: cannot attach to 'block:block_rq_issue': permission denied
 *	hint: run as root or with CAP_BPF and CAP_PERFMON
 *
 * Every function takes err == NULL to mean "the code is enough for me".
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include "base/base.h"

#include <errno.h>

struct err {
	int code;   /* positive errno, 0 when nothing is set */
	char *what; /* one line, lower case, no full stop */
	char *hint; /* one line, or NULL */
};

#define ERR_INIT  \
	{         \
		0 \
	}
#define _cleanup_err_ _cleanup_(err_release)

/*
 * Sets @e to "what: strerror(code)"; returns -code. @code may be given negative. Where a limit of
 * this process is the cause, the hint names it.
 */
int err_sys(struct err *e, int code, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* Sets @e to the text alone; returns -code. */
int err_set(struct err *e, int code, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* Adds or replaces the hint. */
void err_hint(struct err *e, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Puts "text: " before what is there, as an error travels up; returns -code. */
int err_prefix(struct err *e, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Forgets what is there, so that @e can be used again. */
void err_release(struct err *e);
/* The limit of this process that @code comes from, and how it is raised; NULL: none is known. */
const char *err_limit(int code);
/* strerror in the form of our messages: first letter in lower case. Thread-safe. */
const char *err_words(int code);

#endif
