/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tracepoints. System calls are served by the raw tracepoints sys_enter and sys_exit, events whose
 * fields are not read by their raw tracepoint: those links close at once. The perf event, which
 * takes the kernel tens of milliseconds to close, is used only for formatted fields.
 */
#include "host/cpu.h"
#include "lang/gen/gen.h"
#include "lang/run/run.h"

#include "base/parse.h"
#include "base/suggest.h"
#include "host/bpf_sys.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/ioctl.h>

enum { TP_MAX_FORMAT = 1 << 20, TP_MAX_RAW_UNITS = 16, TP_COMMON = 8 };

/* --- finding ---------------------------------------------------------------------------------- */

static void add_target(struct comp *c, const struct provider *p, const struct spec *s,
		       const char *group, const char *event)
{
	struct target *t = provider_target(c, p, s, "tracepoint:%s:%s", group, event);
	const char *call = NULL;
	int number = -1;

	if (!t)
		return;
	t->group = arena_strdup(&c->arena, group);
	t->event = arena_strdup(&c->arena, event);
	if (streq(group, "syscalls")) {
		if ((call = starts_with(event, "sys_enter_")))
			t->unit_kind = TP_SYS_ENTER;
		else if ((call = starts_with(event, "sys_exit_")))
			t->unit_kind = TP_SYS_EXIT;
		number = call ? cpu_syscall_number(call) : -1;
		t->extra = (u64)number;
		if (number < 0)
			t->unit_kind = TP_RAW;
	}
}

typedef void each_fn(void *ctx, const char *group, const char *event);

static bool is_event_dir(int dir, const char *name)
{
	struct buf path = BUF_INIT;
	bool yes;

	buf_addf(&path, "%s/id", name);
	yes = faccessat(dir, buf_str(&path), F_OK, 0) == 0;
	buf_release(&path);
	return yes;
}

static void each_event(int events, const char *group, const char *pattern, each_fn *each, void *ctx)
{
	int fd = openat(events, group, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *d;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while ((d = readdir(dir))) {
		if (d->d_name[0] != '.' && provider_match(pattern, d->d_name) &&
		    is_event_dir(fd, d->d_name))
			each(ctx, group, d->d_name);
	}
	closedir(dir);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Calls @each for all events that match, groups in order of their names. */
static void each_tracepoint(struct comp *c, const char *group, const char *event, each_fn *each,
			    void *ctx)
{
	VEC(const char *) groups = { 0 };
	const struct dirent *d;
	int events;
	DIR *dir;

	if (!comp_tracefs(c))
		return;
	events = openat(c->tracefs.fd, "events", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (events < 0)
		return;
	if (!provider_is_pattern(group)) {
		each_event(events, group, event, each, ctx);
		close(events);
		return;
	}
	dir = fdopendir(events);
	while (dir && (d = readdir(dir))) {
		if (d->d_name[0] != '.' && d->d_type == DT_DIR && provider_match(group, d->d_name))
			vec_push(&groups, arena_strdup(&c->arena, d->d_name));
	}
	vec_sort(&groups, by_text);
	for (size_t i = 0; i < groups.len; i++)
		each_event(dirfd(dir), groups.items[i], event, each, ctx);
	vec_release(&groups);
	if (dir)
		closedir(dir);
}

struct expansion {
	struct comp *c;
	const struct provider *p;
	const struct spec *s;
};

static void add_found(void *ctx, const char *group, const char *event)
{
	struct expansion *x = ctx;

	add_target(x->c, x->p, x->s, group, event);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct target *)a)->name, ((const struct target *)b)->name);
}

static void try_found(void *ctx, const char *group, const char *event)
{
	(void)group;
	suggest_try(ctx, event);
}

static void try_group(void *ctx, const char *group, const char *event)
{
	(void)event;
	suggest_try(ctx, group);
}

