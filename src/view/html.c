/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/html.h"

#include "analysis/plumbing.h"
#include "base/fmt.h"
#include "base/json.h"
#include "view/export_model.h"
#include "view/svg_asset.h"

#include <zlib.h>

enum {
	GZIP_WINDOW = 15 + 16, /* what zlib calls a gzip header around the largest window */
	GZIP_LEVEL = 6,
	GZIP_MEMORY = 9,
};

/* What the places in the template, written {{name}}, are filled with. */
struct page {
	const char *title;
	const char *nonce;
	const struct buf *data;
	const struct buf *options;
};

static int add_asset(struct buf *out, const char *name, struct err *e)
{
	if (!svg_asset(name, out))
		return err_set(e, EBADMSG, "asset '%s' is missing or damaged", name);
	return 0;
}

static void add_gzip(struct buf *out, const struct buf *in)
{
	z_stream z = { 0 };
	size_t most, left = in->len;

	if (deflateInit2(&z, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		oom(sizeof(z));
	z.next_in = (Bytef *)in->data;
	do {
		size_t part = MIN(left, (size_t)1 << 30);

		left -= part;
		z.avail_in = (uInt)part;
		do {
			most = 1 << 20;
			z.next_out = (Bytef *)buf_reserve(out, most);
			z.avail_out = (uInt)most;
			deflate(&z, left ? Z_NO_FLUSH : Z_FINISH);
			buf_added(out, most - z.avail_out);
		} while (!z.avail_out);
	} while (left);
	deflateEnd(&z);
}

static void add_base64(struct buf *out, const u8 *p, size_t n)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char *at = buf_reserve(out, DIV_ROUND_UP(n, 3) * 4), *to = at;

	for (size_t i = 0; i < n; i += 3) {
		size_t part = MIN(n - i, (size_t)3);
		u32 v = (u32)p[i] << 16;

		v |= part > 1 ? (u32)p[i + 1] << 8 : 0;
		v |= part > 2 ? p[i + 2] : 0;
		*to++ = digits[v >> 18];
		*to++ = digits[v >> 12 & 63];
		*to++ = part > 1 ? digits[v >> 6 & 63] : '=';
		*to++ = part > 2 ? digits[v & 63] : '=';
	}
	buf_added(out, (size_t)(to - at));
}

static void add_escaped(struct buf *out, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '<': buf_addstr(out, "&lt;"); break;
		case '>': buf_addstr(out, "&gt;"); break;
		case '&': buf_addstr(out, "&amp;"); break;
		case '"': buf_addstr(out, "&quot;"); break;
		case '\'': buf_addstr(out, "&#39;"); break;
		default: buf_addch(out, (u8)*text < ' ' ? ' ' : *text);
		}
	}
}

/* JSON inside a script element: "</script>" and "<!--" must not be seen by the parser. */
static void add_json_in_html(struct buf *out, const struct buf *json)
{
	for (size_t i = 0; i < json->len; i++) {
		if (json->data[i] == '<')
			buf_addstr(out, "\\u003c");
		else
			buf_addch(out, json->data[i]);
	}
}

/* --- the template -------------------------------------------------------------------------- */

static int fill_title(struct buf *out, const struct page *page, struct err *e UNUSED)
{
	add_escaped(out, page->title);
	return 0;
}

static int fill_nonce(struct buf *out, const struct page *page, struct err *e UNUSED)
{
	buf_addstr(out, page->nonce);
	return 0;
}

static int fill_style(struct buf *out, const struct page *page UNUSED, struct err *e)
{
	return add_asset(out, "web/viewer.css", e);
}

static int fill_script(struct buf *out, const struct page *page UNUSED, struct err *e)
{
	return add_asset(out, "web/viewer.js", e);
}

static int fill_data(struct buf *out, const struct page *page, struct err *e UNUSED)
{
	add_base64(out, (const u8 *)page->data->data, page->data->len);
	return 0;
}

static int fill_options(struct buf *out, const struct page *page, struct err *e UNUSED)
{
	add_json_in_html(out, page->options);
	return 0;
}

static const struct {
	const char *name;
	int (*fill)(struct buf *out, const struct page *page, struct err *e);
} places[] = {
	{ "title", fill_title },   { "nonce", fill_nonce }, { "style", fill_style },
	{ "script", fill_script }, { "data", fill_data },   { "options", fill_options },
};

