/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Statements. */
#include "lang/front/parse.h"

/* To the end of the statement or block, so that the next one can be read. */
void parse_recover(struct parser *p)
{
	u32 depth = 0;

	while (p->lx.tok.kind != TOK_END) {
		if (!depth && (parse_is(p, OP1(';')) || parse_is(p, OP1('}'))))
			break;
		if (parse_is(p, OP1('{')))
			depth++;
		if (parse_is(p, OP1('}')))
			depth--;
		lex_next(&p->lx);
	}
	p->panic = false;
}

static struct node *statement(struct parser *p);

/* Empty statements; bpftrace has one after the braces of 'if' and of a block alone. */
static void empty_statements(struct parser *p, enum node_kind before)
{
	if (p->opts->strict && before != N_IF && before != N_BLOCK)
		return;
	while (parse_accept(p, OP1(';')) && !p->opts->strict)
		;
}

struct node *parse_block(struct parser *p)
{
	struct node *n = parse_node(p, N_BLOCK, p->lx.tok.at);
	VEC(struct node *) list = { 0 };

	if (!parse_expect(p, OP1('{'), "{"))
		return n;
	if (++p->depth > PARSE_MAX_DEPTH) {
		diag_error(p->diags, n->at, "blocks are nested more than %d deep", PARSE_MAX_DEPTH);
		p->panic = true;
		lex_seek(&p->lx, (u32)p->lx.src->len);
	}
	empty_statements(p, N_EXPR);
	while (p->lx.tok.kind != TOK_END && !parse_is(p, OP1('}'))) {
		struct node *s = statement(p);

		if (p->panic)
			parse_recover(p);
		else
			vec_push(&list, s);
		if (s->kind == N_IF || s->kind == N_WHILE || s->kind == N_FOR_MAP ||
		    s->kind == N_FOR_RANGE || s->kind == N_UNROLL || s->kind == N_BLOCK) {
			empty_statements(p, s->kind);
			n->flag = parse_is(p, OP1('}'));
			continue;
		}
		n->flag = parse_is(p, OP1('}'));
		if (!n->flag && !parse_accept(p, OP1(';'))) {
			parse_unexpected(p, p->lx.tok.kind == TOK_END ? "}" : "; or }");
			parse_recover(p);
		}
		empty_statements(p, N_EXPR);
	}
	p->depth--;
	parse_expect(p, OP1('}'), "}");
	n->at.end = p->lx.prev_end;
	parse_kids(p, n, list.items, list.len);
	vec_release(&list);
	return n;
}

static struct node *if_statement(struct parser *p)
{
	struct node *n = parse_node(p, N_IF, p->lx.tok.at), *kids[3];
	size_t count = 2;

	lex_next(&p->lx);
	n->op = p->lx.tok.at.start;
	n->flag = parse_accept_word(p, "comptime");
	kids[0] = parse_expr(p);
	kids[1] = parse_block(p);
	if (parse_accept_word(p, "else")) {
		if (++p->depth > PARSE_MAX_DEPTH) {
			diag_error(p->diags, n->at, "'else if' is chained more than %d times",
				   PARSE_MAX_DEPTH);
			p->panic = true;
			lex_seek(&p->lx, (u32)p->lx.src->len);
		}
		kids[count++] = parse_is_word(p, "if") ? if_statement(p) : parse_block(p);
		p->depth--;
	}
	n->at.end = p->lx.prev_end;
	parse_kids(p, n, kids, count);
	return n;
}

static struct node *loop_statement(struct parser *p, enum node_kind kind)
{
	struct node *n = parse_node(p, kind, p->lx.tok.at), *kids[2];

	lex_next(&p->lx);
	kids[0] = parse_expr(p);
	kids[1] = parse_block(p);
	n->at.end = p->lx.prev_end;
	parse_kids(p, n, kids, 2);
	return n;
}

struct node *parse_variable(struct parser *p)
{
	struct node *n = parse_node(p, N_VAR, p->lx.tok.at);

	if (p->lx.tok.kind != TOK_VAR) {
		parse_unexpected(p, "variable");
		n->str = "$";
		return n;
	}
	n->str = parse_text(p, &p->lx.tok);
	lex_next(&p->lx);
	return n;
}

/* The end of a range: one with a sign is in parentheses. */
static struct node *bound(struct parser *p)
{
	if (p->opts->strict && (parse_is(p, OP1('-')) || parse_is(p, OP1('!')) ||
				parse_is(p, OP1('~')) || parse_is(p, OP1('*'))))
		parse_unexpected(p, NULL);
	return parse_expr(p);
}

/* for ($kv : @map) { }  for ($i : 0..10) { } */
static struct node *for_statement(struct parser *p)
{
	struct node *n = parse_node(p, N_FOR_MAP, p->lx.tok.at), *kids[4];
	size_t count = 0;
	bool paren;

	lex_next(&p->lx);
	paren = parse_accept(p, OP1('('));
	kids[count++] = parse_variable(p);
	parse_expect(p, OP1(':'), ":");
	kids[count++] = bound(p);
	if (parse_accept(p, OP2('.', '.'))) {
		n->kind = N_FOR_RANGE;
		kids[count++] = bound(p);
	}
	if (paren)
		parse_expect(p, OP1(')'), ")");
	n->at.end = p->lx.prev_end;
	if (p->opts->strict && n->kind == N_FOR_MAP && (kids[1]->kind != N_MAP || kids[1]->n_kids))
		parse_unexpected(p, "map or range in for loop");
	kids[count++] = parse_block(p);
	parse_kids(p, n, kids, count);
	return n;
}

