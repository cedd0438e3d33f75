/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Delays of a thread as the kernel accounts them: waiting for a CPU, block I/O, swapping. */
#ifndef HOST_TASKSTATS_H
#define HOST_TASKSTATS_H

#include "base/base.h"

#include <linux/taskstats.h>

struct taskstats_socket {
	int fd;
	u16 family;
	u32 sequence;
};

#define TASKSTATS_SOCKET_INIT \
	{                     \
		.fd = -1      \
	}

/* -ENOENT: not compiled into this kernel. */
int taskstats_open(struct taskstats_socket *s);
void taskstats_close(struct taskstats_socket *s);
/* Asks for CAP_NET_ADMIN; fields that this kernel does not know are 0. */
int taskstats_read(struct taskstats_socket *s, u32 tid, struct taskstats *ret);

#endif
