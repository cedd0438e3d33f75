/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that read memory and work with strings. */
#include "lang/check/strict.h"
#include "lang/gen/gen.h"
#include "lang/probe/provider.h"

enum { BUF_MAX = 4096, SEARCH_INLINE = 512, SEARCH_MOST = 2048 };

static void need_address(struct comp *c, const struct node *n, const struct node *a)
{
	if (a->type->kind != T_NONE && !type_is_number(a->type))
		check_error(c, n,
			    "%s() expects an integer or a pointer type as first argument "
			    "('%s' provided)",
			    n->str, check_type_text(c, a->type));
}

static enum space space_of(const struct type *t)
{
	if (t->kind == T_PTR || (t->kind == T_INT && t->space != SPACE_BPF))
		return t->space;
	return SPACE_ANY;
}

/* --- str -------------------------------------------------------------------------------------- */

/* str($1, $n): as of a literal. */
static bool str_of_text(struct comp *c, struct node *n, const char *text)
{
	struct node *a = n->kids[0];

	a->kind = N_STR;
	a->str = text;
	a->str_len = (u32)strlen(text);
	check_expr(c, a);
	return false;
}

/* str($1) is the text of the parameter. */
static bool str_param(struct comp *c, struct node *n)
{
	const struct node *a = n->kids[0];
	const char *text;
	size_t len;

	if (a->kind != N_PARAM)
		return false;
	text = a->ival <= c->opts->n_params ? c->opts->params[a->ival - 1] : "";
	len = strlen(text);
	if (n->n_kids > 1) {
		check_expr(c, n->kids[1]);
		if (!n->kids[1]->folded)
			return str_of_text(c, n, text);
		len = MIN(len, n->kids[1]->ival);
		text = arena_strndup(&c->prog.arena, text, len);
	}
	if (len >= TYPE_MAX_STRING || (c->opts->compat && len > c->config.max_strlen)) {
		check_error(c, n, "String is too long (over %llu bytes): %s",
			    (unsigned long long)c->config.max_strlen, text);
		check_none(c, n);
		return true;
	}
	n->kind = N_STR;
	n->str = text;
	n->str_len = (u32)len;
	n->n_kids = 0;
	check_expr(c, n);
	return true;
}

/* The space of a string whose length is given, its NUL included. */
static u64 literal_length(struct comp *c, const struct node *n, u64 length)
{
	u64 most = c->opts->compat ? c->config.max_strlen : c->string_room - 1;

	if (length <= most)
		return length + 1;
	if (c->opts->compat)
		diag_warning(&c->diags, n->at,
			     "length param (%llu) is too long and will be shortened to %llu bytes "
			     "(see BPFTRACE_MAX_STRLEN)",
			     (unsigned long long)length, (unsigned long long)most);
	else
		c->strings_cut = true;
	return most + 1;
}

static void check_str(struct comp *c, struct node *n)
{
	u64 size = MIN(c->config.max_strlen + 1, (u64)c->string_room);
	struct node *a = n->kids[0];

	if (n->n_kids > 2 && !strict_long_str(c, n))
		check_error(c, n, "str() takes up to 2 arguments (%u provided)", n->n_kids);
	if (str_param(c, n))
		return;
	if (a->kind == N_STR) {
		strict_text(c, a, n);
		a->op = NODE_FORMAT;
	}
	check_expr(c, a);
	if (a->type->kind != T_STR && a->type->kind != T_ARRAY)
		need_address(c, n, a);
	if (n->n_kids > 1) {
		check_expr(c, n->kids[1]);
		if (n->kids[1]->type->kind != T_NONE && !type_is_number(n->kids[1]->type))
			check_error(c, n, "str() expects a number as length");
		if (n->kids[1]->folded && (s64)n->kids[1]->ival < 0)
			check_error(c, n, "str() cannot use a negative length (%lld)",
				    (long long)n->kids[1]->ival);
		else if (n->kids[1]->folded)
			size = literal_length(c, n, n->kids[1]->ival);
	}
	if (a->type->kind == T_STR)
		size = MIN(size, (u64)a->type->size);
	if (a->type->kind == T_ARRAY)
		size = MIN(size, (u64)a->type->size + 1);
	n->type = type_str(&c->types, (u32)MAX(size, 1ull));
}

