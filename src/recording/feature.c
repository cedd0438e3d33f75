/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Feature sections, one parser each; what has none is kept as it is. */
#include "recording/reader.h"

#include "recording/format.h"

typedef int (*feature_parser)(struct recording *r, struct bytes *b);

struct feature_kind {
	const char *name;
	feature_parser parse;
	size_t string; /* offset in recording_info of a section that is one string */
};

static int parse_nrcpus(struct recording *r, struct bytes *b)
{
	r->info.cpus_available = bytes_u32(b);
	r->info.cpus_online = bytes_u32(b);
	return 0;
}

static int parse_total_mem(struct recording *r, struct bytes *b)
{
	r->info.total_mem_kb = bytes_u64(b);
	return 0;
}

static int parse_cmdline(struct recording *r, struct bytes *b)
{
	u32 n = bytes_u32(b);

	vec_clear(&r->info.cmdline);
	for (u32 i = 0; i < n && !b->bad; i++) {
		const char *arg = bytes_string(b, &r->arena);

		if (arg)
			vec_push(&r->info.cmdline, arg);
	}
	return 0;
}

/* The event that a description is about: by its ids, otherwise by its place. */
static u32 described_event(struct recording *r, u32 index, const struct bytes *ids)
{
	struct bytes b = *ids;
	u32 event = bytes_left(&b) >= 8 ? recording_find_id(r, bytes_u64(&b)) : RECORD_NO_EVENT;

	return event != RECORD_NO_EVENT ? event : index;
}

static int parse_event_desc(struct recording *r, struct bytes *b)
{
	u32 n = bytes_u32(b), attr_size = bytes_u32(b);

	for (u32 i = 0; i < n && !b->bad; i++) {
		const char *name;
		struct bytes ids;
		u32 n_ids;

		bytes_take(b, attr_size);
		n_ids = bytes_u32(b);
		name = bytes_string(b, &r->arena);
		ids = bytes_of(b->p, MIN(bytes_left(b), (u64)n_ids * 8), b->swap);
		bytes_take(b, (u64)n_ids * 8);
		if (!b->bad)
			recording_name_event(r, described_event(r, i, &ids), name);
	}
	return 0;
}

static int parse_pmus(struct recording *r, struct bytes *b)
{
	u32 n = bytes_u32(b);

	vec_clear(&r->info.pmus);
	for (u32 i = 0; i < n && !b->bad; i++) {
		struct recording_pmu pmu = { .type = bytes_u32(b) };

		pmu.name = bytes_string(b, &r->arena);
		if (pmu.name)
			vec_push(&r->info.pmus, pmu);
	}
	return 0;
}

static void apply_group(struct recording *r, const struct recording_group *g)
{
	if (g->leader >= r->events.len || g->n_members > r->events.len - g->leader)
		return;
	r->events.items[g->leader].n_members = g->n_members;
	for (u32 i = 0; i < g->n_members; i++)
		r->events.items[g->leader + i].leader = g->leader;
}

static int parse_groups(struct recording *r, struct bytes *b)
{
	u32 n = bytes_u32(b), next = 0;

	vec_clear(&r->info.groups);
	for (u32 i = 0; i < n && !b->bad; i++) {
		struct recording_group g = { .name = bytes_string(b, &r->arena) };

		g.leader = bytes_u32(b);
		g.n_members = bytes_u32(b);
		/* Groups follow each other; this also keeps the work below linear. */
		if (b->bad || g.leader < next || g.n_members > UINT32_MAX - g.leader)
			return -EBADMSG;
		next = g.leader + g.n_members;
		vec_push(&r->info.groups, g);
		apply_group(r, &g);
	}
	return 0;
}

static int parse_sample_time(struct recording *r, struct bytes *b)
{
	u64 first = bytes_u64(b), last = bytes_u64(b);

	/* perf writes -1 when its samples had no time. */
	if (first == UINT64_MAX || last == UINT64_MAX)
		return 0;
	r->info.first_time = first;
	r->info.last_time = last;
	return 0;
}

