/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names that a recording touches. No profile is built for that: each address of each state of
 * each process is looked up once, however many samples have it.
 */
#include "profile/names.h"

#include "base/hash.h"
#include "profile/machine.h"
#include "profile/stackcopy.h"

enum { NAMES_SEEN = 1 << 15, NAMES_RANGES = 1 << 12, RANGE_BITS = 6, COPY_MOST = 1024 };

/* A function that has its name already: the rest of its addresses need none. */
struct named_range {
	u64 start, end; /* file offsets, or addresses of the kernel */
	u32 module;     /* 0: the kernel */
};

/* An address of a file, for its source line. */
struct file_address {
	u64 offset; /* of a return address: after the call */
	u32 module;
	bool is_return;
};

struct naming {
	struct machine machine;
	VEC(struct file_address) addresses; /* each once, or a few times */
	struct stackcopy stacks;
	u64 first_time, last_time;               /* of samples */
	struct named_range ranges[NAMES_RANGES]; /* by module and address, in steps of 64 bytes */
	u64 seen[NAMES_SEEN]; /* hashes of what was looked up lately; another round costs little */
};

static void name_in(struct naming *n, u32 module, u64 address)
{
	struct symbols *symbols = n->machine.symbols;
	struct named_range *r = &n->ranges[hash_mix(module, address >> RANGE_BITS) % NAMES_RANGES];
	struct symbol s;
	bool found;

	if (r->module == module && address >= r->start && address < r->end)
		return;
	found = module ? symbols_lookup(symbols, module, address, &s)
		       : symbols_kernel(symbols, address, &s, NULL);
	if (found)
		*r = (struct named_range){ s.start, s.start + s.size, module };
}

static void name_user(struct naming *n, const struct process *proc, u64 address, bool is_return)
{
	const struct mapping *map = machine_mapping(proc, address - is_return);
	struct file_address at = { .is_return = is_return };
	struct symbol s;

	if (!map || !map->exec)
		return;
	if (!map->id) {
		(void)symbols_jit(n->machine.symbols, proc->pid, 0, NULL, address - is_return,
				  proc->last_time, &s);
		return;
	}
	at.module = map->id;
	at.offset = address - map->start + map->offset;
	vec_push(&n->addresses, at);
	name_in(n, at.module, at.offset - is_return);
}

/* A return address means the call before it. */
static void name_address(struct naming *n, const struct process *proc, enum address_mode mode,
			 u64 address, bool is_return)
{
	if (mode > ADDRESS_KERNEL)
		return;
	u64 owner = mode == ADDRESS_USER ? (u64)proc->pid << 32 | proc->generation : ~0ull;
	u64 key = hash_mix(owner << 1 | is_return, address), *seen = &n->seen[key % NAMES_SEEN];

	if (*seen == key)
		return;
	*seen = key;
	if (mode == ADDRESS_USER)
		name_user(n, proc, address, is_return);
	else
		name_in(n, 0, address - is_return);
}

static void name_copy(struct naming *n, struct process *proc, const struct sample *s)
{
	u64 ips[COPY_MOST];
	size_t count = stackcopy_unwind(&n->stacks, &n->machine, proc, s, ips, ARRAY_SIZE(ips));

	/* all but the first are those of calls: one before the return address */
	for (size_t i = 0; i < count; i++)
		name_address(n, proc, ADDRESS_USER, ips[i] + (i > 0), i > 0);
}

static void name_sample(struct naming *n, const struct record *r)
{
	const u64 copy = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	const struct sample *s = r->sample;
	struct process *proc = machine_process(&n->machine, (s32)s->pid);
	enum address_mode mode = machine_mode(r);
	bool first = true;

	machine_moment(&n->machine, proc, s);
	if (!n->first_time)
		n->first_time = s->time;
	n->last_time = MAX(n->last_time, s->time);
	for (u64 i = 0; s->type & PERF_SAMPLE_CALLCHAIN && i < s->n_ips; i++) {
		if (machine_context(s->ips[i], &mode)) {
			first = true;
			continue;
		}
		name_address(n, proc, mode, s->ips[i], !first);
		first = false;
	}
	if ((s->type & copy) == copy)
		name_copy(n, proc, s);
	if (!s->n_ips && s->type & PERF_SAMPLE_IP)
		name_address(n, proc, machine_mode(r), s->ip, false);
}

