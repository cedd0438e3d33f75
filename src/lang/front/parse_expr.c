/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Expressions, by precedence climbing. */
#include "lang/front/parse.h"

#include "lang/comp.h"

static struct node *unary(struct parser *p);

static bool deeper(struct parser *p)
{
	if (++p->depth <= PARSE_MAX_DEPTH)
		return true;
	if (!p->panic)
		diag_error(p->diags, p->lx.tok.at, "expressions are nested more than %d deep",
			   PARSE_MAX_DEPTH);
	p->panic = true;
	lex_seek(&p->lx, (u32)p->lx.src->len);
	return false;
}

static struct node *make(struct parser *p, enum node_kind kind, u32 start, struct node *a,
			 struct node *b)
{
	struct node *n = parse_node(p, kind, (struct span_at){ start, p->lx.prev_end });
	struct node *kids[2] = { a, b };

	parse_kids(p, n, kids, b ? 2 : a ? 1 : 0);
	return n;
}

/* a, b, c up to the closing bracket, which is consumed. */
static void list(struct parser *p, struct node *n, u32 closing, const char *text)
{
	VEC(struct node *) kids = { 0 };

	while (!p->panic && (!parse_is(p, closing) || (kids.len && p->opts->strict))) {
		vec_push(&kids, parse_expr(p));
		if (!parse_accept(p, OP1(',')))
			break;
	}
	parse_expect(p, closing, text);
	parse_kids(p, n, kids.items, kids.len);
	n->at.end = p->lx.prev_end;
	vec_release(&kids);
}

static struct node *string(struct parser *p)
{
	struct node *n = parse_node(p, N_STR, p->lx.tok.at);
	struct buf text = BUF_INIT;

	lex_unquote(&p->lx, &p->lx.tok, &text);
	n->str = arena_strndup(&p->prog->arena, buf_str(&text), text.len);
	n->str_len = (u32)strlen(n->str);
	buf_release(&text);
	lex_next(&p->lx);
	return n;
}

static void move_spans(struct node *n, struct span_at at)
{
	n->at = at;
	for (u32 i = 0; i < n->n_kids; i++)
		move_spans(n->kids[i], at);
}

/* The text of a #define, parsed where its name stands. */
static struct node *expand_define(struct parser *p, struct define *d, struct span_at at)
{
	struct source src = { .name = "define",
			      .text = d->text,
			      .len = d->text ? strlen(d->text) : 0 };
	struct parser inner = {
		.prog = p->prog, .diags = p->diags, .opts = p->opts, .depth = p->depth
	};
	struct node *n;

	if (!d->text || d->busy) {
		n = parse_node(p, N_INT, at);
		n->ival = (u64)d->value;
		n->tn = d->of;
		return n;
	}
	d->busy = true;
	lex_init(&inner.lx, &src, p->diags);
	inner.lx.strict = p->opts->strict;
	lex_next(&inner.lx);
	n = parse_expr(&inner);
	if (inner.panic)
		p->panic = true;
	d->busy = false;
	move_spans(n, at);
	return n;
}

/* ", a.b" after a type. */
static void member_name(struct parser *p, struct node *n)
{
	u32 start, end;

	parse_expect(p, OP1(','), ",");
	start = end = p->lx.tok.at.start;
	while (p->lx.tok.kind == TOK_IDENT || parse_is(p, OP1('.'))) {
		end = p->lx.tok.at.end;
		lex_next(&p->lx);
	}
	n->str = arena_strndup(&p->prog->arena, p->lx.src->text + start, end - start);
}

static struct node *size_of(struct parser *p, u32 start, enum node_kind kind)
{
	struct node *n = parse_node(p, kind, (struct span_at){ start, start }), *kid;
	struct type_name tn;

	lex_next(&p->lx);
	parse_expect(p, OP1('('), "(");
	if (parse_type_name(p, &tn)) {
		n->tn = arena_dup(&p->prog->arena, &tn, sizeof(tn));
	} else {
		kid = parse_expr(p);
		parse_kids(p, n, &kid, 1);
	}
	if (kind == N_OFFSETOF)
		member_name(p, n);
	parse_expect(p, OP1(')'), ")");
	n->at.end = p->lx.prev_end;
	return n;
}

/* container_of(p, struct s, f): (struct s *)((uint64)p - offsetof(struct s, f)) */
static struct node *container_of(struct parser *p, u32 start)
{
	static const struct type_name number = { .name = "uint64" };
	struct node *address, *offset, *all;
	struct type_name tn;

