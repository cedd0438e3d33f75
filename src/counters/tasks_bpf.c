/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "counters/tasks_state.h"

#include "base/clock.h"
#include "host/bpf_log.h"
#include "host/bpf_sys.h"
#include "host/kernel_types.h"
#include "host/procfs.h"
#include "tasks.skel.h"

enum {
	ITER_PIECE = 256 << 10,
	RING_WAKE = 2 << 20,
	SLEEPERS_MOST = 1 << 16, /* tasks that ever slept for a disk and live */
	METER_TRIES = 8,
};

struct by_bpf {
	struct tasks_bpf *skel;
	struct bpf_link *iter;
	struct ring_buffer *ring;
	char *piece;
	struct tasks_meter *meters; /* of each CPU; NULL: not asked for */
	bool *had_task;             /* the CPU, at the first sweep */
	int n_cpus;
};

static void end_of(struct tasks *t, const struct tasks_record *r)
{
	struct task *task = tasks_find(t, r, false);

	/* one that ended before we looked for the first time */
	if (!task)
		return;
	memcpy(task->now.r.figures, r->figures, sizeof(r->figures));
	task->ended = task->gone = true;
}

static int on_record(void *ctx, void *data, size_t size)
{
	const struct tasks_record *r = data;
	struct tasks *t = ctx;

	if (size >= sizeof(struct tasks_thread) && r->kind == TASKS_EXIT) {
		struct task *task;

		tasks_take(t, data);
		task = tasks_find(t, r, false);
		if (task)
			task->ended = true;
	} else if (size >= sizeof(*r) && r->kind == TASKS_FREE) {
		end_of(t, r);
	}
	return 0;
}

static void drain(struct tasks *t)
{
	const struct by_bpf *b = t->state;
	int counts = bpf_map__fd(b->skel->maps.tasks_counts);

	ring_buffer__consume(b->ring);
	t->lost = bpfsys_map_sum(counts, TASKS_LOST);
	t->lost_exec = bpfsys_map_sum(counts, TASKS_LOST_EXEC);
	t->no_room = bpfsys_map_sum(counts, TASKS_NO_ROOM);
}

/* A CPU may switch while its figures are copied: then they are copied once more. */
static int read_meters(const struct by_bpf *b)
{
	size_t bytes = (size_t)b->n_cpus * sizeof(*b->meters);
	_cleanup_free_ struct tasks_meter *again = xmalloc(bytes);
	int fd = bpf_map__fd(b->skel->maps.tasks_meters), r;
	u32 zero = 0;

	r = bpfsys_map_lookup(fd, &zero, b->meters);
	for (int try = 0; !r && try < METER_TRIES; try++) {
		bool same = true;

		r = bpfsys_map_lookup(fd, &zero, again);
		for (int i = 0; !r && i < b->n_cpus; i++) {
			bool settled = again[i].sequence == b->meters[i].sequence;

			same &= settled && again[i].sequence % 2 == 0;
			if (!settled)
				b->meters[i] = again[i];
		}
		if (same)
			break;
	}
	return r;
}

/* Up to now; the slices that still run are added. */
static void read_busy(struct tasks *t)
{
	const struct by_bpf *b = t->state;
	u64 begin = b->skel->bss->tasks_begin, now;
	struct tasks_meter sum = { 0 };

	if (!b->meters || read_meters(b) < 0)
		return;
	now = clock_mono_ns();
	for (int i = 0; i < b->n_cpus; i++) {
		const struct tasks_meter *m = &b->meters[i];
		u64 since = m->since ? m->since : begin;
		bool idle = m->since ? m->idle : !b->had_task[i];
		u64 slice = !idle && now > since ? now - since : 0;

		sum.busy += m->busy + slice;
		sum.charged += m->charged + slice;
		sum.leaving += m->leaving;
		sum.flags |= m->flags;
	}
	t->meter = sum;
}

/* Threads that were gone before we looked for the first time belong to their process. */
static void add_group(struct tasks *t, const struct tasks_record *r)
{
	struct task *leader = tasks_find(t, r, false);

	if (!leader || r->kind != TASKS_GROUP)
		return;
	for (u32 i = 0; i < TASK_FIGURES; i++)
		leader->group[i] = r->figures[i];
}

static void take_thread(struct tasks *t, const struct tasks_thread *seen)
{
	const struct by_bpf *b = t->state;

	if (t->sweeps == 1 && b->had_task && seen->r.running && seen->cpu < (u32)b->n_cpus)
		b->had_task[seen->cpu] = true;
	tasks_take(t, seen);
}

/* Records of an iterator: a piece of them may end in the middle of one. */
static size_t take_piece(struct tasks *t, const char *at, size_t n)
{
	size_t used = 0;

	while (n - used >= sizeof(struct tasks_record)) {
		const struct tasks_record *r = (const void *)(at + used);
		size_t size = r->kind == TASKS_THREAD ? sizeof(struct tasks_thread) : sizeof(*r);

		if (n - used < size)
			break;
		if (r->kind == TASKS_THREAD)
			take_thread(t, (const void *)r);
		else if (t->sweeps == 1)
			add_group(t, r);
		used += size;
	}
	return used;
}

