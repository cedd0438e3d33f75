/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tasks, cgroups, sockets, and what belongs to another program: user memory, paths, symbols. */
#include "host/cpu.h"
#include "elf/find.h"
#include "elf/symbols.h"
#include "lang/gen/gen.h"
#include "lang/probe/provider.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

static void emit_nothing(struct gen *g, struct node *n, struct val *ret)
{
	(void)g;
	(void)n;
	(void)ret;
}

/* --- pid(init), tid(curr_ns), comm(pid) ------------------------------------------------------- */

static void check_pid(struct comp *c, struct node *n)
{
	const struct node *a = n->kids[0];

	if (a->kind != N_IDENT || (!streq(a->str, "init") && !streq(a->str, "curr_ns")))
		check_error(c, a->kind == N_IDENT ? a : n,
			    "Invalid PID namespace mode%s%s (%s() expects curr_ns or init)",
			    a->kind == N_IDENT ? ": " : "", a->kind == N_IDENT ? a->str : "",
			    n->str);
	n->type = type_int(&c->types, 4, false);
}

/* In the namespace that we are in: the kernel asks for its device and number. */
static vreg own_namespace(struct gen *g)
{
	struct val out = gen_temp(g, 8);
	struct stat st = { 0 };
	vreg dev, ino;

	ir_storei(&g->ir, BPF_DW, out.reg, out.off, 0);
	if (stat("/proc/self/ns/pid", &st) < 0)
		return ir_imm(&g->ir, 0);
	dev = ir_imm(&g->ir, (s64)st.st_dev);
	ino = ir_imm(&g->ir, (s64)st.st_ino);
	IR_CALLV(&g->ir, BPF_FUNC_get_ns_current_pid_tgid, ARG_REG(dev), ARG_REG(ino),
		 gen_addr_arg(g, &out), ARG_IMM(8));
	/* { tid, pid } where the other helper has { pid, tid } in one word */
	return ir_load(&g->ir, BPF_DW, out.reg, out.off);
}

static void emit_pid(struct gen *g, struct node *n, struct val *ret)
{
	bool own = streq(n->kids[0]->str, "curr_ns"), tid = n->str[0] == 't';
	vreg r = own ? own_namespace(g) : ir_call(&g->ir, BPF_FUNC_get_current_pid_tgid, NULL, 0);

	if (tid)
		ir_extend(&g->ir, r, 4, false);
	else
		ir_alui(&g->ir, BPF_RSH, r, 32);
	*ret = gen_reg(r);
}

static void check_comm(struct comp *c, struct node *n)
{
	if (n->kids[0]->type->kind != T_NONE && !type_is_number(n->kids[0]->type))
		check_error(c, n, "comm() expects the number of a process");
	else if (c->opts->compat && c->at->target->provider->flags & PROBE_SPECIAL)
		check_error(c, n, "Syntax comm(PID) is not supported in this probe type: %s",
			    c->at->target->provider->name);
	n->type = type_new(&c->types, T_TASK_COMM, 8);
}

static void emit_number(struct gen *g, struct node *n, struct val *ret)
{
	*ret = gen_reg(gen_num(g, n->kids[0]));
}

/* --- cgroups, sockets ------------------------------------------------------------------------- */

static void check_cgroupid(struct comp *c, struct node *n)
{
	struct stat st = { 0 };

	n->type = check_int64(c, false);
	if (n->kids[0]->kind != N_STR) {
		check_error(c, n, "cgroupid() expects a string literal");
		return;
	}
	if (stat(n->kids[0]->str, &st) < 0)
		check_error(c, n, "Failed to retrieve cgroup id: %s: %s", n->kids[0]->str,
			    strerror(errno));
	check_fold(c, n, st.st_ino, false);
}

static struct node *field_of(struct comp *c, struct node *of, const char *name)
{
	struct node *f = arena_zalloc(&c->prog.arena, sizeof(*f));

	f->kind = N_FIELD;
	f->at = of->at;
	f->str = name;
	f->kids = arena_dup(&c->prog.arena, &of, sizeof(of));
	f->n_kids = 1;
	return f;
}

/* ppid(task), leader_comm(task): of its parent or leader; without a task they are words. */
static void check_parent(struct comp *c, struct node *n)
{
	bool leader = n->str[0] == 'l', comm = strstr(n->str, "comm");
	struct node *e = field_of(c, n->kids[0], leader ? "group_leader" : "real_parent");

	e = field_of(c, e, comm ? "comm" : leader ? "pid" : "tgid");
	*n = *e;
	check_expr(c, n);
}

