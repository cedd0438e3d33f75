/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Variables at an address, as tracefs fetches them. */
#include "symbol/probe_dwarf.h"

#include "symbol/probe_state.h"

#ifdef HAVE_LIBDW

enum { SCOPES_MOST = 256, TYPES_MOST = 32 };

/* The registers of x86-64 by their DWARF number, as tracefs names them. */
static const char *const registers[] = { "%ax",  "%dx",  "%cx",  "%bx", "%si",  "%di",
					 "%bp",  "%sp",  "%r8",  "%r9", "%r10", "%r11",
					 "%r12", "%r13", "%r14", "%r15" };

/* A value: in a register, or in memory at @offset from what @base is worth. */
struct place {
	bool in_memory;
	s64 offset;
	struct buf base;
};

static const char *register_name(u64 number)
{
	return number < ARRAY_SIZE(registers) ? registers[number] : NULL;
}

static void place_text(const struct place *p, struct buf *out)
{
	if (p->in_memory)
		buf_addf(out, "%+lld(%s)", (long long)p->offset, buf_str(&p->base));
	else
		buf_addstr(out, buf_str(&p->base));
}

/* What a pointer at @p points to. */
static void place_follow(struct place *p)
{
	struct buf text = BUF_INIT;

	place_text(p, &text);
	buf_release(&p->base);
	*p = (struct place){ .in_memory = true, .base = text };
}

static bool set_register(struct place *p, u64 number)
{
	const char *name = register_name(number);

	if (name)
		buf_addstr(&p->base, name);
	return name != NULL;
}

static bool set_based(struct place *p, u64 number, s64 offset)
{
	p->in_memory = true;
	p->offset = offset;
	return set_register(p, number);
}

/* --- where it is ------------------------------------------------------------------------------ */

/* DW_OP_regN and DW_OP_bregN name their register in the operation, the x forms in an operand. */
static bool take_simple(struct place *p, const Dwarf_Op *op)
{
	if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31)
		return set_register(p, op->atom - DW_OP_reg0);
	if (op->atom == DW_OP_regx)
		return set_register(p, op->number);
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
		return set_based(p, op->atom - DW_OP_breg0, (s64)op->number);
	if (op->atom == DW_OP_bregx)
		return set_based(p, op->number, (s64)op->number2);
	return false;
}

static bool take_cfa(struct probe_dwarf *d, u64 vaddr, struct place *p)
{
	Dwarf_Frame *frame = NULL;
	Dwarf_Op *ops = NULL;
	size_t n = 0;
	bool ok;

	if (!d->cfi)
		d->cfi = dwarf_getcfi_elf(d->libelf);
	if (!d->cfi || dwarf_cfi_addrframe(d->cfi, vaddr, &frame) != 0)
		return false;
	ok = dwarf_frame_cfa(frame, &ops, &n) == 0 && n == 1 && take_simple(p, &ops[0]);
	free(frame);
	return ok && p->in_memory;
}

static bool take_frame_base(struct probe_dwarf *d, Dwarf_Die *func, u64 vaddr, struct place *p)
{
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t n;

	if (!dwarf_attr_integrate(func, DW_AT_frame_base, &attr) ||
	    dwarf_getlocation_addr(&attr, vaddr, &ops, &n, 1) != 1 || n != 1)
		return false;
	if (ops[0].atom == DW_OP_call_frame_cfa)
		return take_cfa(d, vaddr, p);
	if (!take_simple(p, &ops[0]))
		return false;
	/* the register's value is the base, not what it points to */
	p->in_memory = true;
	return true;
}

/*
 * The kernel finds "@+X" as X from where the file would be mapped if all of it lay as the probed
 * code does. Data lies elsewhere, so that X is not its place in the file.
 */
