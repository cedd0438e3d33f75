/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/peer_target.h"

#include "base/buf.h"
#include "base/io.h"
#include "base/parse.h"
#include "web/listen.h"

#include <netdb.h>
#include <netinet/in.h>

void peer_targets_release(struct peer_targets *t)
{
	vec_each(one, &t->all) {
		explicit_bzero(one->token, sizeof(one->token));
		free(one->name);
	}
	vec_release(&t->all);
}

static int bad_peer(const char *text, struct err *e)
{
	err_set(e, EINVAL, "'%s' is not the address of a peer", text);
	err_hint(e, "HOST:PORT, such as box7:7777, https://box7:7777 or http://127.0.0.1:8001");
	return -EINVAL;
}

/* Letters, digits and what numbers need: it goes into a header. */
static bool is_host(const char *s)
{
	for (size_t i = 0; s[i]; i++)
		if (!strchr("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_.:",
			    s[i]))
			return false;
	return s[0] != '\0';
}

static int take_apart(struct peer_target *t, const char *text, const char *rest, struct err *e)
{
	const char *end;
	u64 port = WEB_PORT;
	size_t n;

	t->v6 = rest[0] == '[';
	rest += t->v6;
	end = t->v6 ? strchr(rest, ']') : strchrnul(rest, ':');
	if (!end)
		return bad_peer(text, e);
	n = (size_t)(end - rest);
	if (n >= sizeof(t->host))
		return bad_peer(text, e);
	memcpy(t->host, rest, n);
	end += t->v6;
	if (!is_host(t->host) || (*end && *end != ':') ||
	    (*end && parse_u64_range(end + 1, 1, UINT16_MAX, &port, NULL) < 0))
		return bad_peer(text, e);
	t->port = (u16)port;
	return 0;
}

static bool is_loopback(const struct sockaddr *a)
{
	if (a->sa_family == AF_INET)
		return ntohl(((const struct sockaddr_in *)(const void *)a)->sin_addr.s_addr) >>
			       24 ==
		       127;
	return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr);
}

static int look_up(struct peer_target *t, struct err *e)
{
	const struct addrinfo want = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV };
	struct addrinfo *all = NULL;
	char port[8];
	int r;

	snprintf(port, sizeof(port), "%u", t->port);
	r = getaddrinfo(t->host, port, &want, &all);
	if (r) {
		err_set(e, ENOENT, "cannot find the address of '%s': %s", t->host, gai_strerror(r));
		err_hint(e, "give the number of the address in place of its name");
		return -ENOENT;
	}
	t->loopback = true;
	for (const struct addrinfo *a = all; a && t->addresses < PEER_ADDRESSES_MOST;
	     a = a->ai_next) {
		if ((a->ai_family != AF_INET && a->ai_family != AF_INET6) ||
		    a->ai_addrlen > sizeof(t->at[0]))
			continue;
		t->loopback &= is_loopback(a->ai_addr);
		memcpy(&t->at[t->addresses], a->ai_addr, a->ai_addrlen);
		t->at_size[t->addresses++] = a->ai_addrlen;
	}
	freeaddrinfo(all);
	return t->addresses ? 0 : bad_peer(t->name, e);
}

int peer_target_add(struct peer_targets *all, const char *text, struct err *e)
{
	struct peer_target t = { 0 };
	const char *plain = starts_with(text, "http://"), *tls = starts_with(text, "https://");
	int r = take_apart(&t, text, plain ? plain : tls ? tls : text, e);

	if (!r && all->all.len >= PEERS_MOST)
		r = err_set(e, E2BIG, "more than %d peers", PEERS_MOST);
	if (!r)
		r = look_up(&t, e);
	if (r < 0)
		return r;
	/* the other end of a tunnel encrypts */
	t.tls = tls || (!plain && !t.loopback);
	t.name = xstrdup(plain ? plain : tls ? tls : text);
	vec_push(&all->all, t);
	return 0;
}

int peer_target_token(struct peer_target *t, const char *path, struct err *e)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	_cleanup_close_ int fd = -1;
	size_t n;
	int r = io_open_read(path, &fd, e);

	if (!r)
		r = io_read_fd(fd, path, 4096, &text, e);
	if (r < 0)
		return r;
	n = strcspn(buf_str(&text), "\r\n");
	if (!n || n > PEER_TOKEN_MOST ||
	    strspn(buf_str(&text), "0123456789abcdefghijklmnopqrstuvwxyz"
				   "ABCDEFGHIJKLMNOPQRSTUVWXYZ-._~+/=") != n) {
		err_set(e, EINVAL, "the first line of '%s' is not a token", path);
		err_hint(e, "it is what follows token= in the address that the peer prints");
		return -EINVAL;
	}
	memcpy(t->token, buf_str(&text), n);
	t->token[n] = '\0';
	explicit_bzero(text.data, text.len);
	return 0;
}
