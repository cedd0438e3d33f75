/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From an address to what it means: the cached half of machine.h. */
#include "profile/machine.h"

#include "base/hash.h"
#include "bpf/unwind_abi.h"

#define RETURN_MARK 0x9e3779b97f4a7c15ull

/* The same code of the same file is one place, however many processes run it. */
static u64 new_place(struct machine *m, u64 key, const struct place *place)
{
	u64 *id = map_at(&m->place_ids, key);

	if (!*id) {
		*id = m->places.len;
		vec_push(&m->places, *place);
	}
	return *id;
}

/* Return addresses are distinguished from others: they mean the call before them. */
static u64 place_key(u32 module, u64 address, bool is_return, u64 salt)
{
	return hash_mix(hash_mix(salt << 1 | is_return, module), address);
}

/*
 * The recording says which module was there; the names of this kernel, or of another boot, do not.
 * A name that begins before the module is not of it.
 */
static void place_in_module(const struct machine *m, u64 address, struct place *p)
{
	const struct mapping *map = mappings_find(&m->kernel_modules, address);

	if (!map ||
	    (p->name && p->start >= map->start && p->dso && !streq(p->dso, "[kernel.kallsyms]")))
		return;
	p->dso = map->path;
	if (p->name && p->start < map->start)
		p->name = NULL;
}

static u64 place_kernel(struct machine *m, u64 address, bool is_return)
{
	struct place p = { .kind = PLACE_KERNEL, .address = address, .is_return = is_return };
	struct symbol s;

	if (symbols_kernel(m->symbols, address - is_return, &s, &p.dso)) {
		p.name = s.name;
		p.start = s.start;
		p.flags = s.flags;
	}
	place_in_module(m, address - is_return, &p);
	return new_place(m, place_key(0, address, is_return, 1), &p);
}

static bool is_anonymous(const char *path)
{
	return starts_with(path, "//anon") || starts_with(path, "/dev/zero") ||
	       starts_with(path, "/anon_hugepage") || starts_with(path, "[stack") ||
	       starts_with(path, "/SYSV") || starts_with(path, "[heap]");
}

/* The module of memory without a file, as perf calls it. */
static const char *jit_dso(struct machine *m, const struct process *proc)
{
	char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)proc->pid);
	return machine_str(m, intern_str(&m->strings, path));
}

/* Memory without a file: code made at run time, if a perf map names it. */
static u64 place_jit(struct machine *m, const struct process *proc, const struct mapping *map,
		     u64 address, bool is_return)
{
	struct place p = {
		.kind = PLACE_JIT, .address = address, .is_return = is_return, .dso = map->path
	};
	u64 key = place_key((u32)proc->pid, address, is_return, 2);
	struct source_frame line;
	struct symbol s;

	if (is_anonymous(p.dso)) {
		p.dso = jit_dso(m, proc);
		p.no_file = true;
	}
	if (symbols_jit(m->symbols, proc->pid, 0, NULL, address - is_return, proc->last_time, &s)) {
		p.name = s.name;
		p.start = s.start;
		p.flags = s.flags;
		key = hash_mix(key, s.id);
	}
	if (symbols_jit_line(m->symbols, proc->pid, address - is_return, proc->last_time, &line)) {
		p.file = line.file;
		p.line = line.line;
	}
	return new_place(m, key, &p);
}

static u64 place_file(struct machine *m, const struct mapping *map, u64 address, bool is_return)
{
	u64 offset = address - map->start + map->offset;
	u64 key = place_key(map->id, offset, is_return, 3);
	struct place p = { .kind = PLACE_USER,
			   .address = offset,
			   .is_return = is_return,
			   .module = map->id,
			   .dso = map->path };
	const u64 *known = map_find(&m->place_ids, key);
	struct symbol s;

	if (known)
		return *known;
	if (symbols_lookup(m->symbols, map->id, offset - is_return, &s)) {
		p.name = s.name;
		p.raw = s.raw_name;
		p.start = s.start;
		p.flags = s.flags;
	}
	return new_place(m, key, &p);
}

/* No code: only what is mapped there. */
static u64 place_data(struct machine *m, const struct process *proc, const struct mapping *map,
		      u64 address, bool is_return)
{
	struct place p = { .kind = PLACE_USER, .address = address, .dso = map->path };

	if (p.dso[0] == '/' && p.dso[1] != '/')
		p.address = address - map->start + map->offset;
	return new_place(m, place_key((u32)proc->pid, address, is_return, 5), &p);
}

/* An interpreted method of java: where its machine keeps it, which is not code. */
static u64 place_method(struct machine *m, const struct process *proc, u64 address, bool is_return)
{
	const struct mapping none = { .path = "//anon" };

	return place_jit(m, proc, &none, address, is_return);
}

