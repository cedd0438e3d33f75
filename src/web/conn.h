/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside of the server: one connection. Only these files include it. */
#ifndef WEB_CONN_H
#define WEB_CONN_H

#include "base/buf.h"
#include "web/http.h"
#include "web/message.h"
#include "web/server.h"
#include "web/tls.h"

enum conn_state {
	CONN_FREE,
	CONN_READ,   /* a request is awaited or arrives */
	CONN_ENGINE, /* the engine is asked */
	CONN_WRITE,  /* the answer leaves */
	CONN_STREAM, /* frames leave as they come */
};

struct conn {
	int fd;
	enum conn_state state;
	u32 generation;       /* of the slot: an answer to its last user is dropped */
	bool local;           /* by the Unix socket */
	struct tls_link *tls; /* NULL: in the clear */
	bool greets;          /* its handshake continues */
	bool keep, head_only;
	bool framed;   /* its answer is for a frame of the page, even if it is an error */
	bool known;    /* had a good token once */
	bool writing;  /* epoll tells when there is room */
	u64 deadline;  /* ns */
	struct buf in; /* at most a head and a body, or what follows them */
	size_t used;   /* bytes of @in that the request available has */
	struct buf out;
	size_t out_at;
	int file; /* the rest of the answer; -1: none */
	u64 file_at, file_size;
	enum web_role role;
	u64 stream;    /* its number; 0: none */
	bool for_peer; /* it is that of another fathom serve */
	u32 refused;   /* status, for the audit line */
	char peer[64]; /* for the audit line */
};

/* What an answer begins with. */
struct answer {
	int status;
	const char *type;
	const char *etag;     /* NULL: must not be stored */
	const char *encoding; /* or NULL */
	const char *policy;   /* NULL: that of the page */
	const char *save_as;  /* NULL: shown */
	bool endless;
	u64 size;
};

void conn_reset(struct conn *c);
void conn_answer_head(struct conn *c, const struct answer *a);
/* The whole answer. */
void conn_answer(struct conn *c, const struct answer *a, const void *body, size_t n);
/* {"error": ..., "hint": ...} */
void conn_error(struct conn *c, int status, const char *what, const char *hint);
/* Sends what it can. 1: all is gone; 0: more later; negative: the peer is gone. */
int conn_flush(struct conn *c);
/* 1: there is more in @in; 0: nothing now; negative: the end. */
int conn_fill(struct conn *c);

/* assets.c: true when the path is one of the program's own files, and the answer is there. */
bool conn_asset(struct conn *c, const struct http_request *r, const char *page);

#endif
