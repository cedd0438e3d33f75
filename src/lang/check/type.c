/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lang/check/type.h"

void types_init(struct types *ts)
{
	*ts = (struct types){ 0 };
}

void types_release(struct types *ts)
{
	kbtf_free(ts->btf);
	err_release(&ts->btf_err);
	arena_release(&ts->arena);
}

struct kbtf *types_btf(struct types *ts)
{
	if (!ts->btf && !ts->btf_failed)
		ts->btf_failed = kbtf_open_kernel(&ts->btf, &ts->btf_err) < 0;
	return ts->btf;
}

struct type *type_new(struct types *ts, enum type_kind kind, u32 size)
{
	struct type *t = arena_zalloc(&ts->arena, sizeof(*t));

	t->kind = kind;
	t->size = size;
	return t;
}

const struct type *type_int(struct types *ts, u32 size, bool is_signed)
{
	struct type *t = type_new(ts, T_INT, size);

	t->is_signed = is_signed;
	return t;
}

const struct type *type_bool(struct types *ts)
{
	struct type *t = type_new(ts, T_INT, 1);

	t->name = TYPE_BOOL;
	return t;
}

const struct type *type_in_unit(struct types *ts, const struct type *t, enum type_unit unit)
{
	struct type *copy = arena_dup(&ts->arena, t, sizeof(*t));

	copy->p[0] = unit;
	return copy;
}

const struct type *type_int64_of(struct types *ts, const struct type *t)
{
	struct type *r = type_new(ts, T_INT, 8);

	r->is_signed = t->is_signed;
	r->name = t->name;
	r->btf = t->name ? t->btf : 0;
	return r;
}

const struct type *type_str(struct types *ts, u32 size)
{
	return type_new(ts, T_STR, size);
}

const struct type *type_buf(struct types *ts, u32 size)
{
	return type_new(ts, T_BUF, size);
}

const struct type *type_ptr(struct types *ts, const struct type *to, enum space space)
{
	struct type *t = type_new(ts, T_PTR, 8);

	t->elem = to;
	t->space = space;
	return t;
}

const struct type *type_array(struct types *ts, const struct type *of, u32 count)
{
	struct type *t;
	u64 size = (u64)of->size * count;

	/* Arrays of characters are strings. */
	if (of->kind == T_INT && of->size == 1 && of->str)
		return type_str(ts, count);
	t = type_new(ts, T_ARRAY, size > TYPE_MAX_SIZE ? 0 : (u32)size);
	t->elem = of;
	t->count = size > TYPE_MAX_SIZE ? 0 : count;
	return t;
}

const struct type *type_tuple(struct types *ts, const struct type *const *elems,
			      const char *const *names, u32 n)
{
	struct type *t = type_new(ts, T_TUPLE, 0);
	struct field *f = arena_zalloc(&ts->arena, n * sizeof(*f));

	for (u32 i = 0; i < n; i++) {
		f[i].type = elems[i];
		f[i].offset = t->size;
		f[i].name = names ? names[i] : "";
		t->size += type_stored(elems[i]);
	}
	t->fields = f;
	t->n_fields = n;
	return t;
}

const struct type *type_in_space(struct types *ts, const struct type *t, enum space space)
{
	struct type *copy;

	if (t->kind != T_PTR || t->space == space)
		return t;
	copy = arena_dup(&ts->arena, t, sizeof(*t));
	copy->space = space;
	return copy;
}

