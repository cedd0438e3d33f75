/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tools whose results are part of /metrics: each runs as a process that prints a document every few
 * seconds; histograms and counts of the documents are added up here.
 */
#ifndef WEB_EXPORTS_H
#define WEB_EXPORTS_H

#include "web/child.h"

enum {
	EXPORTS_MOST = 8,
	EXPORT_SECONDS = 5,       /* of each document */
	EXPORT_SERIES_MOST = 512, /* of each tool; what is beyond is counted */
	EXPORT_BUCKETS = 65,      /* powers of two, from 1 */
};

struct export_series;

struct export_tool {
	const char *name;
	struct child child;
	int pipe; /* its standard output; -1: it has ended */
	struct buf line;
	VEC(struct export_series *) series;
	u64 documents, left_out;
};

struct exports {
	const char *what; /* that ends with a tool; NULL: --export */
	u32 seconds;      /* of each document; 0: EXPORT_SECONDS */
	VEC(struct export_tool) tools;
};

/* Begins @names; they live as long as @x. */
int exports_start(struct exports *x, const char *const *names, size_t n, struct err *e);
void exports_release(struct exports *x);
/* For poll(). */
size_t exports_fds(const struct exports *x, int *fds, size_t most);
/* Takes what a descriptor of exports_fds() has; others are ignored. */
void exports_read(struct exports *x, int fd);
/* One document of a tool. */
void exports_take(struct export_tool *t, const char *text, size_t n);
/* Adds all histograms to @ret. */
void exports_sum(const struct exports *x, u64 ret[EXPORT_BUCKETS]);
/* OpenMetrics, without the end mark. */
void exports_write(const struct exports *x, struct buf *out);

#endif
