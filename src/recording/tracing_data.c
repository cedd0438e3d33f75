/* SPDX-License-Identifier: GPL-2.0-or-later */
/* TRACING_DATA: the format files of the tracepoints, as perf took them from tracefs. */
#include "recording/reader.h"

#include "base/parse.h"
#include "recording/format.h"

/* The value after @key at the start of a line in a format file. */
static const char *line_value(const char *text, const char *key)
{
	for (const char *line = text; line; line = strchr(line, '\n')) {
		const char *value;

		line += *line == '\n';
		value = starts_with(line, key);
		if (value)
			return value + strspn(value, " ");
	}
	return NULL;
}

static bool has_name(const struct bytes *b, const char *name)
{
	size_t n = strlen(name) + 1;

	return bytes_left(b) >= n && memcmp(b->p, name, n) == 0;
}

/* "name\0" u64 size, text. */
static const char *named_text(struct recording *r, struct bytes *b, const char *name)
{
	const char *text;
	u64 size;

	if (!has_name(b, name)) {
		b->bad = true;
		return NULL;
	}
	bytes_take(b, strlen(name) + 1);
	size = bytes_u64(b);
	text = bytes_take(b, size);
	return text ? arena_strndup(&r->arena, text, size) : NULL;
}

static void add_format(struct recording *r, const char *system, const char *text, u64 size)
{
	struct recording_format f = { .system = system };
	const char *name, *id;
	u64 number;

	f.text = arena_strndup(&r->arena, text, size);
	f.text_size = strlen(f.text);
	name = line_value(f.text, "name:");
	id = line_value(f.text, "ID:");
	if (!name || !id || !scan_u64(&id, f.text + f.text_size, 10, &number) ||
	    number > UINT32_MAX)
		return;
	f.id = (u32)number;
	f.name = arena_strndup(&r->arena, name, strcspn(name, "\n"));
	vec_push(&r->info.formats, f);
}

static void parse_formats(struct recording *r, struct bytes *b, const char *system)
{
	u32 n = bytes_u32(b);

	for (u32 i = 0; i < n && !b->bad; i++) {
		u64 size = bytes_u64(b);
		const char *text = bytes_take(b, size);

		if (text)
			add_format(r, system, text, size);
	}
}

static int compare_formats(const void *a, const void *b)
{
	const struct recording_format *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static void parse_systems(struct recording *r, struct bytes *b)
{
	u32 n = bytes_u32(b);

	for (u32 i = 0; i < n && !b->bad; i++) {
		const char *system = bytes_cstring(b, &r->arena);

		if (system)
			parse_formats(r, b, system);
	}
	vec_sort(&r->info.formats, compare_formats);
	recording_name_tracepoints(r, 0);
}

static void parse_head(struct recording *r, struct bytes *b)
{
	const u8 *bytes;

	bytes = bytes_take(b, FORMAT_TRACING_MAGIC_SIZE);
	if (!bytes || memcmp(bytes, FORMAT_TRACING_MAGIC, FORMAT_TRACING_MAGIC_SIZE) != 0)
		b->bad = true;
	(void)bytes_cstring(b, &r->arena); /* version */
	bytes = bytes_take(b, 2);
	if (!bytes)
		return;
	r->info.tracing_big_endian = bytes[0];
	r->info.tracing_long_size = bytes[1];
	b->swap = r->info.tracing_big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	r->info.tracing_page_size = bytes_u32(b);
}

/*
 * Kernel symbols and strings; command names follow, which nothing here needs. A file that ends
 * before them is whole: older ones did.
 */
static void parse_strings(struct recording *r, struct bytes *b)
{
	const char *text;
	u32 size = bytes_u32(b);

	(void)bytes_take(b, size);
	size = bytes_u32(b);
	text = bytes_take(b, size);
	if (text && size)
		r->info.printk = arena_strndup(&r->arena, text, size);
}

int feature_parse_tracing(struct recording *r, struct bytes *b)
{
	if (r->info.has_tracing)
		return 0;
	parse_head(r, b);
	if (b->bad)
		return -EBADMSG;
	r->info.has_tracing = true;
	r->info.header_page = named_text(r, b, "header_page");
	r->info.header_event = named_text(r, b, "header_event");
	parse_formats(r, b, "ftrace");
	parse_systems(r, b);
	if (b->bad)
		return -EBADMSG;
	parse_strings(r, b);
	return 0;
}
