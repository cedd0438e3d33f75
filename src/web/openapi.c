/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/json.h"
#include "web/route.h"

/* The fields of a schema; the object around them is the caller's. */
static void add_schema_fields(struct json *j, const struct param *p)
{
	json_kv_str(j, "type",
		    p->type == PARAM_NUMBER ? "integer"
		    : p->type == PARAM_LIST ? "array"
					    : "string");
	if (p->type == PARAM_NUMBER) {
		json_kv_u64(j, "minimum", p->least);
		json_kv_u64(j, "maximum", p->most);
	}
	if (p->type == PARAM_TEXT)
		json_kv_u64(j, "maxLength", p->most - 1);
	if (p->type == PARAM_LIST) {
		json_key(j, "items");
		json_open(j);
		json_kv_str(j, "type", "string");
		json_close(j);
	}
	if (p->choices) {
		json_key(j, "enum");
		json_array(j);
		for (const char *const *c = p->choices; *c; c++)
			json_str(j, *c);
		json_end(j);
	}
	if (p->def && p->type != PARAM_NUMBER)
		json_kv_str(j, "default", p->def);
}

static void add_schema(struct json *j, const struct param *p)
{
	json_key(j, "schema");
	json_open(j);
	add_schema_fields(j, p);
	json_close(j);
}

static bool in_path(const struct route *r, const struct param *p)
{
	const char *open = strchr(r->path, '{');

	return open && starts_with(open + 1, p->name);
}

static bool param_next(const struct route *r, const struct param **p)
{
	*p = *p ? *p + 1 : r->params;
	return *p < r->params + ROUTE_PARAMS_MOST && (*p)->name;
}

static void add_parameters(struct json *j, const struct route *r)
{
	const struct param *p = NULL;

	json_key(j, "parameters");
	json_array(j);
	while (param_next(r, &p)) {
		if (r->method == HTTP_POST && !in_path(r, p))
			continue;
		json_open(j);
		json_kv_str(j, "name", p->name);
		json_kv_str(j, "in", in_path(r, p) ? "path" : "query");
		json_kv_bool(j, "required", p->required || in_path(r, p));
		json_kv_str(j, "description", p->help);
		add_schema(j, p);
		json_close(j);
	}
	json_end(j);
}

static void add_property(struct json *j, const struct param *p)
{
	json_key(j, p->name);
	json_open(j);
	json_kv_str(j, "description", p->help);
	add_schema_fields(j, p);
	json_close(j);
}

static void add_body(struct json *j, const struct route *r)
{
	const struct param *p = NULL;

	json_key(j, "requestBody");
	json_open(j);
	json_key(j, "content");
	json_open(j);
	json_key(j, "application/json");
	json_open(j);
	json_key(j, "schema");
	json_open(j);
	json_kv_str(j, "type", "object");
	json_kv_bool(j, "additionalProperties", false);
	json_key(j, "properties");
	json_open(j);
	while (param_next(r, &p))
		if (!in_path(r, p))
			add_property(j, p);
	json_close(j);
	json_close(j);
	json_close(j);
	json_close(j);
	json_close(j);
}

static void add_operation(struct json *j, const struct route *r)
{
	json_key(j, r->method == HTTP_POST ? "post" : "get");
	json_open(j);
	json_kv_str(j, "summary", r->summary);
	json_kv_str(j, "x-role", web_role_name(r->role));
	add_parameters(j, r);
	if (r->method == HTTP_POST)
		add_body(j, r);
	json_key(j, "responses");
	json_open(j);
	json_key(j, "200");
	json_open(j);
	json_kv_str(j, "description", r->answer);
	json_close(j);
	json_key(j, "default");
	json_open(j);
	json_kv_str(j, "description", "an object with 'error' and perhaps 'hint'");
	json_close(j);
	json_close(j);
	json_close(j);
}

void web_openapi(struct buf *out)
{
	size_t n;
	const struct route *routes = web_routes(&n);
	struct json j;

	json_init(&j, out, true);
	json_open(&j);
	json_kv_str(&j, "openapi", "3.1.0");
	json_key(&j, "info");
	json_open(&j);
	json_kv_str(&j, "title", "fathom serve");
	json_kv_str(&j, "version", "1");
	json_close(&j);
	json_key(&j, "paths");
	json_open(&j);
	for (size_t i = 0; i < n; i++) {
		json_key(&j, routes[i].path);
		json_open(&j);
		add_operation(&j, &routes[i]);
		json_close(&j);
	}
	json_close(&j);
	json_close(&j);
	buf_addch(out, '\n');
}