/*
 * min(n, size), never negative: what the verifier wants of a length. Of memory the end of the text
 * counts; of a string that exists it does not.
 */
static struct ir_arg bounded(struct gen *g, struct node *len, u32 size, bool is_string)
{
	ir_label ok = ir_new_label(&g->ir);
	vreg r;

	if (len->folded)
		return ARG_IMM((s32)MIN(len->ival + is_string, (u64)size));
	r = gen_num_copy(g, len);
	if (is_string)
		ir_alui(&g->ir, BPF_ADD, r, 1);
	ir_branchi(&g->ir, BPF_JLE, r, (s32)size, ok);
	ir_movi(&g->ir, r, size);
	ir_label_here(&g->ir, ok);
	return ARG_REG(r);
}

/* Is the text's end not counted? bpftrace counts it, but of a literal. */
static bool is_whole(const struct gen *g, const struct node *n)
{
	const struct node *a = n->kids[0];

	return a->type->kind == T_STR &&
	       (!g->c->opts->compat || (a->kind == N_STR && n->kids[1]->folded));
}

static void emit_str(struct gen *g, struct node *n, struct val *ret)
{
	struct node *a = n->kids[0];
	struct ir_arg size = ARG_IMM((s32)n->type->size);
	struct val v;
	vreg address;
	enum space space;

	if (a->type->kind == T_STR && n->n_kids == 1) {
		gen_expr(g, a, ret);
		return;
	}
	*ret = gen_temp(g, type_stored(n->type));
	gen_zero(g, ret, type_stored(n->type));
	if (n->n_kids > 1)
		size = bounded(g, n->kids[1], n->type->size, is_whole(g, n));
	if (a->type->kind == T_STR || a->type->kind == T_ARRAY) {
		gen_expr(g, a, &v);
		address = gen_addr(g, &v);
		space = v.space == SPACE_BPF || v.space == SPACE_CTX ? SPACE_KERNEL : v.space;
	} else {
		address = gen_num(g, a);
		space = space_of(a->type);
	}
	gen_read_str(g, ret, size, address, space);
}

/* --- buf -------------------------------------------------------------------------------------- */

static void check_buf(struct comp *c, struct node *n)
{
	struct node *a = n->kids[0];
	u64 size = MIN(c->config.max_strlen, (u64)BUF_MAX);

	if (a->type->kind != T_STR && a->type->kind != T_ARRAY && a->type->kind != T_BUF)
		need_address(c, n, a);
	if (n->n_kids > 1) {
		if (n->kids[1]->type->kind != T_NONE && !type_is_number(n->kids[1]->type))
			check_error(c, n, "buf() expects a number as length");
		if (n->kids[1]->folded)
			size = MIN(n->kids[1]->ival, (u64)BUF_MAX);
	} else if (a->type->kind == T_ARRAY ||
		   (a->type->kind == T_STR && !(c->opts->compat && a->kind == N_STR))) {
		size = MIN((u64)a->type->size, (u64)BUF_MAX);
	} else if (a->type->kind != T_NONE) {
		check_error(c, n, "buf() expects a length argument for non-array type %s",
			    check_type_text(c, a->type));
	}
	n->type = type_buf(&c->types, (u32)MAX(size, 1ull));
}

