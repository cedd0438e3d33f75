/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Words with a value: pid, comm, nsecs, args ... One entry each. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/cpu.h"
#include "lang/gen/gen.h"
#include "lang/probe/provider.h"

enum { COMM_LEN = 16 };

static void check_u64(struct comp *c, struct node *n)
{
	n->type = check_int64(c, false);
}

static void check_time(struct comp *c, struct node *n)
{
	n->type = type_in_unit(&c->types, check_int64(c, false), UNIT_TIME);
}

static void check_u32(struct comp *c, struct node *n)
{
	n->type = type_int(&c->types, 4, false);
}

static vreg call0(struct gen *g, u32 helper)
{
	return ir_call(&g->ir, helper, NULL, 0);
}

static void emit_pid(struct gen *g, struct node *n, struct val *ret)
{
	vreg r = call0(g, BPF_FUNC_get_current_pid_tgid);

	(void)n;
	ir_alui(&g->ir, BPF_RSH, r, 32);
	*ret = gen_reg(r);
}

static void low_half(struct gen *g, u32 helper, struct val *ret)
{
	vreg r = call0(g, helper);

	ir_extend(&g->ir, r, 4, false);
	*ret = gen_reg(r);
}

static void emit_tid(struct gen *g, struct node *n, struct val *ret)
{
	(void)n;
	low_half(g, BPF_FUNC_get_current_pid_tgid, ret);
}

static void emit_uid(struct gen *g, struct node *n, struct val *ret)
{
	(void)n;
	low_half(g, BPF_FUNC_get_current_uid_gid, ret);
}

static void emit_gid(struct gen *g, struct node *n, struct val *ret)
{
	vreg r = call0(g, BPF_FUNC_get_current_uid_gid);

	(void)n;
	ir_alui(&g->ir, BPF_RSH, r, 32);
	*ret = gen_reg(r);
}

static void emit_nsecs(struct gen *g, struct node *n, struct val *ret)
{
	(void)n;
	*ret = gen_reg(call0(g, BPF_FUNC_ktime_get_boot_ns));
}

static void emit_elapsed(struct gen *g, struct node *n, struct val *ret)
{
	vreg now = call0(g, BPF_FUNC_ktime_get_boot_ns), start;

	(void)n;
	start = ir_imm(&g->ir, (s64)g->c->start_ns);
	ir_alu(&g->ir, BPF_SUB, now, start);
	*ret = gen_reg(now);
}

static void emit_cpu(struct gen *g, struct node *n, struct val *ret)
{
	(void)n;
	*ret = gen_reg(call0(g, BPF_FUNC_get_smp_processor_id));
}

static void emit_rand(struct gen *g, struct node *n, struct val *ret)
{
	(void)n;
	*ret = gen_reg(call0(g, BPF_FUNC_get_prandom_u32));
}

static void emit_cgroup(struct gen *g, struct node *n, struct val *ret)
{
	(void)n;
	*ret = gen_reg(call0(g, BPF_FUNC_get_current_cgroup_id));
}

static void emit_numaid(struct gen *g, struct node *n, struct val *ret)
{
	(void)n;
	*ret = gen_reg(call0(g, BPF_FUNC_get_numa_node_id));
}

static void emit_jiffies(struct gen *g, struct node *n, struct val *ret)
{
	(void)n;
	*ret = gen_reg(call0(g, BPF_FUNC_jiffies64));
}

static void check_comm(struct comp *c, struct node *n)
{
	n->type = type_str(&c->types, COMM_LEN);
}

static void emit_comm(struct gen *g, struct node *n, struct val *ret)
{
	(void)n;
	*ret = gen_temp(g, COMM_LEN);
	IR_CALLV(&g->ir, BPF_FUNC_get_current_comm, gen_addr_arg(g, ret), ARG_IMM(COMM_LEN));
}

