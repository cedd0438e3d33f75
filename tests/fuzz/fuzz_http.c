/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A whole request as bytes: its head, who asks, the route, the query and the body. */
#include "web/route.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* exactly as many bytes: a read behind them is seen */
	char *bytes = memcpy(xmalloc(size + !size), data, size);
	struct web_request *q = xcalloc(1, sizeof(*q));
	struct web_guard guard = { 0 };
	const struct route *route;
	struct http_request r;
	int head = http_parse(bytes, size, &r), status;

	if (head > 0) {
		size_t left = size - (size_t)head;

		(void)web_guard_host(&guard, r.host);
		(void)web_guard_origin(&r);
		(void)web_guard_role(&guard, r.authorization);
		route = web_route_find(&r, &status);
		if (route)
			(void)web_route_decode(route, &r, bytes + head, MIN(left, (size_t)r.body),
					       q, NULL);
	}
	free(q);
	free(bytes);
	return 0;
}
