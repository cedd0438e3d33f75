/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows about where names of functions come from. */
#include "host/kallsyms.h"
#include "host/probes.h"

#include "base/parse.h"
#include "host/machine.h"

#include <dirent.h>
#include <fcntl.h>
#include <glob.h>

#define DEBUG_FILES "/usr/lib/debug/.build-id"
#define PERF_MAPS   "/tmp/perf-*.map"

enum { MAX_COUNTED = 100000, KALLSYMS_LOOK = 4096 };

/* Hidden addresses are shown as 0; the first page of the list is enough to tell. */
static int try_kallsyms(struct probe_ctx *ctx, const struct probe *p, struct probe_result *res)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct kallsyms_line l;
	const char *at;

	(void)ctx;
	(void)p;
	int r = kallsyms_read(NULL, KALLSYMS_LOOK, &text, NULL);

	if (r < 0)
		return r == -ENOENT ? probe_missing(res, "no /proc/kallsyms") : r;
	at = buf_str(&text);
	while (kallsyms_next(&at, text.data + text.len, &l)) {
		if (l.address)
			return probe_works(res, "shown");
	}
	return -EPERM;
}

static int try_kptr(struct probe_ctx *ctx, const struct probe *p, struct probe_result *res)
{
	s64 level;
	int r = machine_sysctl("kernel/kptr_restrict", &level);

	if (r < 0)
		return probe_unknown(res, "kernel.kptr_restrict cannot be read");
	if (level == 0)
		return probe_works(res, "0: pointers are shown");
	if (level == 1 && caps_allow(ctx->caps, p->needs))
		return probe_works(res, "1, which CAP_SYSLOG overrides");
	return probe_missing(res, "%lld: pointers are hidden%s", (long long)level,
			     level == 1 ? " without CAP_SYSLOG" : " from everybody");
}

static void cleanup_closedir(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

static u32 count_debug_files(int parent, const char *name, u32 limit)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_(cleanup_closedir) DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	u32 n = 0;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	while (n < limit && (entry = readdir(dir)))
		n += ends_with(entry->d_name, ".debug");
	return n;
}

static int try_debug_files(struct probe_ctx *ctx, const struct probe *p, struct probe_result *res)
{
	_cleanup_(cleanup_closedir) DIR *dir = opendir(DEBUG_FILES);
	const struct dirent *entry;
	u32 n = 0;

	(void)ctx;
	(void)p;
	while (dir && n < MAX_COUNTED && (entry = readdir(dir))) {
		if (entry->d_name[0] != '.')
			n += count_debug_files(dirfd(dir), entry->d_name, MAX_COUNTED - n);
	}
	if (n == 0)
		return probe_missing(res, "none in " DEBUG_FILES);
	return probe_works(res, "%u in " DEBUG_FILES, n);
}

static int try_perf_maps(struct probe_ctx *ctx, const struct probe *p, struct probe_result *res)
{
	glob_t found = { 0 };
	size_t n;

	(void)ctx;
	(void)p;
	n = glob(PERF_MAPS, GLOB_NOSORT, NULL, &found) == 0 ? found.gl_pathc : 0;
	globfree(&found);
	if (n > 0)
		return probe_works(res, "%zu in /tmp", n);
	probe_unknown(res, "no program wrote one");
	probe_fix(res, "node --perf-basic-prof, python -X perf, java with perf-map-agent");
	return 0;
}

static UNUSED int try_built_in(struct probe_ctx *ctx, const struct probe *p,
			       struct probe_result *res)
{
	(void)ctx;
	(void)p;
	return probe_works(res, "built in");
}

static UNUSED int try_left_out(struct probe_ctx *ctx, const struct probe *p,
			       struct probe_result *res)
{
	(void)ctx;
	(void)p;
	return probe_missing(res, "not built in");
}

#define FEATURE(lib, on)                                                \
	{ .name = #lib,                                                 \
	  .group = GROUP_SYMBOLS,                                       \
	  .lost = "features of " #lib,                                  \
	  .fix = "build fathom where the static " #lib " is installed", \
	  .try = (on) ? try_built_in : try_left_out },

/* clang-format off */
const struct probe probes_symbols[] = {
	{ .name = "kallsyms addresses",
	  .group = GROUP_SYMBOLS,
	  .lost = "names of kernel functions in stacks",
	  .fix = "sysctl kernel.kptr_restrict=0",
	  .needs = CAP_BIT(CAP_SYSLOG),
	  .try = try_kallsyms },
	{ .name = "kptr_restrict",
	  .group = GROUP_SYMBOLS,
	  .lost = "addresses of kernel functions",
	  .fix = "sysctl kernel.kptr_restrict=0",
	  .needs = CAP_BIT(CAP_SYSLOG),
	  .try = try_kptr },
	{ .name = "debug files",
	  .group = GROUP_SYMBOLS,
	  .lost = "source lines and inlined functions of stripped programs",
	  .fix = "install -dbgsym packages (debuginfo elsewhere)",
	  .try = try_debug_files },
	{ .name = "perf maps",
	  .group = GROUP_SYMBOLS,
	  .lost = "names of functions compiled at run time",
	  .try = try_perf_maps },
#include "features.inc"
	{ 0 },
};
/* clang-format on */
