/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses and stacks to names. */
#include "base/map.h"
#include "host/bpf_sys.h"
#include "host/procfs.h"
#include "lang/run.h"
#include "symbol/symbol.h"

/* Mappings of processes that were seen; kept after their end. */
struct usym_map {
	u64 start, end, offset;
	u32 module;
};

struct usym_process {
	u32 pid;
	VEC(struct usym_map) maps;
};

struct usym {
	VEC(struct usym_process) processes;
};

void usym_free(struct usym *u)
{
	if (!u)
		return;
	vec_each(it, &u->processes)
		vec_release(&it->maps);
	vec_release(&u->processes);
	free(u);
}

static struct symbols *symbols_of(struct run *r)
{
	if (!r->symbols) {
		struct symbols_opts opts = { .no_demangle = !r->c->config.cpp_demangle };

		r->symbols = symbols_new(&opts);
	}
	return r->symbols;
}

void run_ksym(struct run *r, u64 address, struct buf *out, bool offset)
{
	struct symbol sym;

	if (!symbols_kernel(symbols_of(r), address, &sym, NULL)) {
		buf_addf(out, "0x%llx", (unsigned long long)address);
		return;
	}
	buf_addstr(out, sym.name);
	if (offset)
		buf_addf(out, "+%llu", (unsigned long long)(address - sym.start));
}

static void read_maps(struct run *r, struct usym_process *p)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	const char *at, *end;
	struct proc_map m;
	int rc;

	if (procfs_read(p->pid, 0, "maps", PROCFS_MAX_MAPS, &text, NULL) < 0)
		return;
	vec_clear(&p->maps);
	at = buf_str(&text);
	end = at + text.len;
	while ((rc = procfs_next_map(&at, end, &m)) != -ENODATA) {
		struct module_key key = { 0 };
		char *path;

		if (rc < 0 || !(m.flags & PROC_MAP_EXEC) || !m.path_len)
			continue;
		path = xstrndup(m.path, m.path_len);
		key = (struct module_key){ .path = path,
					   .maj = m.dev_major,
					   .min = m.dev_minor,
					   .ino = m.inode,
					   .pid = (pid_t)p->pid,
					   .map_start = m.start,
					   .map_end = m.end };
		vec_push(&p->maps, (struct usym_map){ m.start, m.end, m.offset,
						      symbols_module(symbols_of(r), &key) });
		free(path);
	}
}

static struct usym_process *process_of(struct run *r, u32 pid)
{
	struct usym_process *p;

	if (!r->usym)
		r->usym = xcalloc(1, sizeof(*r->usym));
	vec_each(it, &r->usym->processes) {
		if (it->pid == pid)
			return it;
	}
	p = vec_new(&r->usym->processes);
	p->pid = pid;
	read_maps(r, p);
	return p;
}

static const struct usym_map *map_of(const struct usym_process *p, u64 address)
{
	vec_each(it, &p->maps) {
		if (address >= it->start && address < it->end)
			return it;
	}
	return NULL;
}

void run_usym(struct run *r, u64 address, u32 pid, struct buf *out, bool offset)
{
	struct usym_process *p = process_of(r, pid);
	const struct usym_map *m = map_of(p, address);
	struct symbol sym;
	u64 at;

	if (!m) {
		read_maps(r, p); /* it may have mapped more since */
		m = map_of(p, address);
	}
	if (m) {
		at = address - m->start + m->offset;
		if (symbols_lookup(symbols_of(r), m->module, at, &sym) && !(sym.flags & SYM_FDE)) {
			buf_addstr(out, sym.name);
			if (offset)
				buf_addf(out, "+%llu", (unsigned long long)(at - sym.start));
			return;
		}
	} else if (symbols_jit(symbols_of(r), (pid_t)pid, 0, NULL, address, 0, &sym)) {
		buf_addstr(out, sym.name);
		return;
	}
	buf_addf(out, "0x%llx", (unsigned long long)address);
}

/* --- stacks ----------------------------------------------------------------------------------- */

static void add_frame(struct run *r, const struct type *t, u64 address, u32 pid, struct buf *out,
		      bool folded)
{
	bool user = t->kind == T_USTACK;

	if (t->p[1] == STACK_RAW && !folded) {
		buf_addf(out, "%llx", (unsigned long long)address);
		return;
	}
	if (t->p[1] == STACK_PERF && !folded)
		buf_addf(out, "%llx ", (unsigned long long)address);
	if (user)
		run_usym(r, address, pid, out, !folded);
	else
		run_ksym(r, address, out, !folded);
}

void run_stack(struct run *r, const struct type *t, const u8 *bytes, struct buf *out, u32 indent,
	       bool folded)
{
	u64 stack[1 + COMP_STACK_DEPTH] = { 0 }, id;
	bool user = t->kind == T_USTACK;
	u32 map = user ? r->c->ustack_map : r->c->kstack_map, pid = 0;
	size_t n;

	memcpy(&id, bytes, 8);
	if (user)
		memcpy(&pid, bytes + 8, 4);
	if (!folded)
		buf_addch(out, '\n');
	if (!id || !map)
		return;
	if (bpfsys_map_lookup(r->map_fds.items[map - 1], &id, stack) < 0) {
		r->unresolved++;
		return;
	}
	n = MIN(stack[0] / 8, (u64)t->p[0]);
	for (size_t i = 0; i < n; i++) {
		u64 address = stack[1 + (folded ? n - 1 - i : i)];

		if (folded && i)
			buf_addch(out, ';');
		if (!folded)
			buf_fill(out, ' ', indent);
		add_frame(r, t, address, pid, out, folded);
		if (!folded)
			buf_addch(out, '\n');
	}
}
