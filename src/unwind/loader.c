/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/loader.h"

#include <bpf/bpf.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "host/bpf_log.h"
#include "host/kernel_types.h"
#include "unwind/coretypes.h"
#include "unwind/raw.h"

#define FIRST_PID_NAMESPACE 0xeffffffcu /* its inode is the same on every machine */

void loader_free(void *skel)
{
	struct loader_skel *s = skel;

	if (s)
		bpf_object__destroy_skeleton(s->skeleton);
	free(s);
}

static unsigned long long limit_of(__rlimit_resource_t what)
{
	struct rlimit limit = { 0 };

	(void)getrlimit(what, &limit);
	return (unsigned long long)limit.rlim_cur;
}

static int refused(const struct loader *l, int rc, struct err *e)
{
	err_sys(e, rc, "the kernel refuses the %s program", l->what);
	if (rc == -EPERM)
		err_hint(e, "run as root or with CAP_BPF and CAP_PERFMON");
	else if (err_limit(rc))
		return -EOPNOTSUPP; /* the hint is there */
	else if (rc == -ENOMEM)
		err_hint(e,
			 "memory is short: free some, raise the limit of the control group, or "
			 "that of locked memory ('ulimit -l', %llu KB)",
			 limit_of(RLIMIT_MEMLOCK) >> 10);
	else if (l->needs)
		err_hint(e, "%s", l->needs);
	return rc == -EPERM ? rc : -EOPNOTSUPP;
}

/* The caller's pointer is of its own skeleton's type. */
static void give(void *ret_skel, const struct loader_skel *s)
{
	memcpy(ret_skel, &s, sizeof(s));
}

/* @types: a file that describes the kernel's types; NULL: the kernel's own description. */
static int open_and_load(const struct loader *l, void *ret_skel, bool raw, bool again,
			 const char *types, struct err *e)
{
	LIBBPF_OPTS(bpf_object_open_opts, open, .btf_custom_path = types);
	struct loader_skel *s = xcalloc(1, l->size);
	int rc = l->create(s);

	if (!rc && raw)
		s->skeleton->data = (void *)l->raw(&s->skeleton->data_sz);
	if (!rc)
		rc = bpf_object__open_skeleton(s->skeleton, &open);
	give(ret_skel, s);
	if (rc)
		err_sys(e, rc, "cannot open the %s program", l->what);
	if (!rc)
		rc = l->prepare(l->ctx, again, e);
	if (!rc) {
		rc = bpf_object__load_skeleton(s->skeleton);
		rc = rc ? refused(l, rc, e) : 0;
	}
	if (!rc && raw && bpf_object__find_program_by_name(s->obj, "unwind_find_regs"))
		rc = raw_find_regs(s->obj, e);
	if (rc) {
		give(ret_skel, NULL);
		loader_free(s);
	}
	return rc;
}

static int load(const struct loader *l, bool *ret_raw, void *ret_skel, struct err *e)
{
	_cleanup_buf_ struct buf few = BUF_INIT, all = BUF_INIT;
	bool raw = !kernel_types_own(), again = false;
	const void *object;
	size_t size;
	int rc = 0;

	*ret_raw = raw;
	object = raw ? l->raw(&size) : l->typed(&size);
	if (l->few_types && coretypes_path(object, size, &few) >= 0) {
		if (!open_and_load(l, ret_skel, raw, false, buf_str(&few), NULL))
			return 0;
		/* possibly because of these types: the kernel's own decide */
		(void)unlink(buf_str(&few));
		again = true;
	}
	if (raw)
		rc = kernel_types_path(&all, e);
	return rc < 0 ? rc : open_and_load(l, ret_skel, raw, again, raw ? buf_str(&all) : NULL, e);
}

int loader_load(const struct loader *l, bool *ret_raw, void *ret_skel, struct err *e)
{
	libbpf_print_fn_t print = libbpf_set_print(bpf_log);
	int rc = load(l, ret_raw, ret_skel, e);

	libbpf_set_print(print);
	return rc;
}

static int map_fd(const struct loader_skel *s, const char *name)
{
	return bpf_object__find_map_fd_by_name(s->obj, name);
}

int loader_feed(void *skel, const struct loader_feed *opts, struct unwind_feed **ret, struct err *e)
{
	const struct unwind_feed_maps maps = {
		.bins = map_fd(skel, "unwind_bins"),
		.rules = map_fd(skel, "unwind_rules"),
		.pool = map_fd(skel, "unwind_pool"),
		.epoch = opts->epoch,
		.pythons = opts->python ? map_fd(skel, "unwind_pythons") : 0,
		.later = opts->later,
	};

	return unwind_feed_new(ret, &maps, e);
}

int loader_ring(void *skel, ring_buffer_sample_fn fn, void *ctx, struct ring_buffer **ret,
		struct err *e)
{
	libbpf_print_fn_t print = libbpf_set_print(bpf_log);
	int failed;

	*ret = ring_buffer__new(map_fd(skel, "unwind_ring"), fn, ctx, NULL);
	failed = errno;
	libbpf_set_print(print);
	return *ret ? 0 : err_sys(e, failed, "cannot map the ring");
}

bool unwind_own_pidns(u64 *ret_dev, u64 *ret_ino)
{
	struct stat own;

	if (stat("/proc/self/ns/pid", &own) || own.st_ino == FIRST_PID_NAMESPACE)
		return false;
	*ret_dev = own.st_dev;
	*ret_ino = own.st_ino;
	return true;
}

void unwind_counters_read(int fd, struct unwind_counts *ret)
{
	int cpus = libbpf_num_possible_cpus();
	_cleanup_free_ struct unwind_counts *values =
		xcalloc((size_t)MAX(cpus, 1), sizeof(*values));
	u32 all = 0;

	*ret = (struct unwind_counts){ 0 };
	if (cpus <= 0 || bpf_map_lookup_elem(fd, &all, values))
		return;
	for (int cpu = 0; cpu < cpus; cpu++) {
		for (u32 i = 0; i < UNWIND_COUNTERS; i++)
			ret->n[i] += values[cpu].n[i];
	}
}
