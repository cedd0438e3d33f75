/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks, symbols, registers. */
#include "base/io.h"
#include "host/kallsyms.h"
#include "host/cpu.h"
#include "lang/gen/gen.h"
#include "lang/probe/provider.h"

static void stack_arg(struct comp *c, struct node *n, struct node *a, struct type *t)
{
	static const char *const modes[] = { "bpftrace", "perf", "raw", "build_id" };

	if (a->kind == N_IDENT) {
		for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
			if (streq(a->str, modes[i])) {
				t->p[1] = (s64)i;
				a->type = check_int64(c, true);
				return;
			}
		}
		check_error(c, a, "Invalid stack mode: %s", a->str);
		return;
	}
	check_expr(c, a);
	if (!a->folded) {
		if (a->type->kind != T_NONE)
			check_error(c, n, "%s() expects a literal depth", n->str);
		return;
	}
	if (a->ival > COMP_STACK_DEPTH)
		check_error(c, n, "%s([int limit]): limit shouldn't exceed %d, %lld given", n->str,
			    COMP_STACK_DEPTH, (long long)a->ival);
	else
		t->p[0] = (s64)a->ival;
}

static void check_stack(struct comp *c, struct node *n)
{
	struct type *t = type_new(&c->types, n->str[0] == 'k' ? T_KSTACK : T_USTACK, 8);

	t->p[0] = COMP_STACK_DEPTH;
	t->p[1] = (s64)c->config.stack_mode;
	if (n->n_kids > 1 && n->kids[0]->kind != N_IDENT && c->opts->compat)
		check_error(c, n, "Expected stack mode as first argument");
	for (u32 i = 0; i < n->n_kids; i++)
		stack_arg(c, n, n->kids[i], t);
	n->type = t;
}

static void emit_stack(struct gen *g, struct node *n, struct val *ret)
{
	gen_stack(g, n->type, ret);
}

static void emit_nothing(struct gen *g, struct node *n, struct val *ret)
{
	(void)g;
	(void)n;
	(void)ret;
}

static void need_int(struct comp *c, struct node *n)
{
	if (n->kids[0]->type->kind != T_NONE && !type_is_number(n->kids[0]->type))
		check_error(c, n, "%s() expects an integer or pointer argument", n->str);
}

static void check_ksym(struct comp *c, struct node *n)
{
	need_int(c, n);
	n->type = type_new(&c->types, T_KSYM, 8);
}

static void emit_ksym(struct gen *g, struct node *n, struct val *ret)
{
	*ret = gen_reg(gen_num(g, n->kids[0]));
}

static void check_usym(struct comp *c, struct node *n)
{
	need_int(c, n);
	n->type = type_new(&c->types, T_USYM, 16);
}

static void emit_usym(struct gen *g, struct node *n, struct val *ret)
{
	vreg address = gen_num(g, n->kids[0]), pid;

	*ret = gen_temp(g, 16);
	g->c->user_symbols = true;
	ir_store(&g->ir, BPF_DW, ret->reg, ret->off, address);
	pid = ir_call(&g->ir, BPF_FUNC_get_current_pid_tgid, NULL, 0);
	ir_alui(&g->ir, BPF_RSH, pid, 32);
	ir_store(&g->ir, BPF_DW, ret->reg, ret->off + 8, pid);
}

static void check_reg(struct comp *c, struct node *n)
{
	n->type = check_int64(c, false);
	if (n->kids[0]->kind != N_STR || cpu_register(n->kids[0]->str) < 0)
		check_error(c, n, "'%s' is not a valid register on this architecture (x86_64)",
			    n->kids[0]->kind == N_STR ? n->kids[0]->str : "");
	if (!provider_has_registers(c->at->target->provider))
		check_error(c, n, "reg() can not be used with '%s' probes",
			    c->at->target->provider->name);
}

static void emit_reg(struct gen *g, struct node *n, struct val *ret)
{
	*ret = gen_reg(ir_load(&g->ir, BPF_DW, g->ctx, cpu_register(n->kids[0]->str)));
}

/* nsecs(monotonic), pid(curr_ns) ...: words with an argument. */
static void check_nsecs(struct comp *c, struct node *n)
{
	static const char *const clocks[] = { "boot", "monotonic", "tai", "sw_tai" };
	bool known = false;

	for (size_t i = 0; i < ARRAY_SIZE(clocks); i++)
		known = known || (n->kids[0]->kind == N_IDENT && streq(n->kids[0]->str, clocks[i]));
	if (!known)
		check_error(c, n->kids[0], "nsecs() expects boot, monotonic, tai or sw_tai");
	n->type = type_in_unit(&c->types, check_int64(c, false), UNIT_TIME);
}

static void emit_nsecs(struct gen *g, struct node *n, struct val *ret)
{
	const char *clock = n->kids[0]->str;
	u32 helper = streq(clock, "monotonic") ? BPF_FUNC_ktime_get_ns
		     : streq(clock, "boot")    ? BPF_FUNC_ktime_get_boot_ns
					       : 208 /* ktime_get_tai_ns */;

	*ret = gen_reg(ir_call(&g->ir, helper, NULL, 0));
}

/* kallsyms is read only for scripts that ask. */
static bool find_kernel_symbol(const char *name, u64 *ret)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	return kallsyms_read(NULL, IO_MAX_PROC, &text, NULL) >= 0 &&
	       kallsyms_lookup(buf_str(&text), text.len, name, ret);
}

bool comp_kernel_symbol(const char *name)
{
	u64 address;

	return find_kernel_symbol(name, &address);
}

static void check_kaddr(struct comp *c, struct node *n)
{
	u64 address = 0;

	n->type = check_int64(c, false);
	if (n->kids[0]->kind != N_STR) {
		check_error(c, n, "kaddr() expects a string literal");
		return;
	}
	if (!c->at->final)
		return;
	if (!find_kernel_symbol(n->kids[0]->str, &address))
		check_error(c, n, "Failed to resolve kernel symbol: %s", n->kids[0]->str);
	check_fold(c, n, address, false);
	n->kind = N_INT;
	n->flag = true;
}

const struct fn fn_sym_table[] = {
	{ "kaddr", 1, 1, 0, check_kaddr, emit_nothing },
	{ "kstack", 0, 2, FN_RAW, check_stack, emit_stack },
	{ "ustack", 0, 2, FN_RAW, check_stack, emit_stack },
	{ "dw_ustack", 0, 2, FN_RAW, check_stack, emit_stack },
	{ "ksym", 1, 1, 0, check_ksym, emit_ksym },
	{ "usym", 1, 1, 0, check_usym, emit_usym },
	{ "reg", 1, 1, 0, check_reg, emit_reg },
	{ "nsecs", 1, 1, FN_RAW, check_nsecs, emit_nsecs },
	{ 0 },
};