static void check_curtask(struct comp *c, struct node *n)
{
	const struct type_name name = { .name = "struct task_struct", .at = n->at };
	const struct type *task = NULL;

	/* the program may define it */
	if (types_btf(&c->types) || c->prog.structs.len)
		task = check_type_name(c, &name);
	if (task && task->kind == T_STRUCT && !task->btf)
		task = type_in_space(&c->types, task, SPACE_KERNEL);
	n->type = task ? type_ptr(&c->types, task, SPACE_KERNEL) : check_int64(c, false);
}

static void emit_curtask(struct gen *g, struct node *n, struct val *ret)
{
	(void)n;
	*ret = gen_reg(call0(g, BPF_FUNC_get_current_task));
}

static void check_username(struct comp *c, struct node *n)
{
	n->type = type_new(&c->types, T_USERNAME, 8);
}

static void check_ncpus(struct comp *c, struct node *n)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);

	check_fold(c, n, (u64)(cpus > 0 ? cpus : 1), false);
}

static void check_default_str_length(struct comp *c, struct node *n)
{
	check_fold(c, n, c->config.max_strlen, false);
}

static void check_cpid(struct comp *c, struct node *n)
{
	if (c->opts->compat && c->at->final && !c->opts->cpid)
		diag_warning(&c->diags, n->at, "No child command (`-c`); cpid is zero");
	check_fold(c, n, c->opts->cpid, false);
}

static void check_has_cpid(struct comp *c, struct node *n)
{
	check_fold_bool(c, n, c->opts->cpid != 0);
}

static void emit_none(struct gen *g, struct node *n, struct val *ret)
{
	(void)g;
	(void)n;
	(void)ret;
}

/* --- what depends on the probe ---------------------------------------------------------------- */

static void check_probe(struct comp *c, struct node *n)
{
	n->type = type_new(&c->types, T_PROBE, 8);
}

static void check_func(struct comp *c, struct node *n)
{
	if (!(c->at->target->provider->flags & (PROBE_REGS | PROBE_ARGS)))
		check_error(c, n, "The func builtin can not be used with '%s' probes",
			    c->at->target->provider->name);
	n->type = type_new(&c->types, T_FUNC, 8);
}

static void emit_probe(struct gen *g, struct node *n, struct val *ret)
{
	vreg r;

	(void)n;
	if (g->target_id) {
		*ret = gen_reg(g->target_id);
		return;
	}
	/* Links carry the number of their target where one program serves many. */
	if (g->u->n > 1) {
		*ret = gen_reg(IR_CALLV(&g->ir, BPF_FUNC_get_attach_cookie, ARG_REG(g->ctx)));
		return;
	}
	r = ir_imm(&g->ir, (s64)g->u->first);
	*ret = gen_reg(r);
}

static void check_probetype(struct comp *c, struct node *n)
{
	n->kind = N_STR;
	n->flag = true;
	n->str = c->at->target->provider->flags & PROBE_SPECIAL ? "special"
								: c->at->target->provider->name;
	n->str_len = (u32)strlen(n->str);
	n->type = type_str(&c->types, n->str_len + 1);
}

/* args as a value: (name=args.name, ...), since arguments are in registers. */
static void become_record(struct comp *c, struct node *n, const struct type *args)
{
	VEC(struct node *) kids = { 0 };
	VEC(const char *) names = { 0 };
	const char *name;

	for (u32 i = 0; (name = type_field_name(&c->types, args, i)); i++) {
		struct node *field = arena_zalloc(&c->prog.arena, sizeof(*field));
		struct node *of = arena_dup(&c->prog.arena, n, sizeof(*n));

		if (!*name || starts_with(name, "common_"))
			continue;
		field->kind = N_FIELD;
		field->at = n->at;
		field->str = name;
		field->kids = arena_dup(&c->prog.arena, &of, sizeof(of));
		field->n_kids = 1;
		vec_push(&kids, field);
		vec_push(&names, name);
	}
	n->kind = N_TUPLE;
	n->n_kids = (u32)kids.len;
	n->kids = arena_dup(&c->prog.arena, kids.items, kids.len * sizeof(*kids.items));
	n->names = arena_dup(&c->prog.arena, names.items, names.len * sizeof(*names.items));
	vec_release(&kids);
	vec_release(&names);
	check_expr(c, n);
}

