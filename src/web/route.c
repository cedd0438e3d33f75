/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/route.h"

#include "base/jsonread.h"
#include "base/parse.h"

const char *const web_kinds[] = { "oncpu", "offcpu", "hotcold", "chain", "sched", NULL };
const char *const web_targets[] = { "machine", "cgroup", "process", "thread", NULL };
const char *const web_forms[] = { "html", "data", "svg", "json", "csv", NULL };
static const char *const compats[] = { "own", "node", NULL };
static const char *const streams[] = { "page", "peer", NULL };

#define AT(field) offsetof(struct web_request, field)
#define JSON      "application/json"

#define NUMBER(name_, field, least_, most_, def_, help_)                                       \
	{                                                                                      \
		.name = (name_), .type = PARAM_NUMBER, .offset = AT(field), .least = (least_), \
		.most = (most_), .def = (def_), .help = (help_)                                \
	}
#define CHOICE(name_, field, choices_, def_, help_)                                                \
	{                                                                                          \
		.name = (name_), .type = PARAM_CHOICE, .offset = AT(field), .choices = (choices_), \
		.def = (def_), .help = (help_)                                                     \
	}
#define TEXT(name_, field, most_, required_, help_)                                        \
	{                                                                                  \
		.name = (name_), .type = PARAM_TEXT, .offset = AT(field), .most = (most_), \
		.required = (required_), .help = (help_)                                   \
	}
#define STREAM \
	NUMBER("stream", stream, 0, UINT64_MAX, "0", "number of the stream whose end ends the job")
#define JOB NUMBER("job", job, 1, UINT64_MAX, NULL, "number of the job")
#define TARGET                                                                             \
	CHOICE("target", target, web_targets, "machine", "whose time"),                    \
		NUMBER("id", id, 0, 1 << 30, "0", "process or thread, for those targets"), \
		TEXT("cgroup", group, WEB_GROUP_MOST, false, "path of the group, for that target")

