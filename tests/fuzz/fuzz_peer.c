/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All that a peer sends over one connection: heads, answers, its past, its stream; in pieces whose
 * length the first byte chooses. */
#include "base/clock.h"
#include "base/jsonread.h"
#include "web/peer.h"
#include "web/peer_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void on_changed(void *ctx, const struct peer *p)
{
	(void)ctx, (void)p;
}

/* Whatever was sent: what is passed on is JSON. */
static void on_frame(void *ctx, const struct peer *p)
{
	struct json_reader r;
	enum json_piece piece;

	(void)ctx;
	json_reader_init(&r, p->frame.data, p->frame.len);
	do
		piece = json_read(&r);
	while (piece != READ_END && piece != READ_ERROR);
	if (piece == READ_ERROR)
		abort();
	json_reader_release(&r);
}

static void on_opened(void *ctx, struct peer *p)
{
	(void)ctx, (void)p;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char name[] = "peer";
	const struct peer_calls calls = { NULL, on_changed, on_frame, on_opened, NULL };
	const struct peer_target target = { .name = name };
	_cleanup_buf_ struct buf text = BUF_INIT;
	_cleanup_err_ struct err e = ERR_INIT;
	struct peer p;
	size_t piece = size ? 1 + data[0] * 4u : 1;

	peer_init(&p, &target, 60 * NSEC_PER_SEC);
	p.state = PEER_ASKING;
	for (size_t at = 1; at < size; at += piece) {
		size_t n = MIN(piece, size - at);
		char *copy = memcpy(xmalloc(n), data + at, n);
		int r = peer_take(&p, &calls, copy, n, &e);

		free(copy);
		if (r < 0)
			break;
	}
	peer_describe(&p, 1, &text);
	peer_release(&p);
	return 0;
}
