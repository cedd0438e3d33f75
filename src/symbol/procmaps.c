/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/procmaps.h"

#include "base/buf.h"
#include "base/map.h"
#include "base/vec.h"
#include "capture/ring.h"
#include "host/bpf_sys.h"
#include "host/procfs.h"

#include <sys/epoll.h>
#include <sys/mman.h>

enum {
	RING_BYTES = 1 << 17,
	PROCESSES_MOST = 1 << 18,
	PARENTS_MOST = 16,
	GONE_MOST = 1 << 14, /* processes that ended and are remembered: the latest */
};

struct mapping {
	u64 start, end, offset;
	u32 module;
};

struct process {
	u32 pid;
	u32 parent;                /* whose mappings it began with; 0: not known */
	u32 ends;                  /* how often one of this pid has ended */
	VEC(struct mapping) items; /* later ones win */
};

struct gone {
	u32 pid;
	u32 ends;
};

struct procmaps {
	struct symbols *symbols;
	struct map by_pid; /* number in processes, + 1 */
	VEC(struct process) processes;
	VEC(u32) spare;    /* numbers in processes that are free */
	struct gone *gone; /* GONE_MOST of them, from at on the oldest first */
	u32 gone_at;
	bool forgot;
	u64 unknown; /* addresses without a file since then */
	VEC(struct ring) rings;
	int epoll;
	struct procmaps_listener listener;
};

struct procmaps *procmaps_new(struct symbols *symbols)
{
	struct procmaps *m = xcalloc(1, sizeof(*m));

	m->symbols = symbols;
	m->epoll = -1;
	return m;
}

void procmaps_free(struct procmaps *m)
{
	if (!m)
		return;
	vec_each(it, &m->rings) {
		int fd = it->fd;

		ring_unmap(it);
		close(fd);
	}
	vec_release(&m->rings);
	vec_each(it, &m->processes)
		vec_release(&it->items);
	vec_release(&m->processes);
	vec_release(&m->spare);
	free(m->gone);
	map_release(&m->by_pid);
	if (m->epoll >= 0)
		close(m->epoll);
	free(m);
}

/* NULL: there are too many already. */
static struct process *process_of(struct procmaps *m, u32 pid, bool *ret_new)
{
	u64 *at = map_at(&m->by_pid, pid);

	*ret_new = !*at;
	if (!*at) {
		if (!m->spare.len && m->processes.len >= PROCESSES_MOST)
			return NULL;
		if (!m->spare.len) {
			vec_new(&m->processes);
			vec_push(&m->spare, (u32)m->processes.len);
		}
		*at = vec_pop(&m->spare);
		m->processes.items[*at - 1] = (struct process){ .pid = pid };
	}
	return &m->processes.items[*at - 1];
}

static void add_mapping(struct procmaps *m, struct process *p, const struct module_key *key,
			u64 offset)
{
	vec_push(&p->items, (struct mapping){ key->map_start, key->map_end, offset,
					      symbols_module(m->symbols, key) });
}

/* --- /proc ------------------------------------------------------------------------------------ */

static void read_process(struct procmaps *m, struct process *p)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	const char *at, *end;
	struct proc_map pm;
	int rc;

	if (procfs_read(p->pid, 0, "maps", PROCFS_MAX_MAPS, &text, NULL) < 0)
		return;
	at = buf_str(&text);
	end = at + text.len;
	while ((rc = procfs_next_map(&at, end, &pm)) != -ENODATA) {
		struct module_key key = { .maj = pm.dev_major,
					  .min = pm.dev_minor,
					  .ino = pm.inode,
					  .pid = (pid_t)p->pid,
					  .map_start = pm.start,
					  .map_end = pm.end };
		char *path;

		if (rc < 0 || !(pm.flags & PROC_MAP_EXEC) || !pm.path_len)
			continue;
		path = xstrndup(pm.path, pm.path_len);
		key.path = path;
		add_mapping(m, p, &key, pm.offset);
		free(path);
	}
}

static void read_running(struct procmaps *m)
{
	pid_list pids = { 0 };

	if (procfs_pids(&pids, NULL) == 0) {
		vec_each(it, &pids) {
			bool is_new;
			struct process *p = process_of(m, (u32)*it, &is_new);

			if (p && is_new)
				read_process(m, p);
		}
	}
	vec_release(&pids);
}

/* --- the kernel's word ------------------------------------------------------------------------ */

struct mmap2_record {
	struct perf_event_header header;
	u32 pid, tid;
	u64 addr, len, pgoff;
	u32 maj, min;
	u64 ino, ino_generation;
	u32 prot, flags;
	char filename[];
};

struct fork_record {
	struct perf_event_header header;
	u32 pid, ppid, tid, ptid;
};

static void on_mmap(struct procmaps *m, const struct mmap2_record *r)
{
	size_t most = r->header.size - sizeof(*r);
	struct module_key key = { .maj = r->maj,
				  .min = r->min,
				  .ino = r->ino,
				  .ino_gen = r->ino_generation,
				  .pid = (pid_t)r->pid,
				  .map_start = r->addr,
				  .map_end = r->addr + r->len };
	struct process *p;
	bool is_new;

	if (r->header.size <= sizeof(*r) || !(r->prot & PROT_EXEC) ||
	    strnlen(r->filename, most) == most)
		return;
	key.path = r->filename;
	p = process_of(m, r->pid, &is_new);
	if (p)
		add_mapping(m, p, &key, r->pgoff);
	if (m->listener.mapped)
		m->listener.mapped(m->listener.ctx, &key);
}