static u64 place_user(struct machine *m, const struct process *proc, u64 address, bool is_return)
{
	if (unwind_method(address))
		return place_method(m, proc, address, is_return);
	const struct mapping *map = machine_mapping(proc, address - is_return);
	struct place nowhere = { .kind = PLACE_USER, .address = address };

	if (!map)
		return new_place(m, place_key((u32)proc->pid, address, is_return, 4), &nowhere);
	if (!map->exec)
		return place_data(m, proc, map, address, is_return);
	if (!map->id)
		return place_jit(m, proc, map, address, is_return);
	return place_file(m, map, address, is_return);
}

/* Code that this machine has no file of: a guest's, or the hypervisor's. */
static u64 place_elsewhere(struct machine *m, enum address_mode mode, u64 address, bool is_return)
{
	struct place p = { .kind = PLACE_HYPERVISOR,
			   .address = address,
			   .is_return = is_return,
			   .dso = "[hypervisor]" };
	struct symbol s;

	if (mode == ADDRESS_GUEST_USER) {
		p.kind = PLACE_GUEST_USER;
		p.dso = "[guest.user]";
	} else if (mode == ADDRESS_GUEST_KERNEL) {
		p.kind = PLACE_GUEST_KERNEL;
		if (symbols_guest(m->symbols, address - is_return, &s, &p.dso)) {
			p.name = s.name;
			p.start = s.start;
			p.flags = s.flags;
		}
	}
	return new_place(m, place_key((u32)mode, address, is_return, 6), &p);
}

static struct map *places_of(struct machine *m, struct process *p, enum address_mode mode)
{
	return mode == ADDRESS_USER     ? &p->places
	       : mode == ADDRESS_KERNEL ? &m->kernel_places
					: &m->guest_places;
}

static u64 find_place(struct machine *m, struct process *p, enum address_mode mode, u64 address,
		      bool is_return, u64 key)
{
	u64 *id = map_at(places_of(m, p, mode), key);

	if (!*id)
		*id = mode == ADDRESS_USER     ? place_user(m, p, address, is_return)
		      : mode == ADDRESS_KERNEL ? place_kernel(m, address, is_return)
					       : place_elsewhere(m, mode, address, is_return);
	return *id;
}

struct place *machine_place(struct machine *m, struct process *p, enum address_mode mode,
			    u64 address, bool is_return)
{
	const struct process *owner = mode == ADDRESS_USER ? p : NULL;
	u32 generation = owner ? owner->generation : 0;
	/* all 64 bits count: broken chains hold any number */
	u64 key = is_return ? address ^ RETURN_MARK : address;
	struct place_hint *h = &m->hints[(key ^ key >> 12) % MACHINE_HINTS];

	if (unlikely(mode > ADDRESS_KERNEL)) {
		key = hash_mix(key, mode);
		return &m->places.items[find_place(m, p, mode, address, is_return, key)];
	}

	if (h->key != key || h->process != owner || h->generation != generation || !h->id)
		*h = (struct place_hint){
			.key = key,
			.process = owner,
			.generation = generation,
			.id = (u32)find_place(m, p, mode, address, is_return, key),
		};
	return &m->places.items[h->id];
}

bool machine_context(u64 ip, enum address_mode *mode)
{
	if (ip < (u64)PERF_CONTEXT_MAX)
		return false;
	switch ((enum perf_callchain_context)ip) {
	case PERF_CONTEXT_HV: *mode = ADDRESS_HYPERVISOR; break;
	case PERF_CONTEXT_KERNEL: *mode = ADDRESS_KERNEL; break;
	case PERF_CONTEXT_USER: *mode = ADDRESS_USER; break;
	case PERF_CONTEXT_GUEST:
	case PERF_CONTEXT_GUEST_KERNEL: *mode = ADDRESS_GUEST_KERNEL; break;
	case PERF_CONTEXT_GUEST_USER: *mode = ADDRESS_GUEST_USER; break;
	default: break;
	}
	return true;
}

enum address_mode machine_mode(const struct record *r)
{
	switch (r->misc & PERF_RECORD_MISC_CPUMODE_MASK) {
	case PERF_RECORD_MISC_KERNEL: return ADDRESS_KERNEL;
	case PERF_RECORD_MISC_HYPERVISOR: return ADDRESS_HYPERVISOR;
	case PERF_RECORD_MISC_GUEST_KERNEL: return ADDRESS_GUEST_KERNEL;
	case PERF_RECORD_MISC_GUEST_USER: return ADDRESS_GUEST_USER;
	default: return ADDRESS_USER;
	}
}