static void emit_buf(struct gen *g, struct node *n, struct val *ret)
{
	struct node *a = n->kids[0];
	enum space space = space_of(a->type);
	ir_label ok = ir_new_label(&g->ir), zero = ir_new_label(&g->ir);
	struct val data, v;
	vreg len, address, rc;

	*ret = gen_temp_scratch(g, type_stored(n->type));
	data = *ret;
	data.off += 8;
	gen_zero(g, &data, n->type->size);
	if (n->n_kids > 1 && !n->kids[1]->folded) {
		len = gen_num_copy(g, n->kids[1]);
		ir_branchi(&g->ir, BPF_JLE, len, (s32)n->type->size, ok);
		ir_movi(&g->ir, len, n->type->size);
		ir_label_here(&g->ir, ok);
	} else {
		len = ir_imm(&g->ir, n->type->size);
	}
	ir_store(&g->ir, BPF_DW, ret->reg, ret->off, len);
	if (a->type->kind == T_STR || a->type->kind == T_ARRAY || a->type->kind == T_BUF) {
		gen_expr(g, a, &v);
		address = gen_addr(g, &v);
		space = v.space == SPACE_BPF || v.space == SPACE_CTX ? SPACE_KERNEL : v.space;
	} else {
		address = gen_num(g, a);
	}
	ir_branchi(&g->ir, BPF_JEQ, len, 0, zero);
	if (space == SPACE_ANY) {
		ir_label user = ir_new_label(&g->ir);

		ir_branchi(&g->ir, BPF_JSGE, address, 0, user);
		rc = IR_CALLV(&g->ir, BPF_FUNC_probe_read_kernel, gen_addr_arg(g, &data),
			      ARG_REG(len), ARG_REG(address));
		gen_read_failed(g, rc, "probe_read_kernel", COUNTER_READ_KERNEL);
		ir_jump(&g->ir, zero);
		ir_label_here(&g->ir, user);
	}
	rc = IR_CALLV(&g->ir,
		      space == SPACE_KERNEL ? BPF_FUNC_probe_read_kernel : BPF_FUNC_probe_read_user,
		      gen_addr_arg(g, &data), ARG_REG(len), ARG_REG(address));
	gen_read_failed(g, rc, space == SPACE_KERNEL ? "probe_read_kernel" : "probe_read_user",
			space == SPACE_KERNEL ? COUNTER_READ_KERNEL : COUNTER_READ_USER);
	ir_label_here(&g->ir, zero);
}

/* --- comparing, searching --------------------------------------------------------------------- */

static void need_string(struct comp *c, const struct node *n, u32 i)
{
	const struct type *t = n->kids[i]->type;

	if (t->kind != T_NONE && t->kind != T_STR)
		check_error(c, n, "%s() only supports string arguments (%s provided)", n->str,
			    type_is_number(t) ? "int" : check_type_text(c, t));
}

static void check_strncmp(struct comp *c, struct node *n)
{
	need_string(c, n, 0);
	need_string(c, n, 1);
	if (n->n_kids < 3 && c->opts->compat)
		check_error(c, n, "strncmp() requires 3 arguments (2 provided)");
	if (n->n_kids > 2 && !n->kids[2]->folded && n->kids[2]->type->kind != T_NONE)
		check_error(c, n, "strncmp() expects a literal length");
	if (n->n_kids > 2 && n->kids[2]->folded && (s64)n->kids[2]->ival < 0)
		check_error(c, n, "strncmp() expects a positive length");
	n->type = check_int64(c, false);
}

static void emit_strncmp(struct gen *g, struct node *n, struct val *ret)
{
	ir_label differ = ir_new_label(&g->ir);
	vreg r = ir_imm(&g->ir, 1);
	u64 limit = n->n_kids > 2 ? n->kids[2]->ival : UINT32_MAX;

	if (limit)
		gen_compare_strings(g, n->kids[0], n->kids[1], (u32)MIN(limit, UINT32_MAX), differ);
	ir_movi(&g->ir, r, 0);
	ir_label_here(&g->ir, differ);
	*ret = gen_reg(r);
}

static void check_strlen(struct comp *c, struct node *n)
{
	need_string(c, n, 0);
	n->type = check_int64(c, true);
	if (n->kids[0]->kind == N_STR)
		check_fold(c, n, n->kids[0]->str_len, true);
}

