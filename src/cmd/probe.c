/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/probe_look.h"

#include "base/io.h"
#include "base/log.h"
#include "base/suggest.h"
#include "capture/probe_events.h"
#include "capture/probe_usdt.h"
#include "elf/find.h"
#include "elf/symbols.h"
#include "elf/usdt.h"

#include <ctype.h>
#include <fnmatch.h>
#include <sys/utsname.h>

#define AT(field) .offset = offsetof(struct probe_args, field)

static const struct opt probe_options[] = {
	{ 'a', "add", OPT_STRINGS, AT(add), .arg = "PROBE",
	  .help = "make a probe: [EVENT=]FUNC[+OFF|:LINE|%return] or FILE:LINE, and arguments" },
	{ 'd', "del", OPT_STRINGS, AT(del), .arg = "[GROUP:]EVENT",
	  .help = "delete probes; globs, '*' for all" },
	{ 'l', "list", OPT_FLAG, AT(list), .help = "list the probes that exist" },
	{ 'V', "vars", OPT_STRING, AT(vars), .arg = "PROBE", .help = "variables that exist there" },
	{ 'L', "line", OPT_STRING, AT(line), .arg = "FUNC[:FROM[-TO]]|FILE[:FROM[-TO]]",
	  .help = "source lines, numbered where a probe can be set" },
	{ 'F', "funcs", OPT_STRING, AT(funcs), .arg = "GLOB", .flags = OPT_OPTIONAL, .implied = "*",
	  .help = "functions of the file (-x) that can be probed" },
	{ 'x', "exec", OPT_FILE, AT(exec), .arg = "FILE",
	  .help = "a program or library; else the kernel" },
	{ .name = "target-ns",
	  .type = OPT_U64,
	  AT(target),
	  .arg = "PID",
	  .max = INT32_MAX,
	  .help = "-x names a file as this process sees it: one of its container" },
	{ 'k', "vmlinux", OPT_FILE, AT(vmlinux), .arg = "FILE",
	  .help = "the kernel's debug information" },
	{ 'f', "force", OPT_FLAG, AT(force), .help = "another probe of the same name: NAME_1" },
	{ 'n', "dry-run", OPT_FLAG, AT(dry_run), .help = "print the definition, make nothing" },
	OPT_END,
};

/* --- the file ------------------------------------------------------------------------------- */

/* The file that -x means. */
static int find_file(struct probe_args *a, struct err *e)
{
	if (a->exec)
		return elf_find_path(a->exec, (u32)a->target, a->path, e);
	return a->target ? err_set(e, EINVAL, "--target-ns needs -x FILE") : 0;
}

static int find_vmlinux(const struct probe_args *a, struct buf *ret, struct err *e)
{
	static const char *const places[] = { "/usr/lib/debug/boot/vmlinux-%s",
					      "/usr/lib/debug/lib/modules/%s/vmlinux",
					      "/boot/vmlinux-%s", "/lib/modules/%s/build/vmlinux" };
	struct utsname name;

	if (a->vmlinux) {
		buf_addstr(ret, a->vmlinux);
		return 0;
	}
	uname(&name);
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		const char *mark = strchr(places[i], '%');

		buf_reset(ret);
		buf_addf(ret, "%.*s%s%s", (int)(mark - places[i]), places[i], name.release,
			 mark + 2);
		if (io_exists(buf_str(ret)))
			return 0;
	}
	err_set(e, ENODATA, "the kernel's debug information is not installed");
	err_hint(e, "its package ends in -dbg or -debuginfo, or -k FILE; functions, offsets, "
		    "registers and $retval need none");
	return -ENODATA;
}

int probe_open_dwarf(const struct probe_args *a, struct probe_dwarf **ret, struct err *e)
{
	_cleanup_buf_ struct buf path = BUF_INIT;
	int r = 0;

	if (a->exec)
		buf_addstr(&path, a->path);
	else
		r = find_vmlinux(a, &path, e);
	return r < 0 ? r : probe_dwarf_new(ret, buf_str(&path), e);
}

/* --- making one ----------------------------------------------------------------------------- */

struct made {
	struct buf target, args, shown; /* shown: names of the arguments */
	char group[PROBE_NAME_MOST + 16], name[PROBE_NAME_MOST + 16];
};

