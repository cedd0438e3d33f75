/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/room.h"

#include "base/base.h"
#include "base/io.h"

#include <fcntl.h>
#include <sys/stat.h>

/* The first bytes of a recording, in both byte orders. */
static const char magics[][9] = { "PERFILE2", "2ELIFREP" };

static bool is_recording(const char *path, const struct stat *st)
{
	_cleanup_close_ int fd = -1;
	char begin[8];

	if (!st->st_size)
		return true;
	if (io_open_read(path, &fd, NULL) < 0 || read(fd, begin, sizeof(begin)) != sizeof(begin))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(magics); i++)
		if (memcmp(begin, magics[i], sizeof(begin)) == 0)
			return true;
	return false;
}

int recorder_check_room(const char *path, bool overwrite, struct err *e)
{
	const char *slash = strrchr(path, '/');
	_cleanup_free_ char *folder =
		slash ? xasprintf("%.*s", (int)(slash - path + 1), path) : xstrdup(".");
	struct stat st;
	bool there = stat(path, &st) == 0;

	/* what only a file can do: the header is written again at the end */
	if (there && S_ISFIFO(st.st_mode)) {
		err_set(e, ESPIPE, "'%s' is a pipe", path);
		err_hint(e, "-o - writes a form for pipes: fathom record -o - > '%s'", path);
		return -ESPIPE;
	}
	if (there && S_ISREG(st.st_mode) && !overwrite && !is_recording(path, &st)) {
		err_set(e, EEXIST, "'%s' already exists and is not a recording", path);
		err_hint(e, "--force overwrites it");
		return -EEXIST;
	}
	if (there && S_ISDIR(st.st_mode))
		return err_sys(e, EISDIR, "cannot create '%s'", path);
	if (there && (overwrite || !S_ISREG(st.st_mode))
		    ? faccessat(AT_FDCWD, path, W_OK, AT_EACCESS)
		    : faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS))
		return io_cannot_create(path, errno, e);
	return 0;
}

int recorder_move_aside(const char *path, bool overwrite, struct err *e)
{
	_cleanup_free_ char *old = NULL;
	struct stat st;

	if (overwrite || stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	old = xasprintf("%s.old", path);
	return rename(path, old) < 0 ? err_sys(e, errno, "cannot rename '%s' to '%s'", path, old)
				     : 0;
}