static const struct route routes[] = {
	{ HTTP_GET,
	  "/api/v1/about",
	  ASK_ABOUT,
	  ROLE_VIEW,
	  JSON,
	  "the machine, the role of the token, the charts and what each figure means",
	  { { 0 } } },
	{ HTTP_GET,
	  "/api/v1/stream",
	  ASK_STREAM,
	  ROLE_VIEW,
	  "text/event-stream",
	  "server-sent events: a frame of all charts each second, and news of jobs",
	  { CHOICE("for", form, streams, "page",
		   "a peer gets frames alone, and no stacks are recorded for it") } },
	{ HTTP_GET,
	  "/api/v1/peers",
	  ASK_PEERS,
	  ROLE_VIEW,
	  JSON,
	  "other machines whose charts are shown here, and their clocks",
	  { { 0 } } },
	{ HTTP_GET,
	  "/api/v1/peers/{peer}/history",
	  ASK_PEER_HISTORY,
	  ROLE_VIEW,
	  "application/x-ndjson",
	  "frames of a peer's past by the clock of this machine, a line each",
	  { NUMBER("peer", number, 1, UINT64_MAX, NULL, "number of the peer"),
	    NUMBER("from", from, 0, UINT64_MAX, "0", "wall clock, ms"),
	    NUMBER("to", to, 0, UINT64_MAX, "18446744073709551615", "wall clock, ms") } },
	{ HTTP_GET,
	  "/api/v1/history",
	  ASK_HISTORY,
	  ROLE_VIEW,
	  "application/x-ndjson",
	  "frames of the past, a line each",
	  { NUMBER("from", from, 0, UINT64_MAX, "0", "wall clock, ms"),
	    NUMBER("to", to, 0, UINT64_MAX, "18446744073709551615", "wall clock, ms") } },
	{ HTTP_GET,
	  "/api/v1/counters",
	  ASK_COUNTERS,
	  ROLE_VIEW,
	  JSON,
	  "every counter with its value now, unit and meaning",
	  { { 0 } } },
	{ HTTP_GET,
	  "/metrics",
	  ASK_METRICS,
	  ROLE_VIEW,
	  "application/openmetrics-text",
	  "every counter as OpenMetrics text",
	  { CHOICE("compat", compat, compats, NULL,
		   "node_exporter's names instead of fathom's") } },
	{ HTTP_POST,
	  "/api/v1/record",
	  ASK_RECORD,
	  ROLE_PROFILE,
	  JSON,
	  "begins a recording, or takes a span of the past; the answer is its job",
	  { CHOICE("kind", kind, web_kinds, "oncpu", "which picture"), TARGET,
	    NUMBER("seconds", seconds, 1, 60, "5", "how long"),
	    NUMBER("hz", hz, 1, 999, "99", "samples of each CPU each second"),
	    NUMBER("from", from, 0, UINT64_MAX, "0",
		   "begin of a span of the past (wall clock, ms), in place of seconds"),
	    NUMBER("to", to, 0, UINT64_MAX, "0", "end of that span"), STREAM } },
	{ HTTP_POST,
	  "/api/v1/diff",
	  ASK_DIFF,
	  ROLE_PROFILE,
	  JSON,
	  "compares two jobs, or two spans of the past; the answer is a job",
	  { JOB, NUMBER("other", other, 1, UINT64_MAX, NULL, "the job before"),
	    CHOICE("kind", kind, web_kinds, "oncpu", "which picture, of spans"), TARGET,
	    NUMBER("from", from, 0, UINT64_MAX, "0",
		   "begin of a span of the past (wall clock, ms), in place of jobs"),
	    NUMBER("to", to, 0, UINT64_MAX, "0", "end of that span"),
	    NUMBER("before_from", before_from, 0, UINT64_MAX, "0",
		   "begin of the span that it is compared with"),
	    NUMBER("before_to", before_to, 0, UINT64_MAX, "0", "end of that span"), STREAM } },
	{ HTTP_GET,
	  "/api/v1/tools",
	  ASK_TOOLS,
	  ROLE_TRACE,
	  JSON,
	  "the tools of the library with their options",
	  { { 0 } } },
	{ HTTP_POST,
	  "/api/v1/tools/run",
	  ASK_TOOL,
	  ROLE_TRACE,
	  JSON,
	  "runs a tool; the answer is its job",
	  { TEXT("tool", name, WEB_NAME_MOST, true, "name of the tool"),
	    { .name = "options",
	      .type = PARAM_LIST,
	      .offset = AT(text),
	      .most = 1024,
	      .help = "options as the list of tools names them: \"disk=sda\", \"flags\"" },
	    NUMBER("seconds", seconds, 1, 60, "5", "how long"),
	    NUMBER("interval", number, 0, 60, "0", "seconds of each result; 0: one at the end"),
	    STREAM } },
	{ HTTP_POST,
	  "/api/v1/program",
	  ASK_PROGRAM,
	  ROLE_PROGRAM,
	  JSON,
	  "runs a program in the tracing language; the answer is its job",
	  { TEXT("text", text, WEB_TEXT_MOST, true, "the program"),
	    NUMBER("seconds", seconds, 1, 60, "5", "how long"), STREAM } },
	{ HTTP_GET,
	  "/api/v1/jobs",
	  ASK_JOBS,
	  ROLE_PROFILE,
	  JSON,
	  "all jobs with their states",
	  { { 0 } } },
	{ HTTP_POST,
	  "/api/v1/jobs/{job}/stop",
	  ASK_STOP,
	  ROLE_PROFILE,
	  JSON,
	  "ends a recording early; what there is is kept",
	  { JOB } },
	{ HTTP_GET,
	  "/api/v1/jobs/{job}/result",
	  ASK_RESULT,
	  ROLE_PROFILE,
	  "depends on the form",
	  "what a job gave: a page, a recording that perf reads, a picture, boxes or rows",
	  { JOB, CHOICE("as", form, web_forms, "html", "form of the result") } },
	{ HTTP_GET,
	  "/result/{key}",
	  ASK_FILE,
	  ROLE_NONE,
	  "text/html",
	  "the page of a result, for a frame; its key is secret and comes with the job",
	  { TEXT("key", name, WEB_NAME_MOST, true, "key of the result") } },
	{ HTTP_GET,
	  "/api/v1/openapi.json",
	  ASK_OPENAPI,
	  ROLE_VIEW,
	  JSON,
	  "this list as OpenAPI 3.1",
	  { { 0 } } },
};

const struct route *web_routes(size_t *ret_n)
{
	*ret_n = ARRAY_SIZE(routes);
	return routes;
}

/* --- paths ------------------------------------------------------------------------------------ */

/* Matches @path; the part that "{name}" stands for goes to @ret. */
static bool path_matches(const char *pattern, struct http_text path, struct http_text *ret)
{
	size_t i = 0;

	*ret = (struct http_text){ 0 };
	for (; *pattern; pattern++) {
		if (*pattern != '{') {
			if (i >= path.n || path.s[i++] != *pattern)
				return false;
			continue;
		}
		ret->s = path.s + i;
		while (i < path.n && path.s[i] != '/')
			i++;
		ret->n = (size_t)(path.s + i - ret->s);
		pattern = strchr(pattern, '}');
	}
	return i == path.n;
}

const struct route *web_route_find(const struct http_request *r, int *ret_status)
{
	enum http_method method = r->method == HTTP_HEAD ? HTTP_GET : r->method;
	struct http_text part;

	*ret_status = 404;
	for (size_t i = 0; i < ARRAY_SIZE(routes); i++) {
		if (!path_matches(routes[i].path, r->path, &part))
			continue;
		if (routes[i].method == method)
			return &routes[i];
		*ret_status = 405;
	}
	return NULL;
}

