/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of probe types and what they share. */
#include "lang/probe/provider.h"

#include <regex.h>

#include <fnmatch.h>

const struct provider *const providers[] = {
	&probe_begin,      &probe_end,
	&probe_interval,   &probe_profile,
	&probe_tracepoint, &probe_rawtracepoint,
	&probe_software,   &probe_hardware,
	&probe_uprobe,     &probe_uretprobe,
	&probe_usdt,       &probe_kprobe,
	&probe_kretprobe,  &probe_fentry,
	&probe_fexit,      &probe_iter,
	&probe_watchpoint, &probe_self,
	&probe_test,       &probe_bench,
	&probe_table,      NULL,
};

static bool has_word(const char *list, const char *word, size_t len)
{
	while (list && *list) {
		size_t n = strcspn(list, " ");

		if (n == len && memcmp(list, word, len) == 0)
			return true;
		list += n + (list[n] == ' ');
	}
	return false;
}

const struct provider *provider_find(const char *name, size_t len)
{
	for (size_t i = 0; providers[i]; i++) {
		const struct provider *p = providers[i];

		if ((strlen(p->name) == len && memcmp(p->name, name, len) == 0) ||
		    has_word(p->aliases, name, len))
			return p;
	}
	/* Letters have another meaning in upper case, names do not. */
	for (size_t i = 0; providers[i]; i++) {
		if (strlen(providers[i]->name) == len &&
		    strncasecmp(providers[i]->name, name, len) == 0)
			return providers[i];
	}
	return NULL;
}

bool provider_has_registers(const struct provider *p)
{
	return p->flags & PROBE_REGS || p == &probe_profile || p == &probe_software ||
	       p == &probe_hardware;
}

struct target *provider_target(struct comp *c, const struct provider *p, const struct spec *s,
			       const char *fmt, ...)
{
	struct buf name = BUF_INIT;
	struct target *t;
	va_list ap;

	if (c->targets.len >= COMP_MAX_TARGETS) {
		diag_error(&c->diags, s->at, "more than %d probes match", COMP_MAX_TARGETS);
		return NULL;
	}
	va_start(ap, fmt);
	buf_vaddf(&name, fmt, ap);
	va_end(ap);
	t = vec_new(&c->targets);
	t->provider = p;
	t->name = arena_strdup(&c->arena, buf_str(&name));
	t->pid = c->opts->pid;
	t->at = s->at;
	buf_release(&name);
	return t;
}

void provider_missing(struct comp *c, const struct spec *s, const struct provider *p,
		      const char *fmt, ...)
{
	_cleanup_buf_ struct buf target = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&target, fmt, ap);
	va_end(ap);
	diag_error(&c->diags, s->at, "No matches for %s %s.", p->name, buf_str(&target));
}

bool provider_is_pattern(const char *text)
{
	return strpbrk(text, "*?[") != NULL;
}

bool provider_match(const char *pattern, const char *text)
{
	return fnmatch(pattern, text, 0) == 0;
}

void provider_list_name(void *ctx, const char *name)
{
	const struct provider_listing *l = ctx;
	_cleanup_free_ char *full = xasprintf("%s:%s", l->prefix, name);

	l->each(l->ctx, full);
}

u32 provider_parts(const char *rest)
{
	u32 n = *rest ? 1 : 0;

	for (; *rest; rest++)
		n += *rest == ':';
	return n;
}

char *provider_part(struct comp *c, const char *rest, u32 i)
{
	for (; i; i--) {
		rest = strchr(rest, ':');
		if (!rest)
			return NULL;
		rest++;
	}
	return arena_strndup(&c->arena, rest, strcspn(rest, ":"));
}

/* --- from specs to units ---------------------------------------------------------------------- */

/* Names of probes, long ones and BEGIN and END. */
static const char *provider_name_at(void *ctx, size_t i)
{
	static const char *const old[] = { "BEGIN", "END" };

	(void)ctx;
	if (i < ARRAY_SIZE(old))
		return old[i];
	for (size_t k = 0; k <= i - ARRAY_SIZE(old); k++) {
		if (!providers[k])
			return NULL;
	}
	return providers[i - ARRAY_SIZE(old)]->name;
}

/* begin and end frame whatever runs; everything else belongs to one mode. */
static bool wanted(const struct comp *c, const struct provider *p)
{
	return p->mode == c->opts->mode || p == &probe_begin || p == &probe_end;
}

