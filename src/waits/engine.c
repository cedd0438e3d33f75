/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/engine.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sys/epoll.h>
#include <sys/uio.h>

#include "base/clock.h"
#include "base/io.h"
#include "host/bpf_log.h"
#include "host/bpf_sys.h"
#include "host/machine.h"
#include "offcpu.skel.h"
#include "offcpu_raw.skel.h"
#include "unwind/checks.h"
#include "unwind/loader.h"
#include "waits/facts.h"
#include "waits/filters.h"
#include "waits/kept.h"
#include "waits/rows.h"
#include "unwind/rescue.h"

enum { SETTLE_US = 1000, SETTLE_SAME = 20 };
enum { RING_BYTES = 8 << 20, RING_MIN = 1 << 17, RING_MAX = 1 << 30 };
/* A reading ends after this even if more comes all the time: its caller has other things to do. */
#define READ_NS      (200 * NSEC_PER_MSEC)
#define ACCOUNTS_NS  (5 * NSEC_PER_SEC) /* they have to be there when this returns */
#define CLOCK_SOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"
#define OWN_ROUNDS   (1ull << 63) /* names are shared with a sampler, which counts its own */

struct waits_engine {
	struct offcpu_bpf *skel;
	struct waits_opts opts;
	struct ring_buffer *ring;
	int woken; /* readable when the kernel's part has woken us since the last reading */
	struct unwind_feed *feed;
	struct rescue rescue;
	VEC(struct bpf_link *) links;
	struct waits_kept stacks, wakers, chains;
	u64 turn;      /* of what is kept */
	u64 held_lost; /* when the last one ended */
	u64 stacks_dropped;
	u64 round;                  /* of waits_engine_read() */
	u64 ends[UNWIND_END_COUNT]; /* of rescued stacks */
	u64 read_until;             /* 0: waits_engine_read() takes all that is there */
	bool filtered;
	bool needs_waking; /* its program */
	bool raw;          /* the kernel does not describe its types */
	int rc;            /* of the callbacks, during waits_engine_read() */
};

/* --- loading ---------------------------------------------------------------------------------- */

/* The kernel can be configured not to sum up how long threads are in run queues. */
static bool delay_counts(void)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	const char *turns;

	if (io_read_file("/proc/self/schedstat", 4096, &text, NULL) < 0)
		return false;
	/* "run-time delay turns" */
	turns = strrchr(buf_str(&text), ' ');
	return turns && strtoull(turns, NULL, 10) > 0;
}

/*
 * Waits can be measured by the clocks of the run queues when nothing else is timed, and when these
 * clocks agree: they do as long as the kernel trusts the processor's own.
 */
static bool has_queue_clock(const struct waits_opts *opts)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (opts->send || opts->threads || opts->follow || opts->ran ||
	    io_read_file(CLOCK_SOURCE, 64, &text, NULL) < 0)
		return false;
	return streq(buf_str(&text), "tsc\n");
}

static int set_kernel_facts(struct waits_engine *o, struct err *e)
{
	struct waits_facts facts;
	int rc = waits_facts_find(&facts, e);

	if (rc < 0)
		return rc;
	o->skel->rodata->offcpu_options.preempt_distance = facts.preempt_distance;
	o->skel->rodata->offcpu_options.has_prev_state = facts.has_prev_state;
	o->skel->rodata->offcpu_options.has_cast = !o->raw && facts.word_type;
	o->skel->rodata->offcpu_options.word_type = facts.word_type;
	o->needs_waking = o->opts.wakers || o->opts.chains || !facts.has_delay || !delay_counts();
	o->skel->rodata->offcpu_options.by_delay = !o->needs_waking;
	o->skel->rodata->offcpu_options.queue_clock = !o->needs_waking &&
						      o->skel->rodata->offcpu_options.has_cast &&
						      has_queue_clock(&o->opts);
	bpf_program__set_autoload(o->skel->progs.offcpu_waking, o->needs_waking);
	return 0;
}

