/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Perf events on every CPU: profile, software, hardware, watchpoint. */
#include "lang/front/lex.h"
#include "lang/gen/gen.h"
#include "lang/run/run.h"

#include "base/parse.h"
#include "host/bpf_sys.h"
#include "host/pace.h"

#include <linux/hw_breakpoint.h>
#include <sys/ioctl.h>

struct perf_name {
	const char *name;
	const char *alias;
	u64 config;
	u64 period;
};

static const struct perf_name software_names[] = {
	{ "alignment-faults", NULL, PERF_COUNT_SW_ALIGNMENT_FAULTS, 1 },
	{ "bpf-output", NULL, PERF_COUNT_SW_BPF_OUTPUT, 1 },
	{ "context-switches", "cs", PERF_COUNT_SW_CONTEXT_SWITCHES, 1000 },
	{ "cpu-clock", "cpu", PERF_COUNT_SW_CPU_CLOCK, 1000000 },
	{ "cpu-migrations", NULL, PERF_COUNT_SW_CPU_MIGRATIONS, 1 },
	{ "dummy", NULL, PERF_COUNT_SW_DUMMY, 1 },
	{ "emulation-faults", NULL, PERF_COUNT_SW_EMULATION_FAULTS, 1 },
	{ "major-faults", NULL, PERF_COUNT_SW_PAGE_FAULTS_MAJ, 1 },
	{ "minor-faults", NULL, PERF_COUNT_SW_PAGE_FAULTS_MIN, 100 },
	{ "page-faults", "faults", PERF_COUNT_SW_PAGE_FAULTS, 100 },
	{ "task-clock", NULL, PERF_COUNT_SW_TASK_CLOCK, 1 },
	{ 0 },
};

static const struct perf_name hardware_names[] = {
	{ "backend-stalls", NULL, PERF_COUNT_HW_STALLED_CYCLES_BACKEND, 1000000 },
	{ "branch-instructions", "branches", PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 100000 },
	{ "branch-misses", NULL, PERF_COUNT_HW_BRANCH_MISSES, 100000 },
	{ "bus-cycles", NULL, PERF_COUNT_HW_BUS_CYCLES, 100000 },
	{ "cache-misses", NULL, PERF_COUNT_HW_CACHE_MISSES, 1000000 },
	{ "cache-references", NULL, PERF_COUNT_HW_CACHE_REFERENCES, 1000000 },
	{ "cpu-cycles", "cycles", PERF_COUNT_HW_CPU_CYCLES, 1000000 },
	{ "frontend-stalls", NULL, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, 1000000 },
	{ "instructions", NULL, PERF_COUNT_HW_INSTRUCTIONS, 1000000 },
	{ "ref-cycles", NULL, PERF_COUNT_HW_REF_CPU_CYCLES, 1000000 },
	{ 0 },
};

static const struct perf_name *names_of(const struct provider *p)
{
	return p == &probe_software ? software_names : hardware_names;
}

static void expand_event(struct comp *c, const struct provider *p, const struct spec *s,
			 const char *rest)
{
	const char *name = provider_part(c, rest, 0), *count = provider_part(c, rest, 1);
	struct target *t;
	size_t first = c->targets.len;
	u64 period = 0;

	if (c->opts->compat && provider_is_pattern(name)) {
		diag_error(&c->diags, s->at, "wildcards are not allowed for %s probe type",
			   p->name);
		return;
	}
	if (c->opts->compat && provider_parts(rest) > 2) {
		diag_error(&c->diags, s->at, "%s probe type requires 1 or 2 arguments, found %u",
			   p->name, provider_parts(rest));
		return;
	}
	/* "event:0" means the usual count, and "event:" where it may. */
	if (count && !*count && !c->opts->compat)
		count = NULL;
	if (count && parse_u64(count, &period, NULL) < 0 && !lex_literal(count, &period)) {
		diag_error(&c->diags, s->at, "Invalid count for %s probe: invalid integer: %s",
			   p->name, count);
		return;
	}
	for (const struct perf_name *n = names_of(p); n->name; n++) {
		if (!provider_match(name, n->name) && !(n->alias && streq(name, n->alias)))
			continue;
		/* an alias keeps its name */
		t = provider_target(c, p, s, "%s:%s%s%s", p->name,
				    provider_is_pattern(name) ? n->name : name, count ? ":" : "",
				    count ? count : "");
		if (!t)
			return;
		t->extra = n->config;
		t->value = period ? period : n->period;
	}
	if (c->targets.len == first && !provider_is_pattern(name))
		diag_error(&c->diags, s->at, "%s is not a %s probe", name, p->name);
}

