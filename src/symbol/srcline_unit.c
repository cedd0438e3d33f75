/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The index of one compilation unit. libdw reads, this makes flat what it finds. */
#include "symbol/srcline_unit.h"

#ifdef HAVE_LIBDW

#include <sys/stat.h>

/* From a call to its function's name there are two or three steps; cycles have more. */
enum { ORIGIN_MAX_STEPS = 16, SPLIT_MAX_BYTES = 512 << 20 };

void unit_release(struct unit *u)
{
	free(u->row_starts);
	free(u->rows);
	span_table_release(&u->spans);
	vec_release(&u->scopes);
}

static bool is_code(const struct srcline *s, u64 start, u64 end)
{
	return start >= s->text_start && start < end && end <= s->text_end;
}

bool unit_add_ranges(struct srcline *s, Dwarf_Die *die, u32 id, u32 rank, span_list *ret)
{
	const size_t before = ret->len;
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		if (s->spans >= SRCLINE_MAX_SPANS) {
			s->counts.full = true;
			break;
		}
		/* Skipped entries cost time as well: a list can be referenced many times. */
		s->spans++;
		if (is_code(s, start, end))
			vec_push(ret, (struct span){ start, end, id, rank });
	}
	return ret->len > before;
}

/* --- names --------------------------------------------------------------------------------- */

/* libdw would look for an alternate file that is not there by itself, wherever it is said to be. */
static bool is_usable(const struct srcline *s, Dwarf_Attribute *attr)
{
	switch (dwarf_whatform(attr)) {
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_GNU_strp_alt:
	case DW_FORM_strp_sup:
	case DW_FORM_ref_sup4:
	case DW_FORM_ref_sup8: return s->alt != NULL;
	default: return true;
	}
}

static bool get_attr(const struct srcline *s, Dwarf_Die *die, unsigned int name,
		     Dwarf_Attribute *ret)
{
	return dwarf_attr(die, name, ret) && is_usable(s, ret);
}

static const char *get_text(const struct srcline *s, Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;
	const char *text = get_attr(s, die, name, &attr) ? dwarf_formstring(&attr) : NULL;

	return text && *text ? text : NULL;
}

static u32 get_number(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;

	if (!dwarf_attr(die, name, &attr) || dwarf_formudata(&attr, &value) != 0 ||
	    value > UINT32_MAX)
		return 0;
	return (u32)value;
}

static u32 keep_text(struct srcline *s, const char *text)
{
	return text ? intern_bytes(&s->strings, text, strnlen(text, SRCLINE_MAX_NAME)) : 0;
}

/* A file's path; most are relative to where the compiler ran. */
static u32 keep_file(struct srcline *s, const char *dir, const char *file)
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	if (!file || file[0] == '/' || !dir || streq(dir, "."))
		return keep_text(s, file);
	buf_add(&b, dir, strnlen(dir, SRCLINE_MAX_NAME));
	buf_addch(&b, '/');
	buf_add(&b, file, strnlen(file, SRCLINE_MAX_NAME));
	return keep_text(s, b.data);
}

static bool get_origin(const struct srcline *s, Dwarf_Die *die, Dwarf_Die *ret)
{
	Dwarf_Attribute attr;

	return (get_attr(s, die, DW_AT_abstract_origin, &attr) ||
		get_attr(s, die, DW_AT_specification, &attr)) &&
	       dwarf_formref_die(&attr, ret);
}

/* The linker's name is the whole one; the plain name is of use where there is no other. */
static u32 find_name(struct srcline *s, const Dwarf_Die *from)
{
	const char *plain = NULL, *linkage = NULL;
	Dwarf_Die die = *from, next;

	for (int i = 0; i < ORIGIN_MAX_STEPS && !linkage; i++) {
		linkage = get_text(s, &die, DW_AT_linkage_name);
		if (!linkage)
			linkage = get_text(s, &die, DW_AT_MIPS_linkage_name);
		if (!plain)
			plain = get_text(s, &die, DW_AT_name);
		if (!get_origin(s, &die, &next))
			break;
		die = next;
	}
	return keep_text(s, linkage ? linkage : plain);
}

/* One function is inlined in many places: its name is looked for once. */
static u32 name_of(struct srcline *s, Dwarf_Die *die)
{
	Dwarf_Die origin;
	u64 key, *known;
	u32 name;

	if (!get_origin(s, die, &origin))
		return find_name(s, die);
	key = (u64)(uintptr_t)origin.addr;
	known = map_find(&s->names, key);
	if (known)
		return (u32)(*known - 1);
	name = find_name(s, &origin);
	map_put(&s->names, key, (u64)name + 1);
	return name;
}

