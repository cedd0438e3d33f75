/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/bpf_sys.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

/* Bytes of union bpf_attr up to the end of the member: older kernels take a shorter one. */
#define ATTR_SIZE(member) \
	(offsetof(union bpf_attr, member) + sizeof(((union bpf_attr *)NULL)->member))

/* BPF_LINK_CREATE for uprobe_multi, which is newer than the headers we build with. */
struct uprobes_attr {
	u32 prog_fd;
	u32 target_fd;
	u32 attach_type;
	u32 flags;
	u64 path;
	u64 offsets;
	u64 ref_ctr_offsets;
	u64 cookies;
	u32 count;
	u32 probe_flags;
	u32 pid;
	u32 pad;
};
_Static_assert(sizeof(struct uprobes_attr) == 64, "layout of the kernel");

static u64 pointer(const void *p)
{
	return (u64)(uintptr_t)p;
}

static int bpfsys(int cmd, const void *attr, size_t size)
{
	long r;

	/* EAGAIN: a signal came while the verifier worked, the kernel asks for another try. */
	for (int tries = 0; tries < 5; tries++) {
		r = syscall(SYS_bpf, cmd, attr, (unsigned int)size);
		if (r >= 0 || errno != EAGAIN)
			break;
	}
	return r < 0 ? -errno : (int)r;
}

static void object_name(char *to, const char *from)
{
	size_t n = from ? strlen(from) : 0;

	for (size_t i = 0; i < MIN(n, (size_t)BPF_OBJ_NAME_LEN - 1); i++) {
		char c = from[i];
		bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			     (c >= '0' && c <= '9') || c == '_' || c == '.';

		to[i] = plain ? c : '_';
	}
}

int bpfsys_prog_load(const struct bpfsys_prog *prog)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = prog->type;
	attr.expected_attach_type = prog->expected_attach_type;
	attr.insns = pointer(prog->insns);
	attr.insn_cnt = (u32)prog->n_insns;
	attr.license = pointer("GPL");
	attr.prog_flags = prog->flags;
	attr.attach_btf_id = prog->attach_btf_id;
	attr.attach_btf_obj_fd = prog->attach_btf_obj_fd;
	attr.prog_btf_fd = prog->btf_fd;
	attr.func_info = pointer(prog->func_info);
	attr.func_info_rec_size = prog->func_info_rec_size;
	attr.func_info_cnt = prog->func_info_cnt;
	attr.line_info = pointer(prog->line_info);
	attr.line_info_rec_size = prog->line_info_rec_size;
	attr.line_info_cnt = prog->line_info_cnt;
	object_name(attr.prog_name, prog->name);
	if (prog->log && prog->log_size >= BPFSYS_LOG_MIN) {
		prog->log[0] = '\0';
		attr.log_buf = pointer(prog->log);
		attr.log_size = (u32)MIN(prog->log_size, (size_t)UINT32_MAX >> 2);
		attr.log_level = prog->log_level ? prog->log_level : 1;
	}
	return bpfsys(BPF_PROG_LOAD, &attr, ATTR_SIZE(attach_btf_obj_fd));
}

int bpfsys_map_create(const struct bpfsys_map *map)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = map->type;
	attr.key_size = map->key_size;
	attr.value_size = map->value_size;
	attr.max_entries = map->max_entries;
	attr.map_flags = map->flags;
	attr.inner_map_fd = map->inner_map_fd;
	attr.btf_fd = map->btf_fd;
	attr.btf_key_type_id = map->btf_key_type_id;
	attr.btf_value_type_id = map->btf_value_type_id;
	attr.map_extra = map->map_extra;
	object_name(attr.map_name, map->name);
	return bpfsys(BPF_MAP_CREATE, &attr, ATTR_SIZE(map_extra));
}

static int map_element(int cmd, int fd, const void *key, const void *value, u64 flags)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (u32)fd;
	attr.key = pointer(key);
	attr.value = pointer(value);
	attr.flags = flags;
	return bpfsys(cmd, &attr, ATTR_SIZE(flags));
}

int bpfsys_map_lookup(int fd, const void *key, void *ret_value)
{
	return map_element(BPF_MAP_LOOKUP_ELEM, fd, key, ret_value, 0);
}

int bpfsys_map_update(int fd, const void *key, const void *value, u64 flags)
{
	return map_element(BPF_MAP_UPDATE_ELEM, fd, key, value, flags);
}

