/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a recording says about itself and its machine: perf's feature sections, parsed.
 *
 * All memory belongs to the recording. Strings are NULL, numbers 0 and arrays empty when the
 * section is missing or broken (then recording_counts.bad_features counts it). For a recording
 * in pipe mode the contents grow while it is read.
 */
#ifndef RECORDING_INFO_H
#define RECORDING_INFO_H

#include "base/vec.h"

#include <linux/perf_event.h>

enum recording_feature {
	FEATURE_TRACING_DATA = 1,
	FEATURE_BUILD_ID = 2,
	FEATURE_HOSTNAME = 3,
	FEATURE_OSRELEASE = 4,
	FEATURE_VERSION = 5,
	FEATURE_ARCH = 6,
	FEATURE_NRCPUS = 7,
	FEATURE_CPUDESC = 8,
	FEATURE_CPUID = 9,
	FEATURE_TOTAL_MEM = 10,
	FEATURE_CMDLINE = 11,
	FEATURE_EVENT_DESC = 12,
	FEATURE_CPU_TOPOLOGY = 13,
	FEATURE_NUMA_TOPOLOGY = 14,
	FEATURE_BRANCH_STACK = 15,
	FEATURE_PMU_MAPPINGS = 16,
	FEATURE_GROUP_DESC = 17,
	FEATURE_AUXTRACE = 18,
	FEATURE_STAT = 19,
	FEATURE_CACHE = 20,
	FEATURE_SAMPLE_TIME = 21,
	FEATURE_MEM_TOPOLOGY = 22,
	FEATURE_CLOCKID = 23,
	FEATURE_DIR_FORMAT = 24,
	FEATURE_BPF_PROG_INFO = 25,
	FEATURE_BPF_BTF = 26,
	FEATURE_COMPRESSED = 27,
	FEATURE_CPU_PMU_CAPS = 28,
	FEATURE_CLOCK_DATA = 29,
	FEATURE_HYBRID_TOPOLOGY = 30,
	FEATURE_PMU_CAPS = 31,
	FEATURE_PERF_END = 32, /* the last that perf 6.1 knows, plus one */
	/* ours, which perf passes over: bytes whose meaning is not recording's to know */
	FEATURE_NAMES = 200,     /* of functions: symbols_export() */
	FEATURE_USER_DATA = 201, /* what the user had to say about it */
	FEATURE_HEALTH = 202,    /* profile/health.h */
	FEATURE_PYTHON = 203,    /* lines of functions of Python: python_names_export_lines() */
	FEATURE_CODE = 204,      /* names of run-time code: symbols_code_pack() */
	FEATURE_ACCOUNTS = 205,  /* profile/accounts.h */
	FEATURE_LINES = 206,     /* source lines: symbols_lines_export() */
	FEATURE_COUNTERS = 207,  /* of the machine: counters/track.h */
	FEATURE_OURS = FEATURE_NAMES,
	FEATURE_OURS_LAST = 207,
	FEATURE_BITS = 256,
};

/* One event (perf_event_attr) of the recording. */
struct recording_event {
	struct perf_event_attr attr; /* attr.size as in the file; fields beyond it are 0 */
	const char *name; /* never NULL: "cpu-clock:u", "sched:sched_switch", "off-cpu" */
	const char *unit; /* or NULL */
	double scale;     /* 0: none given */
	const u64 *ids;
	size_t n_ids;
	u32 leader;    /* index of the group's leader; itself when alone */
	u32 n_members; /* of a leader: events in its group, itself included */
};

struct recording_build_id {
	u32 pid; /* RECORD_NO_PID for host-wide */
	u16 misc;
	u8 id[20];
	u8 id_size;
	const char *path;
};

/* A tracepoint's format file. */
struct recording_format {
	const char *system;
	const char *name;
	u32 id;           /* attr.config of its events */
	const char *text; /* the file, NUL-terminated */
	size_t text_size;
};

struct recording_cpu {
	s32 core, socket, die; /* -1: unknown */
};

