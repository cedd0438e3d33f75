/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The connection to one peer: it is asked what its charts are, for its past, and then for its
 * stream. Its clock is compared with ours from three requests; its frames are kept and passed on
 * with our time. When it is gone it is tried again, later and later.
 */
#ifndef WEB_PEER_H
#define WEB_PEER_H

#include "web/guard.h"
#include "web/history.h"
#include "web/peer_target.h"
#include "web/tls.h"

enum {
	PEER_HISTORY_BYTES = 4 << 20,
	PEER_PATIENCE_SECONDS = 10, /* for a connection, an answer, the next frame */
	PEER_AGAIN_MOST_SECONDS = 30,
};

/* Resting: no page is open. */
enum peer_state { PEER_RESTING, PEER_CONNECTING, PEER_GREETING, PEER_ASKING, PEER_LIVE, PEER_GONE };
enum peer_question { PEER_ABOUT, PEER_PAST, PEER_STREAM };

struct peer {
	const struct peer_target *target;
	enum peer_state state;
	enum peer_question question;
	int fd;
	struct tls_link *tls;
	u32 address;  /* of the target's, the one that is tried */
	u64 deadline; /* mono, ns; PEER_GONE: when it is tried again */
	u64 again;    /* seconds until then */
	u64 since;    /* wall, ms: live or gone */
	char *why;    /* it is gone */
	struct buf in, out;
	size_t out_at;
	bool in_body, endless, skips; /* @skips: an event that is not a frame */
	u64 left;                     /* bytes of the body that are to come */
	int status;
	u32 looks;                   /* at its clock */
	u64 asked;                   /* mono, ns */
	double offset, offset_error; /* of its clock against ours, ms; positive: it is ahead */
	struct buf about;            /* JSON, as we wrote it; empty: never seen */
	struct buf frame;            /* the last one, as we wrote it */
	struct history history;
	struct web_bucket frames;
};

struct peer_calls {
	void *ctx;
	void (*changed)(void *ctx, const struct peer *p);
	void (*frame)(void *ctx, const struct peer *p);
	/* Its socket is to be watched, or is about to be closed. */
	void (*opened)(void *ctx, struct peer *p);
	struct tls *tls; /* as a client */
};

void peer_init(struct peer *p, const struct peer_target *target, u64 history_ns);
void peer_release(struct peer *p);
void peer_begin(struct peer *p, const struct peer_calls *c);
void peer_rest(struct peer *p, const struct peer_calls *c);
/* The socket can be read or written, or is broken. */
void peer_go_on(struct peer *p, const struct peer_calls *c);
/* Each second: a silent peer is disconnected, a disconnected one is tried again. */
void peer_tick(struct peer *p, const struct peer_calls *c);
/* Whether its socket has to be waited for other than for reading. */
bool peer_wants_write(const struct peer *p);
/* Parses bytes from the peer. Negative: they are malformed. */
int peer_take(struct peer *p, const struct peer_calls *c, const char *bytes, size_t n,
	      struct err *e);
/* {"peer": 1, "name": ..., "state": ...} */
void peer_describe(const struct peer *p, u64 number, struct buf *out);

#endif