static bool given(const range_list *l)
{
	return l && l->len;
}

static void set_filters(struct waits_engine *o)
{
	const struct waits_opts *in = &o->opts;

	o->skel->rodata->offcpu_options.by_pid = given(in->pids) || given(in->tids) || in->follow;
	o->skel->rodata->offcpu_options.by_uid = in->n_uids > 0;
	o->skel->rodata->offcpu_options.by_comm = in->n_comms > 0;
	o->skel->rodata->offcpu_options.n_cgroups = (u32)in->n_cgroups;
	o->skel->rodata->offcpu_options.follow = in->follow;
	o->skel->rodata->offcpu_options.no_kthreads = in->no_kthreads;
	o->skel->rodata->offcpu_options.no_users = in->no_users;
	o->skel->rodata->offcpu_options.states = in->states;
	o->skel->rodata->offcpu_options.min_ns = in->min_ns;
	o->skel->rodata->offcpu_options.max_ns = in->max_ns;
	o->skel->rodata->offcpu_options.period = in->period;
	o->skel->rodata->offcpu_options.self = (u32)getpid();
}

static int set_options(struct waits_engine *o, struct err *e)
{
	const struct waits_opts *in = &o->opts;
	u64 ring = in->ring_bytes ? in->ring_bytes : RING_BYTES;
	u64 rows = in->rows ? in->rows : WAITS_ROWS;

	if (ring < RING_MIN || ring > RING_MAX || (ring & (ring - 1)))
		return err_set(e, EINVAL, "%llu bytes is not a valid ring size",
			       (unsigned long long)ring);
	if (rows > WAITS_ROWS_MOST)
		return err_set(e, EINVAL, "at most %d rows can be kept", WAITS_ROWS_MOST);
	if (in->n_cgroups > OFFCPU_CGROUPS)
		return err_set(e, E2BIG, "at most %d control groups can be named", OFFCPU_CGROUPS);
	set_filters(o);
	o->skel->rodata->offcpu_options.wake_bytes = (u32)(ring / 4);
	o->skel->rodata->offcpu_options.sleeper_stacks = !in->no_sleeper_stacks;
	o->skel->rodata->offcpu_options.runnable_stacks = !in->no_runnable_stacks;
	o->skel->rodata->offcpu_options.kernel_stacks = !in->no_kernel_stacks;
	o->skel->rodata->offcpu_options.user_stacks = !in->no_user_stacks;
	o->skel->rodata->offcpu_options.wakers = in->wakers || in->chains;
	o->skel->rodata->offcpu_options.chains = in->chains;
	o->skel->rodata->offcpu_options.entry = in->entry;
	o->skel->rodata->offcpu_options.bh = in->bh;
	o->skel->rodata->offcpu_options.receiver = in->receiver;
	for (int i = 0; i < OFFCPU_SENDERS; i++)
		o->skel->rodata->offcpu_options.senders[i] = in->senders[i];
	o->skel->rodata->offcpu_options.by_thread = in->by_thread;
	o->skel->rodata->offcpu_options.waker_pids = in->by_thread || in->waker_pids;
	o->skel->rodata->offcpu_options.send = in->send;
	o->skel->rodata->offcpu_options.threads = in->threads;
	o->skel->rodata->offcpu_options.ran = in->ran;
	o->skel->rodata->unwind_places = in->places;
	o->skel->rodata->offcpu_options.rescue = !in->no_user_stacks;
	loader_set_pidns(o->skel->rodata);
	unwind_checks_set(o->skel->rodata, in->walk_always);
	if (o->raw)
		bpf_map__set_max_entries(o->skel->maps.offcpu_tasks, machine_thread_room());
	bpf_program__set_autoload(o->skel->progs.offcpu_each, in->threads);
	o->skel->rodata->offcpu_options.sums = !in->send && !in->intervals;
	bpf_program__set_autoload(o->skel->progs.offcpu_settle, !in->send && !in->intervals);
	bpf_program__set_autoload(o->skel->progs.offcpu_fork, in->threads || in->follow);
	waits_rows_size(o->skel, in->send ? 1 : rows);
	bpf_map__set_max_entries(o->skel->maps.unwind_ring, (u32)ring);
	if (!in->ran)
		bpf_map__set_max_entries(o->skel->maps.offcpu_ran, 1);
	return set_kernel_facts(o, e);
}

