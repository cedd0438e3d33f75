/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/machine.h"

#include "recording/wait.h"

#include "base/hash.h"

#include <inttypes.h>
#include <sys/mman.h>

enum {
	MACHINE_PROCESSES_MOST = 1 << 22, /* a pid space */
};

void machine_init(struct machine *m, struct symbols *symbols)
{
	*m = (struct machine){ .symbols = symbols };
	m->hints = xcalloc(MACHINE_HINTS, sizeof(*m->hints));
	vec_new(&m->places);
	/* no record names the idle thread; whatever it forks begins with its name */
	map_put(&m->comms, 0, intern_str(&m->strings, "swapper"));
}

void machine_build_ids(struct machine *m, const struct recording_info *info)
{
	m->info = info;
	if (info->has_clock_data)
		m->wall_shift = info->clock_wall_ns - info->clock_ns;
	for (size_t i = 0; i < info->build_ids.len; i++) {
		const struct recording_build_id *b = &info->build_ids.items[i], *before;
		u32 path = intern_str(&m->strings, b->path);
		u64 *known = map_find(&m->build_ids, path);

		if (!known) {
			map_put(&m->build_ids, path, i + 1);
			continue;
		}
		/* Files of one path in several containers: which one is meant is unknown. */
		before = *known ? &info->build_ids.items[*known - 1] : NULL;
		if (before &&
		    (before->id_size != b->id_size || memcmp(before->id, b->id, b->id_size) != 0))
			*known = 0;
	}
}

/* What the header says of a file or the kernel, NULL: nothing. */
static const struct recording_build_id *build_id_of(const struct machine *m, const char *path,
						    size_t n)
{
	u32 name = m->build_ids.len ? intern_find(&m->strings, path, n) : 0;
	u64 index = name ? map_get(&m->build_ids, name, 0) : 0;

	return index ? &m->info->build_ids.items[index - 1] : NULL;
}

static void process_empty(struct process *p)
{
	mappings_release(&p->maps);
	vec_release(&p->before);
	map_release(&p->places);
}

static void process_free(struct process *p)
{
	process_empty(p);
	free(p);
}

void machine_forget(struct machine *m, s32 pid)
{
	u64 *index = map_find(&m->process_ids, (u32)pid);
	struct process *p = index ? m->processes.items[*index] : NULL;

	if (!p)
		return;
	process_empty(p);
	/* hints are of the generation before */
	*p = (struct process){ .pid = p->pid,
			       .ppid = p->ppid,
			       .comm = p->comm,
			       .cgroup = p->cgroup,
			       .generation = p->generation + 1 };
}

void machine_release(struct machine *m)
{
	vec_each(p, &m->processes)
		process_free(*p);
	vec_release(&m->processes);
	vec_release(&m->places);
	free(m->hints);
	map_release(&m->process_ids);
	map_release(&m->comms);
	map_release(&m->cgroups);
	map_release(&m->kernel_places);
	map_release(&m->guest_places);
	mappings_release(&m->kernel_modules);
	map_release(&m->place_ids);
	map_release(&m->build_ids);
	intern_release(&m->strings);
}

const char *machine_str(const struct machine *m, u32 id)
{
	return intern_get(&m->strings, id);
}

struct process *machine_process(struct machine *m, s32 pid)
{
	u64 *index = map_find(&m->process_ids, (u32)pid);
	struct process *p;

	if (index)
		return m->processes.items[*index];
	if (m->processes.len >= MACHINE_PROCESSES_MOST)
		return m->processes.items[0];
	p = xcalloc(1, sizeof(*p));
	p->pid = pid;
	p->ppid = -1;
	map_put(&m->process_ids, (u32)pid, m->processes.len);
	vec_push(&m->processes, p);
	return p;
}

u32 machine_comm(struct machine *m, s32 pid, s32 tid)
{
	u64 *comm = map_find(&m->comms, (u32)tid);
	char text[16];

	if (!comm)
		comm = map_find(&m->comms, (u32)pid);
	if (comm)
		return (u32)*comm;
	snprintf(text, sizeof(text), ":%" PRId32, tid);
	return intern_str(&m->strings, text);
}

u32 machine_cgroup(const struct machine *m, u64 id)
{
	return (u32)map_get(&m->cgroups, id, 0);
}

/* --- mappings ------------------------------------------------------------------------------ */

const struct mapping *machine_mapping(const struct process *p, u64 address)
{
	for (size_t i = p->before.len - p->n_past; i < p->before.len; i++) {
		const struct mapping *map = &p->before.items[i].map;

		if (address >= map->start && address < map->end)
			return map;
	}
	return mappings_find(&p->maps, address);
}

static void forget_places(struct process *p)
{
	map_clear(&p->places);
	p->generation++;
}

