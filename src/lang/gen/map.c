/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code for maps. A map without a key is an array of one value followed by a word that says
 * whether it was set; its plain form is addressed directly. Aggregations are per CPU and added to
 * atomically, so that an interrupt on the same CPU loses nothing.
 */
#include "base/clock.h"
#include "lang/gen/gen.h"

enum { HELPER_MAP_LOOKUP_PERCPU = 195 }; /* newer than the oldest headers */

static const struct map_def *map_of(const struct node *n)
{
	return n->ref;
}

static u32 value_size(const struct map_def *m)
{
	return type_stored(m->value);
}

void gen_map_key(struct gen *g, struct node *map, struct val *ret)
{
	const struct map_def *m = map_of(map);

	*ret = (struct val){ 0 };
	if (!m->key)
		return;
	*ret = gen_temp(g, m->key->size);
	if (map->n_kids == 1 && map->kids[0]->type->kind == T_TUPLE &&
	    !type_is_record(map->kids[0]->type)) {
		gen_store(g, map->kids[0], m->key, ret, true);
		return;
	}
	for (u32 i = 0; i < map->n_kids; i++) {
		struct val at = *ret;

		at.off += (s32)m->key->fields[i].offset;
		gen_store(g, map->kids[i], m->key->fields[i].type, &at, true);
	}
}

static vreg lookup(struct gen *g, const struct map_def *m, const struct val *key)
{
	struct val zero;
	vreg map;

	if (!m->key && !type_is_agg(m->value))
		return ir_map_value(&g->ir, m->index, 0);
	map = ir_map(&g->ir, m->index);
	if (!m->key) {
		zero = gen_temp(g, 8);
		ir_storei(&g->ir, BPF_W, zero.reg, zero.off, 0);
		key = &zero;
	}
	return IR_CALLV(&g->ir, BPF_FUNC_map_lookup_elem, ARG_REG(map), gen_addr_arg(g, key));
}

static void mark_set(struct gen *g, const struct map_def *m, vreg value)
{
	if (!m->key)
		ir_storei(&g->ir, BPF_DW, value, (s32)value_size(m), 1);
}

/* Why a key could not be made: memory is not always available where a probe is hit. */
static void count_refusal(struct gen *g, vreg rc)
{
	ir_label full = ir_new_label(&g->ir), end = ir_new_label(&g->ir);

	ir_branchi(&g->ir, BPF_JEQ, rc, -E2BIG, full);
	gen_count(g, COUNTER_MAP_MEMORY);
	ir_jump(&g->ir, end);
	ir_label_here(&g->ir, full);
	if (g->c->opts->compat)
		gen_helper_error(g, "map_update_elem", rc);
	else
		gen_count(g, COUNTER_MAP_FULL);
	ir_label_here(&g->ir, end);
}

static vreg update(struct gen *g, const struct map_def *m, const struct val *key,
		   struct ir_arg value, s32 flags)
{
	vreg map = ir_map(&g->ir, m->index);
	vreg rc = IR_CALLV(&g->ir, BPF_FUNC_map_update_elem, ARG_REG(map), gen_addr_arg(g, key),
			   value, ARG_IMM(flags));
	ir_label ok = ir_new_label(&g->ir);

	if (flags != BPF_ANY)
		return rc;
	ir_branchi(&g->ir, BPF_JSGE, rc, 0, ok);
	count_refusal(g, rc);
	ir_label_here(&g->ir, ok);
	return rc;
}

/* The value of the key, made from zeros when it is not there; jumps to @full when it cannot. */
static vreg lookup_or_make(struct gen *g, const struct map_def *m, const struct val *key,
			   ir_label full)
{
	ir_label found = ir_new_label(&g->ir);
	vreg p = ir_reg(&g->ir), rc;

	ir_mov(&g->ir, p, lookup(g, m, key));
	if (!m->key) {
		if (type_is_agg(m->value))
			ir_branchi(&g->ir, BPF_JEQ, p, 0, full);
		return p;
	}
	ir_branchi(&g->ir, BPF_JNE, p, 0, found);
	if (g->c->opts->helper_errors && !type_is_agg(m->value))
		gen_helper_error(g, "map_lookup_elem", ir_imm(&g->ir, 0));
	rc = update(g, m, key, ARG_REG(ir_map_value(&g->ir, gen_zero_map(g->c, value_size(m)), 0)),
		    BPF_NOEXIST);
	ir_mov(&g->ir, p, lookup(g, m, key));
	ir_branchi(&g->ir, BPF_JNE, p, 0, found);
	count_refusal(g, rc);
	ir_jump(&g->ir, full);
	ir_label_here(&g->ir, found);
	return p;
}

