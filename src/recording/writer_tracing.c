/* SPDX-License-Identifier: GPL-2.0-or-later */
/* TRACING_DATA from tracefs: without it perf refuses files that hold tracepoint events. */
#include "recording/writer_state.h"

#include "base/io.h"
#include "base/parse.h"
#include "host/tracefs.h"
#include "recording/format.h"

#include <dirent.h>
#include <inttypes.h>

enum { MAX_FORMAT = 1 << 20, MAX_NAME = 256, STRINGS_MOST = 16 << 20 };

/* A tracepoint of the recording, once. */
struct point {
	char system[MAX_NAME];
	char name[MAX_NAME];
	u64 id;
};
typedef VEC(struct point) point_list;

static bool has_id(const char *root, const struct point *p)
{
	char path[2 * MAX_NAME + 64];
	u64 id;

	snprintf(path, sizeof(path), "%s/events/%s/%s/id", root, p->system, p->name);
	return io_read_u64(path, &id, NULL) == 0 && id == p->id;
}

/* "system:event", perhaps with a modifier after; false if the name is something else. */
static bool split_name(const char *text, struct point *p)
{
	size_t system = strcspn(text, ":"), name;

	if (!text[system] || system >= MAX_NAME)
		return false;
	name = strcspn(text + system + 1, ":");
	if (!name || name >= MAX_NAME)
		return false;
	snprintf(p->system, MAX_NAME, "%.*s", (int)system, text);
	snprintf(p->name, MAX_NAME, "%.*s", (int)name, text + system + 1);
	return !strchr(p->system, '/') && !strchr(p->name, '/');
}

static bool search_system(const char *root, const char *system, struct point *p)
{
	char path[MAX_NAME + 64];
	struct dirent *d;
	bool found = false;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/events/%s", root, system);
	dir = opendir(path);
	if (!dir)
		return false;
	while (!found && (d = readdir(dir))) {
		if (d->d_type != DT_DIR || d->d_name[0] == '.')
			continue;
		snprintf(p->system, MAX_NAME, "%s", system);
		snprintf(p->name, MAX_NAME, "%s", d->d_name);
		found = has_id(root, p);
	}
	closedir(dir);
	return found;
}

/* An event under another name: all tracepoints are requested their id. */
static bool search_id(const char *root, struct point *p)
{
	char path[64];
	struct dirent *d;
	bool found = false;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/events", root);
	dir = opendir(path);
	if (!dir)
		return false;
	while (!found && (d = readdir(dir)))
		if (d->d_type == DT_DIR && d->d_name[0] != '.')
			found = search_system(root, d->d_name, p);
	closedir(dir);
	return found;
}

static int collect(const struct recording_writer *w, const char *root, point_list *ret,
		   struct err *e)
{
	vec_each(ev, &w->events) {
		struct point p = { .id = ev->attr.config };
		bool known = false;

		if (ev->attr.type != PERF_TYPE_TRACEPOINT)
			continue;
		vec_each(old, ret)
			known |= old->id == p.id;
		if (known)
			continue;
		if (!(split_name(ev->name, &p) && has_id(root, &p)) && !search_id(root, &p))
			return err_set(e, ENOENT, "cannot find the format of tracepoint '%s'",
				       ev->name);
		vec_push(ret, p);
	}
	return 0;
}

static int add_file(struct buf *out, const char *path, struct err *e)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	int ret = io_read_file(path, MAX_FORMAT, &text, e);

	if (ret < 0)
		return ret;
	feature_add_u64(out, text.len);
	buf_add(out, buf_str(&text), text.len);
	return 0;
}

static int add_named(struct buf *out, const char *root, const char *name, struct err *e)
{
	char path[MAX_NAME];

	buf_add(out, name, strlen(name) + 1);
	snprintf(path, sizeof(path), "%s/events/%s", root, name);
	return add_file(out, path, e);
}

/* All tracepoints of the system that points[first] begins; they are marked as done. */
static int add_system(struct buf *out, const char *root, point_list *points, size_t first,
		      struct err *e)
{
	const char *system = points->items[first].system;
	char path[2 * MAX_NAME + 64];
	u32 n = 0;
	int ret = 0;

	for (size_t i = first; i < points->len; i++)
		n += streq(points->items[i].system, system);
	buf_add(out, system, strlen(system) + 1);
	feature_add_u32(out, n);
	for (size_t i = first; i < points->len && ret == 0; i++) {
		const struct point *p = &points->items[i];

		if (!streq(p->system, system))
			continue;
		snprintf(path, sizeof(path), "%s/events/%s/%s/format", root, p->system, p->name);
		ret = add_file(out, path, e);
	}
	return ret;
}

static bool is_first(const point_list *points, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (streq(points->items[i].system, points->items[index].system))
			return false;
	return true;
}

static int add_systems(struct buf *out, const char *root, point_list *points, struct err *e)
{
	u32 n = 0;
	int ret = 0;

	for (size_t i = 0; i < points->len; i++)
		n += is_first(points, i);
	feature_add_u32(out, n);
	for (size_t i = 0; i < points->len && ret == 0; i++)
		if (is_first(points, i))
			ret = add_system(out, root, points, i, e);
	return ret;
}

/* Strings of the kernel that tracepoints point to; their list is short, and may be refused. */
static void add_strings(struct buf *out, const char *root)
{
	_cleanup_free_ char *path = xasprintf("%s/printk_formats", root);
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (io_read_file(path, STRINGS_MOST, &text, NULL) < 0)
		buf_reset(&text);
	feature_add_u32(out, (u32)text.len);
	if (text.len)
		buf_add(out, text.data, text.len);
}

static int build_tracing(struct buf *out, const char *root, point_list *points, struct err *e)
{
	const u8 machine[2] = { __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, sizeof(long) };
	int ret;

	buf_add(out, FORMAT_TRACING_MAGIC, FORMAT_TRACING_MAGIC_SIZE);
	buf_add(out, "0.6", 4);
	buf_add(out, machine, sizeof(machine));
	feature_add_u32(out, (u32)sysconf(_SC_PAGESIZE));
	ret = add_named(out, root, "header_page", e);
	if (ret == 0)
		ret = add_named(out, root, "header_event", e);
	feature_add_u32(out, 0); /* formats of ftrace itself */
	if (ret == 0)
		ret = add_systems(out, root, points, e);
	feature_add_u32(out, 0); /* kallsyms */
	add_strings(out, root);
	feature_add_u64(out, 0); /* saved command names */
	return ret;
}

static bool has_tracepoints(const struct recording_writer *w)
{
	vec_each(ev, &w->events)
		if (ev->attr.type == PERF_TYPE_TRACEPOINT)
			return true;
	return false;
}

int writer_fill_tracing(struct recording_writer *w, struct err *e)
{
	_cleanup_(tracefs_release) struct tracefs fs = TRACEFS_INIT;
	_cleanup_buf_ struct buf out = BUF_INIT;
	point_list points = { 0 };
	int ret;

	if (!has_tracepoints(w) || writer_has_feature(w, FEATURE_TRACING_DATA))
		return 0;
	ret = tracefs_open(&fs, e);
	if (ret < 0)
		return ret;
	ret = collect(w, tracefs_root(&fs), &points, e);
	if (ret == 0)
		ret = build_tracing(&out, tracefs_root(&fs), &points, e);
	vec_release(&points);
	if (ret < 0)
		return ret;
	buf_add(writer_feature_bytes(w, FEATURE_TRACING_DATA), out.data, out.len);
	return 0;
}
