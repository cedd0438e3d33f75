/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/peer.h"

#include "base/clock.h"
#include "base/json.h"
#include "web/peer_text.h"

#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

enum {
	LOOKS = 3, /* at its clock: the quickest answer counts */
	LINE_MOST = 256 << 10,
	PAST_MOST = 16 << 20,
	RATE_FRAMES = 3, /* each second */
	CLOCK_SLACK_MS = 3000,
	PIECE = 16 << 10,
};

static const char *const state_names[] = {
	[PEER_RESTING] = "resting",     [PEER_CONNECTING] = "connecting",
	[PEER_GREETING] = "connecting", [PEER_ASKING] = "connecting",
	[PEER_LIVE] = "live",           [PEER_GONE] = "gone",
};

void peer_init(struct peer *p, const struct peer_target *target, u64 history_ns)
{
	*p = (struct peer){ .target = target, .fd = -1 };
	p->history.most_ns = history_ns;
	p->history.most_bytes = PEER_HISTORY_BYTES;
}

static void disconnect(struct peer *p)
{
	tls_close(p->tls);
	p->tls = NULL;
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
	buf_release(&p->in);
	buf_release(&p->out);
	p->out_at = 0;
	p->in_body = false;
}

void peer_release(struct peer *p)
{
	disconnect(p);
	history_release(&p->history);
	buf_release(&p->about);
	buf_release(&p->frame);
	free(p->why);
}

static void wait_for(struct peer *p, u64 seconds)
{
	p->deadline = clock_mono_ns() + seconds * NSEC_PER_SEC;
}

/* One that was lost stays gone on the page while it is tried again. */
static const char *shown_state(const struct peer *p)
{
	return p->why && p->state != PEER_LIVE ? "gone" : state_names[p->state];
}

static void enter(struct peer *p, const struct peer_calls *c, enum peer_state state)
{
	const char *before = shown_state(p);

	p->state = state;
	wait_for(p, PEER_PATIENCE_SECONDS);
	if (!streq(before, shown_state(p)))
		c->changed(c->ctx, p);
}

static void lose(struct peer *p, const struct peer_calls *c, const char *why)
{
	bool news = !p->why || !streq(p->why, why);

	disconnect(p);
	/* one that was there for a while is soon there again */
	p->again = p->state == PEER_LIVE ? 1 : MIN(MAX(p->again * 2, 1u), PEER_AGAIN_MOST_SECONDS);
	if (p->state == PEER_LIVE || !p->why)
		p->since = clock_wall_ns() / NSEC_PER_MSEC;
	free(p->why);
	p->why = xstrdup(why);
	p->address = p->target->addresses ? (p->address + 1) % p->target->addresses : 0;
	p->state = PEER_GONE;
	wait_for(p, p->again);
	if (news)
		c->changed(c->ctx, p);
}

static void lose_errno(struct peer *p, const struct peer_calls *c, int r)
{
	lose(p, c, r ? err_words(r) : "it has closed the connection");
}

/* --- requests --------------------------------------------------------------------------------- */

static void ask(struct peer *p, enum peer_question question)
{
	const struct peer_target *t = p->target;

	p->question = question;
	p->in_body = false;
	p->asked = clock_mono_ns();
	buf_addstr(&p->out, "GET ");
	if (question == PEER_ABOUT)
		buf_addstr(&p->out, "/api/v1/about");
	else if (question == PEER_STREAM)
		buf_addstr(&p->out, "/api/v1/stream?for=peer");
	else
		buf_addf(&p->out, "/api/v1/history?from=%.0f",
			 history_newest(&p->history)
				 ? (double)history_newest(&p->history) + p->offset + 1
				 : 0);
	buf_addf(&p->out, " HTTP/1.1\r\nHost: %s%s%s:%u\r\n", t->v6 ? "[" : "", t->host,
		 t->v6 ? "]" : "", t->port);
	if (t->token[0])
		buf_addf(&p->out, "Authorization: Bearer %s\r\n", t->token);
	buf_addstr(&p->out, "\r\n");
	wait_for(p, PEER_PATIENCE_SECONDS);
}

