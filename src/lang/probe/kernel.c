/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernel functions: kprobe and kretprobe, fentry and fexit. */
#include "host/cpu.h"
#include "lang/gen/gen.h"
#include "lang/run/run.h"

#include "base/io.h"
#include "base/parse.h"
#include "host/bpf_sys.h"

#include <sys/ioctl.h>

enum { KP_PERF, KP_MULTI, KP_ATTACH_MULTI = 42, KP_MAX_LIST = 64 << 20 };

/* --- finding ---------------------------------------------------------------------------------- */

static void each_btf_function(struct comp *c, const char *pattern,
			      void (*each)(void *ctx, const char *name), void *ctx)
{
	struct kbtf *btf = types_btf(&c->types);

	for (u32 id = 1; btf && id <= kbtf_count(btf); id++) {
		const struct btf_type *t = kbtf_type(btf, id);

		if (t && kbtf_kind(t) == BTF_KIND_FUNC &&
		    provider_match(pattern, kbtf_name(btf, id)))
			each(ctx, kbtf_name(btf, id));
	}
}

/* What the function tracer knows can be probed; without it what BTF knows. */
static void each_function(struct comp *c, const char *pattern,
			  void (*each)(void *ctx, const char *name), void *ctx)
{
	struct buf text = BUF_INIT;
	char *save = NULL;

	if (!comp_tracefs(c))
		return;
	if (tracefs_read(&c->tracefs, "available_filter_functions", KP_MAX_LIST, &text, NULL) < 0 ||
	    !text.len) {
		buf_release(&text);
		each_btf_function(c, pattern, each, ctx);
		return;
	}
	for (char *line = strtok_r(text.data, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		line[strcspn(line, " \t")] = 0;
		if (provider_match(pattern, line))
			each(ctx, line);
	}
	buf_release(&text);
}

struct expansion {
	struct comp *c;
	const struct provider *p;
	const struct spec *s;
	u64 offset;
};

static const struct provider fentry_by_kprobe, fexit_by_kprobe;

static int pmu_type(void)
{
	u64 type;
	int r = io_read_u64("/sys/bus/event_source/devices/kprobe/type", &type, NULL);

	return r < 0 ? r : (int)type;
}

static bool is_fentry(const struct provider *p)
{
	return p == &probe_fentry || p == &probe_fexit;
}

/* Does a program on the entry of a function load? Some kernels have kprobes only. */
static bool fentry_loads(struct comp *c, u32 func)
{
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	const struct bpfsys_prog prog = { .type = BPF_PROG_TYPE_TRACING,
					  .expected_attach_type = BPF_TRACE_FENTRY,
					  .attach_btf_id = func,
					  .insns = insns,
					  .n_insns = ARRAY_SIZE(insns) };

	if (!c->fentry) {
		int fd = bpfsys_prog_load(&prog);

		c->fentry = fd >= 0 ? 1 : 2;
		if (fd >= 0)
			close(fd);
	}
	return c->fentry == 1;
}

/*
 * A function is probed by what the kernel has: a kprobe without offset by fentry where there are no
 * kprobes, fentry by a kprobe, with the types that BTF gives, where fentry does not load.
 */
static const struct provider *served_by(const struct expansion *x, const char *name)
{
	struct kbtf *btf = types_btf(&x->c->types);
	u32 func = btf ? kbtf_find(btf, BTF_KIND_FUNC, name) : 0;
	u64 mode = x->c->config.kernel_probes;
	bool wants_fentry = is_fentry(x->p);

	if (!func || x->offset)
		return x->p;
	if (!wants_fentry && (mode == KERNEL_FENTRY ||
			      (mode == KERNEL_AUTO && pmu_type() < 0 && fentry_loads(x->c, func))))
		return x->p == &probe_kprobe ? &probe_fentry : &probe_fexit;
	if (wants_fentry && (mode == KERNEL_KPROBE ||
			     (mode == KERNEL_AUTO && pmu_type() >= 0 && !fentry_loads(x->c, func))))
		return x->p == &probe_fentry ? &fentry_by_kprobe : &fexit_by_kprobe;
	return x->p;
}

bool probe_kernel_possible(struct comp *c, const char *function)
{
	struct kbtf *btf = types_btf(&c->types);
	u32 func = btf ? kbtf_find(btf, BTF_KIND_FUNC, function) : 0;

	return func && (pmu_type() >= 0 || fentry_loads(c, func));
}

static void add_target(void *ctx, const char *name)
{
	struct expansion *x = ctx;
	struct target *t;

	t = provider_target(x->c, x->p, x->s, "%s:%s", x->p->name, name);
	if (!t)
		return;
	t->provider = served_by(x, name);
	if (t->provider != x->p && is_fentry(t->provider))
		t->unit_kind = (u32)x->c->targets.len;
	t->event = arena_strdup(&x->c->arena, name);
	t->value = x->offset;
	if (x->offset)
		t->name = arena_printf(&x->c->arena, "%s+%llu", t->name,
				       (unsigned long long)x->offset);
}

/* The kernel itself, a module that is loaded, or any that matches. */
static bool module_exists(const char *name)
{
	_cleanup_free_ char *path = xasprintf("/sys/module/%s", name);

	return provider_is_pattern(name) || streq(name, "vmlinux") || starts_with(name, "bpf") ||
	       access(path, F_OK) == 0;
}

/* bpftrace looks before it attaches. */
static bool is_missing(struct comp *c, const struct provider *p, const char *name)
{
	struct kbtf *btf = types_btf(&c->types);

	return c->opts->compat && !is_fentry(p) && !(btf && kbtf_find(btf, BTF_KIND_FUNC, name)) &&
	       !comp_kernel_symbol(name);
}

static void expand(struct comp *c, const struct provider *p, const struct spec *s, const char *rest)
{
	struct expansion x = { c, p, s, 0 };
	const char *colon = strrchr(rest, ':'), *plus;
	char *name = arena_strdup(&c->arena, colon ? colon + 1 : rest);

	if (!*name) {
		diag_error(&c->diags, s->at, "%s probe type requires 1 or 2 arguments, found %u",
			   p->name, provider_parts(rest));
		return;
	}
	if (colon && !module_exists(arena_strndup(&c->arena, rest, (size_t)(colon - rest)))) {
		diag_error(&c->diags, s->at, "specified module %.*s in probe %s:%s is not loaded.",
			   (int)(colon - rest), rest, p->name, rest);
		return;
	}
	if (starts_with(rest, "bpf:")) {
		diag_error(&c->diags, s->at, "the kernel has no %s in BPF programs", p->name);
		diag_hint(&c->diags, "fentry:%s and fexit:%s do the same there", rest, rest);
		return;
	}
	plus = strchr(name, '+');
	if (plus) {
		if (parse_u64(plus + 1, &x.offset, NULL) < 0 || p != &probe_kprobe) {
			diag_error(&c->diags, s->at, "'%s' is not an offset that %s can have",
				   plus + 1, p->name);
			return;
		}
		name[plus - name] = 0;
	}
	if (provider_is_pattern(name))
		each_function(c, name, add_target, &x);
	else if (is_missing(c, p, name))
		provider_missing(c, s, p, "%s", name);
	else
		add_target(&x, name);
}

/* --- kprobes ---------------------------------------------------------------------------------- */

static bool prepare_kprobe(struct comp *c, struct unit *u)
{
	(void)c;
	u->prog_type = BPF_PROG_TYPE_KPROBE;
	if (u->n > 1) {
		u->attach_type = KP_ATTACH_MULTI;
		u->mode = KP_MULTI;
	}
	return true;
}

static const struct type *kernel_arg_type(struct comp *c, u32 n)
{
	return cpu_argument(n) >= 0 ? type_int(&c->types, 8, false) : NULL;
}

static void emit_arg(struct gen *g, u32 n, struct val *ret)
{
	*ret = gen_reg(ir_load(&g->ir, BPF_DW, g->ctx, cpu_argument(n)));
}

static const struct type *retval_type(struct comp *c)
{
	return type_int(&c->types, 8, false);
}

static void emit_retval(struct gen *g, struct val *ret)
{
	*ret = gen_reg(ir_load(&g->ir, BPF_DW, g->ctx, cpu_result()));
}

static int attach_one(const struct attach_ctx *a, int prog_fd, const struct target *t,
		      bool is_return)
{
	struct perf_event_attr attr = { .size = sizeof(attr),
					.sample_period = 1,
					.wakeup_events = 1 };
	int type = pmu_type(), fd, rc;

	if (type < 0) {
		err_set(a->err, ENOTSUP, "cannot attach to '%s': this kernel has no kprobes",
			t->name);
		err_hint(a->err, "fathom trace -l 'tracepoint:*' lists what it has instead");
		return -ENOTSUP;
	}
	attr.type = (u32)type;
	attr.config = is_return;
	attr.kprobe_func = (u64)(uintptr_t)t->event;
	attr.probe_offset = t->value;
	fd = perfsys_open(&attr, -1, 0, -1, 0);
	if (fd < 0) {
		err_sys(a->err, -fd, "cannot attach to '%s'", t->name);
		if (fd == -ENOENT || fd == -EINVAL)
			err_hint(a->err, "this kernel has no such function, or it cannot "
					 "be probed");
		return fd;
	}
	run_keep(a->run, fd, true);
	/* A link tells the program which target it is; older kernels have none for events. */
	rc = bpfsys_link_create(prog_fd, fd, BPF_PERF_EVENT, (u64)(t - a->run->c->targets.items));
	if (rc >= 0)
		run_keep(a->run, rc, false);
	else
		rc = perfsys_set_bpf(fd, prog_fd);
	if (rc < 0)
		return err_sys(a->err, -rc, "cannot attach to '%s'", t->name);
	return ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) < 0 ? -errno : 0;
}

