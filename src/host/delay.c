/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/delay.h"

#include "base/buf.h"
#include "base/io.h"
#include "base/parse.h"
#include "host/procfs.h"

bool delay_parse(const char *text, struct delay *ret)
{
	const char *end = text + strlen(text);
	u64 v[3];

	for (size_t i = 0; i < ARRAY_SIZE(v); i++) {
		text += strspn(text, " ");
		if (!scan_u64(&text, end, 10, &v[i]))
			return false;
	}
	*ret = (struct delay){ true, v[0], v[1], v[2] };
	return true;
}

int delay_of_thread(u32 tid, struct delay *ret)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	char path[64];
	int r;

	/* /proc/TID is not listed, but it is there for each thread */
	snprintf(path, sizeof(path), "/proc/%u/task/%u/schedstat", tid, tid);
	r = io_read_line(path, &text, NULL);
	if (r < 0)
		return r;
	return delay_parse(buf_str(&text), ret) ? 0 : -EBADMSG;
}

int delay_of_process(u32 pid, struct delay *ret, u32 *ret_threads)
{
	pid_list tids = { 0 };
	int r = procfs_tids(pid, &tids, NULL);

	*ret = (struct delay){ 0 };
	*ret_threads = 0;
	vec_each(tid, &tids) {
		_cleanup_buf_ struct buf text = BUF_INIT;
		struct delay one;

		if (procfs_read(pid, *tid, "schedstat", 4096, &text, NULL) < 0 ||
		    !delay_parse(buf_str(&text), &one))
			continue;
		ret->known = true;
		ret->running += one.running;
		ret->waiting += one.waiting;
		ret->turns += one.turns;
		++*ret_threads;
	}
	vec_release(&tids);
	return r;
}

bool pressure_parse(const char *text, u64 *ret_ns)
{
	const char *end = text + strlen(text), *at = strstr(text, "total=");
	u64 us;

	if (!starts_with(text, "some ") || !at)
		return false;
	at += strlen("total=");
	if (!scan_u64(&at, end, 10, &us) || us > UINT64_MAX / NSEC_PER_USEC)
		return false;
	*ret_ns = us * NSEC_PER_USEC;
	return true;
}

static bool read_one(const char *path, u64 *ret)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	return io_read_file(path, 4096, &text, NULL) >= 0 && pressure_parse(buf_str(&text), ret);
}

void pressure_read(struct pressure *ret)
{
	*ret = (struct pressure){ 0 };
	ret->known = read_one("/proc/pressure/cpu", &ret->cpu) &&
		     read_one("/proc/pressure/io", &ret->io) &&
		     read_one("/proc/pressure/memory", &ret->memory);
}
