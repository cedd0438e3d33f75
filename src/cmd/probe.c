/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/io.h"
#include "base/log.h"
#include "capture/probe_events.h"
#include "capture/probe_text.h"
#include "cli/cli.h"
#include "elf/symbols.h"
#include "symbol/probe_dwarf.h"

#include <ctype.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <sys/utsname.h>

struct probe_args {
	str_list add, del;
	bool list, force, dry_run;
	const char *vars, *line, *funcs, *exec, *vmlinux;
};

#define AT(field) .offset = offsetof(struct probe_args, field)

static const struct opt probe_options[] = {
	{ 'a', "add", OPT_STRINGS, AT(add), .arg = "PROBE",
	  .help = "make a probe: [EVENT=]FUNC[+OFF|:LINE|%return] or FILE:LINE, and arguments" },
	{ 'd', "del", OPT_STRINGS, AT(del), .arg = "[GROUP:]EVENT",
	  .help = "delete probes; globs, '*' for all" },
	{ 'l', "list", OPT_FLAG, AT(list), .help = "list the probes that exist" },
	{ 'V', "vars", OPT_STRING, AT(vars), .arg = "PROBE", .help = "variables that exist there" },
	{ 'L', "line", OPT_STRING, AT(line), .arg = "FUNC[:FROM[-TO]]|FILE:FROM[-TO]",
	  .help = "source lines, numbered where a probe can be set" },
	{ 'F', "funcs", OPT_STRING, AT(funcs), .arg = "GLOB", .flags = OPT_OPTIONAL, .implied = "*",
	  .help = "functions of the file (-x) that can be probed" },
	{ 'x', "exec", OPT_FILE, AT(exec), .arg = "FILE",
	  .help = "a program or library; else the kernel" },
	{ 'k', "vmlinux", OPT_FILE, AT(vmlinux), .arg = "FILE",
	  .help = "the kernel's debug information" },
	{ 'f', "force", OPT_FLAG, AT(force), .help = "another probe of the same name: NAME_1" },
	{ 'n', "dry-run", OPT_FLAG, AT(dry_run), .help = "print the definition, make nothing" },
	OPT_END,
};

/* --- the file ------------------------------------------------------------------------------- */

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

static int open_dwarf(const struct probe_args *a, struct probe_dwarf **ret, struct err *e)
{
	_cleanup_buf_ struct buf path = BUF_INIT;
	int r = 0;

	if (a->exec)
		buf_addstr(&path, a->exec);
	else
		r = find_vmlinux(a, &path, e);
	return r < 0 ? r : probe_dwarf_new(ret, buf_str(&path), e);
}

/* --- making one ----------------------------------------------------------------------------- */

struct made {
	struct probe_event event;
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

static struct probe_place place_of(const struct probe_spec *s)
{
	struct probe_place p = { s->func, s->file, s->line, s->has_line, false };

	vec_each(a, &s->args)
		p.variables |= a->is_variable;
	return p;
}

/* The file offset that a uprobe wants. */
static int user_target(const struct probe_args *a, const struct probe_spec *s, u64 vaddr,
		       struct buf *ret, struct err *e)
{
	_cleanup_free_ char *path = realpath(a->exec, NULL);
	_cleanup_elf_ struct elf elf = ELF_INIT;
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1, r;
	u64 offset, left, size;