static void made_release(struct made *m)
{
	buf_release(&m->target);
	buf_release(&m->args);
	buf_release(&m->shown);
}

static bool needs_dwarf(const struct probe_spec *s)
{
	if (!s->func || s->has_line)
		return true;
	vec_each(a, &s->args)
		if (a->is_variable)
			return true;
	return false;
}

struct probe_place probe_place_of(const struct probe_spec *s)
{
	struct probe_place p = { .func = s->func,
				 .file = s->file,
				 .line = s->line,
				 .has_line = s->has_line,
				 .no_inline = s->ret || s->offset };

	vec_each(a, &s->args)
		p.variables |= a->is_variable;
	return p;
}

/* One place of a probe. */
struct place {
	u64 vaddr;  /* where debug information has found it, else 0 */
	u64 offset; /* in the file; of the kernel: from the function's begin */
};
typedef VEC(struct place) place_list;

struct wanted {
	const char *name;
	struct suggestion near;
};

static bool is_wanted(void *ctx, const char *name)
{
	struct wanted *w = ctx;

	suggest_try(&w->near, name);
	return streq(name, w->name);
}

/* By the symbols of the file: functions of one name may be several. */
static int find_by_symbols(const struct probe_args *a, const struct probe_spec *s,
			   const struct elf *elf, place_list *ret, struct err *e)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT;
	struct wanted w = { .name = s->func };
	elf_functions list = { 0 };
	u64 last = UINT64_MAX;

	suggest_init(&w.near, s->func);
	elf_list_functions(elf, is_wanted, &w, &arena, &list);
	vec_each(f, &list) {
		bool known = f->offset == last;

		vec_each(p, ret)
			known |= p->offset == f->offset + s->offset;
		if (!known)
			vec_push(ret, (struct place){ .offset = f->offset + s->offset });
		last = f->offset;
	}
	vec_release(&list);
	if (ret->len)
		return 0;
	err_set(e, ENOENT, "'%s' has no function '%s'", a->exec, s->func);
	if (*w.near.best)
		err_hint(e, "did you mean '%s'?", w.near.best);
	else
		err_hint(e, "'fathom probe -x %s --funcs' lists them", a->exec);
	return -ENOENT;
}

static int find_by_dwarf(const struct probe_args *a, const struct probe_spec *s,
			 const struct elf *elf, struct probe_dwarf *d, place_list *ret,
			 struct err *e)
{
	struct probe_place place = probe_place_of(s);
	probe_addresses at = { 0 };
	int r = probe_dwarf_addresses(d, &place, &at, e);
	u64 offset, left;

	vec_each(vaddr, &at) {
		if (r < 0)
			break;
		if (elf_offset(elf, *vaddr + s->offset, true, &offset, &left))
			vec_push(ret, (struct place){ *vaddr + s->offset, offset });
		else
			r = err_set(e, EINVAL, "that address of '%s' is not code", a->exec);
	}
	vec_release(&at);
	return r;
}

/* Debug information knows where functions were inlined; assembly has none. */
static int find_user(const struct probe_args *a, const struct probe_spec *s, struct probe_dwarf **d,
		     place_list *ret, struct err *e)
{
	_cleanup_elf_ struct elf elf = ELF_INIT;
	int r = elf_open(a->path, &elf, e);

	if (r < 0)
		return r;
	if (!*d)
		(void)probe_open_dwarf(a, d, NULL);
	if (!*d)
		return find_by_symbols(a, s, &elf, ret, e);
	r = find_by_dwarf(a, s, &elf, *d, ret, e);
	if (r < 0 && !needs_dwarf(s) && find_by_symbols(a, s, &elf, ret, NULL) >= 0) {
		err_release(e);
		return 0;
	}
	return r;
}

static int find_places(const struct probe_args *a, const struct probe_spec *s,
		       struct probe_dwarf **d, place_list *ret, struct err *e)
{
	struct probe_place place = probe_place_of(s);
	struct place one = { 0 };
	int r = needs_dwarf(s) ? probe_open_dwarf(a, d, e) : 0;

	if (r >= 0 && a->exec)
		return find_user(a, s, d, ret, e);
	if (r >= 0 && *d)
		r = probe_dwarf_address(*d, &place, &one.vaddr, e);
	one.vaddr += *d ? s->offset : 0;
	if (r >= 0)
		vec_push(ret, one);
	return r;
}

