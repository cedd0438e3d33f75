/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside of synth: building one record at a time. */
#ifndef CAPTURE_SYNTH_RECORD_H
#define CAPTURE_SYNTH_RECORD_H

#include "capture/synth.h"

enum { SYNTH_NAME_MOST = 4096, SYNTH_RECORD_MOST = 8192, SYNTH_BUILD_ID_MOST = 20 };

/* A record that grows at its end; what does not fit is left out. */
struct synth_record {
	u8 bytes[SYNTH_RECORD_MOST] __attribute__((aligned(8)));
	size_t len;
};

void synth_begin(struct synth_record *r, u32 type, u16 misc);
void synth_put(struct synth_record *r, const void *p, size_t n);
void synth_put_u32(struct synth_record *r, u32 v);
void synth_put_u64(struct synth_record *r, u64 v);
/* A string with its end, padded to 8 bytes. */
void synth_put_name(struct synth_record *r, const char *s, size_t n);
/* Adds the trailer and hands it to the sink. */
int synth_end(struct synth *s, struct synth_record *r);

struct synth_map {
	u64 start, end, offset, inode;
	u32 dev_major, dev_minor;
	u32 prot, flags;
	const char *path;
	size_t path_len;
	u8 build_id[SYNTH_BUILD_ID_MOST];
	u32 build_id_size; /* 0: none */
	bool kernel;
};

int synth_mmap2(struct synth *s, u32 pid, const struct synth_map *m);
/* All mappings of @pid; @proc_fd is of its directory in /proc. */
int synth_maps(struct synth *s, u32 pid, int proc_fd);

#endif