static const struct type *int_from_btf(struct types *ts, u32 id)
{
	const struct btf_type *t = kbtf_type(ts->btf, id);
	u32 bits;
	struct type *r;

	memcpy(&bits, t + 1, sizeof(bits));
	r = type_new(ts, T_INT, t->size > 8 ? 8 : t->size);
	r->is_signed = BTF_INT_ENCODING(bits) & BTF_INT_SIGNED;
	if (BTF_INT_ENCODING(bits) & BTF_INT_BOOL)
		r->name = TYPE_BOOL;
	if (t->size == 1 && strstr(kbtf_name(ts->btf, id), "char") &&
	    !strstr(kbtf_name(ts->btf, id), "unsigned"))
		r->str = "char"; /* marks what makes an array a string */
	if (t->size > 8) {       /* __int128: bytes */
		struct type *a = type_new(ts, T_ARRAY, t->size);

		a->elem = type_int(ts, 8, false);
		a->count = t->size / 8;
		return a;
	}
	return r;
}

static const struct type *array_from_btf(struct types *ts, const struct btf_type *t,
					 enum space space)
{
	struct btf_array a;
	u32 elem;
	const struct btf_type *et;

	memcpy(&a, t + 1, sizeof(a));
	elem = kbtf_resolve(ts->btf, a.type);
	et = kbtf_type(ts->btf, elem);
	/* unsigned char arrays hold bytes, char arrays hold text. */
	return type_array(ts, et ? type_from_btf(ts, elem, space) : type_int(ts, 8, false),
			  a.nelems);
}

const struct type *type_from_btf(struct types *ts, u32 id, enum space space)
{
	struct kbtf *btf = types_btf(ts);
	const struct btf_type *t;
	struct type *r;
	s64 size;

	if (!btf)
		return type_int(ts, 8, false);
	id = kbtf_resolve(btf, id);
	t = kbtf_type(btf, id);
	if (!t)
		return type_new(ts, T_VOID, 0);
	switch (kbtf_kind(t)) {
	case BTF_KIND_INT: return int_from_btf(ts, id);
	case BTF_KIND_ENUM:
	case KBTF_KIND_ENUM64:
		r = type_new(ts, T_INT, t->size);
		r->btf = id;
		r->name = kbtf_name(btf, id);
		r->is_signed = BTF_INFO_KFLAG(t->info);
		return r;
	case BTF_KIND_PTR:
		r = type_new(ts, T_PTR, 8);
		r->btf = t->type;
		r->space = space;
		return r;
	case BTF_KIND_ARRAY: return array_from_btf(ts, t, space);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		size = kbtf_size(btf, id);
		r = type_new(ts, T_STRUCT, size < 0 || size > TYPE_MAX_SIZE ? 0 : (u32)size);
		r->btf = id;
		r->space = space;
		r->name = arena_printf(&ts->arena, "%s %s",
				       kbtf_kind(t) == BTF_KIND_UNION ? "union" : "struct",
				       kbtf_name(btf, id));
		return r;
	case BTF_KIND_FWD:
	case BTF_KIND_FUNC_PROTO: return type_new(ts, T_VOID, 0);
	default: return type_int(ts, 8, false);
	}
}

const struct type *type_pointee(struct types *ts, const struct type *t)
{
	if (t->elem)
		return t->elem;
	if (t->btf)
		return type_from_btf(ts, t->btf, t->space);
	if (t->name) {
		const struct type *named = type_by_btf_name(ts, t->name, t->space);

		if (named)
			return named;
	}
	return type_new(ts, T_VOID, 0);
}

static bool find_field(const struct type *t, const char *name, u32 base, int depth,
		       struct field *ret)
{
	for (u32 i = 0; i < t->n_fields; i++) {
		const struct field *f = &t->fields[i];

		if (*f->name && streq(f->name, name)) {
			*ret = *f;
			ret->offset += base;
			return true;
		}
		if (!*f->name && f->type->kind == T_STRUCT && depth < KBTF_MAX_DEPTH &&
		    find_field(f->type, name, base + f->offset, depth + 1, ret))
			return true;
	}
	return false;
}

