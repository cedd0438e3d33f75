/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/flight.h"

#include "base/clock.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#define FLIGHT_FILE "flight.data"
#define FLIGHT_OLD  "flight.old.data"

enum {
	FLIGHT_HZ = 49,
	FLIGHT_PART_BYTES = 48 << 20, /* then another file takes over */
	FLIGHT_PART_SECONDS = 300,
	BUDGET_LOOKS = 5,
};

static void remove_files(struct jobs *j)
{
	(void)unlinkat(j->dir, FLIGHT_FILE, 0);
	(void)unlinkat(j->dir, FLIGHT_OLD, 0);
}

void flight_release(struct flight *f, struct jobs *j)
{
	child_release(&f->child);
	latency_stop(&f->latency);
	if (j->dir >= 0)
		remove_files(j);
	free(f->why_not);
}

static int start(struct flight *f, struct jobs *j, struct err *e)
{
	struct command_line line = { 0 };
	int r;

	command_line_add(&line, "record");
	command_line_add(&line, "--freq=%d", FLIGHT_HZ);
	command_line_add(&line, "--off-cpu");
	command_line_add(&line, "--quiet");
	command_line_add(&line, "--output=%s/" FLIGHT_FILE, j->path);
	r = child_start(&f->child, &line, j->dir, NULL, e);
	command_line_release(&line);
	if (r < 0)
		return r;
	f->part = clock_mono_ns();
	f->cpu_last = f->over = 0;
	return 0;
}

int flight_start(struct flight *f, struct jobs *j, struct err *e)
{
	int r;

	if (f->child.pid > 0)
		return 0;
	remove_files(j);
	free(f->why_not);
	f->why_not = NULL;
	r = start(f, j, e);
	if (r >= 0)
		latency_start(&f->latency);
	f->since = f->part;
	return r;
}

void flight_stop(struct flight *f, struct jobs *j)
{
	latency_stop(&f->latency);
	if (f->child.pid <= 0)
		return;
	child_kill(&f->child);
	remove_files(j);
	f->since = 0;
}

/* The old file goes, the new one becomes the old one. */
static void change_file(struct flight *f, struct jobs *j)
{
	u64 part = f->part;

	/* what it has not written yet is a second at most, as after a crash */
	child_signal(&f->child, SIGINT);
	(void)child_reap(&f->child, &(u64){ 0 });
	if (renameat(j->dir, FLIGHT_FILE, j->dir, FLIGHT_OLD) == 0)
		f->since = part;
	(void)start(f, j, NULL);
}

static bool is_over_budget(struct flight *f, const struct jobs *j, double seconds)
{
	u64 cpu = child_cpu(&f->child) + latency_cpu(&f->latency);
	double percent = 0;

	if (f->cpu_last && cpu > f->cpu_last)
		percent = (double)(cpu - f->cpu_last) / 1e7 / seconds / j->cpus;
	f->cpu_last = cpu;
	f->over = percent > j->budget ? f->over + 1 : 0;
	return j->budget > 0 && f->over >= BUDGET_LOOKS;
}

bool flight_tick(struct flight *f, struct jobs *j, double seconds)
{
	struct stat st;

	if (f->child.pid <= 0)
		return false;
	if (is_over_budget(f, j, seconds)) {
		flight_stop(f, j);
		f->why_not = xasprintf("keeping stacks of the past took more than the budget of "
				       "%.1f%% of all CPUs",
				       j->budget);
		return true;
	}
	if (clock_mono_ns() - f->part > FLIGHT_PART_SECONDS * NSEC_PER_SEC ||
	    (fstatat(j->dir, FLIGHT_FILE, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	     st.st_size > FLIGHT_PART_BYTES))
		change_file(f, j);
	return false;
}

static int not_there(const struct flight *f, struct err *e)
{
	err_set(e, ENOENT, "there are no stacks of that time");
	if (f->why_not)
		err_hint(e, "%s", f->why_not);
	else
		err_hint(e, "they are kept while a page is open whose role allows recordings");
	return -ENOENT;
}

int flight_find(const struct flight *f, struct jobs *j, u64 from, u64 to, char **ret_file,
		const char **ret_note, struct err *e)
{
	u64 in_new = to > f->part ? to - MAX(from, f->part) : 0;
	u64 in_old = from < f->part ? MIN(to, f->part) - MAX(from, f->since) : 0;
	bool has_old = f->since < f->part;

	if (f->child.pid <= 0 || to <= f->since || to <= from || (!in_new && !has_old))
		return not_there(f, e);
	*ret_note = NULL;
	if (from < f->since)
		*ret_note = "stacks of the start of this span are not there any more";
	if (in_new && in_old && has_old)
		*ret_note = "the span is in two files: the larger part is shown";
	*ret_file = xstrdup(has_old && in_old > in_new ? FLIGHT_OLD : FLIGHT_FILE);
	return faccessat(j->dir, *ret_file, R_OK, 0) < 0 ? (free(*ret_file), not_there(f, e)) : 0;
}