/* --- answers ---------------------------------------------------------------------------------- */

/* Half of the way there and back is the most that the estimate can be wrong. */
static void compare_clocks(struct peer *p, u64 theirs)
{
	u64 now = clock_mono_ns();
	double half = (double)(now - p->asked) / 2e6, ours = (double)clock_wall_ns() / 1e6 - half,
	       offset = (double)theirs + 0.5 - ours;

	/* it says whole milliseconds */
	half += 0.5;
	if (p->looks && half >= p->offset_error)
		return;
	p->offset = offset;
	p->offset_error = half;
}

static int take_about(struct peer *p, struct err *e)
{
	u64 now;
	int r;

	buf_reset(&p->about);
	r = peer_read_about(p->in.data, p->in.len, &p->about, &now, e);
	if (r < 0) {
		buf_reset(&p->about);
		return r;
	}
	compare_clocks(p, now);
	p->looks++;
	ask(p, p->looks < LOOKS ? PEER_ABOUT : PEER_PAST);
	return 0;
}

static int take_frame(struct peer *p, const struct peer_calls *c, const char *text, size_t n,
		      struct err *e)
{
	u64 time, now = clock_mono_ns(), wall = clock_wall_ns() / NSEC_PER_MSEC;
	bool past = p->question == PEER_PAST;
	int r;

	buf_reset(&p->frame);
	r = peer_read_frame(text, n, llrint(p->offset), &p->frame, &time, e);
	if (r < 0)
		return r;
	if (!past && (time > wall + CLOCK_SLACK_MS || wall > time + CLOCK_SLACK_MS))
		return err_set(e, ETIME, "its clock or ours was set");
	if (time > wall + CLOCK_SLACK_MS || time <= history_newest(&p->history))
		return 0;
	if (!past && !web_bucket_take(&p->frames, now, RATE_FRAMES, 4 * RATE_FRAMES))
		return err_set(e, EBADMSG, "it sends more than %d frames a second", RATE_FRAMES);
	/* as old as it is, so that the past ends where it should */
	history_add(&p->history, time,
		    now - MIN(now, wall > time ? (wall - time) * NSEC_PER_MSEC : 0), &p->frame);
	if (!past)
		c->frame(c->ctx, p);
	return 0;
}

/* Lines, as far as they are whole; those of a stream that are no frames say nothing to us. */
static int take_lines(struct peer *p, const struct peer_calls *c, struct err *e)
{
	size_t at = 0;
	int r = 0;

	while (!r) {
		const char *line = p->in.data + at, *end = memchr(line, '\n', p->in.len - at),
			   *data;
		size_t n;

		if (!end)
			break;
		n = (size_t)(end - line);
		at += n + 1;
		if (p->question == PEER_PAST) {
			r = n ? take_frame(p, c, line, n, e) : 0;
			continue;
		}
		data = n > 7 && memcmp(line, "data: {", 7) == 0 ? line + 6 : NULL;
		/* the greeting is an event with a name, and so is all that is not a frame */
		if (n > 7 && memcmp(line, "event: ", 7) == 0)
			p->skips = true;
		else if (!n)
			p->skips = false;
		else if (data && !p->skips)
			r = take_frame(p, c, data, n - 6, e);
	}
	if (!r && p->in.len - at > LINE_MOST)
		r = err_set(e, EBADMSG, "it has sent a line of more than %d bytes", LINE_MOST);
	memmove(p->in.data, p->in.data + at, p->in.len - at);
	buf_truncate(&p->in, p->in.len - at);
	return r;
}

static int refused(struct peer *p, struct err *e)
{
	_cleanup_free_ char *said = peer_read_error(p->in.data, p->in.len);

	return err_set(e, EACCES, "it answers %d%s%s", p->status, said ? ": " : "",
		       said ? said : "");
}

