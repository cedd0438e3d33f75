/* SPDX-License-Identifier: GPL-2.0-or-later */
/* User functions: uprobe, uretprobe. One link serves many functions of a file. */
#include "host/cpu.h"
#include "lang/probe/debuginfo.h"
#include "elf/find.h"
#include "elf/symbols.h"
#include "lang/gen/gen.h"
#include "lang/run/run.h"
#include "lang/probe/user.h"

#include "base/io.h"
#include "base/parse.h"
#include "base/suggest.h"
#include "host/bpf_sys.h"
#include "symbol/demangle.h"

#include <sys/ioctl.h>

/* --- finding ---------------------------------------------------------------------------------- */

struct wanted {
	const char *pattern;
	bool cpp; /* names as C++ writes them */
};

static bool is_like(const char *pattern, const char *name)
{
	return streq(pattern, name) ||
	       (provider_is_pattern(pattern) && provider_match(pattern, name));
}

/* Without parameters in the pattern, functions with any are meant. */
static bool is_like_cpp(const char *pattern, struct buf *name)
{
	const char *open;

	if (is_like(pattern, buf_str(name)))
		return true;
	open = strchr(pattern, '(') ? NULL : strchr(buf_str(name), '(');
	if (!open)
		return false;
	buf_truncate(name, (size_t)(open - name->data));
	return is_like(pattern, buf_str(name));
}

static bool matches(void *ctx, const char *name)
{
	const struct wanted *w = ctx;
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (is_like(w->pattern, name))
		return true;
	return w->cpp && starts_with(name, "_Z") && demangle(name, &text) &&
	       is_like_cpp(w->pattern, &text);
}

static const char *shown_name(struct comp *c, const struct wanted *w, const char *name)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	return w->cpp && demangle(name, &text) ? arena_strdup(&c->arena, buf_str(&text)) : name;
}

