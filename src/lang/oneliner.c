/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lang/oneliner.h"

#include "base/parse.h"
#include "base/stop.h"

struct parts {
	const char *kind; /* p, r, t, u, k */
	size_t kind_len;
	const char *library;
	size_t library_len;
	const char *name;
	size_t name_len;
};

static void split(const char *spec, struct parts *p)
{
	const char *first = strchr(spec, ':'), *second = first ? strchr(first + 1, ':') : NULL;

	*p = (struct parts){ .kind = "p", .kind_len = 1, .library = "" };
	if (!first) {
		p->name = spec;
	} else if (!second) {
		/* lib:func, but t:group is a tracepoint without its event */
		p->library = spec;
		p->library_len = (size_t)(first - spec);
		p->name = first + 1;
	} else {
		if (first > spec) {
			p->kind = spec;
			p->kind_len = (size_t)(first - spec);
		}
		p->library = first + 1;
		p->library_len = (size_t)(second - first - 1);
		p->name = second + 1;
	}
	p->name_len = strlen(p->name);
}

int oneliner_probe(const char *spec, bool is_return, struct buf *out, struct err *e)
{
	struct parts p;
	const char *type;

	split(spec, &p);
	if (!p.name_len || p.kind_len != 1 || !strchr("prtuk", p.kind[0])) {
		err_set(e, EINVAL, "'%s' is not a probe", spec);
		err_hint(e, "probes are func, lib:func, p:lib:func, r:lib:func, t:group:event or "
			    "u:lib:probe");
		return -EINVAL;
	}
	is_return = is_return || p.kind[0] == 'r';
	if (p.kind[0] == 't') {
		buf_addf(out, "tracepoint:%.*s:%s", (int)p.library_len, p.library, p.name);
	} else if (p.kind[0] == 'u') {
		buf_addf(out, "usdt:%.*s:%s", (int)p.library_len, p.library, p.name);
	} else if (p.library_len) {
		type = is_return ? "uretprobe" : "uprobe";
		/* "c" is libc, as it is for bcc and the linker. */
		buf_addf(out, "%s:%s%.*s:%s", type,
			 memchr(p.library, '/', p.library_len) || p.library_len > 2 ? "" : "lib",
			 (int)p.library_len, p.library, p.name);
	} else {
		buf_addf(out, "%s:%s", is_return ? "kretprobe" : "kprobe", p.name);
	}
	return 0;
}

int oneliner_rounds(struct oneliner *o, const char *const *words, size_t n, struct err *e)
{
	if (n > 0 && parse_u64_range(words[0], 1, 1000000, &o->interval, e) < 0)
		return -EINVAL;
	if (n > 1 && parse_u64_range(words[1], 1, 1000000000, &o->count, e) < 0)
		return -EINVAL;
	return 0;
}

struct rounds {
	const struct oneliner *o;
	struct lang *l;
	u64 left; /* 0: no limit */
};

/* True when that was the last one, which is shown at the end. */
static bool next_round(void *ctx)
{
	struct rounds *r = ctx;

	if (r->left && !--r->left)
		return true;
	if (r->o->interval) {
		r->o->show(r->o->ctx, r->l);
		for (const char *const *map = r->o->maps; *map; map++)
			lang_clear(r->l, *map);
	}
	return false;
}

/* These tools print nothing through the program itself. */
static int ignore(void *ctx, bool to_err, const char *text, size_t n)
{
	(void)ctx;
	(void)to_err;
	(void)text;
	(void)n;
	return 0;
}

int oneliner_run(const struct oneliner *o, const char *source, struct buf *diagnostics,
		 struct err *e)
{
	struct rounds r = { .o = o, .left = o->count };
	struct lang_opts opts = { .pid = o->pid };
	struct lang_sink sink = { .write = ignore, .ctx = &r };
	int rc = lang_compile(o->name, source, strlen(source), &opts, &r.l, diagnostics, e);

	if (rc < 0)
		return rc;
	if (o->interval || o->duration) {
		sink.tick = next_round;
		sink.tick_ns = (o->interval ? o->interval : o->duration) * NSEC_PER_SEC;
	}
	if (o->duration)
		r.left = o->interval ? MAX(o->duration / o->interval, 1ull) : 1;
	rc = stop_install(e);
	if (rc == 0)
		rc = lang_start(r.l, e);
	if (rc == 0) {
		o->begin(o->ctx, r.l);
		rc = lang_loop(r.l, &sink, -1, e);
		o->show(o->ctx, r.l);
		lang_stop(r.l, true);
	}
	lang_free(r.l);
	return rc;
}
