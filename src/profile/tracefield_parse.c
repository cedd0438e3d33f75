/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The expressions of a print format: C with a handful of helper functions.
 *
 * A recursive descent parser, one function per level of precedence where it matters and a table
 * of operators for the rest. Any fault ends the parse: no guesses.
 */
#include "profile/tracefield_lex.h"

/* --- nodes --------------------------------------------------------------------------------- */

static u32 add(struct parser *p, const struct node *n)
{
	const struct node *all = p->t->nodes.items;
	struct node new = *n;

	new.depth = 1 + MAX(MAX(all[n->a].depth, all[n->b].depth), all[n->c].depth);
	if (p->t->nodes.len >= TRACEFIELD_NODES_MOST || new.depth > TRACEFIELD_TREE_MOST) {
		lex_failed(p, "the format is too long");
		return 0;
	}
	vec_push(&p->t->nodes, new);
	return (u32)(p->t->nodes.len - 1);
}

static u32 add_number(struct parser *p, s64 value)
{
	return add(p, &(struct node){ .kind = NODE_NUMBER, .value = value, .is_signed = true });
}

static u32 parse_expression(struct parser *p);
static u32 parse_unary(struct parser *p);

/* REC->name, or a bare field name as an argument of a helper. */
static bool parse_field(struct parser *p, s64 *ret)
{
	const struct tracepoint_format *f = &p->t->format;

	if (is_word(p, "REC") && (!lex_advance(p) || !lex_expect(p, "->")))
		return false;
	if (p->now.kind != TOKEN_WORD)
		return lex_failed(p, "a field has no name");
	vec_each(field, &f->fields) {
		if (strlen(field->name) == p->now.n &&
		    memcmp(field->name, p->now.s, p->now.n) == 0) {
			*ret = field - f->fields.items;
			return lex_advance(p);
		}
	}
	return lex_failed(p, "a field that does not exist");
}

/* --- types --------------------------------------------------------------------------------- */

struct type {
	u32 size; /* 0: unknown or a pointer */
	bool is_signed;
	bool pointer;
	u32 target; /* size of what it points to */
};

struct basic_type {
	const char *name;
	u8 size;
	bool is_signed;
};

static const struct basic_type basic_types[] = {
	{ "char", 1, true },       { "short", 2, true },     { "int", 4, true },
	{ "long", 8, true },       { "signed", 4, true },    { "unsigned", 4, false },
	{ "void", 0, false },      { "bool", 1, false },     { "_Bool", 1, false },
	{ "u8", 1, false },        { "u16", 2, false },      { "u32", 4, false },
	{ "u64", 8, false },       { "s8", 1, true },        { "s16", 2, true },
	{ "s32", 4, true },        { "s64", 8, true },       { "__u8", 1, false },
	{ "__u16", 2, false },     { "__u32", 4, false },    { "__u64", 8, false },
	{ "__s8", 1, true },       { "__s16", 2, true },     { "__s32", 4, true },
	{ "__s64", 8, true },      { "uint8_t", 1, false },  { "uint16_t", 2, false },
	{ "uint32_t", 4, false },  { "uint64_t", 8, false }, { "int8_t", 1, true },
	{ "int16_t", 2, true },    { "int32_t", 4, true },   { "int64_t", 8, true },
	{ "size_t", 8, false },    { "ssize_t", 8, true },   { "loff_t", 8, true },
	{ "pid_t", 4, true },      { "dev_t", 4, false },    { "gfp_t", 4, false },
	{ "uintptr_t", 8, false }, { "sector_t", 8, false }, { "ktime_t", 8, true },
	{ "__le16", 2, false },    { "__le32", 4, false },   { "__le64", 8, false },
	{ "__be16", 2, false },    { "__be32", 4, false },   { "__be64", 8, false },
	{ "uid_t", 4, false },     { "gid_t", 4, false },    { "ino_t", 8, false },
	{ "umode_t", 2, false },   { "pgoff_t", 8, false },  { "const", 0, false },
};

static const struct basic_type *basic_type(const struct token *t)
{
	for (size_t i = 0; i < ARRAY_SIZE(basic_types); i++)
		if (token_is(t, TOKEN_WORD, basic_types[i].name))
			return &basic_types[i];
	return NULL;
}