static void check_args(struct comp *c, struct node *n)
{
	const struct type *args = c->at->target->args;

	if (!args) {
		check_error(c, n,
			    "The args builtin can only be used with tracepoint, rawtracepoint, "
			    "fentry/fexit, and uprobe probes (%s used here)",
			    c->at->target->provider->flags & PROBE_SPECIAL
				    ? "special"
				    : c->at->target->provider->name);
		n->type = type_new(&c->types, T_NONE, 0);
		return;
	}
	n->type = args;
	if (!c->at->in_member && args->kind == T_STRUCT)
		become_record(c, n, args);
}

static void emit_args(struct gen *g, struct node *n, struct val *ret)
{
	(void)n;
	if (g->target->provider->emit_args)
		g->target->provider->emit_args(g, ret);
	else
		*ret = gen_mem(g->ctx, 0, SPACE_CTX);
}

static u32 arg_number(const char *name)
{
	return (u32)strtoul(name + strlen("arg"), NULL, 10);
}

static void check_arg(struct comp *c, struct node *n)
{
	const struct provider *p = c->at->target->provider;
	const struct type *t = p->arg_type ? p->arg_type(c, arg_number(n->str)) : NULL;

	if (!t) {
		check_error(c, n,
			    "The %s builtin can only be used with 'kprobes', 'uprobes' and 'usdt' "
			    "probes",
			    n->str);
		t = check_int64(c, false);
	}
	n->type = t;
}

static void emit_arg(struct gen *g, struct node *n, struct val *ret)
{
	g->target->provider->emit_arg(g, arg_number(n->str), ret);
}

static void check_sarg(struct comp *c, struct node *n)
{
	if (!(c->at->target->provider->flags & PROBE_REGS))
		check_error(c, n, "The %s builtin can not be used with '%s' probes", n->str,
			    c->at->target->provider->name);
	n->type = check_int64(c, false);
}

static void emit_sarg(struct gen *g, struct node *n, struct val *ret)
{
	bool user = g->target->provider->flags & PROBE_USER;
	vreg sp = ir_load(&g->ir, BPF_DW, g->ctx, 152);
	struct val tmp = gen_temp(g, 8);

	ir_alui(&g->ir, BPF_ADD, sp, 8 + (n->str[4] - '0') * 8);
	gen_read(g, &tmp, 8, sp, user ? SPACE_USER : SPACE_KERNEL);
	*ret = gen_reg(ir_load(&g->ir, BPF_DW, tmp.reg, tmp.off));
}

static void check_retval(struct comp *c, struct node *n)
{
	const struct provider *p = c->at->target->provider;
	const struct type *t = p->retval_type ? p->retval_type(c) : NULL;

	if (!t) {
		check_error(c, n,
			    "The retval builtin can only be used with 'kretprobe' and "
			    "'uretprobe' and 'fentry' probes");
		t = check_int64(c, false);
	}
	n->type = t;
}

static void emit_retval(struct gen *g, struct node *n, struct val *ret)
{
	(void)n;
	g->target->provider->emit_retval(g, ret);
}

static void check_ctx(struct comp *c, struct node *n)
{
	if (c->at->target->provider->flags & PROBE_SPECIAL)
		check_error(c, n, "The ctx builtin can not be used with '%s' probes",
			    c->at->target->provider->name);
	n->type = c->at->target->args && c->at->target->args->kind == T_STRUCT
			  ? type_ptr(&c->types, c->at->target->args, SPACE_CTX)
			  : type_ptr(&c->types, type_new(&c->types, T_VOID, 0), SPACE_KERNEL);
}

static void emit_ctx(struct gen *g, struct node *n, struct val *ret)
{
	(void)n;
	*ret = gen_reg(g->ctx);
}

