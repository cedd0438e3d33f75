/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of types, and the struct, union and enum definitions that a script may begin with. */
#include <ctype.h>

#include "lang/front/parse.h"
#include "lang/check/type.h"

enum { C_MAX_FIELDS = 4096 };

static bool integer_word(const char *s)
{
	static const char *const words[] = { "unsigned", "signed", "long",  "int",
					     "short",    "char",   "const", "volatile" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (streq(s, words[i]))
			return true;
	}
	return false;
}

/* "unsigned long long int" and its like, in one canonical name. */
static const char *integer_name(struct parser *p)
{
	bool is_unsigned = false, is_char = false, is_short = false, any = false;
	int longs = 0;

	while (p->lx.tok.kind == TOK_IDENT) {
		const char *w = parse_text(p, &p->lx.tok);

		if (!integer_word(w))
			break;
		is_unsigned = is_unsigned || streq(w, "unsigned");
		is_char = is_char || streq(w, "char");
		is_short = is_short || streq(w, "short");
		longs += streq(w, "long");
		any = any || (!streq(w, "const") && !streq(w, "volatile"));
		lex_next(&p->lx);
		if (any && p->opts->strict && !p->in_struct)
			break; /* one word is a type outside of C */
	}
	if (!any)
		return NULL;
	if (is_char)
		return is_unsigned ? "uint8" : "int8";
	if (is_short)
		return is_unsigned ? "uint16" : "int16";
	if (longs)
		return is_unsigned ? "uint64" : "int64";
	return is_unsigned ? "uint32" : "int32";
}

static bool is_param(const struct parser *p, const char *w)
{
	for (size_t i = 0; i < p->n_params; i++) {
		if (p->params[i]->kind == N_IDENT && streq(p->params[i]->str, w))
			return true;
	}
	return false;
}

/* "(x)5", "(x[4])$y": so a cast to the type that a parameter of the macro names goes on. */
static bool cast_follows(const struct parser *p, u32 at)
{
	const char *s = p->lx.src->text, *casts = p->opts->strict ? "$@\"(_*&-!~" : "$@\"(_!~";
	u32 len = p->lx.src->len;

	while (at < len && s[at] == '[') {
		at++;
		while (at < len && s[at] >= '0' && s[at] <= '9')
			at++;
		if (at >= len || s[at] != ']')
			return false;
		at = lex_skip_blank(&p->lx, at + 1);
	}
	if (at >= len || s[at] != ')')
		return false;
	at = lex_skip_blank(&p->lx, at + 1);
	return at < len && (isalnum((unsigned char)s[at]) || strchr(casts, s[at]));
}

static bool starts_type(struct parser *p, const char *w)
{
	u32 next;
	const char *s = p->lx.src->text;

	if (streq(w, "struct") || streq(w, "union") || streq(w, "enum") || integer_word(w) ||
	    type_is_name(w))
		return true;
	if (streq(w, "typeof"))
		return p->lx.tok.at.end < p->lx.src->len && s[p->lx.tok.at.end] == '(';
	/* name *) can only be a cast: a product would need something after the star. */
	next = lex_skip_blank(&p->lx, p->lx.tok.at.end);
	/* (name)5 and (name)$x: so can only be this. */
	if (next + 1 < p->lx.src->len && s[next] == ')' && !program_define(p->prog, w) &&
	    ((s[next + 1] >= '0' && s[next + 1] <= '9') || s[next + 1] == '$' ||
	     s[next + 1] == '@' || s[next + 1] == '"'))
		return true;
	if (is_param(p, w) && cast_follows(p, next))
		return true;
	if (next >= p->lx.src->len || s[next] != '*')
		return false;
	while (next < p->lx.src->len && s[next] == '*')
		next = lex_skip_blank(&p->lx, next + 1);
	return next < p->lx.src->len && s[next] == ')';
}