/* The nearest event of that group, or the nearest group. */
static void suggest_tracepoint(struct comp *c, const char *group, const char *event)
{
	struct suggestion s;

	suggest_init(&s, event);
	each_tracepoint(c, group, "*", try_found, &s);
	if (s.best[0]) {
		diag_hint(&c->diags, "did you mean '%s:%s'?", group, s.best);
		return;
	}
	suggest_init(&s, group);
	each_tracepoint(c, "*", event, try_group, &s);
	if (s.best[0])
		diag_hint(&c->diags, "did you mean '%s:%s'?", s.best, event);
}

static void expand(struct comp *c, const struct provider *p, const struct spec *s, const char *rest)
{
	const char *group = provider_part(c, rest, 0), *event = provider_part(c, rest, 1);
	struct expansion x = { c, p, s };
	size_t first = c->targets.len;
	u64 id;

	if (!event || !*event || !*group || provider_parts(rest) > 2) {
		diag_error(&c->diags, s->at, "tracepoint probe type requires 2 arguments, found %u",
			   provider_parts(rest));
		diag_hint(&c->diags, "the form is tracepoint:GROUP:EVENT");
		return;
	}
	if (provider_is_pattern(group) || provider_is_pattern(event)) {
		each_tracepoint(c, group, event, add_found, &x);
		if (c->targets.len > first)
			qsort(c->targets.items + first, c->targets.len - first,
			      sizeof(struct target), by_name);
		return;
	}
	if (!comp_tracefs(c))
		return;
	if (tracefs_event_id(&c->tracefs, group, event, &id, NULL) == 0)
		add_target(c, p, s, group, event);
	else if (c->config.missing_probes == MISSING_ERROR) {
		provider_missing(c, s, p, "%s:%s", group, event);
		suggest_tracepoint(c, group, event);
	}
}

/* --- fields ----------------------------------------------------------------------------------- */

static const struct type *pointer_field(struct comp *c, const char *decl, size_t len,
					enum space space)
{
	char *text = arena_strndup(&c->arena, decl, len);
	const struct type *t;
	u32 stars = 0;

	for (const char *s = text; *s; s++)
		stars += *s == '*';
	if (strstr(text, "char")) {
		struct type *ch = type_new(&c->types, T_INT, 1);

		ch->is_signed = true;
		ch->str = "char";
		t = ch;
	} else if (strstr(text, "struct ")) {
		struct type *named = type_new(&c->types, T_PTR, 8);
		const char *name = strstr(text, "struct ");

		named->space = space;
		named->name = arena_strndup(&c->arena, name, strcspn(name, "*"));
		for (char *end = (char *)named->name + strlen(named->name);
		     end > named->name && end[-1] == ' ';)
			*--end = 0;
		t = named;
		stars--;
	} else {
		t = type_new(&c->types, T_VOID, 0);
	}
	for (u32 i = 0; i < stars; i++)
		t = type_ptr(&c->types, t, space);
	return t;
}

/* "char prev_comm[16]" and the numbers after it. */
static void field_of(struct comp *c, const struct target *t, const char *decl, size_t len,
		     u64 offset, u64 size, bool is_signed, struct field *ret)
{
	enum space space = t->unit_kind ? SPACE_USER : SPACE_ANY;
	const char *end = decl + len, *bracket = memchr(decl, '[', len), *name;
	u64 count = 0;

	*ret = (struct field){ .offset = (u32)offset, .decl = arena_strndup(&c->arena, decl, len) };
	if (starts_with(decl, "__data_loc")) {
		ret->data_loc = true;
		bracket = NULL;
	} else if (bracket) {
		const char *n = bracket + 1;

		if (!scan_u64(&n, end, 10, &count))
			count = 0;
		end = bracket;
	}
	for (name = end; name > decl && name[-1] != ' ' && name[-1] != '*';)
		name--;
	ret->name = arena_strndup(&c->arena, name, (size_t)(end - name));
	if (ret->data_loc) {
		struct type *ch = type_new(&c->types, T_INT, 1);

		ch->is_signed = true;
		ch->str = "char";
		ret->type = type_ptr(&c->types, ch, SPACE_KERNEL);
	} else if (bracket && memmem(decl, len, "char", 4) && size <= TYPE_MAX_STRING) {
		ret->type = type_str(&c->types, (u32)size);
	} else if (bracket && count && size / count <= 8) {
		ret->type = type_array(
			&c->types, type_int(&c->types, (u32)(size / count), is_signed), (u32)count);
	} else if (memchr(decl, '*', len)) {
		ret->type = pointer_field(c, decl, (size_t)(name - decl), space);
	} else {
		ret->type = type_int(&c->types, (u32)MIN(size, 8ull), is_signed);
	}
}

