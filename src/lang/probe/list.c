/* SPDX-License-Identifier: GPL-2.0-or-later */
/* -l and -lv: names of probes, with the arguments they have. */
#include "lang/comp.h"
#include "lang/run/run.h"

struct listing {
	struct comp *c;
	const char *pattern;
	bool verbose;
	struct buf *out;
	const struct provider *provider;
	size_t n;
};

static void add_field(struct comp *c, const char *name, const struct type *t, struct buf *out)
{
	buf_addstr(out, "    ");
	if (t->kind == T_PTR && t->btf) {
		type_print(type_pointee(&c->types, t), out);
		buf_addstr(out, " *");
	} else {
		type_print(t, out);
	}
	buf_addf(out, " %s\n", name);
}

/* Members of a struct of the kernel; those of nameless ones are its own. */
static void add_members(struct comp *c, u32 id, int depth, struct buf *out)
{
	struct kbtf_member m;

	for (u32 i = 0; kbtf_member_at(c->types.btf, id, i, &m) == 0; i++) {
		if (!*m.name && depth < KBTF_MAX_DEPTH)
			add_members(c, kbtf_resolve(c->types.btf, m.type), depth + 1, out);
		else if (!streq(m.name, "meta"))
			add_field(c, m.name, type_from_btf(&c->types, m.type, SPACE_KERNEL), out);
	}
}

static void add_args(struct listing *l, const char *name)
{
	struct comp *c = l->c;
	const struct type *args;
	struct spec s = { name, { 0, 0 } };
	struct unit u = { .uses_args = true };
	struct probe fake = { 0 };
	struct node body = { .kind = N_BLOCK };

	vec_clear(&c->targets);
	l->provider->expand(c, l->provider, &s, strchr(name, ':') + 1);
	if (!c->targets.len || !c->targets.items[0].provider->prepare)
		return;
	fake.body = &body;
	vec_clear(&c->prog.probes);
	vec_push(&c->prog.probes, fake);
	u.n = 1;
	if (!c->targets.items[0].provider->prepare(c, &u))
		return;
	args = c->targets.items[0].args;
	if (args && !args->fields && args->btf)
		add_members(c, args->btf, 0, l->out);
	for (u32 i = 0; args && args->fields && i < args->n_fields; i++) {
		const struct field *f = &args->fields[i];

		if (starts_with(f->name, "common_"))
			continue;
		if (f->decl)
			buf_addf(l->out, "    %s\n", f->decl);
		else
			add_field(c, f->name, f->type, l->out);
	}
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

void lang_probe_names(const struct lang *l, struct buf *out)
{
	vec_each(it, &l->c.targets)
		buf_addf(out, "%s\n", it->name);
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
	if (pattern && (starts_with(pattern, "struct ") || starts_with(pattern, "union ") ||
			starts_with(pattern, "enum "))) {
		/* One type is asked for to see it. */
		verbose = verbose || (!opts->compat && !provider_is_pattern(pattern));
		rc = list_types(&c, pattern, verbose, out, e);
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