/* No link for many functions: the same code again, one event for each. */
static int attach_each(const struct attach_ctx *a, bool is_return)
{
	const struct target *t = &a->run->c->targets.items[a->unit->first];
	struct bpfsys_prog prog = {
		.type = BPF_PROG_TYPE_KPROBE,
		.insns = a->unit->code.insns.items,
		.n_insns = a->unit->code.insns.len,
		.name = "fathom",
	};
	int fd = bpfsys_prog_load(&prog);
	u32 attached = 0;

	if (fd < 0)
		return err_sys(a->err, -fd, "cannot load the program of '%s'", t->name);
	run_keep(a->run, fd, false);
	for (u32 i = 0; i < a->unit->n; i++) {
		err_release(a->err);
		if (attach_one(a, fd, &t[i], is_return) == 0)
			attached++;
	}
	if (!attached)
		return a->err->code ? -a->err->code : -ENOENT;
	a->run->left_out += a->unit->n - attached;
	err_release(a->err);
	return 0;
}

static int attach_kprobes(const struct attach_ctx *a, bool is_return)
{
	const struct target *t = &a->run->c->targets.items[a->unit->first];
	u32 n = a->unit->n;
	const char **names;
	u64 *cookies;
	struct bpfsys_kprobes probes = { .count = n, .flags = is_return };
	int fd;

	if (a->unit->mode != KP_MULTI)
		return attach_one(a, a->prog_fd, t, is_return);
	names = xcalloc(n, sizeof(char *));
	cookies = xcalloc(n, sizeof(u64));
	for (u32 i = 0; i < n; i++) {
		names[i] = t[i].event;
		cookies[i] = a->unit->first + i;
	}
	probes.symbols = names;
	probes.cookies = cookies;
	fd = bpfsys_link_kprobes(a->prog_fd, KP_ATTACH_MULTI, &probes);
	free(names);
	free(cookies);
	/* ESRCH: one of them does not exist or cannot be probed, and so none is. */
	if (fd == -EOPNOTSUPP || fd == -EINVAL || fd == -ESRCH)
		return attach_each(a, is_return);
	if (fd < 0)
		return err_sys(a->err, -fd, "cannot attach to %u functions such as '%s'", n,
			       t->name);
	run_keep(a->run, fd, false);
	return 0;
}

