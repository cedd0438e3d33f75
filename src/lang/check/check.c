/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Types of statements, variables and maps. */
#include "lang/check/check.h"
#include "lang/check/strict.h"
#include "lang/front/lex.h"

enum { CHECK_MAX_PASSES = 12, CHECK_MAX_UNROLL = 100, CHECK_MAX_KEY = 32000 };

void check_error(struct comp *c, const struct node *n, const char *fmt, ...)
{
	struct buf text = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&text, fmt, ap);
	va_end(ap);
	diag_error(&c->diags, n->at, "%s", buf_str(&text));
	buf_release(&text);
}

void check_suggest(struct comp *c, const char *word, const char *(*next)(void *ctx, size_t i))
{
	const char *nearest = diag_nearest(word, next, c);

	if (nearest)
		diag_hint(&c->diags, "did you mean '%s'?", nearest);
}

static const char *map_name_at(void *ctx, size_t i)
{
	const struct comp *c = ctx;

	if (i >= c->maps.len)
		return NULL;
	return c->maps.items[i]->value->kind == T_NONE ? "" : c->maps.items[i]->name;
}

void check_no_map(struct comp *c, const struct node *n, const char *name)
{
	check_error(c, n, "Undefined map: %s", name);
	check_suggest(c, name, map_name_at);
}

const char *check_type_text(struct comp *c, const struct type *t)
{
	struct buf text = BUF_INIT;
	const char *copy;

	type_print(t, &text);
	copy = arena_strdup(&c->arena, buf_str(&text));
	buf_release(&text);
	return copy;
}

/* --- variables -------------------------------------------------------------------------------- */

struct variable *check_find_var(struct comp *c, const char *name)
{
	for (size_t i = c->at->vars.len; i-- > 0;) {
		if (c->at->vars.items[i]->visible && streq(c->at->vars.items[i]->name, name))
			return c->at->vars.items[i];
	}
	return NULL;
}

/* The variable of this name and declaration, from an earlier pass or new. */
static struct variable *make_var(struct comp *c, const char *name, u32 declared)
{
	struct variable *v;

	vec_each(it, &c->at->vars) {
		if (streq((*it)->name, name) && (*it)->declared == declared) {
			(*it)->visible = true;
			(*it)->depth = c->at->depth;
			return *it;
		}
	}
	v = arena_zalloc(&c->arena, sizeof(*v));
	v->name = name;
	v->declared = declared;
	v->visible = true;
	v->depth = c->at->depth;
	vec_push(&c->at->vars, v);
	return v;
}

void check_keep(struct comp *c, struct node *n, const struct type *t)
{
	struct variable *v;

	vec_each(it, &c->at->vars) {
		if (*it == n->ref) {
			(*it)->type = type_merge(&c->types, (*it)->type, t);
			return;
		}
	}
	v = arena_zalloc(&c->arena, sizeof(*v));
	v->name = "";
	v->type = t;
	n->ref = v;
	vec_push(&c->at->vars, v);
}

static void hide_vars(struct comp *c, u32 depth)
{
	vec_each(it, &c->at->vars) {
		if ((*it)->depth > depth)
			(*it)->visible = false;
	}
}

static bool is_plain_int(const struct type *t)
{
	return t->kind == T_INT && !type_is_bool(t);
}

/*
 * May the value become one of the variable's declared type? Numbers are cut to it when the program
 * runs, those that are known must fit; texts must fit, too.
 */
static bool converts(const struct type *declared, const struct type *t, const struct node *value)
{
	u32 unused = 64 - declared->size * 8;

	if (declared->kind == T_STR)
		return t->kind == T_STR && (!declared->size || t->size <= declared->size);
	if (!is_plain_int(declared) || !is_plain_int(t))
		return type_fits(declared, t);
	if (!value || !value->folded || value->kind == N_CAST)
		return true;
	if (!t->is_signed && declared->is_signed && (s64)value->ival < 0)
		return false;
	if (t->is_signed && !declared->is_signed && (s64)value->ival < 0)
		return false;
	return declared->is_signed ? (s64)(value->ival << unused) >> unused == (s64)value->ival
				   : value->ival << unused >> unused == value->ival;
}

