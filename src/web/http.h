/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The head of an HTTP/1.1 request, parsed in place. What is not needed is not understood: no
 * chunked bodies, no continuation lines, no ranges, no percent signs in paths; each of those is
 * an answer with its status. Bytes are hostile.
 */
#ifndef WEB_HTTP_H
#define WEB_HTTP_H

#include "base/buf.h"

enum {
	HTTP_HEAD_MOST = 8 << 10,  /* bytes of the request line and all headers */
	HTTP_BODY_MOST = 64 << 10, /* of what follows them */
	HTTP_HEADERS_MOST = 64,
};

enum http_method { HTTP_GET = 1, HTTP_HEAD, HTTP_POST };

/* Bytes of the request, not ended by a NUL; s is NULL where the header is missing. */
struct http_text {
	const char *s;
	size_t n;
};

struct http_request {
	enum http_method method;
	struct http_text path;  /* begins with a slash */
	struct http_text query; /* after the question mark */
	struct http_text host, origin, fetch_site, authorization, accept_encoding, if_none_match;
	u64 body; /* bytes that follow the head */
	bool has_length;
	bool keep; /* the connection stays open */
};

/*
 * The length of the head; 0: more bytes are needed; negative: the status of the answer (-400), and
 * the connection is to be closed.
 */
int http_parse(const char *bytes, size_t n, struct http_request *ret);
/* "Not Found" */
const char *http_reason(int status);

bool http_text_is(struct http_text t, const char *s);
/* ASCII letters of either case are equal. */
bool http_text_is_word(struct http_text t, const char *s);
bool http_text_begins(struct http_text t, const char *s);
/* Is @coding in the list of an Accept-Encoding header, and its weight not 0? */
bool http_accepts(struct http_text list, const char *coding);

/*
 * The next "name=value" of a query, percent signs and plus decoded. 1: there is one; 0: the end;
 * -EINVAL: it is broken (a bad percent sign, a NUL, bytes that are not UTF-8).
 */
int http_query_next(struct http_text *query, struct buf *name, struct buf *value);
/* Valid UTF-8 without NULs? */
bool http_is_utf8(const char *s, size_t n);

#endif