struct recording_node {
	u32 node;
	u64 mem_total_kb, mem_free_kb;
	const char *cpus; /* "0-3,8" */
};

struct recording_pmu {
	u32 type;
	const char *name;
};

struct recording_group {
	const char *name;
	u32 leader;
	u32 n_members;
};

struct recording_cache {
	u32 level, line_size, sets, ways;
	const char *type, *size, *cpus;
};

struct recording_mem_node {
	u64 node;
	u64 n_bits;
	const u64 *bits; /* memory blocks of the node */
};

/* One program of BPF_PROG_INFO. */
struct recording_bpf_prog {
	u32 type, id;
	u32 btf_id;
	u8 tag[8];
	const char *name;
	u32 n_funcs;
	const u64 *func_addrs;    /* n_funcs */
	const u32 *func_lens;     /* n_funcs, or NULL */
	const u8 (*func_tags)[8]; /* n_funcs, or NULL: they have the program's */
	const u32 *func_types;    /* n_funcs ids in the BTF, or NULL */
	const void *info; /* struct bpf_prog_info as in the file; pointers are offsets in data */
	u32 info_size;
	const void *data;
	u32 data_size;
};

struct recording_btf {
	u32 id;
	u32 size;
	const void *data;
};

struct recording_blob {
	u32 feature;
	size_t size;
	const void *data;
};

struct recording_thread {
	u64 pid;
	const char *comm;
};

typedef VEC(const char *) recording_strings;

struct recording_info {
	bool pipe;       /* 16-byte header, everything in the stream */
	bool swapped;    /* written by a machine of the other byte order */
	bool unfinished; /* the recorder was killed: there are no sections */
	bool running;    /* ... or records still */
	bool no_room;    /* ... or the disk was full */
	u64 features[4]; /* bits that the file has */
	u64 data_offset, data_size;

	const char *hostname, *osrelease, *version, *arch, *cpudesc, *cpuid;
	u32 cpus_available, cpus_online;
	u64 total_mem_kb;
	recording_strings cmdline;
	recording_strings core_siblings, thread_siblings, die_siblings; /* cpu lists as text */
	VEC(struct recording_cpu) cpus;
	VEC(struct recording_node) nodes;
	VEC(struct recording_pmu) pmus;
	VEC(struct recording_group) groups;
	VEC(struct recording_cache) caches;
	u64 mem_block_size;
	VEC(struct recording_mem_node) mem_nodes;
	u64 first_time, last_time; /* SAMPLE_TIME */
	u64 clock_resolution_ns;   /* CLOCKID */
	bool has_clock_data;       /* then wall = wall_ns + (time - clock_ns) */
	u32 clock_id;
	u64 clock_wall_ns, clock_ns;
	u32 zstd_version, zstd_type, zstd_level, zstd_ratio, zstd_mmap_len; /* COMPRESSED */
	VEC(struct recording_build_id) build_ids;
	VEC(struct recording_bpf_prog) bpf_progs;
	VEC(struct recording_btf) btfs;

	bool has_tracing;
	bool tracing_big_endian; /* of raw sample data */
	u32 tracing_long_size;   /* 4 or 8 */
	u32 tracing_page_size;
	const char *header_page, *header_event; /* format text */
	VEC(struct recording_format) formats;
	const char *printk; /* lines '0xADDRESS : "text"' of strings in the kernel, or NULL */

	bool has_time_conv; /* TSC to time: TIME_CONV */
	u64 time_shift, time_mult, time_zero;
	VEC(struct recording_thread) threads; /* THREAD_MAP: what was asked to be recorded */
	VEC(u32) cpu_map;                     /* CPU_MAP */

	VEC(struct recording_blob) blobs; /* sections that are not parsed, as they are */
};

/* The feature's raw bytes if it is kept raw (ours, and those that perf invents later), or NULL. */
const struct recording_blob *recording_info_blob(const struct recording_info *info, u32 feature);
/* The format of a tracepoint by attr.config, or NULL. */
const struct recording_format *recording_info_format(const struct recording_info *info, u64 id);
bool recording_info_has(const struct recording_info *info, u32 feature);

#endif