static bool number_after(const char *line, const char *key, u64 *ret)
{
	const char *s = strstr(line, key);

	if (!s)
		return false;
	s += strlen(key);
	return scan_u64(&s, s + strlen(s), 10, ret);
}

static const struct type *parse_format(struct comp *c, const struct target *t, char *text)
{
	struct type *args = type_new(&c->types, T_STRUCT, 0);
	VEC(struct field) fields = { 0 };
	char *save = NULL;

	args->name = arena_printf(&c->arena, "struct _tracepoint_%s_%s", t->group, t->event);
	args->space = SPACE_CTX;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		const char *decl = strstr(line, "field:");
		u64 offset, size, is_signed = 0;
		struct field f;
		size_t len;

		if (!decl || !number_after(line, "offset:", &offset) ||
		    !number_after(line, "size:", &size) || offset > TYPE_MAX_SIZE ||
		    size > TYPE_MAX_SIZE - offset)
			continue;
		number_after(line, "signed:", &is_signed);
		decl += strlen("field:");
		len = strcspn(decl, ";");
		field_of(c, t, decl, len, offset, size, is_signed, &f);
		vec_push(&fields, f);
		args->size = MAX(args->size, (u32)(offset + size));
	}
	args->fields = arena_dup(&c->arena, fields.items, fields.len * sizeof(*fields.items));
	args->n_fields = (u32)fields.len;
	vec_release(&fields);
	return args;
}

static bool load_args(struct comp *c, struct target *t)
{
	struct buf path = BUF_INIT, text = BUF_INIT;
	int rc;

	buf_addf(&path, "events/%s/%s/format", t->group, t->event);
	rc = tracefs_read(&c->tracefs, buf_str(&path), TP_MAX_FORMAT, &text, NULL);
	if (rc == 0 && text.len)
		t->args = parse_format(c, t, text.data);
	buf_release(&path);
	buf_release(&text);
	return rc == 0;
}

static bool common_field(const struct node *n, void *ctx)
{
	(void)ctx;
	return (n->kind == N_FIELD && starts_with(n->str, "common_")) ||
	       (n->kind == N_IDENT && streq(n->str, "ctx"));
}

/* --- programs --------------------------------------------------------------------------------- */

static u32 units_of_probe(const struct comp *c, u32 probe)
{
	u32 n = 0;

	for (size_t i = 0; i < c->units.len; i++)
		n += c->units.items[i].probe == probe;
	return n;
}

static void add_dispatch(struct comp *c, struct unit *u)
{
	u->dispatch_map =
		1 + comp_bpf_map(c, "dispatch", BPF_MAP_TYPE_ARRAY, 4, 4, CPU_MAX_SYSCALL);
}

static bool prepare(struct comp *c, struct unit *u)
{
	struct target *t = &c->targets.items[u->first];
	const struct probe *p = &c->prog.probes.items[u->probe];
	bool common =
		node_any(p->body, common_field, NULL) || node_any(p->predicate, common_field, NULL);

	u->prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT;
	u->raw_name = t->event;
	u->mode = t->unit_kind;
	if (u->uses_args && !load_args(c, t))
		return false;
	if (t->unit_kind && !common && units_of_probe(c, u->probe) <= TP_MAX_RAW_UNITS) {
		u->raw_name = t->unit_kind == TP_SYS_ENTER ? "sys_enter" : "sys_exit";
		if (u->n > 1)
			add_dispatch(c, u);
		return true;
	}
	if (u->uses_args || t->unit_kind || streq(t->group, "syscalls")) {
		u->prog_type = BPF_PROG_TYPE_TRACEPOINT;
		u->mode = TP_PERF;
	}
	return true;
}

