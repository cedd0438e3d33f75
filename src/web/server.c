/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/server.h"

#include "base/clock.h"
#include "base/fmt.h"
#include "base/stop.h"
#include "web/conn.h"
#include "web/peers.h"
#include "web/route.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

enum {
	EVENTS = 64,
	/* epoll's numbers: connections, and above them */
	TAG_TCP = SERVER_CONNECTIONS_MOST,
	TAG_LOCAL,
	TAG_CHANNEL,
	TAG_STOP,
	TAG_PEERS,
	RATE_REQUESTS = 100, /* each second, and three times as many at once */
	RATE_STARTS = 2,     /* of what costs */
	RATE_LINES = 20,     /* of the audit log */
};

struct server {
	const struct web_server_opts *o;
	int epoll;
	struct conn conns[SERVER_CONNECTIONS_MOST];
	u64 streams; /* numbers given so far */
	u32 watching, watching_profile, pages;
	struct web_bucket requests[ROLE_PROGRAM + 1], starts, lines;
	u64 lines_left_out;
	struct web_outbox asked; /* of the engine */
	struct buf bytes;        /* scratch */
	struct peers peers;
};

static u64 now_ns(void)
{
	return clock_mono_ns();
}

static void set_deadline(struct conn *c, u64 seconds)
{
	c->deadline = now_ns() + seconds * NSEC_PER_SEC;
}

/* A line for what was refused, and for what begins something. */
static void audit(struct server *s, const struct conn *c, const struct http_request *r, int status)
{
	_cleanup_buf_ struct buf line = BUF_INIT;

	if (s->o->quiet || (status < 400 && r->method != HTTP_POST))
		return;
	if (!web_bucket_take(&s->lines, now_ns(), RATE_LINES, RATE_LINES * 2)) {
		s->lines_left_out++;
		return;
	}
	buf_addstr(&line, "fathom: audit ");
	fmt_iso_time(&line, clock_wall_ns());
	buf_addf(&line, " peer=%s role=%s status=%d %s ", c->peer, web_role_name(c->role), status,
		 r->method == HTTP_POST ? "POST" : "GET");
	fmt_clean(&line, r->path.s ? r->path.s : "-", r->path.s ? MIN(r->path.n, 200u) : 1);
	if (s->lines_left_out)
		buf_addf(&line, " (%llu lines left out)", (unsigned long long)s->lines_left_out);
	buf_addch(&line, '\n');
	s->lines_left_out = 0;
	(void)!write(STDERR_FILENO, line.data, line.len);
}

/* --- the engine ------------------------------------------------------------------------------- */

static u64 ref_of(const struct server *s, const struct conn *c)
{
	return (u64)(c - s->conns) | (u64)c->generation << 32;
}

static struct conn *conn_of(struct server *s, u64 ref)
{
	u32 slot = (u32)ref;
	struct conn *c = slot < SERVER_CONNECTIONS_MOST ? &s->conns[slot] : NULL;

	return c && c->generation == ref >> 32 && c->state != CONN_FREE ? c : NULL;
}

static void watch_channel(struct server *s)
{
	struct epoll_event ev = { .events = EPOLLIN | (s->asked.waiting.len ? EPOLLOUT : 0u),
				  .data.u32 = TAG_CHANNEL };

	(void)epoll_ctl(s->epoll, EPOLL_CTL_MOD, s->o->channel, &ev);
}

static int send_engine(struct server *s, const struct web_request *q)
{
	int r = web_outbox_send(&s->asked, q);

	if (s->asked.waiting.len)
		watch_channel(s);
	return r;
}

static void ask_engine(struct server *s, struct conn *c, struct web_request *q)
{
	q->ref = ref_of(s, c);
	q->role = c->role;
	if (s->asked.waiting.len >= SERVER_CONNECTIONS_MOST || send_engine(s, q) < 0) {
		conn_error(c, 503, "the capturing side does not answer", NULL);
		return;
	}
	c->state = CONN_ENGINE;
	set_deadline(c, SERVER_ENGINE_SECONDS);
}