static int kernel_target(const struct probe_spec *s, struct probe_dwarf *d, u64 vaddr,
			 struct buf *ret, struct err *e)
{
	struct probe_place entry = { .func = s->func };
	u64 start = 0;
	int r = 0;

	if (!s->func)
		return err_set(e, EINVAL, "name the kernel's function: FUNC:LINE");
	if (d)
		r = probe_dwarf_address(d, &entry, &start, e);
	if (r < 0)
		return r;
	buf_addstr(ret, s->func);
	if (d ? vaddr > start : s->offset != 0)
		buf_addf(ret, "+%llu", (unsigned long long)(d ? vaddr - start : s->offset));
	return 0;
}

static void default_name(const struct probe_arg *a, struct buf *out)
{
	size_t start = out->len;

	if (strchr("+-", *a->expr)) /* the kernel takes no name that begins with a digit */
		buf_addstr(out, "arg");
	for (const char *p = a->expr; *p; p++)
		if (isalnum((unsigned char)*p) || *p == '_')
			buf_addch(out, *p);
		else if (out->len > start && buf_str(out)[out->len - 1] != '_')
			buf_addch(out, '_');
	if (out->len == start)
		buf_addstr(out, "arg");
}

static int add_named(const struct probe_arg *a, struct probe_dwarf *d, u64 vaddr, struct made *m,
		     struct err *e)
{
	_cleanup_buf_ struct buf name = BUF_INIT;
	int r = 0;

	if (a->name)
		buf_addstr(&name, a->name);
	else
		default_name(a, &name);
	buf_addf(&m->args, "%s%s=", m->args.len ? " " : "", buf_str(&name));
	buf_addf(&m->shown, " %s", buf_str(&name));
	if (a->is_variable)
		r = probe_dwarf_variable(d, vaddr, a->expr, a->type, &m->args, e);
	else
		buf_addf(&m->args, "%s%s%s", a->expr, a->type ? ":" : "", a->type ? a->type : "");
	return r;
}

/* Each variable of "$vars" that can be fetched. */
struct all {
	const struct probe_arg *arg;
	struct probe_dwarf *d;
	u64 vaddr;
	struct made *made;
	size_t n;
	struct buf left_out;
};

static void add_each(void *ctx, const char *type UNUSED, const char *name, bool known,
		     bool parameter)
{
	struct all *all = ctx;
	struct made *m = all->made;
	const struct probe_arg one = { .expr = name, .is_variable = true };
	size_t args = m->args.len, shown = m->shown.len;

	if (streq(all->arg->expr, "$params") && !parameter)
		return;
	if (known && all->n < PROBE_ARGS_MOST &&
	    add_named(&one, all->d, all->vaddr, m, NULL) >= 0) {
		all->n++;
		return;
	}
	buf_truncate(&m->args, args);
	buf_truncate(&m->shown, shown);
	buf_addf(&all->left_out, " %s", name);
}

static int add_arg(const struct probe_arg *a, struct probe_dwarf *d, u64 vaddr, struct made *m,
		   struct err *e)
{
	struct all all = { .arg = a, .d = d, .vaddr = vaddr, .made = m, .left_out = BUF_INIT };
	int r;

	if (!a->all)
		return add_named(a, d, vaddr, m, e);
	r = probe_dwarf_variables(d, vaddr, add_each, &all, e);
	if (r >= 0 && !all.n)
		r = err_set(e, ENODATA, "no variable of '%s' can be fetched there", a->expr);
	if (r >= 0 && all.left_out.len)
		log_warn("'%s': without those that are no numbers, or optimised out there:%s",
			 a->expr, buf_str(&all.left_out));
	buf_release(&all.left_out);
	return r;
}