static int attach_entry(const struct attach_ctx *a)
{
	return attach_kprobes(a, false);
}

static int attach_return(const struct attach_ctx *a)
{
	return attach_kprobes(a, true);
}

static void list_kprobe(struct comp *c, const char *pattern,
			void (*each)(void *ctx, const char *name), void *ctx)
{
	struct provider_listing l = { "kprobe", each, ctx };

	(void)pattern;
	if (pmu_type() >= 0)
		each_function(c, "*", provider_list_name, &l);
}

/* Where the entry of a function is, its end is as well: only on request. */
static void list_kretprobe(struct comp *c, const char *pattern,
			   void (*each)(void *ctx, const char *name), void *ctx)
{
	struct provider_listing l = { "kretprobe", each, ctx };

	if (pmu_type() >= 0 && pattern[0] != '*')
		each_function(c, "*", provider_list_name, &l);
}

const struct provider probe_kprobe = {
	.name = "kprobe",
	.aliases = "k",
	.flags = PROBE_REGS | PROBE_NAMED,
	.expand = expand,
	.prepare = prepare_kprobe,
	.arg_type = kernel_arg_type,
	.emit_arg = emit_arg,
	.attach = attach_entry,
	.list = list_kprobe,
};

const struct provider probe_kretprobe = {
	.name = "kretprobe",
	.aliases = "kr",
	.flags = PROBE_REGS | PROBE_RETURN | PROBE_NAMED,
	.expand = expand,
	.prepare = prepare_kprobe,
	.retval_type = retval_type,
	.emit_retval = emit_retval,
	.attach = attach_return,
	.list = list_kretprobe,
};