/* A declared variable keeps its type. */
static void set_fixed(struct comp *c, const struct variable *v, const struct type *t,
		      const struct node *at, const struct node *value)
{
	if (!converts(v->type, t, value) || !strict_pointers(c, v->type, t))
		check_error(c, at,
			    "Type mismatch for %s: trying to assign value of type '%s' when "
			    "variable already has a type '%s'",
			    v->name, check_type_text(c, t), check_type_text(c, v->type));
	else if (value)
		advise_cast(c, value, v->type);
}

/* @value: what is assigned, or NULL for a part of something. */
static void set_var_type(struct comp *c, struct variable *v, const struct type *t,
			 const struct node *at, const struct node *value)
{
	const struct type *merged;

	if (t->kind == T_NONE)
		return;
	if (t->kind == T_VOID || type_is_agg(t)) {
		check_error(c, at,
			    type_is_agg(t) && at->kind == N_CALL
				    ? "%s() must be assigned directly to a map"
				    : "Value '%s' cannot be assigned to a scratch "
				      "variable.",
			    check_type_text(c, t));
		return;
	}
	if (!v->type) {
		v->type = t;
		c->at->changed = true;
		return;
	}
	if (v->fixed) {
		set_fixed(c, v, t, at, value);
		return;
	}
	if (!type_fits(v->type, t) || !strict_pointers(c, v->type, t)) {
		check_error(c, at,
			    "Type mismatch for %s: trying to assign value of type '%s' when "
			    "variable already has a type '%s'",
			    v->name, check_type_text(c, t), check_type_text(c, v->type));
		return;
	}
	merged = type_merge(&c->types, v->type, t);
	if (!type_same_size(merged, v->type)) {
		v->type = merged;
		c->at->changed = true;
	} else if (value) {
		advise_cast(c, value, v->type);
	}
}

/* --- maps ------------------------------------------------------------------------------------- */

/* Elements of tuples in maps are numbers of 8 bytes: another program may put in larger ones. */
static const struct type *without_literals(struct comp *c, const struct type *t)
{
	const struct type **elems;
	const char **names;

	if (t->kind != T_TUPLE)
		return t;
	elems = arena_alloc(&c->arena, t->n_fields * sizeof(*elems));
	names = arena_alloc(&c->arena, t->n_fields * sizeof(*names));
	for (u32 i = 0; i < t->n_fields; i++) {
		const struct type *e = t->fields[i].type;

		elems[i] = e->kind == T_INT ? type_int64_of(&c->types, e) : without_literals(c, e);
		names[i] = t->fields[i].name;
	}
	return type_tuple(&c->types, elems, names, t->n_fields);
}

static const struct type *key_type(struct comp *c, struct node *n)
{
	const struct type **elems = arena_alloc(&c->arena, n->n_kids * sizeof(*elems));

	for (u32 i = 0; i < n->n_kids; i++) {
		struct node *k = n->kids[i];

		check_expr(c, k);
		elems[i] = check_value_type(c, k);
		if (k->type->kind == T_NONE)
			return NULL;
		if (k->type->kind == T_VOID || type_is_agg(elems[i]))
			check_error(c, k, "'%s' cannot be used as a map key",
				    check_type_text(c, k->type));
		if (elems[i]->kind == T_INT)
			elems[i] = type_int64_of(&c->types, elems[i]);
		elems[i] = without_literals(c, elems[i]);
	}
	/* A tuple as the only key is the same as its elements. */
	if (n->n_kids == 1 && elems[0]->kind == T_TUPLE && !type_is_record(elems[0]))
		return elems[0];
	return type_tuple(&c->types, elems, NULL, n->n_kids);
}

