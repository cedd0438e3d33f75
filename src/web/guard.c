/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/guard.h"

#include "base/fmt.h"

#include <sys/random.h>

static const char *const roles[] = {
	[ROLE_NONE] = "none",   [ROLE_VIEW] = "view",       [ROLE_PROFILE] = "profile",
	[ROLE_TRACE] = "trace", [ROLE_PROGRAM] = "program",
};

const char *web_role_name(enum web_role role)
{
	return roles[role];
}

enum web_role web_role_find(const char *name)
{
	for (size_t i = ROLE_VIEW; i < ARRAY_SIZE(roles); i++)
		if (streq(roles[i], name))
			return (enum web_role)i;
	return ROLE_NONE;
}

void web_guard_release(struct web_guard *g)
{
	vec_each(name, &g->names)
		free(*name);
	vec_release(&g->names);
	vec_release(&g->tokens);
}

int web_guard_add_token(struct web_guard *g, enum web_role role, struct err *e)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct web_token t = { .role = role };
	u8 bytes[TOKEN_BYTES];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return err_sys(e, errno, "cannot make a token");
	fmt_hex(&text, bytes, sizeof(bytes));
	memcpy(t.text, buf_str(&text), TOKEN_TEXT);
	vec_push(&g->tokens, t);
	return 0;
}

/* Takes as long for a wrong first digit as for a wrong last one. */
static bool equal_secret(const char *a, const char *b)
{
	volatile u8 differ = 0;

	for (size_t i = 0; i < TOKEN_TEXT; i++)
		differ |= (u8)(a[i] ^ b[i]);
	return !differ;
}

enum web_role web_guard_role(const struct web_guard *g, struct http_text authorization)
{
	static const char scheme[] = "Bearer ";
	enum web_role role = ROLE_NONE;

	if (!http_text_begins(authorization, scheme) ||
	    authorization.n != strlen(scheme) + TOKEN_TEXT)
		return ROLE_NONE;
	vec_each(t, &g->tokens)
		if (equal_secret(authorization.s + strlen(scheme), t->text))
			role = t->role;
	return role;
}

/* "name", "name:80", "[::1]:80" without the port. */
static struct http_text without_port(struct http_text host)
{
	const char *colon;

	if (host.n && host.s[0] == '[') {
		const char *close = memchr(host.s, ']', host.n);

		/* nothing but a port may follow */
		if (close && (close + 1 == host.s + host.n || close[1] == ':'))
			host.n = (size_t)(close + 1 - host.s);
		return host;
	}
	colon = memchr(host.s, ':', host.n);
	if (colon)
		host.n = (size_t)(colon - host.s);
	return host;
}

bool web_guard_host(const struct web_guard *g, struct http_text host)
{
	static const char *const loopback[] = { "localhost", "127.0.0.1", "[::1]" };
	struct http_text name;

	if (!host.s)
		return false;
	name = without_port(host);
	for (size_t i = 0; i < ARRAY_SIZE(loopback); i++)
		if (http_text_is_word(name, loopback[i]))
			return true;
	vec_each(own, &g->names)
		if (http_text_is_word(name, *own))
			return true;
	return false;
}

static bool same_origin(struct http_text origin, struct http_text host)
{
	static const char *const schemes[] = { "http://", "https://" };

	for (size_t i = 0; i < ARRAY_SIZE(schemes); i++) {
		size_t n = strlen(schemes[i]);

		if (http_text_begins(origin, schemes[i]) && origin.n == n + host.n &&
		    memcmp(origin.s + n, host.s, host.n) == 0)
			return true;
	}
	return false;
}

/* Browsers say it in one header or the other; what says neither is not a browser. */
bool web_guard_origin(const struct http_request *r)
{
	if (r->fetch_site.s)
		return http_text_is(r->fetch_site, "same-origin") ||
		       http_text_is(r->fetch_site, "none");
	return !r->origin.s || same_origin(r->origin, r->host);
}

bool web_bucket_take(struct web_bucket *b, u64 now, double per_second, double most)
{
	double seconds = b->last && now > b->last ? (double)(now - b->last) / 1e9 : 0;

	b->level = b->last ? MIN(most, b->level + seconds * per_second) : most;
	b->last = now;
	if (b->level < 1)
		return false;
	b->level -= 1;
	return true;
}