/* "probe_NAME" for a file: its name up to what no event may have. */
static void make_names(const struct probe_args *a, const struct probe_spec *s, struct made *m)
{
	const char *base = a->exec ? strrchr(a->exec, '/') : NULL;
	size_t n;

	base = base ? base + 1 : a->exec;
	if (s->group)
		snprintf(m->group, sizeof(m->group), "%s", s->group);
	else if (base)
		snprintf(m->group, sizeof(m->group), "probe_%.*s", PROBE_NAME_MOST - 8, base);
	else
		snprintf(m->group, sizeof(m->group), "probe");
	n = strcspn(m->group, ".+-@");
	m->group[n] = 0;
	if (s->event)
		snprintf(m->name, sizeof(m->name), "%s", s->event);
	else if (s->func)
		snprintf(m->name, sizeof(m->name), "%.40s%s", s->func, s->ret ? "__return" : "");
	else
		snprintf(m->name, sizeof(m->name), "abs_%u", s->line);
	if (!s->event && s->func && s->has_line && s->line)
		snprintf(m->name, sizeof(m->name), "%.40s_L%u", s->func, s->line);
	for (char *p = m->name; *p; p++)
		if (!isalnum((unsigned char)*p))
			*p = '_';
}

static bool is_taken(const probe_event_list *list, const struct made *m)
{
	vec_each(p, list)
		if (streq(p->group, m->group) && streq(p->name, m->name))
			return true;
	return false;
}

/* @nth: of several places. */
static int choose_name(const struct probe_args *a, const struct probe_spec *s, size_t nth,
		       struct made *m, struct err *e)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT;
	probe_event_list list = { 0 };
	size_t n;
	int r = a->dry_run ? 0 : probe_events_read(&arena, &list, e);

	make_names(a, s, m);
	n = strlen(m->name);
	if (nth && a->dry_run)
		snprintf(m->name + n, sizeof(m->name) - n, "_%zu", nth);
	if (r >= 0 && is_taken(&list, m) && !a->force && !nth) {
		err_set(e, EEXIST, "the probe '%s:%s' already exists", m->group, m->name);
		err_hint(e, "delete it with -d '%s:%s', or give a name: NAME=...; -f adds another",
			 m->group, m->name);
		r = -EEXIST;
	}
	for (u32 i = 1; r >= 0 && i < 1000 && is_taken(&list, m); i++)
		snprintf(m->name + n, sizeof(m->name) - n, "_%u", i);
	vec_release(&list);
	return r;
}

static int define(const struct probe_args *a, const struct probe_spec *s, struct probe_dwarf *d,
		  const struct place *place, size_t nth, struct made *m, struct err *e)
{
	int r = 0;

	if (a->exec)
		buf_addf(&m->target, "%s:0x%llx", a->path, (unsigned long long)place->offset);
	else
		r = kernel_target(s, d, place->vaddr, &m->target, e);
	for (size_t i = 0; r >= 0 && i < s->args.len; i++)
		r = add_arg(&s->args.items[i], d, place->vaddr, m, e);
	return r < 0 ? r : choose_name(a, s, nth, m, e);
}

static int make_event(struct context *ctx, const struct probe_args *a, const struct probe_spec *s,
		      const struct made *m)
{
	const struct probe_event event = { .user = a->exec != NULL,
					   .ret = s->ret,
					   .group = m->group,
					   .name = m->name,
					   .target = buf_str(&m->target),
					   .args = buf_str(&m->args) };
	_cleanup_buf_ struct buf line = BUF_INIT;

	if (!a->dry_run)
		return probe_events_add(&event, &ctx->err);
	probe_event_text(&event, &line);
	fprintf(ctx->out, "%s\n", buf_str(&line));
	return 0;
}

/* The place in a text that may begin with a name: "NAME=PLACE ARG...". */
static void show_added(struct context *ctx, const struct probe_args *a, const char *text,
		       const struct made *m, bool first)
{
	_cleanup_free_ char *name = xasprintf("%s:%s", m->group, m->name);
	size_t n = strcspn(text, " "), name_len = strcspn(text, "= ");

	if (name_len < n) {
		text += name_len + 1;
		n -= name_len + 1;
	}
	fprintf(ctx->out, "%s  %-20s (on %.*s", first ? "Added new event:\n" : "", name, (int)n,
		text);
	if (a->exec)
		fprintf(ctx->out, " in %s", a->path);
	if (m->shown.len)
		fprintf(ctx->out, " with%s", buf_str(&m->shown));
	fprintf(ctx->out, ")\n");
}

static int add_at(struct context *ctx, const struct probe_args *a, const struct probe_spec *s,
		  struct probe_dwarf *d, const struct place *place, size_t nth, struct made *m)
{
	int r = define(a, s, d, place, nth, m, &ctx->err);

	return r < 0 ? r : make_event(ctx, a, s, m);
}

