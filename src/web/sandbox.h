/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The HTTP side gives up all that it does not need, before it reads the first byte. */
#ifndef WEB_SANDBOX_H
#define WEB_SANDBOX_H

#include "base/err.h"

#include <sys/types.h>

/*
 * Another user where root starts it (@user, NULL: fathom or 'nobody'), no capabilities, none by
 * exec, no descriptors but @keep, and only the system calls of a server; others end the process.
 * It ends with @parent. @connects: it may also open connections over IP, to peers.
 */
int web_sandbox(const char *user, const int *keep, size_t n, pid_t parent, bool connects,
		struct err *e);

/*
 * The capturing side and all that it starts keep what recording needs, and what the HTTP side needs
 * to become another user when it is started again; nothing else can be obtained any more.
 */
int web_sandbox_engine(struct err *e);

#endif