/*
 * The stack of a wait was taken at its begin. The clock of records may jump back by 50 us when the
 * kernel sets it right, so that neither the begin nor the end is a safe moment: code that was
 * mapped before a wait may seem to come after its begin, and what its thread did next may seem to
 * come before its end.
 */
enum { CLOCK_JUMP_NS = 200000 };

static u64 moment_of(const struct sample *s)
{
	const struct wait_record *raw = s->raw; /* packed: any address will do */

	if (!(s->type & PERF_SAMPLE_RAW) || s->raw_size < sizeof(*raw) ||
	    raw->magic != WAIT_RECORD_MAGIC ||
	    (raw->event != WAIT_EVENT_BLOCKED && raw->event != WAIT_EVENT_RUNQ))
		return s->time;
	return s->time - MIN(s->period, s->time) + MIN(s->period / 2, (u64)CLOCK_JUMP_NS);
}

void machine_moment(struct machine *m, struct process *p, const struct sample *s)
{
	u64 time = moment_of(s);
	u64 changes = symbols_jit_changes(m->symbols, p->pid, time);

	size_t past = 0;

	while (past < p->before.len && p->before.items[p->before.len - 1 - past].until > time)
		past++;
	p->last_time = time;
	if (changes == p->code_changes && past == p->n_past)
		return;
	p->code_changes = changes;
	p->n_past = past;
	forget_places(p);
}

u64 machine_code(struct machine *m, struct process *p)
{
	const u64 changes = symbols_jit_changes(m->symbols, p->pid, 0);

	if (changes != p->code_changes) {
		p->code_changes = changes;
		forget_places(p);
	}
	return changes;
}

static bool is_same_file(const struct mapping *a, const struct mapping *b)
{
	return a->id == b->id && a->start - a->offset == b->start - b->offset;
}

/* Code that another mapping takes the place of at @time. */
static void keep_before(struct process *p, const struct mapping *new, u64 time)
{
	const struct mapping *map = mappings_from(&p->maps, new->start);
	const struct mapping *end = p->maps.items.items + p->maps.items.len;

	for (; map && map < end && map->start < new->end; map++) {
		if (!map->exec || is_same_file(map, new))
			continue;
		if (p->before.len == MAPPINGS_BEFORE) {
			p->before.len /= 2;
			memmove(p->before.items, p->before.items + p->before.len,
				p->before.len * sizeof(*p->before.items));
		}
		vec_push(&p->before, (struct mapping_before){ .map = *map, .until = time });
	}
	p->n_past = 0;
}

static void maps_replace(struct process *p, const struct mapping *new, u64 time)
{
	if (time)
		keep_before(p, new, time);
	if (mappings_cover(&p->maps, new))
		forget_places(p);
}

/*
 * Programs that were started from a memfd ("/memfd:name") are files like others, and have a build
 * id; what else is in one is the code of some JIT.
 */
static bool is_file(const struct record_mmap *r)
{
	const char *path = r->filename;

	if (starts_with(path, "/memfd:"))
		return r->build_id_size > 0;
	return path[0] == '/' && !starts_with(path, "//anon") && !starts_with(path, "/dev/zero") &&
	       !starts_with(path, "/anon_hugepage") && !starts_with(path, "/SYSV") &&
	       !starts_with(path, "/dev/");
}

/* Of the mapping itself, otherwise of its path. */
static void find_build_id(const struct machine *m, const struct record_mmap *r, size_t path_len,
			  const u8 **ret, size_t *ret_len)
{
	const struct recording_build_id *known;

	if (r->build_id_size) {
		*ret = r->build_id;
		*ret_len = r->build_id_size;
		return;
	}
	known = build_id_of(m, r->filename, path_len);
	if (known) {
		*ret = known->id;
		*ret_len = known->id_size;
	}
}

static u32 module_of(struct machine *m, const struct record_mmap *r, u64 time)
{
	struct module_key key = {
		.path = r->filename,
		.mapped = m->wall_shift && time ? time + m->wall_shift : 0,
		.maj = r->maj,
		.min = r->min,
		.ino = r->ino,
		.ino_gen = r->ino_generation,
		.pid = (pid_t)r->pid,
		.map_start = r->addr,
		.map_end = r->addr + r->len,
	};

	if (!is_file(r) && !streq(r->filename, "[vdso]"))
		return 0;
	find_build_id(m, r, strlen(r->filename), &key.build_id, &key.build_id_len);
	return symbols_module(m->symbols, &key);
}

/* "/lib/modules/6.1.0/kernel/ath9k.ko.xz", as kallsyms calls it: "[ath9k]"; NULL: not one. */
static const char *module_name(struct machine *m, const char *path)
{
	const char *slash = strrchr(path, '/'), *dot;
	_cleanup_buf_ struct buf name = BUF_INIT;

	if (path[0] == '[')
		return machine_str(m, intern_str(&m->strings, path));
	dot = slash ? strstr(slash, ".ko") : NULL;
	if (!dot)
		return NULL;
	buf_addch(&name, '[');
	for (const char *at = slash + 1; at < dot; at++)
		buf_addch(&name, *at == '-' ? '_' : *at);
	buf_addch(&name, ']');
	return machine_str(m, intern_str(&m->strings, buf_str(&name)));
}