int bpfsys_map_delete(int fd, const void *key)
{
	return map_element(BPF_MAP_DELETE_ELEM, fd, key, NULL, 0);
}

u64 bpfsys_map_sum(int fd, u32 index)
{
	int cpus = libbpf_num_possible_cpus();
	_cleanup_free_ u64 *values = NULL;
	u64 sum = 0;

	if (cpus <= 0)
		return 0;
	values = xcalloc((size_t)cpus, sizeof(*values));
	if (bpfsys_map_lookup(fd, &index, values) < 0)
		return 0;
	for (int i = 0; i < cpus; i++)
		sum += values[i];
	return sum;
}

int bpfsys_map_next_key(int fd, const void *key, void *ret_next)
{
	return map_element(BPF_MAP_GET_NEXT_KEY, fd, key, ret_next, 0);
}

int bpfsys_map_freeze(int fd)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (u32)fd;
	return bpfsys(BPF_MAP_FREEZE, &attr, ATTR_SIZE(map_fd));
}

int bpfsys_btf_load(const void *data, size_t size, char *log, size_t log_size)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.btf = pointer(data);
	attr.btf_size = (u32)size;
	if (log && log_size >= BPFSYS_LOG_MIN) {
		log[0] = '\0';
		attr.btf_log_buf = pointer(log);
		attr.btf_log_size = (u32)MIN(log_size, (size_t)UINT32_MAX >> 2);
		attr.btf_log_level = 1;
	}
	return bpfsys(BPF_BTF_LOAD, &attr, ATTR_SIZE(btf_log_level));
}

int bpfsys_raw_tracepoint_open(int prog_fd, const char *name)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.raw_tracepoint.name = pointer(name);
	attr.raw_tracepoint.prog_fd = (u32)prog_fd;
	return bpfsys(BPF_RAW_TRACEPOINT_OPEN, &attr, ATTR_SIZE(raw_tracepoint.prog_fd));
}

int bpfsys_link_create(int prog_fd, int target_fd, u32 attach_type, u64 cookie)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.link_create.prog_fd = (u32)prog_fd;
	attr.link_create.target_fd = (u32)target_fd;
	attr.link_create.attach_type = attach_type;
	if (attach_type == BPF_PERF_EVENT)
		attr.link_create.perf_event.bpf_cookie = cookie;
	else
		attr.link_create.tracing.cookie = cookie;
	return bpfsys(BPF_LINK_CREATE, &attr, ATTR_SIZE(link_create));
}

int bpfsys_link_uprobes(int prog_fd, u32 attach_type, const struct bpfsys_uprobes *probes)
{
	const struct uprobes_attr attr = {
		.prog_fd = (u32)prog_fd,
		.attach_type = attach_type,
		.path = pointer(probes->path),
		.offsets = pointer(probes->offsets),
		.ref_ctr_offsets = pointer(probes->ref_ctr_offsets),
		.cookies = pointer(probes->cookies),
		.count = probes->count,
		.probe_flags = probes->flags,
		.pid = probes->pid,
	};

	return bpfsys(BPF_LINK_CREATE, &attr, sizeof(attr));
}

int bpfsys_link_kprobes(int prog_fd, u32 attach_type, const struct bpfsys_kprobes *probes)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.link_create.prog_fd = (u32)prog_fd;
	attr.link_create.attach_type = attach_type;
	attr.link_create.kprobe_multi.flags = probes->flags;
	attr.link_create.kprobe_multi.cnt = probes->count;
	attr.link_create.kprobe_multi.syms = pointer(probes->symbols);
	attr.link_create.kprobe_multi.addrs = pointer(probes->addresses);
	attr.link_create.kprobe_multi.cookies = pointer(probes->cookies);
	return bpfsys(BPF_LINK_CREATE, &attr, ATTR_SIZE(link_create));
}

int bpfsys_link_iter(int prog_fd, const union bpf_iter_link_info *info, size_t size)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.link_create.prog_fd = (u32)prog_fd;
	attr.link_create.attach_type = BPF_TRACE_ITER;
	attr.link_create.iter_info = pointer(info);
	attr.link_create.iter_info_len = (u32)size;
	return bpfsys(BPF_LINK_CREATE, &attr, ATTR_SIZE(link_create));
}

int bpfsys_pin(int fd, const char *path)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.pathname = pointer(path);
	attr.bpf_fd = (u32)fd;
	return bpfsys(BPF_OBJ_PIN, &attr, ATTR_SIZE(bpf_fd));
}

