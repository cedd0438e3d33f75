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
	VEC(char *) names; /* in the arena */
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
		else if (!streq(m.name, "meta")) {
			buf_addstr(out, "    ");
			kbtf_type_name(c->types.btf, m.type, out);
			buf_addf(out, " %s\n", m.name);
		}
	}
}

/* What a function returns, for its end. */
static void add_retval(struct comp *c, const struct target *t, struct buf *out)
{
	u32 id = kbtf_find(c->types.btf, BTF_KIND_FUNC, t->event);
	const struct btf_type *func = id ? kbtf_type(c->types.btf, id) : NULL;
	const struct btf_type *proto = func ? kbtf_type(c->types.btf, func->type) : NULL;

	if (!proto || !proto->type)
		return;
	buf_addstr(out, "    ");
	kbtf_type_name(c->types.btf, proto->type, out);
	buf_addstr(out, " retval\n");
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
	if (l->provider == &probe_fexit && c->types.btf)
		add_retval(c, &c->targets.items[0], l->out);
}

/* bpftrace names the module of functions and raw tracepoints; NULL: none to name. */
static char *in_kernel(const struct listing *l, const char *name)
{
	const char *colon = strchr(name, ':');

	if (!l->c->opts->compat || strchr(colon + 1, ':') ||
	    (l->provider != &probe_rawtracepoint && l->provider != &probe_fentry &&
	     l->provider != &probe_fexit))
		return NULL;
	return arena_printf(&l->c->arena, "%s:vmlinux:%s", l->provider->name, colon + 1);
}

static void add_name(void *ctx, const char *name)
{
	struct listing *l = ctx;
	char *full = in_kernel(l, name);

	if (provider_match(l->pattern, name) || (full && provider_match(l->pattern, full)))
		vec_push(&l->names, full ? full : arena_strdup(&l->c->arena, name));
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorted, each once: a probe may be in several places of the code. */
static void show_names(struct listing *l)
{
	const char *last = "";

	vec_sort(&l->names, by_text);
	vec_each(it, &l->names) {
		if (streq(*it, last))
			continue;
		last = *it;
		buf_addf(l->out, "%s\n", *it);
		l->provider = provider_find(*it, strcspn(*it, ":"));
		if (l->verbose && l->provider && (l->provider->flags & PROBE_ARGS))
			add_args(l, *it);
	}
}

/* What a program attaches to: without the counts of software and hardware events and of timers. */
static void add_target(struct comp *c, const struct target *t, struct listing *l)
{
	const char *second = strchr(t->name, ':');
	const char *third = second ? strchr(second + 1, ':') : NULL;

	if (t->provider == &probe_begin || t->provider == &probe_end)
		return;
	if (t->provider == &probe_software || t->provider == &probe_hardware ||
	    t->provider == &probe_interval || t->provider == &probe_profile)
		buf_addf(l->out, "%.*s:\n",
			 (int)(third ? third - t->name : (ptrdiff_t)strlen(t->name)), t->name);
	else
		buf_addf(l->out, "%s\n", t->name);
	if (l->verbose && (t->provider->flags & PROBE_ARGS)) {
		l->c = c;
		l->provider = t->provider;
		add_args(l, t->name);
	}
}

void lang_probe_names(struct lang *l, bool verbose, struct buf *out)
{
	struct listing list = { .verbose = verbose, .out = out };
	VEC(struct target) targets = { 0 };

	/* finding the arguments of one looks for it again */
	vec_each(it, &l->c.targets)
		vec_push(&targets, *it);
	vec_each(it, &targets)
		add_target(&l->c, it, &list);
	vec_release(&targets);
}

/* "t:sched:*" -> "tracepoint:sched:*"; a bare word is looked for anywhere. */
static char *full_pattern(struct comp *c, const char *pattern)
{
	size_t n = strcspn(pattern, ":");
	const struct provider *p = provider_find(pattern, n);

	if (p && pattern[n])
		return arena_printf(&c->arena, "%s%s", p->name, pattern + n);
	if (pattern[n] || streq(pattern, "*") || (strchr(pattern, '*') && !c->opts->compat))
		return arena_strdup(&c->arena, pattern);
	if (c->opts->compat)
		return arena_printf(&c->arena, "*:%s", pattern);
	return arena_printf(&c->arena, "*%s*", pattern);
}

/* A pattern that names its type, or a pattern of types, needs no other list. */
static bool may_match(const struct listing *l)
{
	size_t n = strcspn(l->pattern, ":");
	_cleanup_free_ char *type = xstrndup(l->pattern, n);

	if (!l->pattern[n])
		return true;
	return provider_match(type, l->provider->name) ||
	       (l->provider == &probe_software && provider_match(type, "hardware"));
}

static int list_one(const char *pattern, bool verbose, const struct lang_opts *opts,
		    struct buf *out, struct err *e)
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
		l.provider = providers[i];
		if (l.provider->list && may_match(&l))
			l.provider->list(&c, l.pattern, add_name, &l);
	}
	show_names(&l);
	if (!l.names.len)
		rc = err_set(e, ENOENT, "no probe matches '%s'", l.pattern);
	vec_release(&l.names);
	comp_release(&c);
	return rc;
}

/* The end of the first of several patterns: a comma outside of quotes and parentheses. */
static size_t first_pattern(const char *s)
{
	bool quoted = false;
	int depth = 0;
	size_t i;

	for (i = 0; s[i] && (s[i] != ',' || quoted || depth > 0); i++) {
		quoted = quoted != (s[i] == '"');
		depth += (s[i] == '(') - (s[i] == ')');
	}
	return i;
}

int lang_list(const char *pattern, bool verbose, const struct lang_opts *opts, struct buf *out,
	      struct err *e)
{
	size_t n = pattern ? first_pattern(pattern) : 0;
	bool any = false;
	int rc;

	if (!pattern || !pattern[n])
		return list_one(pattern, verbose, opts, out, e);
	for (;; n = first_pattern(pattern)) {
		char *one = xstrndup(pattern, n);

		rc = list_one(one, verbose, opts, out, e);
		free(one);
		if (rc < 0 && rc != -ENOENT)
			return rc;
		any = any || rc == 0;
		if (!pattern[n])
			break;
		pattern += n + 1;
	}
	if (!any)
		return -ENOENT;
	err_release(e);
	return 0;
}
