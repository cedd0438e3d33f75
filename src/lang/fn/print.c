/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that show something: they send an event, user space does the rest. */
#include "lang/check/strict.h"
#include "lang/front/fmt.h"
#include "lang/gen/gen.h"
#include "lang/probe/provider.h"

/* The text of argument @i, which must be a literal. */
static const char *literal(struct comp *c, struct node *n, u32 i)
{
	struct node *a = n->kids[i];

	if (a->kind == N_STR)
		return a->str;
	if (a->type->kind != T_NONE)
		check_error(c, n, "%s() expects a string literal (%s provided)", n->str,
			    type_is_number(a->type) ? "integer" : check_type_text(c, a->type));
	return NULL;
}

static const struct type *args_tuple(struct comp *c, struct node *n, u32 first)
{
	const struct type **elems = arena_alloc(&c->arena, (n->n_kids + 1) * sizeof(*elems));

	for (u32 i = first; i < n->n_kids; i++) {
		elems[i - first] = n->kids[i]->type;
		if (elems[i - first]->kind == T_NONE)
			return NULL;
		if (type_is_agg(elems[i - first]))
			elems[i - first] = check_int64(c, elems[i - first]->kind != T_COUNT);
	}
	return type_tuple(&c->types, elems, NULL, n->n_kids - first);
}

static const char *kind_word(struct comp *c, const struct type *t)
{
	if (t->kind == T_INT)
		return "integer";
	if (t->kind == T_STR)
		return "string";
	if (t->kind == T_PTR)
		return "pointer";
	return check_type_text(c, t);
}

static void check_conversion(struct comp *c, struct node *n, const struct conversion *v,
			     const struct type *t)
{
	const char *wanted = NULL;

	if (t->kind == T_NONE)
		return;
	if (v->letter == 'r' && t->kind != T_BUF)
		wanted = "buffer";
	else if (c->opts->compat && type_is_agg(t) && v->letter != 's')
		wanted = "integer";
	else if (strchr("diouxXcpg", v->letter) && !type_is_number(t) && t->kind != T_KSYM &&
		 t->kind != T_USERNAME && t->kind != T_PROBE && t->kind != T_MAC)
		wanted = "integer";
	if (!wanted)
		return;
	check_error(c, n, "unsupported format specifier for type '%s': %c%s", check_type_text(c, t),
		    v->letter, v->letter == 'g' ? "r" : "");
	diag_hint(&c->diags, "%%%c%s expects a value of type %s (%s supplied)", v->letter,
		  v->letter == 'g' ? "r" : "", wanted, kind_word(c, t));
}

static void check_printf(struct comp *c, struct node *n)
{
	const char *fmt = literal(c, n, 0), *p;
	struct conversion v;
	u32 i = 1;
	const char *bad;

	if (!fmt)
		return;
	for (p = fmt; (bad = fmt_next(&p, &v)) == NULL && v.letter;) {
		if (v.letter == '%')
			continue;
		if (i < n->n_kids)
			check_conversion(c, n, &v, strict_type(c, n->kids[i], n->kids[i]->type));
		i++;
	}
	advise_debugf(c, n);
	if (i > 4 && streq(n->str, "debugf"))
		check_error(c, n, "cannot use more than 3 conversion specifiers");
	if (bad)
		check_error(c, n, "%s: Unknown format string token: %.8s", n->str, bad);
	else if (i > n->n_kids)
		check_error(c, n,
			    "not enough arguments for format string (%u supplied, %u expected)",
			    n->n_kids - 1, i - 1);
	else if (i < n->n_kids)
		check_error(c, n, "too many arguments for format string (%u supplied, %u expected)",
			    n->n_kids - 1, i - 1);
	for (i = 1; i < n->n_kids; i++) {
		if (n->kids[i]->type->kind == T_VOID || n->kids[i]->type->kind >= T_HIST)
			check_error(c, n->kids[i], "%s: a value of type '%s' cannot be printed",
				    n->str, check_type_text(c, n->kids[i]->type));
	}
}

static void emit_formatted(struct gen *g, struct node *n, enum event_kind kind)
{
	struct event e = {
		.kind = kind, .fmt = n->kids[0]->str, .at = n->at, .args = args_tuple(g->c, n, 1)
	};

	if (e.args->size + 8 > COMP_MAX_EVENT) {
		gen_fail(g, n, "the arguments need more than 32 KB");
		g->c->too_large = true;
		return;
	}
	gen_event(g, comp_event(g->c, &e), n->kids + 1, n->n_kids - 1);
}