/* Where a module of the recorded kernel was. */
static void kernel_module(struct machine *m, const struct record_mmap *r)
{
	const struct mapping new = {
		.start = r->addr,
		.end = r->addr + r->len,
		.exec = true,
		.path = module_name(m, r->filename),
	};

	if (new.path && r->len)
		(void)mappings_cover(&m->kernel_modules, &new);
}

/* "[kernel.kallsyms]_text": where a symbol of the recorded kernel was. */
static void kernel_mmap(struct machine *m, const struct record_mmap *r)
{
	const char *symbol = starts_with(r->filename, "[kernel.kallsyms]");
	const u8 *id = NULL;
	size_t len = 0;

	if (!symbol)
		kernel_module(m, r);
	if (!symbol || !*symbol)
		return;
	find_build_id(m, r, (size_t)(symbol - r->filename), &id, &len);
	symbols_set_kernel_base(m->symbols, symbol, r->pgoff, id, len);
}

static const char *interned(struct machine *m, const char *path)
{
	return intern_get(&m->strings, intern_str(&m->strings, path));
}

static void on_mmap(struct machine *m, const struct record *r)
{
	struct record_mmap map;
	struct mapping new;

	if (record_mmap(r, &map) < 0 || map.addr + map.len < map.addr) {
		m->bad_maps++;
		return;
	}
	/* nothing is known of the files of guests */
	if (record_is_guest(r))
		return;
	if (map.pid == RECORD_NO_PID || record_is_kernel_mode(r)) {
		kernel_mmap(m, &map);
		return;
	}
	if (!map.len)
		return;
	new = (struct mapping){
		.start = map.addr,
		.end = map.addr + map.len,
		.offset = map.pgoff,
		.exec = map.prot & PROT_EXEC,
		.path = interned(m, map.filename),
	};
	if (new.exec)
		new.id = module_of(m, &map, r->time);
	maps_replace(machine_process(m, (s32)map.pid), &new, r->time);
}

void machine_map(struct machine *m, struct process *p, u64 start, u64 end,
		 const struct module_key *file)
{
	const struct mapping new = {
		.start = start,
		.end = end,
		.exec = true,
		.path = interned(m, file->path),
		.id = symbols_module(m->symbols, file),
	};

	maps_replace(p, &new, 0);
}

/* --- processes ----------------------------------------------------------------------------- */

static void on_comm(struct machine *m, const struct record *r)
{
	struct record_comm c;
	struct process *p;
	u32 name;

	if (record_comm(r, &c) < 0)
		return;
	name = intern_str(&m->strings, c.comm);
	map_put(&m->comms, c.tid, name);
	if (c.pid != c.tid)
		return;
	/*
	 * What was mapped before an exec stays until something lies over it: samples taken within
	 * the exec still have the old program's return addresses.
	 */
	p = machine_process(m, (s32)c.pid);
	p->comm = name;
}

/* A new process begins with its parent's mappings; a new thread only with its name. */
static void on_fork(struct machine *m, const struct record *r)
{
	struct record_task t;
	struct process *child, *parent;
	u64 *comm;

	if (record_task(r, &t) < 0)
		return;
	comm = map_find(&m->comms, t.ptid);
	if (comm)
		map_put(&m->comms, t.tid, *comm);
	else
		map_del(&m->comms, t.tid);
	if (t.pid == t.ppid)
		return;
	parent = machine_process(m, (s32)t.ppid);
	child = machine_process(m, (s32)t.pid);
	child->ppid = (s32)t.ppid;
	child->comm = parent->comm;
	mappings_copy(&child->maps, &parent->maps);
	forget_places(child);
}

static void on_ksymbol(struct machine *m, const struct record *r)
{
	struct record_ksymbol k;

	if (record_ksymbol(r, &k) < 0 || k.unregister)
		return;
	symbols_add_ksymbol(m->symbols, k.addr, k.len, k.name,
			    k.type == PERF_RECORD_KSYMBOL_TYPE_BPF);
}

static void on_cgroup(struct machine *m, const struct record *r)
{
	struct record_cgroup c;

	if (record_cgroup(r, &c) >= 0)
		map_put(&m->cgroups, c.id, intern_str(&m->strings, c.path));
}

void machine_record(struct machine *m, const struct record *r)
{
	switch (r->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2: on_mmap(m, r); break;
	case PERF_RECORD_COMM: on_comm(m, r); break;
	case PERF_RECORD_FORK: on_fork(m, r); break;
	case PERF_RECORD_KSYMBOL: on_ksymbol(m, r); break;
	case PERF_RECORD_CGROUP: on_cgroup(m, r); break;
	default: break;
	}
}
