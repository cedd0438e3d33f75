/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/numa_maps.h"

#include "base/parse.h"

/* What a line is about: its words come in any order. */
struct line {
	enum numa_part part;
	u64 page_size;
};

static bool next_word(const char **at, const char *end, const char **ret, size_t *ret_n)
{
	while (*at < end && **at == ' ')
		(*at)++;
	*ret = *at;
	while (*at < end && **at != ' ')
		(*at)++;
	*ret_n = (size_t)(*at - *ret);
	return *ret_n > 0;
}

static bool word_is(const char *word, size_t n, const char *text)
{
	return n == strlen(text) && memcmp(word, text, n) == 0;
}

static struct line kind_of(const char *at, const char *end)
{
	static const char size[] = "kernelpagesize_kB=";
	struct line line = { NUMA_PRIVATE, (u64)sysconf(_SC_PAGESIZE) };
	const char *word;
	size_t n;
	u64 kib;

	while (next_word(&at, end, &word, &n)) {
		if (word_is(word, n, "huge"))
			line.part = NUMA_HUGE;
		else if (word_is(word, n, "heap"))
			line.part = NUMA_HEAP;
		else if (word_is(word, n, "stack"))
			line.part = NUMA_STACK;
		else if (n > strlen(size) && memcmp(word, size, strlen(size)) == 0 &&
			 (word += strlen(size), scan_u64(&word, at, 10, &kib)) && kib <= 1 << 24)
			line.page_size = kib * 1024;
	}
	return line;
}

/* "N3=17" */
static bool node_of(const char *word, size_t n, u64 *ret_node, u64 *ret_pages)
{
	const char *end = word + n;

	if (n < 4 || *word++ != 'N' || !scan_u64(&word, end, 10, ret_node) || word == end ||
	    *word++ != '=')
		return false;
	return scan_u64(&word, end, 10, ret_pages) && word == end && *ret_pages <= 1ull << 40;
}

u64 numa_maps_parse(const char *text, size_t len, u64 *sums, u32 nodes)
{
	const char *end = text + len;
	u64 beyond = 0;

	while (text < end) {
		const char *line_end = memchr(text, '\n', (size_t)(end - text)), *word;
		struct line line;
		u64 node, pages;
		size_t n;

		if (!line_end)
			line_end = end;
		line = kind_of(text, line_end);
		while (next_word(&text, line_end, &word, &n)) {
			if (!node_of(word, n, &node, &pages))
				continue;
			if (node < nodes)
				sums[node * NUMA_PARTS + line.part] += pages * line.page_size;
			else
				beyond += pages * line.page_size;
		}
		text = line_end + 1;
	}
	return beyond;
}
