/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/names.h"

#include <linux/perf_event.h>
#include <strings.h>

#define HW(name_, alias_, config_, help_)                                         \
	{                                                                         \
		name_, alias_, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##config_, help_ \
	}
#define SW(name_, alias_, config_, help_)                                         \
	{                                                                         \
		name_, alias_, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##config_, help_ \
	}

enum { SW_CGROUP_SWITCHES = 11 }; /* PERF_COUNT_SW_CGROUP_SWITCHES, Linux 5.13 */

static const struct event_name names[] = {
	HW("cpu-cycles", "cycles", CPU_CYCLES, "cycles, at the frequency the CPU has at the time"),
	HW("instructions", NULL, INSTRUCTIONS, "retired instructions"),
	HW("cache-references", NULL, CACHE_REFERENCES, "accesses to the last-level cache"),
	HW("cache-misses", NULL, CACHE_MISSES, "misses of the last-level cache"),
	HW("branch-instructions", "branches", BRANCH_INSTRUCTIONS, "retired branches"),
	HW("branch-misses", NULL, BRANCH_MISSES, "mispredicted branches"),
	HW("bus-cycles", NULL, BUS_CYCLES, "bus cycles"),
	HW("stalled-cycles-frontend", "idle-cycles-frontend", STALLED_CYCLES_FRONTEND,
	   "cycles in which no instruction could be fetched"),
	HW("stalled-cycles-backend", "idle-cycles-backend", STALLED_CYCLES_BACKEND,
	   "cycles in which no instruction could be executed"),
	HW("ref-cycles", NULL, REF_CPU_CYCLES, "cycles at a constant frequency"),
	SW("cpu-clock", NULL, CPU_CLOCK, "time on a CPU, by a high-resolution timer"),
	SW("task-clock", NULL, TASK_CLOCK, "time on a CPU of the task"),
	SW("page-faults", "faults", PAGE_FAULTS, "page faults"),
	SW("context-switches", "cs", CONTEXT_SWITCHES, "switches to another task"),
	SW("cpu-migrations", "migrations", CPU_MIGRATIONS, "moves of a task to another CPU"),
	SW("minor-faults", NULL, PAGE_FAULTS_MIN, "page faults that needed no disk"),
	SW("major-faults", NULL, PAGE_FAULTS_MAJ, "page faults that needed the disk"),
	SW("alignment-faults", NULL, ALIGNMENT_FAULTS, "unaligned accesses that the kernel fixed"),
	SW("emulation-faults", NULL, EMULATION_FAULTS, "instructions that the kernel emulated"),
	SW("dummy", NULL, DUMMY, "counts nothing: carries records about processes"),
	SW("bpf-output", NULL, BPF_OUTPUT, "samples written by BPF programs"),
	{ "cgroup-switches", NULL, PERF_TYPE_SOFTWARE, SW_CGROUP_SWITCHES,
	  "switches to a task of another cgroup" },
	{ 0 },
};

const struct event_name *event_names(void)
{
	return names;
}

static bool span_is(const char *s, size_t n, const char *name)
{
	return name && strlen(name) == n && memcmp(s, name, n) == 0;
}

const struct event_name *event_name_find(const char *s, size_t n)
{
	for (const struct event_name *e = names; e->name; e++) {
		if (span_is(s, n, e->name) || span_is(s, n, e->alias))
			return e;
	}
	return NULL;
}

/* Spellings of one part; the first is how we write it, the second its plural where there is one. */
enum { SPELLINGS = 5 };
typedef const char *const spelling[SPELLINGS];

static const spelling caches[CACHE_COUNT] = {
	{ "L1-dcache", "l1-d", "l1d", "L1-data" },
	{ "L1-icache", "l1-i", "l1i", "L1-instruction" },
	{ "LLC", "L2" },
	{ "dTLB", "d-tlb", "Data-TLB" },
	{ "iTLB", "i-tlb", "Instruction-TLB" },
	{ "branch", "branches", "bpu", "btb", "bpc" },
	{ "node" },
};
static const spelling ops[CACHE_OP_COUNT] = {
	{ "load", "loads", "read" },
	{ "store", "stores", "write" },
	{ "prefetch", "prefetches", "speculative-read", "speculative-load" },
};
static const spelling results[CACHE_RESULT_COUNT] = {
	{ "refs", "Reference", "ops", "access" },
	{ "misses", "miss" },
};

enum { CAN_LOAD = 1, CAN_STORE = 2, CAN_PREFETCH = 4, CAN_ALL = 7 };
static const u8 cache_ops[CACHE_COUNT] = {
	CAN_ALL, CAN_LOAD | CAN_PREFETCH, CAN_ALL, CAN_ALL, CAN_LOAD, CAN_LOAD, CAN_ALL,
};

/*
 * The longest spelling that @s begins with and that ends at a '-' or the end; its index in the
 * table, or -1.
 */
static int part_find(const spelling *table, u32 count, const char *s, size_t n, size_t *ret_len)
{
	size_t best = 0;
	int found = -1;

	for (u32 i = 0; i < count; i++) {
		for (u32 j = 0; j < SPELLINGS && table[i][j]; j++) {
			size_t len = strlen(table[i][j]);

			if (len > n || len <= best || strncasecmp(s, table[i][j], len) != 0)
				continue;
			if (len < n && s[len] != '-')
				continue;
			best = len;
			found = (int)i;
		}
	}
	*ret_len = best;
	return found;
}

bool cache_name_find(const char *s, size_t n, u64 *ret_config)
{
	int op = -1, result = -1, cache;
	size_t len;

	cache = part_find(caches, CACHE_COUNT, s, n, &len);
	if (cache < 0)
		return false;
	while (len < n) {
		s += len + 1;
		n -= len + 1;
		int i = op < 0 ? part_find(ops, CACHE_OP_COUNT, s, n, &len) : -1;

		if (i >= 0) {
			op = i;
			continue;
		}
		i = result < 0 ? part_find(results, CACHE_RESULT_COUNT, s, n, &len) : -1;
		if (i < 0)
			return false;
		result = i;
	}
	op = MAX(op, 0);
	result = MAX(result, 0);
	if (!(cache_ops[cache] & (1u << op)))
		return false;
	*ret_config = (u64)cache | (u64)op << 8 | (u64)result << 16;
	return true;
}

bool cache_name_make(u32 cache, u32 op, u32 result, char ret[static CACHE_NAME_MOST])
{
	if (cache >= CACHE_COUNT || op >= CACHE_OP_COUNT || result >= CACHE_RESULT_COUNT ||
	    !(cache_ops[cache] & (1u << op)))
		return false;
	if (result)
		snprintf(ret, CACHE_NAME_MOST, "%s-%s-%s", caches[cache][0], ops[op][0],
			 results[result][0]);
	else
		snprintf(ret, CACHE_NAME_MOST, "%s-%s", caches[cache][0], ops[op][1]);
	return true;
}