/* "__force", "__user": marks for a checker. */
static bool is_mark(const struct token *t)
{
	return token_is(t, TOKEN_WORD, "__force") || token_is(t, TOKEN_WORD, "__user") ||
	       token_is(t, TOKEN_WORD, "volatile") || token_is(t, TOKEN_WORD, "__percpu");
}

/* A word that can only be a type: a known one, struct x, or anything_t. */
static bool begins_type(const struct parser *p)
{
	return p->now.kind == TOKEN_WORD &&
	       (is_word(p, "struct") || is_word(p, "union") || is_word(p, "enum") ||
		basic_type(&p->now) || is_mark(&p->now) ||
		(p->now.n > 2 && memcmp(p->now.s + p->now.n - 2, "_t", 2) == 0));
}

static void merge_basic(struct type *t, const struct token *word, bool *is_unsigned)
{
	const struct basic_type *b = basic_type(word);

	if (!b)
		return;
	if (token_is(word, TOKEN_WORD, "unsigned"))
		*is_unsigned = true;
	/* "unsigned" and "int" say less than "long", "short" or "char" beside them */
	if (b->size && (!t->size || t->size == 4))
		t->size = b->size;
	t->is_signed = b->is_signed;
}

static bool parse_type(struct parser *p, struct type *ret)
{
	struct type t = { 0 };
	bool is_unsigned = false;

	while (p->now.kind == TOKEN_WORD) {
		if (is_word(p, "struct") || is_word(p, "union") || is_word(p, "enum")) {
			t.size = is_word(p, "enum") ? 4 : 0;
			if (!lex_advance(p))
				return false;
		} else {
			merge_basic(&t, &p->now, &is_unsigned);
		}
		if (!lex_advance(p))
			return false;
	}
	t.is_signed &= !is_unsigned;
	while (is_punct(p, "*")) {
		t.target = t.pointer ? 8 : t.size;
		t.pointer = true;
		t.size = 0;
		if (!lex_advance(p))
			return false;
		while (is_mark(&p->now) || is_word(p, "const"))
			if (!lex_advance(p))
				return false;
	}
	*ret = t;
	return p->now.kind != TOKEN_BAD;
}

/* --- helpers of the kernel ----------------------------------------------------------------- */

static u32 call_field(struct parser *p, enum node_kind kind)
{
	struct node n = { .kind = kind };

	return parse_field(p, &n.value) && lex_expect(p, ")") ? add(p, &n) : 0;
}

static bool constant(const struct tracefield *t, u32 node, s64 *ret);

static s64 apply(enum operator op, s64 a, s64 b)
{
	switch (op) {
	case OP_ADD: return (s64)((u64)a + (u64)b);
	case OP_SUB: return (s64)((u64)a - (u64)b);
	case OP_MUL: return (s64)((u64)a * (u64)b);
	case OP_SHL: return (s64)((u64)a << (b & 63));
	case OP_SHR: return (s64)((u64)a >> (b & 63));
	case OP_AND: return a & b;
	case OP_OR: return a | b;
	case OP_XOR: return a ^ b;
	default: return 0;
	}
}

/* The value of an expression of numbers alone. */
static bool constant(const struct tracefield *t, u32 node, s64 *ret)
{
	const struct node *n = &t->nodes.items[node];
	s64 a, b;

	switch (n->kind) {
	case NODE_NUMBER: *ret = n->value; return true;
	case NODE_CAST:
		if (!constant(t, n->a, &a))
			return false;
		*ret = n->value && n->value < 8 ? a & (s64)((1ull << n->value * 8) - 1) : a;
		return true;
	case NODE_UNARY:
		if (!constant(t, n->a, &a))
			return false;
		*ret = n->op == OP_MINUS ? (s64) - (u64)a : n->op == OP_INVERT ? ~a : !a;
		return true;
	case NODE_BINARY:
		if (!constant(t, n->a, &a) || !constant(t, n->b, &b))
			return false;
		*ret = apply((enum operator)n->op, a, b);
		return true;
	default: return false;
	}
}

