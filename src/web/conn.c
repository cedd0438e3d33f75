/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/conn.h"

#include "base/json.h"

#include <sys/socket.h>

#define PAGE_POLICY                                                                             \
	"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; " \
	"connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; "           \
	"frame-ancestors 'none'"

enum { PIECE = 64 << 10 };

void conn_reset(struct conn *c)
{
	buf_release(&c->in);
	buf_release(&c->out);
	if (c->file >= 0)
		close(c->file);
	tls_close(c->tls);
	if (c->fd >= 0)
		close(c->fd);
	*c = (struct conn){ .fd = -1, .file = -1, .generation = c->generation + 1 };
}

void conn_answer_head(struct conn *c, const struct answer *a)
{
	struct buf *out = &c->out;

	buf_addf(out, "HTTP/1.1 %d %s\r\n", a->status, http_reason(a->status));
	if (a->type)
		buf_addf(out, "Content-Type: %s\r\n", a->type);
	if (!a->endless && a->status != 304)
		buf_addf(out, "Content-Length: %llu\r\n", (unsigned long long)a->size);
	if (a->encoding)
		buf_addf(out, "Content-Encoding: %s\r\n", a->encoding);
	if (a->etag)
		buf_addf(out, "ETag: %s\r\nCache-Control: no-cache\r\nVary: Accept-Encoding\r\n",
			 a->etag);
	else
		buf_addstr(out, "Cache-Control: no-store\r\n");
	if (a->save_as)
		buf_addf(out, "Content-Disposition: attachment; filename=\"%s\"\r\n", a->save_as);
	if (a->status == 401)
		buf_addstr(out, "WWW-Authenticate: Bearer realm=\"fathom\"\r\n");
	if (a->status == 429 || a->status == 503)
		buf_addstr(out, "Retry-After: 1\r\n");
	if (a->endless)
		buf_addstr(out, "X-Accel-Buffering: no\r\n");
	buf_addf(out,
		 "Content-Security-Policy: %s\r\n"
		 "X-Content-Type-Options: nosniff\r\n"
		 "Referrer-Policy: no-referrer\r\n"
		 "Cross-Origin-Resource-Policy: same-origin\r\n"
		 "Cross-Origin-Opener-Policy: same-origin\r\n"
		 "Connection: %s\r\n\r\n",
		 a->policy ? a->policy : PAGE_POLICY,
		 c->keep && !a->endless ? "keep-alive" : "close");
}

void conn_answer(struct conn *c, const struct answer *a, const void *body, size_t n)
{
	struct answer with = *a;

	with.size = n;
	conn_answer_head(c, &with);
	if (!c->head_only && n)
		buf_add(&c->out, body, n);
	c->state = CONN_WRITE;
}

void conn_error(struct conn *c, int status, const char *what, const char *hint)
{
	_cleanup_buf_ struct buf body = BUF_INIT;
	struct json j;

	json_init(&j, &body, false);
	json_open(&j);
	json_kv_str(&j, "error", what);
	if (hint)
		json_kv_str(&j, "hint", hint);
	json_close(&j);
	buf_addch(&body, '\n');
	c->refused = (u32)status;
	conn_answer(c, &(struct answer){ .status = status, .type = "application/json" }, body.data,
		    body.len);
}

/* The next piece of the file, when all before it is gone. */
static int next_piece(struct conn *c)
{
	size_t want = (size_t)MIN((u64)PIECE, c->file_size - c->file_at);
	ssize_t n;

	buf_reset(&c->out);
	c->out_at = 0;
	if (c->file < 0 || !want)
		return 0;
	n = pread(c->file, buf_reserve(&c->out, want), want, (off_t)c->file_at);
	if (n <= 0)
		return -EIO;
	buf_added(&c->out, (size_t)n);
	c->file_at += (u64)n;
	return 1;
}

static ssize_t send_some(struct conn *c)
{
	const char *from = c->out.data + c->out_at;
	size_t left = c->out.len - c->out_at;
	ssize_t n;

	if (c->tls)
		return tls_write(c->tls, from, left);
	do
		n = send(c->fd, from, left, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

static ssize_t receive_some(struct conn *c, void *to, size_t most)
{
	ssize_t n;

	if (c->tls)
		return tls_read(c->tls, to, most);
	do
		n = recv(c->fd, to, most, 0);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

int conn_flush(struct conn *c)
{
	for (;;) {
		ssize_t n;

		if (c->out_at == c->out.len) {
			int r = next_piece(c);

			if (r <= 0)
				return r < 0 ? r : 1;
		}
		n = send_some(c);
		if (n < 0)
			return n == -EAGAIN ? 0 : (int)n;
		c->out_at += (size_t)n;
	}
}

int conn_fill(struct conn *c)
{
	size_t room = HTTP_HEAD_MOST + HTTP_BODY_MOST - c->in.len;
	ssize_t n;

	/* a client that sends ahead waits until its request is answered */
	if (!room)
		return 0;
	n = receive_some(c, buf_reserve(&c->in, MIN(room, (size_t)16384)),
			 MIN(room, (size_t)16384));
	if (n < 0)
		return n == -EAGAIN ? 0 : (int)n;
	if (!n)
		return -EPIPE;
	buf_added(&c->in, (size_t)n);
	return 1;
}
