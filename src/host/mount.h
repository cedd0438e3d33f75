/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef HOST_MOUNT_H
#define HOST_MOUNT_H

/*
 * A mount of a pseudo file system ("tracefs", "securityfs") that is attached to no directory:
 * other processes do not see it, and it is gone when the descriptor is closed. Asks for
 * CAP_SYS_ADMIN. Returns a directory descriptor for openat() or a negative errno; -ENODEV: no such
 * file system.
 */
int mount_detached(const char *type);

#endif
