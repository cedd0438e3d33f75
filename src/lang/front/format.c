/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lang/front/format.h"

#include "lang/front/lex.h"

static void indent(struct buf *out, u32 depth)
{
	buf_fill(out, '\t', depth);
}

static void add_op(struct buf *out, u32 op)
{
	for (; op; op >>= 8)
		buf_addch(out, (char)op);
}

static void add_quoted(struct buf *out, const char *s, size_t n)
{
	static const char from[] = "\n\r\t\\\"", to[] = "nrt\\\"";

	buf_addch(out, '"');
	for (size_t i = 0; i < n; i++) {
		const char *at = s[i] ? strchr(from, s[i]) : NULL;

		if (at)
			buf_addf(out, "\\%c", to[at - from]);
		else if ((u8)s[i] < 32 || s[i] == 127)
			buf_addf(out, "\\x%02x", (u8)s[i]);
		else
			buf_addch(out, s[i]);
	}
	buf_addch(out, '"');
}

static void format_expr(const struct node *n, struct buf *out);

static void add_type(struct buf *out, const struct type_name *tn)
{
	buf_addstr(out, tn->name);
	if (tn->of) {
		buf_addch(out, '(');
		format_expr(tn->of, out);
		buf_addch(out, ')');
	}
	if (tn->pointers)
		buf_addch(out, ' ');
	buf_fill(out, '*', tn->pointers);
	for (u32 i = 0; i < tn->n_dims; i++)
		buf_addf(out, "[%u]", tn->dims[i]);
	buf_fill(out, '*', tn->outer);
}

static void format_stmt(const struct node *n, u32 depth, struct buf *out);

static void format_list(const struct node *n, struct buf *out)
{
	for (u32 i = 0; i < n->n_kids; i++) {
		if (i)
			buf_addstr(out, ", ");
		if (n->names)
			buf_addf(out, "%s = ", n->names[i]);
		format_expr(n->kids[i], out);
	}
}

/* What binds less than its surroundings gets parentheses. */
static bool is_compound(const struct node *n)
{
	return n->kind == N_BINARY || n->kind == N_TERNARY;
}

static void format_operand(const struct node *n, struct buf *out)
{
	bool paren = is_compound(n);

	if (paren)
		buf_addch(out, '(');
	format_expr(n, out);
	if (paren)
		buf_addch(out, ')');
}

static void format_block(const struct node *n, u32 depth, struct buf *out)
{
	buf_addstr(out, "{\n");
	for (u32 i = 0; i < n->n_kids; i++) {
		indent(out, depth + 1);
		format_stmt(n->kids[i], depth + 1, out);
		buf_addch(out, '\n');
	}
	indent(out, depth);
	buf_addch(out, '}');
}

static void format_size(const struct node *n, struct buf *out)
{
	buf_addstr(out, n->kind == N_SIZEOF     ? "sizeof("
			: n->kind == N_TYPEINFO ? "typeinfo("
						: "offsetof(");
	if (n->tn)
		add_type(out, n->tn);
	else
		format_expr(n->kids[0], out);
	if (n->kind == N_OFFSETOF)
		buf_addf(out, ", %s", n->str);
	buf_addch(out, ')');
}

/* What stands around or between operands; false: it is nothing of that. */
static bool format_operation(const struct node *n, struct buf *out)
{
	switch (n->kind) {
	case N_UNARY:
		add_op(out, n->op);
		format_operand(n->kids[0], out);
		break;
	case N_INCDEC:
		if (n->flag)
			add_op(out, n->op);
		format_operand(n->kids[0], out);
		if (!n->flag)
			add_op(out, n->op);
		break;
	case N_BINARY:
		format_operand(n->kids[0], out);
		buf_addch(out, ' ');
		add_op(out, n->op);
		buf_addch(out, ' ');
		format_operand(n->kids[1], out);
		break;
	case N_TERNARY:
		format_operand(n->kids[0], out);
		buf_addstr(out, " ? ");
		format_operand(n->kids[1], out);
		buf_addstr(out, " : ");
		format_operand(n->kids[2], out);
		break;
	case N_FIELD:
		format_operand(n->kids[0], out);
		buf_addf(out, "%s%s", n->flag ? "->" : ".", n->str);
		break;
	case N_INDEX:
		format_operand(n->kids[0], out);
		buf_addch(out, '[');
		format_expr(n->kids[1], out);
		buf_addch(out, ']');
		break;
	case N_CAST:
		buf_addch(out, '(');
		add_type(out, n->tn);
		buf_addch(out, ')');
		format_operand(n->kids[0], out);
		break;
	default: return false;
	}
	return true;
}

static void format_expr(const struct node *n, struct buf *out)
{
	switch (n->kind) {
	case N_INT:
		if (n->str && *n->str)
			buf_addstr(out, n->str);
		else
			buf_addf(out, "%lld", (long long)n->ival);
		break;
	case N_STR: add_quoted(out, n->str, n->str_len); break;
	case N_IDENT:
	case N_VAR:
	case N_PARAM:
	case N_PARAM_COUNT: buf_addstr(out, n->str); break;
	case N_MAP:
		buf_addstr(out, n->str);
		if (n->n_kids) {
			buf_addch(out, '[');
			format_list(n, out);
			buf_addch(out, ']');
		}
		break;
	case N_CALL:
		buf_addf(out, "%s(", n->str);
		format_list(n, out);
		buf_addch(out, ')');
		break;
	case N_TUPLE:
		buf_addch(out, '(');
		format_list(n, out);
		buf_addstr(out, n->n_kids == 1 && !n->names ? ",)" : ")");
		break;
	case N_SIZEOF:
	case N_TYPEINFO:
	case N_OFFSETOF: format_size(n, out); break;
	default:
		if (!format_operation(n, out))
			format_stmt(n, 0, out);
		break;
	}
}

