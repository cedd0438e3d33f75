/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recording/hold.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum {
	HOLD_LEAST = 64 << 10, /* fewer bytes are copied sooner than held */
	HOLD_MOST = 8 << 20,   /* mapped at once: few calls, read in a millisecond or two */
	HOLD_ALIGN = 64 << 10, /* the largest page of any machine */
};

void hold_release(struct hold *h)
{
	if (h->map)
		munmap(h->map, h->len);
	*h = (struct hold){ 0 };
}

void hold_drop(const struct source *s)
{
	(void)fcntl(s->fd, F_SETLEASE, F_UNLCK);
}

/*
 * Keeps others from writing. That they wait is signalled, here one that does nothing; what
 * was chosen is forgotten with each lease.
 */
static bool take_lease(int fd)
{
	return fcntl(fd, F_SETSIG, SIGURG) == 0 && fcntl(fd, F_SETLEASE, F_RDLCK) == 0;
}

static bool covers(const struct hold *h, u64 at, u64 end)
{
	u64 rest = at >= h->from && at - h->from < h->len ? h->len - (at - h->from) : 0;

	return h->map && rest >= MIN(end - at, (u64)HOLD_LEAST) && h->from + h->len <= end;
}

/* All pages at once: a fault for each costs more, and an error of the disk would be a signal. */
static bool map_from(struct hold *h, int fd, u64 at, u64 end)
{
	u64 from = at / HOLD_ALIGN * HOLD_ALIGN;
	size_t len = MIN(end - from, (u64)HOLD_MOST);
	void *map;

	if (h->map)
		munmap(h->map, h->len);
	h->map = NULL;
	map = mmap(NULL, len, PROT_READ, MAP_SHARED, fd, (off_t)from);
	if (map == MAP_FAILED)
		return false;
	h->map = map;
	h->len = len;
	h->from = from;
	return madvise(map, len, MADV_POPULATE_READ) == 0;
}

static bool take(struct hold *h, int fd, u64 at, u64 end)
{
	struct stat st;

	if (!take_lease(fd))
		return false;
	if (fstat(fd, &st) == 0 && (u64)st.st_size >= end &&
	    (covers(h, at, end) || map_from(h, fd, at, end)))
		return true;
	(void)fcntl(fd, F_SETLEASE, F_UNLCK);
	return false;
}

bool hold_take(struct hold *h, const struct source *s, u64 at, u64 end, const u8 **ret_begin,
	       const u8 **ret_end)
{
	/* a descriptor that was given to us is shared with others, and so would be its lease */
	if (h->refused || !s->own_fd || !s->seekable || at >= end || end - at < HOLD_LEAST)
		return false;
	if (!take(h, s->fd, at, end)) {
		hold_release(h);
		h->refused = true;
		return false;
	}
	*ret_begin = h->map + (at - h->from);
	*ret_end = h->map + h->len;
	return true;
}