static void expand_profile(struct comp *c, const struct provider *p, const struct spec *s,
			   const char *rest)
{
	struct probe_period period;
	struct target *t;

	if (!probe_period(c, p, s, rest, &period))
		return;
	t = provider_target(c, p, s, "profile:%s", period.text);
	if (!t)
		return;
	t->value = period.value;
	t->is_freq = period.freq;
	t->extra = PERF_COUNT_SW_CPU_CLOCK;
}

/* The modes that the CPU has: x, w, rw. */
static bool check_mode(struct comp *c, const struct spec *s, const char *mode)
{
	size_t n = strlen(mode);

	if (!n || strspn(mode, "rwx") != n)
		diag_error(&c->diags, s->at, "watchpoint mode must be combination of (r,w,x)");
	else if ((n > 1 && mode[0] == mode[1]) || n > 2)
		diag_error(&c->diags, s->at, "watchpoint modes may not be duplicated");
	else if (!streq(mode, "x") && !streq(mode, "w") && !streq(mode, "rw") &&
		 !streq(mode, "wr") && (!streq(mode, "r") || c->opts->compat))
		diag_error(&c->diags, s->at, "invalid watchpoint mode: %s", mode);
	else
		return true;
	diag_hint(&c->diags, "supported modes: x,w,rw");
	return false;
}

static void expand_watchpoint(struct comp *c, const struct provider *p, const struct spec *s,
			      const char *rest)
{
	const char *address = provider_part(c, rest, 0), *len = provider_part(c, rest, 1);
	const char *mode = provider_part(c, rest, 2);
	struct target *t;
	u64 at, size;

	if (c->opts->compat && s->text[0] == 'a') {
		diag_error(&c->diags, s->at, "Invalid probe type: %.*s", (int)strcspn(s->text, ":"),
			   s->text);
		diag_hint(&c->diags, "watchpoint does the same");
		return;
	}
	if (!len || !mode || parse_u64(address, &at, NULL) < 0 || parse_u64(len, &size, NULL) < 0) {
		diag_error(&c->diags, s->at,
			   "watchpoints have the form watchpoint:ADDRESS:LENGTH:rwx");
		return;
	}
	if (size != 1 && size != 2 && size != 4 && size != 8) {
		diag_error(&c->diags, s->at, "watchpoint length must be one of (1,2,4,8)");
		return;
	}
	if (!check_mode(c, s, mode))
		return;
	if (!at) {
		diag_error(&c->diags, s->at, "watchpoint must be attached to a non-zero address");
		return;
	}
	t = provider_target(c, p, s, "watchpoint:%s", rest);
	if (!t)
		return;
	t->value = at;
	t->extra = size;
	t->event = mode;
}

static bool prepare_event(struct comp *c, struct unit *u)
{
	(void)c;
	u->prog_type = BPF_PROG_TYPE_PERF_EVENT;
	return true;
}

static void fill_attr(const struct target *t, struct perf_event_attr *attr)
{
	attr->size = sizeof(*attr);
	attr->config = t->extra;
	attr->type = t->provider == &probe_hardware ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE;
	attr->sample_period = t->value;
	if (t->is_freq) {
		attr->freq = 1;
		attr->sample_freq = t->value;
	}
	if (t->provider == &probe_watchpoint) {
		attr->type = PERF_TYPE_BREAKPOINT;
		attr->config = 0;
		attr->bp_addr = t->value;
		attr->bp_len = t->extra;
		attr->bp_type = (strchr(t->event, 'r') ? HW_BREAKPOINT_R : 0) |
				(strchr(t->event, 'w') ? HW_BREAKPOINT_W : 0) |
				(strchr(t->event, 'x') ? HW_BREAKPOINT_X : 0);
		attr->sample_period = 1;
	}
}