static void announce_watchers(struct server *s, u64 left)
{
	struct web_request q = { .ask = ASK_WATCH,
				 .number = s->watching,
				 .id = s->watching_profile };

	(void)send_engine(s, &q);
	peers_watch(&s->peers, s->pages);
	if (!left)
		return;
	q = (struct web_request){ .ask = ASK_LEFT, .stream = left };
	(void)send_engine(s, &q);
}

/* --- connections ------------------------------------------------------------------------------ */

static void watch(struct server *s, struct conn *c, bool writing)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLRDHUP | (writing ? EPOLLOUT : 0u),
				  .data.u32 = (u32)(c - s->conns) };

	/* what was sent ahead is read when its turn comes */
	if (c->in.len >= HTTP_HEAD_MOST + HTTP_BODY_MOST)
		ev.events &= ~(u32)EPOLLIN;
	c->writing = writing;
	(void)epoll_ctl(s->epoll, EPOLL_CTL_MOD, c->fd, &ev);
}

/* A peer shows charts alone: nothing is recorded for it, and our peers are not its business. */
static void count_stream(struct server *s, const struct conn *c, int by)
{
	s->watching += (u32)by;
	if (c->for_peer)
		return;
	s->pages += (u32)by;
	if (c->role >= ROLE_PROFILE)
		s->watching_profile += (u32)by;
}

static void drop(struct server *s, struct conn *c)
{
	u64 stream = c->stream;

	if (stream)
		count_stream(s, c, -1);
	conn_reset(c);
	if (stream)
		announce_watchers(s, stream);
}

/* The slot for a new connection: a free one, otherwise that of a stranger who waits longest. */
static struct conn *find_slot(struct server *s)
{
	struct conn *oldest = NULL;

	for (struct conn *c = s->conns; c < s->conns + SERVER_CONNECTIONS_MOST; c++) {
		if (c->state == CONN_FREE)
			return c;
		if (c->state == CONN_READ && !c->known &&
		    (!oldest || c->deadline < oldest->deadline))
			oldest = c;
	}
	if (oldest)
		drop(s, oldest);
	return oldest;
}

static bool may_use_local(struct server *s, int fd, struct conn *c)
{
	struct ucred cred;
	socklen_t n = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &n) < 0)
		return false;
	snprintf(c->peer, sizeof(c->peer), "uid:%u", cred.uid);
	return cred.uid == 0 || cred.uid == s->o->owner;
}

static void name_peer(const struct sockaddr_storage *a, struct conn *c)
{
	char host[INET6_ADDRSTRLEN] = "?";
	u16 port = 0;

	if (a->ss_family == AF_INET) {
		const struct sockaddr_in *in = (const void *)a;

		inet_ntop(AF_INET, &in->sin_addr, host, sizeof(host));
		port = ntohs(in->sin_port);
	} else if (a->ss_family == AF_INET6) {
		const struct sockaddr_in6 *in = (const void *)a;

		inet_ntop(AF_INET6, &in->sin6_addr, host, sizeof(host));
		port = ntohs(in->sin6_port);
	}
	snprintf(c->peer, sizeof(c->peer), "%s:%u", host, port);
}

static void take_connection(struct server *s, int listener, bool local)
{
	struct sockaddr_storage address = { 0 };
	socklen_t n = sizeof(address);
	int fd = accept4(listener, (struct sockaddr *)&address, &n, SOCK_NONBLOCK | SOCK_CLOEXEC);
	struct epoll_event ev = { .events = EPOLLIN | EPOLLRDHUP };
	struct conn *c;

	if (fd < 0)
		return;
	c = find_slot(s);
	if (!c) {
		static const char full[] = "HTTP/1.1 503 Service Unavailable\r\n"
					   "Content-Length: 0\r\nConnection: close\r\n\r\n";

		if (local || !s->o->tls)
			(void)!send(fd, full, strlen(full), MSG_NOSIGNAL);
		close(fd);
		return;
	}
	*c = (struct conn){ .fd = fd,
			    .file = -1,
			    .state = CONN_READ,
			    .local = local,
			    .generation = c->generation };
	if (local && !may_use_local(s, fd, c)) {
		audit(s, c, &(struct http_request){ .method = HTTP_POST }, 403);
		conn_reset(c);
		return;
	}
	if (!local)
		name_peer(&address, c);
	if (!local && s->o->tls) {
		c->greets = true;
		if (tls_open(s->o->tls, fd, NULL, &c->tls, NULL) < 0) {
			conn_reset(c);
			return;
		}
	}
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
	set_deadline(c, SERVER_QUIET_SECONDS);
	ev.data.u32 = (u32)(c - s->conns);
	if (epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &ev) < 0)
		conn_reset(c);
}

