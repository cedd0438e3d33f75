/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Profiles for the programs of others. Each format is a file of its own (pprof.c, chrome.c); all
 * append to @out. Formats that know time want a profile that was not merged.
 */
#ifndef VIEW_EXPORT_H
#define VIEW_EXPORT_H

#include "base/buf.h"
#include "profile/profile.h"

struct export_build_id {
	const char *path; /* of the module, as recorded */
	const char *hex;
};

struct export_opts {
	u16 event;         /* the one that is exported, by formats that hold one */
	const char *title; /* NULL: the source */
	const struct export_build_id *build_ids;
	size_t n_build_ids;
};

/* profile.proto, packed by gzip: all events, threads as labels. */
void export_pprof(const struct profile *p, const struct export_opts *o, struct buf *out);
/* https://www.speedscope.app/file-format-schema.json: a profile for each thread. */
void export_speedscope(const struct profile *p, const struct export_opts *o, struct buf *out);
/* Trace events of Chrome, which Perfetto reads, too: a slice for each call as long as it is seen */
void export_chrome(const struct profile *p, const struct export_opts *o, struct buf *out);
/* The processed format of profiler.firefox.com. */
void export_firefox(const struct profile *p, const struct export_opts *o, struct buf *out);
/* A line for each stack of each thread and event. */
void export_csv(const struct profile *p, const struct export_opts *o, struct buf *out);

/* --- what they share --- */

struct export_moment {
	u32 thread;
	u32 index; /* of the sample */
	u64 time;
};
typedef VEC(struct export_moment) export_moments;

/* Samples of the event by thread, in order of time (of the profile, where there is none). */
void export_order(const struct profile *p, u16 event, export_moments *ret);
/* How many of @m from @i on are of one thread. */
size_t export_run(const export_moments *m, size_t i);
/* "git 123/124": command, process and thread, as far as they are known. */
void export_thread_name(const struct profile *p, u32 thread, struct buf *out);
/* Its name; code without one goes by its module, "[libfoo.so]". Valid until @room changes. */
const char *export_frame_name(const struct profile *p, const struct frame *f, struct buf *room);
const char *export_title(const struct profile *p, const struct export_opts *o);
/* Whether the weights of the event are nanoseconds. */
bool export_is_time(const struct profile *p, u16 event);

#endif
