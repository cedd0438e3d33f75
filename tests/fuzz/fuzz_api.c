/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The first byte chooses a route; the rest is the body or, for what is read, the query. */
#include "web/route.h"
#include "web/tools.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_sound(const struct web_request *q)
{
	if (q->kind > KIND_LAST || q->form > FORM_LAST || q->target > TARGET_THREAD ||
	    !memchr(q->text, '\0', sizeof(q->text)) || !memchr(q->name, '\0', sizeof(q->name)) ||
	    !memchr(q->group, '\0', sizeof(q->group)))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct web_request *q = xcalloc(1, sizeof(*q));
	struct http_request r = { .method = HTTP_POST };
	const struct route *routes;
	char *bytes;
	size_t n;

	if (!size) {
		free(q);
		return 0;
	}
	bytes = memcpy(xmalloc(size), data + 1, size - 1);
	routes = web_routes(&n);
	routes += data[0] % n;
	r.path = (struct http_text){ routes->path, strlen(routes->path) };
	if (routes->method == HTTP_GET)
		r.query = (struct http_text){ bytes, size - 1 };
	if (web_route_decode(routes, &r, bytes, size - 1, q, NULL) == 0) {
		struct buf help = { bytes, size - 1, 0 };

		check_sound(q);
		/* what is decoded is taken by the other side */
		q->role = ROLE_PROGRAM;
		if (web_route_check(q, ROLE_PROGRAM, NULL) < 0)
			abort();
		(void)web_tools_check_in(&help, q, NULL);
	}
	free(bytes);
	free(q);
	return 0;
}
