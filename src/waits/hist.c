/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/hist.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>

#include "base/vec.h"
#include "host/bpf_log.h"
#include "host/bpf_sys.h"
#include "host/btf.h"
#include "host/machine.h"
#include "offcpu_hist.skel.h"
#include "offcpu_hist_raw.skel.h"
#include "unwind/loader.h"

struct waits_hist {
	struct offcpu_hist_bpf *skel;
	bool raw;                           /* the kernel does not describe its types */
	const struct waits_hist_opts *opts; /* while it is made */
	VEC(struct bpf_link *) links;
};

/* Since 5.18 the tracepoint hands the state over. */
static int has_prev_state(bool *ret, struct err *e)
{
	struct kbtf *btf;
	int rc = kbtf_open_kernel(&btf, e);

	if (rc < 0)
		return rc;
	*ret = kbtf_tracepoint_args(btf, "sched_switch") >= 4;
	kbtf_free(btf);
	return 0;
}

static int set_options(struct waits_hist *r, const struct waits_hist_opts *o, struct err *e)
{
	bool length = o->what == SCHED_HIST_RUNQLEN, state_given = false;
	int rc = has_prev_state(&state_given, e);

	if (rc < 0)
		return rc;
	r->skel->rodata->hist_options.unit = o->unit ? o->unit : 1000;
	r->skel->rodata->hist_options.what = o->what;
	r->skel->rodata->hist_options.by = o->by;
	r->skel->rodata->hist_options.self = (u32)getpid();
	r->skel->rodata->hist_options.by_pid = o->pids && o->pids->len;
	r->skel->rodata->hist_options.has_prev_state = state_given;
	bpf_program__set_autoload(r->skel->progs.hist_length, length);
	bpf_program__set_autoload(r->skel->progs.hist_switch, !length);
	bpf_program__set_autoload(r->skel->progs.hist_wakeup, o->what == SCHED_HIST_RUNQLAT);
	bpf_program__set_autoload(r->skel->progs.hist_wakeup_new, o->what == SCHED_HIST_RUNQLAT);
	if (o->pids && ranges_count(o->pids) > bpf_map__max_entries(r->skel->maps.hist_pids))
		return err_set(e, E2BIG, "too many processes are named");
	return 0;
}

static int fill_pids(const struct waits_hist *r, const range_list *pids, struct err *e)
{
	u8 one = 1;

	for (size_t i = 0; pids && i < pids->len; i++) {
		for (u64 id = pids->items[i].first; id <= pids->items[i].last; id++) {
			if (bpf_map_update_elem(bpf_map__fd(r->skel->maps.hist_pids),
						&(u32){ (u32)id }, &one, BPF_ANY))
				return err_sys(e, errno, "cannot set the filter");
		}
	}
	return 0;
}

static int attach_clock(struct waits_hist *r, u32 cpu, u64 hz, struct err *e)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
		.sample_freq = hz,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	struct bpf_link *link;

	if (fd < 0)
		return err_sys(e, errno, "cannot sample CPU %u", cpu);
	link = bpf_program__attach_perf_event(r->skel->progs.hist_length, fd);
	if (!link) {
		int rc = err_sys(e, errno, "cannot attach to CPU %u", cpu);

		close(fd);
		return rc;
	}
	vec_push(&r->links, link);
	return 0;
}

static int attach_clocks(struct waits_hist *r, u64 hz, struct err *e)
{
	range_list cpus = { 0 };
	int rc = machine_online(&cpus, e);

	for (size_t i = 0; rc >= 0 && i < cpus.len; i++) {
		for (u64 cpu = cpus.items[i].first; rc >= 0 && cpu <= cpus.items[i].last; cpu++)
			rc = attach_clock(r, (u32)cpu, hz, e);
	}
	vec_release(&cpus);
	return rc;
}