static void key_mismatch(struct comp *c, const struct node *n, const struct map_def *m,
			 const struct type *key)
{
	check_error(c, n,
		    "Argument mismatch for %s: trying to access with arguments: '%s' when map "
		    "expects arguments: '%s'",
		    n->str, key ? check_type_text(c, key) : "()",
		    m->key ? check_type_text(c, m->key) : "()");
}

static void merge_key(struct comp *c, struct node *n, struct map_def *m, const struct type *key)
{
	if (!m->key_known) {
		m->key_known = true;
		m->key = key;
		c->at->changed = c->at->maps_changed = true;
		return;
	}
	if (!key != !m->key ||
	    (key && (!type_fits(m->key, key) || !strict_pointers(c, m->key, key)))) {
		key_mismatch(c, n, m, key);
		return;
	}
	if (key && !type_same_size(type_merge(&c->types, m->key, key), m->key)) {
		m->key = type_merge(&c->types, m->key, key);
		c->at->changed = c->at->maps_changed = true;
	}
	c->too_large = c->too_large || (m->key && m->key->size > CHECK_MAX_KEY);
	if (m->key && m->key->size > CHECK_MAX_KEY)
		check_error(c, n, "the key of %s needs %u bytes, more than %d", n->str,
			    m->key->size, CHECK_MAX_KEY);
}

/* The map and its key; the type becomes that of its values. */
void check_map(struct comp *c, struct node *n, bool write)
{
	struct map_def *m = comp_map(c, n->str, true);
	const struct type *key = NULL;

	n->ref = m;
	m->used = true;
	if (write && !m->at.end)
		m->at = (struct span_at){ n->at.start, n->at.start + (u32)strlen(n->str) };
	if (n->n_kids) {
		key = key_type(c, n);
		if (!key) {
			n->type = m->value;
			return;
		}
	}
	if (write || m->key_known || n->n_kids)
		merge_key(c, n, m, key);
	n->type = m->value;
	m->read = m->read || !write;
	if (m->unwritten && !write && c->at->final)
		diag_warning(&c->diags, n->at, "Undefined map: %s, which is 0", n->str);
	if (m->value->kind == T_NONE && !write && c->at->final)
		check_no_map(c, n, n->str);
}

static void set_map_type(struct comp *c, struct map_def *m, const struct type *t,
			 const struct node *at)
{
	const struct type *merged;

	if (t->kind == T_NONE)
		return;
	/* A literal takes the names that the other values have. */
	if (t->kind == T_INT && t->is_literal && !t->name && m->value->kind == T_INT &&
	    !type_is_bool(m->value))
		t = m->value;
	if (t->kind == T_INT)
		t = type_int64_of(&c->types, t);
	t = without_literals(c, t);
	if (t->kind == T_VOID) {
		check_error(c, at, "a map cannot hold a value of type 'none'");
		return;
	}
	if (m->value->kind == T_NONE) {
		m->value = t;
		c->at->changed = c->at->maps_changed = true;
		return;
	}
	if ((!type_fits(m->value, t) && !(type_is_agg(m->value) && m->value->kind == t->kind)) ||
	    !strict_pointers(c, m->value, t)) {
		check_error(c, at,
			    "Type mismatch for %s: trying to assign value of type '%s' when map "
			    "already has a type '%s'",
			    m->name, check_type_text(c, t), check_type_text(c, m->value));
		return;
	}
	if (type_is_agg(t) && !type_fits(m->value, t)) {
		check_error(c, at, "Different %s bounds in a single map unsupported",
			    t->kind == T_LHIST     ? "lhist"
			    : t->kind == T_TSERIES ? "tseries"
						   : "hist");
		return;
	}
	merged = type_merge(&c->types, m->value, t);
	if (!type_same_size(merged, m->value)) {
		m->value = merged;
		c->at->changed = c->at->maps_changed = true;
	}
}