static bool take_static(struct probe_dwarf *d, u64 variable, u64 probe, struct place *p)
{
	u64 offset, left, from;

	if (!elf_offset(&d->elf, probe, true, &offset, &left))
		return false;
	from = variable - probe + offset;
	if (from > UINT32_MAX)
		return false;
	buf_addf(&p->base, "@+0x%llx", (unsigned long long)from);
	return true;
}

static bool locate(struct probe_dwarf *d, Dwarf_Die *func, Dwarf_Die *var, u64 vaddr,
		   struct place *ret)
{
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t n;

	*ret = (struct place){ .base = BUF_INIT };
	if (!dwarf_attr_integrate(var, DW_AT_location, &attr) ||
	    dwarf_getlocation_addr(&attr, vaddr, &ops, &n, 1) != 1 || n != 1)
		return false;
	if (ops[0].atom == DW_OP_addr)
		return take_static(d, ops[0].number, vaddr, ret);
	if (ops[0].atom != DW_OP_fbreg)
		return take_simple(ret, &ops[0]);
	if (!func || !take_frame_base(d, func, vaddr, ret))
		return false;
	ret->offset += (s64)ops[0].number;
	return true;
}

/* --- types ------------------------------------------------------------------------------------ */

/* Past typedefs, const and volatile. */
static bool type_of(Dwarf_Die *die, Dwarf_Die *ret)
{
	Dwarf_Attribute attr;
	Dwarf_Die next = *die;

	for (int i = 0; i < TYPES_MOST; i++) {
		if (!dwarf_attr_integrate(&next, DW_AT_type, &attr) ||
		    !dwarf_formref_die(&attr, &next))
			return false;
		switch (dwarf_tag(&next)) {
		case DW_TAG_typedef:
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_restrict_type:
		case DW_TAG_atomic_type: continue;
		default: *ret = next; return true;
		}
	}
	return false;
}

