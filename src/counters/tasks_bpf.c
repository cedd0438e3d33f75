/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "counters/tasks_state.h"

#include "host/bpf_log.h"
#include "host/bpf_sys.h"
#include "host/kernel_types.h"
#include "host/procfs.h"
#include "tasks.skel.h"

enum { ITER_PIECE = 256 << 10, RING_WAKE = 2 << 20 };

struct by_bpf {
	struct tasks_bpf *skel;
	struct bpf_link *iter;
	struct ring_buffer *ring;
	char *piece;
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
			tasks_take(t, (const void *)r);
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
	for (;;) {
		ssize_t n = read(fd, b->piece + kept, ITER_PIECE - kept);
		size_t used;

		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0)
			return n < 0 ? -errno : 0;
		used = take_piece(t, b->piece, kept + (size_t)n);
		kept = kept + (size_t)n - used;
		memmove(b->piece, b->piece + used, kept);
	}
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
	free(b);
	t->state = NULL;
}

static const struct tasks_source by_bpf = { sweep, drain, release };

/* How many pid namespaces lie above ours. */
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

static int open_all(struct tasks *t, struct by_bpf *b)
{
	int r;

	b->skel = tasks_bpf__open();
	if (!b->skel)
		return -errno;
	b->skel->rodata->tasks_level = namespace_level();
	b->skel->rodata->tasks_wake = RING_WAKE;
	r = tasks_bpf__load(b->skel);
	if (r)
		return r;
	/* the ends first: a task that ends after it was listed must not be missed */
	b->skel->links.tasks_exit = bpf_program__attach(b->skel->progs.tasks_exit);
	b->skel->links.tasks_free = bpf_program__attach(b->skel->progs.tasks_free);
	b->iter = bpf_program__attach_iter(b->skel->progs.tasks_each, NULL);
	b->ring = ring_buffer__new(bpf_map__fd(b->skel->maps.tasks_ring), on_record, t, NULL);
	if (!b->skel->links.tasks_exit || !b->skel->links.tasks_free || !b->iter || !b->ring)
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