/* --- functions and inlined calls ----------------------------------------------------------- */

struct walk {
	struct srcline *s;
	struct unit *u;
	Dwarf_Files *files;
	u32 *file_ids; /* string + 1 of each, once it was requested */
	size_t file_count;
	const char *dir; /* where the compiler ran, or NULL */
	span_list spans;
	span_list *outer;
	u32 unit_id;
	/* the way from the unit to where we are */
	Dwarf_Die dies[SRCLINE_MAX_DEPTH];
	u32 scopes[SRCLINE_MAX_DEPTH]; /* index + 1 of the scope that holds the children */
	size_t depth;
	Dwarf_Off last;
};

static u32 call_file(const struct walk *w, Dwarf_Die *die)
{
	const u32 file = get_number(die, DW_AT_call_file);

	if (file >= w->file_count)
		return 0;
	if (!w->file_ids[file])
		w->file_ids[file] =
			keep_file(w->s, w->dir, dwarf_filesrc(w->files, file, NULL, NULL)) + 1;
	return w->file_ids[file] - 1;
}

static bool has_code(Dwarf_Die *die)
{
	return dwarf_hasattr(die, DW_AT_low_pc) || dwarf_hasattr(die, DW_AT_ranges);
}

/* False if it has no code. */
static bool add_scope(struct walk *w, Dwarf_Die *die, bool inlined, u32 caller)
{
	struct srcline *s = w->s;
	struct scope scope = { .caller = caller, .inlined = inlined && caller };

	if (!has_code(die))
		return false;
	if (s->counts.scopes >= SRCLINE_MAX_ROWS) {
		s->counts.full = true;
		return false;
	}
	if (!unit_add_ranges(s, die, (u32)w->u->scopes.len, (u32)w->depth, &w->spans))
		return false;
	if (!inlined && w->outer)
		unit_add_ranges(s, die, w->unit_id, 0, w->outer);
	scope.name = name_of(s, die);
	if (inlined) {
		scope.call_file = call_file(w, die);
		scope.call_line = get_number(die, DW_AT_call_line);
		scope.call_column = get_number(die, DW_AT_call_column);
	}
	vec_push(&w->u->scopes, scope);
	s->counts.scopes++;
	return true;
}

/* Whether to look at the children, and in which scope they are. */
static bool visit(struct walk *w, Dwarf_Die *die, u32 *scope)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_subprogram:
		/* Also those without code: the body of a lambda is inside of what it was written
		 * in. */
		*scope = add_scope(w, die, false, 0) ? (u32)w->u->scopes.len : 0;
		return true;
	case DW_TAG_inlined_subroutine:
		if (!add_scope(w, die, true, *scope))
			return false;
		*scope = (u32)w->u->scopes.len;
		return true;
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type: return true;
	default: return false;
	}
}

/* Backward references would form cycles. */
static bool is_ahead(struct walk *w, Dwarf_Die *die)
{
	const Dwarf_Off at = dwarf_dieoffset(die);

	if (at == (Dwarf_Off)-1 || at <= w->last) {
		w->u->broken = true;
		return false;
	}
	w->last = at;
	return true;
}

/* To the next sibling, of this one or of one around it. False at the end. */
static bool go_on(struct walk *w, Dwarf_Die *die, u32 *scope)
{
	Dwarf_Die next;

	for (;;) {
		const int r = dwarf_siblingof(die, &next);

		if (r == 0) {
			*die = next;
			return true;
		}
		w->u->broken |= r < 0;
		if (!w->depth)
			return false;
		*die = w->dies[--w->depth];
		*scope = w->depth ? w->scopes[w->depth - 1] : 0;
	}
}

static void walk_children(struct walk *w, Dwarf_Die *unit)
{
	Dwarf_Die die, child;
	u32 scope = 0;

	if (dwarf_child(unit, &die) != 0)
		return;
	do {
		u32 inner = scope;

		if (!is_ahead(w, &die))
			return;
		while (visit(w, &die, &inner) && dwarf_child(&die, &child) == 0) {
			if (w->depth == SRCLINE_MAX_DEPTH) {
				w->u->broken = true;
				break;
			}
			w->dies[w->depth] = die;
			w->scopes[w->depth++] = inner;
			die = child;
			scope = inner;
			if (!is_ahead(w, &die))
				return;
		}
	} while (go_on(w, &die, &scope));
}

/*
 * Where the functions are described: the unit itself, or the .dwo file of a split one. libdw opens
 * that by itself, so it is checked before: a FIFO would hold us.
 */