static int sweep(struct tasks *t)
{
	const struct by_bpf *b = t->state;
	_cleanup_close_ int fd = bpfsys_iter_create(bpf_link__fd(b->iter));
	size_t kept = 0;

	if (fd < 0)
		return fd;
	b->skel->bss->tasks_groups = t->sweeps == 1;
	for (;;) {
		ssize_t n = read(fd, b->piece + kept, ITER_PIECE - kept);
		size_t used;

		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		used = take_piece(t, b->piece, kept + (size_t)n);
		kept = kept + (size_t)n - used;
		memmove(b->piece, b->piece + used, kept);
	}
	read_busy(t);
	return 0;
}

static void release(struct tasks *t)
{
	struct by_bpf *b = t->state;

	if (!b)
		return;
	ring_buffer__free(b->ring);
	bpf_link__destroy(b->iter);
	tasks_bpf__destroy(b->skel);
	free(b->piece);
	free(b->meters);
	free(b->had_task);
	free(b);
	t->state = NULL;
}

static const struct tasks_source by_bpf = { sweep, drain, release };

/* How many pid namespaces are above ours. */
static u32 namespace_level(void)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	const char *at;
	u32 n = 0;

	if (procfs_read((u32)getpid(), 0, "status", 1 << 16, &text, NULL) < 0)
		return 0;
	at = strstr(buf_str(&text), "NSpid:");
	if (!at)
		return 0;
	for (at += 6; *at && *at != '\n'; at++)
		n += (*at == '\t' || *at == ' ') && at[1] >= '0' && at[1] <= '9';
	return n ? n - 1 : 0;
}

/* What is not asked for is not loaded. */
static void choose(const struct tasks *t, struct by_bpf *b)
{
	bool disk = t->options.disk, meter = t->options.meter;

	b->skel->rodata->tasks_disk = disk;
	bpf_program__set_autoload(b->skel->progs.tasks_switch, meter || disk);
	bpf_program__set_autoload(b->skel->progs.tasks_waking, disk);
	if (disk)
		bpf_map__set_max_entries(b->skel->maps.tasks_sleeps, SLEEPERS_MOST);
	b->n_cpus = libbpf_num_possible_cpus();
	if (!meter || b->n_cpus <= 0)
		return;
	b->meters = xcalloc((size_t)b->n_cpus, sizeof(*b->meters));
	b->had_task = xcalloc((size_t)b->n_cpus, sizeof(*b->had_task));
}

/* The wakeups first: a sleep whose end is not seen would last forever. */
static bool attach_switches(const struct tasks *t, struct by_bpf *b)
{
	struct tasks_bpf *s = b->skel;

	b->skel->bss->tasks_begin = clock_mono_ns();
	if (t->options.disk) {
		s->links.tasks_waking = bpf_program__attach(s->progs.tasks_waking);
		if (!s->links.tasks_waking)
			return false;
	}
	if (t->options.disk || t->options.meter)
		s->links.tasks_switch = bpf_program__attach(s->progs.tasks_switch);
	return s->links.tasks_switch || !(t->options.disk || t->options.meter);
}

static int open_all(struct tasks *t, struct by_bpf *b)
{
	int r;

	b->skel = tasks_bpf__open();
	if (!b->skel)
		return -errno;
	b->skel->rodata->tasks_level = namespace_level();
	b->skel->rodata->tasks_wake = RING_WAKE;
	choose(t, b);
	r = tasks_bpf__load(b->skel);
	if (r)
		return r;
	/* the ends first: a task that ends after it was listed must not be missed */
	b->skel->links.tasks_exit = bpf_program__attach(b->skel->progs.tasks_exit);
	b->skel->links.tasks_free = bpf_program__attach(b->skel->progs.tasks_free);
	b->iter = bpf_program__attach_iter(b->skel->progs.tasks_each, NULL);
	b->ring = ring_buffer__new(bpf_map__fd(b->skel->maps.tasks_ring), on_record, t, NULL);
	if (!attach_switches(t, b) || !b->skel->links.tasks_exit || !b->skel->links.tasks_free ||
	    !b->iter || !b->ring)
		return errno ? -errno : -EOPNOTSUPP;
	b->piece = xmalloc(ITER_PIECE);
	t->fd = ring_buffer__epoll_fd(b->ring);
	return 0;
}

int tasks_open_bpf(struct tasks *t, struct err *e)
{
	libbpf_print_fn_t print;
	struct by_bpf *b;
	int r;

	if (!kernel_types_own())
		return err_set(e, EOPNOTSUPP, "this kernel does not describe its types");
	b = xcalloc(1, sizeof(*b));
	t->state = b;
	print = libbpf_set_print(bpf_log);
	r = open_all(t, b);
	libbpf_set_print(print);
	if (r < 0) {
		release(t);
		t->fd = -1;
		return err_sys(e, -r, "cannot load the task programs");
	}
	t->source = &by_bpf;
	return 0;
}