	lex_next(&p->lx);
	parse_expect(p, OP1('('), "(");
	address = make(p, N_CAST, start, parse_expr(p), NULL);
	address->tn = &number;
	parse_expect(p, OP1(','), ",");
	if (!parse_type_name(p, &tn)) {
		parse_unexpected(p, "type");
		return address;
	}
	offset = parse_node(p, N_OFFSETOF, tn.at);
	offset->tn = arena_dup(&p->prog->arena, &tn, sizeof(tn));
	member_name(p, offset);
	parse_expect(p, OP1(')'), ")");
	all = make(p, N_BINARY, start, address, offset);
	all->op = OP1('-');
	all = make(p, N_CAST, start, all, NULL);
	tn.pointers++;
	all->tn = arena_dup(&p->prog->arena, &tn, sizeof(tn));
	return all;
}

static bool has_value(const struct node *n);

/* An 'if' whose branches all end with a value. */
static bool is_if_value(const struct node *n)
{
	return n->kind == N_IF && n->n_kids == 3 && has_value(n->kids[1]) && has_value(n->kids[2]);
}

static bool has_value(const struct node *n)
{
	const struct node *last = n->n_kids ? n->kids[n->n_kids - 1] : NULL;

	if (n->kind == N_IF)
		return is_if_value(n);
	return n->kind == N_BLOCK && last && (last->kind == N_EXPR || is_if_value(last));
}

static void give_value(struct parser *p, struct node *n);

/* The statement becomes an expression: c ? { a } : { b }. */
static struct node *value_of_if(struct parser *p, struct node *n)
{
	struct node *e = parse_node(p, N_EXPR, n->at);

	for (u32 i = 1; i < 3; i++) {
		if (n->kids[i]->kind == N_IF)
			n->kids[i] = value_of_if(p, n->kids[i])->kids[0];
		else
			give_value(p, n->kids[i]);
	}
	n->kind = N_TERNARY;
	parse_kids(p, e, &n, 1);
	return e;
}

/* A block has the value of its last statement, which may be an 'if'. */
static void give_value(struct parser *p, struct node *n)
{
	struct node **last = n->n_kids ? &n->kids[n->n_kids - 1] : NULL;

	n->kind = N_BLOCK_EXPR;
	if (last && is_if_value(*last))
		*last = value_of_if(p, *last);
}

static struct node *value_block(struct parser *p)
{
	struct node *n = parse_block(p);

	give_value(p, n);
	return n;
}

/* Do all branches end without a semicolon, as values do? */
static bool ends_bare(const struct node *n)
{
	if (n->kind == N_IF)
		return n->n_kids == 3 && ends_bare(n->kids[1]) && ends_bare(n->kids[2]);
	return n->kind != N_BLOCK || (n->flag && n->n_kids && ends_bare(n->kids[n->n_kids - 1]));
}

void parse_body_value(struct parser *p, struct node *body)
{
	struct node **last = body->n_kids ? &body->kids[body->n_kids - 1] : NULL, *inner;

	if (!last || p->panic || !ends_bare(*last))
		return;
	if (is_if_value(*last)) {
		*last = value_of_if(p, *last);
	} else if ((*last)->kind == N_BLOCK) {
		inner = *last;
		parse_body_value(p, inner);
		inner->kind = N_BLOCK_EXPR;
		*last = parse_node(p, N_EXPR, inner->at);
		parse_kids(p, *last, &inner, 1);
	}
}

/* if (c) { a } else { b } with a value is c ? { a } : { b }. */
static struct node *if_value(struct parser *p)
{
	u32 start = p->lx.tok.at.start;
	bool is_comptime;
	struct node *n, *kids[3];

	lex_next(&p->lx);
	if (!deeper(p))
		return parse_node(p, N_INT, p->lx.tok.at);
	is_comptime = parse_accept_word(p, "comptime");
	kids[0] = parse_expr(p);
	kids[1] = value_block(p);
	if (!parse_accept_word(p, "else"))
		parse_unexpected(p, "else");
	kids[2] = parse_is_word(p, "if") ? if_value(p) : value_block(p);
	p->depth--;
	n = parse_node(p, N_TERNARY, (struct span_at){ start, p->lx.prev_end });
	n->flag = is_comptime;
	parse_kids(p, n, kids, 3);
	return n;
}

/* comptime (expr): as a function whose argument must be constant. */
static struct node *comptime(struct parser *p)
{
	u32 start = p->lx.tok.at.start;
	struct node *n;

	lex_next(&p->lx);
	n = make(p, N_CALL, start, unary(p), NULL);
	n->str = "comptime";
	return n;
}