static void format_if(const struct node *n, u32 depth, struct buf *out)
{
	buf_addstr(out, n->flag ? "if comptime (" : "if (");
	format_expr(n->kids[0], out);
	buf_addstr(out, ") ");
	format_block(n->kids[1], depth, out);
	if (n->n_kids < 3)
		return;
	buf_addstr(out, " else ");
	format_stmt(n->kids[2], depth, out);
}

static void format_loop(const struct node *n, u32 depth, struct buf *out)
{
	switch (n->kind) {
	case N_WHILE: buf_addstr(out, "while ("); break;
	case N_UNROLL: buf_addstr(out, "unroll ("); break;
	default: buf_addf(out, "for (%s : ", n->kids[0]->str); break;
	}
	if (n->kind == N_WHILE || n->kind == N_UNROLL)
		format_expr(n->kids[0], out);
	else
		format_expr(n->kids[1], out);
	if (n->kind == N_FOR_RANGE) {
		buf_addstr(out, "..");
		format_operand(n->kids[2], out);
	}
	buf_addstr(out, ") ");
	format_block(n->kids[n->n_kids - 1], depth, out);
}

static void format_assign(const struct node *n, struct buf *out)
{
	format_expr(n->kids[0], out);
	buf_addch(out, ' ');
	if (n->op != OP1('='))
		add_op(out, n->op);
	buf_addstr(out, "= ");
	format_expr(n->kids[1], out);
}

static void format_stmt(const struct node *n, u32 depth, struct buf *out)
{
	switch (n->kind) {
	case N_BLOCK:
	case N_BLOCK_EXPR: format_block(n, depth, out); return;
	case N_IF: format_if(n, depth, out); return;
	case N_WHILE:
	case N_UNROLL:
	case N_FOR_MAP:
	case N_FOR_RANGE: format_loop(n, depth, out); return;
	case N_ASSIGN: format_assign(n, out); break;
	case N_LET:
		buf_addf(out, "let %s", n->kids[0]->str);
		if (n->tn) {
			buf_addstr(out, ": ");
			add_type(out, n->tn);
		}
		if (n->n_kids > 1) {
			buf_addstr(out, " = ");
			format_expr(n->kids[1], out);
		}
		break;
	case N_BREAK: buf_addstr(out, "break"); break;
	case N_CONTINUE: buf_addstr(out, "continue"); break;
	case N_RETURN:
		buf_addstr(out, n->n_kids ? "return " : "return");
		if (n->n_kids)
			format_expr(n->kids[0], out);
		break;
	case N_EXPR: format_expr(n->kids[0], out); break;
	default: format_expr(n, out); break;
	}
	buf_addch(out, ';');
}

static void format_struct(const struct c_struct *s, struct buf *out)
{
	buf_addf(out, "%s\n{\n", s->name);
	for (size_t i = 0; i < s->fields.len; i++) {
		const struct c_field *f = &s->fields.items[i];

		buf_addf(out, "\t%s ", f->tn.name);
		buf_fill(out, '*', f->tn.pointers);
		buf_addstr(out, f->name);
		for (u32 d = 0; d < f->tn.n_dims; d++)
			buf_addf(out, "[%u]", f->tn.dims[d]);
		if (f->bits)
			buf_addf(out, " : %u", f->bits);
		buf_addstr(out, ";\n");
	}
	buf_addstr(out, "};\n\n");
}

static void format_head(const struct program *p, struct buf *out)
{
	vec_each(it, &p->defines) {
		if (it->text)
			buf_addf(out, "#define %s %s\n", it->name, it->text);
	}
	if (p->config.len) {
		buf_addstr(out, "config = {\n");
		vec_each(it, &p->config)
			buf_addf(out, "\t%s = %s;\n", it->key, it->value);
		buf_addstr(out, "}\n\n");
	}
	vec_each(it, &p->structs)
		format_struct(*it, out);
	vec_each(it, &p->map_decls)
		buf_addf(out, "let %s = %s(%llu);\n", it->name, it->kind,
			 (unsigned long long)it->size);
	vec_each(it, &p->macros) {
		buf_addf(out, "macro %s(", it->name);
		for (u32 i = 0; i < it->n_params; i++)
			buf_addf(out, "%s%s", i ? ", " : "", it->params[i]->str);
		buf_addstr(out, ") ");
		format_block(it->body, 0, out);
		buf_addstr(out, "\n\n");
	}
}

/* Blanks and the like need quotes; the type of the probe stays outside. */
static void format_spec(const char *text, const char *before, struct buf *out)
{
	size_t type = strcspn(text, ":");

	if (!strpbrk(text, " \t,;{}") || !text[type])
		buf_addf(out, "%s%s", before, text);
	else
		buf_addf(out, "%s%.*s:\"%s\"", before, (int)type, text, text + type + 1);
}

void format_program(const struct program *p, struct buf *out)
{
	vec_each(it, &p->imports) {
		buf_addstr(out, "import ");
		add_quoted(out, *it, strlen(*it));
		buf_addstr(out, ";\n");
	}
	if (p->imports.len)
		buf_addch(out, '\n');
	format_head(p, out);
	for (size_t i = 0; i < p->probes.len; i++) {
		const struct probe *pr = &p->probes.items[i];

		if (i)
			buf_addch(out, '\n');
		for (size_t k = 0; k < pr->specs.len; k++)
			format_spec(pr->specs.items[k].text, k ? ",\n" : "", out);
		if (pr->predicate) {
			buf_addstr(out, "\n/");
			format_expr(pr->predicate, out);
			buf_addch(out, '/');
		}
		buf_addch(out, '\n');
		format_block(pr->body, 0, out);
		buf_addch(out, '\n');
	}
}
