/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/probe_dwarf.h"

#include "base/suggest.h"
#include "symbol/debug.h"
#include "symbol/probe_state.h"

#include <fcntl.h>

void probe_lines_release(struct probe_lines *l)
{
	free(l->file);
	vec_release(&l->code);
}

#ifdef HAVE_LIBDW

static int open_debug(struct probe_dwarf *d, const char *path)
{
	struct debug_search search = { .main = &d->elf,
				       .path = path,
				       .dir = "/usr/lib/debug",
				       .build_id = d->elf.build_id,
				       .build_id_len = d->elf.build_id_len,
				       .lines = true };
	_cleanup_buf_ struct buf found = BUF_INIT;

	return debug_find(&search, &d->debug, &found);
}

int probe_dwarf_new(struct probe_dwarf **ret, const char *path, struct err *e)
{
	struct probe_dwarf *d = xcalloc(1, sizeof(*d));
	int fd = open(path, O_RDONLY | O_CLOEXEC), r;

	d->elf = d->debug = (struct elf)ELF_INIT;
	d->fd = -1;
	r = fd < 0 ? err_sys(e, errno, "cannot open '%s'", path)
		   : elf_open_fd(&d->elf, fd, path, e);
	if (r >= 0 && srcline_has(&d->elf))
		d->dwarf = srcline_open_dwarf(&d->elf, true, &d->fd, &d->libelf);
	else if (r >= 0 && open_debug(d, path) >= 0)
		d->dwarf = srcline_open_dwarf(&d->debug, true, &d->fd, &d->libelf);
	if (r >= 0 && !d->dwarf) {
		err_set(e, ENODATA, "'%s' has no debug information", path);
		err_hint(e, "build it with -g or install its debug symbols; functions, offsets and "
			    "registers (%%di) need none");
		r = -ENODATA;
	}
	if (r < 0) {
		probe_dwarf_free(d);
		return r;
	}
	*ret = d;
	return 0;
}

void probe_dwarf_free(struct probe_dwarf *d)
{
	if (!d)
		return;
	if (d->cfi)
		dwarf_cfi_end(d->cfi);
	if (d->dwarf)
		dwarf_end(d->dwarf);
	if (d->libelf)
		elf_end(d->libelf);
	if (d->fd >= 0)
		close(d->fd);
	elf_release(&d->elf);
	elf_release(&d->debug);
	free(d);
}

/* --- functions -------------------------------------------------------------------------------- */

struct search {
	const char *name;
	const char *file;
	bool no_inline;
	VEC(Dwarf_Die) found; /* functions, and places where they were inlined */
	bool is_inline;
	struct suggestion near;
};

static bool ends_in_file(const char *path, const char *file)
{
	size_t n = strlen(path), m = strlen(file);

	return m <= n && streq(path + n - m, file) && (m == n || path[n - m - 1] == '/');
}

static int on_instance(Dwarf_Die *die, void *ctx)
{
	struct search *s = ctx;
	Dwarf_Addr pc;

	if (dwarf_entrypc(die, &pc) == 0)
		vec_push(&s->found, *die);
	return DWARF_CB_OK;
}

static int on_function(Dwarf_Die *die, void *ctx)
{
	struct search *s = ctx;
	const char *name = dwarf_diename(die), *file = dwarf_decl_file(die);
	Dwarf_Addr pc;

	if (!name)
		return DWARF_CB_OK;
	suggest_try(&s->near, name);
	if (!streq(name, s->name) || (s->file && !(file && ends_in_file(file, s->file))))
		return DWARF_CB_OK;
	if (dwarf_entrypc(die, &pc) == 0) {
		vec_push(&s->found, *die);
	} else if (dwarf_func_inline(die)) {
		s->is_inline = true;
		if (!s->no_inline)
			(void)dwarf_func_inline_instances(die, on_instance, s);
	}
	return DWARF_CB_OK;
}

static int find_functions(struct probe_dwarf *d, const struct probe_place *p, struct search *s,
			  struct err *e)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;

	*s = (struct search){ .name = p->func, .file = p->file, .no_inline = p->no_inline };
	suggest_init(&s->near, p->func);
	while (dwarf_get_units(d->dwarf, cu, &cu, NULL, NULL, &die, NULL) == 0)
		(void)dwarf_getfuncs(&die, on_function, s, 0);
	if (s->found.len)
		return 0;
	err_set(e, ENOENT,
		s->is_inline ? "function '%s' is inlined everywhere"
			     : "no function '%s' in the debug information",
		p->func);
	if (s->is_inline)
		err_hint(e, "probe a line of it: FILE:LINE; --line shows them");
	else if (*s->near.best)
		err_hint(e, "did you mean '%s'?", s->near.best);
	return -ENOENT;
}

/* --- lines ------------------------------------------------------------------------------------ */

struct wanted {
	const char *file; /* NULL: that of the function */
	Dwarf_Die *func;  /* NULL: anywhere in the file */
	u32 from, to;
};

typedef void (*row_fn)(void *ctx, u32 line, u64 address);

