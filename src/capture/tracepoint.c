/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/tracepoint.h"

#include <dirent.h>
#include <fnmatch.h>

#include "base/buf.h"
#include "base/io.h"
#include "base/parse.h"
#include "host/tracefs.h"

/* Appends ROOT/events; without a root, that of tracefs, which stays open in @fs meanwhile. */
static int events_path(const char *root, struct tracefs *fs, struct buf *path, struct err *e)
{
	int r;

	if (!root) {
		r = tracefs_open(fs, e);
		if (r < 0)
			return r;
		root = tracefs_root(fs);
	}
	buf_addf(path, "%s/events", root);
	return 0;
}

void tracepoint_list_release(struct tracepoint_list *list)
{
	arena_release(&list->arena);
	vec_release(&list->names);
}

static bool has_glob(const char *s)
{
	return strpbrk(s, "*?[") != NULL;
}

static bool is_dir(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && (entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN);
}

static void add_name(struct tracepoint_list *list, const char *sys, const char *name)
{
	vec_push(&list->names, (struct tracepoint_name){ arena_strdup(&list->arena, sys),
							 arena_strdup(&list->arena, name) });
}

static int find_in(const char *events, const char *sys, const char *glob,
		   struct tracepoint_list *list, struct err *e)
{
	_cleanup_buf_ struct buf path = BUF_INIT;
	struct dirent *entry;
	DIR *d;

	buf_addf(&path, "%s/%s", events, sys);
	if (!has_glob(glob)) {
		buf_addf(&path, "/%s/format", glob);
		if (!strchr(glob, '/') && access(buf_str(&path), F_OK) == 0)
			add_name(list, sys, glob);
		return 0;
	}
	d = opendir(buf_str(&path));
	if (!d)
		return errno == ENOENT || errno == ENOTDIR
			       ? 0
			       : err_sys(e, errno, "cannot open '%s'", buf_str(&path));
	while ((entry = readdir(d))) {
		if (is_dir(entry) && fnmatch(glob, entry->d_name, 0) == 0)
			add_name(list, sys, entry->d_name);
	}
	closedir(d);
	return 0;
}

static int name_order(const void *a, const void *b)
{
	const struct tracepoint_name *x = a, *y = b;
	int r = strcmp(x->sys, y->sys);

	return r ? r : strcmp(x->name, y->name);
}

static int find_all(const char *events, const char *sys_glob, const char *name_glob,
		    struct tracepoint_list *list, struct err *e)
{
	DIR *d = opendir(events);
	struct dirent *entry;
	int r = 0;

	if (!d) {
		r = err_sys(e, errno, "cannot open '%s'", events);
		if (r == -EACCES)
			err_hint(e, "run as root, or remount tracefs readable for your group");
		return r;
	}
	while (r >= 0 && (entry = readdir(d))) {
		if (is_dir(entry) && fnmatch(sys_glob, entry->d_name, 0) == 0)
			r = find_in(events, entry->d_name, name_glob, list, e);
	}
	closedir(d);
	return r;
}

int tracepoint_find(const char *root, const char *sys_glob, const char *name_glob,
		    struct tracepoint_list *ret, struct err *e)
{
	_cleanup_(tracefs_release) struct tracefs fs = TRACEFS_INIT;
	_cleanup_buf_ struct buf events = BUF_INIT;
	struct tracepoint_list list = { 0 };
	int r = events_path(root, &fs, &events, e);

	if (r < 0)
		return r;
	if (strchr(sys_glob, '/') || sys_glob[0] == '.')
		r = 0;
	else if (has_glob(sys_glob))
		r = find_all(buf_str(&events), sys_glob, name_glob, &list, e);
	else
		r = find_in(buf_str(&events), sys_glob, name_glob, &list, e);
	if (r < 0) {
		tracepoint_list_release(&list);
		return r;
	}
	vec_sort(&list.names, name_order);
	*ret = list;
	return 0;
}

int tracepoint_id(const char *root, const char *sys, const char *name, u64 *ret, struct err *e)
{
	_cleanup_(tracefs_release) struct tracefs fs = TRACEFS_INIT;
	_cleanup_buf_ struct buf path = BUF_INIT;
	int r = events_path(root, &fs, &path, e);

	if (r < 0)
		return r;
	buf_addf(&path, "/%s/%s/id", sys, name);
	r = io_read_u64(buf_str(&path), ret, e);
	if (r == -EACCES)
		err_hint(e, "run as root, or remount tracefs readable for your group");
	return r;
}

int tracepoint_format_read(const char *root, const char *sys, const char *name,
			   struct tracepoint_format *ret, struct err *e)
{
	_cleanup_(tracefs_release) struct tracefs fs = TRACEFS_INIT;
	_cleanup_buf_ struct buf path = BUF_INIT, text = BUF_INIT;
	int r = events_path(root, &fs, &path, e);

	if (r < 0)
		return r;
	buf_addf(&path, "/%s/%s/format", sys, name);
	r = io_read_file(buf_str(&path), TRACEPOINT_FORMAT_MOST, &text, e);
	if (r < 0)
		return r;
	r = tracepoint_format_parse(buf_str(&text), text.len, ret, e);
	return r < 0 ? err_prefix(e, "'%s'", buf_str(&path)) : 0;
}
