/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a peer answers, which may be hostile: it is read piece by piece and written again, so that
 * pages get the form that they know, within limits, whatever a peer has sent.
 */
#ifndef WEB_PEER_TEXT_H
#define WEB_PEER_TEXT_H

#include "base/buf.h"
#include "base/err.h"

enum {
	PEER_CHARTS_MOST = 64,
	PEER_LINES_MOST = 16,
	PEER_INSTANCES_MOST = 64,
	PEER_PROCESSES_MOST = 32,
	PEER_NAME_MOST = 200, /* bytes of each text */
	PEER_HEAD_MOST = 8 << 10,
};

struct peer_head {
	int status;
	u64 length;
	bool endless; /* no length: up to the end of the connection */
};

/* The length of the head; 0: more is needed; negative: it is no answer that can be used. */
int peer_read_head(const char *bytes, size_t n, struct peer_head *ret);

/* The answer of /api/v1/about as JSON with the fields that charts need; the peer's clock, ms. */
int peer_read_about(const char *text, size_t n, struct buf *out, u64 *ret_now, struct err *e);

/* A frame, its time moved by @offset ms to our clock: ours = theirs - @offset. */
int peer_read_frame(const char *text, size_t n, s64 offset, struct buf *out, u64 *ret_time,
		    struct err *e);

/* The line "error" of an answer, without control characters; NULL: none. To be freed. */
char *peer_read_error(const char *text, size_t n);

#endif