void check_assign_map(struct comp *c, struct node *n, struct node *target, struct node *value,
		      u32 op)
{
	struct map_def *m;

	check_expr(c, value);
	check_map(c, target, true);
	m = target->ref;
	if (op == ASSIGN_PLAIN) {
		set_map_type(c, m, check_value_type(c, value),
			     type_is_agg(value->type) ? value : n);
		if (type_is_agg(value->type) && value->kind == N_MAP)
			check_error(c, n,
				    "Map value '%s' cannot be assigned from one map to another.",
				    check_type_text(c, m->value));
		strict_loop_value(c, n, value);
		if (m->value->kind == T_INT)
			advise_cast(c, value, m->value);
	} else {
		if (m->value->kind != T_PTR)
			set_map_type(c, m, check_int64(c, true), n);
		if (value->type->kind != T_NONE && !check_is_int(value))
			check_error(c, value, "operator %c= needs a number, not '%s'", (char)op,
				    check_type_text(c, value->type));
	}
	target->type = m->value;
}

/* --- statements ------------------------------------------------------------------------------- */

/* An operator may make more of a number than its type holds; a difference has a sign. */
void check_widen(struct comp *c, struct variable *v, const struct node *at)
{
	bool minus = at->op == OP1('-') || at->op == OP2('-', '-');

	if (v->type && v->type->kind == T_INT && !v->fixed)
		set_var_type(c, v, check_int64(c, v->type->is_signed || minus), at, NULL);
}

/* The result has 8 bytes; a declared type cuts it. */
static void check_compound(struct comp *c, struct variable *v, const struct node *n)
{
	check_widen(c, v, n);
	if (v->fixed && v->type && is_plain_int(v->type))
		advise_cast_at(c, (struct span_at){ (u32)n->ival, n->at.end },
			       check_int64(c, v->type->is_signed), v->type);
}

static void check_assign_var(struct comp *c, struct node *n, u32 op, u32 declared)
{
	struct node *target = n->kids[0], *value = n->kids[1];
	struct variable *v;

	check_expr(c, value);
	v = declared ? NULL : check_find_var(c, target->str);
	if (op != ASSIGN_PLAIN && !v)
		check_error(c, target, "Undefined or undeclared variable: %s", target->str);
	if (!v)
		v = make_var(c, target->str, declared ? declared : target->at.start + 1);
	v->assigned = true;
	v->empty = false;
	target->ref = v;
	if (op != ASSIGN_PLAIN && value->type->kind != T_NONE &&
	    (!check_is_int(value) || (v->type && !type_is_number(v->type))))
		check_error(c, value, "operator %c= needs numbers", (char)op);
	if (c->opts->compat && ((value->kind == N_TUPLE && !value->n_kids) ||
				(value->kind == N_BLOCK_EXPR && !value->flag && value->n_kids &&
				 value->kids[value->n_kids - 1]->kind == N_EXPR)))
		check_error(c, n, "Invalid expression for assignment");
	if (op == ASSIGN_PLAIN)
		set_var_type(c, v, check_value_type(c, value),
			     type_is_agg(value->type) && value->kind == N_CALL ? value : n, value);
	else
		check_compound(c, v, n);
	target->type = v->type ? v->type : type_new(&c->types, T_NONE, 0);
}

/* Elements of an array of int8 are numbers, as in a cast. */
static const struct type *declared_type(struct comp *c, const struct type_name *tn)
{
	const struct type *t = check_type_name(c, tn);

	if (t && t->kind == T_VOID) {
		diag_error(&c->diags, tn->at, "Invalid variable declaration type: void");
		return NULL;
	}
	if (t && t->kind == T_STR && tn->n_dims == 1 && !tn->of && streq(tn->name, "int8"))
		t = type_array(&c->types, type_int(&c->types, 1, true), tn->dims[0]);
	return t;
}