int bpfsys_iter_create(int link_fd)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.iter_create.link_fd = (u32)link_fd;
	return bpfsys(BPF_ITER_CREATE, &attr, ATTR_SIZE(iter_create));
}

static int next_id(int cmd, u32 id, u32 *ret)
{
	union bpf_attr attr;
	int r;

	memset(&attr, 0, sizeof(attr));
	attr.start_id = id;
	r = bpfsys(cmd, &attr, ATTR_SIZE(next_id));
	if (r >= 0)
		*ret = attr.next_id;
	return r;
}

int bpfsys_prog_next(u32 id, u32 *ret)
{
	return next_id(BPF_PROG_GET_NEXT_ID, id, ret);
}

int bpfsys_map_next(u32 id, u32 *ret)
{
	return next_id(BPF_MAP_GET_NEXT_ID, id, ret);
}

static int open_by_id(int cmd, u32 id)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_id = id; /* map_id and btf_id are in the same place */
	return bpfsys(cmd, &attr, ATTR_SIZE(open_flags));
}

int bpfsys_prog_by_id(u32 id)
{
	return open_by_id(BPF_PROG_GET_FD_BY_ID, id);
}

int bpfsys_btf_by_id(u32 id)
{
	return open_by_id(BPF_BTF_GET_FD_BY_ID, id);
}

int bpfsys_map_by_id(u32 id)
{
	return open_by_id(BPF_MAP_GET_FD_BY_ID, id);
}

int bpfsys_open_pinned(const char *path)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.pathname = pointer(path);
	return bpfsys(BPF_OBJ_GET, &attr, ATTR_SIZE(file_flags));
}

int bpfsys_info(int fd, void *info, u32 *len)
{
	union bpf_attr attr;
	int r;

	memset(&attr, 0, sizeof(attr));
	attr.info.bpf_fd = (u32)fd;
	attr.info.info_len = *len;
	attr.info.info = pointer(info);
	r = bpfsys(BPF_OBJ_GET_INFO_BY_FD, &attr, ATTR_SIZE(info));
	if (r >= 0)
		*len = attr.info.info_len;
	return r;
}

u64 bpfsys_prog_misses(int prog_fd)
{
	struct bpf_prog_info info = { 0 };
	u32 len = sizeof(info);

	return bpfsys_info(prog_fd, &info, &len) < 0 ? 0 : info.recursion_misses;
}

int bpfsys_prog_run(int prog_fd, const void *ctx, size_t ctx_size, u32 *ret_value)
{
	union bpf_attr attr;
	int r;

	memset(&attr, 0, sizeof(attr));
	attr.test.prog_fd = (u32)prog_fd;
	attr.test.ctx_in = pointer(ctx);
	attr.test.ctx_size_in = (u32)ctx_size;
	r = bpfsys(BPF_PROG_TEST_RUN, &attr, ATTR_SIZE(test));
	if (r < 0)
		return r;
	*ret_value = attr.test.retval;
	return 0;
}

int perfsys_open(const struct perf_event_attr *attr, int pid, int cpu, int group_fd, u64 flags)
{
	long r = syscall(SYS_perf_event_open, attr, pid, cpu, group_fd,
			 (unsigned long)(flags | PERF_FLAG_FD_CLOEXEC));

	return r < 0 ? -errno : (int)r;
}

int perfsys_open_late(const struct perf_event_attr *attr, const u64 late[static PERFSYS_LATE],
		      int pid, int cpu, int group_fd, u64 flags)
{
	struct {
		u8 known[PERF_ATTR_SIZE_VER7];
		u64 late[PERFSYS_LATE];
	} wide = { .late = { 0 } };
	struct perf_event_attr *a = (void *)&wide;
	u32 words = PERFSYS_LATE;

	while (words && !late[words - 1])
		words--;
	if (!words)
		return perfsys_open(attr, pid, cpu, group_fd, flags);
	memcpy(wide.known, attr, sizeof(wide.known));
	memcpy(wide.late, late, sizeof(wide.late));
	a->size = (u32)(sizeof(wide.known) + words * sizeof(u64));
	return perfsys_open(a, pid, cpu, group_fd, flags);
}

int perfsys_set_bpf(int event_fd, int prog_fd)
{
	return ioctl(event_fd, PERF_EVENT_IOC_SET_BPF, prog_fd) < 0 ? -errno : 0;
}
