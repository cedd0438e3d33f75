/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * /proc, read without trusting it: processes come and go between two reads (-ESRCH then), names
 * hold any bytes, files may be cut. The parsers work on text and are what the tests feed.
 */
#ifndef HOST_PROCFS_H
#define HOST_PROCFS_H

#include "base/buf.h"
#include "base/err.h"
#include "base/vec.h"

enum {
	PROCFS_COMM = 64,            /* kernel threads' names are longer than 15 */
	PROCFS_MAX_MAPS = 256 << 20, /* bytes of a maps file that we read */
};

typedef VEC(u32) pid_list;

/* Every process, ascending; every thread of one. The lists are emptied first. */
int procfs_pids(pid_list *ret, struct err *e);
int procfs_tids(u32 pid, pid_list *ret, struct err *e);
/* The processes that @pid has started, and those that these have: as far as they are alive. */
void procfs_descendants(u32 pid, pid_list *ret);
/* The processes that @pid has started, and those that these have, as far as they are alive. */
void procfs_descendants(u32 pid, pid_list *ret);
/* Its open files by their numbers, ascending. */
int procfs_fds(u32 pid, pid_list *ret, struct err *e);

/* A file of a process, or of one of its threads when @tid is not 0: "comm", "maps", "cgroup". */
int procfs_read(u32 pid, u32 tid, const char *file, size_t max, struct buf *ret, struct err *e);
/* Name of a thread (@tid 0: of the process), cut to the array. */
int procfs_comm(u32 pid, u32 tid, char ret[PROCFS_COMM]);
/* Memory of a process: all @n bytes, or -EFAULT. */
int procfs_memory(int pid, u64 address, void *to, size_t n);
/* Target of /proc/PID/exe. */
int procfs_exe(u32 pid, struct buf *ret);

struct proc_stat {
	u32 pid;
	char comm[PROCFS_COMM];
	char state; /* R S D T Z I ... */
	u32 ppid;
	u32 session;
	u32 flags;
	u64 minflt;
	u64 majflt;
	u64 utime; /* clock ticks */
	u64 stime;
	s64 nice;
	u32 threads;
	u64 start; /* clock ticks since boot */
	u64 rss;   /* pages */
	u32 cpu;   /* last run on */
	u32 rt_priority;
	u32 policy;
	u64 block_delay; /* clock ticks waited for block I/O */
};

int procfs_parse_stat(const char *text, size_t len, struct proc_stat *ret);
int procfs_stat(u32 pid, u32 tid, struct proc_stat *ret);

struct proc_status {
	u32 tgid;
	u32 uid;  /* real */
	u32 euid; /* effective */
	u32 gid;
	u32 ns_pid; /* in the innermost pid namespace */
	u64 cap_effective;
	u64 rss_bytes; /* 0 for kernel threads */
	u64 switches_voluntary;
	u64 switches_forced;
};

/* Lines that are missing leave 0. */
void procfs_parse_status(const char *text, size_t len, struct proc_status *ret);
int procfs_status(u32 pid, struct proc_status *ret);

enum { PROC_MAP_READ = 1, PROC_MAP_WRITE = 2, PROC_MAP_EXEC = 4, PROC_MAP_SHARED = 8 };

struct proc_map {
	u64 start;
	u64 end;
	u64 offset;
	u64 inode;
	u32 dev_major;
	u32 dev_minor;
	u32 flags;        /* PROC_MAP_* */
	const char *path; /* into the text, not terminated; \n stands as \012 */
	size_t path_len;
};

/*
 * The next line of a maps file; moves *text past it. 0: a mapping; -ENODATA: the end; -EBADMSG: a
 * line that is not one, skipped.
 */
int procfs_next_map(const char **text, const char *end, struct proc_map *ret);
/* The mapping of this process that holds @address; its path is not kept. */
int procfs_own_map(u64 address, struct proc_map *ret);

#endif