/* Timers of one program interrupt the same CPUs. */
static u64 timers_of(const struct run *r)
{
	u64 n = 0;

	vec_each(t, &r->c->targets) {
		struct perf_event_attr attr = { 0 };

		if (t->provider != &probe_profile && t->provider != &probe_software)
			continue;
		fill_attr(t, &attr);
		n += pace_is_timer(&attr);
	}
	return n;
}

static void slow_timer(const struct attach_ctx *a, const struct target *t,
		       struct perf_event_attr *attr)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct comp *c = a->run->c;
	struct pace pace;

	if (!pace_limit(attr, timers_of(a->run), &pace))
		return;
	pace_say(&pace, t->name, &text);
	diag_warning(&c->diags, c->prog.probes.items[a->unit->probe].at, "%s", buf_str(&text));
}

static int attach_cpu(const struct attach_ctx *a, const struct target *t,
		      struct perf_event_attr *attr, int pid, int cpu)
{
	int fd, link;

	fd = perfsys_open(attr, pid, cpu, -1, 0);
	if (fd < 0)
		return fd;
	run_keep(a->run, fd, false);
	link = bpfsys_link_create(a->prog_fd, fd, BPF_PERF_EVENT,
				  (u64)(t - a->run->c->targets.items));
	if (link >= 0) {
		run_keep(a->run, link, false);
	} else {
		int rc = perfsys_set_bpf(fd, a->prog_fd);

		if (rc < 0)
			return rc;
	}
	return ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) < 0 ? -errno : 0;
}

static int attach_target(const struct attach_ctx *a, const struct target *t)
{
	u32 cpus = run_cpus(), opened = 0;
	struct perf_event_attr attr = { 0 };
	int rc = 0;

	fill_attr(t, &attr);
	slow_timer(a, t, &attr);
	if (t->pid && t->provider == &probe_watchpoint)
		return attach_cpu(a, t, &attr, (int)t->pid, -1);
	for (u32 cpu = 0; cpu < cpus; cpu++) {
		rc = attach_cpu(a, t, &attr, -1, (int)cpu);
		if (rc == -ENODEV) /* offline */
			continue;
		if (rc < 0)
			return rc;
		opened++;
	}
	return opened ? 0 : rc;
}

static int attach_event(const struct attach_ctx *a)
{
	for (u32 i = 0; i < a->unit->n; i++) {
		const struct target *t = &a->run->c->targets.items[a->unit->first + i];
		int rc = attach_target(a, t);

		if (rc < 0) {
			err_sys(a->err, -rc, "cannot attach to '%s'", t->name);
			if (rc == -ENOENT || rc == -EOPNOTSUPP)
				err_hint(a->err, "this machine does not have that event");
			return rc;
		}
	}
	return 0;
}

static void list_event(struct comp *c, const char *pattern, void (*each)(void *ctx, const char *n),
		       void *ctx)
{
	(void)pattern;
	for (int hw = 0; hw < 2; hw++) {
		const struct provider *p = hw ? &probe_hardware : &probe_software;

		for (const struct perf_name *n = names_of(p); n->name; n++) {
			each(ctx, arena_printf(&c->arena, "%s:%s:", p->name, n->name));
			if (n->alias)
				each(ctx, arena_printf(&c->arena, "%s:%s:", p->name, n->alias));
		}
	}
}

const struct provider probe_profile = {
	.name = "profile",
	.aliases = "p",
	.flags = PROBE_NAMED,
	.expand = expand_profile,
	.prepare = prepare_event,
	.attach = attach_event,
	.list = probe_period_list,
};

const struct provider probe_software = {
	.name = "software",
	.aliases = "s",
	.flags = PROBE_NAMED,
	.expand = expand_event,
	.prepare = prepare_event,
	.attach = attach_event,
	.list = list_event,
};

const struct provider probe_hardware = {
	.name = "hardware",
	.aliases = "h",
	.flags = PROBE_NAMED,
	.expand = expand_event,
	.prepare = prepare_event,
	.attach = attach_event,
};

const struct provider probe_watchpoint = {
	.name = "watchpoint",
	.aliases = "w asyncwatchpoint aw",
	.flags = PROBE_NAMED,
	.expand = expand_watchpoint,
	.prepare = prepare_event,
	.attach = attach_event,
};
