/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writing recordings that perf 6.1 and later open.
 *
 *	struct recording_writer *w;
 *	struct writer_options o = { .path = "fathom.data", .version = "fathom 1.0",
 *				    .argc = argc, .argv = argv };
 *	recording_writer_new(&o, &w, e);
 *	recording_writer_event(w, &(struct writer_event){ .attr = attr, .name = "cpu-clock",
 *							  .ids = ids, .n_ids = n }, e);
 *	recording_writer_start(w, e);
 *	for each sweep over the ring buffers {
 *		recording_writer_add(w, records, size, e);
 *		recording_writer_round(w, e);
 *	}
 *	recording_writer_finish(w, e);
 *	recording_writer_free(w);
 *
 * The header is on disk before the first record: a recording whose recorder was killed opens, up
 * to its last flush, with its event names.
 *
 * perf's rules for more than one event: every attr has PERF_SAMPLE_IDENTIFIER, every event has
 * ids, all ids are distinct. recording_writer_start() checks them. Synthetic events (off-CPU and
 * the like) take ids of their own: any number that no kernel event has, see WRITER_OWN_ID.
 */
#ifndef RECORDING_WRITER_H
#define RECORDING_WRITER_H

#include "base/err.h"
#include "recording/info.h"
#include "recording/record.h"

struct recording_writer;

/* Ids for events that the kernel does not count: WRITER_OWN_ID + n. */
#define WRITER_OWN_ID (1ull << 48)

struct writer_options {
	const char *path; /* made again (an existing file is truncated); "-" is stdout */
	int fd;           /* used instead when path is NULL; stays the caller's */
	bool pipe;        /* pipe mode even though it is a file; always so for what cannot seek */
	int compress;     /* zstd level, 0: not compressed */
	const char *version; /* "fathom 1.0": feature VERSION */
	int argc;            /* feature CMDLINE */
	const char *const *argv;
	bool no_machine; /* leave out what describes this machine: tests, converted files */
};

struct writer_event {
	struct perf_event_attr attr; /* written with 128 bytes, whatever its size says */
	const char *name;            /* shown by perf; "system:event" for tracepoints */
	const u64 *ids;              /* copied */
	size_t n_ids;
	u32 n_members; /* of a group's leader: events in the group, itself included; else 0 */
};

int recording_writer_new(const struct writer_options *o, struct recording_writer **ret,
			 struct err *e);
/* Releases everything. Without a finish before, the file stays as if the recorder was killed. */
void recording_writer_free(struct recording_writer *w);

/* Before start. The members of a group follow their leader. */
int recording_writer_event(struct recording_writer *w, const struct writer_event *ev,
			   struct err *e);
/*
 * A feature's raw bytes, for what the caller knows (BPF_PROG_INFO, BPF_BTF, FEATURE_OURS...):
 * replaces what was given before. Any time before finish in file mode; in pipe mode before start,
 * except for FEATURE_OURS and up.
 */
int recording_writer_feature(struct recording_writer *w, u32 feature, const void *data, size_t size,
			     struct err *e);
/* The clock of the records (attr.clockid): features CLOCKID and CLOCK_DATA. Before start. */
void recording_writer_clock(struct recording_writer *w, u32 clockid);
/*
 * Writes header, attrs, names and, for tracepoint events, their formats from tracefs. A missing
 * tracefs is an error only if there are tracepoint events.
 */
int recording_writer_start(struct recording_writer *w, struct err *e);

/* One or more whole records, 8-byte aligned as the kernel makes them. */
int recording_writer_add(struct recording_writer *w, const void *records, size_t size,
			 struct err *e);
/* A part of a feature that stands for itself, as a record: for what grows with time. */
int recording_writer_piece(struct buf *out, u32 feature, const void *data, size_t size);
/* After every sweep of all rings: no later record has a time before the previous sweep's end. */
int recording_writer_round(struct recording_writer *w, struct err *e);
/* What is buffered goes to the file now. Happens by itself every 256 KB. */
int recording_writer_flush(struct recording_writer *w, struct err *e);
/* Flushes, writes the feature sections and the final header. */
int recording_writer_finish(struct recording_writer *w, struct err *e);

/* Bytes of records taken, and bytes in the file. */
u64 recording_writer_bytes(const struct recording_writer *w);
u64 recording_writer_file_bytes(const struct recording_writer *w);
/* Samples that passed through. */
u64 recording_writer_samples(const struct recording_writer *w);

#endif