static void on_fork(struct procmaps *m, const struct fork_record *r)
{
	struct process *p;
	bool is_new;

	if (r->header.size < sizeof(*r) || r->pid == r->ppid)
		return;
	p = process_of(m, r->pid, &is_new);
	/*
	 * Its mappings may have been read already: they are in the ring of another CPU. So what
	 * an earlier process of this pid had must stay, too; pids are not used again soon.
	 */
	if (p)
		p->parent = r->ppid;
}

/* Unless another process has its pid by now, and ended, too. */
static void forget(struct procmaps *m, const struct gone *g)
{
	u64 number = g->pid ? map_get(&m->by_pid, g->pid, 0) : 0;
	struct process *p = number ? &m->processes.items[number - 1] : NULL;

	if (!p || p->ends != g->ends)
		return;
	vec_release(&p->items);
	*p = (struct process){ 0 };
	map_del(&m->by_pid, g->pid);
	vec_push(&m->spare, (u32)number);
	m->forgot = true;
}

/* What was seen of it is shown later, perhaps at the end; but a day has millions of them. */
static void on_exit_record(struct procmaps *m, const struct fork_record *r)
{
	u64 number = r->header.size < sizeof(*r) ? 0 : map_get(&m->by_pid, r->pid, 0);
	struct gone *oldest;

	if (!number || r->pid != r->tid)
		return;
	if (!m->gone)
		m->gone = xcalloc(GONE_MOST, sizeof(*m->gone));
	oldest = &m->gone[m->gone_at++ % GONE_MOST];
	forget(m, oldest);
	/* it may have forgotten this very pid */
	number = map_get(&m->by_pid, r->pid, 0);
	*oldest = (struct gone){ 0 };
	if (number)
		*oldest = (struct gone){ r->pid, ++m->processes.items[number - 1].ends };
}

static int on_records(void *ctx, const void *bytes, size_t n)
{
	const char *at = bytes;

	while (n >= sizeof(struct perf_event_header)) {
		const struct perf_event_header *h = (const void *)at;

		if (h->size < sizeof(*h) || h->size > n)
			break;
		if (h->type == PERF_RECORD_MMAP2)
			on_mmap(ctx, (const void *)at);
		else if (h->type == PERF_RECORD_FORK)
			on_fork(ctx, (const void *)at);
		else if (h->type == PERF_RECORD_EXIT)
			on_exit_record(ctx, (const void *)at);
		at += h->size;
		n -= h->size;
	}
	return 0;
}

static void watch_cpu(struct procmaps *m, u32 cpu)
{
	struct perf_event_attr attr = { .size = sizeof(attr),
					.type = PERF_TYPE_SOFTWARE,
					.config = PERF_COUNT_SW_DUMMY,
					.mmap = 1,
					.mmap2 = 1,
					.task = 1,
					.watermark = 1,
					.wakeup_watermark =
						m->listener.mapped ? 1 : RING_BYTES / 2 };
	struct epoll_event ev = { .events = EPOLLIN };
	struct ring ring;
	int fd = perfsys_open(&attr, -1, (int)cpu, -1, 0);

	if (fd < 0)
		return;
	if (ring_map(&ring, fd, cpu, RING_BYTES, false, NULL) < 0) {
		close(fd);
		return;
	}
	vec_push(&m->rings, ring);
	epoll_ctl(m->epoll, EPOLL_CTL_ADD, fd, &ev);
}

void procmaps_watch(struct procmaps *m, const struct procmaps_listener *listener)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);

	if (listener)
		m->listener = *listener;
	m->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (m->epoll < 0)
		return;
	for (u32 cpu = 0; cpus > 0 && cpu < (u32)cpus; cpu++)
		watch_cpu(m, cpu);
	if (m->rings.len)
		read_running(m);
}

int procmaps_fd(const struct procmaps *m)
{
	return m ? m->epoll : -1;
}

void procmaps_drain(struct procmaps *m)
{
	struct ring_stats stats = { 0 };

	if (!m)
		return;
	vec_each(it, &m->rings)
		ring_read(it, &stats, on_records, m, NULL);
}

/* --- looking up ------------------------------------------------------------------------------- */

static const struct mapping *mapping_at(const struct process *p, u64 address)
{
	for (size_t i = p->items.len; i > 0; i--) {
		const struct mapping *m = &p->items.items[i - 1];

		if (address >= m->start && address < m->end)
			return m;
	}
	return NULL;
}

/* A child that did not exec has what its parent had. */
static const struct mapping *find_mapping(struct procmaps *m, u32 pid, u64 address)
{
	for (u32 i = 0; i < PARENTS_MOST && pid; i++) {
		u64 number = map_get(&m->by_pid, pid, 0);
		const struct mapping *found;

		if (!number)
			return NULL;
		found = mapping_at(&m->processes.items[number - 1], address);
		if (found)
			return found;
		pid = m->processes.items[number - 1].parent;
	}
	return NULL;
}

bool procmaps_find(struct procmaps *m, u32 pid, u64 address, u32 *ret_module, u64 *ret_offset)
{
	const struct mapping *found;

	procmaps_drain(m);
	found = find_mapping(m, pid, address);
	if (!found) { /* not watched, or mapped in a way that was not reported */
		bool is_new;
		struct process *p = process_of(m, pid, &is_new);

		if (p)
			read_process(m, p);
		found = find_mapping(m, pid, address);
	}
	if (!found) {
		m->unknown += m->forgot;
		return false;
	}
	*ret_module = found->module;
	*ret_offset = address - found->start + found->offset;
	return true;
}

u64 procmaps_unknown(const struct procmaps *m)
{
	return m ? m->unknown : 0;
}