LOADER_FORMS(offcpu)
LOADER_SAME(offcpu, rodata, offcpu_options);
LOADER_SAME(offcpu, rodata, unwind_pidns);
LOADER_SAME(offcpu, rodata, unwind_walk_always);
LOADER_SAME(offcpu, rodata, unwind_check_every);
LOADER_SAME(offcpu, bss, offcpu_sent);
LOADER_SAME(offcpu, bss, offcpu_half);
LOADER_SAME(offcpu, bss, offcpu_closing);
LOADER_SAME(offcpu, bss, unwind_epoch);

static int prepare(void *ctx, bool again, struct err *e)
{
	if (again)
		waits_facts_forget();
	return set_options(ctx, e);
}

static int load(struct waits_engine *o, struct err *e)
{
	const struct loader l = { LOADER_OF(offcpu),
				  .what = "off-CPU",
				  .needs = "it needs Linux 5.11 with BTF, or Linux 5.17",
				  .few_types = true,
				  .prepare = prepare,
				  .ctx = o };

	return loader_load(&l, &o->raw, &o->skel, e);
}

/* --- life ------------------------------------------------------------------------------------- */

static int on_record(void *ctx, void *data, size_t n);

/* By its edge: a ring that is never empty would keep us awake all the time. */
static int watch_ring(struct waits_engine *o, struct err *e)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };

	o->woken = epoll_create1(EPOLL_CLOEXEC);
	if (o->woken < 0 ||
	    epoll_ctl(o->woken, EPOLL_CTL_ADD, bpf_map__fd(o->skel->maps.unwind_ring), &event) < 0)
		return err_sys(e, errno, "cannot watch the ring");
	return 0;
}

static int make_ready(struct waits_engine *o, struct err *e)
{
	const struct loader_feed feed = {
		.epoch = &o->skel->bss->unwind_epoch,
		.python = o->opts.python,
		.later = true, /* what ends there is rescued */
	};
	int rc = waits_filters_fill(o->skel, &o->opts, e);

	if (!rc)
		rc = loader_feed(o->skel, &feed, &o->feed, e);
	if (rc)
		return rc;
	rescue_init(&o->rescue, o->feed);
	o->rescue.places = o->opts.places;
	rc = loader_ring(o->skel, on_record, o, &o->ring, e);
	return rc ? rc : watch_ring(o, e);
}

int waits_engine_new(struct waits_engine **ret, const struct waits_opts *opts, struct err *e)
{
	struct waits_engine *o = xcalloc(1, sizeof(*o));

	int rc;

	o->woken = -1;
	o->opts = *opts;
	rc = load(o, e);
	if (!rc)
		rc = make_ready(o, e);
	if (rc) {
		waits_engine_free(o);
		return rc;
	}
	*ret = o;
	return 0;
}

static void detach(struct waits_engine *o)
{
	vec_each(link, &o->links)
		bpf_link__destroy(*link);
	vec_clear(&o->links);
}

void waits_engine_free(struct waits_engine *o)
{
	if (!o)
		return;
	detach(o);
	vec_release(&o->links);
	cleanup_close(&o->woken);
	ring_buffer__free(o->ring);
	rescue_release(&o->rescue);
	unwind_feed_free(o->feed);
	if (o->skel)
		unwind_checks_log(bpf_map__fd(o->skel->maps.unwind_counters));
	loader_free(o->skel);
	waits_kept_release(&o->stacks);
	waits_kept_release(&o->wakers);
	waits_kept_release(&o->chains);
	free(o);
}

