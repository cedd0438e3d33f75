/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For machines: one object per result.
 *
 *	{"schema":1,"command":"top","title":null,"facts":{"host":"a"},
 *	 "rows":[{"pid":1,"cpu":12.5}],
 *	 "notes":[{"level":"warning","text":"...","hint":null}],"losses":{"lost_samples":0}}
 *
 * Each section is an array under its name. Sections of the same name and kind share it: a second
 * table appends its rows, a second histogram is beside the first. A name that is taken (by
 * "facts" and the like, or by a section of another kind) gets the kind appended: "facts_table".
 */
#include "view/view.h"

#include "result/hist.h"
#include "view/cell.h"

static const char *const kind_names[] = {
	[SECTION_TABLE] = "table",
	[SECTION_HISTOGRAM] = "histogram",
	[SECTION_TREE] = "tree",
	[SECTION_TEXT] = "text",
};

static const char *key_name(const struct section *s)
{
	const char *name = section_name(s);

	return name ? name : s->type == SECTION_TABLE ? "rows" : kind_names[s->type];
}

static void table(struct json *j, const struct table *t)
{
	vec_each(row, &t->rows) {
		json_open(j);
		for (size_t i = 0; i < t->n_columns; i++) {
			json_key(j, t->columns[i].key);
			cell_json(j, &row->cells[i]);
		}
		json_close(j);
	}
}

static void limit(struct json *j, const struct histogram *h, const char *key, u64 value)
{
	if (h->kind == HIST_LINEAR)
		json_kv_s64(j, key, (s64)value);
	else
		json_kv_u64(j, key, value);
}

/* From the first bucket that counted anything to the last, without holes. */
static void buckets(struct json *j, const struct histogram *h)
{
	size_t from, to;

	hist_used(h, &from, &to);
	json_key(j, "buckets");
	json_array(j);
	for (size_t i = from; i < to; i++) {
		u64 first, last;

		hist_range(h, i, &first, &last);
		json_open(j);
		limit(j, h, "min", first);
		limit(j, h, "max", last);
		json_kv_u64(j, "count", h->buckets[i]);
		json_close(j);
	}
	json_end(j);
}

static void percentiles(struct json *j, const struct histogram *h)
{
	for (size_t i = 0; i < HIST_PERCENTILES; i++) {
		u64 value;

		hist_percentile(h, hist_percentiles[i].share, &value);
		json_kv_u64(j, hist_percentiles[i].key, value);
	}
}

static void histogram(struct json *j, const struct histogram *h)
{
	json_open(j);
	json_kv_str(j, "label", h->label);
	json_kv_str(j, "unit", h->unit);
	json_kv_u64(j, "count", h->count);
	json_kv_u64(j, "total", h->total);
	if (h->kind == HIST_LINEAR) {
		json_kv_u64(j, "under", h->under);
		json_kv_u64(j, "over", h->over);
	}
	if (h->kind == HIST_FINE)
		percentiles(j, h);
	buckets(j, h);
	json_close(j);
}

static void tree(struct json *j, const struct tree *t)
{
	vec_each(n, &t->nodes) {
		json_open(j);
		json_kv_u64(j, "depth", n->depth);
		json_kv_double(j, "percent", n->percent);
		json_kv_u64(j, "value", n->value);
		json_kv_u64(j, "self", n->self);
		json_kv_str(j, "label", n->label);
		json_close(j);
	}
}

static void section(struct json *j, const struct section *s)
{
	switch (s->type) {
	case SECTION_TABLE: table(j, s->table); break;
	case SECTION_HISTOGRAM: histogram(j, s->histogram); break;
	case SECTION_TREE: tree(j, s->tree); break;
	case SECTION_TEXT: json_str(j, s->text); break;
	}
}

static bool same_key(const struct section *a, const struct section *b)
{
	return a->type == b->type && streq(key_name(a), key_name(b));
}

static bool is_taken(const struct result *r, size_t i)
{
	static const char *const reserved[] = { "schema", "command", "title",
						"facts",  "notes",   "losses" };
	const char *name = key_name(&r->sections.items[i]);

	for (size_t k = 0; k < ARRAY_SIZE(reserved); k++)
		if (streq(name, reserved[k]))
			return true;
	for (size_t k = 0; k < i; k++)
		if (streq(name, key_name(&r->sections.items[k])))
			return true;
	return false;
}

static void section_key(struct json *j, const struct result *r, size_t i)
{
	const struct section *s = &r->sections.items[i];
	_cleanup_buf_ struct buf key = BUF_INIT;

	buf_addstr(&key, key_name(s));
	if (is_taken(r, i))
		buf_addf(&key, "_%s", kind_names[s->type]);
	json_key(j, buf_str(&key));
}

static void sections(struct json *j, const struct result *r)
{
	_cleanup_free_ bool *done = xcalloc(r->sections.len + 1, sizeof(*done));

	for (size_t i = 0; i < r->sections.len; i++) {
		if (done[i])
			continue;
		section_key(j, r, i);
		json_array(j);
		for (size_t k = i; k < r->sections.len; k++) {
			if (done[k] || !same_key(&r->sections.items[i], &r->sections.items[k]))
				continue;
			section(j, &r->sections.items[k]);
			done[k] = true;
		}
		json_end(j);
	}
}

static void facts(struct json *j, const struct result *r)
{
	json_key(j, "facts");
	json_open(j);
	vec_each(f, &r->facts) {
		json_key(j, f->key);
		cell_json(j, &f->value);
	}
	json_close(j);
}

static void notes(struct json *j, const struct result *r)
{
	json_key(j, "notes");
	json_array(j);
	vec_each(n, &r->notes) {
		json_open(j);
		json_kv_str(j, "level", n->level == NOTE_WARNING ? "warning" : "info");
		json_kv_str(j, "text", n->text);
		json_kv_str(j, "hint", n->hint);
		json_close(j);
	}
	json_end(j);
}

static void losses(struct json *j, const struct result *r)
{
	json_key(j, "losses");
	json_open(j);
	vec_each(l, &r->losses)
		json_kv_u64(j, l->key, l->count);
	json_close(j);
}

static int render(const struct result *r, const struct view_opts *opts, struct buf *out,
		  struct err *e UNUSED)
{
	struct json j;

	json_init(&j, out, !opts->stream);
	json_open(&j);
	json_kv_u64(&j, "schema", RESULT_SCHEMA);
	json_kv_str(&j, "command", r->command);
	json_kv_str(&j, "title", r->title);
	facts(&j, r);
	sections(&j, r);
	notes(&j, r);
	losses(&j, r);
	json_close(&j);
	buf_addch(out, '\n');
	return 0;
}

const struct view view_json = {
	.name = "json",
	.render = render,
};