/* A word of the user's registers at a system call. */
static void syscall_arg(struct gen *g, u32 i, struct val *ret)
{
	struct val tmp = gen_temp(g, 8);
	vreg regs = ir_load(&g->ir, BPF_DW, g->ctx, 0), rc;

	ir_alui(&g->ir, BPF_ADD, regs, cpu_syscall_argument(i));
	rc = IR_CALLV(&g->ir, BPF_FUNC_probe_read_kernel, gen_addr_arg(g, &tmp), ARG_IMM(8),
		      ARG_REG(regs));
	gen_count_negative(g, rc, COUNTER_READ_KERNEL);
	*ret = gen_reg(ir_load(&g->ir, BPF_DW, tmp.reg, tmp.off));
}

static bool emit_field(struct gen *g, const struct field *f, struct val *ret)
{
	u32 i = (f->offset - 2 * TP_COMMON) / 8;

	if (g->u->mode == TP_PERF || g->u->mode == TP_RAW)
		return false;
	if (f->offset < 2 * TP_COMMON && g->u->mode == TP_SYS_ENTER) {
		*ret = gen_reg(ir_load(&g->ir, BPF_DW, g->ctx, 8));
	} else if (f->offset < 2 * TP_COMMON) {
		*ret = gen_reg(ir_imm(&g->ir, (s64)g->target->extra));
	} else if (g->u->mode == TP_SYS_EXIT) {
		*ret = gen_reg(ir_load(&g->ir, BPF_DW, g->ctx, 8));
	} else if (i < 6) {
		syscall_arg(g, i, ret);
	} else {
		return false;
	}
	return true;
}

/* --- attaching -------------------------------------------------------------------------------- */

static int attach_perf(const struct attach_ctx *a, const struct target *t, int prog_fd)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_TRACEPOINT,
					.size = sizeof(attr),
					.sample_period = 1,
					.wakeup_events = 1 };
	u64 id;
	int fd, rc;

	rc = tracefs_event_id(&a->run->c->tracefs, t->group, t->event, &id, a->err);
	if (rc < 0)
		return rc;
	attr.config = id;
	fd = perfsys_open(&attr, -1, 0, -1, 0);
	if (fd < 0)
		return err_sys(a->err, -fd, "cannot attach to '%s'", t->name);
	run_keep(a->run, fd, true);
	rc = perfsys_set_bpf(fd, prog_fd);
	if (rc < 0)
		return err_sys(a->err, -rc, "cannot attach to '%s'", t->name);
	if (ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) < 0)
		return err_sys(a->err, errno, "cannot enable '%s'", t->name);
	return 0;
}

static int fill_dispatch(const struct attach_ctx *a)
{
	int map = a->run->map_fds.items[a->unit->dispatch_map - 1];

	for (u32 i = 0; i < a->unit->n; i++) {
		u32 target = a->unit->first + i, value = target + 1;
		u32 key = (u32)a->run->c->targets.items[target].extra;
		int rc = key < CPU_MAX_SYSCALL ? bpfsys_map_update(map, &key, &value, BPF_ANY) : 0;

		if (rc < 0)
			return err_sys(a->err, -rc, "cannot fill the table of system calls");
	}
	return 0;
}

/* The event has no raw tracepoint of its name: the same code on the perf event. */
static int attach_otherwise(const struct attach_ctx *a, const struct target *t)
{
	struct bpfsys_prog prog = {
		.type = BPF_PROG_TYPE_TRACEPOINT,
		.insns = a->unit->code.insns.items,
		.n_insns = a->unit->code.insns.len,
		.name = "fathom",
	};
	int fd = bpfsys_prog_load(&prog);

	if (fd < 0)
		return err_sys(a->err, -fd, "cannot load the program of '%s'", t->name);
	run_keep(a->run, fd, false);
	return attach_perf(a, t, fd);
}

