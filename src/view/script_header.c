/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a recording says about itself and its machine, as comment lines. */
#include "view/script.h"

#include "base/fmt.h"
#include "host/btf.h"

#include <time.h>

typedef unsigned long long ull;

/* As perf has them; those without a name are younger than perf 6.1. */
static const char *const feature_words[FEATURE_PERF_END] = {
	[FEATURE_TRACING_DATA] = "TRACING_DATA",
	[FEATURE_BUILD_ID] = "BUILD_ID",
	[FEATURE_HOSTNAME] = "HOSTNAME",
	[FEATURE_OSRELEASE] = "OSRELEASE",
	[FEATURE_VERSION] = "VERSION",
	[FEATURE_ARCH] = "ARCH",
	[FEATURE_NRCPUS] = "NRCPUS",
	[FEATURE_CPUDESC] = "CPUDESC",
	[FEATURE_CPUID] = "CPUID",
	[FEATURE_TOTAL_MEM] = "TOTAL_MEM",
	[FEATURE_CMDLINE] = "CMDLINE",
	[FEATURE_EVENT_DESC] = "EVENT_DESC",
	[FEATURE_CPU_TOPOLOGY] = "CPU_TOPOLOGY",
	[FEATURE_NUMA_TOPOLOGY] = "NUMA_TOPOLOGY",
	[FEATURE_BRANCH_STACK] = "BRANCH_STACK",
	[FEATURE_PMU_MAPPINGS] = "PMU_MAPPINGS",
	[FEATURE_GROUP_DESC] = "GROUP_DESC",
	[FEATURE_AUXTRACE] = "AUXTRACE",
	[FEATURE_STAT] = "STAT",
	[FEATURE_CACHE] = "CACHE",
	[FEATURE_SAMPLE_TIME] = "SAMPLE_TIME",
	[FEATURE_MEM_TOPOLOGY] = "MEM_TOPOLOGY",
	[FEATURE_CLOCKID] = "CLOCKID",
	[FEATURE_DIR_FORMAT] = "DIR_FORMAT",
	[FEATURE_BPF_PROG_INFO] = "BPF_PROG_INFO",
	[FEATURE_BPF_BTF] = "BPF_BTF",
	[FEATURE_COMPRESSED] = "COMPRESSED",
	[FEATURE_CPU_PMU_CAPS] = "CPU_PMU_CAPS",
	[FEATURE_CLOCK_DATA] = "CLOCK_DATA",
	[FEATURE_HYBRID_TOPOLOGY] = "HYBRID_TOPOLOGY",
	[FEATURE_PMU_CAPS] = "PMU_CAPS",
};

static void text(struct buf *b, const char *name, const char *value)
{
	if (value)
		buf_addf(b, "# %s : %s\n", name, value);
}

static void file_lines(const struct recording_info *info, u64 file_time, struct buf *b)
{
	time_t t = (time_t)file_time;
	struct tm tm;
	char when[64];

	if (info->pipe)
		return;
	if (file_time && localtime_r(&t, &tm) &&
	    strftime(when, sizeof(when), "%a %b %e %T %Y", &tm))
		buf_addf(b, "# captured on    : %s\n", when);
	buf_addstr(b, "# header version : 1\n");
	buf_addf(b, "# data offset    : %llu\n# data size      : %llu\n# feat offset    : %llu\n",
		 (ull)info->data_offset, (ull)info->data_size,
		 (ull)info->data_offset + (ull)info->data_size);
}

static void machine_lines(const struct recording_info *info, struct buf *b)
{
	text(b, "hostname", info->hostname);
	text(b, "os release", info->osrelease);
	text(b, "perf version", info->version);
	text(b, "arch", info->arch);
	if (info->cpus_available) {
		buf_addf(b, "# nrcpus online : %u\n", info->cpus_online);
		buf_addf(b, "# nrcpus avail : %u\n", info->cpus_available);
	}
	text(b, "cpudesc", info->cpudesc);
	text(b, "cpuid", info->cpuid);
	if (info->total_mem_kb)
		buf_addf(b, "# total memory : %llu kB\n", (ull)info->total_mem_kb);
	if (!info->cmdline.len)
		return;
	buf_addstr(b, "# cmdline : ");
	/* quotes as perf sets them, so that the line can be run again */
	vec_each(word, &info->cmdline) {
		for (const char *p = *word; *p; p++)
			buf_addf(b, *p == '\'' ? "\\'" : "%c", *p);
		buf_addch(b, ' ');
	}
	buf_addch(b, '\n');
}

static void event_lines(const struct recording *r, struct buf *b)
{
	for (u32 i = 0; i < recording_n_events(r); i++) {
		const struct recording_event *ev = recording_event(r, i);

		buf_addf(b, "# event : name = %s, ", ev->name);
		if (ev->n_ids)
			buf_addstr(b, ", id = {");
		for (size_t j = 0; j < ev->n_ids; j++)
			buf_addf(b, "%s %llu", j ? "," : "", (ull)ev->ids[j]);
		if (ev->n_ids)
			buf_addstr(b, " }");
		script_attr(&ev->attr, ", ", " = ", b);
		buf_addch(b, '\n');
	}
}