/* A variable may be there in one copy of a function and optimised out in another. */
static int add_places(struct context *ctx, const struct probe_args *a, const struct probe_spec *s,
		      const char *text, struct probe_dwarf *d, const place_list *places)
{
	size_t added = 0, left_out = 0;
	_cleanup_free_ char *next = NULL;
	int r = 0;

	vec_each(place, places) {
		struct made m = { .target = BUF_INIT, .args = BUF_INIT, .shown = BUF_INIT };

		r = add_at(ctx, a, s, d, place, added, &m);
		if (r >= 0 && !a->dry_run)
			show_added(ctx, a, text, &m, !added);
		if (r >= 0 && !next)
			next = xasprintf("%s:%s", m.group, m.name);
		added += r >= 0;
		made_release(&m);
		if (r == -ENODATA || r == -ENOENT)
			left_out++;
		else if (r < 0)
			return r;
		if (r < 0 && left_out < places->len)
			err_release(&ctx->err);
	}
	if (!added)
		return r;
	err_release(&ctx->err);
	if (left_out)
		log_warn("%zu of %zu places are left out: no variables", left_out, places->len);
	if (!a->dry_run) /* scripts for perf cut off as many lines as it prints */
		fprintf(ctx->out,
			ctx->as_perf ? "\nUse:\n\n\tperf record -e %s%s sleep 1\n\n"
				     : "\nnext: fathom record -e '%s%s' -a -d 5s\n",
			next, added > 1 ? "*" : "");
	return 0;
}

static int add_one(struct context *ctx, const struct probe_args *a, const char *text)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT;
	struct probe_dwarf *d = NULL;
	place_list places = { 0 };
	struct probe_spec s;
	int r = probe_parse(text, &arena, &s, &ctx->err);

	if (r < 0)
		return EXIT_USAGE;
	r = find_places(a, &s, &d, &places, &ctx->err);
	if (r >= 0)
		r = add_places(ctx, a, &s, text, d, &places);
	vec_release(&places);
	probe_dwarf_free(d);
	probe_spec_release(&s);
	return r;
}

/* --- static tracepoints ----------------------------------------------------------------------- */

/* What those of include/fathom.h are called in the events, so that time lines show them. */
static const char *const *usdt_names(const struct usdt_site *site)
{
	static const char *const names[] = { "$name", "id", NULL };

	return streq(site->provider, "fathom") ? names : NULL;
}

/* @nth: of those of one name; @first: of all. */
static int add_site(struct context *ctx, const struct probe_args *a, const struct usdt_site *site,
		    size_t nth, bool first, u32 *left_out)
{
	struct made m = { .target = BUF_INIT, .args = BUF_INIT, .shown = BUF_INIT };
	_cleanup_free_ char *group = xasprintf("sdt_%s", site->provider);
	const struct probe_spec s = { .group = group, .event = site->name };
	_cleanup_free_ char *text = xasprintf("%%%s:%s", site->provider, site->name);
	int r;

	buf_addf(&m.target, "%s:0x%llx", a->path, (unsigned long long)site->offset);
	if (site->semaphore)
		buf_addf(&m.target, "(0x%llx)", (unsigned long long)site->semaphore);
	*left_out += probe_usdt_args(site->args, usdt_names(site), &m.args, &m.shown);
	r = choose_name(a, &s, nth, &m, &ctx->err);
	if (r >= 0)
		r = make_event(ctx, a, &s, &m);
	if (r >= 0 && !a->dry_run)
		show_added(ctx, a, text, &m, first);
	made_release(&m);
	return r;
}

static size_t earlier_sites(const usdt_sites *sites, const struct usdt_site *site)
{
	size_t n = 0;

	for (const struct usdt_site *s = sites->items; s < site; s++)
		n += streq(s->provider, site->provider) && streq(s->name, site->name);
	return n;
}

static int no_site(const struct probe_args *a, const usdt_sites *sites, const char *text,
		   struct err *e)
{
	struct suggestion near;

	if (!sites->len) {
		err_set(e, ENOENT, "'%s' has no static tracepoints", a->exec);
		err_hint(e, "include/fathom.h makes them, sys/sdt.h likewise");
		return -ENOENT;
	}
	suggest_init(&near, text);
	vec_each(s, sites) {
		_cleanup_free_ char *name = xasprintf("%%%s:%s", s->provider, s->name);

		suggest_try(&near, name);
	}
	err_set(e, ENOENT, "'%s' has no static tracepoint '%s'", a->exec, text);
	if (*near.best)
		err_hint(e, "did you mean '%s'?", near.best);
	else
		err_hint(e, "'fathom list usdt:%s:*' lists them", a->exec);
	return -ENOENT;
}

