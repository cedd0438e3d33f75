/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/load.h"

#include "profile/accounts.h"
#include "profile/builder.h"
#include "profile/health.h"
#include "profile/names.h"
#include "waits/kinds.h"

struct loader {
	struct waits_load *load;
	const struct waits_load_opts *opts;
	struct builder builder;
	struct map by_seq; /* index of the wait + 1 */
};

static u32 stack_of(struct loader *l, const struct record *r)
{
	struct machine *m = &l->builder.machine;
	struct process *proc = machine_process(m, (s32)r->sample->pid);
	u32 stack;

	machine_moment(m, proc, r->sample);
	stack = builder_stack(&l->builder, r, proc);
	builder_count_stack(&l->builder, stack);
	return stack;
}

static struct wait *wait_of(struct loader *l, const struct wait_record *raw)
{
	u64 *at = map_at(&l->by_seq, raw->seq);

	if (!*at) {
		struct wait *w = vec_new(&l->load->waits);

		w->syscall = -1;
		w->count = 1;
		*at = l->load->waits.len;
		return w;
	}
	return &l->load->waits.items[*at - 1];
}

static void fill_wait(struct loader *l, struct wait *w, const struct record *r,
		      const struct wait_record *raw)
{
	const struct sample *s = r->sample;
	struct profile *p = &l->load->profile;
	u32 comm = machine_comm(&l->builder.machine, (s32)s->pid, (s32)s->tid);

	if (w->thread)
		return;
	w->thread =
		profile_get_thread(p, (s32)s->pid, l->opts->by_thread ? (s32)s->tid : 0,
				   profile_string(p, machine_str(&l->builder.machine, comm)), 0);
	w->stack = stack_of(l, r);
	w->time = s->time;
	w->state = raw->state;
	w->syscall = raw->syscall;
	w->flags = raw->flags;
	w->blocked = w->max_blocked = raw->blocked;
	w->runq = w->max_runq = raw->runq;
}

static void fill_link(struct loader *l, struct wait *w, const struct record *r,
		      const struct wait_record *raw)
{
	struct profile *p = &l->load->profile;
	struct wait_link *link = &w->links[raw->link];
	bool task = waker_is_task(raw->kind);
	char comm[OFFCPU_COMM + 1] = { 0 };

	if (raw->is_sleep) {
		link->sleep_stack = stack_of(l, r);
		return;
	}
	memcpy(comm, raw->comm, OFFCPU_COMM);
	link->stack = stack_of(l, r);
	if (!task)
		link->stack = wait_cut_interrupt(p, link->stack);
	link->pid = raw->pid;
	link->tid = l->opts->by_thread ? raw->tid : 0;
	link->kind = raw->kind;
	/* an interrupt has its name from the kernel's frames */
	link->comm = wait_waker_name(p, comm, link->stack, raw->kind);
	w->n_links = MAX(w->n_links, raw->link + 1);
	l->load->links++;
}

/* --- which ------------------------------------------------------------------------------------ */

static u32 state_bit(u32 state, u32 flags)
{
	if (flags & OFFCPU_PREEMPTED)
		return WAIT_IN_PREEMPTED;
	if (!state)
		return WAIT_IN_RUNNABLE;
	if (state & 0x400)
		return WAIT_IN_IDLE;
	return state & 2 ? WAIT_IN_DISK : state & 1 ? WAIT_IN_SLEEP : WAIT_IN_OTHER;
}

static bool comm_passes(struct loader *l, const struct sample *s)
{
	u32 comm = machine_comm(&l->builder.machine, (s32)s->pid, (s32)s->tid);

	for (size_t i = 0; i < l->opts->n_comms; i++) {
		if (streq(machine_str(&l->builder.machine, comm), l->opts->comms[i]))
			return true;
	}
	return !l->opts->n_comms;
}

/* By how it was, not by whose it is. */
static bool passes(const struct waits_load_opts *o, u32 state, u32 flags, u64 length)
{
	bool kthread = flags & OFFCPU_KTHREAD;

	if (o->whole && flags & (OFFCPU_UNKNOWN_START | OFFCPU_OPEN))
		return false;
	if (o->states && !(o->states & state_bit(state, flags)))
		return false;
	if (length < o->min_ns || (o->max_ns && length > o->max_ns))
		return false;
	return !(kthread ? o->no_kthreads : o->no_users);
}

/* Numbers of different kinds are or-ed, as in the kernel. */
static bool is_asked(struct loader *l, const struct sample *s)
{
	const struct waits_load_opts *o = l->opts;

	if ((o->pids->len || o->tids->len) && !ranges_contain(o->pids, s->pid) &&
	    !ranges_contain(o->tids, s->tid))
		return false;
	return comm_passes(l, s);
}