static struct node *word(struct parser *p)
{
	static const struct type_name bool_name = { .name = TYPE_BOOL };
	struct token t = p->lx.tok;
	const struct fn *f;
	struct node *n;
	struct define *d;

	if (parse_is_word(p, "sizeof"))
		return size_of(p, t.at.start, N_SIZEOF);
	if (parse_is_word(p, "typeinfo"))
		return size_of(p, t.at.start, N_TYPEINFO);
	if (parse_is_word(p, "offsetof"))
		return size_of(p, t.at.start, N_OFFSETOF);
	if (parse_is_word(p, "container_of"))
		return container_of(p, t.at.start);
	if (parse_is_word(p, "if"))
		return if_value(p);
	if (parse_is_word(p, "comptime"))
		return comptime(p);
	n = parse_node(p, N_IDENT, t.at);
	n->str = parse_text(p, &t);
	lex_next(&p->lx);
	d = program_define(p->prog, n->str);
	if (d)
		return expand_define(p, d, t.at);
	if (streq(n->str, "true") || streq(n->str, "false")) {
		n->kind = N_INT;
		n->ival = n->str[0] == 't';
		n->tn = &bool_name;
		return n;
	}
	if (parse_is(p, OP1('(')) && p->lx.tok.at.start == t.at.end) {
		lex_next(&p->lx);
		n->kind = N_CALL;
		list(p, n, OP1(')'), ")");
		/* pid() is pid */
		f = n->n_kids ? NULL : fn_find(n->str);
		if (!n->n_kids && builtin_find(n->str) && (!f || f->min_args))
			n->kind = N_IDENT;
	}
	return n;
}

/* After "(name =": the rest of a tuple whose elements have names. */
static void record_elements(struct parser *p, struct node *n)
{
	VEC(struct node *) kids = { 0 };
	VEC(const char *) names = { 0 };

	do {
		const char *name = parse_text(p, &p->lx.tok);
		u32 start = p->lx.tok.at.start;

		if (p->lx.tok.kind != TOK_IDENT)
			parse_unexpected(p, "name of an element");
		lex_next(&p->lx);
		parse_expect(p, OP1('='), "=");
		vec_push(&kids, parse_expr(p));
		vec_each(it, &names) {
			if (streq(*it, name) && !p->panic)
				diag_error(p->diags, (struct span_at){ start, p->lx.prev_end },
					   "the record already has an element named '%s'", name);
		}
		vec_push(&names, name);
	} while (!p->panic && parse_accept(p, OP1(',')) &&
		 (!parse_is(p, OP1(')')) || p->opts->strict));
	parse_kids(p, n, kids.items, kids.len);
	n->names = arena_dup(&p->prog->arena, names.items, names.len * sizeof(*names.items));
	vec_release(&kids);
	vec_release(&names);
}

static bool record_follows(const struct parser *p)
{
	const char *s = p->lx.src->text;
	u32 next;

	if (p->lx.tok.kind != TOK_IDENT)
		return false;
	next = lex_skip_blank(&p->lx, p->lx.tok.at.end);
	return next + 1 < p->lx.src->len && s[next] == '=' && s[next + 1] != '=';
}

static struct node *cast(struct parser *p, u32 start, const struct type_name *tn)
{
	struct node *n;

	n = make(p, N_CAST, start, unary(p), NULL);
	n->tn = arena_dup(&p->prog->arena, tn, sizeof(*tn));
	return n;
}

/* ( expr ), a tuple, or a cast. */
static struct node *parenthesis(struct parser *p)
{
	u32 start = p->lx.tok.at.start, back;
	VEC(struct node *) kids = { 0 };
	struct type_name tn;
	struct node *n;
	bool comma = false;

	lex_next(&p->lx);
	back = p->lx.tok.at.start;
	if (parse_type_name(p, &tn)) {
		if (parse_accept(p, OP1(')')))
			return cast(p, start, &tn);
		lex_seek(&p->lx, back);
	}
	n = parse_node(p, N_TUPLE, (struct span_at){ start, start });
	if (record_follows(p)) {
		record_elements(p, n);
		comma = true;
	} else {
		while (!p->panic && !parse_is(p, OP1(')'))) {
			vec_push(&kids, parse_expr(p));
			if (!parse_accept(p, OP1(',')))
				break;
			comma = true;
		}
		parse_kids(p, n, kids.items, kids.len);
		vec_release(&kids);
	}
	parse_expect(p, OP1(')'), ")");
	n->at.end = p->lx.prev_end;
	if (comma || n->n_kids != 1)
		return n;
	return n->kids[0];
}

static struct node *map(struct parser *p)
{
	struct node *n = parse_node(p, N_MAP, p->lx.tok.at);

