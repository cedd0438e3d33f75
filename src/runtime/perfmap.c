/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runtime/perfmap.h"

#include "base/parse.h"

static void skip_blanks(const char **at, const char *end)
{
	while (*at < end && **at == ' ')
		++*at;
}

/* Some writers put 0x in front. */
static bool take_hex(const char **at, const char *end, u64 *ret)
{
	skip_blanks(at, end);
	if (end - *at > 2 && (*at)[0] == '0' && ((*at)[1] | 0x20) == 'x')
		*at += 2;
	return scan_u64(at, end, 16, ret) && *at < end && **at == ' ';
}

static void add_line(struct perfmap *m, const char *at, const char *end)
{
	u64 start, size;
	size_t n;

	if (end > at && end[-1] == '\r')
		end--;
	if (!take_hex(&at, end, &start) || !take_hex(&at, end, &size))
		return;
	skip_blanks(&at, end);
	n = strnlen(at, MIN((size_t)(end - at), (size_t)PERFMAP_MAX_NAME));
	if (!n || !size || size > UINT64_MAX - start)
		return;
	if (m->entries.len >= PERFMAP_MAX_ENTRIES || m->names.len > PERFMAP_MAX_BYTES) {
		m->full = true;
		return;
	}
	vec_push(&m->entries,
		 (struct perfmap_entry){ .start = start, .size = size, .name = (u32)m->names.len });
	buf_add(&m->names, at, n);
	buf_addch(&m->names, '\0');
	m->stale = true;
}

size_t perfmap_add(struct perfmap *m, const char *text, size_t len)
{
	const char *at = text, *end = text + len, *newline;

	while (at < end && (newline = memchr(at, '\n', (size_t)(end - at)))) {
		add_line(m, at, newline);
		at = newline + 1;
	}
	return (size_t)(at - text);
}

void perfmap_update(struct perfmap *m)
{
	if (!m->stale)
		return;
	_cleanup_free_ struct span *spans = xmalloc(m->entries.len * sizeof(*spans));

	for (size_t i = 0; i < m->entries.len; i++) {
		const struct perfmap_entry *e = &m->entries.items[i];

		spans[i] = (struct span){
			.start = e->start, .end = e->start + e->size, .id = (u32)i, .rank = (u32)i
		};
	}
	span_sort(spans, m->entries.len);
	span_table_release(&m->spans);
	span_table_build(&m->spans, spans, m->entries.len);
	m->stale = false;
}

struct perfmap_entry *perfmap_find(struct perfmap *m, u64 address)
{
	u32 id;

	perfmap_update(m);
	id = span_find(&m->spans, address);
	return id == SPAN_NONE ? NULL : &m->entries.items[id];
}

void perfmap_compact(struct perfmap *m)
{
	struct perfmap ret = PERFMAP_INIT;

	perfmap_update(m);
	for (size_t i = 0; i + 1 < m->spans.len; i++) {
		const u32 id = m->spans.ids[i];
		const char *name;

		if (id == SPAN_NONE)
			continue;
		name = perfmap_name(m, &m->entries.items[id]);
		vec_push(&ret.entries, (struct perfmap_entry){
					       .start = m->spans.starts[i],
					       .size = m->spans.starts[i + 1] - m->spans.starts[i],
					       .name = (u32)ret.names.len,
					       .result = m->entries.items[id].result });
		buf_add(&ret.names, name, strlen(name) + 1);
	}
	ret.stale = true;
	perfmap_release(m);
	*m = ret;
	perfmap_update(m);
}

void perfmap_release(struct perfmap *m)
{
	vec_release(&m->entries);
	span_table_release(&m->spans);
	buf_release(&m->names);
	*m = (struct perfmap)PERFMAP_INIT;
}
