/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/http.h"

#include "base/parse.h"

#include <errno.h>
#include <strings.h>

const char *http_reason(int status)
{
	static const struct {
		int status;
		const char *words;
	} reasons[] = {
		{ 200, "OK" },
		{ 202, "Accepted" },
		{ 204, "No Content" },
		{ 304, "Not Modified" },
		{ 400, "Bad Request" },
		{ 401, "Unauthorized" },
		{ 403, "Forbidden" },
		{ 404, "Not Found" },
		{ 405, "Method Not Allowed" },
		{ 408, "Request Timeout" },
		{ 409, "Conflict" },
		{ 411, "Length Required" },
		{ 413, "Content Too Large" },
		{ 415, "Unsupported Media Type" },
		{ 421, "Misdirected Request" },
		{ 429, "Too Many Requests" },
		{ 431, "Request Header Fields Too Large" },
		{ 500, "Internal Server Error" },
		{ 501, "Not Implemented" },
		{ 503, "Service Unavailable" },
		{ 505, "HTTP Version Not Supported" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
		if (reasons[i].status == status)
			return reasons[i].words;
	return "Unknown";
}

bool http_text_is(struct http_text t, const char *s)
{
	return t.s && t.n == strlen(s) && memcmp(t.s, s, t.n) == 0;
}

bool http_text_is_word(struct http_text t, const char *s)
{
	return t.s && t.n == strlen(s) && strncasecmp(t.s, s, t.n) == 0;
}

bool http_text_begins(struct http_text t, const char *s)
{
	return t.s && t.n >= strlen(s) && memcmp(t.s, s, strlen(s)) == 0;
}

static struct http_text trim(struct http_text t)
{
	for (; t.n && (*t.s == ' ' || *t.s == '\t'); t.n--)
		t.s++;
	while (t.n && (t.s[t.n - 1] == ' ' || t.s[t.n - 1] == '\t'))
		t.n--;
	return t;
}

/* Takes what is before @mark off @rest, and the mark. */
static struct http_text take_until(struct http_text *rest, char mark)
{
	const char *end = memchr(rest->s, mark, rest->n);
	struct http_text part = { rest->s, end ? (size_t)(end - rest->s) : rest->n };

	rest->s += part.n + (end != NULL);
	rest->n -= part.n + (end != NULL);
	return trim(part);
}

/* "q=0", "q=0.000" */
static bool is_weight_0(struct http_text t)
{
	if (t.n < 3 || (*t.s | 0x20) != 'q' || t.s[1] != '=' || t.s[2] != '0')
		return false;
	for (size_t i = 3; i < t.n; i++)
		if (t.s[i] != (i == 3 ? '.' : '0'))
			return false;
	return true;
}

bool http_accepts(struct http_text list, const char *coding)
{
	while (list.n) {
		struct http_text item = take_until(&list, ',');
		bool refused = false;

		if (!http_text_is_word(take_until(&item, ';'), coding))
			continue;
		while (item.n)
			refused |= is_weight_0(take_until(&item, ';'));
		return !refused;
	}
	return false;
}

/* --- the request line ------------------------------------------------------------------------- */

static int take_method(struct http_text word, struct http_request *ret)
{
	static const struct {
		const char *name;
		enum http_method method;
	} known[] = { { "GET", HTTP_GET }, { "HEAD", HTTP_HEAD }, { "POST", HTTP_POST } };

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (http_text_is(word, known[i].name)) {
			ret->method = known[i].method;
			return 0;
		}
	}
	for (size_t i = 0; i < word.n; i++)
		if (word.s[i] < 'A' || word.s[i] > 'Z')
			return -400;
	return word.n ? -501 : -400;
}

static int take_target(struct http_text target, struct http_request *ret)
{
	const char *mark;

	if (!target.n || target.s[0] != '/')
		return -400;
	for (size_t i = 0; i < target.n; i++)
		if (target.s[i] < '!' || target.s[i] > '~' || target.s[i] == '#')
			return -400;
	mark = memchr(target.s, '?', target.n);
	ret->path = (struct http_text){ target.s, mark ? (size_t)(mark - target.s) : target.n };
	if (mark)
		ret->query = (struct http_text){ mark + 1, target.n - ret->path.n - 1 };
	return 0;
}

static int take_version(struct http_text version, struct http_request *ret)
{
	if (http_text_is(version, "HTTP/1.1")) {
		ret->keep = true;
		return 0;
	}
	if (http_text_is(version, "HTTP/1.0"))
		return 0;
	return http_text_begins(version, "HTTP/") ? -505 : -400;
}

static int take_request_line(struct http_text line, struct http_request *ret)
{
	const char *first = memchr(line.s, ' ', line.n), *second;
	int r;

	if (!first)
		return -400;
	second = memchr(first + 1, ' ', line.n - (size_t)(first + 1 - line.s));
	if (!second)
		return -400;
	r = take_version((struct http_text){ second + 1, line.n - (size_t)(second + 1 - line.s) },
			 ret);
	if (!r)
		r = take_method((struct http_text){ line.s, (size_t)(first - line.s) }, ret);
	if (!r)
		r = take_target((struct http_text){ first + 1, (size_t)(second - first - 1) }, ret);
	return r;
}

/* --- headers ---------------------------------------------------------------------------------- */

static bool is_token(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c && strchr("!#$%&'*+-.^_`|~", c));
}

