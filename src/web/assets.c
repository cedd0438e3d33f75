/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/asset.h"
#include "view/svg_asset.h"
#include "web/conn.h"

#include <zlib.h>

/* No path is looked up anywhere else: these are all the files that there are. */
static const struct {
	const char *path, *name, *type;
} files[] = {
	{ "/", NULL, "text/html; charset=utf-8" },
	{ "/serve.js", "web/serve.js", "text/javascript; charset=utf-8" },
	{ "/serve.css", "web/serve.css", "text/css; charset=utf-8" },
	{ "/favicon.ico", "web/serve-icon.svg", "image/svg+xml" },
};

static void answer_asset(struct conn *c, const struct http_request *r, const char *type,
			 const struct asset *asset)
{
	_cleanup_buf_ struct buf plain = BUF_INIT;
	struct answer a = { .status = 200, .type = type };
	bool gzip = http_accepts(r->accept_encoding, "gzip");
	char etag[32];

	/* the two forms are different bytes */
	snprintf(etag, sizeof(etag), "\"%08lx%s\"", crc32_z(0, asset->gzip, asset->size),
		 gzip ? "-gz" : "");
	a.etag = etag;
	if (http_text_is(r->if_none_match, etag)) {
		a.status = 304;
		conn_answer(c, &a, NULL, 0);
		return;
	}
	if (gzip) {
		a.encoding = "gzip";
		conn_answer(c, &a, asset->gzip, asset->size);
		return;
	}
	(void)svg_asset(asset->name, &plain);
	conn_answer(c, &a, plain.data, plain.len);
}

bool conn_asset(struct conn *c, const struct http_request *r, const char *page)
{
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		const struct asset *asset;

		if (!http_text_is(r->path, files[i].path))
			continue;
		asset = asset_find(files[i].name ? files[i].name : page);
		if (!asset)
			return false;
		if (r->method == HTTP_POST)
			conn_error(c, 405, "only GET and HEAD", NULL);
		else
			answer_asset(c, r, files[i].type, asset);
		return true;
	}
	return false;
}