/* Names of files are relative to the folder in which the compiler ran. */
static char *full_path(Dwarf_Die *cu, const char *file)
{
	Dwarf_Attribute attr;
	const char *dir = *file != '/' && dwarf_attr_integrate(cu, DW_AT_comp_dir, &attr)
				  ? dwarf_formstring(&attr)
				  : NULL;

	return dir ? xasprintf("%s/%s", dir, file) : xstrdup(file);
}

/* Rows of the unit that begin a statement and match. *@ret_file is the file as compiled. */
static void each_row(Dwarf_Die *cu, const struct wanted *w, row_fn fn, void *ctx, char **ret_file)
{
	Dwarf_Lines *lines;
	size_t n;

	if (dwarf_getsrclines(cu, &lines, &n) != 0)
		return;
	for (size_t i = 0; i < n; i++) {
		Dwarf_Line *row = dwarf_onesrcline(lines, i);
		const char *file = dwarf_linesrc(row, NULL, NULL);
		bool begins = false, end = false;
		Dwarf_Addr address;
		int line;

		if (!file || dwarf_linebeginstatement(row, &begins) != 0 || !begins ||
		    dwarf_lineendsequence(row, &end) != 0 || end ||
		    dwarf_lineaddr(row, &address) != 0 || dwarf_lineno(row, &line) != 0)
			continue;
		if ((w->file && !ends_in_file(file, w->file)) || line < 0 || (u32)line < w->from ||
		    (u32)line > w->to || (w->func && dwarf_haspc(w->func, address) != 1))
			continue;
		if (ret_file && !*ret_file)
			*ret_file = full_path(cu, file);
		fn(ctx, (u32)line, address);
	}
}

struct spot {
	u64 address;
	Dwarf_Off scope; /* the function, or the place where it was inlined */
};

struct best {
	u32 line;
	u32 near; /* the nearest line with code, 0: none */
	probe_addresses rows;
};

static void take_best(void *ctx, u32 line, u64 address)
{
	struct best *b = ctx;

	if (line == b->line)
		vec_push(&b->rows, address);
	if (!b->near || labs((long)line - (long)b->line) < labs((long)b->near - (long)b->line))
		b->near = line;
}

static Dwarf_Off scope_at(struct probe_dwarf *d, u64 address)
{
	Dwarf_Die cu, *scopes = NULL;
	Dwarf_Off offset = 0;
	int n;

	if (!probe_unit_at(d, address, &cu))
		return 0;
	n = dwarf_getscopes(&cu, address, &scopes);
	for (int i = 0; i < n && !offset; i++)
		if (dwarf_tag(&scopes[i]) == DW_TAG_subprogram ||
		    dwarf_tag(&scopes[i]) == DW_TAG_inlined_subroutine)
			offset = dwarf_dieoffset(&scopes[i]);
	free(scopes);
	return offset;
}

static int address_order(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* A line has code at many addresses of a function: the first of each. */
static void first_of_each(struct probe_dwarf *d, probe_addresses *rows, probe_addresses *ret)
{
	VEC(struct spot) spots = { 0 };

	vec_sort(rows, address_order);
	vec_each(address, rows) {
		Dwarf_Off scope = scope_at(d, *address);
		bool known = false;

		vec_each(spot, &spots)
			known |= spot->scope == scope;
		if (known)
			continue;
		vec_push(&spots, (struct spot){ *address, scope });
		vec_push(ret, *address);
	}
	vec_release(&spots);
}

static void each_unit(struct probe_dwarf *d, const struct wanted *w, row_fn fn, void *ctx,
		      char **ret_file)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die, *unit;

	if (w->func) {
		unit = dwarf_diecu(w->func, &die, NULL, NULL);
		if (unit)
			each_row(unit, w, fn, ctx, ret_file);
		return;
	}
	while (dwarf_get_units(d->dwarf, cu, &cu, NULL, NULL, &die, NULL) == 0)
		each_row(&die, w, fn, ctx, ret_file);
}

static void line_addresses(struct probe_dwarf *d, struct wanted *w, struct best *b,
			   probe_addresses *ret)
{
	w->from = 0;
	w->to = UINT32_MAX;
	each_unit(d, w, take_best, b, NULL);
	first_of_each(d, &b->rows, ret);
	vec_release(&b->rows);
	b->rows = (probe_addresses){ 0 };
}

static int no_line(const struct best *b, u32 zero, struct err *e)
{
	err_set(e, ENOENT, "no code was made from line %u", b->line - zero);
	if (b->near)
		err_hint(e, "the nearest line with code is %d", (int)b->near - (int)zero);
	else
		err_hint(e, "no line of that file has code here");
	return -ENOENT;
}

/* --- the code that sets up a frame --------------------------------------------------------------
 */

struct after {
	u64 first, second; /* rows of the function, by address */
};

static void take_after(void *ctx, u32 line UNUSED, u64 address)
{
	struct after *a = ctx;

	if (address > a->first && (!a->second || address < a->second))
		a->second = address;
}

