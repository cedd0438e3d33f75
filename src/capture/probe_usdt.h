/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Static tracepoints (USDT) as named probes: where their arguments are, in the words of tracefs. */
#ifndef CAPTURE_PROBE_USDT_H
#define CAPTURE_PROBE_USDT_H

#include "base/buf.h"
#include "base/err.h"

enum { PROBE_USDT_ARGS_MOST = 12 };

/* "%PROVIDER:NAME", "%NAME" or "sdt_PROVIDER:NAME", with globs. */
bool probe_usdt_is(const char *text);
/* Both are to be freed; the provider is "*" where there is none. -EINVAL: no name. */
int probe_usdt_parse(const char *text, char **ret_provider, char **ret_name, struct err *e);

/*
 * Appends the fields "arg1=%di:s32 arg2=+8(%sp):u64" for the arguments of a note, "-4@%edi
 * 8@8(%rsp)", and their names to @shown. @names: NULL, or what the arguments are called, up to a
 * NULL; one that begins with '$' is the address of a string. Returns how many cannot be fetched.
 */
u32 probe_usdt_args(const char *note, const char *const *names, struct buf *fields,
		    struct buf *shown);

#endif