/* Copying a string tells its length, in one step however long it is. */
static void emit_strlen(struct gen *g, struct node *n, struct val *ret)
{
	struct val s, copy = gen_temp(g, type_stored(n->kids[0]->type));
	ir_label ok = ir_new_label(&g->ir);
	vreg r;

	gen_in_memory(g, n->kids[0], &s);
	gen_zero(g, &copy, type_stored(n->kids[0]->type));
	r = IR_CALLV(&g->ir, BPF_FUNC_probe_read_kernel_str, gen_addr_arg(g, &copy),
		     ARG_IMM((s32)n->kids[0]->type->size), ARG_REG(gen_addr(g, &s)));
	ir_branchi(&g->ir, BPF_JSGT, r, 0, ok);
	ir_movi(&g->ir, r, 1);
	ir_label_here(&g->ir, ok);
	ir_alui(&g->ir, BPF_ADD, r, -1);
	*ret = gen_reg(r);
}

static void check_strcontains(struct comp *c, struct node *n)
{
	need_string(c, n, 0);
	need_string(c, n, 1);
	n->type = streq(n->str, "strstr") ? check_int64(c, true) : type_bool(&c->types);
	if (n->kids[0]->kind == N_STR && n->kids[1]->kind == N_STR) {
		const char *at = strstr(n->kids[0]->str, n->kids[1]->str);

		if (streq(n->str, "strstr"))
			check_fold(c, n, at ? (u64)(at - n->kids[0]->str) : UINT64_MAX, true);
		else
			check_fold_bool(c, n, at);
	} else if (n->kids[1]->type->kind == T_STR && n->kids[1]->type->size > SEARCH_MOST) {
		check_error(c, n->kids[1], "%s() searches for at most %d bytes", n->str,
			    SEARCH_MOST - 1);
		diag_hint(&c->diags, "give it a size: str(p, 64)");
	}
}

/* Goes to @next unless the literal is at @p. */
static void match_literal(struct gen *g, const struct node *needle, vreg p, ir_label next)
{
	for (u32 k = 0; k < needle->str_len; k++)
		ir_branchi(&g->ir, BPF_JNE, ir_load(&g->ir, BPF_B, p, (s32)k), (u8)needle->str[k],
			   next);
}

static vreg find_inline(struct gen *g, const struct node *needle, const struct val *s, u32 size)
{
	ir_label top = ir_new_label(&g->ir), next = ir_new_label(&g->ir);
	ir_label found = ir_new_label(&g->ir), none = ir_new_label(&g->ir);
	vreg p = ir_reg(&g->ir), i = ir_imm(&g->ir, 0);

	ir_mov(&g->ir, p, s->reg);
	ir_alui(&g->ir, BPF_ADD, p, s->off);
	ir_label_here(&g->ir, top);
	ir_branchi(&g->ir, BPF_JEQ, ir_load(&g->ir, BPF_B, p, 0), 0, none);
	match_literal(g, needle, p, next);
	ir_jump(&g->ir, found);
	ir_label_here(&g->ir, next);
	ir_alui(&g->ir, BPF_ADD, i, 1);
	ir_alui(&g->ir, BPF_ADD, p, 1);
	ir_branchi(&g->ir, BPF_JLT, i, (s32)size, top);
	ir_label_here(&g->ir, none);
	ir_movi(&g->ir, i, -1);
	ir_label_here(&g->ir, found);
	return i;
}

struct search {
	const struct node *needle;
	s32 off; /* of the string in scratch memory; the result is before it */
	u32 size;
	s32 needle_off; /* of a needle that is not a literal */
};

