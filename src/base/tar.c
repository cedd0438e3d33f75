/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/tar.h"

#include "base/base.h"
#include "base/io.h"

#include <sys/stat.h>

enum { BLOCK = 512, COPY_BYTES = 1 << 18 };

struct tar_head {
	char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], sum[8], type, link[100];
	char magic[6], version[2], owner[32], group[32], major[8], minor[8], prefix[155], pad[12];
};
_Static_assert(sizeof(struct tar_head) == BLOCK, "as in the file");

static int write_head(int fd, const char *name, const char *to, char type, u64 size, u32 mode,
		      u64 mtime)
{
	struct tar_head h = { .type = type, .magic = "ustar", .version = { '0', '0' } };
	char text[16];
	u32 sum = 0;

	memcpy(h.name, name, MIN(strlen(name), sizeof(h.name)));
	memcpy(h.link, to, MIN(strlen(to), sizeof(h.link)));
	snprintf(h.mode, sizeof(h.mode), "%07o", mode & 07777);
	snprintf(h.uid, sizeof(h.uid), "%07o", 0);
	snprintf(h.gid, sizeof(h.gid), "%07o", 0);
	/* eleven octal digits: up to 8 GB; the time likewise */
	snprintf(text, sizeof(text), "%011llo", (unsigned long long)size);
	memcpy(h.size, text, 11);
	snprintf(text, sizeof(text), "%011llo", (unsigned long long)(mtime & ((1ull << 33) - 1)));
	memcpy(h.mtime, text, 11);
	memset(h.sum, ' ', sizeof(h.sum));
	for (size_t i = 0; i < sizeof(h); i++)
		sum += ((const u8 *)&h)[i];
	snprintf(h.sum, sizeof(h.sum), "%06o", sum & 0777777);
	return io_write_all(fd, &h, sizeof(h));
}

int tar_pad(int fd, u64 size)
{
	static const char zero[BLOCK];
	size_t n = (size_t)(-size & (BLOCK - 1));

	return n ? io_write_all(fd, zero, n) : 0;
}

/* GNU's: a file whose contents are the name of the next one. */
static int write_long(int fd, const char *name, char type)
{
	size_t n = strlen(name) + 1;
	int r;

	if (n <= sizeof(((struct tar_head *)0)->name))
		return 0;
	r = write_head(fd, "././@LongLink", "", type, n, 0644, 0);
	if (r >= 0)
		r = io_write_all(fd, name, n);
	return r < 0 ? r : tar_pad(fd, n);
}

int tar_file(int fd, const char *name, u64 size, u32 mode, u64 mtime)
{
	int r;

	if (size >= 1ull << 33)
		return -EFBIG;
	r = write_long(fd, name, 'L');
	return r < 0 ? r : write_head(fd, name, "", '0', size, mode, mtime);
}

int tar_link(int fd, const char *name, const char *to, u64 mtime)
{
	int r = write_long(fd, to, 'K');

	if (r >= 0)
		r = write_long(fd, name, 'L');
	return r < 0 ? r : write_head(fd, name, to, '2', 0, 0777, mtime);
}

int tar_end(int fd)
{
	static const char zero[2 * BLOCK];

	return io_write_all(fd, zero, sizeof(zero));
}

int tar_copy(int fd, const char *name, const char *path, struct err *e)
{
	_cleanup_free_ char *bytes = xcalloc(1, COPY_BYTES);
	_cleanup_close_ int in = -1;
	struct stat st;
	u64 left;
	int r = io_open_read(path, &in, e);

	if (r < 0)
		return r;
	if (fstat(in, &st) < 0 || !S_ISREG(st.st_mode))
		return err_set(e, EINVAL, "'%s' is not a file", path);
	r = tar_file(fd, name, (u64)st.st_size, st.st_mode, (u64)st.st_mtime);
	for (left = (u64)st.st_size; r >= 0 && left;) {
		size_t want = (size_t)MIN(left, (u64)COPY_BYTES);
		ssize_t n = read(in, bytes, want);

		if (n <= 0) {
			/* it became shorter: the size has already been written */
			memset(bytes, 0, want);
			n = (ssize_t)want;
		}
		r = io_write_all(fd, bytes, (size_t)n);
		left -= (u64)n;
	}
	if (r >= 0)
		r = tar_pad(fd, (u64)st.st_size);
	return r < 0 ? err_sys(e, -r, "cannot write '%s' into the archive", path) : 0;
}