void waits_load_filter(struct profile *p, wait_list *waits, const struct waits_load_opts *opts)
{
	size_t n = 0;

	vec_each(w, waits) {
		if (!passes(opts, w->state, w->flags, w->max_blocked + w->max_runq))
			continue;
		if (opts->no_kernel_stacks)
			wait_cut_kernel(p, w);
		if (!opts->by_thread) {
			const struct profile_thread t = p->threads.items[w->thread];

			w->thread = profile_get_thread(p, t.pid, 0, t.comm, 0);
		}
		waits->items[n++] = *w;
	}
	waits->len = n;
}

bool waits_load_raw(const struct sample *s, struct wait_record *ret)
{
	struct wait_record raw;

	if (!(s->type & PERF_SAMPLE_RAW) || s->raw_size < sizeof(raw))
		return false;
	memcpy(&raw, s->raw, sizeof(raw));
	if (raw.magic != WAIT_RECORD_MAGIC || raw.event >= WAIT_EVENTS || raw.link >= OFFCPU_LINKS)
		return false;
	*ret = raw;
	return true;
}

static void on_sample(struct loader *l, const struct record *r)
{
	const struct sample *s = r->sample;
	struct wait_record raw;
	struct wait *w;

	if (!waits_load_raw(s, &raw))
		return;
	if (raw.event <= WAIT_EVENT_RUNQ &&
	    !(passes(l->opts, raw.state, raw.flags, raw.blocked + raw.runq) && is_asked(l, s)))
		return;
	w = wait_of(l, &raw);
	if (raw.event <= WAIT_EVENT_RUNQ)
		fill_wait(l, w, r, &raw);
	else
		fill_link(l, w, r, &raw);
}

static void take_time(struct waits_load *load, u64 time)
{
	if (!time)
		return;
	load->begin = load->begin ? MIN(load->begin, time) : time;
	load->end = MAX(load->end, time);
}

static int on_record(const struct record *r, void *ctx)
{
	struct loader *l = ctx;

	if (l->opts->tap)
		l->opts->tap(l->opts->tap_ctx, r);
	if (r->type == PERF_RECORD_SAMPLE) {
		take_time(l->load, r->time);
		on_sample(l, r);
	} else {
		builder_note(&l->builder, r);
	}
	return 0;
}

/* All samples have passed. A wait whose own sample was lost says nothing. */
static int finish(struct loader *l, struct err *e)
{
	wait_list *waits = &l->load->waits;
	struct wait_kinds *kinds = NULL;
	int rc = wait_kinds_new(&kinds, &l->load->profile, e);
	size_t n = 0;

	for (size_t i = 0; !rc && i < waits->len; i++) {
		struct wait *w = &waits->items[i];

		if (!w->thread)
			continue;
		wait_kinds_set(kinds, w);
		if (l->opts->no_kernel_stacks)
			wait_cut_kernel(&l->load->profile, w);
		waits->items[n++] = *w;
	}
	waits->len = n;
	wait_kinds_free(kinds);
	return rc;
}

/* How stacks were recognised; how they ended is known by the waits themselves. */
static void take_health(struct profile *p, const struct recording *r)
{
	const struct recording_blob *blob = recording_info_blob(recording_info(r), FEATURE_HEALTH);
	struct health h;

	if (!blob || health_unpack(&h, blob->data, blob->size) < 0)
		return;
	p->stacks_recognised = h.recognised;
	p->stacks_checked = h.checked;
	p->stacks_misrecognised = h.misrecognised;
	health_release(&h);
}

int waits_load_from(struct waits_load *l, struct recording *r, const struct waits_load_opts *opts,
		    struct err *e)
{
	const struct load_opts names = { .inlines = true, .no_user = opts->no_user_stacks };
	struct loader loader = { .load = l, .opts = opts };
	struct symbols *symbols;
	int rc;

	*l = (struct waits_load){ 0 };
	profile_init(&l->profile);
	symbols = symbols_new(NULL);
	builder_init(&loader.builder, &l->profile, r, symbols, &names);
	profile_import_names(symbols, r);
	rc = recording_replay(r, on_record, &loader, e);
	if (rc >= 0)
		rc = finish(&loader, e);
	profile_take_facts(&l->profile, r);
	take_health(&l->profile, r);
	l->profile.code_reused = symbols_several(symbols);
	accounts_take(&loader.builder.accounts, &l->profile, r);
	builder_release(&loader.builder);
	symbols_free(symbols);
	map_release(&loader.by_seq);
	return rc;
}

int waits_load(struct waits_load *l, const char *path, const struct waits_load_opts *opts,
	       struct err *e)
{
	struct recording *r = NULL;
	int rc = recording_open(path, &r, e);

	*l = (struct waits_load){ 0 };
	if (rc < 0)
		return rc;
	rc = waits_load_from(l, r, opts, e);
	recording_free(r);
	return rc;
}

void waits_load_release(struct waits_load *l)
{
	vec_release(&l->waits);
	profile_release(&l->profile);
}
