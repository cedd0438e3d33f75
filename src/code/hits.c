/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "code/hits.h"

#include "base/buf.h"
#include "base/hash.h"
#include "profile/filter.h"
#include "profile/names.h"

#include <fnmatch.h>

enum { FUNCTIONS_MOST = 1 << 22, HITS_MOST = 1 << 24 };

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static bool in_ranges(const range_list *l, u64 v)
{
	return !l || !l->len || ranges_contain(l, v);
}

static bool passes(struct hits *h, const struct sample *s)
{
	const struct hits_opts *o = h->opts;
	u64 base;

	if (!in_ranges(o->pids, s->pid) || !in_ranges(o->tids, s->tid) ||
	    !in_ranges(o->cpus, s->cpu))
		return false;
	if (!h->first_time)
		h->first_time = s->time;
	base = o->time_relative ? h->first_time : 0;
	if ((o->time_from && s->time < base + o->time_from) ||
	    (o->time_to && s->time > base + o->time_to))
		return false;
	return !o->comms ||
	       filter_name(o->comms, machine_str(&h->machine, machine_comm(&h->machine, (s32)s->pid,
									   (s32)s->tid)));
}

/* --- functions ------------------------------------------------------------------------------- */

static u64 size_of(struct hits *h, const struct place *p, const struct process *proc)
{
	struct symbol s;
	bool known = p->module ? symbols_lookup(h->symbols, p->module, p->address, &s)
		     : p->kind == PLACE_KERNEL ? symbols_kernel(h->symbols, p->address, &s, NULL)
					       : symbols_jit(h->symbols, proc->pid, 0, NULL,
							     p->address, proc->last_time, &s);

	return known && s.start == p->start ? s.size : 0;
}

static u32 function_of(struct hits *h, const struct place *p, const struct process *proc)
{
	u64 key = hash_mix(hash_mix(p->module, p->start), p->module ? 0 : (u64)(uintptr_t)p->name);
	u64 *id = map_at(&h->function_ids, key);

	if (*id)
		return (u32)*id - 1;
	if (h->functions.len >= FUNCTIONS_MOST)
		return UINT32_MAX;
	*id = h->functions.len + 1;
	vec_push(&h->functions, (struct hits_function){ .name = p->name,
							.dso = p->dso,
							.start = p->start,
							.size = size_of(h, p, proc),
							.module = p->module,
							.kind = p->kind,
							.pid = proc ? proc->pid : -1 });
	return (u32)*id - 1;
}

/* The hit of a place: found by the number that the place keeps for its user. */
static struct hit *hit_of(struct hits *h, struct place *p, const struct process *proc)
{
	u32 function;

	if (p->frame)
		return &h->hits.items[p->frame - 1];
	if (!p->name || !filter_name(h->opts->dsos, p->dso ? last_part(p->dso) : "[unknown]") ||
	    !filter_name(h->opts->symbols, p->name))
		return NULL;
	if (p->kind == PLACE_KERNEL ? h->opts->no_kernel : h->opts->no_user)
		return NULL;
	function = function_of(h, p, proc);
	if (function == UINT32_MAX || h->hits.len >= HITS_MOST)
		return NULL;
	vec_push(&h->hits, (struct hit){ .address = p->address, .function = function });
	p->frame = (u32)h->hits.len;
	return &h->hits.items[p->frame - 1];
}

static void on_sample(struct hits *h, const struct record *r, u32 event)
{
	const struct sample *s = r->sample;
	struct process *proc = machine_process(&h->machine, (s32)s->pid);
	struct hits_function *f;
	struct place *place;
	struct hit *hit;

	machine_moment(&h->machine, proc, s);
	place = machine_place(&h->machine, proc, machine_mode(r), s->ip, false);
	h->events[event].samples++;
	h->events[event].weight += s->period;
	hit = hit_of(h, place, proc);
	if (!hit) {
		h->nowhere++;
		return;
	}
	f = &h->functions.items[hit->function];
	f->time = s->time;
	f->samples[event]++;
	f->weight[event] += s->period;
	hit->samples[event]++;
	hit->weight[event] += s->period;
}

static int on_record(const struct record *r, void *ctx)
{
	struct hits *h = ctx;

	machine_record(&h->machine, r);
	if (!r->sample || r->event == RECORD_NO_EVENT || !passes(h, r->sample))
		return 0;
	if (r->event >= h->n_events)
		h->other_events++;
	else if (h->events[r->event].name)
		on_sample(h, r, r->event);
	return 0;
}

/* --- all of it ------------------------------------------------------------------------------- */

static void take_events(struct hits *h)
{
	h->n_events = MIN(recording_n_events(h->recording), (size_t)HITS_EVENTS_MOST);
	for (u32 i = 0; i < h->n_events; i++) {
		const struct recording_event *ev = recording_event(h->recording, i);
		struct hits_event *to = &h->events[i];

		if (h->opts->event && fnmatch(h->opts->event, ev->name, 0) != 0)
			continue;
		/* it has no samples by definition */
		if (ev->attr.type == PERF_TYPE_SOFTWARE && ev->attr.config == PERF_COUNT_SW_DUMMY)
			continue;
		to->name = xstrdup(ev->name);
		to->precise = ev->attr.precise_ip;
		to->clock = ev->attr.type == PERF_TYPE_SOFTWARE &&
			    (ev->attr.config == PERF_COUNT_SW_CPU_CLOCK ||
			     ev->attr.config == PERF_COUNT_SW_TASK_CLOCK);
		/* without a PMU the kernel ignores it, as does its clock */
		to->precise &= !to->clock;
	}
}