static int fill_place(struct buf *out, const char *name, size_t len, const struct page *page,
		      struct err *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (strlen(places[i].name) == len && memcmp(places[i].name, name, len) == 0)
			return places[i].fill(out, page, e);
	return err_set(e, EINVAL, "the page has a place '%.*s' that nothing fills", (int)len, name);
}

static int write_page(const struct page *page, struct buf *out, struct err *e)
{
	_cleanup_buf_ struct buf html = BUF_INIT;
	const char *at, *open, *close;
	int r = add_asset(&html, "web/viewer.html", e);

	if (r)
		return r;
	for (at = buf_str(&html); (open = strstr(at, "{{")); at = close + 2) {
		close = strstr(open, "}}");
		if (!close)
			break;
		buf_add(out, at, (size_t)(open - at));
		r = fill_place(out, open + 2, (size_t)(close - open - 2), page, e);
		if (r)
			return r;
	}
	buf_addstr(out, at);
	return 0;
}

/* --- what the page opens with -------------------------------------------------------------- */

static void make_title(const struct profile *p, struct buf *out)
{
	const char *source = profile_str(p, p->source);
	const char *base = strrchr(source, '/');

	buf_addstr(out, base ? base + 1 : *source ? source : "profile");
	if (p->hostname)
		buf_addf(out, " on %s", profile_str(p, p->hostname));
	buf_addstr(out, " - fathom");
}

static void add_opts(struct json *j, const struct html_opts *o)
{
	if (o->title)
		json_kv_str(j, "title", o->title);
	if (o->has_event)
		json_kv_u64(j, "event", o->event);
	if (o->has_baseline)
		json_kv_u64(j, "baseline", o->baseline);
	if (o->has_ratio)
		json_kv_u64(j, "ratio", o->ratio);
	if (o->view || o->time_order)
		json_kv_str(j, "view", o->view ? o->view : "time");
	if (o->search)
		json_kv_str(j, "search", o->search);
	if (o->group)
		json_kv_str(j, "group", o->group);
	if (o->color)
		json_kv_str(j, "color", o->color);
	if (o->code) {
		json_key(j, "code");
		json_raw(j, o->code->data, o->code->len);
	}
	json_kv_bool(j, "by_count", o->by_count);
	json_kv_bool(j, "inverted", o->inverted);
	json_kv_bool(j, "reverse", o->reverse);
	json_kv_bool(j, "left_heavy", o->left_heavy);
}

/* [[box, names], ...] */
static void add_plumbing(struct json *j)
{
	json_key(j, "plumbing");
	json_array(j);
	for (const struct plumbing_rule *r = plumbing_rules; r->box; r++) {
		json_array(j);
		json_str(j, r->box);
		json_str(j, r->names);
		json_end(j);
	}
	json_end(j);
}

/*
 * Lets the page's own scripts run and no others. It need not be secret: a name cannot become
 * markup. It is made from the data so that equal profiles give equal files.
 */
static void make_nonce(const struct buf *data, struct buf *out)
{
	u32 crc = (u32)crc32_z(0, (const Bytef *)data->data, data->len);

	buf_addf(out, "f%08x", crc);
}

int html_write(const struct profile *p, const struct html_opts *opts, struct buf *out,
	       struct err *e)
{
	_cleanup_buf_ struct buf model = BUF_INIT, data = BUF_INIT, options = BUF_INIT;
	_cleanup_buf_ struct buf title = BUF_INIT, nonce = BUF_INIT;
	struct page page = { .data = &data, .options = &options };
	struct json j;

	export_model(p, &model);
	add_gzip(&data, &model);
	buf_release(&model);
	make_nonce(&data, &nonce);
	make_title(p, &title);
	json_init(&j, &options, false);
	json_open(&j);
	if (opts)
		add_opts(&j, opts);
	add_plumbing(&j);
	json_kv_str(&j, "version", FATHOM_VERSION);
	json_close(&j);
	page.title = opts && opts->title ? opts->title : buf_str(&title);
	page.nonce = buf_str(&nonce);
	return write_page(&page, out, e);
}