static int attach(const struct attach_ctx *a)
{
	const struct unit *u = a->unit;

	if (u->dispatch_map || u->mode == TP_SYS_ENTER || u->mode == TP_SYS_EXIT) {
		int rc = u->dispatch_map ? fill_dispatch(a) : 0;
		int fd = rc < 0 ? rc : bpfsys_raw_tracepoint_open(a->prog_fd, u->raw_name);

		if (fd < 0)
			return err_sys(a->err, -fd, "cannot attach to '%s'", u->raw_name);
		run_keep(a->run, fd, false);
		return 0;
	}
	for (u32 i = 0; i < u->n; i++) {
		const struct target *t = &a->run->c->targets.items[u->first + i];
		int fd, rc;

		if (u->mode == TP_PERF) {
			rc = attach_perf(a, t, a->prog_fd);
		} else {
			fd = bpfsys_raw_tracepoint_open(a->prog_fd, t->event);
			rc = fd < 0 ? attach_otherwise(a, t) : 0;
			if (fd >= 0)
				run_keep(a->run, fd, false);
		}
		if (rc < 0)
			return rc;
	}
	return 0;
}

static void list_one(void *ctx, const char *group, const char *event)
{
	_cleanup_free_ char *name = xasprintf("%s:%s", group, event);

	provider_list_name(ctx, name);
}

static void list(struct comp *c, const char *pattern, void (*each)(void *ctx, const char *name),
		 void *ctx)
{
	struct provider_listing l = { "tracepoint", each, ctx };

	(void)pattern;
	each_tracepoint(c, "*", "*", list_one, &l);
}

const struct provider probe_tracepoint = {
	.name = "tracepoint",
	.aliases = "t",
	.flags = PROBE_ARGS,
	.expand = expand,
	.prepare = prepare,
	.emit_field = emit_field,
	.attach = attach,
	.list = list,
};

/* --- raw tracepoints, typed by BTF ------------------------------------------------------------ */

/* Functions that have the tracepoint's parameters with their names. */
static u32 named_prototype(struct comp *c, struct kbtf *btf, const char *event)
{
	static const char *const prefixes[] = { "__traceiter_", "__probestub_", "__bpf_trace_" };
	u32 id = 0;

	for (size_t i = 0; !id && i < ARRAY_SIZE(prefixes); i++)
		id = kbtf_find(btf, BTF_KIND_FUNC,
			       arena_printf(&c->arena, "%s%s", prefixes[i], event));
	return id;
}

/* The arguments of a raw tracepoint: words of the context, with the types of its prototype. */
static const struct type *raw_args(struct comp *c, const char *event)
{
	struct kbtf *btf = types_btf(&c->types);
	u32 id = btf ? kbtf_find_tracepoint(btf, event) : 0;
	const struct btf_type *t = id ? kbtf_type(btf, id) : NULL;
	struct words_source from = { .btf = btf, .skip = 1, .type_of = probe_words_kernel_type };

	if (!t)
		return NULL;
	/* typedef -> pointer -> prototype; its first parameter is not one of the tracepoint's */
	from.func = named_prototype(c, btf, event);
	if (!from.func) {
		from.func = kbtf_resolve(btf, id);
		t = kbtf_type(btf, from.func);
		if (t && kbtf_kind(t) == BTF_KIND_PTR)
			from.func = kbtf_resolve(btf, t->type);
	}
	return probe_words_args(c, &from,
				arena_printf(&c->arena, "struct _rawtracepoint_%s", event));
}

static void each_raw(struct comp *c, const char *pattern, void (*each)(void *ctx, const char *name),
		     void *ctx)
{
	struct kbtf *btf = types_btf(&c->types);

	for (u32 id = 1; btf && id <= kbtf_count(btf); id++) {
		const struct btf_type *t = kbtf_type(btf, id);
		const char *name;

		if (!t || kbtf_kind(t) != BTF_KIND_TYPEDEF)
			continue;
		name = starts_with(kbtf_name(btf, id), "btf_trace_");
		if (name && provider_match(pattern, name))
			each(ctx, name);
	}
}