static int take_length(struct http_text value, struct http_request *ret)
{
	const char *at = value.s;

	if (ret->has_length || !value.n || value.n > 18 ||
	    !scan_u64(&at, value.s + value.n, 10, &ret->body) || at != value.s + value.n)
		return -400;
	ret->has_length = true;
	return ret->body > HTTP_BODY_MOST ? -413 : 0;
}

static int take_connection(struct http_text value, struct http_request *ret)
{
	if (http_text_is_word(value, "close"))
		ret->keep = false;
	return 0;
}

/* Both describe the body, which is never accepted. */
static int refuse(struct http_text value UNUSED, struct http_request *ret UNUSED)
{
	return -400;
}

static int take_text(struct http_text value, struct http_text *ret)
{
	/* one that is there twice could be read in two ways */
	if (ret->s)
		return -400;
	*ret = value;
	return 0;
}

#define HEADER(name) offsetof(struct http_request, name)

static const struct {
	const char *name;
	size_t offset; /* of a struct http_text, unless @take is there */
	int (*take)(struct http_text value, struct http_request *ret);
} headers[] = {
	{ "host", HEADER(host), NULL },
	{ "origin", HEADER(origin), NULL },
	{ "sec-fetch-site", HEADER(fetch_site), NULL },
	{ "authorization", HEADER(authorization), NULL },
	{ "accept-encoding", HEADER(accept_encoding), NULL },
	{ "if-none-match", HEADER(if_none_match), NULL },
	{ "content-length", 0, take_length },
	{ "connection", 0, take_connection },
	{ "transfer-encoding", 0, refuse },
	{ "upgrade", 0, refuse },
	{ "expect", 0, refuse },
};

static int take_header(struct http_text line, struct http_request *ret)
{
	struct http_text name = { line.s, 0 }, value;

	while (name.n < line.n && is_token(line.s[name.n]))
		name.n++;
	if (!name.n || name.n == line.n || line.s[name.n] != ':')
		return -400;
	value = trim((struct http_text){ line.s + name.n + 1, line.n - name.n - 1 });
	for (size_t i = 0; i < value.n; i++)
		if (((u8)value.s[i] < ' ' && value.s[i] != '\t') || value.s[i] == 0x7f)
			return -400;
	for (size_t i = 0; i < ARRAY_SIZE(headers); i++) {
		if (!http_text_is_word(name, headers[i].name))
			continue;
		if (headers[i].take)
			return headers[i].take(value, ret);
		return take_text(value, (struct http_text *)((char *)ret + headers[i].offset));
	}
	return 0;
}

