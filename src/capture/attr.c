/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/attr.h"

#include <sys/resource.h>
#include <time.h>

#include "capture/option_text.h"
#include "host/machine.h"

/* ax bx cx dx si di bp sp ip flags cs ss r8-r15: all that unwinding x86-64 code may ask for. */
#if defined(__x86_64__)
#define USER_REGISTERS 0xff0fffull
#elif defined(__aarch64__)
#define USER_REGISTERS 0x1ffffffffull
#else
#define USER_REGISTERS 0ull
#endif

enum { DEFAULT_FREQUENCY = 99, FORMAT_LOST = 1 << 4 }; /* PERF_FORMAT_LOST, Linux 6.0 */

static bool is_clock(const struct perf_event_attr *a)
{
	return a->config == PERF_COUNT_SW_CPU_CLOCK || a->config == PERF_COUNT_SW_TASK_CLOCK;
}

/* Software events are rare: all are taken unless a rate is requested. */
static void set_sampling(struct perf_event_attr *a, const struct event *ev,
			 const struct session_opts *opts)
{
	bool every = a->type == PERF_TYPE_TRACEPOINT || a->type == PERF_TYPE_BREAKPOINT ||
		     (a->type == PERF_TYPE_SOFTWARE && opts->every_software && !is_clock(a));

	if (ev->period_set || ev->frequency_set)
		return;
	a->freq = 0;
	if (opts->period) {
		a->sample_period = opts->period;
	} else if (every) {
		a->sample_period = 1;
	} else {
		a->freq = 1;
		a->sample_freq = opts->frequency ? opts->frequency : DEFAULT_FREQUENCY;
	}
}

static void set_stacks(struct perf_event_attr *a, const struct event *ev,
		       const struct session_opts *opts)
{
	enum stack_mode mode = ev->stack != STACK_UNSET ? ev->stack : opts->stack;
	u32 size = ev->stack_size ? ev->stack_size : opts->stack_size;

	if (opts->registers) {
		a->sample_type |= PERF_SAMPLE_REGS_USER;
		a->sample_regs_user = USER_REGISTERS;
	}
	if (mode == STACK_UNSET || mode == STACK_NONE)
		return;
	a->sample_type |= PERF_SAMPLE_CALLCHAIN;
	if (!a->sample_max_stack)
		a->sample_max_stack = (u16)MIN(opts->max_stack, UINT16_MAX);
	if (mode == STACK_DWARF) {
		a->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		a->sample_regs_user = USER_REGISTERS;
		a->sample_stack_user = size ? size : SESSION_STACK_BYTES;
		a->exclude_callchain_user = 1;
	} else if (mode == STACK_LBR) {
		a->sample_type |= PERF_SAMPLE_BRANCH_STACK;
		a->branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK |
					PERF_SAMPLE_BRANCH_NO_CYCLES | PERF_SAMPLE_BRANCH_NO_FLAGS;
		a->exclude_callchain_user = 1;
	}
}

static void set_details(struct perf_event_attr *a, const struct event *ev,
			const struct session_opts *opts)
{
	u64 branches = ev->branch_type ? ev->branch_type : opts->branch_type;

	if (a->type == PERF_TYPE_TRACEPOINT ||
	    (a->type == PERF_TYPE_SOFTWARE && a->config == PERF_COUNT_SW_BPF_OUTPUT))
		a->sample_type |= PERF_SAMPLE_RAW;
	if (opts->cgroup_ids)
		a->sample_type |= PERF_SAMPLE_CGROUP;
	if (opts->addresses || a->type == PERF_TYPE_BREAKPOINT)
		a->sample_type |= PERF_SAMPLE_ADDR;
	if (opts->phys_addresses)
		a->sample_type |= PERF_SAMPLE_PHYS_ADDR;
	if (branches) {
		a->sample_type |= PERF_SAMPLE_BRANCH_STACK;
		a->branch_sample_type |= branches;
	}
}

static void set_common(struct perf_event_attr *a, const struct session_opts *opts)
{

	a->size = PERF_ATTR_SIZE_VER7;
	a->disabled = 1;
	a->sample_type |=
		PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
	a->sample_id_all = 1;
	a->read_format |= PERF_FORMAT_ID | FORMAT_LOST;
	/* A wake-up costs microseconds: one per quarter of a ring, never one per event. */
	a->watermark = 1;
	a->wakeup_watermark = (u32)MIN(opts->ring_bytes / 4, UINT32_MAX);
	if (opts->clock_id >= 0) {
		a->use_clockid = 1;
		a->clockid = opts->clock_id;
	}
}

