/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lang/bcc/oneliner.h"

#include "base/parse.h"
#include "base/stop.h"
#include "host/cpu.h"

#include <regex.h>

int oneliner_parse(const char *text, size_t len, struct oneliner_spec *ret, struct err *e)
{
	const char *end = text + len, *first = memchr(text, ':', len), *last = NULL;
	struct oneliner_spec s = { .kind = 'p', .library = "" };

	for (const char *p = text; p < end; p++)
		last = *p == ':' ? p : last;
	s.name = last ? last + 1 : text;
	s.name_len = (size_t)(end - s.name);
	if (first && first == last) { /* lib:func */
		s.library = text;
		s.library_len = (size_t)(first - text);
	} else if (first) {
		s.kind = first > text ? text[0] : 'p';
		/* what stands between may have a ':' of its own: provider of a static probe */
		s.library = first + 1;
		s.library_len = (size_t)(last - first - 1);
	}
	if (!s.name_len || (first != last && first > text + 1) || !strchr("prtuk", s.kind)) {
		err_set(e, EINVAL, "'%.*s' is not a probe", (int)len, text);
		err_hint(e, "probes are func, lib:func, p:lib:func, r:lib:func, t:group:event or "
			    "u:lib:probe");
		return -EINVAL;
	}
	if (s.kind == 'k')
		s.kind = 'p';
	*ret = s;
	return 0;
}

bool oneliner_is_user(const struct oneliner_spec *s)
{
	return s->kind == 'u' || (s->kind != 't' && s->library_len);
}

static bool is_kernel_function(const struct oneliner_spec *s)
{
	return (s->kind == 'p' || s->kind == 'r') && !s->library_len;
}

bool oneliner_is_wrapper(const struct oneliner_spec *s)
{
	const char *prefix = cpu_syscall_wrapper();
	size_t n = strlen(prefix);

	if (!is_kernel_function(s))
		return false;
	return (s->name_len > n && !memcmp(s->name, prefix, n)) ||
	       (s->name_len > 4 && !memcmp(s->name, "sys_", 4));
}

/* All but the name: "uprobe:libc:". */
static void add_place(const struct oneliner_spec *s, bool is_return, struct buf *out)
{
	int n = (int)s->library_len;

	is_return = is_return || s->kind == 'r';
	if (s->kind == 't')
		buf_addf(out, "tracepoint:%.*s:", n, s->library);
	else if (s->kind == 'u')
		buf_addf(out, "usdt:%.*s:", n, s->library);
	else if (s->library_len)
		/* "c" is libc, as it is for bcc and the linker. */
		buf_addf(out, "%s:%s%.*s:", is_return ? "uretprobe" : "uprobe", n > 2 ? "" : "lib",
			 n, s->library);
	else
		buf_addf(out, "%s:", is_return ? "kretprobe" : "kprobe");
}

void oneliner_probe(const struct oneliner_spec *s, bool is_return, struct buf *out)
{
	size_t skip = 0;

	add_place(s, is_return, out);
	/* the name before Linux 4.17, which bcc's users still write */
	if (is_kernel_function(s) && s->name_len > 4 && !memcmp(s->name, "sys_", 4)) {
		buf_addstr(out, cpu_syscall_wrapper());
		skip = 4;
	}
	buf_add(out, s->name + skip, s->name_len - skip);
}

/* --- regular expressions ---------------------------------------------------------------------- */

/* Names of everything at that place, one per line, with what is before them. */
static int list_all(const struct oneliner_spec *s, struct buf *names, struct err *e)
{
	_cleanup_buf_ struct buf glob = BUF_INIT;
	struct lang_opts opts = { 0 };

	add_place(s, false, &glob);
	buf_addch(&glob, '*');
	/* Returns are where entries are. */
	if (s->kind == 'r') {
		struct oneliner_spec entry = *s;

		entry.kind = 'p';
		return list_all(&entry, names, e);
	}
	return lang_list(buf_str(&glob), false, &opts, names, e);
}

static size_t add_matches(const struct oneliner_spec *s, bool is_return, const regex_t *re,
			  char *names, struct buf *out)
{
	size_t n = 0;

	for (char *line = names, *next; line && *line; line = next) {
		char *name, *end = strchr(line, '\n');
		regmatch_t at;

		next = end ? end + 1 : NULL;
		if (end)
			*end = 0;
		name = strrchr(line, ':');
		name = name ? name + 1 : line;
		if (regexec(re, name, 1, &at, 0) || at.rm_so)
			continue;
		if (n++)
			buf_addstr(out, ",\n");
		add_place(s, is_return, out);
		buf_addstr(out, name);
	}
	return n;
}

int oneliner_probe_regexp(const struct oneliner_spec *s, bool is_return, struct buf *out,
			  struct err *e)
{
	_cleanup_buf_ struct buf names = BUF_INIT;
	_cleanup_free_ char *text = xstrndup(s->name, s->name_len);
	regex_t re;
	size_t n;
	int rc = regcomp(&re, text, REG_EXTENDED);

	if (rc) {
		char why[128];

		regerror(rc, &re, why, sizeof(why));
		return err_set(e, EINVAL, "'%s' is not a regular expression: %s", text, why);
	}
	rc = list_all(s, &names, e);
	n = rc < 0 ? 0 : add_matches(s, is_return, &re, names.data, out);
	regfree(&re);
	if (rc < 0)
		return rc;
	return n ? 0 : err_set(e, ENOENT, "nothing matches '%s'", text);
}

/* --- rounds ----------------------------------------------------------------------------------- */

int oneliner_rounds(struct oneliner *o, const char *const *words, size_t n, struct err *e)
{
	if (n > 0 && parse_duration(words[0], &o->interval, e) < 0)
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
		 struct buf *report, struct err *e)
{
	struct rounds r = { .o = o, .left = o->count };
	struct lang_opts opts = { .pid = o->pid, .made_from = o->made_from };
	struct lang_sink sink = { .write = ignore, .ctx = &r };
	int rc = lang_compile(o->name, source, strlen(source), &opts, &r.l, diagnostics, e);

	if (rc < 0)
		return rc;
	if (o->interval || o->duration) {
		sink.tick = next_round;
		sink.tick_ns = o->interval ? o->interval : o->duration;
	}
	if (o->duration)
		r.left = o->interval ? MAX(o->duration / o->interval, 1ull) : 1;
	rc = stop_install(e);
	if (rc == 0)
		rc = lang_start(r.l, diagnostics, e);
	if (rc == 0 && !lang_probe_count(r.l)) {
		lang_stop(r.l, false);
		buf_reset(diagnostics); /* it names the probes that this stands for */
		rc = err_set(e, ENOENT, "nothing matches '%s': there is nothing to count",
			     o->made_from);
	}
	if (rc == 0) {
		o->begin(o->ctx, r.l);
		rc = lang_loop(r.l, &sink, -1, e);
		o->show(o->ctx, r.l);
		lang_report(r.l, report);
		lang_stop(r.l, true);
	}
	lang_free(r.l);
	return rc;
}
