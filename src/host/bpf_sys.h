/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bpf(2) and perf_event_open(2) as plain calls: one function per command, no state, no library.
 *
 * Every function returns a new file descriptor (close-on-exec) or 0, and a negative errno on
 * failure. Numbers that the oldest supported uapi headers lack are defined here.
 */
#ifndef HOST_BPF_SYS_H
#define HOST_BPF_SYS_H

#include "base/base.h"

#include <linux/bpf.h>
#include <linux/perf_event.h>

enum {
	BPFSYS_MAP_ARENA = 33,
	BPFSYS_ATTACH_UPROBE_MULTI = 48,
	BPFSYS_UPROBE_MULTI_RETURN = 1 << 0, /* flags of a uprobe_multi link */
	BPFSYS_LOG_MIN = 128,                /* smaller logs are refused by the kernel */
	PERFSYS_LATE = 2,                    /* words of an attr after its 128 bytes */
};

struct bpfsys_prog {
	u32 type;
	u32 expected_attach_type;
	const struct bpf_insn *insns;
	size_t n_insns;
	const char *name; /* at most 15 characters are used; may be NULL */
	u32 attach_btf_id;
	u32 attach_btf_obj_fd; /* BTF of the module that holds it; 0: the kernel itself */
	u32 flags;
	/* Types of functions: needed by programs with callbacks or global functions. */
	u32 btf_fd;
	const void *func_info;
	u32 func_info_rec_size;
	u32 func_info_cnt;
	/* Lines of the source, for the verifier's log. */
	const void *line_info;
	u32 line_info_rec_size;
	u32 line_info_cnt;
	/* Where the verifier writes; NULL: nowhere. Holds a NUL-terminated text after the call. */
	char *log;
	size_t log_size;
	u32 log_level;
};

struct bpfsys_map {
	u32 type;
	u32 key_size;
	u32 value_size;
	u32 max_entries;
	u32 flags;
	const char *name; /* as for programs */
	u32 inner_map_fd;
	u32 btf_fd;
	u32 btf_key_type_id;
	u32 btf_value_type_id;
	u64 map_extra;
};

/* Many user functions of one file with one link (6.6 and newer). */
struct bpfsys_uprobes {
	const char *path;
	const u64 *offsets; /* in the file */
	const u64 *ref_ctr_offsets;
	const u64 *cookies;
	u32 count;
	u32 flags;
	u32 pid; /* 0: every process */
};

/* Many kernel functions with one link (5.18 and newer): names or addresses. */
struct bpfsys_kprobes {
	const char *const *symbols;
	const u64 *addresses;
	const u64 *cookies;
	u32 count;
	u32 flags;
};

int bpfsys_prog_load(const struct bpfsys_prog *prog);
int bpfsys_map_create(const struct bpfsys_map *map);
int bpfsys_map_lookup(int fd, const void *key, void *ret_value);
int bpfsys_map_update(int fd, const void *key, const void *value, u64 flags);
int bpfsys_map_delete(int fd, const void *key);
/* What all CPUs have counted at @index of a per-CPU array of u64. */
u64 bpfsys_map_sum(int fd, u32 index);
/* @key NULL: the first key; -ENOENT after the last. */
int bpfsys_map_next_key(int fd, const void *key, void *ret_next);
int bpfsys_map_freeze(int fd);
int bpfsys_btf_load(const void *data, size_t size, char *log, size_t log_size);
/* @name NULL for a program that names its tracepoint by BTF id. */
int bpfsys_raw_tracepoint_open(int prog_fd, const char *name);
/* Attach types that need no more than a target: iterators, fentry, perf events ... */
int bpfsys_link_create(int prog_fd, int target_fd, u32 attach_type, u64 cookie);
int bpfsys_link_uprobes(int prog_fd, u32 attach_type, const struct bpfsys_uprobes *probes);
int bpfsys_link_kprobes(int prog_fd, u32 attach_type, const struct bpfsys_kprobes *probes);
/* @info says over what, for iterators that need it; else NULL. */
int bpfsys_link_iter(int prog_fd, const union bpf_iter_link_info *info, size_t size);
int bpfsys_iter_create(int link_fd);
/* The program with the next larger id; -ENOENT after the last. */
int bpfsys_prog_next(u32 id, u32 *ret);
int bpfsys_prog_by_id(u32 id);
int bpfsys_btf_by_id(u32 id);
/* The same for maps. */
int bpfsys_map_next(u32 id, u32 *ret);
int bpfsys_map_by_id(u32 id);
/* What has that name in a bpf file system. */
int bpfsys_open_pinned(const char *path);
/* What the kernel says about the object of @fd; *@len is the size of @info, then what came. */
int bpfsys_info(int fd, void *info, u32 *len);
/* Gives a program, map or link a name in a bpf file system, which keeps it. */
int bpfsys_pin(int fd, const char *path);
/* How often the kernel did not run the program because it was running on that CPU already. */
u64 bpfsys_prog_misses(int prog_fd);
/* Runs the program once with the given context bytes; for programs that allow it. */
int bpfsys_prog_run(int prog_fd, const void *ctx, size_t ctx_size, u32 *ret_value);

/* PERF_FLAG_FD_CLOEXEC is added; attr->size must be set. */
int perfsys_open(const struct perf_event_attr *attr, int pid, int cpu, int group_fd, u64 flags);
/* The same with config3 (Linux 6.3) and config4; -E2BIG when the kernel knows no such word. */
int perfsys_open_late(const struct perf_event_attr *attr, const u64 late[static PERFSYS_LATE],
		      int pid, int cpu, int group_fd, u64 flags);
/* Puts a program on a perf event; works on every kernel, the link needs 5.15. */
int perfsys_set_bpf(int event_fd, int prog_fd);

#endif
