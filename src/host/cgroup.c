/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/cgroup.h"

#include "base/io.h"
#include "host/procfs.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIELD_PLACE = 4, MAX_FIELDS = 32 };

struct text {
	const char *s;
	size_t len;
};

static bool text_is(struct text t, const char *s)
{
	return t.len == strlen(s) && memcmp(t.s, s, t.len) == 0;
}

static size_t split_line(const char *s, const char *end, struct text *fields)
{
	size_t n = 0;

	while (s < end && n < MAX_FIELDS) {
		const char *space = memchr(s, ' ', (size_t)(end - s));

		if (!space)
			space = end;
		fields[n++] = (struct text){ s, (size_t)(space - s) };
		s = space + 1;
	}
	return n;
}

/* mountinfo writes space, tab, newline and backslash as \ooo. */
static char *unescape(struct text t)
{
	char *out = xmalloc(t.len + 1);
	size_t n = 0;

	for (size_t i = 0; i < t.len; i++) {
		const char *s = t.s + i;

		if (*s == '\\' && t.len - i >= 4 && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' &&
		    s[2] <= '7' && s[3] >= '0' && s[3] <= '7') {
			out[n++] = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
			i += 3;
		} else {
			out[n++] = *s;
		}
	}
	out[n] = '\0';
	return out;
}

static bool has_word(struct text list, const char *word)
{
	size_t n = strlen(word), start = 0;

	for (size_t i = 0; i <= list.len; i++) {
		if (i < list.len && list.s[i] != ',')
			continue;
		if (i - start == n && memcmp(list.s + start, word, n) == 0)
			return true;
		start = i + 1;
	}
	return false;
}

static void keep(char **where, struct text place)
{
	if (!*where)
		*where = unescape(place);
}

/* "36 35 98:0 /root /place options shared:1 - type source super_options" */
static void parse_mount(const char *line, const char *end, struct cgroup_mounts *m)
{
	struct text f[MAX_FIELDS];
	size_t n = split_line(line, end, f), dash = FIELD_PLACE + 1;

	while (dash < n && !text_is(f[dash], "-"))
		dash++;
	if (dash + 3 >= n)
		return;
	if (text_is(f[dash + 1], "cgroup2")) {
		keep(&m->v2, f[FIELD_PLACE]);
	} else if (text_is(f[dash + 1], "cgroup")) {
		m->v1_count++;
		if (has_word(f[dash + 3], "memory"))
			keep(&m->v1_memory, f[FIELD_PLACE]);
		if (has_word(f[dash + 3], "cpu"))
			keep(&m->v1_cpu, f[FIELD_PLACE]);
		if (has_word(f[dash + 3], "perf_event"))
			keep(&m->v1_perf, f[FIELD_PLACE]);
	}
}

void cgroup_mounts_parse(const char *text, size_t len, struct cgroup_mounts *ret)
{
	const char *end = text + len;

	*ret = (struct cgroup_mounts)CGROUP_MOUNTS_INIT;
	while (text < end) {
		const char *eol = memchr(text, '\n', (size_t)(end - text));

		if (!eol)
			eol = end;
		parse_mount(text, eol, ret);
		text = eol + 1;
	}
}

int cgroup_mounts_read(struct cgroup_mounts *ret, struct err *e)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	int r = io_read_file("/proc/self/mountinfo", IO_MAX_PROC, &text, e);

	if (r < 0)
		return r;
	cgroup_mounts_parse(buf_str(&text), text.len, ret);
	return 0;
}

void cgroup_mounts_release(struct cgroup_mounts *m)
{
	free(m->v2);
	free(m->v1_memory);
	free(m->v1_cpu);
	free(m->v1_perf);
	*m = (struct cgroup_mounts)CGROUP_MOUNTS_INIT;
}

/* The file handle of a kernfs directory is its 64-bit id; the inode number is only the low half
 * where inode numbers are short. */
union cgroup_handle {
	struct file_handle handle;
	u8 room[sizeof(struct file_handle) + sizeof(u64)];
};

int cgroup_id(const char *path, u64 *ret, struct err *e)
{
	union cgroup_handle h;
	int mount_id;

	memset(&h, 0, sizeof(h));
	h.handle.handle_bytes = sizeof(u64);
	if (name_to_handle_at(AT_FDCWD, path, &h.handle, &mount_id, 0) < 0)
		return err_sys(e, errno, "cannot find the id of cgroup '%s'", path);
	if (h.handle.handle_bytes != sizeof(u64))
		return err_set(e, EINVAL, "'%s' is not a cgroup", path);
	memcpy(ret, h.handle.f_handle, sizeof(u64));
	return 0;
}

int cgroup_by_id(const struct cgroup_mounts *m, u64 id, struct buf *ret)
{
	enum { KERNFS = 0xfe }; /* the kind of handle that is an id */
	_cleanup_close_ int mount = m->v2 ? open(m->v2, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	_cleanup_close_ int group = -1;
	union cgroup_handle h;
	char link[32], path[PATH_MAX];
	const char *below;
	ssize_t n;

	if (mount < 0)
		return -ENOENT;
	memset(&h, 0, sizeof(h));
	h.handle.handle_bytes = sizeof(id);
	h.handle.handle_type = KERNFS;
	memcpy(h.handle.f_handle, &id, sizeof(id));
	group = open_by_handle_at(mount, &h.handle, O_PATH | O_CLOEXEC);
	if (group < 0)
		return -ENOENT;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", group);
	n = readlink(link, path, sizeof(path) - 1);
	if (n < 0)
		return -ENOENT;
	path[n] = '\0';
	below = starts_with(path, m->v2);
	if (!below || (*below && *below != '/'))
		return -ENOENT;
	buf_reset(ret);
	buf_addstr(ret, *below ? below : "/");
	return 0;
}

int cgroup_find(const struct cgroup_mounts *m, const char *name, struct buf *ret_path,
		struct err *e)
{
	_cleanup_buf_ struct buf path = BUF_INIT;
	const char *rest;
	struct stat st;

	if (!m->v2) {
		err_set(e, ENOENT, "cannot find cgroup '%s': version 2 is not mounted", name);
		err_hint(e, "mount -t cgroup2 none /sys/fs/cgroup");
		return -ENOENT;
	}
	rest = starts_with(name, m->v2);
	if (rest && (*rest == '\0' || *rest == '/'))
		buf_addstr(&path, name);
	else
		buf_addf(&path, "%s/%s", m->v2, name + strspn(name, "/"));
	if (stat(buf_str(&path), &st) < 0)
		return err_sys(e, errno, "cannot find cgroup '%s'", name);
	if (!S_ISDIR(st.st_mode))
		return err_set(e, ENOTDIR, "'%s' is not a cgroup", name);
	buf_reset(ret_path);
	buf_add(ret_path, buf_str(&path), path.len);
	return 0;
}

int cgroup_parse(const char *text, size_t len, struct buf *ret)
{
	const char *end = text + len;

	while (text < end) {
		const char *eol = memchr(text, '\n', (size_t)(end - text));

		if (!eol)
			eol = end;
		if (eol - text > 3 && memcmp(text, "0::", 3) == 0) {
			buf_reset(ret);
			buf_add(ret, text + 3, (size_t)(eol - text - 3));
			return 0;
		}
		text = eol + 1;
	}
	return -ENOENT;
}

int cgroup_of_pid(u32 pid, struct buf *ret)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	int r = procfs_read(pid, 0, "cgroup", 1 << 20, &text, NULL);

	return r < 0 ? r : cgroup_parse(buf_str(&text), text.len, ret);
}