static void emit_printf(struct gen *g, struct node *n, struct val *ret)
{
	(void)ret;
	if (gen_is_pinned(g)) {
		gen_seq_printf(g, n);
		return;
	}
	emit_formatted(g, n,
		       streq(n->str, "errorf")   ? EV_ERRORF
		       : streq(n->str, "warnf")  ? EV_WARNF
		       : streq(n->str, "system") ? EV_SYSTEM
		       : streq(n->str, "cat")    ? EV_CAT
						 : EV_PRINTF);
}

/* Said in the first pass, which makes a record of it. */
static void refuse_args(struct comp *c, const struct node *n)
{
	bool mute = c->diags.mute;

	c->diags.mute = false;
	check_error(c, n, "struct %s_args type passed to %s() is not printable",
		    c->at->target->name, n->str);
	diag_hint(&c->diags, "a map can hold it: @x = args");
	c->diags.mute = mute;
}

static void check_print(struct comp *c, struct node *n)
{
	struct node *a = n->kids[0];

	if (a->kind == N_MAP && !a->n_kids) {
		struct map_def *m = comp_map(c, a->str, true);

		a->ref = m;
		m->used = true;
		a->type = m->value;
		if (m->value->kind == T_NONE && c->at->final)
			check_no_map(c, a, a->str);
		advise_print(c, n, m->value);
	} else {
		if (c->opts->compat && a->kind == N_IDENT && streq(a->str, "args") &&
		    c->at->target->provider == &probe_tracepoint)
			refuse_args(c, n);
		check_expr(c, a);
		if (n->n_kids > 1 && a->type->kind != T_NONE)
			check_error(c, n, "Non-map print() only takes 1 argument, %u found",
				    n->n_kids);
		if (a->type->kind == T_VOID)
			check_error(c, n, "a value of type 'none' passed to %s() is not printable",
				    n->str);
		if (c->opts->compat && a->kind == N_MAP &&
		    (a->type->kind == T_HIST || a->type->kind == T_LHIST ||
		     a->type->kind == T_TSERIES))
			check_error(
				c, n,
				"Map type %s cannot print the value of individual keys. You must "
				"print the whole map.",
				check_type_text(c, a->type));
		if (c->opts->compat && a->type->kind == T_TUPLE && !a->type->n_fields)
			check_error(c, n, "none type passed to %s() is not printable", n->str);
		if (type_is_agg(a->type) && a->kind == N_CALL)
			check_error(c, a, "%s() must be assigned directly to a map", a->str);
	}
	for (u32 i = 1; i < n->n_kids; i++) {
		check_expr(c, n->kids[i]);
		if (!n->kids[i]->folded && n->kids[i]->type->kind != T_NONE)
			check_error(c, n, "print() expects a int literal (%s provided)",
				    check_type_text(c, n->kids[i]->type));
	}
}

/* One key of an aggregation: user space has the parts of all CPUs. */
static void print_map_key(struct gen *g, struct node *n, struct map_def *m)
{
	struct event e = { .kind = EV_PRINT_MAP_KEY, .map = m, .args = m->key };
	struct val record = gen_temp(g, 8 + m->key->size), key, at;
	u32 number = comp_event(g->c, &e);

	ir_storei(&g->ir, BPF_DW, record.reg, record.off, (s32)number);
	gen_map_key(g, n->kids[0], &key);
	at = record;
	at.off += 8;
	gen_copy(g, &at, &key, m->key->size);
	gen_output(g, &record, 8 + m->key->size);
}

static void emit_print(struct gen *g, struct node *n, struct val *ret)
{
	struct node *a = n->kids[0];
	struct event e = { .kind = EV_PRINT_VALUE };

	(void)ret;
	if (a->kind == N_MAP && !a->n_kids) {
		e.kind = EV_PRINT_MAP;
		e.map = a->ref;
		e.top = n->n_kids > 1 ? (s64)n->kids[1]->ival : 0;
		e.div = n->n_kids > 2 ? (s64)n->kids[2]->ival : 0;
		gen_event(g, comp_event(g->c, &e), NULL, 0);
		return;
	}
	if (a->kind == N_MAP && type_is_agg(a->type)) {
		print_map_key(g, n, a->ref);
		return;
	}
	e.args = args_tuple(g->c, n, 0);
	gen_event(g, comp_event(g->c, &e), n->kids, 1);
}