static u64 weight_of(const struct hits_function *f)
{
	u64 sum = 0;

	for (size_t i = 0; i < HITS_EVENTS_MOST; i++)
		sum += f->weight[i];
	return sum;
}

static int heavier(const void *a, const void *b, void *ctx)
{
	const struct hits *h = ctx;
	const struct hits_function *f = &h->functions.items[*(const u32 *)a],
				   *g = &h->functions.items[*(const u32 *)b];
	u64 x = weight_of(f), y = weight_of(g);

	if (x != y)
		return x > y ? -1 : 1;
	return f->start < g->start ? -1 : f->start > g->start;
}

static int earlier(const void *a, const void *b)
{
	const struct hit *x = a, *y = b;

	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	return x->address < y->address ? -1 : x->address > y->address;
}

static void sort(struct hits *h)
{
	size_t n = h->functions.len;
	_cleanup_free_ u32 *order = xcalloc(n + 1, sizeof(*order)),
			   *place = xcalloc(n + 1, sizeof(*place));
	_cleanup_free_ struct hits_function *copy = xcalloc(n + 1, sizeof(*copy));

	for (u32 i = 0; i < n; i++)
		order[i] = i;
	qsort_r(order, n, sizeof(*order), heavier, h);
	for (u32 i = 0; i < n; i++) {
		copy[i] = h->functions.items[order[i]];
		place[order[i]] = i;
	}
	if (n)
		memcpy(h->functions.items, copy, n * sizeof(*copy));
	vec_each(hit, &h->hits)
		hit->function = place[hit->function];
	qsort(h->hits.items, h->hits.len, sizeof(*h->hits.items), earlier);
}

int hits_load(struct hits *h, const char *path, const struct hits_opts *opts, struct err *e)
{
	const struct recording_info *info;
	int r;

	memset(h, 0, sizeof(*h));
	h->opts = opts;
	r = recording_open(path, &h->recording, e);
	if (r < 0)
		return r;
	h->symbols = symbols_new(NULL);
	machine_init(&h->machine, h->symbols);
	info = recording_info(h->recording);
	machine_build_ids(&h->machine, info);
	profile_import_names(h->symbols, h->recording);
	take_events(h);
	r = recording_replay(h->recording, on_record, h, e);
	if (r < 0)
		return r;
	buf_addstr(&h->arch, info->arch ? info->arch : "x86_64");
	sort(h);
	if (!h->functions.len)
		return err_set(e, ENODATA, "no sample in '%s' is in a function", path);
	return 0;
}

/* --- without a recording --------------------------------------------------------------------- */

void hits_init(struct hits *h, struct symbols *symbols, const char *event, const char *arch)
{
	static const struct hits_opts all;

	memset(h, 0, sizeof(*h));
	h->opts = &all;
	h->symbols = symbols;
	h->shared = true;
	h->n_events = 1;
	h->events[0].name = xstrdup(event);
	buf_addstr(&h->arch, arch);
}

void hits_add(struct hits *h, const struct place *p, const struct process *proc, u64 time,
	      u64 weight)
{
	struct hits_function *f;
	u32 function;
	u64 *id;

	h->events[0].samples++;
	h->events[0].weight += weight;
	function = p->name ? function_of(h, p, proc) : UINT32_MAX;
	if (function == UINT32_MAX || h->hits.len >= HITS_MOST) {
		h->nowhere++;
		return;
	}
	id = map_at(&h->hit_ids, hash_mix(function, p->address));
	if (!*id) {
		vec_push(&h->hits, (struct hit){ .address = p->address, .function = function });
		*id = h->hits.len;
	}
	f = &h->functions.items[function];
	f->time = time;
	f->samples[0]++;
	f->weight[0] += weight;
	h->hits.items[*id - 1].samples[0]++;
	h->hits.items[*id - 1].weight[0] += weight;
}

void hits_finish(struct hits *h)
{
	sort(h);
}

void hits_release(struct hits *h)
{
	if (h->symbols && !h->shared) {
		machine_release(&h->machine);
		symbols_free(h->symbols);
	}
	recording_free(h->recording);
	for (size_t i = 0; i < HITS_EVENTS_MOST; i++)
		free(h->events[i].name);
	vec_release(&h->hits);
	vec_release(&h->functions);
	map_release(&h->function_ids);
	map_release(&h->hit_ids);
	buf_release(&h->arch);
}

const struct hit *hits_of(const struct hits *h, u32 function, size_t *ret_n)
{
	size_t low = 0, high = h->hits.len, end;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (h->hits.items[mid].function < function)
			low = mid + 1;
		else
			high = mid;
	}
	for (end = low; end < h->hits.len && h->hits.items[end].function == function;)
		end++;
	*ret_n = end - low;
	return h->hits.items + low;
}

/* "f", also for "f.isra.0" and "f(int)". */
static bool is_called(const char *name, const char *wanted)
{
	size_t n = strlen(wanted);

	return strncmp(name, wanted, n) == 0 &&
	       (name[n] == '.' || name[n] == '(' || name[n] == '@');
}

const struct hits_function *hits_find(const struct hits *h, const char *name)
{
	vec_each(f, &h->functions)
		if (streq(f->name, name))
			return f;
	vec_each(f, &h->functions)
		if (is_called(f->name, name))
			return f;
	return NULL;
}
