/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CPUs that come back. The kernel takes the events of a CPU away when it goes offline and does not
 * give them back when it is online again; nothing tells the owner of the descriptor. The kernel
 * announces such a CPU to user space; after a suspend, which is not announced, all of them are
 * taken for new.
 */
#ifndef CAPTURE_CPUWATCH_H
#define CAPTURE_CPUWATCH_H

#include "base/base.h"

enum { CPUWATCH_NONE = -1, CPUWATCH_ALL = -2 };

struct cpuwatch {
	int fd; /* readable when there is something to be read; -1: the kernel does not announce it
		 */
	u64 asleep; /* ns that the machine had been suspended at the last look */
};

#define CPUWATCH_INIT    \
	{                \
		.fd = -1 \
	}

void cpuwatch_open(struct cpuwatch *w);
void cpuwatch_close(struct cpuwatch *w);
/* A CPU that has come online, CPUWATCH_ALL when it may be any, or CPUWATCH_NONE. */
int cpuwatch_next(struct cpuwatch *w);
/* The CPU in one message of the kernel, or CPUWATCH_NONE. */
int cpuwatch_parse(const char *message, size_t n);

#endif
