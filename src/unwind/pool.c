/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/pool.h"

#include <bpf/bpf.h>
#include <pthread.h>
#include <sys/mman.h>

#include "base/clock.h"

enum {
	SLAB_ROWS = UNWIND_CHUNK_ROWS * UNWIND_SLAB_CHUNKS,
	SLAB_BYTES = SLAB_ROWS * 4,
	RULE_BYTES = UNWIND_MAX_RULES * (int)sizeof(struct unwind_rule),
};
#define LOOK_AGAIN_NS 20000

static u32 most_slabs(void)
{
	u64 memory = (u64)sysconf(_SC_PHYS_PAGES) * (u64)sysconf(_SC_PAGESIZE);
	u64 bytes = MIN(memory / 4, POOL_MOST_BYTES);

	return (u32)MIN(MAX(bytes / SLAB_BYTES, 1), (u64)UNWIND_MAX_SLABS);
}

/* Those that every table has. */
static void add_rules(struct pool *p)
{
	pool_rule_id(p, &(struct unwind_rule){ .cfa = UNWIND_CFA_END });
	pool_rule_id(p, &(struct unwind_rule){ .cfa = UNWIND_CFA_UNSUP });
}

int pool_init(struct pool *p, int pool_fd, int rules_fd, struct err *e)
{
	void *rules = mmap(NULL, RULE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, rules_fd, 0);

	if (rules == MAP_FAILED)
		return err_sys(e, errno, "cannot map the unwind rules");
	*p = (struct pool){ .fd = pool_fd, .rules = rules, .max_slabs = most_slabs() };
	add_rules(p);
	return 0;
}

bool pool_is_nearly_full(const struct pool *p)
{
	u64 most = (u64)p->max_slabs * SLAB_ROWS;

	return p->used > most - most / 4 || p->n_rules > UNWIND_MAX_RULES - UNWIND_MAX_RULES / 4;
}

void pool_clear(struct pool *p)
{
	p->used = 0;
	p->n_rules = 0;
	intern_release(&p->rule_ids);
	p->rule_ids = (struct intern){ 0 };
	add_rules(p);
}

/* A slab on its way into the map of slabs. */
struct pool_guest {
	pthread_t thread;
	int outer;
	int slab;
	u32 index;
	int code;      /* why it was refused, when it is done */
	bool threaded; /* to be joined */
	bool done;
};

static void *let_in(void *arg)
{
	struct pool_guest *g = arg;

	g->code = bpf_map_update_elem(g->outer, &g->index, &g->slab, BPF_ANY) ? errno : 0;
	close(g->slab);
	__atomic_store_n(&g->done, true, __ATOMIC_RELEASE);
	return NULL;
}

static bool is_done(const struct pool_guest *g)
{
	return __atomic_load_n(&g->done, __ATOMIC_ACQUIRE);
}

/* Forgets those that are done, or waits for all. */
static void dismiss_guests(struct pool *p, bool all)
{
	size_t kept = 0;

	vec_each(it, &p->guests) {
		struct pool_guest *g = *it;

		if (!all && !is_done(g)) {
			p->guests.items[kept++] = g;
			continue;
		}
		if (g->threaded)
			pthread_join(g->thread, NULL);
		free(g);
	}
	p->guests.len = kept;
}

/*
 * To put a map into a map of maps has to wait until no program uses what was there before:
 * tens of milliseconds, even if nothing was. A thread waits in our place; what it puts there is
 * seen long before it is let go. The descriptor becomes its own.
 */
static int let_slab_in(struct pool *p, u32 index, int fd, struct err *e)
{
	struct pool_guest *g = xcalloc(1, sizeof(*g));
	u32 id;

	*g = (struct pool_guest){ .outer = p->fd, .slab = fd, .index = index };
	dismiss_guests(p, false);
	vec_push(&p->guests, g);
	g->threaded = !pthread_create(&g->thread, NULL, let_in, g);
	if (!g->threaded)
		let_in(g);
	while (!is_done(g) && bpf_map_lookup_elem(p->fd, &index, &id))
		clock_sleep_ns(LOOK_AGAIN_NS);
	return is_done(g) && g->code ? err_sys(e, g->code, "cannot add memory for unwind tables")
				     : 0;
}