static int parse_clockid(struct recording *r, struct bytes *b)
{
	r->info.clock_resolution_ns = bytes_u64(b);
	return 0;
}

static int parse_clock_data(struct recording *r, struct bytes *b)
{
	u32 version = bytes_u32(b);

	r->info.clock_id = bytes_u32(b);
	r->info.clock_wall_ns = bytes_u64(b);
	r->info.clock_ns = bytes_u64(b);
	r->info.has_clock_data = !b->bad;
	return version == 1 ? 0 : -EBADMSG;
}

static int parse_compressed(struct recording *r, struct bytes *b)
{
	r->info.zstd_version = bytes_u32(b);
	r->info.zstd_type = bytes_u32(b);
	r->info.zstd_level = bytes_u32(b);
	r->info.zstd_ratio = bytes_u32(b);
	r->info.zstd_mmap_len = bytes_u32(b);
	return 0;
}

/* s32 pid, u8 id[20], u8 size, 3 more, path. */
int recording_add_build_id(struct recording *r, u16 misc, struct bytes *b)
{
	struct recording_build_id id = { .misc = misc, .pid = bytes_u32(b) };
	const u8 *bytes = bytes_take(b, 24);

	id.path = bytes_cstring(b, &r->arena);
	if (b->bad)
		return -EBADMSG;
	memcpy(id.id, bytes, sizeof(id.id));
	id.id_size = sizeof(id.id);
	if (misc & FORMAT_MISC_BUILD_ID_SIZE)
		id.id_size = MIN(bytes[20], (u8)sizeof(id.id));
	vec_push(&r->info.build_ids, id);
	return 0;
}

static int feature_parse_build_ids(struct recording *r, struct bytes *b)
{
	while (bytes_left(b) >= 8) {
		u16 misc, size;
		struct bytes one;

		(void)bytes_u32(b); /* type: some writers leave it 0 */
		misc = bytes_u16(b);
		size = bytes_u16(b);
		if (size < 8)
			return -EBADMSG;
		one = bytes_of(b->p, MIN(bytes_left(b), size - 8u), b->swap);
		if (!bytes_take(b, size - 8u) || recording_add_build_id(r, misc, &one) < 0)
			return -EBADMSG;
	}
	return 0;
}

#define STRING(field) .string = offsetof(struct recording_info, field)

static const struct feature_kind kinds[FEATURE_PERF_END] = {
	[FEATURE_TRACING_DATA] = { "tracing_data", feature_parse_tracing, 0 },
	[FEATURE_BUILD_ID] = { "build_id", feature_parse_build_ids, 0 },
	[FEATURE_HOSTNAME] = { "hostname", STRING(hostname) },
	[FEATURE_OSRELEASE] = { "osrelease", STRING(osrelease) },
	[FEATURE_VERSION] = { "version", STRING(version) },
	[FEATURE_ARCH] = { "arch", STRING(arch) },
	[FEATURE_NRCPUS] = { "nrcpus", parse_nrcpus, 0 },
	[FEATURE_CPUDESC] = { "cpudesc", STRING(cpudesc) },
	[FEATURE_CPUID] = { "cpuid", STRING(cpuid) },
	[FEATURE_TOTAL_MEM] = { "total_mem", parse_total_mem, 0 },
	[FEATURE_CMDLINE] = { "cmdline", parse_cmdline, 0 },
	[FEATURE_EVENT_DESC] = { "event_desc", parse_event_desc, 0 },
	[FEATURE_CPU_TOPOLOGY] = { "cpu_topology", feature_parse_cpu_topology, 0 },
	[FEATURE_NUMA_TOPOLOGY] = { "numa_topology", feature_parse_numa, 0 },
	[FEATURE_BRANCH_STACK] = { "branch_stack", NULL, 0 },
	[FEATURE_PMU_MAPPINGS] = { "pmu_mappings", parse_pmus, 0 },
	[FEATURE_GROUP_DESC] = { "group_desc", parse_groups, 0 },
	[FEATURE_AUXTRACE] = { "auxtrace", NULL, 0 },
	[FEATURE_STAT] = { "stat", NULL, 0 },
	[FEATURE_CACHE] = { "cache", feature_parse_cache, 0 },
	[FEATURE_SAMPLE_TIME] = { "sample_time", parse_sample_time, 0 },
	[FEATURE_MEM_TOPOLOGY] = { "mem_topology", feature_parse_mem_topology, 0 },
	[FEATURE_CLOCKID] = { "clockid", parse_clockid, 0 },
	[FEATURE_DIR_FORMAT] = { "dir_format", NULL, 0 },
	[FEATURE_BPF_PROG_INFO] = { "bpf_prog_info", feature_parse_bpf_progs, 0 },
	[FEATURE_BPF_BTF] = { "bpf_btf", feature_parse_btf, 0 },
	[FEATURE_COMPRESSED] = { "compressed", parse_compressed, 0 },
	[FEATURE_CPU_PMU_CAPS] = { "cpu_pmu_caps", NULL, 0 },
	[FEATURE_CLOCK_DATA] = { "clock_data", parse_clock_data, 0 },
	[FEATURE_HYBRID_TOPOLOGY] = { "hybrid_topology", NULL, 0 },
	[FEATURE_PMU_CAPS] = { "pmu_caps", NULL, 0 },
};