/* --- fentry, fexit: typed arguments ----------------------------------------------------------- */

static const struct type *function_args(struct comp *c, struct kbtf *btf, u32 func)
{
	const struct words_source from = { .btf = btf,
					   .func = func,
					   .type_of = probe_words_kernel_type };

	return probe_words_args(c, &from,
				arena_printf(&c->arena, "struct _fentry_%s", kbtf_name(btf, func)));
}

static bool prepare_fentry(struct comp *c, struct unit *u)
{
	struct target *t = &c->targets.items[u->first];
	struct kbtf *btf = types_btf(&c->types);
	u32 id = btf ? kbtf_find(btf, BTF_KIND_FUNC, t->event) : 0;

	if (!id) {
		const struct spec s = { t->name, t->at };

		provider_missing(c, &s, t->provider, "%s", t->event);
		diag_hint(&c->diags, "the kernel's type information has no such function");
		return false;
	}
	u->prog_type = BPF_PROG_TYPE_TRACING;
	u->attach_type = t->provider == &probe_fexit ? BPF_TRACE_FEXIT : BPF_TRACE_FENTRY;
	u->attach_btf = id;
	t->args = function_args(c, btf, id);
	t->extra = t->args->n_fields;
	t->unit_kind = 0;
	return true;
}

static void expand_fentry(struct comp *c, const struct provider *p, const struct spec *s,
			  const char *rest)
{
	const char *of_bpf = starts_with(rest, "bpf:");
	size_t first = c->targets.len;

	if (of_bpf)
		probe_bpf_expand(c, p, s, of_bpf);
	else
		expand(c, p, s, rest);
	/* Every function needs a program of its own. */
	for (size_t i = first; i < c->targets.len; i++)
		c->targets.items[i].unit_kind = (u32)(i + 1);
}

static const struct type *result_of(struct comp *c, u32 func)
{
	struct kbtf *btf = types_btf(&c->types);
	const struct btf_type *t = btf ? kbtf_type(btf, func) : NULL;
	const struct btf_type *proto = t ? kbtf_type(btf, t->type) : NULL;

	return proto ? type_from_btf(&c->types, proto->type, SPACE_KERNEL) : check_int64(c, true);
}

static const struct type *fexit_retval_type(struct comp *c)
{
	return result_of(c, c->at->unit->attach_btf);
}

static void fexit_retval(struct gen *g, struct val *ret)
{
	*ret = gen_reg(ir_load(&g->ir, BPF_DW, g->ctx, (s32)g->target->extra * 8));
}

int probe_fentry_attach(const struct attach_ctx *a)
{
	const struct target *t = &a->run->c->targets.items[a->unit->first];
	int fd = bpfsys_raw_tracepoint_open(a->prog_fd, NULL);

	if (fd < 0)
		return err_sys(a->err, -fd, "cannot attach to '%s'", t->name);
	run_keep(a->run, fd, false);
	return 0;
}