static void check_time(struct comp *c, struct node *n)
{
	if (n->n_kids)
		literal(c, n, 0);
}

static void emit_time(struct gen *g, struct node *n, struct val *ret)
{
	struct event e = { .kind = EV_TIME, .fmt = n->n_kids ? n->kids[0]->str : "%H:%M:%S\n" };

	(void)ret;
	gen_event(g, comp_event(g->c, &e), NULL, 0);
}

/* --- join ------------------------------------------------------------------------------------- */

enum { JOIN_ARGS = 16 };

static void check_join(struct comp *c, struct node *n)
{
	if (n->kids[0]->type->kind != T_NONE && !type_is_number(n->kids[0]->type))
		check_error(c, n, "join() only supports int and pointer arguments (%s provided)",
			    check_type_text(c, n->kids[0]->type));
	if (n->n_kids > 1)
		literal(c, n, 1);
}

/* Reads the strings that an array of pointers (argv) points to. */
static void emit_join(struct gen *g, struct node *n, struct val *ret)
{
	u32 each = ALIGN_UP((u32)MIN(g->c->config.max_strlen, 1024u), 8u);
	struct event e = { .kind = EV_JOIN,
			   .fmt = n->n_kids > 1 ? n->kids[1]->str : " ",
			   .size = each };
	const struct type *t = n->kids[0]->type;
	enum space space = t->kind == T_PTR ? t->space : SPACE_ANY;
	struct val record = gen_temp_scratch(g, 8 + JOIN_ARGS * each), slot, p = gen_temp(g, 8);
	u32 number = comp_event(g->c, &e);
	ir_label end = ir_new_label(&g->ir);
	vreg base = gen_num(g, n->kids[0]), at, str;

	(void)ret;
	ir_storei(&g->ir, BPF_DW, record.reg, record.off, (s32)number);
	for (u32 i = 0; i < JOIN_ARGS; i++)
		ir_storei(&g->ir, BPF_B, record.reg, record.off + 8 + (s32)(i * each), 0);
	for (u32 i = 0; i < JOIN_ARGS; i++) {
		at = ir_reg(&g->ir);
		ir_mov(&g->ir, at, base);
		ir_alui(&g->ir, BPF_ADD, at, (s32)i * 8);
		ir_storei(&g->ir, BPF_DW, p.reg, p.off, 0);
		gen_read(g, &p, 8, at, space);
		str = ir_load(&g->ir, BPF_DW, p.reg, p.off);
		ir_branchi(&g->ir, BPF_JEQ, str, 0, end);
		slot = record;
		slot.off += 8 + (s32)(i * each);
		gen_read_str(g, &slot, ARG_IMM((s32)each), str, space);
	}
	ir_label_here(&g->ir, end);
	gen_output(g, &record, 8 + JOIN_ARGS * each);
}

static void check_strftime(struct comp *c, struct node *n)
{
	struct type *t = type_new(&c->types, T_TIMESTAMP, 8);

	t->str = literal(c, n, 0);
	if (n->kids[1]->type->kind != T_NONE && !type_is_number(n->kids[1]->type))
		check_error(c, n, "strftime() only supports integer arguments (%s provided)",
			    check_type_text(c, n->kids[1]->type));
	n->type = t;
}

static void emit_strftime(struct gen *g, struct node *n, struct val *ret)
{
	*ret = gen_reg(gen_num(g, n->kids[1]));
}

const struct fn fn_print_table[] = {
	{ "printf", 1, 128, FN_STATEMENT | FN_FORMAT, check_printf, emit_printf },
	{ "errorf", 1, 128, FN_STATEMENT | FN_FORMAT, check_printf, emit_printf },
	{ "warnf", 1, 128, FN_STATEMENT | FN_FORMAT, check_printf, emit_printf },
	{ "debugf", 1, 128, FN_STATEMENT | FN_FORMAT, check_printf, emit_printf },
	{ "system", 1, 128, FN_STATEMENT | FN_UNSAFE, check_printf, emit_printf },
	{ "cat", 1, 128, FN_STATEMENT, check_printf, emit_printf },
	{ "print", 1, 3, FN_STATEMENT | FN_RAW, check_print, emit_print },
	{ "time", 0, 1, FN_STATEMENT, check_time, emit_time },
	{ "join", 1, 2, FN_STATEMENT, check_join, emit_join },
	{ "strftime", 2, 2, 0, check_strftime, emit_strftime },
	{ 0 },
};
