/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What else /proc says of a process: its environment, open files and locks. */
#include "top/screens.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "base/fmt.h"
#include "base/io.h"
#include "host/procfs.h"

enum { TEXT_MOST = 256 << 10 }; /* bytes that are shown of a file */

static const struct top_task *present_task(struct top *t)
{
	const struct top_task *task = tasks_at(t, t->tasks.list.cursor);

	if (task && !t->frame->past && !task->row.ended)
		return task;
	top_complain(t, t->frame->past ? "this is the past: the process may be another one by now"
				       : "the process has ended");
	return NULL;
}

static void show_text(struct top *t, const struct top_task *task, const char *what,
		      const struct buf *text)
{
	_cleanup_buf_ struct buf title = BUF_INIT;

	buf_addf(&title, "%s of %u %s", what, task->row.pid, task->row.comm);
	popup_open(&t->popup, buf_str(&title), text->len ? buf_str(text) : "none", false);
	t->popup_for = POPUP_TEXT;
}

void tasks_show_environment(struct top *t)
{
	const struct top_task *task = present_task(t);
	_cleanup_buf_ struct buf text = BUF_INIT, lines = BUF_INIT;
	_cleanup_err_ struct err e = ERR_INIT;

	if (!task)
		return;
	if (procfs_read(task->row.pid, 0, "environ", TEXT_MOST, &text, &e) < 0) {
		top_complain(t, "%s", e.what);
		return;
	}
	for (size_t at = 0; at < text.len; at += strlen(text.data + at) + 1) {
		fmt_clean(&lines, text.data + at, strlen(text.data + at));
		buf_addch(&lines, '\n');
	}
	show_text(t, task, "Environment", &lines);
}

/* Numbers with what they lead to. */
void tasks_show_files(struct top *t)
{
	const struct top_task *task = present_task(t);
	_cleanup_buf_ struct buf lines = BUF_INIT;
	_cleanup_err_ struct err e = ERR_INIT;
	pid_list fds = { 0 };

	if (!task)
		return;
	if (procfs_fds(task->row.pid, &fds, &e) < 0)
		top_complain(t, "%s", e.what);
	vec_each(fd, &fds) {
		char path[64], to[1024];
		ssize_t n;

		snprintf(path, sizeof(path), "/proc/%u/fd/%u", task->row.pid, *fd);
		n = readlink(path, to, sizeof(to));
		if (n < 0 || lines.len > TEXT_MOST)
			continue;
		buf_addf(&lines, "%5u  ", *fd);
		fmt_clean(&lines, to, (size_t)n);
		buf_addch(&lines, '\n');
	}
	vec_release(&fds);
	if (!e.what)
		show_text(t, task, "Open files", &lines);
}

/* The path of an open file with this device and inode; false: it has none any more. */
static bool path_of_file(u32 pid, const pid_list *fds, dev_t device, u64 inode, struct buf *out)
{
	vec_each(fd, fds) {
		char path[64], to[1024];
		struct stat st;
		ssize_t n;

		snprintf(path, sizeof(path), "/proc/%u/fd/%u", pid, *fd);
		if (stat(path, &st) < 0 || st.st_dev != device || st.st_ino != inode)
			continue;
		n = readlink(path, to, sizeof(to));
		if (n > 0)
			fmt_clean(out, to, (size_t)n);
		return n > 0;
	}
	return false;
}

/* Of "1: POSIX  ADVISORY  WRITE 708 00:1a:1243 0 EOF"; a line with "->" waits for the one above. */
static void add_lock(const char *line, u32 pid, const pid_list *fds, struct buf *out)
{
	char kind[16], mode[16], access[16], begin[24], end[24];
	bool waits = strstr(line, "->") != NULL;
	const char *s = strchr(line, ':');
	unsigned int major, minor;
	unsigned long long inode;
	int of;

	if (!s ||
	    sscanf(s + 1 + strspn(s + 1, " ->"), "%15s %15s %15s %d %x:%x:%llu %23s %23s", kind,
		   mode, access, &of, &major, &minor, &inode, begin, end) != 9 ||
	    of < 0 || (u32)of != pid)
		return;
	buf_addf(out, "%-6s %-9s %-5s %s to %s  %s", kind, mode, access, begin, end,
		 waits ? "(waits) " : "");
	if (!path_of_file(pid, fds, makedev(major, minor), inode, out))
		buf_addf(out, "device %x:%x, inode %llu", major, minor, inode);
	buf_addch(out, '\n');
}

void tasks_show_locks(struct top *t)
{
	const struct top_task *task = present_task(t);
	_cleanup_buf_ struct buf text = BUF_INIT, lines = BUF_INIT;
	_cleanup_err_ struct err e = ERR_INIT;
	pid_list fds = { 0 };

	if (!task)
		return;
	if (io_read_file("/proc/locks", IO_MAX_PROC, &text, &e) < 0) {
		top_complain(t, "%s", e.what);
		return;
	}
	/* without them the names of files are missing, nothing else */
	(void)procfs_fds(task->row.pid, &fds, NULL);
	for (char *line = text.data, *end; line && *line; line = end) {
		end = line + strcspn(line, "\n");
		if (*end)
			*end++ = '\0';
		add_lock(line, task->row.pid, &fds, &lines);
	}
	vec_release(&fds);
	show_text(t, task, "Locks", &lines);
}