static void set_group(struct perf_event_attr *a, const struct event *ev, bool member)
{
	if (!ev->sample_read)
		return;
	a->sample_type |= PERF_SAMPLE_READ;
	a->read_format |=
		PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	a->inherit = 0; /* not together with group reads before Linux 6.12 */
	if (member) {
		a->freq = 0;
		a->sample_period = 0;
	}
}

void attr_for_event(struct perf_event_attr *ret, const struct event *ev,
		    const struct session_opts *opts, bool group_member, bool on_exec)
{
	struct perf_event_attr a = ev->attr;

	set_common(&a, opts);
	a.inherit = ev->inherit >= 0 ? ev->inherit == 1 : !opts->no_inherit;
	if (group_member)
		a.disabled = a.pinned = a.exclusive = 0; /* the leader decides */
	else
		a.enable_on_exec = on_exec;
	if (!opts->counting) {
		a.sample_type |= PERF_SAMPLE_IP;
		set_sampling(&a, ev, opts);
		/*
		 * Asked for the weight, software events give a sample for every hit, whatever the
		 * period; a fixed one is in the attr anyway.
		 */
		if (a.freq || a.sample_period == 1)
			a.sample_type |= PERF_SAMPLE_PERIOD;
		set_stacks(&a, ev, opts);
		set_details(&a, ev, opts);
	} else {
		a.sample_period = 0;
		a.freq = 0;
	}
	/* what an idle CPU is interrupted for is an event like others */
	if (!opts->idle && a.type != PERF_TYPE_TRACEPOINT)
		a.exclude_idle = 1;
	if (opts->user_only && a.type != PERF_TYPE_TRACEPOINT)
		a.exclude_kernel = a.exclude_hv = 1;
	if (opts->kernel_only && a.type != PERF_TYPE_TRACEPOINT)
		a.exclude_user = 1;
	if (ev->precise_max)
		a.precise_ip = 3;
	set_group(&a, ev, group_member);
	a.write_backward = ev->overwrite >= 0 ? ev->overwrite == 1 : opts->overwrite;
	*ret = a;
}

void attr_for_side_band(struct perf_event_attr *ret, const struct session_opts *opts)
{
	struct perf_event_attr a = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_period = 1,
		.exclude_guest = 1,
		.exclude_kernel = 1, /* it has no samples, and so anybody may open it */
		.exclude_hv = 1,
		.mmap = 1,
		.mmap2 = 1,
		.build_id = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.namespaces = 1,
		.ksymbol = 1,
		.bpf_event = 1,
		.cgroup = 1,
	};

	set_common(&a, opts);
	a.inherit = !opts->no_inherit;
	a.mmap_data = opts->data_maps;
	a.context_switch = opts->switches;
	*ret = a;
}

/* Newest first; each is tried to be left out once. */
static bool give_up_feature(struct perf_event_attr *a, const char **ret_note)
{
	if (a->read_format & FORMAT_LOST) /* 6.0 */
		a->read_format &= ~(u64)FORMAT_LOST;
	else if (a->build_id) /* 5.12 */
		a->build_id = 0;
	else if (a->cgroup) /* 5.7 */
		a->cgroup = 0;
	else if (a->bpf_event || a->ksymbol) /* 5.1 */
		a->bpf_event = a->ksymbol = 0;
	else if (a->namespaces) /* 4.12, and not compiled into every kernel */
		a->namespaces = 0;
	else if (a->exclude_idle)
		a->exclude_idle = 0;
	else if (a->exclude_guest || a->exclude_host)
		a->exclude_guest = a->exclude_host = 0;
	else if (a->sample_type & PERF_SAMPLE_CGROUP) {
		a->sample_type &= ~(u64)PERF_SAMPLE_CGROUP;
		*ret_note = "samples have no cgroup: this kernel is too old";
	} else {
		return false;
	}
	return true;
}