static void list_fentry(struct comp *c, const char *pattern,
			void (*each)(void *ctx, const char *name), void *ctx)
{
	struct provider_listing l = { "fentry", each, ctx };

	(void)pattern;
	probe_bpf_list(&l);
	if (probe_kernel_possible(c, "vfs_read"))
		each_btf_function(c, "*", provider_list_name, &l);
}

static void list_fexit(struct comp *c, const char *pattern,
		       void (*each)(void *ctx, const char *name), void *ctx)
{
	struct provider_listing l = { "fexit", each, ctx };

	if (pattern[0] == '*')
		return;
	probe_bpf_list(&l);
	if (probe_kernel_possible(c, "vfs_read"))
		each_btf_function(c, "*", provider_list_name, &l);
}

const struct provider probe_fentry = {
	.name = "fentry",
	.aliases = "f kfunc",
	.flags = PROBE_ARGS,
	.expand = expand_fentry,
	.prepare = prepare_fentry,
	.arg_type = probe_words_arg_type,
	.emit_arg = probe_words_arg,
	.emit_field = probe_words_field,
	.attach = probe_fentry_attach,
	.list = list_fentry,
};

const struct provider probe_fexit = {
	.name = "fexit",
	.aliases = "fr kretfunc",
	.flags = PROBE_ARGS,
	.expand = expand_fentry,
	.prepare = prepare_fentry,
	.arg_type = probe_words_arg_type,
	.emit_arg = probe_words_arg,
	.emit_field = probe_words_field,
	.retval_type = fexit_retval_type,
	.emit_retval = fexit_retval,
	.attach = probe_fentry_attach,
	.list = list_fexit,
};

/* --- the same by kprobes ---------------------------------------------------------------------- */

static bool prepare_by_kprobe(struct comp *c, struct unit *u)
{
	struct target *t = &c->targets.items[u->first];
	struct kbtf *btf = types_btf(&c->types);
	u32 id = btf ? kbtf_find(btf, BTF_KIND_FUNC, t->event) : 0;

	u->prog_type = BPF_PROG_TYPE_KPROBE;
	u->attach_btf = 0;
	t->extra = id;
	t->unit_kind = 0;
	/* When a function returns, its arguments are no longer in their registers. */
	if (t->provider == &fentry_by_kprobe)
		t->args = function_args(c, btf, id);
	return true;
}

static bool register_field(struct gen *g, const struct field *f, struct val *ret)
{
	int at = cpu_argument(f->offset / 8);
	vreg r;

	if (at < 0) {
		gen_fail(g, NULL, "this argument is not in a register");
		at = 0;
	}
	r = ir_load(&g->ir, BPF_DW, g->ctx, at);
	if (f->type->kind == T_INT)
		ir_extend(&g->ir, r, f->type->size, f->type->is_signed);
	*ret = gen_reg(r);
	return true;
}

static const struct type *returned_type(struct comp *c)
{
	return result_of(c, (u32)c->at->target->extra);
}

static void emit_returned(struct gen *g, struct val *ret)
{
	const struct type *t = returned_type(g->c);
	vreg r = ir_load(&g->ir, BPF_DW, g->ctx, cpu_result());

	if (t->kind == T_INT)
		ir_extend(&g->ir, r, t->size, t->is_signed);
	*ret = gen_reg(r);
}

static const struct provider fentry_by_kprobe = {
	.name = "fentry",
	.flags = PROBE_ARGS | PROBE_REGS,
	.expand = expand_fentry,
	.prepare = prepare_by_kprobe,
	.arg_type = probe_words_arg_type,
	.emit_arg = emit_arg,
	.emit_field = register_field,
	.attach = attach_entry,
};

static const struct provider fexit_by_kprobe = {
	.name = "fexit",
	.flags = PROBE_REGS | PROBE_RETURN,
	.expand = expand_fentry,
	.prepare = prepare_by_kprobe,
	.retval_type = returned_type,
	.emit_retval = emit_returned,
	.attach = attach_return,
};