static int add_sites(struct context *ctx, const struct probe_args *a, const char *text,
		     const usdt_sites *sites, const char *provider, const char *name)
{
	u32 left_out = 0;
	size_t added = 0;
	int r = 0;

	vec_each(s, sites) {
		if (r < 0 || fnmatch(provider, s->provider, 0) || fnmatch(name, s->name, 0))
			continue;
		r = add_site(ctx, a, s, earlier_sites(sites, s), !added, &left_out);
		added += r >= 0;
	}
	if (r < 0)
		return r;
	if (!added)
		return no_site(a, sites, text, &ctx->err);
	if (left_out)
		log_warn("%u arguments are left out: the kernel cannot fetch them", left_out);
	if (!a->dry_run)
		fprintf(ctx->out, "\nnext: fathom record -e 'sdt_%s:*' -a -d 5s\n", provider);
	return 0;
}

static int add_usdt(struct context *ctx, const struct probe_args *a, const char *text)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT;
	_cleanup_elf_ struct elf elf = ELF_INIT;
	_cleanup_free_ char *provider = NULL, *name = NULL;
	usdt_sites sites = { 0 };
	int r = probe_usdt_parse(text, &provider, &name, &ctx->err);

	if (r >= 0 && !a->exec)
		r = err_set(&ctx->err, EINVAL, "static tracepoints are in programs: -x FILE");
	if (r < 0)
		return EXIT_USAGE;
	r = elf_open(a->path, &elf, &ctx->err);
	if (r >= 0)
		r = elf_list_usdt(&elf, &arena, &sites, &ctx->err);
	if (r >= 0)
		r = add_sites(ctx, a, text, &sites, provider, name);
	vec_release(&sites);
	return r;
}

static int add_any(struct context *ctx, const struct probe_args *a, const char *text)
{
	int r = probe_usdt_is(text) ? add_usdt(ctx, a, text) : add_one(ctx, a, text);

	return r == -EOPNOTSUPP || r == -EPERM || r == -EACCES ? EXIT_MISSING : r;
}

/* --- listing and deleting --------------------------------------------------------------------- */

static const struct column columns[] = {
	{ "event", "EVENT", VALUE_TEXT, COLUMN_UNCUT },
	{ "kind", "KIND", VALUE_TEXT, 0 },
	{ "function", "FUNCTION", VALUE_TEXT, 0 },
	{ "target", "TARGET", VALUE_TEXT, COLUMN_FILL },
	{ "arguments", "ARGUMENTS", VALUE_TEXT, 0 },
};

static const char *kind_of(const struct probe_event *p)
{
	return p->user ? p->ret ? "uretprobe" : "uprobe" : p->ret ? "kretprobe" : "kprobe";
}

/* "work+0x4": the function that "FILE:0xOFFSET" is in; of the kernel it is the target. */
static void add_function(const struct probe_event *p, struct buf *out)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT;
	_cleanup_elf_ struct elf elf = ELF_INIT;
	const char *colon = strrchr(p->target, ':');
	_cleanup_free_ char *path = xstrndup(p->target, colon ? (size_t)(colon - p->target) : 0);
	struct elf_function f;
	u64 offset;

	if (!p->user)
		buf_addstr(out, p->target);
	if (!p->user || !colon || elf_open(path, &elf, NULL) < 0)
		return;
	offset = strtoull(colon + 1, NULL, 16);
	if (!elf_find_function_at(&elf, offset, &arena, &f))
		return;
	buf_addstr(out, f.name);
	if (offset > f.offset)
		buf_addf(out, "+0x%llx", (unsigned long long)(offset - f.offset));
}