void pool_release(struct pool *p)
{
	dismiss_guests(p, true);
	vec_release(&p->guests);
	for (u32 i = 0; i < p->n_slabs; i++)
		munmap(p->slabs[i], SLAB_BYTES);
	munmap(p->rules, RULE_BYTES);
	intern_release(&p->rule_ids);
}

u64 pool_bytes(const struct pool *p)
{
	return (u64)p->n_slabs * SLAB_BYTES + RULE_BYTES;
}

u16 pool_rule_id(struct pool *p, const struct unwind_rule *r)
{
	u32 id = intern_find(&p->rule_ids, r, sizeof(*r));

	if (id)
		return (u16)(id - 1);
	if (p->n_rules == UNWIND_MAX_RULES)
		return UNWIND_RULE_UNSUP;
	id = intern_bytes(&p->rule_ids, r, sizeof(*r));
	p->rules[id - 1] = *r;
	p->n_rules++;
	return (u16)(id - 1);
}

static int add_slab(struct pool *p, struct err *e)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	u32 index = p->n_slabs;
	int rc;

	if (index == p->max_slabs)
		return err_set(e, ENOSPC, "the memory for unwind tables is used up");
	_cleanup_close_ int fd =
		bpf_map_create(BPF_MAP_TYPE_ARRAY, "unwind_slab", 4, sizeof(struct unwind_chunk),
			       UNWIND_SLAB_CHUNKS, &opts);
	if (fd < 0)
		return err_sys(e, errno, "cannot get memory for unwind tables");
	void *at = mmap(NULL, SLAB_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (at == MAP_FAILED)
		return err_sys(e, errno, "cannot map memory for unwind tables");
	rc = let_slab_in(p, index, TAKE_FD(fd), e);
	if (rc)
		munmap(at, SLAB_BYTES);
	else
		p->slabs[p->n_slabs++] = at;
	return rc;
}

u32 *pool_row(const struct pool *p, u32 at)
{
	return &p->slabs[at / SLAB_ROWS][at % SLAB_ROWS];
}

int pool_take(struct pool *p, u32 n, bool whole, u32 *ret, struct err *e)
{
	u32 at = ALIGN_UP(p->used, 2);

	if (whole && (at % UNWIND_CHUNK_ROWS) + n > UNWIND_CHUNK_ROWS)
		at = ALIGN_UP(at, UNWIND_CHUNK_ROWS);
	while ((u64)at + n > (u64)p->n_slabs * SLAB_ROWS) {
		int rc = add_slab(p, e);

		if (rc)
			return rc;
	}
	p->used = at + n;
	*ret = at;
	return 0;
}

struct unwind_page pool_page(const struct pool *p, u32 dir, u32 page)
{
	u64 entry = __atomic_load_n((u64 *)(void *)pool_row(p, dir + 2 * page), __ATOMIC_RELAXED);

	return (struct unwind_page){ .first = (u32)entry, .count = (u32)(entry >> 32) };
}

/* What it points to comes first: the kernel may be looking. */
void pool_set_page(const struct pool *p, u32 dir, u32 page, struct unwind_page to)
{
	__atomic_store_n((u64 *)(void *)pool_row(p, dir + 2 * page), (u64)to.count << 32 | to.first,
			 __ATOMIC_SEQ_CST);
}

const struct unwind_rule *pool_search(const struct pool *p, const struct unwind_bin *bin,
				      u64 offset)
{
	u64 page = offset >> UNWIND_PAGE_BITS;

	if (page >= bin->pages)
		return NULL;
	struct unwind_page at = pool_page(p, bin->dir, (u32)page);
	u32 n = at.count, low = offset & 0xffff;

	if (!n || n == UNWIND_PAGE_LATER)
		return NULL;
	const u32 *row = pool_row(p, at.first);

	while (n > 1) {
		u32 half = n / 2;

		row += row[half] >> 16 <= low ? half : 0;
		n -= half;
	}
	return &p->rules[*row & 0xffff];
}
