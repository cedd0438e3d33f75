/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The HTTP side of `fathom serve`: one thread, one epoll. It has no privileges and no files: pages
 * are part of the program, all else is asked from the engine over @channel.
 */
#ifndef WEB_SERVER_H
#define WEB_SERVER_H

#include "base/err.h"
#include "web/guard.h"
#include "web/peer_target.h"
#include "web/tls.h"

enum {
	SERVER_CONNECTIONS_MOST = 512,
	SERVER_QUIET_SECONDS = 10,    /* for a request to arrive, or an answer to be taken */
	SERVER_IDLE_SECONDS = 75,     /* between requests of one connection */
	SERVER_ENGINE_SECONDS = 60,   /* for an answer of the engine */
	SERVER_STREAM_MOST = 4 << 20, /* bytes that may wait for a slow watcher */
};

struct web_server_opts {
	struct web_guard *guard;
	int tcp;                  /* listening; -1: none */
	struct tls *tls;          /* of @tcp; NULL: in the clear */
	int local;                /* a listening Unix socket; -1: none */
	int channel;              /* to the engine */
	u32 owner;                /* the user other than root who may use @local */
	enum web_role local_role; /* of @local, and of clients with a certificate */
	bool quiet;               /* no audit lines on stderr */
	const char *page;         /* "web/serve.html" */
	const struct peer_targets *peers;
	struct tls *peer_tls; /* as a client; NULL: no peer needs it */
	u64 peer_history;     /* ns */
	bool peers_always;    /* also while no page is open */
};

/* Until the engine is gone or a stop is requested. */
int web_server_run(const struct web_server_opts *o, struct err *e);

#endif