static int attach(struct waits_hist *r, const struct bpf_program *prog, struct err *e)
{
	struct bpf_link *link = bpf_program__attach(prog);

	if (!link)
		return err_sys(e, errno, "cannot attach '%s'", bpf_program__name(prog));
	vec_push(&r->links, link);
	return 0;
}

static int attach_all(struct waits_hist *r, const struct waits_hist_opts *o, struct err *e)
{
	int rc = 0;

	if (o->what == SCHED_HIST_RUNQLEN)
		return attach_clocks(r, o->frequency ? o->frequency : 99, e);
	if (o->what == SCHED_HIST_RUNQLAT) {
		rc = attach(r, r->skel->progs.hist_wakeup, e);
		if (!rc)
			rc = attach(r, r->skel->progs.hist_wakeup_new, e);
	}
	return rc ? rc : attach(r, r->skel->progs.hist_switch, e);
}

LOADER_FORMS(offcpu_hist)
_Static_assert(sizeof(struct offcpu_hist_bpf__rodata) == sizeof(struct offcpu_hist_raw_bpf__rodata),
	       "both forms have the same options");

static int prepare(void *ctx, bool again, struct err *e)
{
	struct waits_hist *r = ctx;

	(void)again;
	if (r->raw)
		bpf_map__set_max_entries(r->skel->maps.hist_tasks, machine_thread_room());
	return set_options(r, r->opts, e);
}

static int open_run(struct waits_hist *r, struct err *e)
{
	const struct loader l = { LOADER_OF(offcpu_hist), .what = "scheduler",
				  .needs = "it needs Linux 5.11 with BTF, or Linux 5.17",
				  .prepare = prepare, .ctx = r };
	int rc = loader_load(&l, &r->raw, &r->skel, e);

	if (!rc)
		rc = fill_pids(r, r->opts->pids, e);
	return rc ? rc : attach_all(r, r->opts, e);
}

int waits_hist_new(struct waits_hist **ret, const struct waits_hist_opts *opts, struct err *e)
{
	struct waits_hist *r = xcalloc(1, sizeof(*r));
	libbpf_print_fn_t print = libbpf_set_print(bpf_log);
	int rc;

	r->opts = opts;
	rc = open_run(r, e);
	r->opts = NULL;
	libbpf_set_print(print);
	if (rc) {
		waits_hist_free(r);
		return rc;
	}
	*ret = r;
	return 0;
}

void waits_hist_free(struct waits_hist *r)
{
	if (!r)
		return;
	vec_each(link, &r->links)
		bpf_link__destroy(*link);
	vec_release(&r->links);
	loader_free(r->skel);
	free(r);
}

int waits_hist_take(struct waits_hist *r, waits_hist_fn fn, void *ctx)
{
	int fd = bpf_map__fd(r->skel->maps.hists), rc = 0;
	VEC(struct sched_hist_key) keys = { 0 };
	struct sched_hist_key key, *prev = NULL;
	struct sched_hist hist;

	while (bpf_map_get_next_key(fd, prev, &key) == 0 && keys.len < SCHED_HIST_KEYS) {
		vec_push(&keys, key);
		prev = vec_last(&keys);
	}
	vec_each(k, &keys) {
		if (rc >= 0 && bpf_map_lookup_elem(fd, k, &hist) == 0)
			rc = fn(ctx, k, &hist);
		bpf_map_delete_elem(fd, k);
	}
	vec_release(&keys);
	return rc;
}

static u64 read_counter(const struct waits_hist *r, u32 which)
{
	return bpfsys_map_sum(bpf_map__fd(r->skel->maps.hist_counters), which);
}

u64 waits_hist_full(const struct waits_hist *r)
{
	return read_counter(r, SCHED_HIST_COUNT_FULL);
}

u64 waits_hist_no_room(const struct waits_hist *r)
{
	return read_counter(r, SCHED_HIST_COUNT_NO_ROOM);
}

u64 waits_hist_inferred(const struct waits_hist *r)
{
	return read_counter(r, SCHED_HIST_COUNT_INFERRED);
}