int waits_engine_add_pid(struct waits_engine *o, u32 pid, struct err *e)
{
	return waits_filters_add_pid(o->skel, pid, e);
}

void waits_engine_feed(struct waits_engine *o)
{
	const range_list *pids = o->opts.pids;

	if (o->opts.no_user_stacks)
		return;
	/* wakers may be anybody: tables that they need come when they are met */
	if (!given(pids) || given(o->opts.tids)) {
		unwind_feed_running(o->feed, false);
		return;
	}
	for (size_t i = 0; i < pids->len; i++) {
		for (u64 pid = pids->items[i].first; pid <= pids->items[i].last; pid++)
			unwind_feed_process(o->feed, (int)pid);
	}
}

static int attach(struct waits_engine *o, const struct bpf_program *prog, struct err *e)
{
	struct bpf_link *link = bpf_program__attach(prog);

	if (!link)
		return err_sys(e, errno, "cannot attach '%s'", bpf_program__name(prog));
	vec_push(&o->links, link);
	return 0;
}

/* Runs a program for all threads: an iterator, or one that goes from thread to thread itself. */
static int run_iterator(const struct waits_engine *o, const struct bpf_program *prog, struct err *e)
{
	u32 result;

	if (o->raw) {
		int rc = bpfsys_prog_run(bpf_program__fd(prog), NULL, 0, &result);

		return rc < 0 ? err_sys(e, rc, "cannot go through all threads") : 0;
	}
	struct bpf_link *link = bpf_program__attach_iter(prog, NULL);
	_cleanup_close_ int fd = link ? bpf_iter_create(bpf_link__fd(link)) : -1;
	char bytes[64];
	ssize_t n;

	if (fd < 0) {
		int rc = err_sys(e, errno, "cannot go through all threads");

		bpf_link__destroy(link);
		return rc;
	}
	do {
		n = read(fd, bytes, sizeof(bytes));
	} while (n > 0 || (n < 0 && errno == EAGAIN));
	bpf_link__destroy(link);
	return 0;
}

int waits_engine_start(struct waits_engine *o, struct err *e)
{
	libbpf_print_fn_t print = libbpf_set_print(bpf_log);
	int rc = 0;

	if (o->needs_waking)
		rc = attach(o, o->skel->progs.offcpu_waking, e);
	if (!rc && (o->opts.threads || o->opts.follow))
		rc = attach(o, o->skel->progs.offcpu_fork, e);
	if (!rc)
		rc = attach(o, o->skel->progs.offcpu_switch, e);
	if (!rc && o->opts.threads)
		rc = run_iterator(o, o->skel->progs.offcpu_each, e);
	libbpf_set_print(print);
	return rc;
}

static u64 read_count(const struct waits_engine *o, enum offcpu_count which)
{
	return bpfsys_map_sum(bpf_map__fd(o->skel->maps.offcpu_counters), which);
}

void waits_engine_settle(struct waits_engine *o)
{
	u64 last = 0;
	u32 same = 0;

	while (o->opts.threads && same < SETTLE_SAME) {
		u64 living =
			read_count(o, OFFCPU_COUNT_OPENED) - read_count(o, OFFCPU_COUNT_CLOSED);

		if (!living)
			break;
		same = living == last ? same + 1 : 0;
		last = living;
		usleep(SETTLE_US);
	}
}

void waits_engine_stop(struct waits_engine *o)
{
	detach(o);
	unwind_feed_watch(o->feed, true);
}

int waits_engine_fd(const struct waits_engine *o)
{
	return o->woken;
}

/* --- records ---------------------------------------------------------------------------------- */

static bool has_bare(const struct waits_stack *s)
{
	for (u32 i = 0; i < s->n_user; i++) {
		if (!unwind_is_place(s->user[i]))
			return true;
	}
	return false;
}