/* typeof(type) is the type itself. */
static void type_of(struct parser *p, struct type_name *ret)
{
	struct span_at at = ret->at;

	lex_next(&p->lx);
	parse_expect(p, OP1('('), "(");
	if (!parse_type_name(p, ret)) {
		ret->name = "typeof";
		ret->of = parse_expr(p);
	}
	ret->at = at;
	parse_expect(p, OP1(')'), ")");
}

static void base_name(struct parser *p, const char *w, struct type_name *ret)
{
	if (streq(w, "typeof")) {
		type_of(p, ret);
		return;
	}
	if (streq(w, "struct") || streq(w, "union") || streq(w, "enum")) {
		lex_next(&p->lx);
		ret->name =
			arena_printf(&p->prog->arena, "%s %s", w,
				     p->lx.tok.kind == TOK_IDENT ? parse_text(p, &p->lx.tok) : "");
		if (p->lx.tok.kind == TOK_IDENT)
			lex_next(&p->lx);
		return;
	}
	ret->name = integer_word(w) ? integer_name(p) : NULL;
	if (!ret->name && p->lx.tok.kind == TOK_IDENT) {
		w = parse_text(p, &p->lx.tok);
		if (streq(w, "struct") || streq(w, "union") || streq(w, "enum")) {
			base_name(p, w, ret); /* const struct x */
			return;
		}
		ret->name = w;
		lex_next(&p->lx);
	}
	while (parse_is_word(p, "const") || parse_is_word(p, "volatile"))
		lex_next(&p->lx);
}

/* The value of an expression of literals and constants. */
static bool constant(const struct node *n, s64 *ret)
{
	s64 a, b = 0;

	if (n->kind == N_INT) {
		*ret = (s64)n->ival;
		return true;
	}
	if ((n->kind != N_UNARY && n->kind != N_BINARY) || !constant(n->kids[0], &a) ||
	    (n->kind == N_BINARY && !constant(n->kids[1], &b)))
		return false;
	if (n->kind == N_UNARY) {
		*ret = n->op == OP1('-') ? (s64)(0 - (u64)a) : n->op == OP1('~') ? ~a : !a;
		return n->op == OP1('-') || n->op == OP1('~') || n->op == OP1('!');
	}
	if ((n->op == OP1('/') || n->op == OP1('%')) && (!b || b == -1))
		return false;
	switch (n->op) {
	case OP1('+'): *ret = (s64)((u64)a + (u64)b); return true;
	case OP1('-'): *ret = (s64)((u64)a - (u64)b); return true;
	case OP1('*'): *ret = (s64)((u64)a * (u64)b); return true;
	case OP1('/'): *ret = a / b; return true;
	case OP1('%'): *ret = a % b; return true;
	case OP1('|'): *ret = a | b; return true;
	case OP1('&'): *ret = a & b; return true;
	case OP1('^'): *ret = a ^ b; return true;
	case OP2('<', '<'): *ret = (s64)((u64)a << (b & 63)); return true;
	case OP2('>', '>'): *ret = a >> (b & 63); return true;
	default: return false;
	}
}

static void dimension(struct parser *p, struct type_name *ret)
{
	u64 n = 0;

	lex_next(&p->lx);
	if (!parse_is(p, OP1(']'))) {
		const struct node *count = parse_expr(p);
		s64 value = -1;

		if (!constant(count, &value) || value < 0 || value > TYPE_MAX_SIZE) {
			diag_error(p->diags, count->at, "the size of an array must be a number");
			p->panic = true;
		}
		n = (u64)MAX(value, 0);
	}
	parse_expect(p, OP1(']'), "]");
	if (ret->n_dims < TYPE_NAME_DIMS)
		ret->dims[ret->n_dims++] = (u32)n;
}

bool parse_type_name(struct parser *p, struct type_name *ret)
{
	return p->lx.tok.kind == TOK_IDENT && starts_type(p, parse_text(p, &p->lx.tok)) &&
	       parse_declared_type(p, ret);
}