/* --- parameters ------------------------------------------------------------------------------- */

static const struct param *find_param(const struct route *route, const char *name)
{
	for (const struct param *p = route->params;
	     p < route->params + ROUTE_PARAMS_MOST && p->name; p++)
		if (streq(p->name, name))
			return p;
	return NULL;
}

static int take_number(const struct param *p, const char *text, void *field, struct err *e)
{
	u64 v;

	if (parse_u64_range(text, p->least, p->most, &v, NULL) < 0)
		return err_set(e, EINVAL, "'%s' is not a number from %llu to %llu", p->name,
			       (unsigned long long)p->least, (unsigned long long)p->most);
	memcpy(field, &v, sizeof(v));
	return 0;
}

static int take_choice(const struct param *p, const char *text, void *field, struct err *e)
{
	_cleanup_buf_ struct buf known = BUF_INIT;

	for (u32 i = 0; p->choices[i]; i++) {
		u32 v = i + 1;

		if (streq(p->choices[i], text)) {
			memcpy(field, &v, sizeof(v));
			return 0;
		}
		buf_addf(&known, "%s%s", i ? ", " : "", p->choices[i]);
	}
	return err_set(e, EINVAL, "'%s' is not one of %s", p->name, buf_str(&known));
}

static bool is_clean(const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (((u8)text[i] < ' ' && text[i] != '\n' && text[i] != '\t') || text[i] == 0x7f)
			return false;
	return true;
}

/* A text ends with its NUL; control characters but those of programs are refused. */
static int take_text(const struct param *p, const char *text, size_t n, char *field, struct err *e)
{
	if (n >= p->most)
		return err_set(e, EINVAL, "'%s' is longer than %llu bytes", p->name,
			       (unsigned long long)p->most - 1);
	if (!is_clean(text, n))
		return err_set(e, EINVAL, "'%s' has a control character", p->name);
	memcpy(field, text, n);
	field[n] = '\0';
	return 0;
}

static int take_value(const struct param *p, const char *text, size_t n, struct web_request *ret,
		      struct err *e)
{
	void *field = (char *)ret + p->offset;

	/* a NUL inside would hide what follows it */
	if (strlen(text) != n)
		return err_set(e, EINVAL, "'%s' has a control character", p->name);
	switch (p->type) {
	case PARAM_NUMBER: return take_number(p, text, field, e);
	case PARAM_CHOICE: return take_choice(p, text, field, e);
	case PARAM_TEXT: return take_text(p, text, n, field, e);
	case PARAM_LIST: break;
	}
	return err_set(e, EINVAL, "'%s' has to be a list", p->name);
}

static int take_item(const struct param *p, const struct json_reader *r, struct web_request *ret,
		     struct err *e)
{
	char *field = (char *)ret + p->offset;
	size_t used = strlen(field), n = r->text.len;

	if (used + n + 2 > p->most)
		return err_set(e, EINVAL, "'%s' is too long", p->name);
	for (size_t i = 0; i < n; i++)
		if ((u8)json_text(r)[i] < ' ' || json_text(r)[i] == 0x7f)
			return err_set(e, EINVAL, "'%s' has a control character", p->name);
	memcpy(field + used, json_text(r), n);
	memcpy(field + used + n, "\n", 2);
	return 0;
}

static int take_list(const struct param *p, struct json_reader *r, struct web_request *ret,
		     struct err *e)
{
	enum json_piece piece = json_read(r);
	int rc = 0;

	while (piece == READ_STRING && !rc) {
		rc = take_item(p, r, ret, e);
		piece = json_read(r);
	}
	if (!rc && piece != READ_ARRAY_END)
		rc = err_set(e, EINVAL, "'%s' has to be a list of texts", p->name);
	return rc;
}

static int take_json_value(const struct param *p, struct json_reader *r, struct web_request *ret,
			   struct err *e)
{
	char number[32];

	switch (json_read(r)) {
	case READ_STRING: return take_value(p, json_text(r), r->text.len, ret, e);
	case READ_ARRAY:
		if (p->type == PARAM_LIST)
			return take_list(p, r, ret, e);
		break;
	case READ_NUMBER:
		/* a double holds whole numbers up to here */
		if (r->number < 0 || r->number > 9007199254740991.0)
			break;
		snprintf(number, sizeof(number), "%.17g", r->number);
		return take_value(p, number, strlen(number), ret, e);
	default: break;
	}
	return err_set(e, EINVAL, "'%s' has no value that can be used", p->name);
}

static int unknown(const char *name, struct err *e)
{
	return err_set(e, EINVAL, "no parameter is called '%.40s'", name);
}