	if (fd < 0)
		return err_sys(e, errno, "cannot open '%s'", a->exec);
	r = elf_open_fd(&elf, fd, path, e);
	if (r < 0)
		return r;
	if (!vaddr && !elf_find_symbol(&elf, s->func, &vaddr, &size)) {
		err_set(e, ENOENT, "'%s' has no function '%s'", a->exec, s->func);
		err_hint(e, "'fathom probe -x %s --funcs' lists them", a->exec);
		return -ENOENT;
	}
	if (!elf_offset(&elf, vaddr + s->offset, true, &offset, &left))
		return err_set(e, EINVAL, "that address of '%s' is not code", a->exec);
	buf_addf(ret, "%s:0x%llx", path, (unsigned long long)offset);
	return 0;
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
	if (s->offset || vaddr > start)
		buf_addf(ret, "+%llu", (unsigned long long)(s->offset + (d ? vaddr - start : 0)));
	return 0;
}

static void default_name(const struct probe_arg *a, struct buf *out)
{
	size_t start = out->len;

	for (const char *p = a->expr; *p; p++)
		if (isalnum((unsigned char)*p) || *p == '_')
			buf_addch(out, *p);
		else if (out->len > start && buf_str(out)[out->len - 1] != '_')
			buf_addch(out, '_');
	if (out->len == start)
		buf_addstr(out, "arg");
}

static int add_arg(const struct probe_arg *a, struct probe_dwarf *d, u64 vaddr, struct made *m,
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

static int choose_name(const struct probe_args *a, const struct probe_spec *s, struct made *m,
		       struct err *e)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT;
	probe_event_list list = { 0 };
	size_t n;
	int r = a->dry_run ? 0 : probe_events_read(&arena, &list, e);

	make_names(a, s, m);
	n = strlen(m->name);
	if (r >= 0 && is_taken(&list, m) && !a->force) {
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

static int define(const struct probe_args *a, const struct probe_spec *s, struct made *m,
		  struct err *e)
{
	struct probe_place place = place_of(s);
	struct probe_dwarf *d = NULL;
	u64 vaddr = 0;
	int r = needs_dwarf(s) ? open_dwarf(a, &d, e) : 0;

	if (r >= 0 && d)
		r = probe_dwarf_address(d, &place, &vaddr, e);
	if (r >= 0)
		r = a->exec ? user_target(a, s, vaddr, &m->target, e)
			    : kernel_target(s, d, vaddr, &m->target, e);
	for (size_t i = 0; r >= 0 && i < s->args.len; i++)
		r = add_arg(&s->args.items[i], d, vaddr, m, e);
	if (r >= 0)
		r = choose_name(a, s, m, e);
	probe_dwarf_free(d);
	m->event = (struct probe_event){ .user = a->exec != NULL,
					 .ret = s->ret,
					 .group = m->group,
					 .name = m->name,
					 .target = buf_str(&m->target),
					 .args = buf_str(&m->args) };
	return r;
}

static void show_added(struct context *ctx, const struct probe_args *a, const char *text,
		       const struct made *m)
{
	_cleanup_free_ char *name = xasprintf("%s:%s", m->group, m->name);

	fprintf(ctx->out, "Added new event:\n  %-20s (on %.*s", name, (int)strcspn(text, " "),
		text);
	if (a->exec)
		fprintf(ctx->out, " in %s", a->exec);
	if (m->shown.len)
		fprintf(ctx->out, " with%s", buf_str(&m->shown));
	fprintf(ctx->out, ")\n\nnext: fathom record -e %s -a -d 5s\n", name);
}

static int add_one(struct context *ctx, const struct probe_args *a, const char *text)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT;
	_cleanup_buf_ struct buf line = BUF_INIT;
	struct probe_spec s;
	struct made m = { .target = BUF_INIT, .args = BUF_INIT, .shown = BUF_INIT };
	int r = probe_parse(text, &arena, &s, &ctx->err);

	if (r < 0)
		return EXIT_USAGE;
	r = define(a, &s, &m, &ctx->err);
	probe_event_text(&m.event, &line);
	if (r >= 0 && !a->dry_run)
		r = probe_events_add(&m.event, &ctx->err);
	if (r >= 0 && a->dry_run)
		fprintf(ctx->out, "%s\n", buf_str(&line));
	else if (r >= 0)
		show_added(ctx, a, text, &m);
	made_release(&m);
	probe_spec_release(&s);
	return r == -EOPNOTSUPP || r == -EPERM || r == -EACCES ? EXIT_MISSING : r;
}

/* --- listing and deleting --------------------------------------------------------------------- */

static const struct column columns[] = {
	{ "event", "EVENT", VALUE_TEXT, COLUMN_UNCUT },
	{ "kind", "KIND", VALUE_TEXT, 0 },
	{ "target", "TARGET", VALUE_TEXT, COLUMN_FILL },
	{ "arguments", "ARGUMENTS", VALUE_TEXT, 0 },
};

static const char *kind_of(const struct probe_event *p)
{
	return p->user ? p->ret ? "uretprobe" : "uprobe" : p->ret ? "kretprobe" : "kprobe";
}

static int list_events(struct context *ctx)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT;
	_cleanup_result_ struct result res;
	probe_event_list list = { 0 };
	struct table *t;
	int r = probe_events_read(&arena, &list, &ctx->err);

	result_init(&res, "probe");
	t = result_table(&res, "probes", NULL, columns, ARRAY_SIZE(columns));
	vec_each(p, &list) {
		_cleanup_buf_ struct buf name = BUF_INIT;
		struct row *row = table_row(&res, t);

		buf_addf(&name, "%s:%s", p->group, p->name);
		row->cells[0] = value_text(&res, buf_str(&name));
		row->cells[1] = value_text(&res, kind_of(p));
		row->cells[2] = value_text(&res, p->target);
		row->cells[3] = value_text(&res, p->args);
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

/* --- looking around --------------------------------------------------------------------------- */

static void on_variable(void *ctx, const char *type, const char *name, bool known)
{
	struct buf *out = ctx;

	buf_addf(out, "        %s\t%s%s\n", type, name, known ? "" : "\t(optimised out there)");
}

static int show_vars(struct context *ctx, const struct probe_args *a)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT;
	_cleanup_buf_ struct buf out = BUF_INIT;
	struct probe_dwarf *d = NULL;
	struct probe_place place;
	struct probe_spec s;
	u64 vaddr;
	int r = probe_parse(a->vars, &arena, &s, &ctx->err);

	if (r < 0)
		return EXIT_USAGE;
	place = place_of(&s);
	place.variables = true;
	r = open_dwarf(a, &d, &ctx->err);
	if (r >= 0)
		r = probe_dwarf_address(d, &place, &vaddr, &ctx->err);
	buf_addf(&out, "Available variables at %s\n", a->vars);
	if (r >= 0)
		r = probe_dwarf_variables(d, vaddr, on_variable, &out, &ctx->err);
	if (r >= 0)
		r = cli_print_foreign(ctx, false, &out);
	probe_dwarf_free(d);
	probe_spec_release(&s);
	return r;
}

/* Like perf: numbers where a probe can be set, blanks elsewhere. */
static void add_source(const struct probe_lines *l, const char *text, const char *end,
		       struct buf *out)
{
	size_t code = 0;
	u32 line = 1;

	for (const char *p = text; p < end && line <= l->last; line++) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		int n = (int)((nl ? nl : end) - p);

		while (code < l->code.len && l->code.items[code] < line)
			code++;
		if (line >= l->first && code < l->code.len && l->code.items[code] == line)
			buf_addf(out, "%7u  %.*s\n", line - l->zero, n, p);
		else if (line >= l->first)
			buf_addf(out, "         %.*s\n", n, p);
		p = nl ? nl + 1 : end;
	}
}

static int show_lines(struct context *ctx, const struct probe_args *a)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT;
	_cleanup_buf_ struct buf out = BUF_INIT, text = BUF_INIT;
	struct probe_dwarf *d = NULL;
	struct probe_lines l = { 0 };
	struct probe_place place;
	struct probe_spec s;
	u32 to;
	int r = probe_parse_lines(a->line, &arena, &s, &to, &ctx->err);