	n->str = parse_text(p, &p->lx.tok);
	lex_next(&p->lx);
	if (parse_is(p, OP1('[')) && p->lx.tok.at.start == n->at.end) {
		lex_next(&p->lx);
		list(p, n, OP1(']'), "]");
		if (!n->n_kids && !p->panic)
			diag_error(p->diags, n->at, "the key of %s is missing", n->str);
		if (n->n_kids == 1 && n->kids[0]->kind == N_TUPLE && !n->kids[0]->names &&
		    n->kids[0]->n_kids > 1) {
			n->n_kids = n->kids[0]->n_kids;
			n->kids = n->kids[0]->kids;
		}
	}
	return n;
}

static struct node *literal(struct parser *p, enum node_kind kind)
{
	struct node *n = parse_node(p, kind, p->lx.tok.at);

	n->ival = p->lx.tok.value;
	n->flag = p->lx.tok.is_unsigned;
	n->str = parse_text(p, &p->lx.tok);
	lex_next(&p->lx);
	return n;
}

static struct node *primary(struct parser *p)
{
	struct node *n;

	switch (p->lx.tok.kind) {
	case TOK_INT: return literal(p, N_INT);
	case TOK_PARAM: return literal(p, N_PARAM);
	case TOK_PARAM_COUNT: return literal(p, N_PARAM_COUNT);
	case TOK_STRING: return string(p);
	case TOK_VAR: return literal(p, N_VAR);
	case TOK_MAP: return map(p);
	case TOK_IDENT: return word(p);
	default: break;
	}
	if (parse_is(p, OP1('(')))
		return parenthesis(p);
	if (parse_is(p, OP1('{'))) {
		n = parse_block(p);
		n->kind = N_BLOCK_EXPR;
		return n;
	}
	parse_unexpected(p, NULL);
	n = parse_node(p, N_INT, p->lx.tok.at);
	return n;
}

static struct node *field(struct parser *p, struct node *of, bool arrow)
{
	struct node *n;
	struct token t = p->lx.tok;

	if (t.kind != TOK_IDENT && t.kind != TOK_INT) {
		parse_unexpected(p, "name of a field");
		return of;
	}
	lex_next(&p->lx);
	n = make(p, N_FIELD, of->at.start, of, NULL);
	n->str = parse_text(p, &t);
	n->ival = t.value;
	n->flag = arrow;
	return n;
}

static struct node *postfix(struct parser *p)
{
	struct node *n = primary(p);

	for (u32 i = 0; !p->panic; i++) {
		if (i > PARSE_MAX_DEPTH) {
			diag_error(p->diags, n->at, "too many members of members");
			p->panic = true;
		} else if (parse_accept(p, OP1('.'))) {
			n = field(p, n, false);
		} else if (parse_accept(p, OP2('-', '>'))) {
			n = field(p, n, true);
		} else if (parse_accept(p, OP1('['))) {
			struct node *index = parse_expr(p);

			parse_expect(p, OP1(']'), "]");
			n = make(p, N_INDEX, n->at.start, n, index);
		} else if (parse_is(p, OP2('+', '+')) || parse_is(p, OP2('-', '-'))) {
			u32 op = p->lx.tok.op;

			if (p->opts->strict && n->kind != N_VAR && n->kind != N_MAP) {
				diag_error(p->diags, p->lx.tok.at,
					   "syntax: increment/decrement requires a variable or "
					   "map");
				p->panic = true;
				break;
			}
			lex_next(&p->lx);
			n = make(p, N_INCDEC, n->at.start, n, NULL);
			n->op = op;
		} else {
			break;
		}
	}
	return n;
}

/* What '&' is before: bpftrace takes the address of a variable or of a map, and no more. */
static struct node *place(struct parser *p)
{
	struct node *n;

	if (!p->opts->strict)
		return unary(p);
	if (p->lx.tok.kind == TOK_VAR)
		return literal(p, N_VAR);
	if (p->lx.tok.kind == TOK_MAP) {
		n = parse_node(p, N_MAP, p->lx.tok.at);
		n->str = parse_text(p, &p->lx.tok);
		lex_next(&p->lx);
		return n;
	}
	if (p->lx.tok.kind != TOK_ERROR && p->lx.tok.kind != TOK_END && !p->panic) {
		struct span_at at = p->lx.tok.at;

		if (p->lx.tok.kind != TOK_IDENT)
			at.end = at.start + 1;
		diag_error(p->diags, at,
			   "syntax: address-of operator (&) can only be used on a "
			   "map or variable");
		p->panic = true;
	}
	parse_unexpected(p, NULL);
	return parse_node(p, N_INT, p->lx.tok.at);
}

