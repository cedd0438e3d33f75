/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The interface as a table: each route with its method, its path, who may use it and what it
 * takes. Decoding, the OpenAPI file and the list in docs/serve.md come from this table.
 */
#ifndef WEB_ROUTE_H
#define WEB_ROUTE_H

#include "base/buf.h"
#include "web/http.h"
#include "web/message.h"

enum param_type {
	PARAM_NUMBER = 1, /* u64 */
	PARAM_CHOICE,     /* u32: index into @choices + 1 */
	PARAM_TEXT,       /* char[@most] */
	PARAM_LIST,       /* an array of texts; joined by newlines in char[@most] */
};

struct param {
	const char *name;
	enum param_type type;
	size_t offset; /* in struct web_request */
	u64 least, most;
	const char *const *choices; /* ends with NULL */
	const char *def;            /* NULL: none */
	bool required;
	const char *help;
};

enum { ROUTE_PARAMS_MOST = 12 };

struct route {
	enum http_method method;
	const char *path; /* "{job}" is a number, a parameter of that name */
	enum web_ask ask;
	enum web_role role; /* ROLE_NONE: without a token */
	const char *answer; /* content type */
	const char *summary;
	struct param params[ROUTE_PARAMS_MOST]; /* ends with one without a name */
};

const struct route *web_routes(size_t *ret_n);
/* NULL: *@ret_status is 404, or 405 where the path is known with another method. */
const struct route *web_route_find(const struct http_request *r, int *ret_status);
/* What the path, the query and the body (JSON, an object) say; the error names the parameter. */
int web_route_decode(const struct route *route, const struct http_request *r, const char *body,
		     size_t n, struct web_request *ret, struct err *e);
/* The engine checks it again: -EINVAL, a value that decoding never gives; -EACCES, the
 * role is too low, or higher than any that was given away (@most). */
int web_route_check(const struct web_request *q, enum web_role most, struct err *e);
void web_openapi(struct buf *out);

/* "for" of a stream, in @form of its request */
enum { STREAM_FOR_PAGE = 1, STREAM_FOR_PEER };

extern const char *const web_kinds[], *const web_targets[], *const web_forms[];

#endif
