/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables ahead of time, while a long recording of the machine continues: a thread of the lowest
 * priority goes through $PATH and the library directories and fills the cache on disk, so that a
 * program that starts for the first time finds its table. It works a twentieth of the time at
 * most: it is in the picture itself.
 */
#ifndef RECORDER_PREBUILD_H
#define RECORDER_PREBUILD_H

#include <pthread.h>

#include "base/map.h"

struct prebuild {
	pthread_t thread;
	bool running;
	bool stop; /* atomic */
	u64 after_ns;
	struct map seen; /* hash of device and inode */
	u64 files;
};

/* Begins @after_ns from now. A failure is not loss: then nothing is built. */
void recorder_prebuild_start(struct prebuild *p, u64 after_ns);
/* Waits for the file at work, which takes a second at the very most. */
void recorder_prebuild_stop(struct prebuild *p);

#endif