static bool find_member(Dwarf_Die *type, const char *name, size_t n, Dwarf_Die *ret, s64 *ret_at)
{
	Dwarf_Attribute attr;
	Dwarf_Die child;
	Dwarf_Word at;

	if (dwarf_child(type, &child) != 0)
		return false;
	do {
		const char *found = dwarf_diename(&child);

		if (dwarf_tag(&child) != DW_TAG_member || !found || strlen(found) != n ||
		    memcmp(found, name, n) != 0)
			continue;
		at = 0;
		if (dwarf_attr_integrate(&child, DW_AT_data_member_location, &attr))
			(void)dwarf_formudata(&attr, &at);
		*ret = child;
		*ret_at = (s64)at;
		/* tracefs has no syntax that survives a bit field of any place */
		return !dwarf_hasattr(&child, DW_AT_bit_size);
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}

static bool is_char(Dwarf_Die *type)
{
	Dwarf_Attribute attr;
	Dwarf_Word encoding;

	return dwarf_tag(type) == DW_TAG_base_type &&
	       dwarf_attr_integrate(type, DW_AT_encoding, &attr) &&
	       dwarf_formudata(&attr, &encoding) == 0 &&
	       (encoding == DW_ATE_signed_char || encoding == DW_ATE_unsigned_char);
}

static int add_number_type(Dwarf_Die *type, struct buf *out, struct err *e)
{
	Dwarf_Attribute attr;
	Dwarf_Word encoding = DW_ATE_unsigned, size = 0;

	if (dwarf_aggregate_size(type, &size) != 0 || !size || size > 8 || (size & (size - 1)))
		return err_set(e, EINVAL, "the variable is not a number");
	if (dwarf_attr_integrate(type, DW_AT_encoding, &attr))
		(void)dwarf_formudata(&attr, &encoding);
	if (encoding == DW_ATE_float)
		return err_set(e, EINVAL, "floating-point numbers cannot be fetched");
	buf_addf(out, ":%c%llu",
		 encoding == DW_ATE_signed || encoding == DW_ATE_signed_char ? 's' : 'u',
		 (unsigned long long)size * 8);
	return 0;
}

static int add_value(struct place *p, Dwarf_Die *type, const char *want, struct buf *out,
		     struct err *e)
{
	int tag = dwarf_tag(type);
	Dwarf_Die element;

	if (want && streq(want, "string")) {
		if (tag == DW_TAG_pointer_type)
			place_follow(p);
		place_text(p, out);
		buf_addstr(out, ":string");
		return 0;
	}
	if (tag == DW_TAG_array_type && type_of(type, &element) && is_char(&element) && !want) {
		place_text(p, out);
		buf_addstr(out, ":string");
		return 0;
	}
	place_text(p, out);
	if (want)
		buf_addf(out, ":%s", want);
	else if (tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type)
		buf_addstr(out, ":x64");
	else
		return add_number_type(type, out, e);
	return 0;
}

/* --- expressions ------------------------------------------------------------------------------ */

bool probe_unit_at(struct probe_dwarf *d, u64 vaddr, Dwarf_Die *ret)
{
	Dwarf_CU *cu = NULL;

	while (dwarf_get_units(d->dwarf, cu, &cu, NULL, NULL, ret, NULL) == 0)
		if (dwarf_haspc(ret, vaddr) == 1)
			return true;
	return false;
}

struct variable {
	Dwarf_Die die, func;
	bool has_func;
};

static bool find_variable(struct probe_dwarf *d, u64 vaddr, const char *name, struct variable *ret)
{
	Dwarf_Die cu, *scopes = NULL;
	int n, at = -1;

	*ret = (struct variable){ 0 };
	if (!probe_unit_at(d, vaddr, &cu))
		return false;
	n = dwarf_getscopes(&cu, vaddr, &scopes);
	if (n > 0)
		at = dwarf_getscopevar(scopes, n, name, 0, NULL, 0, 0, &ret->die);
	for (int i = 0; i < n; i++) {
		if (dwarf_tag(&scopes[i]) != DW_TAG_subprogram)
			continue;
		ret->func = scopes[i];
		ret->has_func = true;
	}
	free(scopes);
	return at >= 0;
}

static int bad_step(const char *expr, const char *why, struct err *e)
{
	return err_set(e, EINVAL, "'%s': %s", expr, why);
}

/* "->m", ".m" or "[n]" at *@text: moves past it. */
static int take_step(struct place *p, Dwarf_Die *type, const char **text, const char *expr,
		     struct err *e)
{
	bool arrow = starts_with(*text, "->") != NULL, index = **text == '[';
	Dwarf_Die element, member;
	Dwarf_Word size = 1;
	char *end;
	s64 at;

	if (index || arrow) {
		bool pointer = dwarf_tag(type) == DW_TAG_pointer_type;

		if (!type_of(type, &element) || (arrow && !pointer))
			return bad_step(expr, "what is before it is not a pointer or array", e);
		if (pointer)
			place_follow(p);
		*type = element;
	}
	if (!p->in_memory)
		return bad_step(expr, "it is in a register, and has no parts there", e);
	if (index) {
		at = strtoll(*text + 1, &end, 10);
		if (end == *text + 1 || *end != ']' || dwarf_aggregate_size(type, &size) != 0 ||
		    at < 0 || at > INT32_MAX)
			return bad_step(expr, "the index is not a number", e);
		p->offset += at * (s64)size;
		*text = end + 1;
		return 0;
	}
	*text += arrow ? 2 : 1;
	size = strcspn(*text, "-.[");
	if (!find_member(type, *text, size, &member, &at) || !type_of(&member, type))
		return bad_step(expr, "the member does not exist or is a bit field", e);
	p->offset += at;
	*text += size;
	return 0;
}

int probe_dwarf_variable(struct probe_dwarf *d, u64 vaddr, const char *expr, const char *type,
			 struct buf *ret, struct err *e)
{
	size_t n = strcspn(expr, "-.[");
	_cleanup_free_ char *name = xasprintf("%.*s", (int)n, expr);
	const char *rest = expr + n;
	struct variable v;
	struct place p = { .base = BUF_INIT };
	Dwarf_Die kind;
	int r = 0;

	if (!find_variable(d, vaddr, name, &v))
		return err_set(e, ENOENT, "no variable '%s' there (--vars shows them)", name);
	if (!type_of(&v.die, &kind))
		return err_set(e, EINVAL, "the type of '%s' is not known", name);
	if (!locate(d, v.has_func ? &v.func : NULL, &v.die, vaddr, &p)) {
		err_set(e, ENODATA, "the value of '%s' is optimised out there", name);
		err_hint(e, "try another line, or build with less optimisation");
		r = -ENODATA;
	}
	while (r >= 0 && *rest)
		r = take_step(&p, &kind, &rest, expr, e);
	if (r >= 0)
		r = add_value(&p, &kind, type, ret, e);
	buf_release(&p.base);
	return r;
}

/* --- lists ------------------------------------------------------------------------------------ */

static void add_type_name(Dwarf_Die *die, struct buf *out, int depth)
{
	Dwarf_Attribute attr;
	Dwarf_Die type;
	const char *name;

	if (depth > 8 || !dwarf_attr_integrate(die, DW_AT_type, &attr) ||
	    !dwarf_formref_die(&attr, &type)) {
		buf_addstr(out, "void");
		return;
	}
	name = dwarf_diename(&type);
	switch (dwarf_tag(&type)) {
	case DW_TAG_pointer_type:
		add_type_name(&type, out, depth + 1);
		buf_addch(out, '*');
		return;
	case DW_TAG_array_type:
		add_type_name(&type, out, depth + 1);
		buf_addstr(out, "[]");
		return;
	case DW_TAG_const_type: add_type_name(&type, out, depth + 1); return;
	case DW_TAG_structure_type: buf_addf(out, "struct %s", name ? name : "{}"); return;
	case DW_TAG_union_type: buf_addf(out, "union %s", name ? name : "{}"); return;
	case DW_TAG_enumeration_type: buf_addf(out, "enum %s", name ? name : "{}"); return;
	default: buf_addstr(out, name ? name : "(unknown)"); return;
	}
}

static void list_scope(struct probe_dwarf *d, Dwarf_Die *scope, Dwarf_Die *func, u64 vaddr,
		       probe_variable_fn fn, void *ctx)
{
	Dwarf_Die child;

	if (dwarf_child(scope, &child) != 0)
		return;
	do {
		int tag = dwarf_tag(&child);
		const char *name = dwarf_diename(&child);
		_cleanup_buf_ struct buf type = BUF_INIT;
		struct place p;

		if ((tag != DW_TAG_variable && tag != DW_TAG_formal_parameter) || !name)
			continue;
		add_type_name(&child, &type, 0);
		fn(ctx, buf_str(&type), name, locate(d, func, &child, vaddr, &p),
		   tag == DW_TAG_formal_parameter);
		buf_release(&p.base);
	} while (dwarf_siblingof(&child, &child) == 0);
}

int probe_dwarf_variables(struct probe_dwarf *d, u64 vaddr, probe_variable_fn fn, void *ctx,
			  struct err *e)
{
	Dwarf_Die cu, *scopes = NULL, *func = NULL;
	int n;

	if (!probe_unit_at(d, vaddr, &cu))
		return err_set(e, ENODATA, "no debug information for that address");
	n = dwarf_getscopes(&cu, vaddr, &scopes);
	for (int i = 0; i < n; i++)
		if (dwarf_tag(&scopes[i]) == DW_TAG_subprogram)
			func = &scopes[i];
	/* the last is the unit: its variables are not of this place */
	for (int i = 0; i < n - 1; i++)
		list_scope(d, &scopes[i], func, vaddr, fn, ctx);
	free(scopes);
	return 0;
}

#endif
