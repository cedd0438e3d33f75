/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Other machines whose charts are shown beside ours: where they are, and the token for them. Read
 * before privileges are dropped; names are looked up once.
 */
#ifndef WEB_PEER_TARGET_H
#define WEB_PEER_TARGET_H

#include "base/err.h"
#include "base/vec.h"

#include <sys/socket.h>

enum { PEERS_MOST = 16, PEER_ADDRESSES_MOST = 4, PEER_TOKEN_MOST = 128, PEER_HOST_MOST = 254 };

struct peer_target {
	char *name; /* as it was given */
	char host[PEER_HOST_MOST];
	u16 port;
	bool tls, v6; /* @v6: the host is a number with colons */
	bool loopback;
	struct sockaddr_storage at[PEER_ADDRESSES_MOST];
	socklen_t at_size[PEER_ADDRESSES_MOST];
	u32 addresses;
	char token[PEER_TOKEN_MOST + 1]; /* "": none */
};

struct peer_targets {
	VEC(struct peer_target) all;
};

/* "box7:7777", "http://127.0.0.1:8001", "https://[2001:db8::7]:7777" */
int peer_target_add(struct peer_targets *t, const char *text, struct err *e);
/* The token in the first line of a file, for one of them. */
int peer_target_token(struct peer_target *t, const char *path, struct err *e);
void peer_targets_release(struct peer_targets *t);

#endif
