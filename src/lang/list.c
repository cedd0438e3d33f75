/* SPDX-License-Identifier: GPL-2.0-or-later */
/* -l and -lv: names of probes, with the arguments they have. */
#include "lang/comp.h"
#include "lang/provider.h"

struct listing {
	struct comp *c;
	const char *pattern;
	bool verbose;
	struct buf *out;
	const struct provider *provider;
	size_t n;
};

static void add_args(struct listing *l, const char *name)
{
	struct comp *c = l->c;
	const struct type *args;
	struct spec s = { name, { 0, 0 } };
	struct unit u = { .uses_args = true };
	struct probe fake = { 0 };
	struct node body = { .kind = N_BLOCK };
	struct buf text = BUF_INIT;

	vec_clear(&c->targets);
	l->provider->expand(c, l->provider, &s, strchr(name, ':') + 1);
	if (!c->targets.len || !l->provider->prepare)
		return;
	fake.body = &body;
	vec_clear(&c->prog.probes);
	vec_push(&c->prog.probes, fake);
	u.n = 1;
	if (!l->provider->prepare(c, &u))
		return;
	args = c->targets.items[0].args;
	for (u32 i = 0; args && args->fields && i < args->n_fields; i++) {
		const struct field *f = &args->fields[i];

		if (starts_with(f->name, "common_"))
			continue;
		buf_reset(&text);
		type_print(f->type, &text);
		if (f->decl)
			buf_addf(l->out, "    %s\n", f->decl);
		else
			buf_addf(l->out, "    %s %s\n", buf_str(&text), f->name);
	}
	buf_release(&text);
}

static void add_name(void *ctx, const char *name)
{
	struct listing *l = ctx;

	if (!provider_match(l->pattern, name))
		return;
	l->n++;
	buf_addf(l->out, "%s\n", name);
	if (l->verbose && (l->provider->flags & PROBE_ARGS))
		add_args(l, name);
}

static int type_lines(struct comp *c, const char *name, struct buf *out, struct err *e)
{
	const struct type *t = type_by_btf_name(&c->types, name, SPACE_KERNEL);
	struct buf text = BUF_INIT;
	const char *field;
	struct field f;

	if (!t)
		return err_set(e, ENOENT, "the kernel's type information has no '%s'", name);
	buf_addf(out, "%s {\n", name);
	for (u32 i = 0; (field = type_field_name(&c->types, t, i)); i++) {
		if (!*field || !type_field(&c->types, t, field, &f))
			continue;
		buf_reset(&text);
		type_print(f.type, &text);
		buf_addf(out, "        %s %s;\n", buf_str(&text), field);
	}
	buf_addstr(out, "};\n");
	buf_release(&text);
	return 0;
}

/* "t:sched:*" -> "tracepoint:sched:*"; a bare word is looked for anywhere. */
static char *full_pattern(struct comp *c, const char *pattern)
{
	size_t n = strcspn(pattern, ":");
	const struct provider *p = provider_find(pattern, n);

	if (p && pattern[n])
		return arena_printf(&c->arena, "%s%s", p->name, pattern + n);
	if (pattern[n] || strchr(pattern, '*'))
		return arena_strdup(&c->arena, pattern);
	return arena_printf(&c->arena, "*%s*", pattern);
}

int lang_list(const char *pattern, bool verbose, const struct lang_opts *opts, struct buf *out,
	      struct err *e)
{
	struct listing l = { .verbose = verbose, .out = out };
	struct comp c;
	int rc = 0;

	comp_init(&c, opts);
	c.src = (struct source){ .name = "list", .text = "" };
	l.c = &c;
	l.pattern = full_pattern(&c, pattern && *pattern ? pattern : "*");
	if (pattern && (starts_with(pattern, "struct ") || starts_with(pattern, "union "))) {
		rc = type_lines(&c, pattern, out, e);
		comp_release(&c);
		return rc;
	}
	for (size_t i = 0; providers[i]; i++) {
		const char *colon = strchr(l.pattern, ':');
		size_t n = colon ? (size_t)(colon - l.pattern) : 0;

		l.provider = providers[i];
		if (!l.provider->list)
			continue;
		/* A pattern that names its type needs no other list. */
		if (n && !memchr(l.pattern, '*', n) &&
		    (strlen(l.provider->name) != n ||
		     memcmp(l.provider->name, l.pattern, n) != 0) &&
		    !(l.provider == &probe_software && starts_with(l.pattern, "hardware:")))
			continue;
		l.provider->list(&c, l.pattern, add_name, &l);
	}
	if (!l.n)
		rc = err_set(e, ENOENT, "no probe matches '%s'", l.pattern);
	comp_release(&c);
	return rc;
}
