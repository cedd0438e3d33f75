/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * row(...): one typed row, with the columns of the script's header. Arguments are in the order of
 * the columns; computed columns have none. With a filter, rows that do not match are not sent.
 */
#include "lang/front/header.h"
#include "lang/gen/gen.h"
#include "lang/row.h"

enum { ROW_TIME = 8 }; /* bytes of the moment before the cells */

bool row_column_shown(const struct comp *c, const struct tool_column *column)
{
	const char *text, *name = column->only;
	bool inverted = name && *name == '!';

	if (!name)
		return true;
	text = comp_parameter(c, name + inverted);
	return (text && !streq(text, "0") && !streq(text, "false")) != inverted;
}

static bool is_text(enum column_kind kind)
{
	return kind == KIND_STRING || kind == KIND_COMM || kind == KIND_PATH;
}

static bool fits(const struct tool_column *column, const struct type *t)
{
	if (t->kind == T_NONE || is_text(column->kind))
		return true;
	switch (column->kind) {
	case KIND_IP: return t->kind == T_INET || t->kind == T_STR;
	case KIND_STACK: return t->kind == T_KSTACK || t->kind == T_USTACK;
	case KIND_USER: return type_is_number(t) || t->kind == T_USERNAME;
	case KIND_HIST:
	case KIND_LATENCY:
	case KIND_SIZES: return false;
	default: return type_is_number(t) || type_is_agg(t) || t->kind == T_KSYM;
	}
}

static void check_row(struct comp *c, struct node *n)
{
	const struct tool_header *h = c->opts->header;
	u32 i = 0;

	if (!h) {
		check_error(c, n, "row() needs a header block that names the columns");
		return;
	}
	vec_each(it, &h->columns) {
		if (column_is_computed(it))
			continue;
		if (i >= n->n_kids) {
			check_error(c, n, "row() has no value for the column '%s'", it->name);
			return;
		}
		if (!fits(it, n->kids[i]->type))
			check_error(c, n->kids[i], "the column '%s' is a %s; this is of type %s",
				    it->name, column_kind_name(it->kind),
				    check_type_text(c, n->kids[i]->type));
		i++;
	}
	if (i < n->n_kids)
		check_error(c, n->kids[i], "row() has more values than there are columns");
}

/* The types of what is sent: columns that are not shown are not. */
static const struct type *sent(struct gen *g, struct node *n, struct node **ret, u32 *ret_n)
{
	const struct tool_header *h = g->c->opts->header;
	const struct type **elems = arena_alloc(&g->c->arena, (n->n_kids + 1) * sizeof(*elems));
	u32 i = 0, k = 0;

	vec_each(it, &h->columns) {
		const struct type *t;

		if (column_is_computed(it))
			continue;
		t = n->kids[i]->type;
		if (row_column_shown(g->c, it)) {
			ret[k] = n->kids[i];
			elems[k++] = type_is_agg(t) ? check_int64(g->c, t->kind != T_COUNT) : t;
		}
		i++;
	}
	*ret_n = k;
	return type_tuple(&g->c->types, elems, NULL, k);
}

static void emit_row(struct gen *g, struct node *n, struct val *ret)
{
	struct node **args = arena_alloc(&g->c->arena, (n->n_kids + 1) * sizeof(*args));
	struct event e = { .kind = EV_ROW, .at = n->at };
	struct val record;
	u32 n_args;

	(void)ret;
	e.args = sent(g, n, args, &n_args);
	e.size = ROW_TIME;
	if (e.args->size + 8 + ROW_TIME > COMP_MAX_EVENT) {
		gen_fail(g, n, "the row needs more than 32 KB");
		return;
	}
	record = gen_temp(g, 8 + ROW_TIME + e.args->size);
	ir_storei(&g->ir, BPF_DW, record.reg, record.off, (s32)comp_event(g->c, &e));
	ir_store(&g->ir, BPF_DW, record.reg, record.off + 8,
		 IR_CALLV(&g->ir, BPF_FUNC_ktime_get_boot_ns));
	for (u32 i = 0; i < n_args; i++) {
		struct val at = record;

		at.off += 8 + ROW_TIME + (s32)e.args->fields[i].offset;
		gen_store(g, args[i], e.args->fields[i].type, &at, false);
	}
	gen_output(g, &record, 8 + ROW_TIME + e.args->size);
}

const struct fn fn_row_table[] = {
	{ "row", 1, 64, FN_STATEMENT, check_row, emit_row },
	{ 0 },
};

/* --- the filter ------------------------------------------------------------------------------- */

static struct node *make(struct comp *c, enum node_kind kind, struct span_at at, u32 n_kids)
{
	struct node *n = arena_zalloc(&c->prog.arena, sizeof(*n));

	n->kind = kind;
	n->at = at;
	n->n_kids = n_kids;
	n->kids = arena_zalloc(&c->prog.arena, MAX(n_kids, 1u) * sizeof(struct node *));
	return n;
}

/* row(...) becomes if (row_filter(...)) { row(...) } */
static struct node *wrap(struct comp *c, struct node *stmt)
{
	struct node *call = stmt->kids[0], *test, *block, *cond;

	test = make(c, N_CALL, call->at, call->n_kids);
	test->str = ROW_FILTER;
	for (u32 i = 0; i < call->n_kids; i++)
		test->kids[i] = node_clone(&c->prog.arena, call->kids[i]);
	block = make(c, N_BLOCK, call->at, 1);
	block->kids[0] = stmt;
	cond = make(c, N_IF, call->at, 2);
	cond->kids[0] = test;
	cond->kids[1] = block;
	return cond;
}

static void filter_rows(struct comp *c, struct node *n)
{
	for (u32 i = 0; i < n->n_kids; i++) {
		struct node *k = n->kids[i];

		if (k->kind == N_EXPR && k->kids[0]->kind == N_CALL &&
		    streq(k->kids[0]->str, "row"))
			n->kids[i] = wrap(c, k);
		else
			filter_rows(c, k);
	}
}

void comp_filter_rows(struct comp *c)
{
	bool filtered = false;

	vec_each(it, &c->prog.macros)
		filtered = filtered || streq(it->name, ROW_FILTER);
	for (size_t i = 0; filtered && i < c->prog.probes.len; i++)
		filter_rows(c, c->prog.probes.items[i].body);
}