/* --- stacks ----------------------------------------------------------------------------------- */

/* Whether the CPU was in user mode: the last bits of the code segment say it. */
static void check_usermode(struct comp *c, struct node *n)
{
	const struct provider *p = c->at->target->provider;

	if (!provider_has_registers(p) && p != &probe_begin && p != &probe_end)
		check_error(c, n, "The usermode builtin can not be used with '%s' probes",
			    c->at->target->provider->name);
	n->type = type_int(&c->types, 1, false);
}

static void emit_usermode(struct gen *g, struct node *n, struct val *ret)
{
	ir_label kernel = ir_new_label(&g->ir);
	vreg cs, r;

	(void)n;
	/* the tracer itself, on behalf of its own code */
	if (!provider_has_registers(g->target->provider)) {
		*ret = gen_reg(ir_imm(&g->ir, 1));
		return;
	}
	cs = ir_load(&g->ir, BPF_DW, g->ctx, cpu_register("cs"));
	r = ir_imm(&g->ir, 0);
	ir_alui(&g->ir, BPF_AND, cs, 3);
	ir_branchi(&g->ir, BPF_JEQ, cs, 0, kernel);
	ir_movi(&g->ir, r, 1);
	ir_label_here(&g->ir, kernel);
	*ret = gen_reg(r);
}

static void check_stack(struct comp *c, struct node *n)
{
	struct type *t = type_new(&c->types, n->str[0] == 'k' ? T_KSTACK : T_USTACK, 8);

	t->p[0] = COMP_STACK_DEPTH;
	t->p[1] = (s64)c->config.stack_mode;
	n->type = t;
}

static void emit_stack(struct gen *g, struct node *n, struct val *ret)
{
	gen_stack(g, n->type, ret);
}

/* --- through curtask -------------------------------------------------------------------------- */

/* Turns the word into the expression that it stands for. */
static void rewrite(struct comp *c, struct node *n, const char *const *path, size_t len)
{
	struct node *e = arena_zalloc(&c->prog.arena, sizeof(*e));

	e->kind = N_IDENT;
	e->str = "curtask";
	e->at = n->at;
	for (size_t i = 0; i < len; i++) {
		struct node *f = i + 1 == len ? n : arena_zalloc(&c->prog.arena, sizeof(*f));

		f->kind = N_FIELD;
		f->at = n->at;
		f->flag = true;
		f->str = path[i];
		f->kids = arena_alloc(&c->prog.arena, sizeof(*f->kids));
		f->kids[0] = e;
		f->n_kids = 1;
		e = f;
	}
	check_expr(c, n);
}

static void check_ppid(struct comp *c, struct node *n)
{
	rewrite(c, n, (const char *const[]){ "real_parent", "tgid" }, 2);
}

static void check_pcomm(struct comp *c, struct node *n)
{
	rewrite(c, n, (const char *const[]){ "real_parent", "comm" }, 2);
}

static void check_leader_comm(struct comp *c, struct node *n)
{
	rewrite(c, n, (const char *const[]){ "group_leader", "comm" }, 2);
}

static void check_leader_tid(struct comp *c, struct node *n)
{
	rewrite(c, n, (const char *const[]){ "group_leader", "pid" }, 2);
}

/* The file of the probe; NULL where it has none. */
static const char *probed_file(struct comp *c, const struct node *n)
{
	const struct target *t = c->at->target;

	if (t->provider->flags & PROBE_USER && t->group)
		return t->group;
	check_error(c, n, "%s can not be used for this probetype: %s", n->str,
		    t->provider->flags & PROBE_SPECIAL ? "special" : t->provider->name);
	return NULL;
}

/* Is that file at a fixed address? */
static void check_elf_is_exe(struct comp *c, struct node *n)
{
	const char *path = probed_file(c, n);
	Elf64_Ehdr header = { 0 };
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;

	if (fd >= 0) {
		if (pread(fd, &header, sizeof(header), 0) < (ssize_t)sizeof(header))
			header.e_type = ET_NONE;
		close(fd);
	}
	check_fold_bool(c, n, header.e_type == ET_EXEC);
}

