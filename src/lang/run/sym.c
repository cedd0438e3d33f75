/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses and stacks to names. */
#include "base/fmt.h"
#include "base/folded.h"
#include "host/bpf_programs.h"
#include "host/bpf_sys.h"
#include "symbol/procmaps.h"
#include "lang/run/run.h"
#include "lang/run/unwinder.h"
#include "symbol/symbol.h"
#include "unwind/numbered.h"

static struct symbols *symbols_of(struct run *r)
{
	if (!r->symbols) {
		struct symbols_opts opts = { .no_demangle = !r->c->config.cpp_demangle };

		r->symbols = symbols_new(&opts);
	}
	return r->symbols;
}

/*
 * @back is 1 for an address that a call returns to: a call that does not return may be the last
 * instruction of its function.
 */
static void add_ksym(struct run *r, u64 address, u32 back, struct buf *out, bool offset)
{
	struct symbol sym;

	if (!symbols_kernel(symbols_of(r), address - back, &sym, NULL)) {
		buf_addf(out, address ? "0x%llx" : "%llx", (unsigned long long)address);
		return;
	}
	buf_addstr(out, sym.name);
	if (offset)
		buf_addf(out, "+%llu", (unsigned long long)(address - sym.start));
}

void run_ksym(struct run *r, u64 address, struct buf *out, bool offset)
{
	add_ksym(r, address, 0, out, offset);
}

static struct procmaps *maps_of(struct run *r)
{
	if (!r->maps)
		r->maps = procmaps_new(symbols_of(r));
	return r->maps;
}

/* Programs that begin now are unwound from their first stack on, if we are fast enough. */
static void on_mapped(void *ctx, const struct module_key *key)
{
	unwinder_mapped(ctx, key);
}

void run_watch_maps(struct run *r)
{
	struct procmaps_listener listener = { on_mapped, r->c->unwinder };

	procmaps_watch(maps_of(r), r->c->unwinder ? &listener : NULL);
}

/* A place in a file that the unwinder knows. */
static bool find_place(struct run *r, u64 place, u32 *ret_module, u64 *ret_offset)
{
	const struct numbered_file *f = unwinder_place(r->c->unwinder, place, ret_offset);
	struct module_key key;

	if (!f)
		return false;
	key = numbered_key(f);
	*ret_module = symbols_module(symbols_of(r), &key);
	return true;
}

static bool find_code(struct run *r, u64 word, u32 pid, u32 *ret_module, u64 *ret_offset)
{
	return unwind_is_place(word) ? find_place(r, word, ret_module, ret_offset)
				     : procmaps_find(maps_of(r), pid, word, ret_module, ret_offset);
}

/* Nameless code; a place has no address, but a file. */
static void add_nameless(struct run *r, u64 word, struct buf *out)
{
	u32 module;
	u64 at;

	if (unwind_is_place(word) && find_place(r, word, &module, &at))
		buf_addf(out, "%s+0x%llx", symbols_module_name(symbols_of(r), module),
			 (unsigned long long)at);
	else
		buf_addf(out, "0x%llx", (unsigned long long)word);
}

static void add_usym(struct run *r, u64 address, u32 back, u32 pid, struct buf *out, bool offset)
{
	struct symbol sym;
	u32 module;
	u64 at;

	if (find_code(r, address - back, pid, &module, &at)) {
		if (symbols_lookup(symbols_of(r), module, at, &sym) && !(sym.flags & SYM_FDE)) {
			buf_addstr(out, sym.name);
			if (offset)
				buf_addf(out, "+%llu", (unsigned long long)(at + back - sym.start));
			return;
		}
	} else if (symbols_jit(symbols_of(r), (pid_t)pid, 0, NULL, address, 0, &sym)) {
		buf_addstr(out, sym.name);
		return;
	}
	add_nameless(r, address, out);
}

void run_usym(struct run *r, u64 address, u32 pid, struct buf *out, bool offset)
{
	add_usym(r, address, 0, pid, out, offset);
}

/* --- stacks ----------------------------------------------------------------------------------- */

/* The file by its build id and the offset in it; the address where there is no such file. */
static void add_build_id(struct run *r, u64 address, u32 back, u32 pid, struct buf *out)
{
	struct module_info info;
	struct symbol sym;
	u32 module;
	u64 at;

	if (find_code(r, address - back, pid, &module, &at)) {
		/* The file is opened, and with it its id found, when a name is requested. */
		symbols_lookup(symbols_of(r), module, at, &sym);
		if (symbols_module_info(symbols_of(r), module, &info) && info.build_id_len) {
			fmt_hex(out, info.build_id, info.build_id_len);
			buf_addf(out, " 0x%llx", (unsigned long long)at + back);
			return;
		}
	}
	add_nameless(r, address, out);
}

/* " (/usr/lib/libc.so.6)", as perf has it */
static void add_module(struct run *r, u64 address, u32 pid, struct buf *out)
{
	struct module_info info;
	u32 module;
	u64 at;

	if (procmaps_find(maps_of(r), pid, address, &module, &at) &&
	    symbols_module_info(symbols_of(r), module, &info) && info.path)
		buf_addf(out, " (%s)", info.path);
	else
		buf_addstr(out, " ([unknown])");
}

static void add_frame(struct run *r, const struct type *t, u64 address, u32 back, u32 pid,
		      struct buf *out, bool folded)
{
	bool user = t->kind == T_USTACK;