static void siblings(struct buf *b, const char *what, const recording_strings *list)
{
	vec_each(s, list)
		buf_addf(b, "# sibling %-8s: %s\n", what, *s);
}

static void topology_lines(const struct recording_info *info, struct buf *b)
{
	bool dies = info->die_siblings.len > 0;
	size_t i = 0;

	siblings(b, "sockets ", &info->core_siblings);
	siblings(b, "dies    ", &info->die_siblings);
	siblings(b, "threads ", &info->thread_siblings);
	vec_each(cpu, &info->cpus) {
		buf_addf(b, "# CPU %zu: Core ID %d", i++, cpu->core);
		if (dies)
			buf_addf(b, ", Die ID %d", cpu->die);
		buf_addf(b, ", Socket ID %d\n", cpu->socket);
	}
	vec_each(n, &info->nodes) {
		buf_addf(b, "# node%u meminfo  : total = %llu kB, free = %llu kB\n", n->node,
			 (ull)n->mem_total_kb, (ull)n->mem_free_kb);
		buf_addf(b, "# node%u cpu list : %s\n", n->node, n->cpus ? n->cpus : "");
	}
}

static void cache_lines(const struct recording_info *info, struct buf *b)
{
	if (!info->caches.len)
		return;
	buf_addstr(b, "# CPU cache info:\n");
	vec_each(c, &info->caches)
		buf_addf(b, "#  L%u %-15s %8s [%s]\n", c->level, c->type, c->size, c->cpus);
}

static void available(const struct recording_info *info, u32 feature, struct buf *b)
{
	if (recording_info_has(info, feature))
		buf_addf(b, "# %s info available, use -I to display\n", feature_words[feature]);
}

static void time_lines(const struct recording_info *info, struct buf *b)
{
	u64 first = info->first_time, last = info->last_time;

	if (!recording_info_has(info, FEATURE_SAMPLE_TIME))
		return;
	buf_addf(b, "# time of first sample : %llu.%06llu\n", (ull)(first / NSEC_PER_SEC),
		 (ull)(first % NSEC_PER_SEC / 1000));
	buf_addf(b, "# time of last sample : %llu.%06llu\n", (ull)(last / NSEC_PER_SEC),
		 (ull)(last % NSEC_PER_SEC / 1000));
	buf_addf(b, "# sample duration : %10.3f ms\n", (double)(last - first) / 1e6);
}

static void pmu_lines(const struct recording_info *info, struct buf *b)
{
	const char *before = "# pmu mappings: ";

	vec_each(p, &info->pmus) {
		buf_addf(b, "%s%s = %u", before, p->name, p->type);
		before = ", ";
	}
	if (info->pmus.len)
		buf_addch(b, '\n');
	vec_each(g, &info->groups)
		buf_addf(b, "# group: %s{leader %u, %u members}\n", g->name ? g->name : "",
			 g->leader, g->n_members);
}

/* "0-23,32-199" of the bits that are set; returns how many these are. */
static u64 add_bits(const u64 *bits, u64 n_bits, struct buf *b)
{
	const char *between = "";
	u64 count = 0;

	for (u64 i = 0, first; i < n_bits; i++) {
		if (!(bits[i / 64] >> (i % 64) & 1))
			continue;
		for (first = i; i + 1 < n_bits && bits[(i + 1) / 64] >> ((i + 1) % 64) & 1;)
			i++;
		buf_addf(b, first < i ? "%s%llu-%llu" : "%s%llu", between, (ull)first, (ull)i);
		between = ",";
		count += i - first + 1;
	}
	return count;
}

static void memory_lines(const struct recording_info *info, struct buf *b)
{
	static const char units[] = "BKMG";

	if (!info->mem_nodes.len)
		return;
	buf_addf(b, "# memory nodes (nr %zu, block size 0x%llx):\n", info->mem_nodes.len,
		 (ull)info->mem_block_size);
	vec_each(n, &info->mem_nodes) {
		_cleanup_buf_ struct buf list = BUF_INIT;
		u64 size = add_bits(n->bits, n->n_bits, &list) * info->mem_block_size;
		size_t unit = 0;

		for (; unit < 3 && size >= 1024; unit++)
			size /= 1024;
		buf_addf(b, "#  %3llu [%llu%c]: %s\n", (ull)n->node, (ull)size, units[unit],
			 buf_str(&list));
	}
}

static void add_bpf_name(const struct recording_bpf_prog *p, const struct kbtf *types, u32 i,
			 struct buf *b)
{
	const char *name = types && p->func_types ? kbtf_name(types, p->func_types[i]) : NULL;