static int name_record(const struct record *r, void *naming)
{
	struct naming *n = naming;

	if (r->type == PERF_RECORD_SAMPLE)
		name_sample(n, r);
	else
		machine_record(&n->machine, r);
	return 0;
}

/* --- source lines -------------------------------------------------------------------------- */

/*
 * Debug information may be large, and the recorder waits: reading it may take this share of
 * the time that was recorded, judged by its size.
 */
enum { LINES_SHARE = 50, LINES_BYTES_PER_MS = 40 << 10, LINES_FREE_BYTES = 256 << 10 };

struct source_cost {
	u32 module;
	u64 bytes; /* of debug information */
};

static int cheaper(const void *a, const void *b)
{
	const struct source_cost *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? -1 : 1;
	return x->module < y->module ? -1 : x->module > y->module;
}

/* By module: whether its lines are to be read. */
static bool *affordable(struct naming *n, struct symbols *symbols)
{
	u32 count = symbols_module_count(symbols);
	u64 left = LINES_FREE_BYTES + (n->last_time - n->first_time) / LINES_SHARE / NSEC_PER_MSEC *
					      LINES_BYTES_PER_MS;
	bool *wanted = xcalloc((size_t)count + 1, sizeof(*wanted));
	VEC(struct source_cost) costs = { 0 };

	vec_each(a, &n->addresses)
		wanted[a->module] = true;
	for (u32 i = 1; i <= count; i++) {
		struct source_cost c = { .module = i };

		wanted[i] = wanted[i] && symbols_lines_cost(symbols, i, &c.bytes);
		if (wanted[i])
			vec_push(&costs, c);
	}
	wanted[0] = false;
	vec_sort(&costs, cheaper);
	vec_each(c, &costs) {
		if (c->bytes > left)
			symbols_lines_close(symbols, c->module);
		left -= MIN(c->bytes, left);
	}
	vec_release(&costs);
	return wanted;
}

/* A return address is looked up twice: as most show it, and as perf's text does. */
static void find_lines(struct naming *n, struct symbols *symbols)
{
	_cleanup_free_ bool *wanted = affordable(n, symbols);
	struct source_frame frames[SOURCE_MAX_FRAMES];

	vec_each(a, &n->addresses) {
		if (!wanted[a->module])
			continue;
		(void)symbols_lines(symbols, a->module, a->offset, frames, ARRAY_SIZE(frames));
		if (a->is_return)
			(void)symbols_lines(symbols, a->module, a->offset - 1, frames,
					    ARRAY_SIZE(frames));
	}
}

void profile_names_release(struct profile_names *n)
{
	buf_release(&n->names);
	buf_release(&n->code);
	buf_release(&n->lines);
}

int profile_export_names(const char *path, u64 wall_shift, struct profile_names *ret, struct err *e)
{
	const struct symbols_opts opts = { .ask_kernel = true, .keep_lines = true };
	struct symbols *symbols = symbols_new(&opts);
	struct naming *n = xcalloc(1, sizeof(*n));
	struct recording *rec = NULL;
	int r;

	machine_init(&n->machine, symbols);
	n->machine.wall_shift = wall_shift;
	r = recording_open(path, &rec, e);
	if (r >= 0)
		r = recording_replay(rec, name_record, n, e);
	if (r >= 0) {
		find_lines(n, symbols);
		symbols_export(symbols, &ret->names);
		symbols_code_export(symbols, &ret->code);
		symbols_lines_export(symbols, &ret->lines);
	}
	recording_free(rec);
	vec_release(&n->addresses);
	stackcopy_release(&n->stacks);
	machine_release(&n->machine);
	symbols_free(symbols);
	free(n);
	return r;
}

void profile_import_names(struct symbols *symbols, const struct recording *r)
{
	static const struct {
		u32 feature;
		int (*import)(struct symbols *s, const void *blob, size_t len, struct err *e);
	} sections[] = {
		{ FEATURE_NAMES, symbols_import },
		{ FEATURE_CODE, symbols_code_import },
		{ FEATURE_LINES, symbols_lines_import },
	};

	for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
		const struct recording_blob *blob =
			recording_info_blob(recording_info(r), sections[i].feature);

		if (blob)
			(void)sections[i].import(symbols, blob->data, blob->size, NULL);
	}
}