/* The cookie that the kernel keeps in the socket; 0 if it was never requested. */
static void check_socket_cookie(struct comp *c, struct node *n)
{
	struct node *e = n->kids[0];

	if (c->at->target->provider->flags & PROBE_SPECIAL) {
		check_error(c, n, "socket_cookie can not be used with \"%s\" probes",
			    c->at->target->provider->name);
		check_none(c, n);
		return;
	}
	e = field_of(c, e, "__sk_common");
	e = field_of(c, e, "skc_cookie");
	e = field_of(c, e, "counter");
	*n = *e;
	check_expr(c, n);
}

static void check_kfunc(struct comp *c, struct node *n)
{
	struct kbtf *btf = types_btf(&c->types);

	n->type = check_int64(c, true);
	if (n->kids[0]->kind != N_STR)
		check_error(c, n, "%s() expects a string literal", n->str);
	else /* no function of the kernel is called, so that none is allowed */
		check_fold_bool(c, n,
				streq(n->str, "kfunc_exist") && btf &&
					kbtf_find(btf, BTF_KIND_FUNC, n->kids[0]->str));
}

/* --- user memory ------------------------------------------------------------------------------ */

static void check_write_user(struct comp *c, struct node *n)
{
	const struct type *t = n->kids[0]->type, *v = n->kids[1]->type;

	if (t->kind != T_NONE && t->kind != T_PTR)
		check_error(c, n, "write_user() expects a pointer ('%s' provided)",
			    check_type_text(c, t));
	if (v->kind == T_VOID || v->kind == T_USTACK || v->kind == T_KSTACK || type_is_agg(v))
		check_error(c, n, "write_user() cannot write a value of type '%s'",
			    check_type_text(c, v));
}

static void emit_write_user(struct gen *g, struct node *n, struct val *ret)
{
	const struct type *to = type_pointee(&g->c->types, n->kids[0]->type);
	u32 size = to->size ? to->size : n->kids[1]->type->size;
	struct val tmp = gen_temp(g, MAX(type_stored(n->kids[1]->type), ALIGN_UP(size, 8u)));
	vreg at = gen_num_copy(g, n->kids[0]), rc;

	gen_zero(g, &tmp, ALIGN_UP(size, 8u));
	gen_store(g, n->kids[1], n->kids[1]->type, &tmp, true);
	rc = IR_CALLV(&g->ir, BPF_FUNC_probe_write_user, ARG_REG(at), gen_addr_arg(g, &tmp),
		      ARG_IMM((s32)size));
	gen_count_negative(g, rc, COUNTER_READ_USER);
	*ret = (struct val){ 0 };
}

/* The place of a variable or function of the program that the probe is in. */
static void check_uaddr(struct comp *c, struct node *n)
{
	const struct target *t = c->at->target;
	u64 address = 0, probed = 0, size = 0;
	_cleanup_elf_ struct elf elf = ELF_INIT;

	n->type = type_ptr(&c->types, type_int(&c->types, 8, false), SPACE_USER);
	if (n->kids[0]->kind != N_STR) {
		check_error(c, n, "uaddr() expects a string literal");
		return;
	}
	if (t->provider != &probe_uprobe) {
		check_error(c, n, "uaddr() can only be used with uprobes");
		return;
	}
	if (elf_open(t->group, &elf, NULL) < 0 ||
	    !elf_find_symbol(&elf, n->kids[0]->str, &address, &size) ||
	    !segments_vaddr(elf.segments, elf.segment_count, t->value, &probed))
		check_error(c, n, "Could not resolve symbol: %s:%s", t->group, n->kids[0]->str);
	if (size == 1 || size == 2 || size == 4)
		n->type = type_ptr(&c->types, type_int(&c->types, (u32)size, false), SPACE_USER);
	/* Wherever the file is mapped: the distance to the probe stays. */
	n->ival = address - probed;
}

static void emit_uaddr(struct gen *g, struct node *n, struct val *ret)
{
	vreg ip = ir_load(&g->ir, BPF_DW, g->ctx, cpu_ip());

	ir_alu(&g->ir, BPF_ADD, ip, ir_imm(&g->ir, (s64)n->ival));
	*ret = gen_reg(ip);
}

/* --- variables of each CPU -------------------------------------------------------------------- */

