/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/users.h"

#include "base/buf.h"
#include "base/io.h"
#include "base/parse.h"

void users_release(struct users *u)
{
	intern_release(&u->names);
	vec_release(&u->ids);
	map_release(&u->by_id);
}

/* "name:x:1000:..."; the first line of a name counts, and the first of an id. */
static void take_line(struct users *u, const char *line, const char *end)
{
	const char *name_end = memchr(line, ':', (size_t)(end - line)), *at;
	u64 id;
	u32 name;

	if (!name_end || name_end == line)
		return;
	at = memchr(name_end + 1, ':', (size_t)(end - name_end - 1));
	if (!at)
		return;
	at++;
	if (!scan_u64(&at, end, 10, &id) || id > UINT32_MAX)
		return;
	name = intern_bytes(&u->names, line, (size_t)(name_end - line));
	if (name == u->ids.len + 1)
		vec_push(&u->ids, (u32)id);
	if (!map_find(&u->by_id, id))
		map_put(&u->by_id, id, name);
}

void users_parse(struct users *u, const char *text, size_t len)
{
	const char *end = text + len;

	while (text < end) {
		const char *line_end = memchr(text, '\n', (size_t)(end - text));

		if (!line_end)
			line_end = end;
		take_line(u, text, line_end);
		text = line_end + 1;
	}
}

int users_read(struct users *u, const char *path, struct err *e)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	int r = io_read_file(path ? path : "/etc/passwd", IO_MAX_PROC, &text, e);

	if (r >= 0)
		users_parse(u, buf_str(&text), text.len);
	return r;
}

const char *users_name(const struct users *u, u32 id)
{
	u64 name = map_get(&u->by_id, id, 0);

	return name ? intern_get(&u->names, (u32)name) : NULL;
}

int users_id(const struct users *u, const char *user, u32 *ret, struct err *e)
{
	u32 name = intern_find(&u->names, user, strlen(user));
	u64 id;

	if (parse_u64_range(user, 0, UINT32_MAX, &id, NULL) >= 0) {
		*ret = (u32)id;
		return 0;
	}
	if (name) {
		*ret = u->ids.items[name - 1];
		return 0;
	}
	err_set(e, ENOENT, "unknown user '%s' in /etc/passwd", user);
	err_hint(e, "give the number of the user");
	return -ENOENT;
}