/* Goes to @next unless the string in scratch memory is at @p. */
static void match_variable(struct gen *g, const struct search *s, vreg p, ir_label next)
{
	ir_label found = ir_new_label(&g->ir);

	for (u32 k = 0; k < s->needle->type->size; k++) {
		vreg c = ir_load(&g->ir, BPF_B, g->scratch, s->needle_off + (s32)k);

		ir_branchi(&g->ir, BPF_JEQ, c, 0, found);
		ir_branch(&g->ir, BPF_JNE, ir_load(&g->ir, BPF_B, p, (s32)k), c, next);
	}
	ir_label_here(&g->ir, found);
}

/* One place: 0 goes on with the next, 1 ends the search. */
static void search_body(struct gen *g, vreg i, void *ctx)
{
	const struct search *s = ctx;
	ir_label next = ir_new_label(&g->ir), end = ir_new_label(&g->ir);
	vreg p = ir_reg(&g->ir);

	ir_branchi(&g->ir, BPF_JGE, i, (s32)s->size, end);
	ir_mov(&g->ir, p, g->scratch);
	ir_alui(&g->ir, BPF_ADD, p, s->off);
	ir_alu(&g->ir, BPF_ADD, p, i);
	ir_branchi(&g->ir, BPF_JEQ, ir_load(&g->ir, BPF_B, p, 0), 0, end);
	if (s->needle->kind == N_STR)
		match_literal(g, s->needle, p, next);
	else
		match_variable(g, s, p, next);
	ir_store(&g->ir, BPF_DW, g->scratch, s->off - 8, i);
	ir_label_here(&g->ir, end);
	ir_exit(&g->ir, 1);
	ir_label_here(&g->ir, next);
	ir_exit(&g->ir, 0);
}

/* The place of one string in another, or -1. */
static vreg find_string(struct gen *g, struct node *n)
{
	struct node *needle = n->kids[1];
	bool literal = needle->kind == N_STR;
	u32 ahead = ALIGN_UP(literal ? needle->str_len : needle->type->size, 8u) + 8;
	u32 size = n->kids[0]->type->size, room = ALIGN_UP(size, 8u) + ahead;
	struct val s, place, copy, text = { 0 };

	if (literal && !needle->str_len) {
		gen_expr(g, n->kids[0], &s);
		return ir_imm(&g->ir, 0);
	}
	if (!literal) {
		text = gen_temp_scratch(g, type_stored(needle->type));
		gen_store(g, needle, needle->type, &text, true);
	}
	/* In scratch with room after it, so that looking ahead stays inside. */
	place = copy = gen_temp_scratch(g, 8 + room);
	copy.off += 8;
	gen_zero(g, &copy, room);
	gen_in_memory(g, n->kids[0], &s);
	gen_copy(g, &copy, &s, MIN(type_stored(n->kids[0]->type), ALIGN_UP(size, 8u)));
	if (!gen_is_long_search(n))
		return find_inline(g, needle, &copy, size);
	ir_storei(&g->ir, BPF_DW, place.reg, place.off, -1);
	gen_loop(g, n, ir_imm(&g->ir, size), search_body,
		 &(struct search){ needle, copy.off, size, text.off });
	return ir_load(&g->ir, BPF_DW, place.reg, place.off);
}

/* The verifier walks through a loop step by step: what takes many steps is a callback. */
bool gen_is_long_search(const struct node *n)
{
	if (n->kind != N_CALL || (!streq(n->str, "strcontains") && !streq(n->str, "strstr")) ||
	    n->n_kids != 2 || !n->kids[0]->type)
		return false;
	if (n->folded)
		return false;
	return n->kids[1]->kind != N_STR ||
	       n->kids[0]->type->size * (n->kids[1]->str_len + 2) > SEARCH_INLINE;
}

static void emit_strstr(struct gen *g, struct node *n, struct val *ret)
{
	*ret = gen_reg(find_string(g, n));
}

static void emit_strcontains(struct gen *g, struct node *n, struct val *ret)
{
	ir_label no = ir_new_label(&g->ir);
	vreg at = find_string(g, n), r = ir_imm(&g->ir, 0);

	ir_branchi(&g->ir, BPF_JSLT, at, 0, no);
	ir_movi(&g->ir, r, 1);
	ir_label_here(&g->ir, no);
	*ret = gen_reg(r);
}