static void keep_stack(struct waits_engine *o, const struct waits_stack *in)
{
	size_t kernel = 8 * (size_t)in->n_kernel, user = 8 * (size_t)in->n_user;
	struct waits_stack *s;

	if (waits_kept_get(&o->stacks, in->id)) {
		waits_kept_hold(&o->stacks, in->id, o->turn);
		return;
	}
	if (o->stacks.items.len >= WAITS_STACKS_MOST) {
		o->stacks_dropped++;
		return;
	}
	unwind_feed_methods(o->feed, in->pid, in->user, in->n_user);
	s = waits_kept_put(&o->stacks, in->id, o->turn, NULL, sizeof(*in) + kernel + user);
	*s = *in;
	memcpy(s->ip, in->kernel, kernel);
	memcpy(s->ip + in->n_kernel, in->user, user);
	s->kernel = s->ip;
	s->user = s->ip + in->n_kernel;
	if (o->opts.places && o->opts.on_bare && has_bare(s))
		o->opts.on_bare(o->opts.ctx, s);
}

static bool name_python(struct waits_engine *o, const struct unwind_sample *in, u64 *to)
{
	const struct python_stack stack = { .whose = { .pid = in->pid,
						       .program = in->program,
						       .process = in->process,
						       .parent = in->parent,
						       .origin = in->origin,
						       .parent_pid = in->parent_pid },
					    .words = (const u64 *)in->ip + in->n_kernel,
					    .n = in->n_user,
					    .names = in->event };

	/* code may have been freed, and its address used again, since the stack before */
	o->round++;
	return python_names_replace(o->opts.python, unwind_feed_python(o->feed, in->python), &stack,
				    OWN_ROUNDS | o->round, to);
}

static void take_stack(struct waits_engine *o, const struct unwind_sample *in)
{
	u64 user[UNWIND_MAX_FRAMES];
	struct waits_stack s = {
		.id = in->addr,
		.kernel = (const u64 *)in->ip,
		.user = (const u64 *)in->ip + in->n_kernel,
		.n_kernel = in->n_kernel,
		.n_user = in->n_user,
		.pid = in->pid,
		.end = in->end,
	};

	if (in->python && o->opts.python && in->n_user <= ARRAY_SIZE(user)) {
		s.python = name_python(o, in, user);
		s.user = user;
	}
	keep_stack(o, &s);
}

static void on_stack(struct waits_engine *o, const struct unwind_sample *in, size_t n)
{
	if (n >= UNWIND_SAMPLE_HEADER &&
	    (n - UNWIND_SAMPLE_HEADER) / 8 >= (size_t)in->n_kernel + in->n_user)
		take_stack(o, in);
}

static void on_rescue(struct waits_engine *o, const struct unwind_rescue *in, size_t n)
{
	u64 ip[UNWIND_MAX_FRAMES];
	struct unwind_frames f = { .ip = ip, .max = UNWIND_MAX_FRAMES };

	if (n < sizeof(*in) || in->stack_bytes > sizeof(in->stack) ||
	    in->n_kernel > UNWIND_MAX_KERNEL)
		return;
	rescue_unwind(&o->rescue, in, &f);
	o->ends[f.end < UNWIND_END_COUNT ? f.end : 0]++;
	keep_stack(o, &(struct waits_stack){
			      .id = in->addr,
			      .kernel = (const u64 *)in->kernel,
			      .user = ip,
			      .n_kernel = in->n_kernel,
			      .n_user = (u32)f.n,
			      .pid = in->pid,
			      .end = f.end,
		      });
}

/* True: the thread is still where it was when its registers were taken. */
static bool still_sleeps(const struct offcpu_sleeper *in)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	char path[64], want[64];

	snprintf(path, sizeof(path), "/proc/%u/task/%u/syscall", in->pid, in->tid);
	if (io_read_file(path, 4096, &text, NULL) < 0)
		return false;
	/* "number arguments... sp pc"; a running one is only called that */
	snprintf(want, sizeof(want), " 0x%llx 0x%llx", (unsigned long long)in->regs[UNWIND_REG_SP],
		 (unsigned long long)in->regs[UNWIND_REG_IP]);
	return strstr(buf_str(&text), want) != NULL;
}