bool parse_declared_type(struct parser *p, struct type_name *ret)
{
	const char *w;

	if (p->lx.tok.kind != TOK_IDENT)
		return false;
	w = parse_text(p, &p->lx.tok);
	*ret = (struct type_name){ .at = p->lx.tok.at };
	base_name(p, w, ret);
	if (!ret->name)
		ret->name = "int32";
	while (parse_is(p, OP1('*')) || parse_is(p, OP1('['))) {
		if (parse_is(p, OP1('['))) {
			dimension(p, ret);
		} else {
			*(ret->n_dims ? &ret->outer : &ret->pointers) += 1;
			lex_next(&p->lx);
		}
		if (p->panic)
			break;
	}
	/* "struct s *= x" in a let: two tokens that are read as one. */
	if (parse_is(p, OP2('*', '='))) {
		ret->pointers++;
		lex_seek(&p->lx, p->lx.tok.at.start + 1);
	}
	ret->at.end = p->lx.prev_end;
	return true;
}

static struct c_struct *struct_body(struct parser *p, const char *name, bool is_union);

struct attributes {
	bool packed;
	u32 aligned;
};

/* __attribute__((packed, aligned(16))): what changes the layout counts, the rest is skipped. */
static void attributes(struct parser *p, struct attributes *ret)
{
	while (parse_is_word(p, "__attribute__") && !p->panic) {
		u32 depth = 0;

		lex_next(&p->lx);
		do {
			depth += parse_is(p, OP1('('));
			depth -= depth && parse_is(p, OP1(')'));
			if (parse_is_word(p, "packed") || parse_is_word(p, "__packed__"))
				ret->packed = true;
			if (p->lx.tok.kind == TOK_INT)
				ret->aligned = (u32)MIN(p->lx.tok.value, 4096u);
			lex_next(&p->lx);
		} while (depth && p->lx.tok.kind != TOK_END);
	}
}

/* int (*name)(int, char *): a pointer, whatever its parameters are. */
static bool function_pointer(struct parser *p, struct c_field *f)
{
	u32 depth = 0;

	if (!parse_is(p, OP1('(')))
		return false;
	lex_next(&p->lx);
	parse_expect(p, OP1('*'), "*");
	f->name = parse_text(p, &p->lx.tok);
	lex_next(&p->lx);
	parse_expect(p, OP1(')'), ")");
	f->tn = (struct type_name){ .name = "void", .pointers = 1, .at = f->tn.at };
	do {
		depth += parse_is(p, OP1('('));
		depth -= depth && parse_is(p, OP1(')'));
		lex_next(&p->lx);
	} while (depth && p->lx.tok.kind != TOK_END);
	return true;
}

/* "*a[4], b : 3;" after the type of the fields. */
static void declarators(struct parser *p, struct c_struct *s, const struct c_field *base)
{
	do {
		struct c_field f = *base;

		while (parse_accept(p, OP1('*')))
			f.tn.pointers++;
		if (!function_pointer(p, &f) && p->lx.tok.kind == TOK_IDENT &&
		    !parse_is_word(p, "__attribute__")) {
			f.name = parse_text(p, &p->lx.tok);
			lex_next(&p->lx);
		}
		while (parse_is(p, OP1('[')) && !p->panic)
			dimension(p, &f.tn);
		if (parse_accept(p, OP1(':'))) {
			f.bits = (u32)MIN(p->lx.tok.value, 64u);
			lex_next(&p->lx);
		}
		if (s->fields.len >= C_MAX_FIELDS) {
			diag_error(p->diags, p->lx.tok.at, "more than %d fields", C_MAX_FIELDS);
			p->panic = true;
			return;
		}
		vec_push(&s->fields, f);
	} while (!p->panic && parse_accept(p, OP1(',')));
}