void recording_bad_feature(struct recording *r, u64 offset, const char *reason)
{
	if (r->counts.bad_features++ == 0) {
		r->counts.bad_feature_offset = offset;
		r->counts.bad_feature_reason = reason;
	}
}

static void keep_blob(struct recording *r, u32 feature, const void *data, size_t size)
{
	struct recording_blob blob = { .feature = feature, .size = size };

	blob.data = size ? arena_dup(&r->arena, data, size) : "";
	vec_each(old, &r->info.blobs) {
		if (old->feature == feature) {
			*old = blob;
			return;
		}
	}
	vec_push(&r->info.blobs, blob);
}

void recording_read_feature(struct recording *r, u32 feature, const void *data, size_t size,
			    u64 offset)
{
	const struct feature_kind *kind = feature < FEATURE_PERF_END ? &kinds[feature] : NULL;
	struct bytes b = bytes_of(data, size, r->info.swapped);
	int ret = 0;

	if (feature >= FEATURE_BITS)
		return;
	if (r->info_bytes > FORMAT_MAX_INFO || size > FORMAT_MAX_INFO - r->info_bytes) {
		recording_bad_feature(r, offset, "the sections take more than 64 MB");
		return;
	}
	r->info_bytes += size;
	r->info.features[feature / 64] |= 1ull << feature % 64;
	if (kind && kind->string)
		*(const char **)((char *)&r->info + kind->string) = bytes_string(&b, &r->arena);
	else if (kind && kind->parse)
		ret = kind->parse(r, &b);
	if (r->keep_all || !kind || (!kind->string && !kind->parse))
		keep_blob(r, feature, data, size);
	if (ret < 0 || b.bad)
		recording_bad_feature(r, offset,
				      arena_printf(&r->arena, "section '%s' is damaged",
						   kind ? kind->name : "unknown"));
}

const struct recording_blob *recording_info_blob(const struct recording_info *info, u32 feature)
{
	vec_each(blob, &info->blobs)
		if (blob->feature == feature)
			return blob;
	return NULL;
}

const struct recording_format *recording_info_format(const struct recording_info *info, u64 id)
{
	size_t low = 0, high = info->formats.len;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (info->formats.items[mid].id < id)
			low = mid + 1;
		else
			high = mid;
	}
	if (low < info->formats.len && info->formats.items[low].id == id)
		return &info->formats.items[low];
	return NULL;
}

bool recording_info_has(const struct recording_info *info, u32 feature)
{
	return feature < FEATURE_BITS && info->features[feature / 64] >> feature % 64 & 1;
}