static struct node *unary(struct parser *p)
{
	u32 op = p->lx.tok.op, start = p->lx.tok.at.start;
	struct node *n;

	if (!deeper(p))
		return parse_node(p, N_INT, p->lx.tok.at);
	if (parse_is(p, OP2('+', '+')) || parse_is(p, OP2('-', '-'))) {
		lex_next(&p->lx);
		n = make(p, N_INCDEC, start, unary(p), NULL);
		n->flag = true;
		n->op = op;
	} else if (parse_is(p, OP1('-')) || parse_is(p, OP1('!')) || parse_is(p, OP1('~')) ||
		   parse_is(p, OP1('*')) || parse_is(p, OP1('&'))) {
		lex_next(&p->lx);
		n = make(p, N_UNARY, start, op == OP1('&') ? place(p) : unary(p), NULL);
		n->op = op;
	} else {
		n = postfix(p);
	}
	p->depth--;
	n->at.end = MAX(n->at.end, n->at.start);
	return n;
}

struct level {
	u32 op;
	int binds;
};

static int binds(const struct parser *p)
{
	static const struct level levels[] = {
		{ OP2('|', '|'), 1 }, { OP2('&', '&'), 2 }, { OP1('|'), 3 },
		{ OP1('^'), 4 },      { OP1('&'), 5 },      { OP2('=', '='), 6 },
		{ OP2('!', '='), 6 }, { OP1('<'), 7 },      { OP1('>'), 7 },
		{ OP2('<', '='), 7 }, { OP2('>', '='), 7 }, { OP2('<', '<'), 8 },
		{ OP2('>', '>'), 8 }, { OP1('+'), 9 },      { OP1('-'), 9 },
		{ OP1('*'), 10 },     { OP1('/'), 10 },     { OP1('%'), 10 },
	};

	if (p->lx.tok.kind != TOK_OP)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(levels); i++) {
		if (p->lx.tok.op == levels[i].op)
			return levels[i].binds;
	}
	return 0;
}

static struct node *binary(struct parser *p, int min)
{
	struct node *left = unary(p);

	for (int level; !p->panic && (level = binds(p)) >= min && level;) {
		u32 op = p->lx.tok.op;
		struct node *right;

		lex_next(&p->lx);
		if (!deeper(p))
			return left;
		right = binary(p, level + 1);
		p->depth--;
		left = make(p, N_BINARY, left->at.start, left, right);
		left->op = op;
	}
	return left;
}

/* a ?: b: { let $x = a; $x ? $x : b }, so that a is evaluated once. */
static struct node *or_else(struct parser *p, struct node *a)
{
	const char *name = arena_printf(&p->prog->arena, "$?%u", a->at.start);
	struct node *n, *let, *kids[3];

	/* A literal is what it is. */
	if (a->kind == N_STR || a->kind == N_INT) {
		kids[0] = kids[1] = a;
		kids[2] = parse_expr(p);
		n = parse_node(p, N_TERNARY, (struct span_at){ a->at.start, p->lx.prev_end });
		parse_kids(p, n, kids, 3);
		return n;
	}

	for (int i = 0; i < 3; i++) {
		kids[i] = parse_node(p, N_VAR, a->at);
		kids[i]->str = name;
	}
	let = make(p, N_LET, a->at.start, kids[0], a);
	kids[0] = parse_node(p, N_VAR, a->at);
	kids[0]->str = name;
	kids[2] = parse_expr(p);
	n = parse_node(p, N_TERNARY, (struct span_at){ a->at.start, p->lx.prev_end });
	parse_kids(p, n, kids, 3);
	n = make(p, N_EXPR, a->at.start, n, NULL);
	return make(p, N_BLOCK_EXPR, a->at.start, let, n);
}

struct node *parse_expr(struct parser *p)
{
	struct node *n, *kids[3];

	if (!deeper(p))
		return parse_node(p, N_INT, p->lx.tok.at);
	n = binary(p, 1);
	if (!p->panic && parse_accept(p, OP1('?'))) {
		if (parse_accept(p, OP1(':'))) {
			n = or_else(p, n);
			p->depth--;
			return n;
		}
		kids[0] = n;
		kids[1] = parse_expr(p);
		parse_expect(p, OP1(':'), ":");
		kids[2] = parse_expr(p);
		n = parse_node(p, N_TERNARY, (struct span_at){ kids[0]->at.start, p->lx.prev_end });
		parse_kids(p, n, kids, 3);
	}
	p->depth--;
	return n;
}