static void field_line(struct parser *p, struct c_struct *s)
{
	struct c_field f = { .name = "" };
	const char *w;

	if (p->lx.tok.kind != TOK_IDENT) {
		parse_unexpected(p, "field");
		return;
	}
	w = parse_text(p, &p->lx.tok);
	f.tn.at = p->lx.tok.at;
	base_name(p, w, &f.tn);
	if (!f.tn.name)
		f.tn.name = "int32";
	if (parse_is(p, OP1('{')))
		f.inner = struct_body(p, f.tn.name, streq(w, "union"));
	declarators(p, s, &f);
	attributes(p, &(struct attributes){ 0 });
	if (!parse_is(p, OP1('}'))) /* the last one may do without */
		parse_expect(p, OP1(';'), ";");
}

static struct c_struct *struct_body(struct parser *p, const char *name, bool is_union)
{
	struct c_struct *s = arena_zalloc(&p->prog->arena, sizeof(*s));
	struct attributes a = { 0 };

	s->name = name;
	s->is_union = is_union;
	vec_push(&p->prog->structs, s);
	lex_next(&p->lx);
	if (++p->depth > PARSE_MAX_DEPTH) {
		diag_error(p->diags, p->lx.tok.at, "structs are nested too deep");
		p->panic = true;
	}
	p->in_struct++;
	while (!p->panic && p->lx.tok.kind != TOK_END && !parse_is(p, OP1('}')))
		field_line(p, s);
	p->in_struct--;
	p->depth--;
	parse_expect(p, OP1('}'), "}");
	attributes(p, &a);
	s->packed = a.packed;
	s->aligned = a.aligned;
	return s;
}

/* Constants of an enum without a name need one too, to be found by their value. */
static void enum_body(struct parser *p, const struct type_name *tn)
{
	struct type_name *of = arena_dup(&p->prog->arena, tn, sizeof(*tn));
	s64 value = 0;

	if (streq(of->name, "enum "))
		of->name = arena_printf(&p->prog->arena, "enum %u", p->lx.tok.at.start);

	lex_next(&p->lx);
	while (!p->panic && p->lx.tok.kind == TOK_IDENT) {
		struct define d = { .name = parse_text(p, &p->lx.tok), .of = of };

		lex_next(&p->lx);
		if (parse_accept(p, OP1('='))) {
			const struct node *n = parse_expr(p);

			if (!constant(n, &value) && !p->panic) {
				diag_error(p->diags, n->at, "the value of an enum is constant");
				p->panic = true;
			}
		}
		d.value = value;
		value = (s64)((u64)value + 1);
		vec_push(&p->prog->defines, d);
		if (!parse_accept(p, OP1(',')))
			break;
	}
	parse_expect(p, OP1('}'), "}");
}

void parse_c_definition(struct parser *p)
{
	struct type_name tn = { 0 };
	struct c_struct *s = NULL;
	const char *w;

	parse_accept_word(p, "typedef");
	w = parse_text(p, &p->lx.tok);
	base_name(p, w, &tn);
	if (p->opts->strict && parse_is(p, OP1(';'))) {
		diag_error(
			p->diags,
			(struct span_at){ p->lx.prev_end - (u32)(strlen(tn.name) - strlen(w) - 1),
					  p->lx.prev_end },
			"syntax: expected '{': a declaration defines nothing");
		p->panic = true;
		return;
	}
	if (parse_is(p, OP1('{')) && streq(w, "enum"))
		enum_body(p, &tn);
	else if (parse_is(p, OP1('{')))
		s = struct_body(p, tn.name, streq(w, "union"));
	while (parse_accept(p, OP1('*')))
		;
	if (p->lx.tok.kind == TOK_IDENT) {
		u32 next = lex_skip_blank(&p->lx, p->lx.tok.at.end);

		/* "} name;" of a typedef, but not the probe that follows without a semicolon. */
		if (next < p->lx.src->len && p->lx.src->text[next] == ';') {
			if (s && streq(s->name, "struct "))
				s->name = arena_printf(&p->prog->arena, "struct %s",
						       parse_text(p, &p->lx.tok));
			lex_next(&p->lx);
		}
	}
	parse_accept(p, OP1(';'));
}