/* { value, "name" } */
static bool parse_name(struct parser *p, struct tracefield_name *ret)
{
	u32 value, text;
	s64 v = 0;

	if (!lex_expect(p, "{"))
		return false;
	value = parse_expression(p);
	if (!value || !lex_expect(p, ","))
		return false;
	text = parse_expression(p);
	if (!text)
		return false;
	if (p->t->nodes.items[text].kind != NODE_TEXT) {
		s64 zero;

		/* the end of the kernel's lists: { 0, (void *)0 } */
		if (!constant(p->t, text, &zero))
			return lex_failed(p, "a name that is not a string");
	}
	/* an unknown word matches nothing */
	if (!constant(p->t, value, &v))
		v = -1;
	*ret = (struct tracefield_name){ v, p->t->nodes.items[text].text };
	return lex_expect(p, "}");
}

static bool parse_names(struct parser *p, struct node *n)
{
	n->first = (u32)p->t->names.len;
	while (lex_accept(p, ",")) {
		struct tracefield_name name;

		/* an empty list, or one whose last entry is followed by a comma */
		if (is_punct(p, ")"))
			break;
		if (!parse_name(p, &name))
			return false;
		if (p->t->names.len >= TRACEFIELD_NODES_MOST)
			return lex_failed(p, "the format is too long");
		if (name.name)
			vec_push(&p->t->names, name);
	}
	n->n = (u32)p->t->names.len - n->first;
	return lex_expect(p, ")");
}

static u32 call_names(struct parser *p, enum node_kind kind)
{
	struct node n = { .kind = (u8)kind };

	n.a = parse_expression(p);
	if (!n.a)
		return 0;
	if (kind == NODE_FLAGS) {
		if (!lex_expect(p, ","))
			return 0;
		n.b = parse_expression(p);
		if (!n.b)
			return 0;
	}
	return parse_names(p, &n) ? add(p, &n) : 0;
}

static u32 call_bytes(struct parser *p, enum node_kind kind)
{
	struct node n = { .kind = (u8)kind };

	n.a = parse_expression(p);
	if (!n.a || !lex_expect(p, ","))
		return 0;
	n.b = parse_expression(p);
	if (!n.b)
		return 0;
	if (kind == NODE_ARRAY) {
		u32 size;

		if (!lex_expect(p, ","))
			return 0;
		size = parse_expression(p);
		if (!size)
			return 0;
		if (!constant(p->t, size, &n.value)) {
			lex_failed(p, "an array whose elements have no size");
			return 0;
		}
	}
	return lex_expect(p, ")") ? add(p, &n) : 0;
}

static u32 parse_sizeof(struct parser *p)
{
	struct type type;
	s64 field;

	if (begins_type(p)) {
		if (!parse_type(p, &type) || !lex_expect(p, ")"))
			return 0;
		return add_number(p, type.pointer ? 8 : type.size);
	}
	if (!parse_field(p, &field) || !lex_expect(p, ")"))
		return 0;
	return add_number(p, p->t->format.fields.items[field].size);
}

/* __builtin_choose_expr(constant, a, b) */
static u32 parse_choose(struct parser *p)
{
	u32 which = parse_expression(p), a, b;
	s64 v = 0;

	if (!which || !lex_expect(p, ","))
		return 0;
	a = parse_expression(p);
	if (!a || !lex_expect(p, ","))
		return 0;
	b = parse_expression(p);
	if (!b || !lex_expect(p, ")"))
		return 0;
	return constant(p->t, which, &v) && v ? a : b;
}

/* __builtin_expect(value, guess): the guess is for compilers */
static u32 parse_expect(struct parser *p)
{
	u32 value = parse_expression(p);

	if (!value || !lex_expect(p, ",") || !parse_expression(p) || !lex_expect(p, ")"))
		return 0;
	return value;
}

struct helper {
	const char *name;
	u32 (*parse)(struct parser *p, enum node_kind kind);
	enum node_kind kind;
};

static const struct helper helpers[] = {
	{ "__print_flags", call_names, NODE_FLAGS },
	{ "__print_symbolic", call_names, NODE_SYMBOLIC },
	{ "__print_flags_u64", call_names, NODE_FLAGS },
	{ "__print_symbolic_u64", call_names, NODE_SYMBOLIC },
	{ "__print_hex", call_bytes, NODE_HEX },
	{ "__print_hex_str", call_bytes, NODE_HEX_STR },
	{ "__print_array", call_bytes, NODE_ARRAY },
	{ "__get_str", call_field, NODE_STRING },
	{ "__get_rel_str", call_field, NODE_STRING },
	{ "__get_bitmask", call_field, NODE_BITMASK },
	{ "__get_rel_bitmask", call_field, NODE_BITMASK },
	{ "__get_dynamic_array", call_field, NODE_DYNAMIC },
	{ "__get_rel_dynamic_array", call_field, NODE_DYNAMIC },
	{ "__get_sockaddr", call_field, NODE_DYNAMIC },
	{ "__get_dynamic_array_len", call_field, NODE_LENGTH },
	{ "__get_rel_dynamic_array_len", call_field, NODE_LENGTH },
};

