/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/prebuild.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <time.h>

#include "base/buf.h"
#include "base/hash.h"
#include "unwind/table.h"

enum {
	REST = 19,            /* times as long as work */
	DEPTH_MOST = 3,       /* of directories below those named */
	FILE_MOST = 64 << 20, /* larger ones take too long to be called back */
	NAP_NS = 50 * 1000 * 1000,
};

static const char *const library_dirs[] = { "/usr/lib", "/usr/lib64", "/usr/libexec", "/lib",
					    "/usr/local/lib" };

static bool stop_wanted(const struct prebuild *p)
{
	return __atomic_load_n(&p->stop, __ATOMIC_ACQUIRE);
}

static u64 thread_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (u64)t.tv_sec * NSEC_PER_SEC + (u64)t.tv_nsec;
}

/* In pieces, so that others do not wait for it. */
static void rest(const struct prebuild *p, u64 ns)
{
	while (ns && !stop_wanted(p)) {
		u64 nap = MIN(ns, (u64)NAP_NS);

		nanosleep(&(struct timespec){ .tv_nsec = (long)nap }, NULL);
		ns -= nap;
	}
}

static void one_file(struct prebuild *p, int dir, const char *name, const struct stat *st)
{
	_cleanup_table_ struct unwind_table *t = NULL;
	u64 *seen = map_at(&p->seen, hash_mix(hash_mix(st->st_dev, st->st_ino), 0));
	u64 begin = thread_cpu_ns();
	_cleanup_elf_ struct elf elf = ELF_INIT;

	if ((*seen)++ || st->st_size > FILE_MOST)
		return;
	_cleanup_close_ int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd < 0 || elf_use_fd(&elf, fd, name, NULL))
		return;
	p->files++;
	(void)unwind_table_get(&elf, &t, NULL, NULL);
	rest(p, (thread_cpu_ns() - begin) * REST);
}

static void one_dir(struct prebuild *p, const char *path, int depth)
{
	DIR *dir = opendir(path);
	struct dirent *d;
	struct stat st;

	while (dir && !stop_wanted(p) && (d = readdir(dir))) {
		if (d->d_name[0] == '.' || fstatat(dirfd(dir), d->d_name, &st, 0))
			continue;
		if (S_ISDIR(st.st_mode) && depth && d->d_type == DT_DIR) {
			_cleanup_free_ char *full = xasprintf("%s/%s", path, d->d_name);

			one_dir(p, full, depth - 1);
		} else if (S_ISREG(st.st_mode) &&
			   ((st.st_mode & 0111) || strstr(d->d_name, ".so"))) {
			one_file(p, dirfd(dir), d->d_name, &st);
		}
	}
	if (dir)
		closedir(dir);
}

static void path_dirs(struct prebuild *p)
{
	const char *path = getenv("PATH");
	_cleanup_free_ char *copy = xstrdup(path ? path : "/usr/bin:/bin");
	char *left = copy, *dir;

	while ((dir = strsep(&left, ":"))) {
		if (dir[0] == '/')
			one_dir(p, dir, 0);
	}
}

static void *thread_main(void *arg)
{
	struct prebuild *p = arg;

	/* only this thread; when nothing else is runnable */
	(void)sched_setscheduler(0, SCHED_IDLE, &(struct sched_param){ 0 });
	rest(p, p->after_ns);
	if (!stop_wanted(p))
		path_dirs(p);
	for (size_t i = 0; i < ARRAY_SIZE(library_dirs) && !stop_wanted(p); i++)
		one_dir(p, library_dirs[i], DEPTH_MOST);
	return NULL;
}

void recorder_prebuild_start(struct prebuild *p, u64 after_ns)
{
	p->after_ns = after_ns;
	p->running = !pthread_create(&p->thread, NULL, thread_main, p);
}

void recorder_prebuild_stop(struct prebuild *p)
{
	if (p->running) {
		__atomic_store_n(&p->stop, true, __ATOMIC_RELEASE);
		pthread_join(p->thread, NULL);
		p->running = false;
	}
	map_release(&p->seen);
}