/* --- a request -------------------------------------------------------------------------------- */

static void begin_stream(struct server *s, struct conn *c, const struct web_request *q)
{
	c->stream = ++s->streams;
	c->for_peer = q->form == STREAM_FOR_PEER;
	count_stream(s, c, 1);
	conn_answer_head(
		c, &(struct answer){ .status = 200, .type = "text/event-stream", .endless = true });
	buf_addf(&c->out, "event: hello\ndata: {\"stream\":%llu}\n\n",
		 (unsigned long long)c->stream);
	c->state = CONN_STREAM;
	announce_watchers(s, 0);
}

static void answer_bytes(struct server *s, struct conn *c, const struct route *route)
{
	conn_answer(c, &(struct answer){ .status = 200, .type = route->answer }, s->bytes.data,
		    s->bytes.len);
}

static void serve_peer_history(struct server *s, struct conn *c, const struct route *route,
			       const struct web_request *q)
{
	const struct history *h = peers_history(&s->peers, q->number);

	if (!h) {
		conn_error(c, 404, "there is no such peer", NULL);
		return;
	}
	buf_reset(&s->bytes);
	history_lines(h, q->from, q->to, &s->bytes);
	answer_bytes(s, c, route);
	buf_reset_most(&s->bytes, WEB_SCRATCH_KEPT);
}

static void serve_route(struct server *s, struct conn *c, const struct http_request *r,
			const struct route *route, const char *body)
{
	_cleanup_err_ struct err e = ERR_INIT;
	struct web_request q;

	if (web_route_decode(route, r, body, (size_t)r->body, &q, &e) < 0) {
		conn_error(c, 400, e.what, e.hint);
		return;
	}
	c->framed = route->ask == ASK_FILE;
	switch (route->ask) {
	case ASK_STREAM:
		if (r->method == HTTP_HEAD)
			conn_error(c, 405, "only GET", NULL);
		else
			begin_stream(s, c, &q);
		break;
	case ASK_OPENAPI:
		buf_reset(&s->bytes);
		web_openapi(&s->bytes);
		answer_bytes(s, c, route);
		break;
	case ASK_PEERS:
		buf_reset(&s->bytes);
		peers_list(&s->peers, &s->bytes);
		answer_bytes(s, c, route);
		break;
	case ASK_PEER_HISTORY: serve_peer_history(s, c, route, &q); break;
	default: ask_engine(s, c, &q);
	}
}

/* NULL: it may; otherwise the status and why not. */
static const char *why_not(struct server *s, struct conn *c, const struct http_request *r,
			   const struct route *route, int *ret_status)
{
	u64 now = now_ns();

	c->role = c->local || (c->tls && tls_is_known(c->tls))
			  ? s->o->local_role
			  : web_guard_role(s->o->guard, r->authorization);
	c->known |= c->role != ROLE_NONE;
	*ret_status = 429;
	if (!web_bucket_take(&s->requests[c->role], now, RATE_REQUESTS, 3 * RATE_REQUESTS))
		return "too many requests";
	*ret_status = 401;
	if (route->role && !c->role)
		return "no token, or a wrong one";
	*ret_status = 403;
	if (c->role < route->role)
		return "the role of this token does not allow that";
	if (r->method == HTTP_POST && !web_guard_origin(r))
		return "a page of another origin may not ask for that";
	*ret_status = 429;
	if (r->method == HTTP_POST && !web_bucket_take(&s->starts, now, RATE_STARTS, 8))
		return "too many recordings are begun";
	return NULL;
}

static void serve_request(struct server *s, struct conn *c, const struct http_request *r,
			  const char *body)
{
	const struct route *route;
	const char *why;
	int status = 0;

	c->head_only = r->method == HTTP_HEAD;
	c->keep = r->keep;
	c->refused = 0;
	c->framed = false;
	if (!web_guard_host(s->o->guard, r->host)) {
		conn_error(c, 421, "this is not the requested host",
			   "use localhost, or name the host with --name");
	} else if (!conn_asset(c, r, s->o->page)) {
		route = web_route_find(r, &status);
		why = route ? why_not(s, c, r, route, &status) : http_reason(status);
		if (why)
			conn_error(c, status, why, NULL);
		else
			serve_route(s, c, r, route, body);
	}
	audit(s, c, r, c->refused ? (int)c->refused : 200);
}