static void check_let(struct comp *c, struct node *n)
{
	struct node *target = n->kids[0];
	struct variable *old = check_find_var(c, target->str), *v;
	u32 declared = n->at.start + 1;

	if (old && old->declared != declared && old->assigned) {
		diag_error(&c->diags, (struct span_at){ n->at.start, target->at.end },
			   "Variable %s was already declared. Variable shadowing is not allowed.",
			   target->str);
		return;
	}
	v = make_var(c, target->str, declared);
	v->assigned = true;
	target->ref = v;
	if (n->tn) {
		const struct type *t = declared_type(c, n->tn);

		v->fixed = true;
		if (t && !v->type) {
			v->type = t;
			c->at->changed = true;
		}
	}
	v->empty = n->n_kids < 2;
	if (v->empty)
		v->let = (struct span_at){ n->at.start, target->at.end };
	if (n->n_kids > 1)
		check_assign_var(c, n, ASSIGN_PLAIN, declared);
	target->type = v->type ? v->type : type_new(&c->types, T_NONE, 0);
	if (!v->type && c->at->final)
		v->type = type_new(&c->types, T_NONE, 0); /* declared, never assigned */
}

static void check_condition(struct comp *c, struct node *n)
{
	check_expr(c, n);
	if (n->type->kind != T_NONE && !type_is_number(n->type) && n->type->kind != T_STR)
		check_error(c, n, "a condition cannot be of type '%s'",
			    check_type_text(c, n->type));
}

/* Only one branch of 'if comptime' becomes code; the other may be anything that parses. */
static void check_if_comptime(struct comp *c, struct node *n)
{
	if (!n->kids[0]->folded) {
		if (c->at->final && n->kids[0]->type->kind != T_NONE)
			diag_error(&c->diags, strict_comptime(c, n),
				   "Unable to resolve comptime expression");
		return;
	}
	n->ival = n->kids[0]->ival ? 1 : 2;
	if (n->ival < n->n_kids)
		check_stmt(c, n->kids[n->ival]);
}

static void check_if(struct comp *c, struct node *n)
{
	const struct node *condition = n->kids[0];

	check_condition(c, n->kids[0]);
	strict_condition(c, condition, n->at);
	if (n->flag) {
		check_if_comptime(c, n);
		return;
	}
	for (u32 i = 1; i < n->n_kids; i++) {
		bool dead = condition->folded && !condition->ival == (i == 1);

		c->at->dead += dead;
		check_stmt(c, n->kids[i]);
		c->at->dead -= dead;
	}
}

static void check_block(struct comp *c, struct node *n);

static void check_unroll(struct comp *c, struct node *n)
{
	check_expr(c, n->kids[0]);
	if (!n->kids[0]->folded) {
		if (c->at->final)
			check_error(c, n, "unroll needs a constant number");
		return;
	}
	if ((s64)n->kids[0]->ival < 1)
		check_error(c, n, "unroll minimum value is 1");
	if ((s64)n->kids[0]->ival > CHECK_MAX_UNROLL)
		check_error(c, n, "unroll maximum value is %d", CHECK_MAX_UNROLL);
	check_block(c, n->kids[1]);
}

static bool leaves_loop(const struct node *n, void *ctx)
{
	(void)ctx;
	return n->kind == N_BREAK || n->kind == N_RETURN ||
	       (n->kind == N_CALL && (streq(n->str, "exit") || streq(n->str, "assert")));
}

static void check_while(struct comp *c, struct node *n)
{
	check_condition(c, n->kids[0]);
	if (n->kids[0]->folded && n->kids[0]->ival && !node_any(n->kids[1], leaves_loop, NULL)) {
		check_error(c, n, "this loop never ends");
		diag_hint(&c->diags, "leave it with break or return, or give it a condition");
	}
	advise_while(c, n);
	c->at->loop_depth++;
	check_block(c, n->kids[1]);
	c->at->loop_depth--;
}

