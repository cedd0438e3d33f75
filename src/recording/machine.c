/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a recording says about the machine that it was made on. */
#include "recording/writer_state.h"

#include "base/io.h"
#include "base/parse.h"
#include "host/machine.h"

#include <dirent.h>
#include <sys/utsname.h>

void machine_line(const char *path, struct buf *ret)
{
	buf_reset(ret);
	if (io_read_line(path, ret, NULL) < 0)
		buf_reset(ret);
}

static int compare_u32(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return x < y ? -1 : x > y;
}

void machine_numbers(const char *folder, const char *prefix, number_list *ret)
{
	struct dirent *d;
	DIR *dir = opendir(folder);

	if (!dir)
		return;
	while ((d = readdir(dir))) {
		const char *digits = starts_with(d->d_name, prefix), *at = digits;
		const char *end = digits ? digits + strlen(digits) : NULL;
		u64 number;

		if (digits && scan_u64(&at, end, 10, &number) && at == end && number <= UINT32_MAX)
			vec_push(ret, (u32)number);
	}
	closedir(dir);
	vec_sort(ret, compare_u32);
}

/* "GenuineIntel,6,85,7", the form that perf looks up its event tables with. */
static void add_cpuid(const struct buf *cpuinfo, struct buf *b)
{
	static const char *const keys[] = { "vendor_id", "cpu family", "model", "stepping" };
	_cleanup_buf_ struct buf value = BUF_INIT, all = BUF_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		buf_reset(&value);
		(void)machine_colon_line(buf_str(cpuinfo), cpuinfo->len, keys[i], &value);
		buf_addf(&all, "%s%s", i ? "," : "", buf_str(&value));
	}
	feature_add_string(b, buf_str(&all));
}

static u64 total_mem_kb(void)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (io_read_file("/proc/meminfo", 1 << 16, &text, NULL) < 0)
		return 0;
	return machine_meminfo_kb(buf_str(&text), "MemTotal:");
}

static void add_pmus(struct buf *b)
{
	static const char *const folder = "/sys/bus/event_source/devices";
	_cleanup_buf_ struct buf list = BUF_INIT;
	struct dirent *d;
	DIR *dir = opendir(folder);
	u32 n = 0;

	while (dir && (d = readdir(dir))) {
		char path[512];
		u64 type;

		if (d->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s/type", folder, d->d_name);
		if (io_read_u64(path, &type, NULL) < 0)
			continue;
		feature_add_u32(&list, (u32)type);
		feature_add_string(&list, d->d_name);
		n++;
	}
	if (dir)
		closedir(dir);
	feature_add_u32(b, n);
	if (list.len)
		buf_add(b, list.data, list.len);
}

/* Gives the buffer of a feature that is still empty, else NULL. */
static struct buf *fresh(struct recording_writer *w, u32 feature)
{
	return writer_has_feature(w, feature) ? NULL : writer_feature_bytes(w, feature);
}

static void fill_string(struct recording_writer *w, u32 feature, const char *text)
{
	struct buf *b = *text ? fresh(w, feature) : NULL;

	if (b)
		feature_add_string(b, text);
}

static void fill_names(struct recording_writer *w)
{
	_cleanup_buf_ struct buf text = BUF_INIT, value = BUF_INIT;
	struct utsname u;
	struct buf *b;

	if (uname(&u) == 0) {
		fill_string(w, FEATURE_HOSTNAME, u.nodename);
		fill_string(w, FEATURE_OSRELEASE, u.release);
		fill_string(w, FEATURE_ARCH, u.machine);
	}
	if (io_read_file("/proc/cpuinfo", IO_MAX_PROC, &text, NULL) < 0)
		return;
	if (machine_colon_line(buf_str(&text), text.len, "model name", &value) == 0)
		fill_string(w, FEATURE_CPUDESC, buf_str(&value));
	b = fresh(w, FEATURE_CPUID);
	if (b)
		add_cpuid(&text, b);
}

static void fill_counts(struct recording_writer *w, u32 available)
{
	struct buf *b = fresh(w, FEATURE_NRCPUS);

	if (b) {
		feature_add_u32(b, available);
		feature_add_u32(b, (u32)MAX(sysconf(_SC_NPROCESSORS_ONLN), 1));
	}
	b = fresh(w, FEATURE_TOTAL_MEM);
	if (b)
		feature_add_u64(b, total_mem_kb());
	b = fresh(w, FEATURE_PMU_MAPPINGS);
	if (b)
		add_pmus(b);
}

void writer_fill_machine(struct recording_writer *w)
{
	long n = sysconf(_SC_NPROCESSORS_CONF);
	u32 n_cpus = (u32)(n < 1 ? 1 : MIN(n, MACHINE_MAX_CPUS));
	struct buf *b;

	fill_names(w);
	fill_counts(w, n_cpus);
	b = fresh(w, FEATURE_CPU_TOPOLOGY);
	if (b)
		machine_cpu_topology(b, n_cpus);
	b = fresh(w, FEATURE_NUMA_TOPOLOGY);
	if (b)
		machine_numa_topology(b);
	b = fresh(w, FEATURE_CACHE);
	if (b)
		machine_caches(b, n_cpus);
	b = fresh(w, FEATURE_MEM_TOPOLOGY);
	if (b)
		machine_mem_topology(b);
}