/* --- aggregations ----------------------------------------------------------------------------- */

/*
 * Of a number that is not negative. Without branches: the verifier has one way to follow, and the
 * CPU nothing to guess. (c - n) >> 63 is 1 when n is larger than c.
 */
static vreg gen_log2(struct gen *g, vreg value)
{
	vreg n = ir_reg(&g->ir), r = ir_imm(&g->ir, 0);

	ir_mov(&g->ir, n, value);
	for (s32 k = 5; k >= 0; k--) {
		vreg step = ir_imm(&g->ir, (1ll << (1 << k)) - 1);

		ir_alu(&g->ir, BPF_SUB, step, n);
		ir_alui(&g->ir, BPF_RSH, step, 63);
		if (k)
			ir_alui(&g->ir, BPF_LSH, step, k);
		ir_alu(&g->ir, BPF_RSH, n, step);
		ir_alu(&g->ir, BPF_ADD, r, step);
	}
	return r;
}

static void add_at(struct gen *g, vreg p, s32 off, vreg n)
{
	ir_atomic_add(&g->ir, p, off, n);
}

/* Adds one to the bucket with this number, which is below @count. */
static void add_bucket(struct gen *g, vreg p, vreg index, u32 count, ir_label done)
{
	vreg at = ir_reg(&g->ir), one;

	ir_branchi(&g->ir, BPF_JGE, index, (s32)count, done);
	ir_mov(&g->ir, at, index);
	ir_alui(&g->ir, BPF_LSH, at, 3);
	ir_alu(&g->ir, BPF_ADD, at, p);
	one = ir_imm(&g->ir, 1);
	add_at(g, at, 0, one);
}

/*
 * Bucket 0: negative; then with k bits of precision 2^k buckets for 0 ... 2^k - 1, and 2^k for
 * every power of two above. Without precision: 0, 1, [2,4), [4,8) ...
 */
static void agg_hist(struct gen *g, vreg p, const struct map_def *m, vreg n, ir_label done)
{
	ir_label negative = ir_new_label(&g->ir), small = ir_new_label(&g->ir);
	s32 k = (s32)m->value->p[0];
	vreg index = ir_imm(&g->ir, 0), log, sub;

	ir_branchi(&g->ir, BPF_JSLT, n, 0, negative);
	ir_mov(&g->ir, index, n);
	ir_alui(&g->ir, BPF_ADD, index, 1);
	ir_branchi(&g->ir, BPF_JLT, n, 1 << k, small);
	log = gen_log2(g, n);
	if (!k) {
		ir_mov(&g->ir, index, log);
		ir_alui(&g->ir, BPF_ADD, index, 2);
	} else {
		vreg shift = ir_reg(&g->ir);

		ir_mov(&g->ir, shift, log);
		ir_alui(&g->ir, BPF_SUB, shift, k);
		sub = ir_reg(&g->ir);
		ir_mov(&g->ir, sub, n);
		ir_alu(&g->ir, BPF_RSH, sub, shift);
		ir_alui(&g->ir, BPF_AND, sub, (1 << k) - 1);
		ir_mov(&g->ir, index, shift);
		ir_alui(&g->ir, BPF_ADD, index, 1);
		ir_alui(&g->ir, BPF_LSH, index, k);
		ir_alu(&g->ir, BPF_ADD, index, sub);
		ir_alui(&g->ir, BPF_ADD, index, 1);
	}
	ir_label_here(&g->ir, small);
	ir_label_here(&g->ir, negative);
	add_bucket(g, p, index, 66u << k, done);
}