bool type_field(struct types *ts, const struct type *t, const char *name, struct field *ret)
{
	struct kbtf_member m;

	if (t->kind != T_STRUCT)
		return false;
	if (t->fields || !t->btf)
		return find_field(t, name, 0, 0, ret);
	if (!ts->btf || kbtf_member(ts->btf, t->btf, name, &m) < 0)
		return false;
	*ret = (struct field){ .name = m.name, .type = type_from_btf(ts, m.type, t->space) };
	if (m.bit_size) {
		u32 unit = ret->type->size * 8;

		ret->offset = unit ? m.bit_offset / unit * ret->type->size : m.bit_offset / 8;
		ret->bit = m.bit_offset - ret->offset * 8;
		ret->bits = m.bit_size;
	} else {
		ret->offset = m.bit_offset / 8;
	}
	return true;
}

const char *type_field_name(struct types *ts, const struct type *t, u32 i)
{
	struct kbtf_member m;

	if (t->kind != T_STRUCT && t->kind != T_TUPLE)
		return NULL;
	if (t->fields || !t->btf)
		return i < t->n_fields ? t->fields[i].name : NULL;
	if (!ts->btf || kbtf_member_at(ts->btf, t->btf, i, &m) < 0)
		return NULL;
	return m.name;
}

const struct type *type_anonymous(struct types *ts, const struct type *t, u32 i)
{
	struct kbtf_member m;

	if (t->kind != T_STRUCT)
		return NULL;
	if (t->fields || !t->btf)
		return i < t->n_fields && !*t->fields[i].name ? t->fields[i].type : NULL;
	if (!ts->btf || kbtf_member_at(ts->btf, t->btf, i, &m) < 0 || *m.name)
		return NULL;
	return type_from_btf(ts, m.type, t->space);
}

struct named_type {
	const char *name;
	u8 size;
	bool is_signed;
};

static const struct named_type named_types[] = {
	{ "bool", 1, false },      { "int8", 1, true },      { "int16", 2, true },
	{ "int32", 4, true },      { "int64", 8, true },     { "uint8", 1, false },
	{ "uint16", 2, false },    { "uint32", 4, false },   { "uint64", 8, false },
	{ "int8_t", 1, true },     { "int16_t", 2, true },   { "int32_t", 4, true },
	{ "int64_t", 8, true },    { "uint8_t", 1, false },  { "uint16_t", 2, false },
	{ "uint32_t", 4, false },  { "uint64_t", 8, false }, { "u8", 1, false },
	{ "u16", 2, false },       { "u32", 4, false },      { "u64", 8, false },
	{ "s8", 1, true },         { "s16", 2, true },       { "s32", 4, true },
	{ "s64", 8, true },        { "size_t", 8, false },   { "ssize_t", 8, true },
	{ "__u8", 1, false },      { "__u16", 2, false },    { "__u32", 4, false },
	{ "__u64", 8, false },     { "__s32", 4, true },     { "__s64", 8, true },
	{ "uintptr_t", 8, false },
};

bool type_is_name(const char *name)
{
	static const char *const others[] = {
		"void", "string", "buffer", "inet", "count_t", "sum_t"
	};

	for (size_t i = 0; i < ARRAY_SIZE(named_types); i++) {
		if (streq(named_types[i].name, name))
			return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		if (streq(others[i], name))
			return true;
	}
	return false;
}

const struct type *type_by_name(struct types *ts, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(named_types); i++) {
		if (streq(named_types[i].name, name)) {
			struct type *t = type_new(ts, T_INT, named_types[i].size);

			t->is_signed = named_types[i].is_signed;
			if (streq(name, "int8"))
				t->str = "char";
			if (streq(name, "bool"))
				t->name = TYPE_BOOL;
			return t;
		}
	}
	if (streq(name, "void"))
		return type_new(ts, T_VOID, 0);
	if (streq(name, "string"))
		return type_new(ts, T_STR, 0);
	if (streq(name, "buffer"))
		return type_new(ts, T_BUF, 0);
	return NULL;
}

