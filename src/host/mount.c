/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/mount.h"

#include "base/base.h"

#include <errno.h>
#include <linux/mount.h>
#include <sys/syscall.h>

int mount_detached(const char *type)
{
	_cleanup_close_ int context = -1;
	int fd;

	context = (int)syscall(SYS_fsopen, type, FSOPEN_CLOEXEC);
	if (context < 0)
		return -errno;
	if (syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return -errno;
	fd = (int)syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC, 0);
	return fd < 0 ? -errno : fd;
}
