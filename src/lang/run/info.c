/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --info: what of the kernel programs can use here. Every line comes from a trial. */
#include "lang/lang.h"

#include "host/bpf_sys.h"
#include "host/features.h"

#include <sys/utsname.h>

enum { INFO_LOG = 4096 };

static void add_line(struct buf *out, const char *name, bool yes)
{
	buf_addf(out, "  %s: %s\n", name, yes ? "yes" : "no");
}

static void add_system(struct buf *out)
{
	struct utsname u;

	if (uname(&u) < 0)
		return;
	buf_addf(out, "System\n  OS: %s %s %s\n  Arch: %s\n\n", u.sysname, u.release, u.version,
		 u.machine);
}

/* What this program was built with, under the names that scripts look for. */
static void add_build(struct buf *out)
{
	buf_addstr(out, "Build\n  version: v0.27.1 (fathom)\n");
	add_line(out, "LLVM", false);
	add_line(out, "bfd", false);
#ifdef HAVE_LIBDW
	add_line(out, "libdw (DWARF support)", true);
#else
	add_line(out, "libdw (DWARF support)", false);
#endif
	add_line(out, "libsystemd (systemd notify support)", false);
	add_line(out, "blazesym (advanced symbolization)", false);
	add_line(out, "dwunwind (DWARF stack unwinding)", true);
	buf_addch(out, '\n');
}

/* --- helpers ---------------------------------------------------------------------------------- */

struct helper {
	const char *name;
	u32 number;
	u32 prog_type;
};

static const struct helper helpers[] = {
	{ "probe_read_kernel", BPF_FUNC_probe_read_kernel, BPF_PROG_TYPE_RAW_TRACEPOINT },
	{ "probe_read_kernel_str", BPF_FUNC_probe_read_kernel_str, BPF_PROG_TYPE_RAW_TRACEPOINT },
	{ "probe_read_user", BPF_FUNC_probe_read_user, BPF_PROG_TYPE_RAW_TRACEPOINT },
	{ "probe_read_user_str", BPF_FUNC_probe_read_user_str, BPF_PROG_TYPE_RAW_TRACEPOINT },
	{ "probe_write_user", BPF_FUNC_probe_write_user, BPF_PROG_TYPE_RAW_TRACEPOINT },
	{ "copy_from_user", BPF_FUNC_copy_from_user, BPF_PROG_TYPE_KPROBE },
	{ "get_current_cgroup_id", BPF_FUNC_get_current_cgroup_id, BPF_PROG_TYPE_RAW_TRACEPOINT },
	{ "send_signal", BPF_FUNC_send_signal, BPF_PROG_TYPE_RAW_TRACEPOINT },
	{ "override_return", BPF_FUNC_override_return, BPF_PROG_TYPE_KPROBE },
	{ "get_boot_ns", BPF_FUNC_ktime_get_boot_ns, BPF_PROG_TYPE_RAW_TRACEPOINT },
	{ "get_tai_ns", 208, BPF_PROG_TYPE_RAW_TRACEPOINT },
	{ "get_attach_cookie", BPF_FUNC_get_attach_cookie, BPF_PROG_TYPE_KPROBE },
	{ "get_func_ip", BPF_FUNC_get_func_ip, BPF_PROG_TYPE_KPROBE },
	{ "ringbuf_output", BPF_FUNC_ringbuf_output, BPF_PROG_TYPE_RAW_TRACEPOINT },
	{ "for_each_map_elem", BPF_FUNC_for_each_map_elem, BPF_PROG_TYPE_RAW_TRACEPOINT },
	{ "loop", BPF_FUNC_loop, BPF_PROG_TYPE_RAW_TRACEPOINT },
	{ "lookup_percpu_elem", 195, BPF_PROG_TYPE_RAW_TRACEPOINT },
	{ "dpath", BPF_FUNC_d_path, BPF_PROG_TYPE_LSM },
	{ "jiffies64", BPF_FUNC_jiffies64, BPF_PROG_TYPE_RAW_TRACEPOINT },
};