/* The word was read; the present token is "(". */
static u32 parse_call(struct parser *p, const struct token *name)
{
	if (!lex_expect(p, "("))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(helpers); i++)
		if (token_is(name, TOKEN_WORD, helpers[i].name))
			return helpers[i].parse(p, helpers[i].kind);
	if (token_is(name, TOKEN_WORD, "sizeof"))
		return parse_sizeof(p);
	if (token_is(name, TOKEN_WORD, "__builtin_choose_expr"))
		return parse_choose(p);
	if (token_is(name, TOKEN_WORD, "__builtin_expect"))
		return parse_expect(p);
	p->t->fault = p->t->fault ? p->t->fault
				  : arena_printf(&p->t->arena, "the function '%.*s' is not known",
						 (int)MIN(name->n, 100), name->s);
	p->now.kind = TOKEN_BAD;
	return 0;
}

/* --- expressions --------------------------------------------------------------------------- */

static u32 parse_word(struct parser *p)
{
	struct token word = p->now;
	struct node n = { .kind = NODE_FIELD };

	if (is_word(p, "REC"))
		return parse_field(p, &n.value) ? add(p, &n) : 0;
	if (!lex_advance(p))
		return 0;
	if (is_punct(p, "("))
		return parse_call(p, &word);
	if (token_is(&word, TOKEN_WORD, "true"))
		return add_number(p, 1);
	if (token_is(&word, TOKEN_WORD, "NULL"))
		return add(p, &(struct node){ .kind = NODE_TEXT });
	n.kind = NODE_NAME;
	n.text = arena_strndup(&p->t->arena, word.s, word.n);
	return add(p, &n);
}

/* After "(": a cast, or an expression in parentheses. */
static u32 parse_paren(struct parser *p)
{
	struct type type;
	struct node n = { .kind = NODE_CAST };
	u32 inner;

	if (!begins_type(p)) {
		inner = parse_expression(p);
		return inner && lex_expect(p, ")") ? inner : 0;
	}
	if (!parse_type(p, &type) || !lex_expect(p, ")"))
		return 0;
	n.a = parse_unary(p);
	if (!n.a)
		return 0;
	n.value = type.pointer ? 0 : type.size;
	n.is_signed = type.is_signed;
	/* what a pointer points to is kept for [] and * */
	n.first = type.target;
	return add(p, &n);
}

static u32 parse_primary(struct parser *p)
{
	struct token now = p->now;

	switch (now.kind) {
	case TOKEN_NUMBER: return lex_advance(p) ? add_number(p, now.value) : 0;
	case TOKEN_STRING:
		if (!lex_advance(p))
			return 0;
		return add(p, &(struct node){ .kind = NODE_TEXT, .text = now.text });
	case TOKEN_WORD: return parse_word(p);
	default: break;
	}
	if (lex_accept(p, "("))
		return parse_paren(p);
	lex_failed(p, "the format does not follow C");
	return 0;
}

static u32 parse_postfix(struct parser *p)
{
	u32 node = parse_primary(p);

	while (node && is_punct(p, "[")) {
		struct node n = { .kind = NODE_INDEX, .a = node };

		if (!lex_advance(p))
			return 0;
		n.b = parse_expression(p);
		if (!n.b || !lex_expect(p, "]"))
			return 0;
		node = add(p, &n);
	}
	if (node && is_punct(p, "->")) {
		lex_failed(p, "a pointer cannot be followed");
		return 0;
	}
	return node;
}

static u32 parse_prefixed(struct parser *p, struct node n)
{
	if (!lex_advance(p))
		return 0;
	n.a = parse_unary(p);
	if (!n.a)
		return 0;
	if (n.kind == NODE_LOAD && p->t->nodes.items[n.a].kind == NODE_CAST)
		n.value = p->t->nodes.items[n.a].first;
	return add(p, &n);
}

