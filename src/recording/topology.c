/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processors, caches and memory of this machine, from sysfs, in perf's encoding. */
#include "recording/writer_state.h"

#include "base/intern.h"
#include "base/io.h"
#include "base/parse.h"

#include <inttypes.h>

#define CPU_DIR  "/sys/devices/system/cpu"
#define NODE_DIR "/sys/devices/system/node"

/* The distinct lists of one kind over all CPUs, in order of first sight. */
static void add_lists(struct buf *b, u32 n_cpus, const char *file)
{
	_cleanup_buf_ struct buf line = BUF_INIT;
	struct intern lists = INTERN_INIT;
	char path[128];

	for (u32 cpu = 0; cpu < n_cpus; cpu++) {
		snprintf(path, sizeof(path), CPU_DIR "/cpu%u/topology/%s", cpu, file);
		machine_line(path, &line);
		if (line.len)
			(void)intern_str(&lists, line.data);
	}
	feature_add_u32(b, (u32)lists.len);
	for (u32 id = 1; id <= lists.len; id++)
		feature_add_string(b, intern_get(&lists, id));
	intern_release(&lists);
}

static void add_cpu_number(struct buf *b, u32 cpu, const char *file)
{
	_cleanup_buf_ struct buf line = BUF_INIT;
	const char *at;
	u64 v = UINT32_MAX;
	char path[128];

	snprintf(path, sizeof(path), CPU_DIR "/cpu%u/topology/%s", cpu, file);
	machine_line(path, &line);
	at = buf_str(&line);
	if (!scan_u64(&at, at + line.len, 10, &v))
		v = UINT32_MAX;
	feature_add_u32(b, (u32)v);
}

void machine_cpu_topology(struct buf *b, u32 n_cpus)
{
	add_lists(b, n_cpus, "core_siblings_list");
	add_lists(b, n_cpus, "thread_siblings_list");
	for (u32 cpu = 0; cpu < n_cpus; cpu++) {
		add_cpu_number(b, cpu, "core_id");
		add_cpu_number(b, cpu, "physical_package_id");
	}
	if (!io_exists(CPU_DIR "/cpu0/topology/die_id"))
		return;
	add_lists(b, n_cpus, "die_cpus_list");
	for (u32 cpu = 0; cpu < n_cpus; cpu++)
		add_cpu_number(b, cpu, "die_id");
}

u64 machine_meminfo_kb(const char *text, const char *key)
{
	const char *at = strstr(text, key);
	u64 kb = 0;

	if (!at)
		return 0;
	at += strlen(key);
	at += strspn(at, " ");
	return scan_u64(&at, at + strlen(at), 10, &kb) ? kb : 0;
}

static void add_node(struct buf *b, u32 node)
{
	_cleanup_buf_ struct buf text = BUF_INIT, cpus = BUF_INIT;
	char path[128];

	snprintf(path, sizeof(path), NODE_DIR "/node%u/meminfo", node);
	if (io_read_file(path, 1 << 16, &text, NULL) < 0)
		buf_reset(&text);
	snprintf(path, sizeof(path), NODE_DIR "/node%u/cpulist", node);
	machine_line(path, &cpus);
	feature_add_u32(b, node);
	feature_add_u64(b, machine_meminfo_kb(buf_str(&text), "MemTotal:"));
	feature_add_u64(b, machine_meminfo_kb(buf_str(&text), "MemFree:"));
	feature_add_string(b, buf_str(&cpus));
}

void machine_numa_topology(struct buf *b)
{
	number_list nodes = { 0 };

	machine_numbers(NODE_DIR, "node", &nodes);
	feature_add_u32(b, (u32)nodes.len);
	vec_each(node, &nodes)
		add_node(b, *node);
	vec_release(&nodes);
}

/* One index folder of a CPU as the bytes of a cache entry. */
static bool read_cache(const char *dir, struct buf *ret)
{
	static const char *const numbers[] = { "level", "coherency_line_size", "number_of_sets",
					       "ways_of_associativity" };
	static const char *const texts[] = { "type", "size", "shared_cpu_list" };
	_cleanup_buf_ struct buf line = BUF_INIT;
	char path[192];

	buf_reset(ret);
	snprintf(path, sizeof(path), "%s/level", dir);
	if (!io_exists(path))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		u64 v = 0;

		snprintf(path, sizeof(path), "%s/%s", dir, numbers[i]);
		if (io_read_u64(path, &v, NULL) < 0)
			v = 0;
		feature_add_u32(ret, (u32)v);
	}
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, texts[i]);
		machine_line(path, &line);
		feature_add_string(ret, buf_str(&line));
	}
	return true;
}

/* CPUs that share a cache describe it in the same words: each is written once. */
void machine_caches(struct buf *b, u32 n_cpus)
{
	enum { MAX_INDEX = 16 };
	_cleanup_buf_ struct buf entry = BUF_INIT;
	struct intern caches = INTERN_INIT;
	char dir[128];

	for (u32 cpu = 0; cpu < n_cpus; cpu++) {
		for (u32 i = 0; i < MAX_INDEX; i++) {
			snprintf(dir, sizeof(dir), CPU_DIR "/cpu%u/cache/index%u", cpu, i);
			if (!read_cache(dir, &entry))
				break;
			(void)intern_bytes(&caches, entry.data, entry.len);
		}
	}
	feature_add_u32(b, 1); /* version */
	feature_add_u32(b, (u32)caches.len);
	for (u32 id = 1; id <= caches.len; id++)
		buf_add(b, intern_get(&caches, id), intern_len(&caches, id));
	intern_release(&caches);
}

static void add_mem_node(struct buf *b, u32 node)
{
	enum { MAX_BLOCK = 1 << 22 };
	number_list blocks = { 0 };
	char dir[128];
	u64 n_bits, *bits;

	snprintf(dir, sizeof(dir), NODE_DIR "/node%u", node);
	machine_numbers(dir, "memory", &blocks);
	n_bits = blocks.len ? MIN(*vec_last(&blocks), (u32)MAX_BLOCK) + 1ull : 0;
	bits = xcalloc(n_bits / 64 + 1, sizeof(*bits));
	vec_each(block, &blocks)
		if (*block < n_bits)
			bits[*block / 64] |= 1ull << *block % 64;
	feature_add_u64(b, node);
	feature_add_u64(b, n_bits);
	feature_add_u64(b, n_bits);
	buf_add(b, bits, DIV_ROUND_UP(n_bits, 64) * sizeof(*bits));
	free(bits);
	vec_release(&blocks);
}

void machine_mem_topology(struct buf *b)
{
	_cleanup_buf_ struct buf line = BUF_INIT;
	number_list nodes = { 0 };
	u64 block_size = 0;

	machine_line("/sys/devices/system/memory/block_size_bytes", &line);
	if (!line.len || parse_hex(line.data, &block_size, NULL) < 0)
		block_size = 0;
	machine_numbers(NODE_DIR, "node", &nodes);
	feature_add_u64(b, 1); /* version */
	feature_add_u64(b, block_size);
	feature_add_u64(b, nodes.len);
	vec_each(node, &nodes)
		add_mem_node(b, *node);
	vec_release(&nodes);
}