/* --- pointers and bytes ----------------------------------------------------------------------- */

/* Shown as a number, read as an address. */
static const struct type *number_in(struct comp *c, const struct type *t, enum space space)
{
	struct type *copy = arena_dup(&c->arena, t, sizeof(*t));

	copy->space = space;
	return copy;
}

static void check_space(struct comp *c, struct node *n)
{
	enum space space = n->str[0] == 'k' ? SPACE_KERNEL : SPACE_USER;
	const struct type *t = n->kids[0]->type;

	need_address(c, n, n->kids[0]);
	if (t->kind == T_PTR)
		n->type = type_in_space(&c->types, t, space);
	else if (t->kind == T_INT && c->opts->compat)
		n->type = number_in(c, t, space);
	else if (t->kind != T_NONE)
		n->type = type_ptr(&c->types, type_new(&c->types, T_VOID, 0), space);
}

static void emit_same(struct gen *g, struct node *n, struct val *ret)
{
	*ret = gen_reg(gen_num(g, n->kids[0]));
}

static void check_bswap(struct comp *c, struct node *n)
{
	const struct type *t = n->kids[0]->type;

	if (t->kind != T_NONE && t->kind != T_INT)
		check_error(c, n, "bswap() only supports integer arguments (%s provided)",
			    check_type_text(c, t));
	n->type = type_int(&c->types, t->kind == T_INT ? t->size : 8, false);
}

static void emit_bswap(struct gen *g, struct node *n, struct val *ret)
{
	vreg r = gen_num_copy(g, n->kids[0]);

	if (n->type->size > 1)
		ir_alui(&g->ir, BPF_END, r, (s32)n->type->size * 8);
	*ret = gen_reg(r);
}

static void check_is_type(struct comp *c, struct node *n)
{
	const struct type *t = n->kids[0]->type;
	bool yes = streq(n->str, "is_str")       ? t->kind == T_STR
		   : streq(n->str, "is_ptr")     ? t->kind == T_PTR
		   : streq(n->str, "is_array")   ? t->kind == T_ARRAY
		   : streq(n->str, "is_integer") ? t->kind == T_INT
		   : streq(n->str, "is_literal") ? n->kids[0]->folded || n->kids[0]->kind == N_STR
						 : t->kind == T_INT && !t->is_signed;

	check_fold_bool(c, n, yes);
}

static void emit_nothing(struct gen *g, struct node *n, struct val *ret)
{
	(void)g;
	(void)n;
	(void)ret;
}

const struct fn fn_mem_table[] = {
	{ "str", 1, 255, FN_RAW, check_str, emit_str },
	{ "buf", 1, 2, 0, check_buf, emit_buf },
	{ "strncmp", 2, 3, 0, check_strncmp, emit_strncmp },
	{ "strlen", 1, 1, 0, check_strlen, emit_strlen },
	{ "strcontains", 2, 2, 0, check_strcontains, emit_strcontains },
	{ "strstr", 2, 2, 0, check_strcontains, emit_strstr },
	{ "kptr", 1, 1, 0, check_space, emit_same },
	{ "uptr", 1, 1, 0, check_space, emit_same },
	{ "bswap", 1, 1, 0, check_bswap, emit_bswap },
	{ "is_str", 1, 1, 0, check_is_type, emit_nothing },
	{ "is_ptr", 1, 1, 0, check_is_type, emit_nothing },
	{ "is_array", 1, 1, 0, check_is_type, emit_nothing },
	{ "is_integer", 1, 1, 0, check_is_type, emit_nothing },
	{ "is_literal", 1, 1, 0, check_is_type, emit_nothing },
	{ "is_unsigned_integer", 1, 1, 0, check_is_type, emit_nothing },
	{ 0 },
};
