/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "syscalls/engine.h"

#include "base/clock.h"
#include "host/bpf_log.h"
#include "host/bpf_sys.h"
#include "host/kernel_types.h"
#include "host/machine.h"
#include "syscalls.skel.h"

#include <fcntl.h>
#include <linux/perf_event.h>

enum { SUMS_MOST = 1 << 16, RING_DEFAULT = 8 << 20, RING_WAKE = 64 << 10, TAKEN_MOST = 1 << 14 };

struct syscalls {
	struct syscalls_opts opts;
	struct syscalls_bpf *skel;
	struct ring_buffer *ring;
	struct call_stacks *stacks;
	u32 taken; /* records of one syscalls_read() */
	VEC(struct bpf_link *) faults;
};

static void detach_faults(struct syscalls *s)
{
	vec_each(link, &s->faults)
		bpf_link__destroy(*link);
	vec_release(&s->faults);
}

void syscalls_free(struct syscalls *s)
{
	if (!s)
		return;
	ring_buffer__free(s->ring);
	detach_faults(s);
	call_stacks_free(s->stacks);
	syscalls_bpf__destroy(s->skel);
	free(s);
}

static int on_record(void *ctx, void *data, size_t size)
{
	struct syscalls *s = ctx;
	struct decoded d;
	int r = decode_open(data, size, &d) ? s->opts.on_call(s->opts.ctx, &d) : 0;

	return r >= 0 && ++s->taken == TAKEN_MOST ? -EAGAIN : r;
}