/* Where variables live in the frame from the start on, they have no values before it is set up. */
static bool has_frame_code(Dwarf_Die *func)
{
	Dwarf_Attribute attr;
	Dwarf_Die cu_mem, *cu = dwarf_diecu(func, &cu_mem, NULL, NULL);
	const char *producer = NULL, *o;
	Dwarf_Op *ops;
	size_t n;

	if (cu && dwarf_attr_integrate(cu, DW_AT_producer, &attr))
		producer = dwarf_formstring(&attr);
	o = producer ? strstr(producer, " -O") : NULL;
	if (producer && strstr(producer, "GNU"))
		return !o || o[3] == '0';
	return dwarf_attr_integrate(func, DW_AT_frame_base, &attr) &&
	       dwarf_getlocation(&attr, &ops, &n) == 0 && n == 1 && ops[0].atom == DW_OP_reg6;
}

static u64 after_frame_code(struct probe_dwarf *d, Dwarf_Die *func, u64 entry)
{
	struct wanted w = { .func = func, .to = UINT32_MAX };
	struct after a = { .first = entry };

	each_unit(d, &w, take_after, &a, NULL);
	return a.second ? a.second : entry;
}

/* Where the function, or one of its lines, is in one of its copies. */
static void copy_addresses(struct probe_dwarf *d, const struct probe_place *p, Dwarf_Die *copy,
			   struct best *b, probe_addresses *ret)
{
	struct wanted w = { .file = dwarf_decl_file(copy), .func = copy };
	Dwarf_Addr entry = 0;

	if (p->has_line && p->line) {
		line_addresses(d, &w, b, ret);
		return;
	}
	if (dwarf_entrypc(copy, &entry) != 0)
		return;
	if (p->variables && dwarf_tag(copy) == DW_TAG_subprogram && has_frame_code(copy))
		entry = after_frame_code(d, copy, entry);
	vec_push(ret, entry);
}

static void sort_once(probe_addresses *l)
{
	size_t n = 0;

	vec_sort(l, address_order);
	for (size_t i = 0; i < l->len; i++)
		if (!n || l->items[n - 1] != l->items[i])
			l->items[n++] = l->items[i];
	l->len = n;
}

int probe_dwarf_addresses(struct probe_dwarf *d, const struct probe_place *p, probe_addresses *ret,
			  struct err *e)
{
	struct best b = { .line = p->line };
	struct search s = { 0 };
	int first = 0, r = 0;

	if (!p->func) {
		struct wanted w = { .file = p->file };

		line_addresses(d, &w, &b, ret);
		return ret->len ? 0 : no_line(&b, 0, e);
	}
	r = find_functions(d, p, &s, e);
	vec_each(copy, &s.found) {
		(void)dwarf_decl_line(copy, &first);
		b.line = (u32)first + p->line;
		copy_addresses(d, p, copy, &b, ret);
	}
	sort_once(ret);
	if (r >= 0 && !ret->len)
		r = no_line(&b, (u32)first, e);
	vec_release(&s.found);
	return r;
}

int probe_dwarf_address(struct probe_dwarf *d, const struct probe_place *p, u64 *ret, struct err *e)
{
	probe_addresses all = { 0 };
	int r = probe_dwarf_addresses(d, p, &all, e);

	if (r >= 0)
		*ret = all.items[0];
	vec_release(&all);
	return r;
}

/* --- lists of lines ----------------------------------------------------------------------------
 */

static void take_line(void *ctx, u32 line, u64 address UNUSED)
{
	struct probe_lines *l = ctx;

	vec_push(&l->code, line);
}

static int line_order(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return x < y ? -1 : x > y;
}

static void drop_repeated(struct probe_lines *l)
{
	size_t n = 0;

	vec_sort(&l->code, line_order);
	for (size_t i = 0; i < l->code.len; i++)
		if (!n || l->code.items[n - 1] != l->code.items[i])
			l->code.items[n++] = l->code.items[i];
	l->code.len = n;
}

int probe_dwarf_lines(struct probe_dwarf *d, const struct probe_place *p, u32 to,
		      struct probe_lines *ret, struct err *e)
{
	struct wanted w = { .file = p->file, .from = p->line, .to = UINT32_MAX };
	struct search s = { 0 };
	Dwarf_Die func;
	int first = 0;

	*ret = (struct probe_lines){ 0 };
	if (p->func) {
		int r = find_functions(d, p, &s, e);

		if (r < 0)
			return r;
		func = s.found.items[0];
		vec_release(&s.found);
		(void)dwarf_decl_line(&func, &first);
		ret->zero = (u32)first;
		w = (struct wanted){ .file = dwarf_decl_file(&func),
				     .func = &func,
				     .from = (u32)first + p->line,
				     .to = UINT32_MAX };
	}
	if (to)
		w.to = to + ret->zero;
	each_unit(d, &w, take_line, ret, &ret->file);
	if (!ret->code.len)
		return err_set(e, ENOENT, "no code was made from these lines");
	drop_repeated(ret);
	ret->first = p->func ? w.from : p->line;
	ret->last = to || !p->func ? w.to : ret->code.items[ret->code.len - 1];
	return 0;
}

#else

int probe_dwarf_new(struct probe_dwarf **ret UNUSED, const char *path UNUSED, struct err *e)
{
	return err_set(e, ENOTSUP, "this fathom was built without libdw");
}

#endif
