/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /sys/devices/system/node: allocations and memory of each NUMA node. */
#include "counters/reader.h"

#define COUNT(name, meaning, high_)                                                \
	{                                                                          \
		"numa." name, CUMULATIVE, UNIT_COUNT, name, meaning, .high = high_ \
	}
#define KB(name, field, meaning)                                                         \
	{                                                                                \
		"numa." name, GAUGE, UNIT_BYTES, field, meaning, .high = NULL, SCALE_KIB \
	}
#define REMOTE "Tasks run far from their memory: bind them, or enable NUMA balancing."

static const struct counter rows[] = {
	COUNT("numa_hit", "Allocations from this node that were wanted here.", NULL),
	COUNT("numa_miss", "Allocations from this node although another was wanted.", REMOTE),
	COUNT("numa_foreign", "Allocations elsewhere although this node was wanted.", REMOTE),
	COUNT("interleave_hit", "Allocations that were spread as asked.", NULL),
	COUNT("local_node", "Allocations by CPUs of this node.", NULL),
	COUNT("other_node", "Allocations by CPUs of other nodes.", REMOTE),
	KB("mem_total", "MemTotal", "Memory of the node."),
	KB("mem_free", "MemFree", "Unused memory of the node."),
	KB("mem_used", "MemUsed", "Memory of the node in use."),
	KB("swap_cached", "SwapCached", "Memory that is also in swap space."),
	KB("active", "Active", "Memory used lately."),
	KB("inactive", "Inactive", "Memory not used lately: the first to be reclaimed."),
	KB("active_anon", "Active(anon)", "Memory of programs used lately."),
	KB("inactive_anon", "Inactive(anon)", "Memory of programs not used lately."),
	KB("active_file", "Active(file)", "Contents of files used lately."),
	KB("inactive_file", "Inactive(file)", "Contents of files not used lately."),
	KB("unevictable", "Unevictable", "Memory that cannot be reclaimed."),
	KB("mlocked", "Mlocked", "Memory that programs have locked."),
	KB("dirty", "Dirty", "Contents of files that wait to be written."),
	KB("writeback", "Writeback", "Contents of files that are being written."),
	KB("file_pages", "FilePages", "Contents of files in memory of the node."),
	KB("mapped", "Mapped", "Contents of files that programs have mapped."),
	KB("anon_pages", "AnonPages", "Memory of programs on the node."),
	KB("shmem", "Shmem", "Shared memory and tmpfs."),
	KB("kernel_stack", "KernelStack", "Kernel stacks of threads."),
	KB("page_tables", "PageTables", "Page tables."),
	KB("slab", "Slab", "Objects of the kernel."),
	KB("slab_reclaimable", "SReclaimable", "The part of these that can go."),
	KB("slab_unreclaimable", "SUnreclaim", "The part of these that cannot."),
	KB("reclaimable", "KReclaimable", "Memory of the kernel that can go."),
	KB("anon_huge", "AnonHugePages", "Memory of programs in huge pages."),
	KB("shmem_huge", "ShmemHugePages", "Shared memory in huge pages."),
	KB("file_huge", "FileHugePages", "Contents of files in huge pages."),
};

/* "Node 0 MemTotal:  24684100 kB" */
static void parse_meminfo(struct reader *r, const char *text, size_t len, struct span node)
{
	const char *end = text + len;
	struct span line, key;
	u64 value;

	while (text_line(&text, end, &line)) {
		if (!line_word(&line, &key) || !line_word(&line, &key) || !line_word(&line, &key) ||
		    !line_number(&line, &value) || key.s[key.n - 1] != ':')
			continue;
		key.n--;
		for (size_t i = 6; i < ARRAY_SIZE(rows); i++)
			if (span_is(key, rows[i].field))
				reader_put_row(r, i, node, value);
	}
}

static void parse_numastat(struct reader *r, const char *text, size_t len, struct span node)
{
	const char *end = text + len;
	struct span line, key;
	u64 value;

	while (text_line(&text, end, &line))
		if (line_word(&line, &key) && line_number(&line, &value))
			reader_put(r, key, node, value);
}

static int read_all(struct reader *r)
{
	_cleanup_buf_ struct buf names = BUF_INIT;
	char path[160];
	int rc = reader_names(r, "sys/devices/system/node", &names);

	for (const char *name = buf_str(&names); !rc && *name; name += strlen(name) + 1) {
		const char *text;
		size_t len;

		if (!starts_with(name, "node") || name[4] < '0' || name[4] > '9')
			continue;
		snprintf(path, sizeof(path), "sys/devices/system/node/%.32s/numastat", name);
		if (reader_text(r, path, &text, &len) == 0)
			parse_numastat(r, text, len, SPAN(name));
		snprintf(path, sizeof(path), "sys/devices/system/node/%.32s/meminfo", name);
		if (reader_text(r, path, &text, &len) == 0)
			parse_meminfo(r, text, len, SPAN(name));
	}
	return rc;
}

const struct counter_source source_numa = {
	.prefix = "numa",
	.path = "sys/devices/system/node/node*/numastat",
	.also = "sys/devices/system/node/node*/meminfo",
	.rows = rows,
	.n_rows = ARRAY_SIZE(rows),
	.read = read_all,
	.needs = "a kernel with CONFIG_NUMA",
};