static struct variable *loop_var(struct comp *c, struct node *var, u32 declared,
				 const struct type *t)
{
	struct variable *v = c->opts->compat ? check_find_var(c, var->str) : NULL;

	if (v && v->declared != declared)
		check_error(c, var, "Loop declaration shadows existing variable: %s", var->str);
	c->at->depth++;
	v = make_var(c, var->str, declared);
	v->assigned = true;
	v->depth = c->at->depth;
	var->ref = v;
	if (t && t->kind != T_NONE)
		set_var_type(c, v, t, var, NULL);
	var->type = v->type ? v->type : type_new(&c->types, T_NONE, 0);
	return v;
}

static void loop_body(struct comp *c, struct node *body)
{
	c->at->loop_depth++;
	c->at->for_depth++;
	check_block(c, body);
	c->at->for_depth--;
	c->at->loop_depth--;
	c->at->depth--;
	hide_vars(c, c->at->depth);
}

static void check_for_range(struct comp *c, struct node *n)
{
	check_expr(c, n->kids[1]);
	check_expr(c, n->kids[2]);
	for (u32 i = 1; i < 3; i++) {
		struct span_at head = { n->at.start, n->kids[2]->at.end };

		if (n->kids[i]->type->kind != T_NONE && !check_is_int(n->kids[i]))
			diag_error(&c->diags, head,
				   "Loop range requires an integer for the %s value, found '%s'",
				   i == 1 ? "start" : "end", check_type_text(c, n->kids[i]->type));
	}
	loop_var(c, n->kids[0], n->at.start + 1, check_int64(c, true))->counts = true;
	loop_body(c, n->kids[3]);
}

static void check_for_map(struct comp *c, struct node *n)
{
	struct node *map = n->kids[1];
	const struct type *elems[2], *pair = NULL;
	struct variable *v;
	struct map_def *m;

	if (map->kind != N_MAP || map->n_kids) {
		check_error(c, map, "for needs a map or a range");
		return;
	}
	m = comp_map(c, map->str, true);
	map->ref = m;
	map->type = m->value;
	if (m->value->kind == T_NONE || !m->key) {
		if (c->at->final)
			check_error(c, map,
				    m->value->kind == T_NONE ? "Undefined map: %s"
							     : "%s has no key",
				    map->str);
	} else {
		strict_for_map(c, map);
		elems[0] = m->key->n_fields == 1 ? m->key->fields[0].type : m->key;
		elems[1] = type_is_agg(m->value) ? check_int64(c, true) : m->value;
		pair = type_tuple(&c->types, elems, NULL, 2);
	}
	v = loop_var(c, n->kids[0], n->at.start + 1, pair);
	v->of_agg = pair && type_is_agg(m->value) ? m->value : NULL;
	loop_body(c, n->kids[2]);
}

static void check_block(struct comp *c, struct node *n)
{
	c->at->depth++;
	for (u32 i = 0; i < n->n_kids; i++)
		check_stmt(c, n->kids[i]);
	advise_unreachable(c, n);
	c->at->depth--;
	hide_vars(c, c->at->depth);
}

static void check_expr_stmt(struct comp *c, struct node *n)
{
	struct node *e = n->kids[0];

	if (e->kind == N_UNARY)
		e->flag = c->opts->compat; /* its value is not used */
	check_expr(c, e);
	if (type_is_agg(e->type) && e->kind == N_CALL)
		check_error(c, e, "%s() must be assigned directly to a map", e->str);
	else if (!n->flag)
		advise_discarded(c, e);
}

void check_stmt(struct comp *c, struct node *n)
{
	switch (n->kind) {
	case N_BLOCK: check_block(c, n); break;
	case N_EXPR: check_expr_stmt(c, n); break;
	case N_LET: check_let(c, n); break;
	case N_ASSIGN:
		if (n->kids[0]->kind == N_MAP)
			check_assign_map(c, n, n->kids[0], n->kids[1], n->op);
		else
			check_assign_var(c, n, n->op, 0);
		break;
	case N_IF: check_if(c, n); break;
	case N_WHILE: check_while(c, n); break;
	case N_FOR_MAP: check_for_map(c, n); break;
	case N_FOR_RANGE: check_for_range(c, n); break;
	case N_UNROLL: check_unroll(c, n); break;
	case N_BREAK:
	case N_CONTINUE:
		if (!c->at->loop_depth)
			check_error(c, n, "%s must be used inside a loop",
				    n->kind == N_BREAK ? "break" : "continue");
		break;
	case N_RETURN:
		if (n->n_kids)
			check_expr(c, n->kids[0]);
		break;
	default: check_expr(c, n); break;
	}
}

