/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/srcline_types.h"

#ifdef HAVE_LIBDW

#include "symbol/srcline_unit.h"

#include <sys/stat.h>

/* --- numbers for entries ---------------------------------------------------------------------- */

static u32 id_of(struct srcline *s, const Dwarf_Die *die)
{
	u64 *id = map_at(&s->die_ids, (u64)(uintptr_t)die->addr);

	if (!*id) {
		vec_push(&s->dies, *die);
		*id = s->dies.len;
	}
	return (u32)*id;
}

static bool die_of(struct srcline *s, u32 id, Dwarf_Die *ret)
{
	if (!id || id > s->dies.len)
		return false;
	*ret = s->dies.items[id - 1];
	return true;
}

static bool attr_die(Dwarf_Die *die, unsigned name, Dwarf_Die *ret)
{
	Dwarf_Attribute attr;

	return dwarf_attr_integrate(die, name, &attr) && dwarf_formref_die(&attr, ret);
}

static u64 attr_number(Dwarf_Die *die, unsigned name, u64 otherwise)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;

	if (!dwarf_attr_integrate(die, name, &attr) || dwarf_formudata(&attr, &value))
		return otherwise;
	return value;
}

static const char *name_of(Dwarf_Die *die)
{
	const char *name = dwarf_diename(die);

	return name ? name : "";
}

/* --- types ------------------------------------------------------------------------------------ */

/* Through typedefs and qualifiers; false at void. */
static bool real_type(Dwarf_Die *die)
{
	for (u32 i = 0; i < DTYPE_MAX_DEPTH; i++) {
		switch (dwarf_tag(die)) {
		case DW_TAG_typedef:
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_restrict_type:
		case DW_TAG_atomic_type:
			if (!attr_die(die, DW_AT_type, die))
				return false;
			break;
		default: return true;
		}
	}
	return false;
}

static u32 type_id(struct srcline *s, Dwarf_Die *die)
{
	Dwarf_Die type;

	return attr_die(die, DW_AT_type, &type) ? id_of(s, &type) : 0;
}

static u64 array_count(Dwarf_Die *die)
{
	u64 count = 1;
	u32 left = DTYPE_MAX_DEPTH; /* a broken file may name siblings in a circle */
	Dwarf_Die child;
	bool any = false;

	if (dwarf_child(die, &child))
		return 0;
	do {
		u64 n;

		if (dwarf_tag(&child) != DW_TAG_subrange_type)
			continue;
		n = attr_number(&child, DW_AT_count, UINT64_MAX);
		if (n == UINT64_MAX) /* ~0 in the file is an array without a size */
			n = attr_number(&child, DW_AT_upper_bound, UINT64_MAX) + 1;
		count = n < 1u << 24 && count < 1u << 24 ? count * n : 0;
		any = true;
	} while (--left && dwarf_siblingof(&child, &child) == 0);
	return any ? count : 0;
}

static void base_type(Dwarf_Die *die, struct dtype *t)
{
	u64 encoding = attr_number(die, DW_AT_encoding, 0);

	t->kind = encoding == DW_ATE_float || encoding == DW_ATE_complex_float ? DTYPE_FLOAT
									       : DTYPE_INT;
	t->is_signed = encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
	t->is_char = encoding == DW_ATE_signed_char || encoding == DW_ATE_unsigned_char;
}

static bool describe(struct srcline *s, Dwarf_Die *die, struct dtype *t)
{
	Dwarf_Word size;

	t->name = name_of(die);
	t->size = dwarf_aggregate_size(die, &size) ? 0 : size;
	switch (dwarf_tag(die)) {
	case DW_TAG_base_type: base_type(die, t); return true;
	case DW_TAG_enumeration_type: t->kind = DTYPE_INT; return true;
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		t->kind = DTYPE_PTR;
		t->size = 8;
		t->elem = type_id(s, die);
		return true;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		t->kind = DTYPE_STRUCT;
		t->size = attr_number(die, DW_AT_byte_size, 0);
		return true;
	case DW_TAG_array_type:
		t->kind = DTYPE_ARRAY;
		t->elem = type_id(s, die);
		t->count = array_count(die);
		return true;
	default: t->kind = DTYPE_VOID; return true;
	}
}

bool srcline_type(struct srcline *s, u32 id, struct dtype *ret)
{
	Dwarf_Die die;

	*ret = (struct dtype){ .name = "" };
	if (!id)
		return true;
	if (!die_of(s, id, &die))
		return false;
	return real_type(&die) ? describe(s, &die, ret) : true;
}

static const char *type_word(int tag)
{
	switch (tag) {
	case DW_TAG_structure_type: return "struct ";
	case DW_TAG_class_type: return "class ";
	case DW_TAG_union_type: return "union ";
	case DW_TAG_enumeration_type: return "enum ";
	case DW_TAG_const_type: return "const ";
	case DW_TAG_volatile_type: return "volatile ";
	default: return "";
	}
}

