/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who may ask for what. Pure functions: the server asks them in this order, before anything else
 * is done with a request.
 *
 *	host	a name that is ours, otherwise a page elsewhere leads its name to our address
 *	origin	what changes something is not taken from the pages of others
 *	token	128 bits for each start and role, compared without telling how much was right
 */
#ifndef WEB_GUARD_H
#define WEB_GUARD_H

#include "base/err.h"
#include "base/vec.h"
#include "web/http.h"

enum { TOKEN_BYTES = 16, TOKEN_TEXT = 2 * TOKEN_BYTES };

/* Each may do all that those before it may. */
enum web_role { ROLE_NONE, ROLE_VIEW, ROLE_PROFILE, ROLE_TRACE, ROLE_PROGRAM };

struct web_token {
	char text[TOKEN_TEXT + 1];
	enum web_role role;
};

struct web_guard {
	VEC(struct web_token) tokens;
	VEC(char *) names; /* in addition to those of the loopback: "build7", without a port */
};

void web_guard_release(struct web_guard *g);
const char *web_role_name(enum web_role role);
/* ROLE_NONE: no such role. */
enum web_role web_role_find(const char *name);
/* A new token of the role; its text lives as long as the guard. */
int web_guard_add_token(struct web_guard *g, enum web_role role, struct err *e);
/* The role of "Bearer TOKEN"; ROLE_NONE: it is not one of fathom's. */
enum web_role web_guard_role(const struct web_guard *g, struct http_text authorization);
bool web_guard_host(const struct web_guard *g, struct http_text host);
/* Whether a request that changes something may come from where it does. */
bool web_guard_origin(const struct http_request *r);

/* A burst of requests, and a rate in each second. */
struct web_bucket {
	double level;
	u64 last; /* ns */
};
bool web_bucket_take(struct web_bucket *b, u64 now, double per_second, double most);

#endif
