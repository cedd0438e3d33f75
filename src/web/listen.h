/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where connections come from. */
#ifndef WEB_LISTEN_H
#define WEB_LISTEN_H

#include "base/buf.h"
#include "base/err.h"

enum { WEB_PORT = 7777 };

/* "127.0.0.1", "[::1]:80", ":80", "0.0.0.0:80" */
struct web_address {
	char host[64]; /* a number, not a name */
	u16 port;      /* 0: WEB_PORT, or any if that is taken */
	bool loopback;
	bool v6;
};

int web_address_parse(struct web_address *ret, const char *text, struct err *e);
/* The socket; a->port is what it got. */
int web_listen(struct web_address *a, int *ret_fd, struct err *e);
/* A socket file that only its owner can use. */
int web_listen_local(const char *path, int *ret_fd, struct err *e);
/* The socket that systemd opened for us; -ENOENT: none. */
int web_listen_inherited(int *ret_fd, bool *ret_local, u16 *ret_port);

#endif
