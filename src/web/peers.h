/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All peers of the HTTP side: connected while a page is open; pages get their news. */
#ifndef WEB_PEERS_H
#define WEB_PEERS_H

#include "web/peer.h"

struct peers_opts {
	const struct peer_targets *targets; /* NULL: none */
	struct tls *tls;                    /* as a client */
	u64 history;                        /* ns */
	bool always;                        /* also while no page is open */
	int epoll;
	u32 tag; /* epoll's number of the first one */
	/* An event for all pages. */
	void (*send)(void *ctx, const char *event, const struct buf *text);
	void *ctx;
};

struct peers {
	struct peers_opts o;
	struct peer_calls calls;
	struct peer *all;
	u32 n;
	u32 pages;  /* that are open */
	u64 linger; /* mono, ns: connected until then though no page is open */
	struct buf text;
};

void peers_init(struct peers *p, const struct peers_opts *o);
void peers_release(struct peers *p);
/* The number of pages that are open. */
void peers_watch(struct peers *p, u32 pages);
void peers_event(struct peers *p, u32 tag);
/* To be called often; true: deadlines matter. */
bool peers_tick(struct peers *p);
/* {"schema": 1, "peers": [...]} */
void peers_list(const struct peers *p, struct buf *out);
/* NULL: there is no peer of that number. */
const struct history *peers_history(const struct peers *p, u64 number);

#endif