/* The next line up to its CR LF. 1: there is one; 0: it is not whole; -400: an LF alone. */
static int next_line(const char **at, const char *end, struct http_text *ret)
{
	const char *lf = memchr(*at, '\n', (size_t)(end - *at));

	if (!lf)
		return 0;
	if (lf == *at || lf[-1] != '\r')
		return -400;
	*ret = (struct http_text){ *at, (size_t)(lf - 1 - *at) };
	*at = lf + 1;
	return 1;
}

int http_parse(const char *bytes, size_t n, struct http_request *ret)
{
	const char *at = bytes, *end = bytes + MIN(n, (size_t)HTTP_HEAD_MOST);
	struct http_text line;
	int r, count = 0;

	*ret = (struct http_request){ 0 };
	for (;; count++) {
		r = next_line(&at, end, &line);
		if (r <= 0)
			return r < 0 || n < HTTP_HEAD_MOST ? r : -431;
		if (!line.n && count)
			break;
		if (count > HTTP_HEADERS_MOST)
			return -431;
		r = count ? take_header(line, ret) : take_request_line(line, ret);
		if (r < 0)
			return r;
	}
	if (!ret->host.s)
		return -400;
	if (ret->method == HTTP_POST && !ret->has_length)
		return -411;
	return (int)(at - bytes);
}

/* --- queries ---------------------------------------------------------------------------------- */

bool http_is_utf8(const char *s, size_t n)
{
	const u8 *p = (const u8 *)s, *end = p + n;

	while (p < end) {
		int more = *p < 0x80                 ? 0
			   : *p >= 0xc2 && *p < 0xe0 ? 1
			   : *p >= 0xe0 && *p < 0xf0 ? 2
			   : *p >= 0xf0 && *p < 0xf5 ? 3
						     : -1;

		if (more < 0 || !*p || end - p <= more)
			return false;
		/* longer than need be, surrogates, above 0x10ffff */
		if ((*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] > 0x9f) ||
		    (*p == 0xf0 && p[1] < 0x90) || (*p == 0xf4 && p[1] > 0x8f))
			return false;
		for (int i = 1; i <= more; i++)
			if ((p[i] & 0xc0) != 0x80)
				return false;
		p += more + 1;
	}
	return true;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int decode(struct http_text in, struct buf *out)
{
	buf_reset(out);
	for (size_t i = 0; i < in.n; i++) {
		int high, low;

		if (in.s[i] != '%') {
			buf_addch(out, in.s[i] == '+' ? ' ' : in.s[i]);
			continue;
		}
		if (in.n - i < 3)
			return -EINVAL;
		high = hex_digit(in.s[i + 1]);
		low = hex_digit(in.s[i + 2]);
		if (high < 0 || low < 0)
			return -EINVAL;
		buf_addch(out, (char)(high << 4 | low));
		i += 2;
	}
	return http_is_utf8(buf_str(out), out->len) ? 0 : -EINVAL;
}

int http_query_next(struct http_text *query, struct buf *name, struct buf *value)
{
	struct http_text pair = *query;
	const char *end, *equals;

	if (!query->n)
		return 0;
	end = memchr(pair.s, '&', pair.n);
	if (end)
		pair.n = (size_t)(end - pair.s);
	query->s += pair.n + (end ? 1 : 0);
	query->n -= pair.n + (end ? 1 : 0);
	equals = memchr(pair.s, '=', pair.n);
	if (!equals)
		return -EINVAL;
	if (decode((struct http_text){ pair.s, (size_t)(equals - pair.s) }, name) < 0 ||
	    decode((struct http_text){ equals + 1, pair.n - (size_t)(equals + 1 - pair.s) },
		   value) < 0)
		return -EINVAL;
	return 1;
}
