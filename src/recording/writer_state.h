/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The inside of struct recording_writer: only for the files of this folder. */
#ifndef RECORDING_WRITER_STATE_H
#define RECORDING_WRITER_STATE_H

#include "base/map.h"
#include "recording/format.h"
#include "recording/reader.h"
#include "recording/writer.h"
#include "recording/zstd.h"

enum { WRITER_BUFFER = 256 << 10, WRITER_KEPT = 2 << 20 };

struct written_event {
	struct perf_event_attr attr;
	struct event_layout layout;
	char *name;
	u64 *ids;
	size_t n_ids;
	u32 n_members;
};

struct written_feature {
	u32 feature;
	struct buf bytes;
};

/* A section that lies before the data, so that perf can open the file while it grows. */
struct early_section {
	u32 feature;
	struct format_section at;
};

struct recording_writer {
	int fd;
	bool own_fd;
	char *path; /* for messages */
	bool pipe;
	bool no_machine;
	bool started;
	int compress;
	char *version;
	recording_strings argv; /* owned */
	VEC(struct written_event) events;
	struct map ids;
	VEC(struct written_feature) features;
	struct buf pending; /* records not yet written */
	struct buf packed;
	struct zstd_packer *packer;
	VEC(struct early_section) early;
	u64 data_offset;
	u64 file_bytes; /* written so far, header and all */
	u64 checked;    /* ... of them, those that the header knows of */
	u64 flushed;    /* CLOCK_MONOTONIC */
	u64 bytes;      /* of records taken */
	u64 samples;
	u64 lost;
	u64 first_time, last_time;
	bool has_clock;
	u32 clock_id;
	u64 clock_wall_ns, clock_ns;
};

/* writer.c */
int writer_write(struct recording_writer *w, const void *data, size_t size, struct err *e);
/* No more can be written: the file ends with what its header describes, and says why. */
void writer_cut(struct recording_writer *w);
struct buf *writer_feature_bytes(struct recording_writer *w, u32 feature);

/* writer_feature.c: the sections that come from the writer itself; then the machine's. */
void writer_fill_features(struct recording_writer *w);
void writer_fill_compressed(struct recording_writer *w);
int writer_fill_tracing(struct recording_writer *w, struct err *e);
void feature_add_u32(struct buf *b, u32 v);
void feature_add_u64(struct buf *b, u64 v);
void feature_add_string(struct buf *b, const char *s);
bool writer_has_feature(const struct recording_writer *w, u32 feature);

/* machine.c */
void writer_fill_machine(struct recording_writer *w);
/* topology.c */
void machine_cpu_topology(struct buf *b, u32 n_cpus);
void machine_numa_topology(struct buf *b);
void machine_caches(struct buf *b, u32 n_cpus);
void machine_mem_topology(struct buf *b);
/* One line of a small file, or "" when it cannot be read. */
void machine_line(const char *path, struct buf *ret);
/* "Node 0 MemTotal:       12345 kB" -> 12345; 0 when the key is not there. */
u64 machine_meminfo_kb(const char *text, const char *key);
/* The numbers N for which the folder has an entry "prefixN", ascending. */
typedef VEC(u32) number_list;
void machine_numbers(const char *folder, const char *prefix, number_list *ret);

/* writer_head.c */
/* Makes what has been written until now a complete recording. File mode only. */
int writer_checkpoint(struct recording_writer *w, struct err *e);
/* Appends the records that describe the recording at the start of its stream. */
void writer_build_intro(struct recording_writer *w, struct buf *out);
void writer_build_pieces(const struct written_feature *f, struct buf *out);

/* writer_pipe.c */
void writer_build_pipe_head(struct recording_writer *w, struct buf *out);
void writer_build_pipe_tail(struct recording_writer *w, struct buf *out);

#endif