static int take_head(struct peer *p, const struct peer_calls *c, struct err *e)
{
	struct peer_head head;
	int n = peer_read_head(p->in.data, p->in.len, &head);

	if (n < 0)
		return err_set(e, EPROTO, "it does not speak as fathom serve does");
	if (!n)
		return 0;
	memmove(p->in.data, p->in.data + n, p->in.len - (size_t)n);
	buf_truncate(&p->in, p->in.len - (size_t)n);
	p->in_body = true;
	p->status = head.status;
	p->left = head.length;
	p->endless = head.endless;
	if (head.status != 200 && head.endless)
		return refused(p, e);
	if (head.endless != (p->question == PEER_STREAM && head.status == 200) ||
	    head.length > (p->question == PEER_PAST ? (u64)PAST_MOST : (u64)LINE_MOST))
		return err_set(e, EPROTO, "it does not speak as fathom serve does");
	if (!head.endless)
		return 1;
	p->again = 0;
	p->skips = false;
	p->since = clock_wall_ns() / NSEC_PER_MSEC;
	enter(p, c, PEER_LIVE);
	free(p->why);
	p->why = NULL;
	return 1;
}

/* 1: there may be more to do with what is there. */
static int take_body(struct peer *p, const struct peer_calls *c, size_t fresh, struct err *e)
{
	int r = 0;

	if (p->endless)
		return take_lines(p, c, e);
	if (fresh > p->left)
		return err_set(e, EPROTO, "it sends more than it said");
	p->left -= fresh;
	if (p->question == PEER_PAST && p->status == 200)
		r = take_lines(p, c, e);
	if (r < 0 || p->left)
		return r;
	if (p->status != 200)
		return refused(p, e);
	if (p->question == PEER_ABOUT)
		r = take_about(p, e);
	else
		ask(p, PEER_STREAM);
	buf_reset(&p->in);
	return r;
}

int peer_take(struct peer *p, const struct peer_calls *c, const char *bytes, size_t n,
	      struct err *e)
{
	size_t fresh = n;
	int r;

	buf_add(&p->in, bytes, n);
	if (!p->in_body) {
		r = take_head(p, c, e);
		if (r <= 0)
			return r;
		fresh = p->in.len;
	}
	return take_body(p, c, fresh, e);
}

/* --- the socket ------------------------------------------------------------------------------- */

bool peer_wants_write(const struct peer *p)
{
	switch (p->state) {
	case PEER_CONNECTING: return true;
	case PEER_GREETING: return tls_wants_write(p->tls);
	default: return p->out_at < p->out.len;
	}
}

/* Negative: it is gone. */
static int send_out(struct peer *p)
{
	while (p->out_at < p->out.len) {
		const char *from = p->out.data + p->out_at;
		size_t left = p->out.len - p->out_at;
		ssize_t n = p->tls ? tls_write(p->tls, from, left)
				   : send(p->fd, from, left, MSG_NOSIGNAL);

		if (n < 0 && !p->tls)
			n = -errno;
		if (n < 0)
			return n == -EAGAIN || n == -EINTR ? 0 : (int)n;
		p->out_at += (size_t)n;
	}
	buf_reset(&p->out);
	p->out_at = 0;
	return 0;
}

/* What is there; the loop comes back for the rest, so that no peer keeps it for itself. */
static void receive(struct peer *p, const struct peer_calls *c)
{
	_cleanup_err_ struct err e = ERR_INIT;
	char piece[PIECE];

	for (int i = 0; i < 8 && p->fd >= 0; i++) {
		ssize_t n = p->tls ? tls_read(p->tls, piece, sizeof(piece))
				   : recv(p->fd, piece, sizeof(piece), 0);

		if (n < 0 && !p->tls)
			n = -errno;
		if (n == -EAGAIN || n == -EINTR)
			break;
		if (n <= 0) {
			lose_errno(p, c, (int)n);
			return;
		}
		wait_for(p, PEER_PATIENCE_SECONDS);
		if (peer_take(p, c, piece, (size_t)n, &e) < 0) {
			lose(p, c, e.what);
			return;
		}
	}
}

