/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/stack_copies.h"

#include <sys/mman.h>

static void process_free(struct copies_process *p)
{
	if (!p)
		return;
	mappings_release(&p->maps);
	free(p);
}

static void forget_all(struct copies *c)
{
	vec_each(p, &c->processes)
		process_free(*p);
	vec_clear(&c->processes);
	map_clear(&c->by_pid);
}

void recorder_copies_release(struct copies *c)
{
	forget_all(c);
	vec_release(&c->processes);
	map_release(&c->by_pid);
	unwind_files_release(&c->files);
}

static struct copies_process *find(const struct copies *c, u32 pid)
{
	u64 i = map_get(&c->by_pid, pid, 0);

	return i ? c->processes.items[i - 1] : NULL;
}

static struct copies_process *find_or_make(struct copies *c, u32 pid)
{
	struct copies_process *p = find(c, pid);

	if (p)
		return p;
	if (c->processes.len >= COPIES_PROCESSES_MOST)
		forget_all(c);
	p = xcalloc(1, sizeof(*p));
	vec_push(&c->processes, p);
	map_put(&c->by_pid, pid, c->processes.len);
	return p;
}

static void forget(struct copies *c, u32 pid)
{
	u64 i = map_get(&c->by_pid, pid, 0);

	if (!i)
		return;
	process_free(c->processes.items[i - 1]);
	c->processes.items[i - 1] = NULL;
	map_del(&c->by_pid, pid);
}

/* Memory without a file is "//anon", "[heap]" or "/memfd:..."; only names that can be opened. */
static bool is_file(const char *path)
{
	return path[0] == '/' && path[1] != '/' && !starts_with(path, "/memfd:") &&
	       !starts_with(path, "/dev/zero") && !starts_with(path, "/SYSV");
}

static void on_map(struct copies *c, const struct record *r)
{
	struct record_mmap m;

	if (record_mmap(r, &m) < 0 || m.pid == RECORD_NO_PID || !(m.prot & PROT_EXEC))
		return;
	const struct mapping map = {
		.start = m.addr,
		.end = m.addr + m.len,
		.offset = m.pgoff,
		.exec = true,
		.path = is_file(m.filename) || streq(m.filename, "[vdso]") ? m.filename : "",
	};

	mappings_add(&find_or_make(c, m.pid)->maps, &map);
}

static void on_fork(struct copies *c, const struct record *r)
{
	struct record_task t;

	if (record_task(r, &t) < 0 || t.pid == t.ppid)
		return;
	forget(c, t.pid);
	const struct copies_process *parent = find(c, t.ppid);

	if (!parent)
		return;
	/* found again: making one may forget all */
	struct copies_process *child = find_or_make(c, t.pid);

	parent = find(c, t.ppid);
	for (size_t i = 0; parent && i < parent->maps.items.len; i++)
		mappings_add(&child->maps, &parent->maps.items.items[i]);
}

void recorder_copies_record(struct copies *c, const struct record *r)
{
	struct record_comm comm;
	struct record_task task;

	switch (r->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2: on_map(c, r); break;
	case PERF_RECORD_FORK: on_fork(c, r); break;
	case PERF_RECORD_COMM:
		if (record_comm(r, &comm) == 0 && comm.exec)
			forget(c, comm.pid);
		break;
	case PERF_RECORD_EXIT:
		if (record_task(r, &task) == 0 && task.pid == task.tid)
			forget(c, task.pid);
		break;
	default: break;
	}
}

/* --- one stack -------------------------------------------------------------------------------- */

struct walk {
	struct copies *c;
	struct copies_process *p;
	int pid;
	struct unwind_copy copy;
};

static int walk_read(void *ctx, u64 address, void *to, size_t n)
{
	const struct walk *w = ctx;

	return unwind_copy_read(&w->copy, address, to, n);
}

/* Mappings without a record: the vDSO, or mappings from before the recording. */
static struct mapping *ask(const struct walk *w, u64 pc)
{
	_cleanup_(mappings_release) struct mappings now = { 0 };

	if (w->p->asked++ >= COPIES_ASK_MOST || mappings_read(&now, w->pid, NULL))
		return NULL;
	vec_each(m, &now.items) {
		struct mapping map = *m;

		map.ino = 0;
		if (!is_file(map.path) && !streq(map.path, "[vdso]"))
			map.path = "";
		if (map.exec)
			mappings_add(&w->p->maps, &map);
	}
	return mappings_find(&w->p->maps, pc);
}

static int walk_find(void *ctx, u64 pc, const struct unwind_rule **ret)
{
	const struct walk *w = ctx;
	struct mapping *m = mappings_find(&w->p->maps, pc);

	if (!m)
		m = ask(w, pc);
	if (!m)
		return -ENOENT;
	*ret = NULL;
	if (!m->path[0])
		return 0;
	const struct unwind_file *f = unwind_files_get(&w->c->files, m, w->pid);

	if (f->unreadable)
		return -EAGAIN;
	*ret = unwind_table_rule(f->table, pc - m->start + m->offset);
	return 0;
}

bool recorder_copies_unwind(struct copies *c, const struct sample *s, struct unwind_frames *f)
{
	const struct sample_regs *regs = &s->regs_user;
	struct walk w = {
		.c = c,
		.pid = (int)s->pid,
		.copy = { .bytes = s->stack, .size = MIN(s->stack_dyn, s->stack_size) },
	};
	struct unwind_source source = { .ctx = &w, .read = walk_read, .find = walk_find };

	if (regs->abi != PERF_SAMPLE_REGS_ABI_64 ||
	    !unwind_regs_from_perf(source.regs, regs->values, regs->nr, regs->mask))
		return false;
	w.p = find_or_make(c, s->pid);
	w.copy.start = source.regs[UNWIND_REG_SP];
	unwind_user(&source, f);
	return true;
}