/* A call without arguments is refused for the arguments where the helper exists. */
static bool has_helper(const struct helper *h)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_JMP | BPF_CALL, .imm = (s32)h->number },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	char log[INFO_LOG] = "";
	struct bpfsys_prog prog = { .type = h->prog_type,
				    .insns = insns,
				    .n_insns = ARRAY_SIZE(insns),
				    .log = log,
				    .log_size = sizeof(log),
				    .log_level = 1 };
	int fd = bpfsys_prog_load(&prog);

	if (fd >= 0) {
		close(fd);
		return true;
	}
	return log[0] && !strstr(log, "unknown func") && !strstr(log, "invalid func") &&
	       !strstr(log, "cannot use helper");
}

/* --- maps ------------------------------------------------------------------------------------- */

struct map_kind {
	const char *name;
	struct bpfsys_map def;
};

static const struct map_kind maps[] = {
	{ "hash", { .type = BPF_MAP_TYPE_HASH, 4, 8, 1, 0 } },
	{ "percpu hash", { .type = BPF_MAP_TYPE_PERCPU_HASH, 4, 8, 1, 0 } },
	{ "lru hash", { .type = BPF_MAP_TYPE_LRU_HASH, 4, 8, 64, 0 } },
	{ "array", { .type = BPF_MAP_TYPE_ARRAY, 4, 8, 1, 0 } },
	{ "percpu array", { .type = BPF_MAP_TYPE_PERCPU_ARRAY, 4, 8, 1, 0 } },
	{ "ringbuf", { .type = BPF_MAP_TYPE_RINGBUF, 0, 0, 4096, 0 } },
};

static bool has_map(const struct map_kind *m)
{
	int fd = bpfsys_map_create(&m->def);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* --- probes ----------------------------------------------------------------------------------- */

/* Names in the language and the mechanisms of the doctor's table that serve them. */
static const struct {
	const char *name, *mechanism;
} probes[] = {
	{ "kprobe", "kprobe" },
	{ "kprobe_multi", "kprobe.multi" },
	{ "tracepoint", "tracepoint program" },
	{ "rawtracepoint", "raw tracepoint" },
	{ "perf_event", "perf-event program" },
	{ "fentry", "fentry" },
	{ "fexit", "fexit" },
	{ "uprobe", "uprobe" },
	{ "uprobe_multi", "uprobe_multi" },
	{ "usdt", "USDT semaphores" },
	{ "iter", "iterators" },
	{ "hardware", "hardware PMU" },
	{ "watchpoint", "hardware breakpoints" },
};

static bool has_mechanism(struct probe_ctx *ctx, const char *name)
{
	const struct probe *p = features_find(name);
	struct probe_result res;

	if (!p)
		return false;
	features_try(ctx, p, &res);
	return res.status == FEATURE_WORKS || res.status == FEATURE_PARTLY;
}

void lang_info(struct buf *out)
{
	_cleanup_probe_ctx_ struct probe_ctx ctx = { 0 };

	probe_ctx_init(&ctx);
	add_system(out);
	add_build(out);
	buf_addstr(out, "Kernel helpers\n");
	for (size_t i = 0; i < ARRAY_SIZE(helpers); i++)
		add_line(out, helpers[i].name, has_helper(&helpers[i]));
	buf_addstr(out, "\nKernel features\n");
	add_line(out, "Loop support", has_mechanism(&ctx, "bpf_loop"));
	/* of every kernel since 5.2, for programs of privileged users */
	buf_addstr(out, "  Instruction limit: 1000000\n");
	add_line(out, "btf", has_mechanism(&ctx, "BTF"));
	add_line(out, "module btf", access("/sys/kernel/btf/vmlinux", F_OK) == 0);
	add_line(out, "uprobe refcount", has_mechanism(&ctx, "USDT semaphores"));
	buf_addstr(out, "\nMap types\n");
	for (size_t i = 0; i < ARRAY_SIZE(maps); i++)
		add_line(out, maps[i].name, has_map(&maps[i]));
	buf_addstr(out, "\nProbe types\n");
	for (size_t i = 0; i < ARRAY_SIZE(probes); i++)
		add_line(out, probes[i].name, has_mechanism(&ctx, probes[i].mechanism));
}