static void agg_lhist(struct gen *g, vreg p, const struct map_def *m, vreg n, ir_label done)
{
	const s64 *b = m->value->p;
	u32 count = (u32)((b[1] - b[0]) / b[2]) + 2;
	ir_label under = ir_new_label(&g->ir), go = ir_new_label(&g->ir);
	vreg index = ir_imm(&g->ir, 0), min = ir_imm(&g->ir, b[0]), max, step;

	ir_branch(&g->ir, BPF_JSLT, n, min, under);
	ir_movi(&g->ir, index, count - 1);
	max = ir_imm(&g->ir, b[0] + (b[1] - b[0]) / b[2] * b[2]);
	ir_branch(&g->ir, BPF_JSGE, n, max, go);
	ir_mov(&g->ir, index, n);
	min = ir_imm(&g->ir, b[0]);
	ir_alu(&g->ir, BPF_SUB, index, min);
	step = ir_imm(&g->ir, b[2]);
	ir_alu(&g->ir, BPF_DIV, index, step);
	ir_alui(&g->ir, BPF_ADD, index, 1);
	ir_label_here(&g->ir, under);
	ir_label_here(&g->ir, go);
	add_bucket(g, p, index, count + 1, done);
}

static void agg_extreme(struct gen *g, vreg p, const struct map_def *m, vreg n, bool is_signed,
			ir_label done)
{
	ir_label put = ir_new_label(&g->ir);
	bool is_max = m->value->kind == T_MAX;
	vreg set = ir_load(&g->ir, BPF_DW, p, 8), old;

	ir_branchi(&g->ir, BPF_JEQ, set, 0, put);
	old = ir_load(&g->ir, BPF_DW, p, 0);
	if (is_signed)
		ir_branch(&g->ir, is_max ? BPF_JSLE : BPF_JSGE, n, old, done);
	else
		ir_branch(&g->ir, is_max ? BPF_JLE : BPF_JGE, n, old, done);
	ir_label_here(&g->ir, put);
	ir_store(&g->ir, BPF_DW, p, 0, n);
	ir_storei(&g->ir, BPF_DW, p, 8, 1);
}

/* Slots of { number of the interval, sum or extreme, count }, used in turn. */
static void agg_tseries(struct gen *g, vreg p, const struct map_def *m, vreg n, ir_label done)
{
	const s64 *b = m->value->p;
	vreg now = IR_CALLV(&g->ir, BPF_FUNC_ktime_get_ns, ARG_IMM(0)), epoch, slot, at, old, one;
	ir_label same = ir_new_label(&g->ir), put = ir_new_label(&g->ir);
	s64 kind = b[2];

	epoch = ir_reg(&g->ir);
	ir_mov(&g->ir, epoch, now);
	/* intervals begin when those of the wall clock do */
	ir_alu(&g->ir, BPF_ADD, epoch, ir_imm(&g->ir, (s64)(clock_wall_ns() - clock_mono_ns())));
	ir_alu(&g->ir, BPF_DIV, epoch, ir_imm(&g->ir, b[0]));
	slot = ir_reg(&g->ir);
	ir_mov(&g->ir, slot, epoch);
	ir_alui(&g->ir, BPF_MOD, slot, (s32)b[1]);
	ir_branchi(&g->ir, BPF_JGE, slot, (s32)b[1], done);
	ir_alui(&g->ir, BPF_MUL, slot, 24);
	at = ir_reg(&g->ir);
	ir_mov(&g->ir, at, slot);
	ir_alu(&g->ir, BPF_ADD, at, p);
	old = ir_load(&g->ir, BPF_DW, at, 0);
	ir_branch(&g->ir, BPF_JEQ, old, epoch, same);
	ir_store(&g->ir, BPF_DW, at, 0, epoch);
	ir_storei(&g->ir, BPF_DW, at, 8, 0);
	ir_storei(&g->ir, BPF_DW, at, 16, 0);
	ir_label_here(&g->ir, same);
	one = ir_imm(&g->ir, 1);
	if (kind == T_SUM || kind == T_AVG) {
		add_at(g, at, 8, n);
	} else if (kind == T_MIN || kind == T_MAX) {
		vreg seen = ir_load(&g->ir, BPF_DW, at, 16), have;
		ir_label skip = ir_new_label(&g->ir);

		ir_branchi(&g->ir, BPF_JEQ, seen, 0, put);
		have = ir_load(&g->ir, BPF_DW, at, 8);
		ir_branch(&g->ir, kind == T_MAX ? BPF_JSLE : BPF_JSGE, n, have, skip);
		ir_label_here(&g->ir, put);
		ir_store(&g->ir, BPF_DW, at, 8, n);
		ir_label_here(&g->ir, skip);
		add_at(g, at, 16, one);
		return;
	} else {
		ir_store(&g->ir, BPF_DW, at, 8, n);
	}
	add_at(g, at, 16, one);
	ir_label_here(&g->ir, put);
}