/* Takes the next request out of @in, if it is whole. */
static void take_request(struct server *s, struct conn *c)
{
	struct http_request r;
	int head;

	if (!c->in.len)
		return;
	head = http_parse(c->in.data, c->in.len, &r);
	if (head < 0) {
		c->keep = c->head_only = false;
		c->used = c->in.len;
		conn_error(c, -head, http_reason(-head), NULL);
		audit(s, c, &r, -head);
		return;
	}
	if (!head || c->in.len < (size_t)head + r.body)
		return;
	c->used = (size_t)head + (size_t)r.body;
	serve_request(s, c, &r, c->in.data + head);
}

/* The answer is gone: on to the next request. False: the connection is closed. */
static bool next_request(struct server *s, struct conn *c)
{
	if (!c->keep) {
		drop(s, c);
		return false;
	}
	memmove(c->in.data, c->in.data + c->used, c->in.len - c->used);
	buf_truncate(&c->in, c->in.len - c->used);
	buf_reset(&c->out);
	c->used = c->out_at = 0;
	if (c->file >= 0)
		close(c->file);
	c->file = -1;
	c->file_at = c->file_size = 0;
	c->state = CONN_READ;
	if (c->tls && tls_pending(c->tls))
		(void)conn_fill(c);
	set_deadline(c, c->in.len || !c->known ? SERVER_QUIET_SECONDS : SERVER_IDLE_SECONDS);
	return true;
}

/* Goes on with a connection as far as it can without waiting. */
static void advance(struct server *s, struct conn *c)
{
	for (;;) {
		enum conn_state was = c->state;
		int r;

		if (c->state == CONN_READ)
			take_request(s, c);
		if (c->state == CONN_READ || c->state == CONN_ENGINE)
			break;
		if (was != c->state)
			set_deadline(c, SERVER_QUIET_SECONDS);
		r = conn_flush(c);
		if (r < 0) {
			drop(s, c);
			return;
		}
		if (c->state == CONN_STREAM) {
			if (r)
				c->deadline = UINT64_MAX;
			watch(s, c, !r);
			return;
		}
		if (!r) {
			watch(s, c, true);
			return;
		}
		if (!next_request(s, c))
			return;
	}
	watch(s, c, false);
}

/* The address began with http:// instead of https://. */
static void refuse_plain(struct conn *c)
{
	static const char text[] = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n"
				   "Content-Type: text/plain\r\nContent-Length: 37\r\n\r\n"
				   "this port speaks TLS only: use https\n";

	(void)!send(c->fd, text, strlen(text), MSG_NOSIGNAL);
}

/* True: the handshake is done. */
static bool greet(struct server *s, struct conn *c)
{
	int r = tls_handshake(c->tls);

	if (!r) {
		watch(s, c, tls_wants_write(c->tls));
		return false;
	}
	if (r < 0) {
		if (r == -EPROTONOSUPPORT)
			refuse_plain(c);
		drop(s, c);
		return false;
	}
	c->greets = false;
	set_deadline(c, SERVER_QUIET_SECONDS);
	return true;
}

static void on_connection(struct server *s, struct conn *c, u32 events)
{
	size_t before = c->in.len;

	if (c->state == CONN_FREE || (c->greets && !greet(s, c)))
		return;
	if (events & (EPOLLIN | EPOLLHUP | EPOLLERR | EPOLLRDHUP)) {
		int r;

		do
			r = conn_fill(c);
		while (r > 0 && c->in.len < HTTP_HEAD_MOST + HTTP_BODY_MOST);
		/* a half-closed connection still gets its answer, but not a stream */
		if (r < 0 && (r != -EPIPE || c->state == CONN_STREAM || c->in.len == c->used ||
			      events & (EPOLLHUP | EPOLLERR))) {
			drop(s, c);
			return;
		}
		/* the first byte of a request sets the time for all of it */
		if (c->state == CONN_READ && !before && c->in.len)
			set_deadline(c, SERVER_QUIET_SECONDS);
		if (c->state == CONN_STREAM)
			buf_reset(&c->in);
	}
	advance(s, c);
	if (c->state == CONN_READ && events & EPOLLRDHUP)
		drop(s, c);
}