static void check_elf_info(struct comp *c, struct node *n)
{
	const char *path = probed_file(c, n);
	struct stat st = { 0 };

	if (path && stat(path, &st) < 0)
		check_error(c, n, "cannot open '%s': %s", path, strerror(errno));
	check_fold(c, n, st.st_ino, false);
}

static const struct builtin table[] = {
	{ "pid", check_u32, emit_pid },
	{ "tid", check_u32, emit_tid },
	{ "uid", check_u32, emit_uid },
	{ "gid", check_u32, emit_gid },
	{ "nsecs", check_time, emit_nsecs },
	{ "elapsed", check_time, emit_elapsed },
	{ "cpu", check_u32, emit_cpu },
	{ "comm", check_comm, emit_comm },
	{ "rand", check_u32, emit_rand },
	{ "cgroup", check_u64, emit_cgroup },
	{ "numaid", check_u32, emit_numaid },
	{ "jiffies", check_u64, emit_jiffies },
	{ "curtask", check_curtask, emit_curtask },
	{ "username", check_username, emit_uid },
	{ "ncpus", check_ncpus, emit_none },
	{ "default_str_length", check_default_str_length, emit_none },
	{ "cpid", check_cpid, emit_none },
	{ "has_cpid", check_has_cpid, emit_none },
	{ "probe", check_probe, emit_probe },
	{ "func", check_func, emit_probe },
	{ "probetype", check_probetype, emit_none },
	{ "args", check_args, emit_args },
	{ "arg0", check_arg, emit_arg },
	{ "arg1", check_arg, emit_arg },
	{ "arg2", check_arg, emit_arg },
	{ "arg3", check_arg, emit_arg },
	{ "arg4", check_arg, emit_arg },
	{ "arg5", check_arg, emit_arg },
	{ "arg6", check_arg, emit_arg },
	{ "arg7", check_arg, emit_arg },
	{ "arg8", check_arg, emit_arg },
	{ "arg9", check_arg, emit_arg },
	{ "arg10", check_arg, emit_arg },
	{ "arg11", check_arg, emit_arg },
	{ "sarg0", check_sarg, emit_sarg },
	{ "sarg1", check_sarg, emit_sarg },
	{ "sarg2", check_sarg, emit_sarg },
	{ "sarg3", check_sarg, emit_sarg },
	{ "sarg4", check_sarg, emit_sarg },
	{ "sarg5", check_sarg, emit_sarg },
	{ "sarg6", check_sarg, emit_sarg },
	{ "sarg7", check_sarg, emit_sarg },
	{ "sarg8", check_sarg, emit_sarg },
	{ "sarg9", check_sarg, emit_sarg },
	{ "retval", check_retval, emit_retval },
	{ "ctx", check_ctx, emit_ctx },
	{ "kstack", check_stack, emit_stack },
	{ "ustack", check_stack, emit_stack },
	{ "dw_ustack", check_stack, emit_stack },
	{ "usermode", check_usermode, emit_usermode },
	{ "ppid", check_ppid, emit_none },
	{ "pcomm", check_pcomm, emit_none },
	{ "leader_comm", check_leader_comm, emit_none },
	{ "leader_tid", check_leader_tid, emit_none },
	{ "elf_is_exe", check_elf_is_exe, emit_none },
	{ "elf_info", check_elf_info, emit_none },
	{ "elf_ino", check_elf_info, emit_none },
	{ "config", config_record, emit_none },
};

const struct builtin *builtin_find(const char *name)
{
	const char *bare = starts_with(name, "__builtin_");

	if (bare)
		name = bare;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		if (streq(table[i].name, name))
			return &table[i];
	}
	return NULL;
}

const char *builtin_name_at(void *ctx, size_t i)
{
	(void)ctx;
	return i < ARRAY_SIZE(table) ? table[i].name : NULL;
}