static void apply(struct gen *g, vreg p, const struct map_def *m, vreg n, bool is_signed,
		  ir_label done)
{
	switch (m->value->kind) {
	case T_COUNT: add_at(g, p, 0, ir_imm(&g->ir, 1)); break;
	case T_SUM: add_at(g, p, 0, n); break;
	case T_AVG:
	case T_STATS:
		add_at(g, p, 0, ir_imm(&g->ir, 1));
		add_at(g, p, 8, n);
		break;
	case T_MIN:
	case T_MAX: agg_extreme(g, p, m, n, is_signed, done); break;
	case T_HIST: agg_hist(g, p, m, n, done); break;
	case T_LHIST: agg_lhist(g, p, m, n, done); break;
	case T_TSERIES: agg_tseries(g, p, m, n, done); break;
	default: break;
	}
}

static void aggregate(struct gen *g, struct node *target, struct node *call)
{
	const struct map_def *m = map_of(target);
	ir_label done = ir_new_label(&g->ir);
	struct val key;
	vreg n = 0, p;

	if (call->n_kids)
		n = gen_num(g, call->kids[0]);
	gen_map_key(g, target, &key);
	p = lookup_or_make(g, m, &key, done);
	mark_set(g, m, p);
	apply(g, p, m, n, call->n_kids && call->kids[0]->type->is_signed, done);
	ir_label_here(&g->ir, done);
}

/* --- plain values ----------------------------------------------------------------------------- */

static void assign_plain(struct gen *g, struct node *target, struct node *value)
{
	const struct map_def *m = map_of(target);
	struct val key, place;
	vreg p;

	if (!m->key) {
		struct val tmp = { 0 };

		/* The value may read the map itself. */
		if (value_size(m) > 8) {
			tmp = gen_temp(g, value_size(m));
			gen_store(g, value, m->value, &tmp, true);
			p = lookup(g, m, NULL);
			place = gen_mem(p, 0, SPACE_BPF);
			gen_copy(g, &place, &tmp, value_size(m));
		} else {
			vreg n;
			struct val v;

			gen_expr(g, value, &v);
			n = gen_load(g, &v, value->type);
			p = lookup(g, m, NULL);
			ir_store(&g->ir, BPF_DW, p, 0, n);
		}
		mark_set(g, m, p);
		return;
	}
	place = gen_temp(g, value_size(m));
	gen_store(g, value, m->value, &place, true);
	gen_map_key(g, target, &key);
	update(g, m, &key, gen_addr_arg(g, &place), BPF_ANY);
}

/* += and -= add in place; the others read, work and write. */
static void assign_compound(struct gen *g, const struct node *n)
{
	struct node *target = n->kids[0], *value = n->kids[1];
	u32 op = n->op;
	const struct map_def *m = map_of(target);
	ir_label done = ir_new_label(&g->ir);
	struct node both = { .kind = N_BINARY,
			     .op = op,
			     .at = { (u32)n->ival, n->at.end },
			     .flag = true,
			     .kids = (struct node *[]){ target, value },
			     .n_kids = 2 };
	struct val key;
	vreg by, p;

	if (op != OP1('+') && op != OP1('-')) {
		both.type = m->value;
		assign_plain(g, target, &both);
		return;
	}
	by = gen_num_copy(g, value);
	if (m->value->kind == T_PTR)
		ir_alui(&g->ir, BPF_MUL, by, gen_pointer_step(g, m->value));
	if (op == OP1('-'))
		ir_alui(&g->ir, BPF_NEG, by, 0);
	gen_map_key(g, target, &key);
	p = lookup_or_make(g, m, &key, done);
	ir_atomic_add(&g->ir, p, 0, by);
	mark_set(g, m, p);
	ir_label_here(&g->ir, done);
}

