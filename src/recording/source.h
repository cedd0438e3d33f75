/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a recording's bytes come from: a file, a pipe, or memory. */
#ifndef RECORDING_SOURCE_H
#define RECORDING_SOURCE_H

#include "base/err.h"

struct source {
	int fd; /* -1: memory */
	bool own_fd;
	bool seekable;
	const u8 *memory;
	u64 size; /* 0 when it cannot seek */
	u64 pos;
};

int source_open_path(struct source *s, const char *path, struct err *e);
int source_open_fd(struct source *s, int fd, const char *name, struct err *e);
void source_open_memory(struct source *s, const void *data, size_t size);
void source_release(struct source *s);

/* Up to @max bytes but at least @min unless the end comes first; returns how many, or -errno. */
ssize_t source_read(struct source *s, void *buf, size_t min, size_t max);
/* -ESPIPE when it cannot. */
int source_seek(struct source *s, u64 pos);
/* Moves forward, by reading if need be. Returns the bytes skipped: fewer at the end. */
u64 source_skip(struct source *s, u64 n);
/* A pipe that holds a file-mode recording: all of it goes to an unnamed file that can seek. */
int source_spool(struct source *s, const void *head, size_t head_size, struct err *e);

#endif