/* --- what the engine says --------------------------------------------------------------------- */

static const struct {
	const char *type, *save_as;
} contents[] = {
	[CONTENT_JSON] = { "application/json", NULL },
	[CONTENT_METRICS] = { "application/openmetrics-text; version=1.0.0; charset=utf-8", NULL },
	[CONTENT_HTML] = { "text/html; charset=utf-8", NULL },
	[CONTENT_DATA] = { "application/octet-stream", "fathom.data" },
	[CONTENT_SVG] = { "image/svg+xml", "fathom.svg" },
	[CONTENT_CSV] = { "text/csv; charset=utf-8", "fathom.csv" },
	[CONTENT_LINES] = { "application/x-ndjson", NULL },
};

static void on_answer(struct server *s, const struct web_reply *m, int *file)
{
	struct conn *c = conn_of(s, m->ref);
	struct answer a = { .status = (int)m->status };

	if (!c || c->state != CONN_ENGINE)
		return;
	if (m->content && m->content < ARRAY_SIZE(contents)) {
		a.type = contents[m->content].type;
		a.save_as = contents[m->content].save_as;
	}
	/* a page with foreign names in it: no origin of its own, whatever it does */
	if (m->content == CONTENT_HTML)
		a.policy = "sandbox allow-scripts allow-downloads; frame-ancestors 'self'";
	if (m->content == CONTENT_SVG)
		a.policy = "sandbox; default-src 'none'; style-src 'unsafe-inline'";
	if (c->framed && !a.policy)
		a.policy = "sandbox; default-src 'none'; frame-ancestors 'self'";
	if (*file >= 0) {
		a.size = m->size;
		conn_answer_head(c, &a);
		c->state = CONN_WRITE;
		if (!c->head_only) {
			c->file = TAKE_FD(*file);
			c->file_size = m->size;
		}
	} else {
		conn_answer(c, &a, s->bytes.data, s->bytes.len);
	}
	set_deadline(c, SERVER_QUIET_SECONDS);
	advance(s, c);
}

static void add_event(struct server *s, struct conn *c, const char *event, const struct buf *text)
{
	/* a client that is too slow is disconnected, so that memory stays bounded */
	if (c->out.len - c->out_at + text->len > SERVER_STREAM_MOST) {
		drop(s, c);
		return;
	}
	if (c->out_at == c->out.len) {
		buf_reset(&c->out);
		c->out_at = 0;
		set_deadline(c, SERVER_QUIET_SECONDS);
	}
	if (event)
		buf_addf(&c->out, "event: %s\n", event);
	buf_addstr(&c->out, "data: ");
	buf_add(&c->out, text->data, text->len);
	buf_addstr(&c->out, "\n\n");
	advance(s, c);
}

static void on_broadcast(struct server *s, const struct web_reply *m, int file)
{
	if (file >= 0) {
		buf_reset(&s->bytes);
		if (m->size > SERVER_STREAM_MOST ||
		    pread(file, buf_reserve(&s->bytes, (size_t)m->size), (size_t)m->size, 0) !=
			    (ssize_t)m->size)
			return;
		buf_added(&s->bytes, (size_t)m->size);
	}
	for (struct conn *c = s->conns; c < s->conns + SERVER_CONNECTIONS_MOST; c++)
		if (c->state == CONN_STREAM &&
		    (m->type == REPLY_FRAME || c->role >= MAX(m->status, (u32)ROLE_PROFILE)))
			add_event(s, c, m->type == REPLY_EVENT ? "job" : NULL, &s->bytes);
}

/* News of peers. */
static void send_pages(void *ctx, const char *event, const struct buf *text)
{
	struct server *s = ctx;

	for (struct conn *c = s->conns; c < s->conns + SERVER_CONNECTIONS_MOST; c++)
		if (c->state == CONN_STREAM && !c->for_peer)
			add_event(s, c, event, text);
}