	buf_addstr(b, "bpf_prog_");
	fmt_hex(b, p->func_tags ? p->func_tags[i] : p->tag, sizeof(p->tag));
	if (!name)
		name = p->n_funcs > 1 ? "F" : p->name;
	if (name && *name)
		buf_addf(b, "_%s", name);
}

static void bpf_line(const struct recording_bpf_prog *p, const struct kbtf *types, struct buf *b)
{
	buf_addf(b, "# bpf_prog_info %u:", p->id);
	for (u32 i = 0; i < p->n_funcs; i++) {
		if (p->n_funcs > 1)
			buf_addf(b, "\n# \tsub_prog %u:", i);
		buf_addch(b, ' ');
		add_bpf_name(p, types, i, b);
		buf_addf(b, " addr 0x%llx size %u", (ull)p->func_addrs[i],
			 p->func_lens ? p->func_lens[i] : 0);
	}
	buf_addch(b, '\n');
}

/* Programs of one object share their types, and follow each other. */
static void bpf_lines(const struct recording_info *info, struct buf *b)
{
	struct kbtf *types = NULL;
	u32 id = 0;

	vec_each(p, &info->bpf_progs) {
		if (p->btf_id != id) {
			kbtf_free(types);
			types = NULL;
			id = p->btf_id;
			vec_each(t, &info->btfs)
				if (t->id == id && !types)
					(void)kbtf_parse(t->data, t->size, "BPF", &types, NULL);
		}
		bpf_line(p, types, b);
	}
	kbtf_free(types);
	vec_each(t, &info->btfs)
		buf_addf(b, "# btf info of id %u\n", t->id);
}

static const char *clock_name(u32 id)
{
	switch (id) {
	case CLOCK_REALTIME: return "realtime";
	case CLOCK_MONOTONIC: return "monotonic";
	case CLOCK_MONOTONIC_RAW: return "monotonic_raw";
	case CLOCK_BOOTTIME: return "boottime";
	case CLOCK_TAI: return "tai";
	default: return "(not found)";
	}
}

static void clock_lines(const struct recording_info *info, struct buf *b)
{
	time_t t = (time_t)(info->clock_wall_ns / NSEC_PER_SEC);
	ull us = info->clock_wall_ns % NSEC_PER_SEC / 1000;
	struct tm tm;
	char when[64];

	if (!info->has_clock_data)
		return;
	buf_addf(b, "# clockid: %s (%u)\n", clock_name(info->clock_id), info->clock_id);
	if (!localtime_r(&t, &tm) || !strftime(when, sizeof(when), "%F %T", &tm))
		return;
	buf_addf(b, "# reference time: %s.%06llu = %llu.%06llu (TOD) = %llu.%09llu (%s)\n", when,
		 us, (ull)t, us, (ull)(info->clock_ns / NSEC_PER_SEC),
		 (ull)(info->clock_ns % NSEC_PER_SEC), clock_name(info->clock_id));
}

static void rest_lines(const struct recording_info *info, struct buf *b)
{
	if (recording_info_has(info, FEATURE_CLOCKID))
		buf_addf(b, "# clockid frequency: %llu MHz\n",
			 (ull)(info->clock_resolution_ns ? 1000 / info->clock_resolution_ns : 0));
	bpf_lines(info, b);
	if (recording_info_has(info, FEATURE_COMPRESSED))
		buf_addf(b, "# compressed : %s, level = %u, ratio = %u\n",
			 info->zstd_type == 1 ? "Zstd" : "Unknown", info->zstd_level,
			 info->zstd_ratio);
	clock_lines(info, b);
}

static void missing_line(const struct recording_info *info, struct buf *b)
{
	if (info->pipe)
		return;
	buf_addstr(b, "# missing features: ");
	for (u32 i = 0; i < FEATURE_PERF_END; i++)
		if (feature_words[i] && !recording_info_has(info, i))
			buf_addf(b, "%s ", feature_words[i]);
	buf_addch(b, '\n');
}

void script_header(const struct recording *r, u64 file_time, bool all, struct buf *out)
{
	const struct recording_info *info = recording_info(r);

	buf_addstr(out, "# ========\n");
	file_lines(info, file_time, out);
	machine_lines(info, out);
	event_lines(r, out);
	if (all) {
		topology_lines(info, out);
	} else {
		available(info, FEATURE_CPU_TOPOLOGY, out);
		available(info, FEATURE_NUMA_TOPOLOGY, out);
	}
	pmu_lines(info, out);
	if (all)
		cache_lines(info, out);
	else
		available(info, FEATURE_CACHE, out);
	time_lines(info, out);
	if (all)
		memory_lines(info, out);
	else
		available(info, FEATURE_MEM_TOPOLOGY, out);
	rest_lines(info, out);
	missing_line(info, out);
	buf_addstr(out, "# ========\n#\n");
}