static const char *type_sign(int tag)
{
	switch (tag) {
	case DW_TAG_pointer_type: return "*";
	case DW_TAG_reference_type: return "&";
	case DW_TAG_rvalue_reference_type: return "&&";
	case DW_TAG_array_type: return "[]";
	default: return "";
	}
}

static void spell(Dwarf_Die *die, u32 depth, struct buf *out)
{
	int tag = dwarf_tag(die);
	Dwarf_Die of;

	buf_addstr(out, type_word(tag));
	if (*name_of(die) || depth > DTYPE_MAX_DEPTH)
		buf_addstr(out, name_of(die));
	else if (attr_die(die, DW_AT_type, &of))
		spell(&of, depth + 1, out);
	else if (tag != DW_TAG_structure_type && tag != DW_TAG_union_type)
		buf_addstr(out, "void");
	buf_addstr(out, type_sign(tag));
}

void srcline_type_name(struct srcline *s, u32 id, struct buf *out)
{
	Dwarf_Die die;

	if (die_of(s, id, &die))
		spell(&die, 0, out);
	else
		buf_addstr(out, "void");
}

struct member_walk {
	struct srcline *s;
	void (*each)(void *ctx, const struct dtype_member *m);
	void *ctx;
	u32 left;
};

static void walk_members(struct member_walk *w, Dwarf_Die *die, u64 base, u32 depth)
{
	Dwarf_Die child, type;

	if (depth > DTYPE_MAX_DEPTH || !real_type(die) || dwarf_child(die, &child))
		return;
	do {
		int tag = dwarf_tag(&child);
		u64 at = attr_number(&child, DW_AT_data_member_location, 0) * 8;
		struct dtype_member m = { .name = name_of(&child) };

		if (!w->left)
			return;
		w->left--;
		if (tag == DW_TAG_inheritance && attr_die(&child, DW_AT_type, &type))
			walk_members(w, &type, base + at, depth + 1);
		/* static members have no place in the object */
		if (tag != DW_TAG_member || dwarf_hasattr(&child, DW_AT_external))
			continue;
		m.bits = (u32)attr_number(&child, DW_AT_bit_size, 0);
		m.bit_offset = base + attr_number(&child, DW_AT_data_bit_offset, at);
		m.type = type_id(w->s, &child);
		w->each(w->ctx, &m);
	} while (dwarf_siblingof(&child, &child) == 0);
}

void srcline_members(struct srcline *s, u32 id,
		     void (*each)(void *ctx, const struct dtype_member *m), void *ctx)
{
	struct member_walk w = { s, each, ctx, DTYPE_MAX_MEMBERS };
	Dwarf_Die die;

	if (die_of(s, id, &die))
		walk_members(&w, &die, 0, 0);
}

/* --- looking for entries ---------------------------------------------------------------------- */

struct search {
	bool (*is_it)(Dwarf_Die *die, const struct search *q);
	const char *name;
	u32 tags[2];
	u64 vaddr;
	u64 left; /* entries that may still be checked */
	Dwarf_Die found;
};

/* Whatever can have types and functions inside. */
static bool is_scope(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_class_type ||
	       tag == DW_TAG_structure_type || tag == DW_TAG_module;
}

static bool search_below(struct search *q, Dwarf_Die *die, u32 depth)
{
	Dwarf_Die child;

	if (depth > DTYPE_MAX_DEPTH || dwarf_child(die, &child))
		return false;
	do {
		if (!q->left)
			return false;
		q->left--;
		if (q->is_it(&child, q)) {
			q->found = child;
			return true;
		}
		if (is_scope(dwarf_tag(&child)) && search_below(q, &child, depth + 1))
			return true;
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}

/* libdw opens what the file names: only a regular file, so that it waits for nothing. */
static bool is_harmless(const char *dir, const char *name)
{
	_cleanup_free_ char *path = xasprintf("%s%s%s", dir, *dir ? "/" : "", name);
	struct stat st;

	return stat(path, &st) < 0 || S_ISREG(st.st_mode);
}

static const char *text_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;
	const char *text = dwarf_attr(die, name, &attr) ? dwarf_formstring(&attr) : NULL;

	return text ? text : "";
}

/* Where the entries of a unit are: in its .dwo or in the .dwp beside the file, if it was split. */
static Dwarf_Die whole_unit(Dwarf_Die *unit)
{
	const char *name = text_of(unit, DW_AT_dwo_name), *dir = text_of(unit, DW_AT_comp_dir);
	Dwarf_Die split;

	if (!*name)
		name = text_of(unit, DW_AT_GNU_dwo_name);
	if (*name && is_harmless("", name) && is_harmless(dir, name) &&
	    dwarf_cu_info(unit->cu, NULL, NULL, NULL, &split, NULL, NULL, NULL) == 0 && split.addr)
		return split;
	return *unit;
}

static bool search_unit(struct search *q, Dwarf_Die *unit)
{
	Dwarf_Die whole = whole_unit(unit);

	return search_below(q, &whole, 0);
}

