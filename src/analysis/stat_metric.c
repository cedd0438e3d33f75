/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What follows from counts, as a table: a metric is one row. The words of units are perf's, for
 * scripts that read its output look for them.
 */
#include "analysis/stat.h"

#define CACHE(what, op, result)                                          \
	(PERF_COUNT_HW_CACHE_##what | PERF_COUNT_HW_CACHE_OP_##op << 8 | \
	 PERF_COUNT_HW_CACHE_RESULT_##result << 16)

/* Which event is which. Names are for events that each PMU encodes in its own way. */
static const struct {
	enum stat_role role;
	u32 type;
	u64 config;
	const char *name;
} roles[] = {
	{ STAT_CLOCK, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, NULL },
	{ STAT_CLOCK, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, NULL },
	{ STAT_CYCLES, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, "cpu-cycles" },
	{ STAT_INSTRUCTIONS, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, "instructions" },
	{ STAT_BRANCHES, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, NULL },
	{ STAT_BRANCH_MISSES, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, "branch-misses" },
	{ STAT_STALLED_FRONT, PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, NULL },
	{ STAT_STALLED_BACK, PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND, NULL },
	{ STAT_CACHE_REFS, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, NULL },
	{ STAT_CACHE_MISSES, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, NULL },
	{ STAT_L1D_LOADS, PERF_TYPE_HW_CACHE, CACHE(L1D, READ, ACCESS), NULL },
	{ STAT_L1D_MISSES, PERF_TYPE_HW_CACHE, CACHE(L1D, READ, MISS), NULL },
	{ STAT_L1I_LOADS, PERF_TYPE_HW_CACHE, CACHE(L1I, READ, ACCESS), NULL },
	{ STAT_L1I_MISSES, PERF_TYPE_HW_CACHE, CACHE(L1I, READ, MISS), NULL },
	{ STAT_LLC_LOADS, PERF_TYPE_HW_CACHE, CACHE(LL, READ, ACCESS), NULL },
	{ STAT_LLC_MISSES, PERF_TYPE_HW_CACHE, CACHE(LL, READ, MISS), NULL },
	{ STAT_DTLB_LOADS, PERF_TYPE_HW_CACHE, CACHE(DTLB, READ, ACCESS), NULL },
	{ STAT_DTLB_MISSES, PERF_TYPE_HW_CACHE, CACHE(DTLB, READ, MISS), NULL },
	{ STAT_ITLB_LOADS, PERF_TYPE_HW_CACHE, CACHE(ITLB, READ, ACCESS), NULL },
	{ STAT_ITLB_MISSES, PERF_TYPE_HW_CACHE, CACHE(ITLB, READ, MISS), NULL },
	{ STAT_SLOTS, UINT32_MAX, 0, "slots" },
	{ STAT_RETIRING, UINT32_MAX, 0, "topdown-retiring" },
	{ STAT_BAD_SPEC, UINT32_MAX, 0, "topdown-bad-spec" },
	{ STAT_FE_BOUND, UINT32_MAX, 0, "topdown-fe-bound" },
	{ STAT_BE_BOUND, UINT32_MAX, 0, "topdown-be-bound" },
};

/* The figure beside an event: @above / @below, and from where on it is noteworthy. */
struct rule {
	const char *name;  /* of -M */
	enum stat_role at; /* the event that it is beside */
	enum stat_role above, below;
	const char *unit;
	int decimals;
	bool percent;
	double warn, bad;   /* from these values on; 0: never */
	const char *events; /* that it needs */
	const char *meaning;
};

static const struct rule rules[] = {
	{ "cpus", STAT_CLOCK, STAT_CLOCK, STAT_WALL, "CPUs utilized", 3, false, 0, 0, "task-clock",
	  "CPUs in use, on average" },
	{ "ghz", STAT_CYCLES, STAT_CYCLES, STAT_CLOCK, "GHz", 3, false, 0, 0, "cycles,task-clock",
	  "the clock of the CPU while it ran" },
	{ "ipc", STAT_INSTRUCTIONS, STAT_INSTRUCTIONS, STAT_CYCLES, "insn per cycle", 2, false, 0,
	  0, "{cycles,instructions}",
	  "instructions per cycle; below 1 it mostly waits for memory" },
	{ "branch-miss", STAT_BRANCH_MISSES, STAT_BRANCH_MISSES, STAT_BRANCHES, "of all branches",
	  2, true, 5, 10, "{branches,branch-misses}", "branches that were guessed wrong" },
	{ "frontend-idle", STAT_STALLED_FRONT, STAT_STALLED_FRONT, STAT_CYCLES,
	  "frontend cycles idle", 2, true, 10, 30, "{cycles,stalled-cycles-frontend}",
	  "cycles without new instructions" },
	{ "backend-idle", STAT_STALLED_BACK, STAT_STALLED_BACK, STAT_CYCLES, "backend cycles idle",
	  2, true, 20, 50, "{cycles,stalled-cycles-backend}", "cycles that waited for results" },
	{ "cache-miss", STAT_CACHE_MISSES, STAT_CACHE_MISSES, STAT_CACHE_REFS, "of all cache refs",
	  2, true, 5, 10, "{cache-references,cache-misses}", "misses of the last cache" },
	{ "l1d-miss", STAT_L1D_MISSES, STAT_L1D_MISSES, STAT_L1D_LOADS, "of all L1-dcache accesses",
	  2, true, 5, 10, "{L1-dcache-loads,L1-dcache-load-misses}",
	  "loads that miss the first data cache" },
	{ "l1i-miss", STAT_L1I_MISSES, STAT_L1I_MISSES, STAT_L1I_LOADS, "of all L1-icache accesses",
	  2, true, 5, 10, "{L1-icache-loads,L1-icache-load-misses}",
	  "misses of the first instruction cache" },
	{ "llc-miss", STAT_LLC_MISSES, STAT_LLC_MISSES, STAT_LLC_LOADS, "of all LL-cache accesses",
	  2, true, 5, 10, "{LLC-loads,LLC-load-misses}", "loads that go to memory" },
	{ "dtlb-miss", STAT_DTLB_MISSES, STAT_DTLB_MISSES, STAT_DTLB_LOADS,
	  "of all dTLB cache accesses", 2, true, 5, 10, "{dTLB-loads,dTLB-load-misses}",
	  "loads whose page is not in the TLB" },
	{ "itlb-miss", STAT_ITLB_MISSES, STAT_ITLB_MISSES, STAT_ITLB_LOADS,
	  "of all iTLB cache accesses", 2, true, 5, 10, "{iTLB-loads,iTLB-load-misses}",
	  "code pages that are not in the TLB" },
	{ "retiring", STAT_RETIRING, STAT_RETIRING, STAT_SLOTS, "retiring", 1, true, 0, 0,
	  "{slots,topdown-retiring}", "slots that did useful work" },
	{ "bad-speculation", STAT_BAD_SPEC, STAT_BAD_SPEC, STAT_SLOTS, "bad speculation", 1, true,
	  10, 20, "{slots,topdown-bad-spec}", "slots lost to wrong guesses" },
	{ "frontend-bound", STAT_FE_BOUND, STAT_FE_BOUND, STAT_SLOTS, "frontend bound", 1, true, 20,
	  40, "{slots,topdown-fe-bound}", "slots without an instruction" },
	{ "backend-bound", STAT_BE_BOUND, STAT_BE_BOUND, STAT_SLOTS, "backend bound", 1, true, 20,
	  40, "{slots,topdown-be-bound}", "slots that waited for memory or execution" },
	/* below its own: what perf prints on a second line */
	{ NULL, STAT_INSTRUCTIONS, STAT_STALLED_BACK, STAT_INSTRUCTIONS, "stalled cycles per insn",
	  2, false, 0, 0, NULL, NULL },
};

static bool is_named(const struct event *ev, const char *name)
{
	size_t n = strlen(name);
	const char *at = strstr(ev->name, name);

	/* "slots", "cpu/slots/", "cpu_core/topdown-retiring/u" */
	return at && (at == ev->name || at[-1] == '/') && (!at[n] || at[n] == '/' || at[n] == ':');
}

enum stat_role stat_role_of(const struct event *ev)
{
	for (size_t i = 0; i < ARRAY_SIZE(roles); i++) {
		if (ev->attr.type == roles[i].type && ev->attr.config == roles[i].config)
			return roles[i].role;
		if (roles[i].name && ev->attr.type != PERF_TYPE_TRACEPOINT &&
		    is_named(ev, roles[i].name))
			return roles[i].role;
	}
	return STAT_ROLE_NONE;
}

/* The line of that role which can be in a ratio with @event; NULL: none. */
static const struct stat_line *find(const struct stat_inputs *in, size_t event, enum stat_role role)
{
	const struct stat_event *events = in->stat->events.items;

	for (size_t i = 0; i < in->stat->events.len; i++) {
		if (events[i].role != role || in->lines[i].state != STAT_COUNTED)
			continue;
		if (role == STAT_CLOCK || events[i].context == events[event].context)
			return &in->lines[i];
	}
	return NULL;
}

/* Counts as they are, time in nanoseconds; below 0: it is not known. */
static double input(const struct stat_inputs *in, size_t event, enum stat_role role)
{
	const struct stat_line *line;

	if (role == STAT_WALL)
		return in->wall > 0 ? in->wall : -1;
	line = role == in->stat->events.items[event].role ? &in->lines[event]
							  : find(in, event, role);
	return line ? line->value.mean / line->event->scale : -1;
}

static enum style style_of(const struct rule *r, double v)
{
	if (r->bad > 0 && v >= r->bad)
		return STYLE_BAD;
	return r->warn > 0 && v >= r->warn ? STYLE_WARN : STYLE_NONE;
}

static bool apply(const struct stat_inputs *in, size_t event, const struct rule *r,
		  struct stat_metric *ret)
{
	double above, below, v;

	if (in->stat->events.items[event].role != r->at)
		return false;
	above = input(in, event, r->above);
	below = input(in, event, r->below);
	if (above < 0 || !(below > 0))
		return false;
	v = above / below * (r->percent ? 100 : 1);
	*ret = (struct stat_metric){ .value = v,
				     .unit = r->unit,
				     .decimals = r->decimals,
				     .percent = r->percent,
				     .style = style_of(r, v) };
	return true;
}

/* For all that has no ratio of its own: how many for a second on a CPU. */
static bool rate(const struct stat_inputs *in, size_t event, struct stat_metric *ret)
{
	static const char *const units[] = { "/sec", "K/sec", "M/sec", "G/sec" };
	const struct stat_line *clock = find(in, event, STAT_CLOCK);
	double time = clock ? clock->value.mean / clock->event->scale : 0;
	double v = time > 0 ? in->lines[event].value.mean / in->stat->events.items[event].scale *
				      1e9 / time
			    : 0;
	size_t i = 0;

	if (!clock || in->stat->events.items[event].role == STAT_CLOCK)
		return false;
	for (; v > 1000 && i + 1 < ARRAY_SIZE(units); i++)
		v /= 1000;
	*ret = (struct stat_metric){ .value = v, .unit = units[i], .decimals = 3 };
	return true;
}

size_t stat_metrics(const struct stat_inputs *in, size_t event,
		    struct stat_metric ret[STAT_METRICS_MOST])
{
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rules) && n < STAT_METRICS_MOST; i++)
		n += apply(in, event, &rules[i], &ret[n]);
	if (!n)
		n += rate(in, event, &ret[n]);
	return n;
}

const char *stat_metric_events(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		if (rules[i].name && strcasecmp(rules[i].name, name) == 0)
			return rules[i].events;
	}
	return NULL;
}

const char *stat_metric_name(size_t i, const char **ret_meaning)
{
	if (i >= ARRAY_SIZE(rules) || !rules[i].name)
		return NULL;
	*ret_meaning = rules[i].meaning;
	return rules[i].name;
}