const struct type *type_by_btf_name(struct types *ts, const char *name, enum space space)
{
	static const u32 any[] = { BTF_KIND_TYPEDEF, BTF_KIND_STRUCT, BTF_KIND_UNION,
				   BTF_KIND_ENUM };
	struct kbtf *btf = types_btf(ts);
	const char *bare;
	u32 id = 0;

	if (!btf)
		return NULL;
	if ((bare = starts_with(name, "struct ")))
		id = kbtf_find(btf, BTF_KIND_STRUCT, bare);
	else if ((bare = starts_with(name, "union ")))
		id = kbtf_find(btf, BTF_KIND_UNION, bare);
	else if ((bare = starts_with(name, "enum ")))
		id = kbtf_find(btf, BTF_KIND_ENUM, bare);
	else
		for (size_t i = 0; !id && i < ARRAY_SIZE(any); i++)
			id = kbtf_find(btf, any[i], name);
	return id ? type_from_btf(ts, id, space) : NULL;
}

bool type_is_agg(const struct type *t)
{
	return t->kind >= T_COUNT;
}

bool type_is_number(const struct type *t)
{
	return t->kind == T_INT || t->kind == T_PTR || t->kind == T_COUNT || t->kind == T_SUM ||
	       t->kind == T_MIN || t->kind == T_MAX || t->kind == T_AVG || t->kind == T_STATS;
}

bool type_is_bool(const struct type *t)
{
	return t->kind == T_INT && t->name && !t->btf && streq(t->name, TYPE_BOOL);
}

u32 type_stored(const struct type *t)
{
	switch (t->kind) {
	case T_STR: return ALIGN_UP(t->size, 8u);
	case T_BUF: return 8 + ALIGN_UP(t->size, 8u);
	case T_STRUCT:
	case T_ARRAY:
	case T_TUPLE: return ALIGN_UP(t->size, 8u);
	case T_USYM:
	case T_USTACK: return 16;
	case T_INET: return 24;
	case T_COUNT: return 8;
	case T_SUM: return 8;
	case T_MIN:
	case T_MAX:
	case T_AVG:
	case T_STATS: return 16;
	case T_HIST: return (66u << t->p[0]) * 8;
	case T_LHIST: return (u32)((t->p[1] - t->p[0]) / t->p[2] + 3) * 8;
	case T_TSERIES: return (u32)t->p[1] * 24;
	default: return 8;
	}
}

u32 type_alignment(const struct type *t)
{
	u32 most = 1;

	switch (t->kind) {
	case T_STR:
	case T_BUF: return 1;
	case T_INT: return MAX(t->size, 1u);
	case T_ARRAY: return type_alignment(t->elem);
	case T_TUPLE:
		for (u32 i = 0; i < t->n_fields; i++)
			most = MAX(most, type_alignment(t->fields[i].type));
		return most;
	default: return 8;
	}
}

u32 type_sizeof(const struct type *t)
{
	u32 size = 0;

	if (t->kind != T_TUPLE)
		return t->size ? t->size : type_stored(t);
	for (u32 i = 0; i < t->n_fields; i++) {
		size = ALIGN_UP(size, type_alignment(t->fields[i].type));
		size += type_sizeof(t->fields[i].type);
	}
	return ALIGN_UP(size, type_alignment(t));
}

bool type_is_record(const struct type *t)
{
	return t->kind == T_TUPLE && t->n_fields && *t->fields[0].name;
}

u32 type_record_field(const struct type *t, const char *name)
{
	u32 i = 0;

	while (i < t->n_fields && !streq(t->fields[i].name, name))
		i++;
	return i;
}

static bool tuple_fits(const struct type *a, const struct type *b)
{
	if (a->n_fields != b->n_fields || type_is_record(a) != type_is_record(b))
		return false;
	for (u32 i = 0; i < a->n_fields; i++) {
		u32 k = type_is_record(a) ? type_record_field(b, a->fields[i].name) : i;

		if (k == b->n_fields || !type_fits(a->fields[i].type, b->fields[k].type))
			return false;
	}
	return true;
}