/* A thread that slept before us cannot be unwound in the kernel: its memory is not available there.
 */
static void on_sleeper(struct waits_engine *o, const struct offcpu_sleeper *in, size_t n)
{
	u64 ip[UNWIND_MAX_FRAMES];
	struct unwind_frames f = { .ip = ip, .max = UNWIND_MAX_FRAMES };
	struct waits_stack s = { .pid = in->pid, .user = ip };
	_cleanup_free_ struct unwind_rescue *r = NULL;
	struct iovec from, to;
	ssize_t got = 0;

	if (n < sizeof(*in) || in->n_kernel > OFFCPU_KERNEL_FRAMES)
		return;
	s.id = in->id;
	s.kernel = (const u64 *)in->kernel;
	s.n_kernel = in->n_kernel;
	r = xcalloc(1, sizeof(*r));
	from = (struct iovec){ (void *)(uintptr_t)in->regs[UNWIND_REG_SP], sizeof(r->stack) };
	to = (struct iovec){ r->stack, sizeof(r->stack) };
	if (still_sleeps(in))
		got = process_vm_readv((pid_t)in->pid, &to, 1, &from, 1, 0);
	if (got > 0 && still_sleeps(in)) {
		r->pid = in->pid;
		r->tid = in->tid;
		r->stack_bytes = (u32)got;
		memcpy(r->regs, in->regs, sizeof(r->regs));
		rescue_unwind(&o->rescue, r, &f);
		s.n_user = (u32)f.n;
		s.end = f.end;
	}
	keep_stack(o, &s);
}

static void on_chain(struct waits_engine *o, const struct offcpu_chain *in, size_t n)
{
	if (n < sizeof(*in) || in->n > OFFCPU_LINKS || o->chains.items.len >= WAITS_STACKS_MOST)
		return;
	waits_kept_put(&o->chains, in->id, o->turn, in, sizeof(*in));
}

static void on_waker(struct waits_engine *o, const struct offcpu_who *in, size_t n)
{
	if (n < sizeof(*in) || o->wakers.items.len >= WAITS_STACKS_MOST)
		return;
	waits_kept_put(&o->wakers, in->id, o->turn, in, sizeof(*in));
}

static void hold_waker(struct waits_engine *o, u64 id)
{
	const struct offcpu_who *who = waits_kept_get(&o->wakers, id);

	waits_kept_hold(&o->wakers, id, o->turn);
	if (who)
		waits_kept_hold(&o->stacks, who->stack, o->turn);
}

static void hold_links(struct waits_engine *o, const struct offcpu_link *links, u32 n)
{
	for (u32 i = 0; i < n; i++) {
		hold_waker(o, links[i].waker);
		waits_kept_hold(&o->stacks, links[i].sleep_stack, o->turn);
	}
}

static void on_held(struct waits_engine *o, const struct offcpu_held *in, size_t n)
{
	const struct offcpu_chain *chain;

	if (n < sizeof(*in))
		return;
	waits_kept_hold(&o->stacks, in->stack, o->turn);
	waits_kept_hold(&o->stacks, in->sleep_stack, o->turn);
	waits_kept_hold(&o->chains, in->chain, o->turn);
	hold_waker(o, in->chain);
	hold_links(o, in->links, OFFCPU_LINKS);
	chain = waits_kept_get(&o->chains, in->chain);
	if (chain)
		hold_links(o, chain->links, MIN(chain->n, (u32)OFFCPU_LINKS));
}