static void begin_asking(struct peer *p, const struct peer_calls *c)
{
	p->looks = 0;
	enter(p, c, PEER_ASKING);
	ask(p, PEER_ABOUT);
}

/* True: it is there. */
static bool is_connected(struct peer *p, const struct peer_calls *c)
{
	_cleanup_err_ struct err e = ERR_INIT;
	int code = 0;
	socklen_t n = sizeof(code);

	if (getsockopt(p->fd, SOL_SOCKET, SO_ERROR, &code, &n) < 0)
		code = errno;
	if (code) {
		lose_errno(p, c, -code);
		return false;
	}
	(void)setsockopt(p->fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
	if (!p->target->tls) {
		begin_asking(p, c);
	} else if (tls_open(c->tls, p->fd, p->target->host, &p->tls, &e) < 0) {
		lose(p, c, e.what);
		return false;
	} else {
		enter(p, c, PEER_GREETING);
	}
	return true;
}

static bool greet(struct peer *p, const struct peer_calls *c)
{
	int r = tls_handshake(p->tls);

	if (r < 0) {
		_cleanup_free_ char *why = xasprintf("TLS: %s", tls_failure(p->tls));

		lose(p, c, why);
	} else if (r) {
		begin_asking(p, c);
	}
	return r > 0;
}

void peer_go_on(struct peer *p, const struct peer_calls *c)
{
	int r;

	if (p->fd < 0 || (p->state == PEER_CONNECTING && !is_connected(p, c)) ||
	    (p->state == PEER_GREETING && !greet(p, c)))
		return;
	r = send_out(p);
	if (r < 0) {
		lose_errno(p, c, r);
		return;
	}
	receive(p, c);
	if (p->fd >= 0 && (r = send_out(p)) < 0)
		lose_errno(p, c, r);
}

void peer_begin(struct peer *p, const struct peer_calls *c)
{
	const struct peer_target *t = p->target;
	const struct sockaddr *to = (const void *)&t->at[p->address];

	p->fd = socket(to->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (p->fd < 0 || (connect(p->fd, to, t->at_size[p->address]) < 0 && errno != EINPROGRESS)) {
		lose_errno(p, c, -errno);
		return;
	}
	enter(p, c, PEER_CONNECTING);
	c->opened(c->ctx, p);
}

void peer_rest(struct peer *p, const struct peer_calls *c)
{
	disconnect(p);
	p->again = 0;
	free(p->why);
	p->why = NULL;
	p->since = 0;
	if (p->state != PEER_RESTING)
		enter(p, c, PEER_RESTING);
}

void peer_tick(struct peer *p, const struct peer_calls *c)
{
	if (clock_mono_ns() < p->deadline)
		return;
	if (p->state == PEER_GONE)
		peer_begin(p, c);
	else if (p->state != PEER_RESTING)
		lose(p, c, p->state == PEER_LIVE ? "it has become silent" : "it does not answer");
}

/* --- what pages learn of it ------------------------------------------------------------------- */

void peer_describe(const struct peer *p, u64 number, struct buf *out)
{
	struct json j;

	json_init(&j, out, false);
	json_open(&j);
	json_kv_u64(&j, "peer", number);
	json_kv_str(&j, "name", p->target->name);
	json_kv_bool(&j, "tls", p->target->tls);
	json_kv_str(&j, "state", shown_state(p));
	if (p->since)
		json_kv_u64(&j, "since", p->since);
	if (p->why && p->state != PEER_LIVE)
		json_kv_str(&j, "why", p->why);
	if (p->looks) {
		json_key(&j, "clock");
		json_open(&j);
		json_kv_double(&j, "ahead_ms", round(p->offset * 10) / 10);
		json_kv_double(&j, "error_ms", round(p->offset_error * 10) / 10);
		json_close(&j);
	}
	if (p->about.len) {
		json_key(&j, "about");
		json_raw(&j, p->about.data, p->about.len);
	}
	json_close(&j);
}