void gen_map_assign(struct gen *g, const struct node *n)
{
	struct node *target = n->kids[0], *value = n->kids[1];
	const struct map_def *m = map_of(target);

	if (type_is_agg(m->value) && value->kind == N_CALL)
		aggregate(g, target, value);
	else if (type_is_agg(m->value))
		gen_fail(g, target, "an aggregation can only be changed by its function");
	else if (n->op != ASSIGN_PLAIN)
		assign_compound(g, n);
	else
		assign_plain(g, target, value);
}

void gen_map_incdec(struct gen *g, struct node *n, struct val *ret)
{
	struct node *target = n->kids[0];
	const struct map_def *m = map_of(target);
	ir_label done = ir_new_label(&g->ir);
	s32 step = (n->op == OP2('+', '+') ? 1 : -1) * gen_pointer_step(g, m->value);
	vreg p, r = ir_imm(&g->ir, 0), add = ir_reg(&g->ir);
	struct val key;

	if (type_is_agg(m->value)) {
		gen_fail(g, target, "an aggregation can only be changed by its function");
		return;
	}
	gen_map_key(g, target, &key);
	p = lookup_or_make(g, m, &key, done);
	ir_mov(&g->ir, r, ir_load(&g->ir, BPF_DW, p, 0));
	ir_movi(&g->ir, add, step);
	ir_atomic_add(&g->ir, p, 0, add);
	mark_set(g, m, p);
	if (n->flag)
		ir_alui(&g->ir, BPF_ADD, r, step);
	ir_label_here(&g->ir, done);
	*ret = gen_reg(r);
}

/* --- reading ---------------------------------------------------------------------------------- */

/* Adds one CPU's part to what is known; goes to @next when it has none. */
static void add_part(struct gen *g, const struct map_def *m, vreg p, vreg first, vreg second,
		     ir_label next)
{
	enum type_kind kind = m->value->kind;
	vreg n = ir_load(&g->ir, BPF_DW, p, 0), other;
	ir_label put;

	if (kind != T_MIN && kind != T_MAX) {
		ir_alu(&g->ir, BPF_ADD, first, n);
		if (kind == T_AVG || kind == T_STATS) {
			other = ir_load(&g->ir, BPF_DW, p, 8);
			ir_alu(&g->ir, BPF_ADD, second, other);
		}
		return;
	}
	put = ir_new_label(&g->ir);
	other = ir_load(&g->ir, BPF_DW, p, 8);
	ir_branchi(&g->ir, BPF_JEQ, other, 0, next);
	ir_branchi(&g->ir, BPF_JEQ, second, 0, put);
	ir_branch(&g->ir, kind == T_MAX ? BPF_JSLE : BPF_JSGE, n, first, next);
	ir_label_here(&g->ir, put);
	ir_mov(&g->ir, first, n);
	ir_movi(&g->ir, second, 1);
}

/* All counters are in registers, which the verifier follows, and not in memory. */
void gen_map_read_agg(struct gen *g, const struct map_def *m, const struct val *key,
		      struct val *ret)
{
	ir_label top = ir_new_label(&g->ir), end = ir_new_label(&g->ir);
	ir_label next = ir_new_label(&g->ir);
	struct val zero;
	vreg map, p, cpu, first, second;

	if (!key->kind) {
		zero = gen_temp(g, 8);
		ir_storei(&g->ir, BPF_DW, zero.reg, zero.off, 0);
		key = &zero;
	}
	first = ir_imm(&g->ir, 0);
	second = ir_imm(&g->ir, 0);
	cpu = ir_imm(&g->ir, 0);
	ir_label_here(&g->ir, top);
	map = ir_map(&g->ir, m->index);
	p = IR_CALLV(&g->ir, HELPER_MAP_LOOKUP_PERCPU, ARG_REG(map), gen_addr_arg(g, key),
		     ARG_REG(cpu));
	ir_branchi(&g->ir, BPF_JEQ, p, 0, end);
	add_part(g, m, p, first, second, next);
	ir_label_here(&g->ir, next);
	ir_alui(&g->ir, BPF_ADD, cpu, 1);
	ir_branchi(&g->ir, BPF_JLT, cpu, (s32)sysconf(_SC_NPROCESSORS_CONF), top);
	ir_label_here(&g->ir, end);
	if (m->value->kind == T_AVG || m->value->kind == T_STATS)
		first = gen_signed_division(g, OP1('/'), second, first);
	*ret = gen_reg(first);
}

