/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Named probes in tracefs: kprobe_events and uprobe_events. They stay until they are deleted. */
#ifndef CAPTURE_PROBE_EVENTS_H
#define CAPTURE_PROBE_EVENTS_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/vec.h"

struct probe_event {
	bool user; /* a uprobe */
	bool ret;  /* at the return */
	const char *group, *name;
	const char *target; /* "vfs_read+4", "/bin/x:0x1139" */
	const char *args;   /* "x=%di:s32 y=+8(%sp)", may be "" */
};
typedef VEC(struct probe_event) probe_event_list;

/* Strings live in @arena. A kernel without kprobes has none of them. */
int probe_events_read(struct arena *arena, probe_event_list *ret, struct err *e);
/* The text of such a file; for tests and the fuzzer. */
void probe_events_parse(const char *text, size_t n, bool user, struct arena *arena,
			probe_event_list *ret);
int probe_events_add(const struct probe_event *p, struct err *e);
/* -EBUSY: it is in use. */
int probe_events_del(const struct probe_event *p, struct err *e);
/* The line that defines it, without its end. */
void probe_event_text(const struct probe_event *p, struct buf *out);

#endif