	if (t->p[1] == STACK_RAW && !folded) {
		buf_addf(out, "%llx", (unsigned long long)address);
		return;
	}
	if (t->p[1] == STACK_BUILD_ID && !folded && user) {
		add_build_id(r, address, back, pid, out);
		return;
	}
	if (t->p[1] == STACK_PERF && !folded)
		buf_addf(out, "%llx ", (unsigned long long)address);
	if (user)
		add_usym(r, address, back, pid, out, !folded);
	else
		add_ksym(r, address, back, out, !folded);
	if (t->p[1] == STACK_PERF && !folded && user)
		add_module(r, address - back, pid, out);
}

static bool is_kernel_frame(struct run *r, u64 address, const char *prefix)
{
	struct symbol sym;

	return symbols_kernel(symbols_of(r), address, &sym, NULL) && starts_with(sym.name, prefix);
}

/*
 * By where it is, not by name: the trampoline after it has none any more, and the table of
 * names gives it that of the program before it. Names are for who may not see addresses.
 */
static bool is_own_code(struct run *r, u64 address)
{
	for (size_t i = 0; !r->code_known && i < r->prog_fds.len; i++) {
		if (r->prog_fds.items[i] >= 0)
			(void)bpf_program_code(r->prog_fds.items[i], &r->code);
	}
	r->code_known = true;
	if (r->code.len)
		return ranges_contain(&r->code, address);
	return is_kernel_frame(r, address, "bpf_prog_");
}

/* Outside the kernel's own text: trampolines, whose names vanish with our link. */
static bool is_trampoline(struct run *r, u64 address)
{
	struct symbol sym;

	return !symbols_kernel(symbols_of(r), address, &sym, NULL) || sym.flags & SYM_BPF;
}

/*
 * Our own program and what called it are not part of what was requested; a program that is probed
 * is, which comes after that.
 */
static size_t own_frames(struct run *r, const u64 *frames, size_t n)
{
	size_t own = 0;

	while (own < n && is_own_code(r, frames[own]))
		own++;
	if (own && own < n &&
	    (is_trampoline(r, frames[own]) || is_kernel_frame(r, frames[own], "bpf_trace_run")))
		own++;
	return own;
}

/* Addresses of a stack, innermost first, into room for COMP_STACK_DEPTH; how many. */
static size_t run_frames(struct run *r, const struct type *t, const u8 *bytes, u64 *frames,
			 u32 *ret_pid)
{
	u64 stack[1 + COMP_STACK_DEPTH] = { 0 }, id;
	bool user = t->kind == T_USTACK;
	u32 map = user ? r->c->ustack_map : r->c->kstack_map;
	size_t n, own;

	memcpy(&id, bytes, 8);
	*ret_pid = 0;
	if (user)
		memcpy(ret_pid, bytes + 8, 4);
	if (!id || !map)
		return 0;
	if (bpfsys_map_lookup(r->map_fds.items[map - 1], &id, stack) < 0) {
		r->unresolved++;
		return 0;
	}
	n = MIN(stack[0] / 8, (u64)COMP_STACK_DEPTH);
	own = user ? 0 : own_frames(r, stack + 1, n);
	n = MIN(n - own, (u64)t->p[0]);
	memcpy(frames, stack + 1 + own, n * sizeof(*frames));
	return n;
}

void run_stack(struct run *r, const struct type *t, const u8 *bytes, struct buf *out, u32 indent,
	       bool folded)
{
	u64 frames[COMP_STACK_DEPTH];
	u32 pid;
	size_t n, from;

	if (!folded)
		buf_addch(out, '\n');
	n = run_frames(r, t, bytes, frames, &pid);
	for (size_t i = 0; i < n; i++) {
		size_t at = folded ? n - 1 - i : i;

		if (folded && i)
			folded_next(out, 0);
		if (!folded && t->p[1] == STACK_PERF)
			buf_addch(out, '\t');
		else if (!folded && t->p[1] != STACK_RAW)
			buf_fill(out, ' ', indent);
		from = out->len;
		add_frame(r, t, frames[at], at > 0, pid, out, folded);
		if (folded)
			folded_clean(out, from);
		else
			buf_addch(out, '\n');
	}
}

/* --- rows of a map, part by part -------------------------------------------------------------- */

/* Of a place, where it is in its file. */
static u64 shown_address(u64 word)
{
	return unwind_is_place(word) ? word & ((1ull << UNWIND_PLACE_OFFSET) - 1) : word;
}

static void add_stack(struct run *r, const struct type *t, const u8 *bytes, u32 flags,
		      struct buf *out)
{
	bool folded = flags & LANG_FRAME_FOLDED, offset = flags & LANG_FRAME_OFFSET;
	u64 frames[COMP_STACK_DEPTH];
	u32 pid;
	size_t n = run_frames(r, t, bytes, frames, &pid), from;

	for (size_t i = 0; i < n; i++) {
		size_t at = folded ? n - 1 - i : i;

		if (i)
			buf_addch(out, folded ? ';' : '\n');
		from = out->len;
		if (!folded)
			buf_addstr(out, "  ");
		if (flags & LANG_FRAME_ADDRESS)
			buf_addf(out, "%-16llx ", (unsigned long long)shown_address(frames[at]));
		if (t->kind == T_USTACK)
			add_usym(r, frames[at], at > 0, pid, out, offset);
		else
			add_ksym(r, frames[at], at > 0, out, offset);
		if (folded)
			folded_clean(out, from);
	}
}

bool lang_row_key(const struct lang_row *row, u32 i, u32 flags, struct buf *out)
{
	const struct type *key = row->map->key;
	const struct field *f;

	if (!key || i >= key->n_fields)
		return false;
	f = &key->fields[i];
	if (f->type->kind == T_KSTACK || f->type->kind == T_USTACK)
		add_stack(row->run, f->type, row->raw + f->offset, flags, out);
	else
		run_value(row->run, f->type, row->raw + f->offset, out, false);
	return true;
}