static void expand_spec(struct comp *c, const struct spec *s)
{
	size_t len = strcspn(s->text, ":");
	const struct provider *p = provider_find(s->text, len);
	const char *rest = s->text[len] ? s->text + len + 1 : "";
	size_t before = c->targets.len, errors = c->diags.errors;
	const char *nearest;

	if (!p) {
		char *word = arena_strndup(&c->arena, s->text, len);

		diag_error(&c->diags, s->at, "Invalid probe type: %s", word);
		nearest = diag_nearest(word, provider_name_at, NULL);
		if (nearest)
			diag_hint(&c->diags, "did you mean '%s'?", nearest);
		return;
	}
	if (!wanted(c, p))
		return;
	if (c->opts->compat && c->config.missing_probes == MISSING_ERROR && strpbrk(rest, "[?") &&
	    !(p->flags & PROBE_USER)) {
		diag_error(&c->diags, s->at,
			   "Probe has no valid attach points. If this is expected, set the "
			   "'missing_probes' config variable to 'warn'.");
		diag_hint(&c->diags, "only '*' matches names");
		return;
	}
	p->expand(c, p, s, rest);
	if (c->targets.len == before && c->diags.errors == errors) {
		if (!provider_is_pattern(rest))
			provider_missing(c, s, p, "%s", rest);
		else if (c->config.missing_probes != MISSING_IGNORE && !c->opts->compat)
			diag_warning(&c->diags, s->at, "no probe matches '%s'", s->text);
	}
	if (c->targets.len > c->config.max_probes) {
		diag_error(&c->diags, c->opts->compat ? SPAN_NOWHERE : s->at,
			   "Can't attach to %zu probes because it exceeds the current limit of "
			   "%llu probes.",
			   c->targets.len, (unsigned long long)c->config.max_probes);
		diag_hint(&c->diags,
			  "You can increase the limit through the BPFTRACE_MAX_PROBES environment "
			  "variable or 'config = { max_probes = N }', but BE CAREFUL since a high "
			  "number of probes attached can cause your system to crash.");
		c->targets.len = before;
	}
}

static bool depends_on_target(const struct node *n, void *ctx)
{
	const char *s = n->str;

	(void)ctx;
	if (n->kind == N_CALL)
		return streq(s, "args") || streq(s, "uaddr") || streq(s, "path");
	return n->kind == N_IDENT && (streq(s, "args") || streq(s, "retval") || streq(s, "ctx") ||
				      (starts_with(s, "arg") && s[3] >= '0' && s[3] <= '9'));
}

static bool names_target(const struct node *n, void *ctx)
{
	(void)ctx;
	return n->kind == N_IDENT && (streq(n->str, "probe") || streq(n->str, "func"));
}

static bool is_stack(const struct node *n, void *ctx)
{
	(void)ctx;
	return (n->kind == N_IDENT || n->kind == N_CALL) &&
	       (streq(n->str, "ustack") || streq(n->str, "kstack"));
}

static bool reads_memory(const struct node *n, void *ctx)
{
	(void)ctx;
	if (n->kind == N_CALL)
		return streq(n->str, "str") || streq(n->str, "buf") || streq(n->str, "join");
	return n->kind == N_FIELD || n->kind == N_UNARY || n->kind == N_INDEX;
}

static bool wants_types(const struct node *n, void *ctx)
{
	(void)ctx;
	return n->kind == N_CALL && streq(n->str, "skboutput");
}

static bool any(const struct probe *p, bool (*visit)(const struct node *n, void *ctx))
{
	return node_any(p->body, visit, NULL) || node_any(p->predicate, visit, NULL);
}

static void add_unit(struct comp *c, u32 probe, u32 first, u32 n)
{
	const struct probe *p = &c->prog.probes.items[probe];
	struct unit *u = vec_new(&c->units);

	u->probe = probe;
	u->first = first;
	u->n = n;
	u->uses_args = any(p, depends_on_target);
	u->uses_stack = any(p, is_stack);
	u->reads_user = any(p, reads_memory);
	u->typed_context = any(p, wants_types);
}

/* Targets of one probe that the same program can serve, in a row. */
static void group_targets(struct comp *c, u32 probe, u32 first, u32 n)
{
	const struct probe *p = &c->prog.probes.items[probe];
	bool each = any(p, depends_on_target), named = any(p, names_target);
	u32 start = first;

	for (u32 i = first; i < first + n; i++) {
		const struct target *a = &c->targets.items[start], *b = &c->targets.items[i];

		if (i == start)
			continue;
		if (each || (named && !a->unit_kind && !(a->provider->flags & PROBE_NAMED)) ||
		    a->provider != b->provider || a->unit_kind != b->unit_kind ||
		    (a->group && b->group && a->unit_kind && !streq(a->group, b->group))) {
			add_unit(c, probe, start, i - start);
			start = i;
		}
	}
	if (n)
		add_unit(c, probe, start, first + n - start);
}