/* 0: the engine is gone. */
static int on_channel(struct server *s, u32 events)
{
	struct web_reply m;
	_cleanup_close_ int file = -1;
	int r;

	if (events & EPOLLOUT) {
		(void)web_outbox_flush(&s->asked);
		watch_channel(s);
	}
	if (!(events & ~(u32)EPOLLOUT))
		return 1;
	r = web_reply_receive(s->o->channel, &m, &s->bytes, &file);
	if (r <= 0)
		return r == -EBADMSG ? 1 : 0;
	if (m.type == REPLY_ANSWER)
		on_answer(s, &m, &file);
	else
		on_broadcast(s, &m, file);
	return 1;
}

/* --- the loop --------------------------------------------------------------------------------- */

/* True: there are connections, so deadlines matter. */
static bool end_late(struct server *s)
{
	u64 now = now_ns();
	bool any = false;

	for (struct conn *c = s->conns; c < s->conns + SERVER_CONNECTIONS_MOST; c++) {
		if (c->state == CONN_FREE)
			continue;
		any |= c->deadline != UINT64_MAX;
		if (now < c->deadline)
			continue;
		if (c->state == CONN_READ && c->in.len) {
			c->keep = false;
			c->used = c->in.len;
			conn_error(c, 408, "the request did not arrive in time", NULL);
			(void)conn_flush(c);
		} else if (c->state == CONN_ENGINE) {
			c->keep = false;
			conn_error(c, 503, "the capturing side does not answer", NULL);
			(void)conn_flush(c);
		}
		drop(s, c);
	}
	return any;
}

static int add_source(struct server *s, int fd, u32 tag)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.u32 = tag };

	return fd >= 0 && epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &ev) < 0 ? -errno : 0;
}

static bool on_event(struct server *s, const struct epoll_event *ev)
{
	switch (ev->data.u32) {
	case TAG_STOP: return false;
	case TAG_TCP: take_connection(s, s->o->tcp, false); return true;
	case TAG_LOCAL: take_connection(s, s->o->local, true); return true;
	case TAG_CHANNEL: return on_channel(s, ev->events) > 0;
	default: break;
	}
	if (ev->data.u32 >= TAG_PEERS)
		peers_event(&s->peers, ev->data.u32);
	else
		on_connection(s, &s->conns[ev->data.u32], ev->events);
	return true;
}

static int loop(struct server *s)
{
	struct epoll_event events[EVENTS];
	bool timed = false;

	for (;;) {
		int n = epoll_wait(s->epoll, events, EVENTS, timed ? 1000 : -1);

		if (n < 0 && errno != EINTR)
			return -errno;
		for (int i = 0; i < n; i++)
			if (!on_event(s, &events[i]))
				return 0;
		timed = end_late(s);
		timed |= peers_tick(&s->peers);
	}
}

int web_server_run(const struct web_server_opts *o, struct err *e)
{
	struct server *s = xcalloc(1, sizeof(*s));
	int r = 0;

	s->o = o;
	s->asked.fd = o->channel;
	for (struct conn *c = s->conns; c < s->conns + SERVER_CONNECTIONS_MOST; c++)
		c->fd = c->file = -1;
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll < 0)
		r = -errno;
	peers_init(&s->peers, &(struct peers_opts){ .targets = o->peers,
						    .tls = o->peer_tls,
						    .history = o->peer_history,
						    .always = o->peers_always,
						    .epoll = s->epoll,
						    .tag = TAG_PEERS,
						    .send = send_pages,
						    .ctx = s });
	if (!r)
		r = add_source(s, o->tcp, TAG_TCP);
	if (!r)
		r = add_source(s, o->local, TAG_LOCAL);
	if (!r)
		r = add_source(s, o->channel, TAG_CHANNEL);
	if (!r)
		r = add_source(s, stop_fd(), TAG_STOP);
	if (!r)
		r = loop(s);
	for (struct conn *c = s->conns; c < s->conns + SERVER_CONNECTIONS_MOST; c++)
		conn_reset(c);
	peers_release(&s->peers);
	web_outbox_release(&s->asked);
	if (s->epoll >= 0)
		close(s->epoll);
	buf_release(&s->bytes);
	free(s);
	return r < 0 ? err_sys(e, -r, "cannot serve") : 0;
}
