/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/procfs.h"

#include "base/io.h"
#include "base/map.h"
#include "base/parse.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/uio.h>

enum { MAX_PIDS = 1 << 22 };

static int compare_pids(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return (x > y) - (x < y);
}

static void cleanup_closedir(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

static int list_numbers(const char *path, u32 least, pid_list *ret, struct err *e)
{
	_cleanup_(cleanup_closedir) DIR *dir = opendir(path);
	const struct dirent *entry;

	vec_clear(ret);
	if (!dir)
		return err_sys(e, errno, "cannot list '%s'", path);
	while ((entry = readdir(dir)) && ret->len < MAX_PIDS) {
		const char *s = entry->d_name, *end = s + strlen(s);
		u64 n;

		if (scan_u64(&s, end, 10, &n) && s == end && n >= least && n <= UINT32_MAX)
			vec_push(ret, (u32)n);
	}
	vec_sort(ret, compare_pids);
	return 0;
}

int procfs_pids(pid_list *ret, struct err *e)
{
	return list_numbers("/proc", 1, ret, e);
}

int procfs_tids(u32 pid, pid_list *ret, struct err *e)
{
	char path[64];
	int r;

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	r = list_numbers(path, 1, ret, e);
	return r == -ENOENT ? -ESRCH : r;
}

int procfs_fds(u32 pid, pid_list *ret, struct err *e)
{
	char path[64];
	int r;

	snprintf(path, sizeof(path), "/proc/%u/fd", pid);
	r = list_numbers(path, 0, ret, e);
	return r == -ENOENT ? -ESRCH : r;
}

static void file_path(char *path, size_t size, u32 pid, u32 tid, const char *file)
{
	if (tid)
		snprintf(path, size, "/proc/%u/task/%u/%s", pid, tid, file);
	else
		snprintf(path, size, "/proc/%u/%s", pid, file);
}

int procfs_read(u32 pid, u32 tid, const char *file, size_t max, struct buf *ret, struct err *e)
{
	char path[128];
	int r;

	file_path(path, sizeof(path), pid, tid, file);
	r = io_read_file(path, max, ret, e);
	return r == -ENOENT ? -ESRCH : r;
}

/* Small files in one read, without a heap: they are read once per thread of the machine. */
static ssize_t read_small(u32 pid, u32 tid, const char *file, char *to, size_t size)
{
	_cleanup_close_ int fd = -1;
	char path[128];
	ssize_t n;

	file_path(path, sizeof(path), pid, tid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	n = read(fd, to, size - 1);
	if (n < 0)
		return -errno;
	to[n] = '\0';
	return n;
}

int procfs_comm(u32 pid, u32 tid, char ret[PROCFS_COMM])
{
	char text[PROCFS_COMM + 1];
	ssize_t n = read_small(pid, tid, "comm", text, sizeof(text));

	if (n < 0)
		return (int)n;
	if (n > 0 && text[n - 1] == '\n')
		n--;
	n = MIN(n, PROCFS_COMM - 1);
	memcpy(ret, text, (size_t)n);
	ret[n] = '\0';
	return 0;
}

int procfs_memory(int pid, u64 address, void *to, size_t n)
{
	struct iovec local = { to, n }, remote = { (void *)(uintptr_t)address, n };
	ssize_t got = process_vm_readv(pid, &local, 1, &remote, 1, 0);

	if (got < 0)
		return -errno;
	return (size_t)got == n ? 0 : -EFAULT;
}

int procfs_exe(u32 pid, struct buf *ret)
{
	char path[64], target[4096];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%u/exe", pid);
	n = readlink(path, target, sizeof(target));
	if (n < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	buf_reset(ret);
	buf_add(ret, target, (size_t)n);
	return 0;
}

static bool next_number(const char **s, const char *end, s64 *ret)
{
	bool negative;
	u64 n;

	while (*s < end && **s == ' ')
		(*s)++;
	negative = *s < end && **s == '-';
	if (negative)
		(*s)++;
	if (!scan_u64(s, end, 10, &n))
		return false;
	/* Sizes and masks use all 64 bits; the caller casts them back. */
	*ret = negative ? (s64)(0 - n) : (s64)n;
	return true;
}

enum { STAT_FIRST = 4, STAT_LAST = 42, STAT_NEEDED = 24 };

static void fill_stat(struct proc_stat *st, const s64 *field)
{
	st->ppid = (u32)field[4];
	st->session = (u32)field[6];
	st->flags = (u32)field[9];
	st->minflt = (u64)field[10];
	st->majflt = (u64)field[12];
	st->utime = (u64)field[14];
	st->stime = (u64)field[15];
	st->nice = field[19];
	st->threads = (u32)field[20];
	st->start = (u64)field[22];
	st->rss = (u64)field[24];
	st->cpu = (u32)field[39];
	st->rt_priority = (u32)field[40];
	st->policy = (u32)field[41];
	st->block_delay = (u64)field[42];
}

/* The name may hold spaces and parentheses: it ends at the last ')'. */
int procfs_parse_stat(const char *text, size_t len, struct proc_stat *ret)
{
	const char *end = text + len, *s = text;
	const char *open = memchr(text, '(', len), *close = memrchr(text, ')', len);
	s64 field[STAT_LAST + 1] = { 0 };
	struct proc_stat st = { 0 };
	size_t name_len;
	u64 pid;
	int i;

	if (!open || !close || close < open || end - close < 4 || !scan_u64(&s, open, 10, &pid))
		return -EBADMSG;
	st.pid = (u32)pid;
	name_len = MIN((size_t)(close - open - 1), sizeof(st.comm) - 1);
	memcpy(st.comm, open + 1, name_len);
	st.state = close[2];
	s = close + 3;
	for (i = STAT_FIRST; i <= STAT_LAST; i++) {
		if (!next_number(&s, end, &field[i]))
			break;
	}
	if (i <= STAT_NEEDED)
		return -EBADMSG;
	fill_stat(&st, field);
	*ret = st;
	return 0;
}

int procfs_stat(u32 pid, u32 tid, struct proc_stat *ret)
{
	char text[1024];
	ssize_t n = read_small(pid, tid, "stat", text, sizeof(text));

	return n < 0 ? (int)n : procfs_parse_stat(text, (size_t)n, ret);
}

/* Numbers after "Key:"; the wanted one counts from 0, -1 is the last. */
static bool line_number(const char *s, const char *end, int wanted, unsigned int base, u64 *ret)
{
	bool found = false;
	u64 n;

	for (int i = 0;; i++) {
		while (s < end && (*s == ' ' || *s == '\t'))
			s++;
		if (!scan_u64(&s, end, base, &n))
			return found;
		if (i == wanted || wanted < 0) {
			*ret = n;
			found = true;
		}
		if (i == wanted)
			return true;
	}
}

static void status_line(const char *line, const char *end, struct proc_status *st)
{
	const struct {
		const char *key;
		int wanted;
		unsigned int base;
		u32 *small;
		u64 *big;
	} keys[] = {
		{ "Tgid:", 0, 10, &st->tgid, NULL },
		{ "Uid:", 0, 10, &st->uid, NULL },
		{ "Uid:", 1, 10, &st->euid, NULL },
		{ "Gid:", 0, 10, &st->gid, NULL },
		{ "NSpid:", -1, 10, &st->ns_pid, NULL },
		{ "CapEff:", 0, 16, NULL, &st->cap_effective },
		{ "VmRSS:", 0, 10, NULL, &st->rss_bytes },
		{ "voluntary_ctxt_switches:", 0, 10, NULL, &st->switches_voluntary },
		{ "nonvoluntary_ctxt_switches:", 0, 10, NULL, &st->switches_forced },
	};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		size_t n = strlen(keys[i].key);
		u64 value;

		if ((size_t)(end - line) < n || memcmp(line, keys[i].key, n) != 0)
			continue;
		if (!line_number(line + n, end, keys[i].wanted, keys[i].base, &value))
			continue;
		if (keys[i].small)
			*keys[i].small = (u32)value;
		else
			*keys[i].big = value;
	}
}

void procfs_parse_status(const char *text, size_t len, struct proc_status *ret)
{
	const char *end = text + len;

	memset(ret, 0, sizeof(*ret));
	while (text < end) {
		const char *eol = memchr(text, '\n', (size_t)(end - text));

		if (!eol)
			eol = end;
		status_line(text, eol, ret);
		text = eol + 1;
	}
	if (ret->rss_bytes <= UINT64_MAX >> 10)
		ret->rss_bytes <<= 10;
}

int procfs_status(u32 pid, struct proc_status *ret)
{
	char text[8192];
	ssize_t n = read_small(pid, 0, "status", text, sizeof(text));

	if (n < 0)
		return (int)n;
	procfs_parse_status(text, (size_t)n, ret);
	return 0;
}

static bool scan_char(const char **s, const char *end, char c)
{
	if (*s >= end || **s != c)
		return false;
	(*s)++;
	return true;
}

static bool scan_flags(const char **s, const char *end, u32 *ret)
{
	const char *p = *s;

	if (end - p < 4)
		return false;
	*ret = (p[0] == 'r' ? PROC_MAP_READ : 0u) | (p[1] == 'w' ? PROC_MAP_WRITE : 0u) |
	       (p[2] == 'x' ? PROC_MAP_EXEC : 0u) | (p[3] == 's' ? PROC_MAP_SHARED : 0u);
	*s += 4;
	return true;
}

static int parse_map(const char *s, const char *end, struct proc_map *ret)
{
	struct proc_map m = { 0 };
	u64 major, minor;

	if (!scan_u64(&s, end, 16, &m.start) || !scan_char(&s, end, '-') ||
	    !scan_u64(&s, end, 16, &m.end) || !scan_char(&s, end, ' ') ||
	    !scan_flags(&s, end, &m.flags) || !scan_char(&s, end, ' ') ||
	    !scan_u64(&s, end, 16, &m.offset) || !scan_char(&s, end, ' ') ||
	    !scan_u64(&s, end, 16, &major) || !scan_char(&s, end, ':') ||
	    !scan_u64(&s, end, 16, &minor) || !scan_char(&s, end, ' ') ||
	    !scan_u64(&s, end, 10, &m.inode) || m.end < m.start)
		return -EBADMSG;
	m.dev_major = (u32)major;
	m.dev_minor = (u32)minor;
	while (s < end && *s == ' ')
		s++;
	m.path = s;
	m.path_len = (size_t)(end - s);
	*ret = m;
	return 0;
}

int procfs_next_map(const char **text, const char *end, struct proc_map *ret)
{
	const char *line = *text, *eol;

	if (line >= end)
		return -ENODATA;
	eol = memchr(line, '\n', (size_t)(end - line));
	*text = eol ? eol + 1 : end;
	return parse_map(line, eol ? eol : end, ret);
}

int procfs_own_map(u64 address, struct proc_map *ret)
{
	_cleanup_buf_ struct buf maps = BUF_INIT;
	struct proc_map m;
	const char *s, *end;
	int r;

	r = io_read_file("/proc/self/maps", PROCFS_MAX_MAPS, &maps, NULL);
	if (r < 0)
		return r;
	s = buf_str(&maps);
	end = s + maps.len;
	while ((r = procfs_next_map(&s, end, &m)) != -ENODATA) {
		if (r < 0 || address < m.start || address >= m.end)
			continue;
		m.path = "";
		m.path_len = 0;
		*ret = m;
		return 0;
	}
	return -ENOENT;
}

enum { GENERATIONS_MOST = 64 };

void procfs_descendants(u32 pid, pid_list *ret)
{
	pid_list all = { 0 };
	struct map parents = MAP_INIT;

	vec_clear(ret);
	(void)procfs_pids(&all, NULL);
	vec_each(p, &all) {
		struct proc_stat st;

		if (procfs_stat(*p, 0, &st) >= 0)
			map_put(&parents, *p, st.ppid);
	}
	vec_each(p, &all) {
		u32 at = (u32)map_get(&parents, *p, 0);

		for (int depth = 0; at && at != pid && depth < GENERATIONS_MOST; depth++)
			at = (u32)map_get(&parents, at, 0);
		if (at == pid)
			vec_push(ret, *p);
	}
	map_release(&parents);
	vec_release(&all);
}