static int take_body(const struct route *route, const char *body, size_t n, struct web_request *ret,
		     struct err *e)
{
	struct json_reader r;
	enum json_piece piece;
	int rc = 0;

	if (!n)
		return 0;
	if (!http_is_utf8(body, n))
		return err_set(e, EINVAL, "the body is not UTF-8");
	json_reader_init(&r, body, n);
	if (json_read(&r) != READ_OBJECT)
		rc = err_set(e, EINVAL, "the body is no JSON object");
	while (!rc && (piece = json_read(&r)) == READ_KEY) {
		const struct param *p = find_param(route, json_text(&r));

		rc = p ? take_json_value(p, &r, ret, e) : unknown(json_text(&r), e);
	}
	if (!rc && (piece != READ_OBJECT_END || json_read(&r) != READ_END))
		rc = err_set(e, EINVAL, "the body is no JSON object");
	json_reader_release(&r);
	return rc;
}

static int take_query(const struct route *route, struct http_text query, struct web_request *ret,
		      struct err *e)
{
	_cleanup_buf_ struct buf name = BUF_INIT, value = BUF_INIT;
	int more, rc = 0;

	while (!rc && (more = http_query_next(&query, &name, &value)) != 0) {
		const struct param *p;

		if (more < 0)
			return err_set(e, EINVAL, "the query is broken");
		p = find_param(route, buf_str(&name));
		rc = p ? take_value(p, buf_str(&value), value.len, ret, e)
		       : unknown(buf_str(&name), e);
	}
	return rc;
}

/* Defaults first, then what is in the path. */
static int take_path(const struct route *route, const struct http_request *r,
		     struct web_request *ret, struct err *e)
{
	const char *open = strchr(route->path, '{');
	_cleanup_free_ char *text = NULL;
	_cleanup_free_ char *name = NULL;
	struct http_text part;
	int rc = 0;

	for (const struct param *p = route->params;
	     p < route->params + ROUTE_PARAMS_MOST && p->name; p++)
		if (p->def && !rc)
			rc = take_value(p, p->def, strlen(p->def), ret, e);
	if (rc || !open || !path_matches(route->path, r->path, &part))
		return rc;
	text = xstrndup(part.s, part.n);
	name = xstrndup(open + 1, strcspn(open + 1, "}"));
	return take_value(find_param(route, name), text, part.n, ret, e);
}

static bool is_given(const struct param *p, const struct web_request *r)
{
	return ((const char *)r)[p->offset] != '\0';
}

int web_route_decode(const struct route *route, const struct http_request *r, const char *body,
		     size_t n, struct web_request *ret, struct err *e)
{
	int rc;

	*ret = (struct web_request){ .ask = route->ask };
	rc = take_path(route, r, ret, e);
	if (!rc)
		rc = take_query(route, r->query, ret, e);
	if (!rc && route->method == HTTP_POST)
		rc = take_body(route, body, n, ret, e);
	for (const struct param *p = route->params;
	     !rc && p < route->params + ROUTE_PARAMS_MOST && p->name; p++)
		if (p->required && !is_given(p, ret))
			rc = err_set(e, EINVAL, "'%s' is missing", p->name);
	return rc;
}

/* --- on the other side of the channel --------------------------------------------------------- */

static bool is_choice(const struct param *p, u32 v)
{
	u32 n = 0;

	while (p->choices[n])
		n++;
	return v <= n && (v || !p->def);
}

/* What has no default is 0 where it is not given. */
static bool is_sound(const struct param *p, const struct web_request *q)
{
	const char *field = (const char *)q + p->offset;
	size_t length;
	u64 number;
	u32 choice;

	switch (p->type) {
	case PARAM_NUMBER:
		memcpy(&number, field, sizeof(number));
		return (number >= p->least && number <= p->most) || (!number && !p->def);
	case PARAM_CHOICE: memcpy(&choice, field, sizeof(choice)); return is_choice(p, choice);
	case PARAM_TEXT:
	case PARAM_LIST:
		length = strnlen(field, (size_t)p->most);
		return length < p->most && is_clean(field, length) && (length || !p->required);
	}
	return false;
}

int web_route_check(const struct web_request *q, enum web_role most, struct err *e)
{
	const struct route *route = routes;

	while (route < routes + ARRAY_SIZE(routes) && route->ask != q->ask)
		route++;
	/* what the HTTP side says of itself */
	if (route == routes + ARRAY_SIZE(routes))
		return 0;
	if (q->role < route->role || q->role > most)
		return err_set(e, EACCES, "the role does not allow that");
	for (const struct param *p = route->params;
	     p < route->params + ROUTE_PARAMS_MOST && p->name; p++)
		if (!is_sound(p, q))
			return err_set(e, EINVAL, "'%s' is out of range", p->name);
	return 0;
}