/* -k: a key that is not there. What has no key is always there, and maybe not set. */
static void warn_missing(struct gen *g, const struct map_def *m, vreg p)
{
	ir_label there = ir_new_label(&g->ir);

	if (!g->c->opts->helper_errors)
		return;
	if (m->key)
		ir_branchi(&g->ir, BPF_JNE, p, 0, there);
	else
		ir_branchi(&g->ir, BPF_JNE, ir_load(&g->ir, BPF_DW, p, (s32)value_size(m)), 0,
			   there);
	gen_helper_error(g, "map_lookup_elem", ir_imm(&g->ir, 0));
	ir_label_here(&g->ir, there);
}

void gen_map_read(struct gen *g, struct node *n, struct val *ret)
{
	const struct map_def *m = map_of(n);
	ir_label none = ir_new_label(&g->ir);
	struct val key;
	vreg p, r;

	gen_map_key(g, n, &key);
	if (type_is_agg(m->value)) {
		gen_map_read_agg(g, m, &key, ret);
		return;
	}
	p = ir_reg(&g->ir);
	ir_mov(&g->ir, p, lookup(g, m, &key));
	warn_missing(g, m, p);
	if (value_size(m) == 8 && m->value->kind != T_STR && m->value->kind != T_TUPLE &&
	    m->value->kind != T_STRUCT && m->value->kind != T_ARRAY) {
		r = ir_imm(&g->ir, 0);
		if (m->key)
			ir_branchi(&g->ir, BPF_JEQ, p, 0, none);
		ir_mov(&g->ir, r, ir_load(&g->ir, BPF_DW, p, 0));
		ir_label_here(&g->ir, none);
		*ret = gen_reg(r);
		return;
	}
	if (m->key) {
		ir_branchi(&g->ir, BPF_JNE, p, 0, none);
		ir_mov(&g->ir, p, ir_map_value(&g->ir, gen_zero_map(g->c, value_size(m)), 0));
		ir_label_here(&g->ir, none);
	}
	*ret = gen_mem(p, 0, SPACE_BPF);
}

vreg gen_map_address(struct gen *g, struct node *n)
{
	struct val key;

	gen_map_key(g, n, &key);
	return lookup(g, map_of(n), &key);
}

void gen_map_delete(struct gen *g, struct node *map, struct val *ret)
{
	const struct map_def *m = map_of(map);
	ir_label gone = ir_new_label(&g->ir);
	struct val key, value;
	vreg p, fd, r;

	gen_map_key(g, map, &key);
	if (m->key) {
		fd = ir_map(&g->ir, m->index);
		r = IR_CALLV(&g->ir, BPF_FUNC_map_delete_elem, ARG_REG(fd), gen_addr_arg(g, &key));
		/* 0 or a negative number */
		ir_alui(&g->ir, BPF_RSH, r, 63);
		ir_alui(&g->ir, BPF_XOR, r, 1);
		*ret = gen_reg(r);
		return;
	}
	*ret = gen_reg(ir_imm(&g->ir, 1));
	p = lookup(g, m, NULL);
	if (type_is_agg(m->value))
		ir_branchi(&g->ir, BPF_JEQ, p, 0, gone);
	value = gen_mem(p, 0, SPACE_BPF);
	gen_zero(g, &value, value_size(m) + 8);
	ir_label_here(&g->ir, gone);
}

void gen_map_has_key(struct gen *g, struct node *map, struct val *ret)
{
	const struct map_def *m = map_of(map);
	ir_label end = ir_new_label(&g->ir);
	vreg r = ir_imm(&g->ir, 0), p;
	struct val key;

	gen_map_key(g, map, &key);
	p = lookup(g, m, &key);
	ir_branchi(&g->ir, BPF_JEQ, p, 0, end);
	ir_movi(&g->ir, r, 1);
	ir_label_here(&g->ir, end);
	*ret = gen_reg(r);
}