static int add_groups(struct syscalls *s, struct err *e)
{
	int map = bpf_map__fd(s->skel->maps.syscalls_groups);

	for (u32 i = 0; i < s->opts.n_groups; i++) {
		_cleanup_close_ int fd =
			open(s->opts.groups[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		int r = fd < 0 ? -errno : bpfsys_map_update(map, &i, &fd, 0);

		if (r < 0)
			return err_sys(e, -r, "cannot watch the control group '%s'",
				       s->opts.groups[i]);
	}
	return 0;
}

static int add_calls(struct syscalls *s, const struct syscall_table *table, struct err *e)
{
	int map = bpf_map__fd(s->skel->maps.syscalls_calls);

	for (u32 nr = 0; nr < SYSCALLS_MOST; nr++) {
		struct syscalls_call call = syscall_taken(&table->calls[nr]);
		int r;

		if (s->opts.wanted && !s->opts.wanted[nr])
			continue;
		if (s->opts.filter)
			syscall_filter_places(s->opts.filter, &table->calls[nr], call.named);
		r = bpfsys_map_update(map, &nr, &call, 0);
		if (r < 0)
			return err_sys(e, -r, "cannot set up the table of calls");
	}
	return 0;
}

int syscalls_add_pid(struct syscalls *s, u32 pid, bool from_exec, struct err *e)
{
	u8 state = from_exec ? SYSCALLS_FROM_EXEC : SYSCALLS_NOW;
	int r = bpfsys_map_update(bpf_map__fd(s->skel->maps.syscalls_pids), &pid, &state, 0);

	return r < 0 ? err_sys(e, -r, "cannot add process %u to the filter", pid) : 0;
}

static int add_pids(struct syscalls *s, struct err *e)
{
	int r = 0;

	if (!s->opts.pids)
		return 0;
	vec_each(range, s->opts.pids)
		for (u64 pid = range->first; !r && pid <= range->last; pid++)
			r = syscalls_add_pid(s, (u32)pid, false, e);
	return r;
}

static void set_up(struct syscalls *s)
{
	const struct syscalls_opts *o = &s->opts;
	struct syscalls_bpf *k = s->skel;
	u32 ring = o->ring_bytes ? o->ring_bytes : RING_DEFAULT;

	k->rodata->syscalls_all = !o->chosen && !(o->pids && o->pids->len);
	k->rodata->syscalls_own = (u32)getpid();
	k->rodata->syscalls_n_groups = (u32)o->n_groups;
	k->rodata->syscalls_sums = o->sums;
	k->rodata->syscalls_min = o->min_ns;
	k->rodata->syscalls_failed = o->failed;
	k->rodata->syscalls_wake = RING_WAKE;
	k->rodata->syscalls_stacks = o->stacks;
	if (o->filter) {
		k->rodata->syscalls_n_rows = o->filter->n;
		k->rodata->syscalls_row_args = o->filter->args;
		memcpy((void *)k->rodata->syscalls_rows, o->filter->rows, sizeof(o->filter->rows));
	}
	bpf_program__set_autoload(k->progs.syscalls_fork, o->follow);
	bpf_program__set_autoload(k->progs.syscalls_leave, o->stacks);
	bpf_program__set_autoload(k->progs.syscalls_major, o->major);
	bpf_program__set_autoload(k->progs.syscalls_minor, o->minor);
	if (o->sums)
		bpf_map__set_max_entries(k->maps.syscalls_table, SUMS_MOST);
	else
		bpf_map__set_max_entries(k->maps.syscalls_ring, ring);
}

static int load(struct syscalls *s, const struct syscall_table *table, struct err *e)
{
	libbpf_print_fn_t print;
	int r;

	s->skel = syscalls_bpf__open();
	if (!s->skel)
		return err_sys(e, errno, "cannot open the programs for system calls");
	set_up(s);
	print = libbpf_set_print(bpf_log);
	r = syscalls_bpf__load(s->skel);
	libbpf_set_print(print);
	if (r < 0) {
		err_sys(e, -r, "cannot load the programs for system calls");
		if (r == -EPERM || r == -EACCES)
			err_hint(e, "run as root or with CAP_BPF and CAP_PERFMON");
		return r;
	}
	r = add_groups(s, e);
	if (!r)
		r = add_calls(s, table, e);
	if (!r)
		r = add_pids(s, e);
	if (!r && s->opts.stacks)
		r = call_stacks_new(&s->stacks, bpf_map__fd(s->skel->maps.syscalls_pending), e);
	if (r || s->opts.sums)
		return r;
	s->ring = ring_buffer__new(bpf_map__fd(s->skel->maps.syscalls_ring), on_record, s, NULL);
	return s->ring ? 0 : err_sys(e, errno, "cannot map the ring of system calls");
}

int syscalls_new(struct syscalls **ret, const struct syscalls_opts *o,
		 const struct syscall_table *table, struct err *e)
{
	struct syscalls *s;
	int r;

	if (!kernel_types_own()) {
		err_set(e, EOPNOTSUPP, "this kernel does not describe its types");
		err_hint(e, "it needs CONFIG_DEBUG_INFO_BTF; strace(1) works without");
		return -EOPNOTSUPP;
	}
	if (o->n_groups > SYSCALLS_GROUPS)
		return err_set(e, E2BIG, "more than %d control groups", SYSCALLS_GROUPS);
	s = xcalloc(1, sizeof(*s));
	s->opts = *o;
	r = load(s, table, e);
	if (r < 0) {
		syscalls_free(s);
		return r;
	}
	*ret = s;
	return 0;
}

static int attach_fault(struct syscalls *s, const struct bpf_program *prog, u64 config, int cpu,
			struct err *e)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = config,
		.sample_period = 1,
	};
	int fd = perfsys_open(&attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	struct bpf_link *link;

	if (fd < 0)
		return err_sys(e, -fd, "cannot count page faults of CPU %d", cpu);
	link = bpf_program__attach_perf_event(prog, fd);
	if (!link) {
		int r = err_sys(e, errno, "cannot attach to page faults of CPU %d", cpu);

		close(fd);
		return r;
	}
	vec_push(&s->faults, link);
	return 0;
}

static int attach_faults(struct syscalls *s, struct err *e)
{
	const struct syscalls_bpf *k = s->skel;
	range_list cpus = { 0 };
	int r = s->opts.major || s->opts.minor ? machine_online(&cpus, e) : 0;

	vec_each(range, &cpus)
		for (u64 cpu = range->first; r >= 0 && cpu <= range->last; cpu++) {
			if (s->opts.major)
				r = attach_fault(s, k->progs.syscalls_major,
						 PERF_COUNT_SW_PAGE_FAULTS_MAJ, (int)cpu, e);
			if (r >= 0 && s->opts.minor)
				r = attach_fault(s, k->progs.syscalls_minor,
						 PERF_COUNT_SW_PAGE_FAULTS_MIN, (int)cpu, e);
		}
	vec_release(&cpus);
	return r < 0 ? r : 0;
}

/* Programs run in the order in which they were attached. */
static int start_stacks(struct syscalls *s, struct err *e)
{
	struct syscalls_bpf *k = s->skel;
	int r = call_stacks_attach(s->stacks, e);

	if (r)
		return r;
	k->links.syscalls_leave = bpf_program__attach(k->progs.syscalls_leave);
	return k->links.syscalls_leave ? 0 : err_sys(e, errno, "cannot attach to system calls");
}

int syscalls_start(struct syscalls *s, struct err *e)
{
	struct syscalls_bpf *k = s->skel;
	int r = attach_faults(s, e);

	if (r)
		return r;

	if (s->opts.follow) {
		k->links.syscalls_fork = bpf_program__attach(k->progs.syscalls_fork);
		if (!k->links.syscalls_fork)
			return err_sys(e, errno, "cannot attach to forks");
	}
	/* the end first: a call that begins now must not stay open */
	k->links.syscalls_exit = bpf_program__attach(k->progs.syscalls_exit);
	k->links.syscalls_enter =
		k->links.syscalls_exit ? bpf_program__attach(k->progs.syscalls_enter) : NULL;
	if (!k->links.syscalls_enter)
		return err_sys(e, errno, "cannot attach to system calls");
	return s->stacks ? start_stacks(s, e) : 0;
}

void syscalls_stop(struct syscalls *s)
{
	struct syscalls_bpf *k = s->skel;

	detach_faults(s);
	call_stacks_detach(s->stacks);
	bpf_link__destroy(k->links.syscalls_enter);
	bpf_link__destroy(k->links.syscalls_leave);
	bpf_link__destroy(k->links.syscalls_exit);
	bpf_link__destroy(k->links.syscalls_fork);
	k->links.syscalls_enter = k->links.syscalls_exit = k->links.syscalls_fork = NULL;
	k->links.syscalls_leave = NULL;
}

struct call_stacks *syscalls_stacks(const struct syscalls *s)
{
	return s->stacks;
}

int syscalls_fd(const struct syscalls *s)
{
	return s->ring ? ring_buffer__epoll_fd(s->ring) : -1;
}

int syscalls_read(struct syscalls *s)
{
	int r;

	s->taken = 0;
	r = s->ring ? ring_buffer__consume(s->ring) : 0;
	if (r == -EAGAIN && s->taken == TAKEN_MOST)
		return 1;
	return r < 0 ? r : 0;
}

void syscalls_sums(struct syscalls *s, syscalls_sum_fn fn, void *ctx)
{
	int map = bpf_map__fd(s->skel->maps.syscalls_table);
	struct syscalls_key key, next;
	struct syscalls_sum sum;
	const struct syscalls_key *at = NULL;

	while (bpfsys_map_next_key(map, at, &next) == 0) {
		key = next;
		at = &key;
		if (bpfsys_map_lookup(map, &key, &sum) == 0)
			fn(ctx, &key, &sum);
	}
}

void syscalls_stats(const struct syscalls *s, struct syscalls_stats *ret)
{
	int map = bpf_map__fd(s->skel->maps.syscalls_counts);

	for (u32 i = 0; i < SYSCALLS_COUNTS; i++)
		ret->counts[i] = bpfsys_map_sum(map, i);
}