static int on_record(void *ctx, void *data, size_t n)
{
	struct waits_engine *o = ctx;
	u32 type = 0;
	int rc = 0;

	if (n >= sizeof(type))
		memcpy(&type, data, sizeof(type));
	switch (type) {
	case UNWIND_RECORD_NEED:
		if (n >= sizeof(struct unwind_need))
			unwind_feed_need(o->feed, data, NULL);
		break;
	case UNWIND_RECORD_RESCUE: on_rescue(o, data, n); break;
	case OFFCPU_RECORD_STACK: on_stack(o, data, n); break;
	case OFFCPU_RECORD_SLEEPER: on_sleeper(o, data, n); break;
	case OFFCPU_RECORD_WAKER: on_waker(o, data, n); break;
	case OFFCPU_RECORD_CHAIN: on_chain(o, data, n); break;
	case OFFCPU_RECORD_HELD: on_held(o, data, n); break;
	case OFFCPU_RECORD_WAIT:
		if (n >= sizeof(struct offcpu_wait) && o->opts.on_wait && o->rc >= 0)
			rc = o->opts.on_wait(o->opts.ctx, data);
		break;
	case OFFCPU_RECORD_THREAD:
		if (n >= sizeof(struct offcpu_thread) && o->opts.on_thread && o->rc >= 0)
			rc = o->opts.on_thread(o->opts.ctx, data);
		break;
	default: break;
	}
	if (rc < 0)
		o->rc = rc;
	return o->read_until && clock_mono_ns() >= o->read_until ? -ECANCELED : 0;
}

static int read_for(struct waits_engine *o, u64 ns)
{
	struct epoll_event event;
	int rc;

	o->rc = 0;
	o->round++;
	/* before what is read, so that what comes meanwhile wakes us again */
	(void)epoll_wait(o->woken, &event, 1, 0);
	/* with the programs detached nothing new comes */
	o->read_until = o->links.len ? clock_mono_ns() + ns : 0;
	rc = ring_buffer__consume(o->ring);
	unwind_feed_watch(o->feed, false);
	if (rc == -ECANCELED)
		rc = 0;
	return o->rc < 0 ? o->rc : rc;
}

int waits_engine_read(struct waits_engine *o)
{
	return read_for(o, READ_NS);
}

static int ask_accounts(struct waits_engine *o, enum offcpu_accounts how, struct err *e)
{
	int rc = 0;

	o->skel->bss->offcpu_closing = how;
	if (o->opts.threads)
		rc = run_iterator(o, o->skel->progs.offcpu_each, e);
	return rc ? rc : read_for(o, ACCOUNTS_NS);
}

int waits_engine_accounts(struct waits_engine *o, struct err *e)
{
	return ask_accounts(o, OFFCPU_ACCOUNTS_CLOSE, e);
}

int waits_engine_lives(struct waits_engine *o, struct err *e)
{
	return ask_accounts(o, OFFCPU_ACCOUNTS_COPY, e);
}

/* --- turns ------------------------------------------------------------------------------------ */

static u64 held_lost(const struct waits_engine *o)
{
	return bpfsys_map_sum(bpf_map__fd(o->skel->maps.offcpu_counters), OFFCPU_COUNT_HELD_LOST);
}

int waits_engine_turn(struct waits_engine *o, struct err *e)
{
	int rc;

	o->turn++;
	/* what it forgets here is sent again; words are written whole */
	for (u32 i = 0; i < OFFCPU_SENT; i++)
		__atomic_store_n(&o->skel->bss->offcpu_sent[i], 0, __ATOMIC_RELAXED);
	rc = run_iterator(o, o->skel->progs.offcpu_hold, e);
	return rc < 0 ? rc : MIN(waits_engine_read(o), 0);
}

void waits_engine_forget(struct waits_engine *o)
{
	u64 lost = held_lost(o);

	/* without knowing what threads still have, all stays */
	if (lost == o->held_lost) {
		waits_kept_forget(&o->stacks, o->turn);
		waits_kept_forget(&o->wakers, o->turn);
		waits_kept_forget(&o->chains, o->turn);
	}
	o->held_lost = lost;
}