bool attr_give_up(struct perf_event_attr *attr, int error, const char **ret_note)
{
	*ret_note = NULL;
	switch (error) {
	case EINVAL:
	case EOPNOTSUPP:
	case ENOENT:
	case ENODEV:
		if (attr->precise_ip) {
			attr->precise_ip--;
			return true;
		}
		return error == EINVAL && give_up_feature(attr, ret_note);
	case EACCES:
	case EPERM:
		if (attr->namespaces) { /* for the privileged only */
			attr->namespaces = 0;
			return true;
		}
		if (attr->exclude_kernel || attr->type == PERF_TYPE_TRACEPOINT)
			return false;
		attr->exclude_kernel = 1;
		attr->exclude_hv = 1;
		*ret_note = "only user space is recorded: the kernel does not let you see more";
		return true;
	default: return false;
	}
}

static int not_permitted(int error, const char *name, bool whole_machine, struct err *e)
{
	s64 paranoid = 0;

	err_sys(e, error, "cannot open event '%s'", name);
	if (machine_sysctl("kernel/perf_event_paranoid", &paranoid) < 0)
		paranoid = 2;
	if (whole_machine && paranoid > 0)
		err_hint(e,
			 "the whole machine needs root, CAP_PERFMON or sysctl "
			 "kernel.perf_event_paranoid=0 (it is %lld); your own processes: -p PID",
			 (long long)paranoid);
	else if (paranoid > 2)
		err_hint(e,
			 "run as root or with CAP_PERFMON, or sysctl kernel.perf_event_paranoid=2 "
			 "(it is %lld)",
			 (long long)paranoid);
	else
		err_hint(e, "run as root or with CAP_PERFMON and CAP_SYS_PTRACE");
	return -error;
}

static bool counts_only(const struct perf_event_attr *attr)
{
	struct perf_event_attr plain = { .type = attr->type,
					 .size = attr->size,
					 .config = attr->config,
					 .config1 = attr->config1,
					 .config2 = attr->config2 };

	return attr->sample_period && event_opens(&plain);
}

int attr_open_error(int error, const char *name, const struct perf_event_attr *attr,
		    bool whole_machine, struct err *e)
{
	bool hardware = attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE ||
			attr->type == PERF_TYPE_RAW;

	if (attr->sample_type & PERF_SAMPLE_BRANCH_STACK &&
	    (error == EOPNOTSUPP || error == EINVAL)) {
		err_set(e, EOPNOTSUPP, "no record of branches is kept for event '%s' here", name);
		err_hint(e, "leave out -b, branch_type and --call-graph lbr");
		return -EOPNOTSUPP;
	}
	switch (error) {
	case EACCES:
	case EPERM: return not_permitted(error, name, whole_machine, e);
	case ENOENT:
	case ENODEV:
	case ENXIO:
	case EOPNOTSUPP:
		err_set(e, EOPNOTSUPP, "event '%s' does not exist on this machine", name);
		if (hardware)
			err_hint(e,
				 "this machine has no such hardware counters (a virtual machine?); "
				 "'cpu-clock' works everywhere");
		return -EOPNOTSUPP;
	case E2BIG:
		err_set(e, error, "event '%s' sets a config word that this kernel does not have",
			name);
		err_hint(e, "config3 came with Linux 6.3, config4 later");
		return -error;
	case EMFILE:
		err_sys(e, error, "cannot open event '%s'", name);
		if (err_limit(error))
			err_hint(e, "one descriptor per event, thread and CPU: %s",
				 err_limit(error));
		return -error;
	case EINVAL:
		if (counts_only(attr)) {
			err_set(e, EOPNOTSUPP, "event '%s' can be counted, but not sampled", name);
			return -EOPNOTSUPP;
		}
		/* these clocks cannot be read in a non-maskable interrupt */
		if (attr->use_clockid &&
		    (attr->clockid == CLOCK_REALTIME || attr->clockid == CLOCK_TAI)) {
			err_sys(e, error, "cannot open event '%s' with clock '%s'", name,
				option_clock_name(attr->clockid));
			err_hint(e, "hardware events need -k monotonic, monotonic_raw, boottime or "
				    "perf");
			return -error;
		}
		err_sys(e, error, "cannot open event '%s'", name);
		err_hint(e, whole_machine ? "the kernel does not take this combination"
					  : "some events count whole CPUs only: try -a");
		return -error;
	default: return err_sys(e, error, "cannot open event '%s'", name);
	}
}

void attr_raise_fd_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
}