bool type_fits(const struct type *a, const struct type *b)
{
	if (type_is_bool(a) != type_is_bool(b))
		return false;
	if (a->kind == T_INT || a->kind == T_PTR)
		return b->kind == T_INT || b->kind == T_PTR;
	if (a->kind != b->kind)
		return (a->kind == T_KSYM && b->kind == T_FUNC) ||
		       (a->kind == T_FUNC && b->kind == T_KSYM);
	if (a->kind == T_TUPLE)
		return tuple_fits(a, b);
	if (a->kind == T_STRUCT)
		return a->size == b->size && (!a->name || !b->name || streq(a->name, b->name));
	if (a->kind == T_ARRAY)
		return a->size == b->size;
	if (a->kind == T_HIST && (a->p[1] || b->p[1]))
		return true;
	if (a->kind == T_HIST || a->kind == T_LHIST || a->kind == T_TSERIES)
		return memcmp(a->p, b->p, sizeof(a->p)) == 0;
	return true;
}

static bool same_names(const struct type *a, const struct type *b)
{
	return a->btf == b->btf && !a->name == !b->name && (!a->name || streq(a->name, b->name));
}

bool type_same_size(const struct type *a, const struct type *b)
{
	if (a->size != b->size || a->n_fields != b->n_fields ||
	    (a->kind == T_FUNC) != (b->kind == T_FUNC))
		return false;
	if (a->kind == T_INT && b->kind == T_INT &&
	    (!same_names(a, b) || a->is_signed != b->is_signed || a->is_literal != b->is_literal))
		return false;
	if (a->kind == T_HIST && memcmp(a->p, b->p, sizeof(a->p)) != 0)
		return false;
	for (u32 i = 0; a->kind == T_TUPLE && i < a->n_fields; i++) {
		if (!type_same_size(a->fields[i].type, b->fields[i].type))
			return false;
	}
	return true;
}

static const struct type *merge_tuple(struct types *ts, const struct type *a, const struct type *b)
{
	const struct type **elems = arena_alloc(&ts->arena, a->n_fields * sizeof(*elems));
	const char **names = arena_alloc(&ts->arena, a->n_fields * sizeof(*names));

	for (u32 i = 0; i < a->n_fields; i++) {
		u32 k = type_is_record(a) ? type_record_field(b, a->fields[i].name) : i;

		elems[i] = type_merge(ts, a->fields[i].type, b->fields[k].type);
		names[i] = a->fields[i].name;
	}
	return type_tuple(ts, elems, names, a->n_fields);
}

/* Without the names of constants. */
static const struct type *type_nameless(struct types *ts, const struct type *t)
{
	struct type *copy;

	if (t->kind != T_INT || !t->name)
		return t;
	copy = arena_dup(&ts->arena, t, sizeof(*t));
	copy->name = NULL;
	copy->btf = 0;
	return copy;
}

static const struct type *widen(struct types *ts, const struct type *t, u32 size)
{
	struct type *wide;

	if (t->size >= size)
		return t;
	wide = arena_dup(&ts->arena, t, sizeof(*t));
	wide->size = size;
	return wide;
}

/* Sizes only grow and signs are only added: repetition terminates. */
static const struct type *merge_ints(struct types *ts, const struct type *a, const struct type *b)
{
	const struct type *with_sign, *without;

	if (a->is_literal && !b->is_literal)
		return widen(ts, b, a->size);
	if (b->is_literal || a->is_signed == b->is_signed)
		return widen(ts, a, b->size);
	with_sign = a->is_signed ? a : b;
	without = a->is_signed ? b : a;
	return type_int(
		ts, with_sign->size > without->size ? with_sign->size : MIN(without->size * 2, 8u),
		true);
}