/* Errors about what does not exist become warnings, or nothing. */
static void demote_missing(struct comp *c, size_t from)
{
	for (size_t i = from; i < c->diags.list.len; i++) {
		struct diag *d = &c->diags.list.items[i];

		if (d->level == DIAG_ERROR && (starts_with(d->text, "No matches for") ||
					       starts_with(d->text, "uprobe target file"))) {
			char *text = xasprintf("%s Skipping.", d->text);

			free(d->text);
			d->text = text;
			d->level = c->config.missing_probes == MISSING_IGNORE ? DIAG_FORGOTTEN
									      : DIAG_WARNING;
			c->diags.errors--;
		}
	}
}

/* What cannot be prepared is an error, or is left out; how many units remain of it. */
static size_t prepare_unit(struct comp *c, size_t i)
{
	struct unit *u = &c->units.items[i];
	const struct provider *p = c->targets.items[u->first].provider;
	size_t said = c->diags.list.len;

	if (!p->prepare || p->prepare(c, u))
		return 1;
	if (!c->diags.errors)
		diag_error(&c->diags, c->prog.probes.items[u->probe].specs.items[0].at,
			   "'%s' cannot be used here", p->name);
	if (c->config.missing_probes != MISSING_ERROR)
		demote_missing(c, said);
	if (c->diags.errors)
		return 1;
	memmove(u, u + 1, (c->units.len - i - 1) * sizeof(*u));
	c->units.len--;
	return 0;
}

/* --probe-filter: begin and end frame whatever is left. */
static void filter_targets(struct comp *c, size_t first)
{
	size_t kept = first;

	for (size_t i = first; c->opts->probe_filter && i < c->targets.len; i++) {
		const struct target *t = &c->targets.items[i];

		if (t->provider == &probe_begin || t->provider == &probe_end ||
		    regexec(c->opts->probe_filter, t->name, 0, NULL, 0) == 0)
			c->targets.items[kept++] = *t;
	}
	if (c->opts->probe_filter)
		c->targets.len = kept;
}

/* Is the probe one of those that run in this mode? */
static bool attaches(const struct comp *c, u32 i)
{
	const char *text = c->prog.probes.items[i].specs.items[0].text;
	const struct provider *p = provider_find(text, strcspn(text, ":"));

	return p && wanted(c, p);
}

void comp_resolve(struct comp *c)
{
	for (u32 i = 0; i < c->prog.probes.len; i++) {
		size_t first = c->targets.len, errors = c->diags.errors, said = c->diags.list.len;

		for (size_t k = 0; k < c->prog.probes.items[i].specs.len; k++) {
			struct spec s = c->prog.probes.items[i].specs.items[k];
			const char *eq = strchr(s.text, '=');

			/* name=probe */
			if (eq && (size_t)(eq - s.text) < strcspn(s.text, ":/"))
				s.text = eq + 1;
			expand_spec(c, &s);
		}
		/* Entries of a list that do not exist may be missing, unless
		 * requested. */
		if (((c->targets.len > first && !c->opts->compat) ||
		     c->config.missing_probes != MISSING_ERROR) &&
		    c->diags.errors > errors)
			demote_missing(c, said);
		else if (c->targets.len == first && c->diags.errors == errors && c->opts->compat &&
			 c->config.missing_probes == MISSING_ERROR && attaches(c, i))
			diag_error(&c->diags, c->prog.probes.items[i].specs.items[0].at,
				   "Probe has no valid attach points. If this is expected, set the "
				   "'missing_probes' config variable to 'warn'.");
		if (c->targets.len == first && c->config.missing_probes == MISSING_WARN &&
		    attaches(c, i))
			diag_warning(&c->diags, c->prog.probes.items[i].specs.items[0].at,
				     "Probe has no valid attach points. It is being removed which "
				     "may cause issues with program behavior.");
		filter_targets(c, first);
		group_targets(c, i, (u32)first, (u32)(c->targets.len - first));
	}
	if (!c->targets.len && !c->diags.errors && c->prog.probes.len && !c->diags.list.len &&
	    !(c->opts->compat && c->opts->dry_run))
		diag_error(&c->diags, c->prog.probes.items[0].at, "No probes to attach%s",
			   c->opts->mode == LANG_TEST    ? ": there is no test probe"
			   : c->opts->mode == LANG_BENCH ? ": there is no bench probe"
			   : c->opts->probe_filter       ? ": none matches the filter"
							 : ": only test or bench probes");
	for (size_t i = 0; i < c->units.len && !c->diags.errors;)
		i += prepare_unit(c, i);
}