static int by_offset(const void *a, const void *b)
{
	const struct elf_function *x = a, *y = b;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void add_target(struct comp *c, const struct provider *p, const struct spec *s,
		       const char *path, const char *shown, const char *name, u64 offset)
{
	struct target *t = provider_target(c, p, s, "%s:%s:%s", p->name, shown, name);

	if (!t)
		return;
	t->group = path;
	t->event = name;
	t->value = offset;
	t->unit_kind = 1;
}

/* An offset that depends on the code: see cpu_cheap_entry(). */
#define OFFSET_CHEAP UINT64_MAX

/* Splits "name+12", "name+cheap" or "0x1234". */
static bool split_offset(struct comp *c, const struct spec *s, const char *func, char **ret_name,
			 u64 *ret_add)
{
	const char *plus = strchr(func, '+');

	*ret_add = 0;
	*ret_name = arena_strndup(&c->arena, func, plus ? (size_t)(plus - func) : strlen(func));
	if (plus && streq(plus + 1, "cheap")) {
		*ret_add = OFFSET_CHEAP;
	} else if (plus && parse_u64(plus + 1, ret_add, NULL) < 0) {
		diag_error(&c->diags, s->at, "'%s' is not an offset", plus + 1);
		return false;
	}
	return true;
}

enum { INSTRUCTION_MOST = 16, OFFSET_MOST = 1 << 20 };

/*
 * A breakpoint inside an instruction would turn it into another one and break the traced program.
 */
static bool begins_instruction(const char *path, u64 start, u64 add)
{
	_cleanup_buf_ struct buf code = BUF_INIT;
	_cleanup_close_ int fd = -1;
	u64 at = 0;
	ssize_t n;

	if (add > OFFSET_MOST || io_open_read(path, &fd, NULL) < 0)
		return false;
	n = pread(fd, buf_reserve(&code, add + INSTRUCTION_MOST), add + INSTRUCTION_MOST,
		  (off_t)start);
	while (n > 0 && at < add && at < (u64)n) {
		int len = cpu_instruction((const u8 *)code.data + at, (size_t)n - at);

		if (len <= 0)
			return false;
		at += (u64)len;
	}
	return at == add;
}

static u64 cheap_entry(const char *path, u64 start)
{
	_cleanup_close_ int fd = -1;
	u8 code[2 * INSTRUCTION_MOST];
	ssize_t n;

	if (io_open_read(path, &fd, NULL) < 0)
		return 0;
	n = pread(fd, code, sizeof(code), (off_t)start);
	return n > 0 ? cpu_cheap_entry(code, (size_t)n) : 0;
}

static bool check_offset(struct comp *c, const struct spec *s, const char *path,
			 const struct elf_function *f, u64 add)
{
	if (add && f->size && add >= f->size) {
		diag_error(&c->diags, s->at,
			   "Offset outside the function bounds ('%s' size is %llu)", f->name,
			   (unsigned long long)f->size);
		return false;
	}
	if (!f->size && !provider_is_pattern(s->text) && c->opts->compat && !c->opts->unsafe) {
		diag_error(&c->diags, s->at,
			   "Could not determine boundary for %s (symbol has size 0).", f->name);
		diag_hint(&c->diags, "Use --unsafe to force attachment. WARNING: This option could "
				     "lead to data corruption in the target process.");
		return false;
	}
	if (add && !c->opts->unsafe && !begins_instruction(path, f->offset, add)) {
		diag_error(&c->diags, s->at,
			   "Could not add uprobe into middle of instruction: %s:%s+%llu", path,
			   f->name, (unsigned long long)add);
		diag_hint(&c->diags, "Use --unsafe to force attachment. WARNING: This option could "
				     "lead to data corruption in the target process.");
		return false;
	}
	return true;
}

static int functions_of(const char *path, bool (*match)(void *ctx, const char *name), void *ctx,
			struct arena *arena, elf_functions *ret, struct err *e)
{
	_cleanup_elf_ struct elf elf = ELF_INIT;
	int rc = elf_open(path, &elf, e);

	if (rc >= 0)
		elf_list_functions(&elf, match, ctx, arena, ret);
	return rc;
}

static bool every_function(void *ctx, const char *name)
{
	(void)ctx;
	(void)name;
	return true;
}

/* A place without a name: instructions are counted from the function that it is in. */
static bool check_address(struct comp *c, const struct spec *s, const char *path, u64 offset)
{
	const struct elf_function *in = NULL;
	elf_functions all = { 0 };
	bool ok = c->opts->unsafe;

	if (ok)
		return true;
	functions_of(path, every_function, NULL, &c->arena, &all, NULL);
	vec_each(it, &all) {
		if (offset - it->offset < it->size)
			in = it;
	}
	if (in) {
		ok = check_offset(c, s, path, in, offset - in->offset);
	} else {
		diag_error(&c->diags, s->at,
			   "Could not determine instruction boundary for %s: no function is there",
			   s->text);
		diag_hint(&c->diags, "Use --unsafe to force attachment. WARNING: This option could "
				     "lead to data corruption in the target process.");
	}
	vec_release(&all);
	return ok;
}

static bool try_function(void *ctx, const char *name)
{
	suggest_try(ctx, name);
	return false;
}

static int offset_of(const char *path, u64 vaddr, u64 *ret, struct err *e)
{
	_cleanup_elf_ struct elf elf = ELF_INIT;
	int rc = elf_open(path, &elf, e);

	if (rc >= 0 && !segments_offset(elf.segments, elf.segment_count, vaddr, ret))
		return err_set(e, ENOENT, "address 0x%llx is not in '%s'",
			       (unsigned long long)vaddr, path);
	return rc;
}

static void no_function(struct comp *c, const struct provider *p, const struct spec *s,
			const char *path, const char *name)
{
	elf_functions none = { 0 };
	struct suggestion near;

	provider_missing(c, s, p, "%s:%s", path, name);
	suggest_init(&near, name);
	functions_of(path, try_function, &near, &c->arena, &none, NULL);
	vec_release(&none);
	if (near.best[0])
		diag_hint(&c->diags, "did you mean '%s'?", near.best);
}

/* Libraries that glibc 2.34 left empty: what they had is in libc. */
static const char *merged_into(struct comp *c, const char *path)
{
	static const char *const empty[] = { "libpthread.so", "libdl.so", "librt.so",
					     "libutil.so" };
	const char *slash = strrchr(path, '/');

	for (size_t i = 0; i < ARRAY_SIZE(empty); i++) {
		if (starts_with(slash ? slash + 1 : path, empty[i]))
			return elf_find("libc", &c->arena);
	}
	return NULL;
}

static void expand_functions(struct comp *c, const struct provider *p, const struct spec *s,
			     const char *path, const char *shown, const char *func, bool cpp)
{
	elf_functions list = { 0 };
	struct wanted w = { .cpp = cpp || strstr(func, "::") || strchr(func, '(') };
	struct err e = ERR_INIT;
	u64 add, last = UINT64_MAX, address, offset;
	const char *other;
	char *name;

	if (!split_offset(c, s, func, &name, &add))
		return;
	if (parse_u64(name, &address, NULL) == 0) {
		if (offset_of(path, address, &offset, &e) < 0)
			diag_error(&c->diags, s->at, "%s", e.what);
		else if (check_address(c, s, path, offset))
			add_target(c, p, s, path, shown, name, offset);
		err_release(&e);
		return;
	}
	w.pattern = name;
	if (functions_of(path, matches, &w, &c->arena, &list, &e) < 0) {
		provider_missing(c, s, p, "%s:%s", path, name);
		diag_hint(&c->diags, "%s", e.what);
		err_release(&e);
		vec_release(&list);
		return;
	}
	vec_sort(&list, by_offset);
	vec_each(it, &list) {
		u64 at = add == OFFSET_CHEAP ? cheap_entry(path, it->offset) : add;

		if (it->offset == last) /* an alias, or in both tables */
			continue;
		last = it->offset;
		if (!check_offset(c, s, path, it, at))
			break;
		add_target(c, p, s, path, shown, shown_name(c, &w, it->name), it->offset + at);
	}
	other = list.len ? NULL : merged_into(c, path);
	if (other)
		expand_functions(c, p, s, other, other, func, cpp);
	else if (!list.len && !provider_is_pattern(name))
		no_function(c, p, s, path, name);
	vec_release(&list);
}

const char *user_path(struct comp *c, const struct spec *s, const char *name)
{
	const char *path;

	path = elf_find(name, &c->arena);
	if (!path)
		diag_error(&c->diags, s->at,
			   "uprobe target file '%s' does not exist or is not "
			   "executable",
			   name);
	return path;
}

static int by_number(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* FILE@SOURCE:LINE */
static void expand_line(struct comp *c, const struct provider *p, const struct spec *s,
			const char *rest, const char *at)
{
	const char *source = at + 1, *colon = strchr(source, ':');
	const char *path = user_path(c, s, arena_strndup(&c->arena, rest, (size_t)(at - rest)));
	offset_list list = { 0 };
	u64 line, last = UINT64_MAX;

	if (!path)
		return;
	if (!colon || parse_u64_range(arena_strndup(&c->arena, colon + 1, strcspn(colon + 1, ":")),
				      1, INT32_MAX, &line, NULL) < 0) {
		diag_error(&c->diags, s->at, "'%s' does not name a line", source);
		diag_hint(&c->diags, "the form is %s:FILE@SOURCE:LINE", p->name);
		return;
	}
	debuginfo_line(c, path, arena_strndup(&c->arena, source, (size_t)(colon - source)),
		       (u32)line, &list);
	vec_sort(&list, by_number);
	vec_each(it, &list) {
		if (*it != last)
			add_target(c, p, s, path, path, source, *it);
		last = *it;
	}
	if (!list.len) {
		provider_missing(c, s, p, "%s@%s", path, source);
		diag_hint(&c->diags, "there is no debug information for this line");
	}
	vec_release(&list);
}

/* A pattern of files: those that have such a function. */
static void expand_files(struct comp *c, const struct provider *p, const struct spec *s,
			 const char *file, const char *func, bool cpp)
{
	struct wanted w = { .pattern = func, .cpp = cpp || strstr(func, "::") };
	elf_paths paths = { 0 };

	user_files(c, file, &paths);
	vec_each(it, &paths) {
		elf_functions found = { 0 };

		if (functions_of(*it, matches, &w, &c->arena, &found, NULL) >= 0 && found.len)
			expand_functions(c, p, s, *it, *it, func, cpp);
		vec_release(&found);
	}
	vec_release(&paths);
}

static void expand(struct comp *c, const struct provider *p, const struct spec *s, const char *rest)
{
	const char *func = strchr(rest, ':'), *at = strchr(rest, '@'), *path, *file;
	bool cpp;

	if (at && func && at < func) {
		expand_line(c, p, s, rest, at);
		return;
	}
	if (!func && c->opts->exe) { /* with -p and -c the file may be left out */
		expand_functions(c, p, s, c->opts->exe, c->opts->exe, rest, false);
		return;
	}
	if (!func || !func[1]) {
		diag_error(&c->diags, s->at, "%s probe type requires 2 or 3 arguments, found %u",
			   p->name, provider_parts(rest));
		diag_hint(&c->diags, "the form is %s:FILE:FUNCTION", p->name);
		return;
	}
	cpp = starts_with(func + 1, "cpp:");
	file = arena_strndup(&c->arena, rest, (size_t)(func - rest));
	if (provider_is_pattern(file)) {
		expand_files(c, p, s, file, func + (cpp ? 5 : 1), cpp);
		return;
	}
	path = user_path(c, s, file);
	if (path)
		expand_functions(c, p, s, path, path, func + (cpp ? 5 : 1), cpp);
}

/* --- programs --------------------------------------------------------------------------------- */

/* A link for many functions exists: asked by a request that is wrong in another way. */
static bool has_multi(void)
{
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	struct bpfsys_prog prog = { .type = BPF_PROG_TYPE_KPROBE,
				    .expected_attach_type = BPFSYS_ATTACH_UPROBE_MULTI,
				    .insns = insns,
				    .n_insns = ARRAY_SIZE(insns) };
	u64 offset = 1;
	struct bpfsys_uprobes probes = { .path = "/", .offsets = &offset, .count = 1 };
	int fd = bpfsys_prog_load(&prog), rc;

	if (fd < 0)
		return false;
	rc = bpfsys_link_uprobes(fd, BPFSYS_ATTACH_UPROBE_MULTI, &probes);
	close(fd);
	if (rc >= 0)
		close(rc);
	return rc == -EBADF; /* "/" is not a file, but the kind of link is known */
}

static bool is_args(const struct node *n, void *ctx)
{
	(void)ctx;
	return n->kind == N_IDENT && streq(n->str, "args");
}

/* What the debug information says about parameters; looked up only if it is needed. */
static bool prepare_entry(struct comp *c, struct unit *u)
{
	const struct probe *p = &c->prog.probes.items[u->probe];
	bool listing = !p->specs.len;

	for (u32 i = u->first; i < u->first + u->n; i++) {
		struct target *t = &c->targets.items[i];

		if (listing || node_any(p->body, is_args, NULL) ||
		    node_any(p->predicate, is_args, NULL))
			t->args = debuginfo_params(c, t->group, t->value);
	}
	return user_prepare(c, u);
}

bool user_prepare(struct comp *c, struct unit *u)
{
	if (!c->uprobe_multi)
		c->uprobe_multi = has_multi() ? 1 : 2;
	u->prog_type = BPF_PROG_TYPE_KPROBE;
	if (c->uprobe_multi == 1) {
		u->attach_type = BPFSYS_ATTACH_UPROBE_MULTI;
		u->mode = USER_MULTI;
		u->checks_stop = true;
		/* The kernel's own way to user stacks may not sleep on all kernels. */
		if (u->reads_user && (!u->uses_stack || (c->config.cfi_stacks && !c->no_unwinder)))
			u->prog_flags = BPF_F_SLEEPABLE;
	}
	return true;
}

static const struct type *arg_type(struct comp *c, u32 n)
{
	return cpu_argument(n) >= 0 ? type_int(&c->types, 8, false) : NULL;
}

static void emit_arg(struct gen *g, u32 n, struct val *ret)
{
	*ret = gen_reg(ir_load(&g->ir, BPF_DW, g->ctx, cpu_argument(n)));
}

static bool emit_field(struct gen *g, const struct field *f, struct val *ret)
{
	struct val tmp;
	vreg r;

	if (f->offset < DEBUGINFO_STACK) {
		r = ir_load(&g->ir, BPF_DW, g->ctx, cpu_argument(f->offset));
	} else {
		tmp = gen_temp(g, 8);
		ir_storei(&g->ir, BPF_DW, tmp.reg, tmp.off, 0);
		r = ir_load(&g->ir, BPF_DW, g->ctx, cpu_stack_pointer());
		/* above the return address */
		ir_alui(&g->ir, BPF_ADD, r, 8 + 8 * (s32)(f->offset - DEBUGINFO_STACK));
		gen_read(g, &tmp, 8, r, SPACE_USER);
		r = ir_load(&g->ir, BPF_DW, tmp.reg, tmp.off);
	}
	if (f->type->kind == T_INT && f->type->size < 8)
		ir_extend(&g->ir, r, f->type->size, f->type->is_signed);
	*ret = gen_reg(r);
	return true;
}

static const struct type *retval_type(struct comp *c)
{
	return type_int(&c->types, 8, false);
}

static void emit_retval(struct gen *g, struct val *ret)
{
	*ret = gen_reg(ir_load(&g->ir, BPF_DW, g->ctx, cpu_result()));
}

/* --- attaching -------------------------------------------------------------------------------- */

static int attach_multi(const struct attach_ctx *a, const struct target *t, u32 n, bool is_return)
{
	u64 *offsets = xcalloc(n, 8), *cookies = xcalloc(n, 8), *counters = xcalloc(n, 8);
	struct bpfsys_uprobes probes = { .path = t->group,
					 .offsets = offsets,
					 .cookies = cookies,
					 .count = n,
					 .pid = t->pid,
					 .flags = is_return ? BPFSYS_UPROBE_MULTI_RETURN : 0 };
	int fd;

	for (u32 i = 0; i < n; i++) {
		offsets[i] = t[i].value;
		cookies[i] = (u64)(t - a->run->c->targets.items) + i;
		counters[i] = t[i].extra;
		if (t[i].extra)
			probes.ref_ctr_offsets = counters;
	}
	fd = bpfsys_link_uprobes(a->prog_fd, BPFSYS_ATTACH_UPROBE_MULTI, &probes);
	free(offsets);
	free(cookies);
	free(counters);
	if (fd < 0) {
		err_sys(a->err, -fd, "cannot attach to '%s'%s", t->name,
			n > 1 ? " and others" : "");
		if (fd == -ESRCH)
			err_hint(a->err, "process %u is gone", t->pid);
		return fd;
	}
	run_keep(a->run, fd, true);
	return 0;
}

static int pmu_type(const char *name)
{
	char path[64];
	u64 type;
	int r;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", name);
	r = io_read_u64(path, &type, NULL);
	return r < 0 ? r : (int)type;
}

static int attach_perf(const struct attach_ctx *a, const struct target *t, bool is_return)
{
	struct perf_event_attr attr = { .size = sizeof(attr),
					.sample_period = 1,
					.wakeup_events = 1 };
	int type = pmu_type("uprobe"), fd, rc;

	if (type < 0)
		return err_sys(a->err, -type, "this kernel has no uprobes");
	attr.type = (u32)type;
	attr.config = (is_return ? 1 : 0) | t->extra << 32;
	attr.uprobe_path = (u64)(uintptr_t)t->group;
	attr.probe_offset = t->value;
	fd = perfsys_open(&attr, t->pid ? (int)t->pid : -1, t->pid ? -1 : 0, -1, 0);
	if (fd < 0)
		return err_sys(a->err, -fd, "cannot attach to '%s'", t->name);
	run_keep(a->run, fd, true);
	rc = bpfsys_link_create(a->prog_fd, fd, BPF_PERF_EVENT,
				(u64)(t - a->run->c->targets.items));
	if (rc >= 0)
		run_keep(a->run, rc, false);
	else
		rc = perfsys_set_bpf(fd, a->prog_fd);
	if (rc < 0)
		return err_sys(a->err, -rc, "cannot attach to '%s'", t->name);
	return ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) < 0 ? -errno : 0;
}

int user_attach(const struct attach_ctx *a, bool is_return)
{
	const struct target *t = &a->run->c->targets.items[a->unit->first];
	u32 n = a->unit->n;

	for (u32 i = 0; i < n;) {
		u32 same = 1;
		int rc;

		while (i + same < n && streq(t[i].group, t[i + same].group))
			same++;
		if (a->unit->mode != USER_MULTI)
			same = 1;
		rc = a->unit->mode == USER_MULTI ? attach_multi(a, &t[i], same, is_return)
						 : attach_perf(a, &t[i], is_return);
		if (rc < 0)
			return rc;
		i += same;
	}
	return 0;
}

static int attach_entry(const struct attach_ctx *a)
{
	return user_attach(a, false);
}

static int attach_return(const struct attach_ctx *a)
{
	return user_attach(a, true);
}

static bool list_one(void *ctx, const char *name)
{
	provider_list_name(ctx, name);
	return false;
}

/* FILE:PATTERN, or all that the process of -p has mapped: there is no list of all files. */
static void list_user(struct comp *c, const struct provider *p, const char *pattern,
		      void (*each)(void *ctx, const char *name), void *ctx)
{
	const char *rest = strchr(pattern, ':');
	elf_functions none = { 0 };
	elf_paths paths = { 0 };

	if (!rest && !c->opts->pid)
		return;
	rest = rest ? arena_strndup(&c->arena, rest + 1, strcspn(rest + 1, ":")) : "*";
	user_files(c, rest, &paths);
	vec_each(it, &paths) {
		struct provider_listing l = { .each = each, .ctx = ctx };

		l.prefix = arena_printf(&c->arena, "%s:%s", p->name,
					provider_is_pattern(rest) ? *it : rest);
		functions_of(*it, list_one, &l, &c->arena, &none, NULL);
	}
	vec_release(&paths);
}

static void list_entry(struct comp *c, const char *pattern,
		       void (*each)(void *ctx, const char *name), void *ctx)
{
	list_user(c, &probe_uprobe, pattern, each, ctx);
}

static void list_return(struct comp *c, const char *pattern,
			void (*each)(void *ctx, const char *name), void *ctx)
{
	if (strchr(pattern, ':'))
		list_user(c, &probe_uretprobe, pattern, each, ctx);
}

const struct provider probe_uprobe = {
	.name = "uprobe",
	.aliases = "u",
	.flags = PROBE_USER | PROBE_REGS | PROBE_ARGS | PROBE_NAMED,
	.expand = expand,
	.prepare = prepare_entry,
	.emit_field = emit_field,
	.arg_type = arg_type,
	.emit_arg = emit_arg,
	.attach = attach_entry,
	.list = list_entry,
};

const struct provider probe_uretprobe = {
	.name = "uretprobe",
	.aliases = "ur",
	.flags = PROBE_USER | PROBE_REGS | PROBE_RETURN | PROBE_NAMED,
	.expand = expand,
	.prepare = user_prepare,
	.retval_type = retval_type,
	.emit_retval = emit_retval,
	.attach = attach_return,
	.list = list_return,
};