const struct type *type_merge(struct types *ts, const struct type *a, const struct type *b)
{
	if (a->kind == T_INT && b->kind == T_INT && !same_names(a, b) &&
	    !(b->is_literal && !b->name)) {
		a = type_nameless(ts, a);
		b = type_nameless(ts, b);
	}
	if (a->kind == T_INT && b->kind == T_PTR)
		return b->elem || b->btf ? a : b;
	if (a->kind == T_INT && b->kind == T_INT)
		return merge_ints(ts, a, b);
	if (a->kind == T_STR || a->kind == T_BUF)
		return a->size >= b->size ? a : b;
	/* Numbers of targets are below all addresses of the kernel. */
	if (a->kind == T_FUNC && b->kind == T_KSYM)
		return b;
	if (a->kind == T_TUPLE)
		return merge_tuple(ts, a, b);
	/* What was requested goes before what was chosen. */
	if (a->kind == T_HIST)
		return a->p[1] && !b->p[1] ? b : a;
	return a;
}

static const char *kind_name(enum type_kind kind)
{
	static const char *const names[] = {
		[T_NONE] = "none",
		[T_VOID] = "void",
		[T_KSTACK] = "kstack",
		[T_USTACK] = "ustack",
		[T_KSYM] = "ksym",
		[T_USYM] = "usym",
		[T_INET] = "inet",
		[T_MAC] = "mac_address",
		[T_USERNAME] = "username",
		[T_TIMESTAMP] = "timestamp",
		[T_CGROUP_PATH] = "cgroup_path",
		[T_STRERROR] = "strerror",
		[T_SIGNAL_NAME] = "signal_name",
		[T_SYSCALL_NAME] = "syscall_name",
		[T_TASK_COMM] = "comm",
		[T_PROBE] = "probe",
		[T_FUNC] = "func",
		[T_COUNT] = "count_t",
		[T_SUM] = "sum_t",
		[T_MIN] = "min_t",
		[T_MAX] = "max_t",
		[T_AVG] = "avg_t",
		[T_STATS] = "stats_t",
		[T_HIST] = "hist_t",
		[T_LHIST] = "lhist_t",
		[T_TSERIES] = "tseries_t",
	};

	return kind < ARRAY_SIZE(names) && names[kind] ? names[kind] : "none";
}

static void print_record(const struct type *t, struct buf *out)
{
	buf_addstr(out, "record { ");
	for (u32 i = 0; i < t->n_fields; i++) {
		buf_addf(out, "%s.%s = ", i ? ", " : "", t->fields[i].name);
		type_print(t->fields[i].type, out);
	}
	buf_addstr(out, " }");
}

static void print_tuple(const struct type *t, struct buf *out)
{
	buf_addch(out, '(');
	for (u32 i = 0; i < t->n_fields; i++) {
		if (i)
			buf_addch(out, ',');
		type_print(t->fields[i].type, out);
	}
	buf_addch(out, ')');
}

void type_print(const struct type *t, struct buf *out)
{
	switch (t->kind) {
	case T_INT:
		if (type_is_bool(t))
			buf_addstr(out, TYPE_BOOL);
		else
			buf_addf(out, "%sint%u", t->is_signed ? "" : "u", t->size * 8);
		break;
	case T_STR: buf_addf(out, "string[%u]", t->size); break;
	case T_BUF: buf_addf(out, "buffer[%u]", t->size); break;
	case T_STRUCT: buf_addstr(out, t->name); break;
	case T_PTR:
		if (t->elem)
			type_print(t->elem, out);
		else
			buf_addstr(out, "void");
		buf_addstr(out, " *");
		break;
	case T_ARRAY:
		type_print(t->elem, out);
		buf_addf(out, "[%u]", t->count);
		break;
	case T_TUPLE:
		if (type_is_record(t))
			print_record(t, out);
		else
			print_tuple(t, out);
		break;
	default: buf_addstr(out, kind_name(t->kind)); break;
	}
}