static Dwarf_Die function_unit(const struct srcline *s, struct unit *u)
{
	const char *name = get_text(s, &u->die, DW_AT_dwo_name), *dir;
	_cleanup_free_ char *path = NULL;
	uint8_t type;
	Dwarf_Die split;
	struct stat st;

	if (!name)
		name = get_text(s, &u->die, DW_AT_GNU_dwo_name);
	if (!name)
		return u->die;
	dir = name[0] == '/' ? NULL : get_text(s, &u->die, DW_AT_comp_dir);
	path = xasprintf("%s%s%s", dir ? dir : "", dir ? "/" : "", name);
	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > SPLIT_MAX_BYTES ||
	    dwarf_cu_info(u->die.cu, NULL, &type, NULL, &split, NULL, NULL, NULL) != 0 ||
	    !dwarf_tag(&split)) {
		u->partial = true;
		return u->die;
	}
	return split;
}

void unit_index_scopes(struct srcline *s, struct unit *u, u32 id, span_list *outer)
{
	Dwarf_Die unit = function_unit(s, u);
	struct walk *w = xcalloc(1, sizeof(*w));

	u->scoped = true;
	w->s = s;
	w->u = u;
	w->unit_id = id;
	w->outer = outer;
	if (dwarf_getsrcfiles(&unit, &w->files, &w->file_count) != 0)
		w->file_count = 0;
	w->file_ids = xcalloc(MAX(w->file_count, (size_t)1), sizeof(*w->file_ids));
	w->dir = get_text(s, &u->die, DW_AT_comp_dir);
	walk_children(w, &unit);
	span_sort(w->spans.items, w->spans.len);
	span_table_build(&u->spans, w->spans.items, w->spans.len);
	vec_release(&w->spans);
	free(w->file_ids);
	free(w);
}

/* --- lines --------------------------------------------------------------------------------- */

/* Neighbours mostly have the same file, and libdw gives each file one address. */
struct file_memo {
	const char *dir; /* where the compiler ran, or NULL */
	struct map ids;
	const char *last;
	u32 last_id;
};

static u32 file_id(struct srcline *s, struct file_memo *memo, const char *file)
{
	u64 *id;

	if (!file || file == memo->last)
		return file ? memo->last_id : 0;
	id = map_at(&memo->ids, (u64)(uintptr_t)file);
	if (!*id)
		*id = keep_file(s, memo->dir, file);
	memo->last = file;
	memo->last_id = (u32)*id;
	return memo->last_id;
}

/* Of rows with one address the last is right. */
static void add_row(struct unit *u, u64 address, const struct line_row *row)
{
	size_t n = u->row_count;

	if (n && u->row_starts[n - 1] == address)
		n--;
	u->row_starts[n] = address;
	u->rows[n] = *row;
	u->row_count = n + 1;
}

static void take_row(struct srcline *s, struct unit *u, struct file_memo *memo, Dwarf_Line *line)
{
	struct line_row row = { 0 };
	Dwarf_Addr address;
	bool end = false;
	int number, column;

	if (!line || dwarf_lineaddr(line, &address) != 0 || address < s->text_start ||
	    address > s->text_end || dwarf_lineendsequence(line, &end) != 0)
		return;
	if (!end) {
		row.file = file_id(s, memo, dwarf_linesrc(line, NULL, NULL));
		if (dwarf_lineno(line, &number) == 0 && number > 0)
			row.line = (u32)number;
		if (dwarf_linecol(line, &column) == 0 && column > 0)
			row.column = (u32)column;
	}
	add_row(u, address, &row);
}

void unit_index_rows(struct srcline *s, struct unit *u)
{
	struct file_memo memo = { .dir = get_text(s, &u->die, DW_AT_comp_dir) };
	Dwarf_Lines *lines;
	size_t n;

	u->lined = true;
	if (dwarf_getsrclines(&u->die, &lines, &n) != 0) {
		u->broken |= dwarf_hasattr(&u->die, DW_AT_stmt_list);
		return;
	}
	if (n > SRCLINE_MAX_ROWS - s->counts.rows) {
		s->counts.full = true;
		return;
	}
	u->row_starts = xmalloc(MAX(n, (size_t)1) * sizeof(*u->row_starts));
	u->rows = xmalloc(MAX(n, (size_t)1) * sizeof(*u->rows));
	for (size_t i = 0; i < n; i++)
		take_row(s, u, &memo, dwarf_onesrcline(lines, i));
	s->counts.rows += u->row_count;
	map_release(&memo.ids);
}

#else
typedef int srcline_unit_needs_libdw;
#endif