static void add_raw(void *ctx, const char *event)
{
	struct expansion *x = ctx;
	struct kbtf *btf = types_btf(&x->c->types);
	bool of_kernel = x->c->opts->compat && btf && kbtf_find_tracepoint(btf, event);
	struct target *t = provider_target(x->c, x->p, x->s, "rawtracepoint:%s%s",
					   of_kernel ? "vmlinux:" : "", event);

	if (t)
		t->event = arena_strdup(&x->c->arena, event);
}

static void note_found(void *ctx, const char *group, const char *event)
{
	(void)group;
	(void)event;
	*(bool *)ctx = true;
}

/* Those of modules are not in the kernel's own type information. */
static bool raw_exists(struct comp *c, const char *event)
{
	struct kbtf *btf = types_btf(&c->types);
	bool found = !btf || kbtf_find_tracepoint(btf, event);

	if (!found)
		each_tracepoint(c, "*", event, note_found, &found);
	return found;
}

static bool raw_module_exists(const char *name)
{
	_cleanup_free_ char *path = xasprintf("/sys/module/%s", name);

	return provider_match(name, "vmlinux") || provider_is_pattern(name) ||
	       access(path, F_OK) == 0;
}

static void expand_raw(struct comp *c, const struct provider *p, const struct spec *s,
		       const char *rest)
{
	const char *event = provider_part(c, rest, 1);
	struct expansion x = { c, p, s };

	if (!event)
		event = provider_part(c, rest, 0);
	if (!*event) {
		diag_error(&c->diags, s->at, "rawtracepoint probe must have a target");
		return;
	}
	if (provider_part(c, rest, 1) && !raw_module_exists(provider_part(c, rest, 0)))
		provider_missing(c, s, p, "%s", rest);
	else if (provider_is_pattern(event))
		each_raw(c, event, add_raw, &x);
	else if (raw_exists(c, event))
		add_raw(&x, event);
	else if (!c->opts->compat || c->config.missing_probes != MISSING_ERROR)
		provider_missing(c, s, p, "%s", event);
	else
		diag_error(&c->diags, s->at,
			   "Probe has no valid attach points. If this is expected, set the "
			   "'missing_probes' config variable to 'warn'.");
}

static bool prepare_raw(struct comp *c, struct unit *u)
{
	struct target *t = &c->targets.items[u->first];

	u->prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT;
	if (u->uses_args)
		t->args = raw_args(c, t->event);
	if (u->typed_context && t->args && kbtf_is_own(c->types.btf)) {
		u->prog_type = BPF_PROG_TYPE_TRACING;
		u->attach_type = BPF_TRACE_RAW_TP;
		u->attach_btf = kbtf_find_tracepoint(c->types.btf, t->event);
	}
	return true;
}

/* Without BTF their number and types are unknown. */
static const struct type *raw_arg_type(struct comp *c, u32 n)
{
	return c->at->target->args ? probe_words_arg_type(c, n) : check_int64(c, false);
}

static int attach_raw(const struct attach_ctx *a)
{
	for (u32 i = 0; i < a->unit->n; i++) {
		const struct target *t = &a->run->c->targets.items[a->unit->first + i];
		int fd = bpfsys_raw_tracepoint_open(a->prog_fd,
						    a->unit->attach_btf ? NULL : t->event);

		if (fd < 0) {
			err_sys(a->err, -fd, "cannot attach to '%s'", t->name);
			if (fd == -ENOENT)
				err_hint(a->err, "fathom trace -l 'rawtracepoint:*' lists those of "
						 "this kernel");
			return fd;
		}
		run_keep(a->run, fd, false);
	}
	return 0;
}

static void list_raw(struct comp *c, const char *pattern, void (*each)(void *ctx, const char *name),
		     void *ctx)
{
	struct provider_listing l = { "rawtracepoint", each, ctx };

	(void)pattern;
	each_raw(c, "*", provider_list_name, &l);
}

const struct provider probe_rawtracepoint = {
	.name = "rawtracepoint",
	.aliases = "rt",
	.flags = PROBE_ARGS,
	.expand = expand_raw,
	.prepare = prepare_raw,
	.arg_type = raw_arg_type,
	.emit_arg = probe_words_arg,
	.emit_field = probe_words_field,
	.attach = attach_raw,
	.list = list_raw,
};