/* --- sums ------------------------------------------------------------------------------------- */

int waits_engine_rows(struct waits_engine *o, waits_row_fn fn, void *ctx, struct err *e)
{
	int rc = 0;

	/* what threads have summed up for themselves comes at the end */
	if (o->skel->rodata->offcpu_options.sums && !o->links.len)
		rc = run_iterator(o, o->skel->progs.offcpu_settle, e);
	return rc < 0 ? rc : waits_rows_take(o->skel, fn, ctx, e);
}

int waits_engine_ran(struct waits_engine *o, waits_ran_fn fn, void *ctx)
{
	int fd = bpf_map__fd(o->skel->maps.offcpu_ran), rc = 0;
	struct offcpu_ran_key key, *before = NULL;
	struct offcpu_ran_value value;

	while (!rc && bpf_map_get_next_key(fd, before, &key) == 0) {
		if (bpf_map_lookup_elem(fd, &key, &value) == 0)
			rc = fn(ctx, &key, &value);
		before = &key;
	}
	return rc;
}

void waits_engine_unmark(struct waits_engine *o)
{
	map_each(slot, &o->stacks.items) {
		struct waits_stack *s = waits_kept_get(&o->stacks, slot->key);

		s->mark = 0;
	}
}

struct waits_stack *waits_engine_stack(const struct waits_engine *o, u64 id)
{
	return waits_kept_get(&o->stacks, id);
}

const struct offcpu_who *waits_engine_waker(const struct waits_engine *o, u64 id)
{
	return waits_kept_get(&o->wakers, id);
}

u32 waits_engine_chain(const struct waits_engine *o, u64 id,
		       struct offcpu_link ret[static OFFCPU_LINKS])
{
	const struct offcpu_chain *c = waits_kept_get(&o->chains, id);

	if (!o->opts.chains) {
		ret[0] = (struct offcpu_link){ .waker = id };
		return id != 0;
	}
	if (c)
		memcpy(ret, c->links, c->n * sizeof(*ret));
	return c ? c->n : 0;
}

/* --- numbers ---------------------------------------------------------------------------------- */

void waits_engine_stats(const struct waits_engine *o, struct waits_stats *ret)
{
	struct unwind_counts counts;

	unwind_counters_read(bpf_map__fd(o->skel->maps.unwind_counters), &counts);
	*ret = (struct waits_stats){
		.stacks = o->stacks.items.len,
		.chains = o->chains.items.len,
		.stacks_dropped = o->stacks_dropped,
		.rescues = counts.n[UNWIND_COUNT_RESCUES],
		.rescues_lost = counts.n[UNWIND_COUNT_RESCUES_LOST],
		.kernel_cut = counts.n[UNWIND_COUNT_KERNEL_CUT],
		.raw = o->raw,
		.partial_starts = o->raw && o->opts.threads,
		.no_irq_context = !o->skel->rodata->offcpu_options.preempt_distance,
	};
	for (u32 i = 0; i < OFFCPU_COUNTERS; i++)
		ret->counts[i] = bpfsys_map_sum(bpf_map__fd(o->skel->maps.offcpu_counters), i);
	for (u32 i = 0; i < UNWIND_END_COUNT; i++)
		ret->ends[i] = counts.n[i] + o->ends[i];
	ret->recognised = counts.n[UNWIND_COUNT_RECOGNISED];
	ret->checked = counts.n[UNWIND_COUNT_CHECKED];
	ret->misrecognised = counts.n[UNWIND_COUNT_MISRECOGNISED];
}

const struct numbered *waits_engine_files(const struct waits_engine *o)
{
	return unwind_feed_numbered(o->feed);
}

const struct code_names *waits_engine_code_names(const struct waits_engine *o)
{
	return unwind_feed_names(o->feed);
}

void waits_engine_note_map(struct waits_engine *o, int pid, const struct mapping *map)
{
	rescue_note_map(&o->rescue, pid, map);
}