static void check_percpu_kaddr(struct comp *c, struct node *n)
{
	struct kbtf *btf = types_btf(&c->types);

	n->type = check_int64(c, false);
	if (n->kids[0]->kind != N_STR) {
		check_error(c, n, "percpu_kaddr() expects a string literal");
		return;
	}
	n->ival = btf ? kbtf_find(btf, BTF_KIND_VAR, n->kids[0]->str) : 0;
	if (!n->ival)
		check_error(c, n, "the kernel's type information has no per-CPU variable '%s'",
			    n->kids[0]->str);
	if (n->n_kids > 1 && n->kids[1]->type->kind != T_NONE && !check_is_int(n->kids[1]))
		check_error(c, n, "percpu_kaddr() expects a number as CPU");
}

static void emit_percpu_kaddr(struct gen *g, struct node *n, struct val *ret)
{
	struct val scratch = gen_temp_scratch(g, 8);
	vreg var, p, cpu;

	if (n->n_kids > 1) {
		cpu = gen_num_copy(g, n->kids[1]);
		var = ir_btf_var(&g->ir, (u32)n->ival);
		p = IR_CALLV(&g->ir, BPF_FUNC_per_cpu_ptr, ARG_REG(var), ARG_REG(cpu));
	} else {
		var = ir_btf_var(&g->ir, (u32)n->ival);
		p = IR_CALLV(&g->ir, BPF_FUNC_this_cpu_ptr, ARG_REG(var));
	}
	/* Through memory: what comes back is a number like any other. */
	ir_store(&g->ir, BPF_DW, scratch.reg, scratch.off, p);
	*ret = gen_reg(ir_load(&g->ir, BPF_DW, scratch.reg, scratch.off));
}

/* --- path(): the name of a file --------------------------------------------------------------- */

static bool has_typed_context(const struct provider *p)
{
	return p == &probe_iter || p == &probe_fentry || p == &probe_fexit;
}

static bool is_context(const struct node *n)
{
	return n->kind == N_IDENT && (streq(n->str, "ctx") || streq(n->str, "args"));
}

/* a.b->c from the context on: only that keeps the type that the kernel wants to see. */
static bool is_member_chain(const struct node *n)
{
	while (n->kind == N_FIELD && n->ref)
		n = n->kids[0];
	return is_context(n);
}

static void check_path(struct comp *c, struct node *n)
{
	const struct node *a = n->kids[0];
	const struct type *t = a->type;

	n->type = type_str(&c->types, (u32)c->config.max_strlen);
	if (t->kind == T_NONE)
		return;
	if (!has_typed_context(c->at->target->provider))
		check_error(c, n, "path() can only be used with iter, fentry and fexit probes");
	else if (a->kind != N_FIELD || !is_member_chain(a) || t->kind == T_INT)
		check_error(c, n,
			    "path() expects a member of the arguments such as "
			    "ctx->file->f_path");
}

/* A pointer to the member, loaded by the program itself. */
static vreg member_pointer(struct gen *g, struct node *n)
{
	const struct field *f = n->ref;
	struct val v;
	vreg base, p;

	if (is_context(n->kids[0])) {
		if (!g->target->provider->emit_field(g, f, &v) || v.kind != VAL_REG)
			gen_fail(g, n, "this is not a pointer");
		return v.reg;
	}
	base = member_pointer(g, n->kids[0]);
	if (n->type->kind == T_PTR)
		return ir_load(&g->ir, BPF_DW, base, (s32)f->offset);
	p = ir_reg(&g->ir);
	ir_mov(&g->ir, p, base);
	ir_alui(&g->ir, BPF_ADD, p, (s32)f->offset);
	return p;
}

static void emit_path(struct gen *g, struct node *n, struct val *ret)
{
	vreg p, rc;

	*ret = gen_temp_scratch(g, type_stored(n->type));
	gen_zero(g, ret, type_stored(n->type));
	p = member_pointer(g, n->kids[0]);
	rc = IR_CALLV(&g->ir, BPF_FUNC_d_path, ARG_REG(p), gen_addr_arg(g, ret),
		      ARG_IMM((s32)n->type->size));
	gen_count_negative(g, rc, COUNTER_READ_KERNEL);
}

/* --- skboutput(): packets to a file ----------------------------------------------------------- */

static bool is_argument(const struct node *n)
{
	return n->kind == N_IDENT && starts_with(n->str, "arg") && n->str[3] >= '0' &&
	       n->str[3] <= '9';
}