	if (r < 0)
		return EXIT_USAGE;
	place = place_of(&s);
	r = open_dwarf(a, &d, &ctx->err);
	if (r >= 0)
		r = probe_dwarf_lines(d, &place, to, &l, &ctx->err);
	if (r >= 0)
		r = io_read_file(l.file, 64 << 20, &text, &ctx->err);
	if (r >= 0) {
		buf_addf(&out, "<%s@%s:%u>\n", s.func ? s.func : "", l.file, l.zero ? 0 : l.first);
		add_source(&l, buf_str(&text), buf_str(&text) + text.len, &out);
		r = cli_print_foreign(ctx, false, &out);
	}
	probe_lines_release(&l);
	probe_dwarf_free(d);
	probe_spec_release(&s);
	return r;
}

static bool match_glob(void *ctx, const char *name)
{
	return fnmatch(ctx, name, 0) == 0;
}

static int list_funcs(struct context *ctx, const struct probe_args *a)
{
	_cleanup_arena_ struct arena arena = ARENA_INIT;
	_cleanup_buf_ struct buf out = BUF_INIT;
	_cleanup_elf_ struct elf elf = ELF_INIT;
	elf_functions list = { 0 };
	int fd, r;

	if (!a->exec) {
		err_set(&ctx->err, EINVAL, "--funcs needs -x FILE");
		err_hint(&ctx->err, "'fathom ftrace --funcs' lists those of the kernel");
		return EXIT_USAGE;
	}
	r = io_open_read(a->exec, &fd, &ctx->err);
	if (r >= 0)
		r = elf_open_fd(&elf, fd, a->exec, &ctx->err);
	if (r < 0)
		return r;
	/* "--funcs GLOB" with a blank is an operand */
	elf_list_functions(&elf, match_glob,
			   (void *)(ctx->operands.len ? ctx->operands.items[0] : a->funcs), &arena,
			   &list);
	vec_each(f, &list)
		buf_addf(&out, "%s\n", f->name);
	vec_release(&list);
	return out.len ? cli_print_foreign(ctx, false, &out) : EXIT_NOTHING;
}

/* --- the command ------------------------------------------------------------------------------ */

static int probe_run(struct context *ctx, void *args)
{
	struct probe_args *a = args;
	int r = 0;

	if (a->vars)
		return show_vars(ctx, a);
	if (a->line)
		return show_lines(ctx, a);
	if (a->funcs)
		return list_funcs(ctx, a);
	vec_each(glob, &a->del)
		r = r ? r : del_events(ctx, *glob);
	vec_each(text, &a->add)
		r = r ? r : add_one(ctx, a, *text);
	vec_each(text, &ctx->operands)
		r = r ? r : add_one(ctx, a, *text);
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
	{ "fathom probe --del '*'", "delete all probes" },
	{ 0 },
};

const struct command cmd_probe = {
	.name = "probe",
	.summary = "named probes on functions, lines and variables, for recordings",
	.description =
		"Makes events of functions or source lines of the kernel or, with -x, of a "
		"program, "
		"with the values of variables there, in perf probe's grammar. They can be recorded "
		"by name (fathom record -e GROUP:EVENT) and stay until they are deleted.\n\n"
		"Variables, members (p->next->id, s.x, a[3]) and lines need debug information. A "
		"variable that is optimised out at a place is said to be, not guessed.",
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
