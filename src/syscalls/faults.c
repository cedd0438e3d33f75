/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "syscalls/faults.h"

#include "base/map.h"
#include "host/mappings.h"
#include "symbol/procmaps.h"

enum { PROCESSES_MOST = 64 }; /* whose mappings are kept */

struct process {
	u32 pid;
	struct mappings maps;
};

struct fault_names {
	struct symbols *symbols;
	struct procmaps *code;
	struct process processes[PROCESSES_MOST];
	u32 next; /* to be replaced */
};

struct fault_names *fault_names_new(void)
{
	const struct symbols_opts opts = { .ask_kernel = true };
	struct fault_names *f = xcalloc(1, sizeof(*f));

	f->symbols = symbols_new(&opts);
	f->code = procmaps_new(f->symbols);
	procmaps_watch(f->code, NULL);
	return f;
}

void fault_names_free(struct fault_names *f)
{
	if (!f)
		return;
	for (u32 i = 0; i < PROCESSES_MOST; i++)
		mappings_release(&f->processes[i].maps);
	procmaps_free(f->code);
	symbols_free(f->symbols);
	free(f);
}

void fault_names_follow(struct fault_names *f)
{
	procmaps_drain(f->code);
}

const char *fault_kind(const struct syscalls_event *e)
{
	return e->flags & SYSCALLS_MAJOR ? "majfault" : "minfault";
}

static void add_code(struct fault_names *f, u32 pid, u64 address, struct buf *out)
{
	struct symbol sym;
	u32 module;
	u64 at;

	buf_addch(out, '[');
	if (address >> 63 && symbols_kernel(f->symbols, address, &sym, NULL)) {
		buf_addf(out, "%s+0x%llx", sym.name, (unsigned long long)(address - sym.start));
	} else if (!procmaps_find(f->code, pid, address, &module, &at)) {
		buf_addf(out, "0x%llx", (unsigned long long)address);
	} else if (symbols_lookup(f->symbols, module, at, &sym) && !(sym.flags & SYM_FDE)) {
		buf_addf(out, "%s+0x%llx", sym.name, (unsigned long long)(at - sym.start));
	} else {
		buf_addf(out, "%s+0x%llx", symbols_module_name(f->symbols, module),
			 (unsigned long long)at);
	}
	buf_addch(out, ']');
}

/* Read again when an address is in none of those that were read. */
static const struct mapping *find_data(struct fault_names *f, u32 pid, u64 address)
{
	struct process *p = NULL;
	struct mapping *found;

	for (u32 i = 0; i < PROCESSES_MOST && !p; i++)
		if (f->processes[i].pid == pid)
			p = &f->processes[i];
	found = p ? mappings_find(&p->maps, address) : NULL;
	if (found)
		return found;
	if (!p) {
		p = &f->processes[f->next++ % PROCESSES_MOST];
		p->pid = pid;
	}
	mappings_release(&p->maps);
	p->maps = (struct mappings){ 0 };
	if (mappings_read(&p->maps, (int)pid, NULL) < 0)
		return NULL;
	return mappings_find(&p->maps, address);
}

/* Names of files may hold anything. */
static void add_path(struct buf *out, const char *path)
{
	for (; *path; path++)
		buf_addch(out, *path >= ' ' && *path < 0x7f ? *path : '?');
}

static void add_data(struct fault_names *f, u32 pid, u64 address, struct buf *out)
{
	const struct mapping *m = find_data(f, pid, address);
	u32 module;
	u64 at;

	/* of processes that are gone the code is known */
	if (!m && procmaps_find(f->code, pid, address, &module, &at)) {
		add_path(out, symbols_module_name(f->symbols, module));
		buf_addf(out, "@0x%llx (code)", (unsigned long long)at);
		return;
	}
	if (!m) {
		buf_addf(out, "0x%llx", (unsigned long long)address);
		return;
	}
	if (*m->path)
		add_path(out, m->path);
	else
		buf_addstr(out, "anonymous");
	buf_addf(out, "@0x%llx (%s)",
		 (unsigned long long)(address - m->start + (m->ino ? m->offset : 0)),
		 m->exec    ? "code"
		 : m->write ? "data"
			    : "read-only");
}

void fault_text(struct fault_names *f, const struct syscalls_event *e, struct buf *out)
{
	add_code(f, e->pid, e->args[0], out);
	buf_addstr(out, " => ");
	add_data(f, e->pid, e->args[1], out);
}