/* skboutput(file, packet, length, offset): 0, or a negative error */
static void check_skboutput(struct comp *c, struct node *n)
{
	const struct provider *p = c->at->target->provider;
	const struct node *skb = n->kids[1];

	n->type = check_int64(c, true);
	if (n->kids[0]->kind != N_STR)
		check_error(c, n, "skboutput() expects a string literal as the name of the file");
	if (p != &probe_fentry && p != &probe_fexit && p != &probe_rawtracepoint)
		check_error(c, n,
			    "skboutput() can only be used with fentry, fexit and "
			    "rawtracepoint probes");
	else if (!is_argument(skb) && (skb->kind != N_FIELD || !is_member_chain(skb)))
		check_error(c, skb,
			    "skboutput() expects an argument of the probe such as args.skb");
	for (u32 i = 2; i < 4; i++) {
		if (n->kids[i]->type->kind != T_NONE && !check_is_int(n->kids[i]))
			check_error(c, n->kids[i], "skboutput() expects a number here");
	}
}

static u32 skb_map(struct comp *c)
{
	if (!c->skb_map)
		c->skb_map = 1 + comp_bpf_map(c, "packets", BPF_MAP_TYPE_PERF_EVENT_ARRAY, 4, 4,
					      (u32)MAX(sysconf(_SC_NPROCESSORS_CONF), 1L));
	return c->skb_map - 1;
}

static void emit_skboutput(struct gen *g, struct node *n, struct val *ret)
{
	struct event e = { .kind = EV_SKB, .fmt = n->kids[0]->str };
	struct val rec = gen_temp(g, sizeof(struct skb_record)), packet;
	s32 at = rec.off;
	vreg flags, p;

	ir_storei(&g->ir, BPF_DW, rec.reg, at + (s32)offsetof(struct skb_record, number),
		  (s32)comp_event(g->c, &e));
	ir_store(&g->ir, BPF_DW, rec.reg, at + (s32)offsetof(struct skb_record, time),
		 ir_call(&g->ir, BPF_FUNC_ktime_get_boot_ns, NULL, 0));
	flags = gen_num_copy(g, n->kids[2]);
	ir_store(&g->ir, BPF_DW, rec.reg, at + (s32)offsetof(struct skb_record, length), flags);
	ir_store(&g->ir, BPF_DW, rec.reg, at + (s32)offsetof(struct skb_record, offset),
		 gen_num(g, n->kids[3]));
	/* How much of the packet, and the ring of this CPU. */
	ir_alui(&g->ir, BPF_LSH, flags, 32);
	ir_alu(&g->ir, BPF_OR, flags, ir_imm(&g->ir, BPF_F_CURRENT_CPU));
	if (is_argument(n->kids[1])) {
		g->target->provider->emit_arg(g, (u32)(n->kids[1]->str[3] - '0'), &packet);
		p = packet.reg;
	} else {
		p = member_pointer(g, n->kids[1]);
	}
	*ret = gen_reg(IR_CALLV(&g->ir, BPF_FUNC_skb_output, ARG_REG(p),
				ARG_REG(ir_map(&g->ir, skb_map(g->c))), ARG_REG(flags),
				gen_addr_arg(g, &rec), ARG_IMM(sizeof(struct skb_record))));
}

const struct fn fn_task_table[] = {
	{ "pid", 1, 1, FN_RAW, check_pid, emit_pid },
	{ "tid", 1, 1, FN_RAW, check_pid, emit_pid },
	{ "comm", 1, 1, 0, check_comm, emit_number },
	{ "ppid", 1, 1, 0, check_parent, emit_nothing },
	{ "pcomm", 1, 1, 0, check_parent, emit_nothing },
	{ "leader_tid", 1, 1, 0, check_parent, emit_nothing },
	{ "leader_comm", 1, 1, 0, check_parent, emit_nothing },
	{ "cgroupid", 1, 1, 0, check_cgroupid, emit_nothing },
	{ "socket_cookie", 1, 1, 0, check_socket_cookie, emit_nothing },
	{ "kfunc_exist", 1, 1, 0, check_kfunc, emit_nothing },
	{ "kfunc_allowed", 1, 1, 0, check_kfunc, emit_nothing },
	{ "write_user", 2, 2, FN_STATEMENT | FN_UNSAFE, check_write_user, emit_write_user },
	{ "uaddr", 1, 1, 0, check_uaddr, emit_uaddr },
	{ "percpu_kaddr", 1, 2, 0, check_percpu_kaddr, emit_percpu_kaddr },
	{ "path", 1, 2, 0, check_path, emit_path },
	{ "skboutput", 4, 4, 0, check_skboutput, emit_skboutput },
	{ 0 },
};