static struct node *let_statement(struct parser *p)
{
	struct node *n = parse_node(p, N_LET, p->lx.tok.at), *kids[2];
	struct type_name tn;
	size_t count = 0;

	lex_next(&p->lx);
	kids[count++] = parse_variable(p);
	if (parse_accept(p, OP1(':'))) {
		if (parse_declared_type(p, &tn))
			n->tn = arena_dup(&p->prog->arena, &tn, sizeof(tn));
		else
			parse_unexpected(p, "type");
	}
	if (parse_accept(p, OP1('=')))
		kids[count++] = parse_expr(p);
	n->at.end = p->lx.prev_end;
	parse_kids(p, n, kids, count);
	return n;
}

static u32 assignment_operator(const struct parser *p)
{
	static const u32 ops[] = {
		OP2('+', '='), OP2('-', '='), OP2('*', '='), OP2('/', '='),
		OP2('%', '='), OP2('&', '='), OP2('|', '='), OP2('^', '='),
	};

	if (parse_is(p, OP1('=')))
		return OP1('=');
	if (parse_is(p, OP3('<', '<', '=')))
		return OP2('<', '<');
	if (parse_is(p, OP3('>', '>', '=')))
		return OP2('>', '>');
	for (size_t i = 0; i < ARRAY_SIZE(ops); i++) {
		if (parse_is(p, ops[i]))
			return ops[i] & 0xff;
	}
	return 0;
}

/* What a value can be assigned to; "_" drops it. */
static bool is_place(const struct node *n)
{
	return n->kind == N_VAR || n->kind == N_MAP || (n->kind == N_IDENT && streq(n->str, "_"));
}

/* The current token assigns to something else than a place. */
static void refuse_target(struct parser *p, const struct node *n, const struct node *target)
{
	bool member = target->kind == N_FIELD || target->kind == N_INDEX;
	u32 start = p->lx.tok.at.start;

	if (p->panic)
		return;
	if (!member || !parse_is(p, OP1('=')) ||
	    (target->kids[0]->kind != N_VAR && target->kids[0]->kind != N_MAP)) {
		p->lx.tok.at.end = start + 1;
		parse_unexpected(p, ";");
		return;
	}
	lex_next(&p->lx);
	parse_expr(p);
	if (p->panic)
		return;
	diag_error(p->diags, (struct span_at){ n->at.start, p->lx.prev_end },
		   target->kind == N_FIELD
			   ? "syntax: Tuples and records are immutable once created. Consider "
			     "creating a new value and assigning it instead."
			   : "syntax: invalid assignment target");
	p->panic = true;
}

static struct node *expression_statement(struct parser *p)
{
	struct node *n = parse_node(p, N_EXPR, p->lx.tok.at), *kids[2];
	size_t count = 1;
	u32 op;

	kids[0] = parse_expr(p);
	op = assignment_operator(p);
	if (op && p->opts->strict && (!is_place(kids[0]) || kids[0]->at.start != n->at.start)) {
		refuse_target(p, n, kids[0]);
	} else if (op) {
		n->kind = N_ASSIGN;
		n->op = op;
		n->ival = p->lx.tok.at.start;
		lex_next(&p->lx);
		kids[count++] = parse_expr(p);
		if (kids[0]->kind == N_IDENT && streq(kids[0]->str, "_")) {
			n->kind = N_EXPR;
			n->flag = true;
			kids[0] = kids[1];
			count = 1;
		} else if (!is_place(kids[0]) && !p->panic) {
			diag_error(p->diags, (struct span_at){ n->at.start, p->lx.prev_end },
				   "only variables and maps can be assigned to");
		}
	}
	n->at.end = p->lx.prev_end;
	parse_kids(p, n, kids, count);
	return n;
}

static struct node *jump_statement(struct parser *p)
{
	struct node *n = parse_node(p, N_RETURN, p->lx.tok.at), *value;

	if (parse_is_word(p, "break"))
		n->kind = N_BREAK;
	if (parse_is_word(p, "continue"))
		n->kind = N_CONTINUE;
	lex_next(&p->lx);
	if (n->kind != N_RETURN && parse_is(p, OP1(';')))
		n->at.end = p->lx.tok.at.end;
	if (n->kind == N_RETURN && !parse_is(p, OP1(';')) && !parse_is(p, OP1('}'))) {
		value = parse_expr(p);
		n->at.end = parse_is(p, OP1(';')) ? p->lx.tok.at.end : p->lx.prev_end;
		parse_kids(p, n, &value, 1);
	}
	return n;
}

static struct node *statement(struct parser *p)
{
	if (parse_is(p, OP1('{')))
		return parse_block(p);
	if (parse_is_word(p, "if"))
		return if_statement(p);
	if (parse_is_word(p, "while"))
		return loop_statement(p, N_WHILE);
	if (parse_is_word(p, "unroll"))
		return loop_statement(p, N_UNROLL);
	if (parse_is_word(p, "for"))
		return for_statement(p);
	if (parse_is_word(p, "let"))
		return let_statement(p);
	if (parse_is_word(p, "return") || parse_is_word(p, "break") || parse_is_word(p, "continue"))
		return jump_statement(p);
	return expression_statement(p);
}