/* --- passes ----------------------------------------------------------------------------------- */

/* One pass over one unit. */
static void check_once(struct comp *c)
{
	struct node *predicate = c->at->probe->predicate;

	c->at->depth = 0;
	c->at->loop_depth = 0;
	c->at->for_depth = 0;
	vec_each(it, &c->at->vars) {
		(*it)->visible = false;
		(*it)->assigned = false;
	}
	if (predicate) {
		check_condition(c, predicate);
		strict_condition(c, predicate,
				 (struct span_at){ predicate->at.start - 1,
						   predicate->at.end + 1 });
	}
	check_block(c, c->at->probe->body);
}

static void enter_unit(struct comp *c, const struct unit *u)
{
	c->at->unit = u;
	c->at->probe = &c->prog.probes.items[u->probe];
	c->at->target = &c->targets.items[u->first];
	vec_clear(&c->at->vars);
}

/* Types of variables settle within the unit, those of maps over all. */
static void check_unit(struct comp *c, const struct unit *u)
{
	enter_unit(c, u);
	for (int pass = 0; pass < CHECK_MAX_PASSES; pass++) {
		c->at->changed = false;
		check_once(c);
		if (!c->at->changed)
			break;
	}
}

/* A string that is made longer from itself has another type in every pass. */
static void not_settled(struct comp *c)
{
	diag_error(&c->diags, c->at->probe->at, "a value of this probe grows with every round");
	diag_hint(&c->diags, "give it a size: $s = (string[64])str_concat($s, ...)");
}

void check_unit_final(struct comp *c, const struct unit *u)
{
	bool mute = c->diags.mute;

	c->diags.mute = true;
	c->at->final = false;
	check_unit(c, u);
	c->diags.mute = mute;
	c->at->final = true;
	if (c->at->changed) {
		not_settled(c);
		return;
	}
	check_once(c);
	advise_unassigned(c);
}

static bool uses_maps(const struct node *n, void *ctx)
{
	(void)ctx;
	return n->kind == N_MAP;
}

/* A map that is read and never written holds numbers: none. */
static bool settle_unwritten(struct comp *c)
{
	bool any = false;

	vec_each(it, &c->maps) {
		struct map_def *m = *it;

		if (m->value->kind != T_NONE || !m->read)
			continue;
		m->value = check_int64(c, true);
		m->key_known = true;
		m->unwritten = any = true;
	}
	return any;
}

static void infer_maps(struct comp *c)
{
	for (int pass = 0; pass < CHECK_MAX_PASSES; pass++) {
		c->at->maps_changed = false;
		for (size_t i = 0; i < c->units.len; i++) {
			const struct probe *p = &c->prog.probes.items[c->units.items[i].probe];

			if (node_any(p->body, uses_maps, NULL) ||
			    node_any(p->predicate, uses_maps, NULL))
				check_unit(c, &c->units.items[i]);
		}
		if (!c->at->maps_changed)
			break;
	}
}

void comp_check(struct comp *c)
{
	c->diags.mute = true;
	infer_maps(c);
	if (settle_unwritten(c))
		infer_maps(c);
	c->diags.mute = false;
	if (c->at->maps_changed) {
		not_settled(c);
		return;
	}
	for (size_t i = 0; i < c->units.len; i++)
		check_unit_final(c, &c->units.items[i]);
	c->at->final = false;
	if (!c->diags.errors)
		check_options(c);
}