static int list_events(struct context *ctx)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT;
	_cleanup_result_ struct result res = { 0 };
	probe_event_list list = { 0 };
	struct table *t;
	int r = probe_events_read(&arena, &list, &ctx->err);

	result_init(&res, "probe");
	t = result_table(&res, "probes", NULL, columns, ARRAY_SIZE(columns));
	vec_each(p, &list) {
		_cleanup_buf_ struct buf name = BUF_INIT, function = BUF_INIT;
		struct row *row = table_row(&res, t);

		buf_addf(&name, "%s:%s", p->group, p->name);
		row->cells[0] = value_text(&res, buf_str(&name));
		row->cells[1] = value_text(&res, kind_of(p));
		add_function(p, &function);
		row->cells[2] = value_text(&res, buf_str(&function));
		row->cells[3] = value_text(&res, p->target);
		row->cells[4] = value_text(&res, p->args);
	}
	if (!list.len)
		result_note(&res, NOTE_INFO, NULL, "there are no probes");
	vec_release(&list);
	return r < 0 ? r : cli_show(ctx, &res);
}

static bool matches(const struct probe_event *p, const char *glob)
{
	const char *colon = strchr(glob, ':');
	_cleanup_free_ char *whole = xasprintf("%s:%s", p->group, p->name);

	return fnmatch(glob, colon ? whole : p->name, 0) == 0;
}

static int del_events(struct context *ctx, const char *glob)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT;
	probe_event_list list = { 0 };
	int r = probe_events_read(&arena, &list, &ctx->err);
	u32 n = 0;

	vec_each(p, &list) {
		if (r < 0 || !matches(p, glob))
			continue;
		r = probe_events_del(p, &ctx->err);
		n++;
		if (r >= 0)
			fprintf(ctx->out, "Removed event: %s:%s\n", p->group, p->name);
	}
	vec_release(&list);
	if (r >= 0 && !n) {
		err_set(&ctx->err, ENOENT, "no probe '%s'", glob);
		err_hint(&ctx->err, "--list shows them");
		return EXIT_FAILED;
	}
	return r;
}

/* --- the command ------------------------------------------------------------------------------ */

static int probe_run(struct context *ctx, void *args)
{
	struct probe_args *a = args;
	int r = find_file(a, &ctx->err);

	if (r < 0)
		return r;
	if (a->vars)
		return probe_show_vars(ctx, a);
	if (a->line)
		return probe_show_lines(ctx, a);
	if (a->funcs)
		return probe_list_funcs(ctx, a);
	vec_each(glob, &a->del)
		r = r ? r : del_events(ctx, *glob);
	vec_each(text, &a->add)
		r = r ? r : add_any(ctx, a, *text);
	vec_each(text, &ctx->operands)
		r = r ? r : add_any(ctx, a, *text);
	if (a->list || (!a->del.len && !a->add.len && !ctx->operands.len))
		return r ? r : list_events(ctx);
	return r;
}

static const struct example probe_examples[] = {
	{ "fathom probe", "the probes that exist" },
	{ "fathom probe -x ./program --line main", "lines of a function that can be probed" },
	{ "fathom probe -x ./program --vars main:3", "variables that exist at a line" },
	{ "fathom probe -x ./program --add 'main:3 argc'", "a named event with a variable" },
	{ "fathom probe --add 'vfs_read count=%dx'", "a function of the kernel, with a register" },
	{ "fathom probe -x ./server '%fathom:*'",
	  "the markers of include/fathom.h, to record them" },
	{ "fathom probe --del '*'", "delete all probes" },
	{ 0 },
};

const struct command cmd_probe = {
	.name = "probe",
	.summary = "named probes on functions, lines and variables, for recordings",
	.description =
		"Creates events at functions or source lines of the kernel or, with -x, of a "
		"program, with the values of variables there, in perf probe's grammar. They can "
		"be recorded by name (fathom record -e GROUP:EVENT) and stay until they are "
		"deleted.\n\n"
		"Variables, members (p->next->id, s.x, a[3]) and lines need debug information. A "
		"variable that is optimised out at a place is reported as such, not guessed.\n\n"
		"%PROVIDER:NAME names static tracepoints (USDT) of the program, globs included; "
		"they become events sdt_PROVIDER:NAME with their arguments.",
	.question = Q_TRACE,
	.options = probe_options,
	.args_size = sizeof(struct probe_args),
	.operands = "[PROBE]...",
	.max_operands = SIZE_MAX,
	.examples = probe_examples,
	.notes = "For a look without a recording, 'fathom trace' needs no named event.",
	.see_also = "fathom-record fathom-trace fathom-list perf-probe",
	.run = probe_run,
};