static u32 parse_unary(struct parser *p)
{
	u32 node;

	if (++p->depth > TRACEFIELD_DEPTH_MOST) {
		lex_failed(p, "the format is nested too deeply");
		return 0;
	}
	if (is_punct(p, "!"))
		node = parse_prefixed(p, (struct node){ .kind = NODE_UNARY, .op = OP_NOT });
	else if (is_punct(p, "~"))
		node = parse_prefixed(p, (struct node){ .kind = NODE_UNARY, .op = OP_INVERT });
	else if (is_punct(p, "-"))
		node = parse_prefixed(p, (struct node){ .kind = NODE_UNARY, .op = OP_MINUS });
	else if (is_punct(p, "&"))
		node = parse_prefixed(p, (struct node){ .kind = NODE_ADDRESS });
	else if (is_punct(p, "*"))
		node = parse_prefixed(p, (struct node){ .kind = NODE_LOAD });
	else if (lex_accept(p, "+"))
		node = parse_unary(p);
	else
		node = parse_postfix(p);
	p->depth--;
	return node;
}

struct infix {
	const char *text;
	u8 op;
	u8 level; /* higher binds tighter */
};

static const struct infix infixes[] = {
	{ "*", OP_MUL, 10 }, { "/", OP_DIV, 10 },         { "%", OP_MOD, 10 },
	{ "+", OP_ADD, 9 },  { "-", OP_SUB, 9 },          { "<<", OP_SHL, 8 },
	{ ">>", OP_SHR, 8 }, { "<", OP_LT, 7 },           { ">", OP_GT, 7 },
	{ "<=", OP_LE, 7 },  { ">=", OP_GE, 7 },          { "==", OP_EQ, 6 },
	{ "!=", OP_NE, 6 },  { "&", OP_AND, 5 },          { "^", OP_XOR, 4 },
	{ "|", OP_OR, 3 },   { "&&", OP_LOGICAL_AND, 2 }, { "||", OP_LOGICAL_OR, 1 },
};

static const struct infix *infix_here(const struct parser *p)
{
	if (p->now.kind != TOKEN_PUNCT)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(infixes); i++)
		if (is_punct(p, infixes[i].text))
			return &infixes[i];
	return NULL;
}

static u32 parse_binary(struct parser *p, u8 level)
{
	u32 left = parse_unary(p);
	const struct infix *op;

	while (left && (op = infix_here(p)) && op->level >= level) {
		struct node n = { .kind = NODE_BINARY, .op = op->op, .a = left };

		if (!lex_advance(p))
			return 0;
		n.b = parse_binary(p, op->level + 1);
		if (!n.b)
			return 0;
		left = add(p, &n);
	}
	return left;
}

static u32 parse_choice(struct parser *p)
{
	struct node n = { .kind = NODE_CHOICE };

	n.a = parse_binary(p, 1);
	if (!n.a || !is_punct(p, "?"))
		return n.a;
	if (!lex_advance(p))
		return 0;
	n.b = is_punct(p, ":") ? n.a : parse_expression(p);
	if (!n.b || !lex_expect(p, ":"))
		return 0;
	n.c = parse_expression(p);
	return n.c ? add(p, &n) : 0;
}

static u32 parse_expression(struct parser *p)
{
	u32 node;

	if (++p->depth > TRACEFIELD_DEPTH_MOST) {
		lex_failed(p, "the format is nested too deeply");
		return 0;
	}
	node = parse_choice(p);
	p->depth--;
	return node;
}

bool tracefield_compile(struct tracefield *t, const char *print_fmt)
{
	struct parser p = { .t = t, .at = print_fmt, .end = print_fmt + strlen(print_fmt) };
	VEC(u32) args = { 0 };
	const char *fmt = NULL;
	bool ok;

	ok = lex_advance(&p) && (p.now.kind == TOKEN_STRING || lex_failed(&p, "no format string"));
	if (ok) {
		fmt = p.now.text;
		ok = lex_advance(&p);
	}
	while (ok && lex_accept(&p, ",")) {
		u32 arg = parse_expression(&p);

		ok = arg != 0;
		vec_push(&args, arg);
	}
	if (ok && p.now.kind != TOKEN_END)
		ok = lex_failed(&p, "the format does not follow C");
	ok = ok && tracefield_split(t, fmt, args.items, args.len);
	vec_release(&args);
	return ok;
}