static bool is_type(Dwarf_Die *die, const struct search *q)
{
	int tag = dwarf_tag(die);

	return ((u32)tag == q->tags[0] || (u32)tag == q->tags[1]) &&
	       !dwarf_hasattr(die, DW_AT_declaration) && streq(name_of(die), q->name);
}

u32 srcline_find_type(struct srcline *s, const char *name)
{
	static const struct {
		const char *word;
		u32 tags[2];
	} kinds[] = {
		{ "struct ", { DW_TAG_structure_type, DW_TAG_class_type } },
		{ "class ", { DW_TAG_class_type, DW_TAG_structure_type } },
		{ "union ", { DW_TAG_union_type, DW_TAG_union_type } },
		{ "enum ", { DW_TAG_enumeration_type, DW_TAG_enumeration_type } },
		{ "", { DW_TAG_typedef, DW_TAG_class_type } },
	};
	struct search q = { .is_it = is_type, .left = DTYPE_MAX_DIES };

	for (size_t i = 0; i < ARRAY_SIZE(kinds) && !q.name; i++) {
		q.name = starts_with(name, kinds[i].word);
		memcpy(q.tags, kinds[i].tags, sizeof(q.tags));
	}
	vec_each(u, &s->units) {
		if (search_unit(&q, &u->die))
			return id_of(s, &q.found);
	}
	return 0;
}

static bool is_function(Dwarf_Die *die, const struct search *q)
{
	Dwarf_Addr low;

	return dwarf_tag(die) == DW_TAG_subprogram && dwarf_lowpc(die, &low) == 0 &&
	       low == q->vaddr;
}

bool srcline_params(struct srcline *s, u64 vaddr,
		    void (*each)(void *ctx, const char *name, u32 type), void *ctx)
{
	const u32 id = span_find(&s->unit_spans, vaddr);
	struct search q = { .is_it = is_function, .vaddr = vaddr, .left = DTYPE_MAX_DIES };
	u32 left = DTYPE_MAX_MEMBERS;
	Dwarf_Die child;

	if (id == SPAN_NONE || !search_unit(&q, &s->units.items[id].die))
		return false;
	if (dwarf_child(&q.found, &child))
		return true;
	do {
		if (dwarf_tag(&child) == DW_TAG_formal_parameter) {
			const char *name = dwarf_diename(&child);
			Dwarf_Die origin;

			if (!name && attr_die(&child, DW_AT_abstract_origin, &origin))
				name = dwarf_diename(&origin);
			each(ctx, name ? name : "", type_id(s, &child));
		}
	} while (--left && dwarf_siblingof(&child, &child) == 0);
	return true;
}

/* --- lines ------------------------------------------------------------------------------------ */

static bool is_file(const char *path, const char *wanted)
{
	size_t n = strlen(wanted), len = path ? strlen(path) : 0;

	return path && len >= n && streq(path + len - n, wanted) &&
	       (len == n || path[len - n - 1] == '/');
}

static void unit_addresses(Dwarf_Die *die, const char *file, u32 line,
			   void (*each)(void *ctx, u64 vaddr), void *ctx)
{
	Dwarf_Lines *lines;
	size_t n;
	int last = 0;

	if (dwarf_getsrclines(die, &lines, &n))
		return;
	for (size_t i = 0; i < n; i++) {
		Dwarf_Line *row = dwarf_onesrcline(lines, i);
		Dwarf_Addr address;
		bool statement;
		int number;

		if (!row || dwarf_lineno(row, &number))
			continue;
		if (number == (int)line && number != last &&
		    dwarf_linebeginstatement(row, &statement) == 0 && statement &&
		    is_file(dwarf_linesrc(row, NULL, NULL), file) &&
		    dwarf_lineaddr(row, &address) == 0)
			each(ctx, address);
		last = number;
	}
}

void srcline_addresses(struct srcline *s, const char *file, u32 line,
		       void (*each)(void *ctx, u64 vaddr), void *ctx)
{
	vec_each(u, &s->units)
		unit_addresses(&u->die, file, line, each, ctx);
}

#else

bool srcline_type(struct srcline *s, u32 id, struct dtype *ret)
{
	(void)s;
	(void)id;
	(void)ret;
	return false;
}

void srcline_type_name(struct srcline *s, u32 id, struct buf *out)
{
	(void)s;
	(void)id;
	(void)out;
}

void srcline_members(struct srcline *s, u32 id,
		     void (*each)(void *ctx, const struct dtype_member *m), void *ctx)
{
	(void)s;
	(void)id;
	(void)each;
	(void)ctx;
}

u32 srcline_find_type(struct srcline *s, const char *name)
{
	(void)s;
	(void)name;
	return 0;
}

bool srcline_params(struct srcline *s, u64 vaddr,
		    void (*each)(void *ctx, const char *name, u32 type), void *ctx)
{
	(void)s;
	(void)vaddr;
	(void)each;
	(void)ctx;
	return false;
}

void srcline_addresses(struct srcline *s, const char *file, u32 line,
		       void (*each)(void *ctx, u64 vaddr), void *ctx)
{
	(void)s;
	(void)file;
	(void)line;
	(void)each;
	(void)ctx;
}

#endif
