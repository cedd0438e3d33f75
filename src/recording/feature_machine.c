/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sections about processors and memory. */
#include "recording/reader.h"

static void parse_strings(struct recording *r, struct bytes *b, recording_strings *list)
{
	u32 n = bytes_u32(b);

	vec_clear(list);
	for (u32 i = 0; i < n && !b->bad; i++) {
		const char *s = bytes_string(b, &r->arena);

		if (s)
			vec_push(list, s);
	}
}

/*
 * Old writers stop after the lists, or after core and socket of each CPU; the end of the section
 * at either place is not damage.
 */
int feature_parse_cpu_topology(struct recording *r, struct bytes *b)
{
	struct recording_info *info = &r->info;
	u32 n = info->cpus_available;

	parse_strings(r, b, &info->core_siblings);
	parse_strings(r, b, &info->thread_siblings);
	vec_clear(&info->cpus);
	if (b->bad || bytes_left(b) < (u64)n * 8)
		return b->bad ? -EBADMSG : 0;
	for (u32 i = 0; i < n; i++) {
		struct recording_cpu cpu = { .die = -1 };

		cpu.core = (s32)bytes_u32(b);
		cpu.socket = (s32)bytes_u32(b);
		vec_push(&info->cpus, cpu);
	}
	if (!bytes_left(b))
		return 0;
	parse_strings(r, b, &info->die_siblings);
	for (u32 i = 0; i < n && !b->bad; i++)
		info->cpus.items[i].die = (s32)bytes_u32(b);
	return b->bad ? -EBADMSG : 0;
}

int feature_parse_numa(struct recording *r, struct bytes *b)
{
	u32 n = bytes_u32(b);

	vec_clear(&r->info.nodes);
	for (u32 i = 0; i < n && !b->bad; i++) {
		struct recording_node node = { 0 };

		node.node = bytes_u32(b);
		node.mem_total_kb = bytes_u64(b);
		node.mem_free_kb = bytes_u64(b);
		node.cpus = bytes_string(b, &r->arena);
		if (!b->bad)
			vec_push(&r->info.nodes, node);
	}
	return b->bad ? -EBADMSG : 0;
}

int feature_parse_cache(struct recording *r, struct bytes *b)
{
	u32 version = bytes_u32(b), n = bytes_u32(b);

	vec_clear(&r->info.caches);
	if (version != 1)
		return -EBADMSG;
	for (u32 i = 0; i < n && !b->bad; i++) {
		struct recording_cache c = { 0 };

		c.level = bytes_u32(b);
		c.line_size = bytes_u32(b);
		c.sets = bytes_u32(b);
		c.ways = bytes_u32(b);
		c.type = bytes_string(b, &r->arena);
		c.size = bytes_string(b, &r->arena);
		c.cpus = bytes_string(b, &r->arena);
		if (!b->bad)
			vec_push(&r->info.caches, c);
	}
	return b->bad ? -EBADMSG : 0;
}

static void parse_mem_node(struct recording *r, struct bytes *b)
{
	struct recording_mem_node node = { 0 };
	u64 words, *bits;

	node.node = bytes_u64(b);
	(void)bytes_u64(b); /* the same number of bits as below */
	node.n_bits = bytes_u64(b);
	words = node.n_bits / 64 + (node.n_bits % 64 != 0);
	if (b->bad || words > bytes_left(b) / 8) {
		b->bad = true;
		return;
	}
	bits = arena_alloc(&r->arena, words * 8 + 8);
	for (u64 i = 0; i < words; i++)
		bits[i] = bytes_u64(b);
	node.bits = bits;
	vec_push(&r->info.mem_nodes, node);
}

int feature_parse_mem_topology(struct recording *r, struct bytes *b)
{
	u64 version = bytes_u64(b), n;

	vec_clear(&r->info.mem_nodes);
	if (version != 1)
		return -EBADMSG;
	r->info.mem_block_size = bytes_u64(b);
	n = bytes_u64(b);
	for (u64 i = 0; i < n && !b->bad; i++)
		parse_mem_node(r, b);
	return b->bad ? -EBADMSG : 0;
}
