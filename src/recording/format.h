/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bytes of a perf.data file, and the caps that keep a hostile one harmless. */
#ifndef RECORDING_FORMAT_H
#define RECORDING_FORMAT_H

#include "base/base.h"

#define FORMAT_MAGIC         0x32454c4946524550ull /* "PERFILE2" read as little endian */
#define FORMAT_MAGIC_SWAPPED 0x50455246494c4532ull

enum {
	FORMAT_FILE_HEADER = 104,
	FORMAT_PIPE_HEADER = 16,
	FORMAT_ATTR_MIN = 64,    /* the first published perf_event_attr */
	FORMAT_ATTR_MAX = 4096,  /* no kernel will take a larger one */
	FORMAT_ATTR_WRITE = 128, /* the largest that perf 6.1 reads */
	FORMAT_NAME_ALIGN = 64,  /* strings are padded to this */
	FORMAT_MAX_EVENTS = 65536,
	FORMAT_MAX_IDS = 4 << 20, /* over all events */
	FORMAT_MAX_FEATURE = 32 << 20,
	FORMAT_MAX_INFO = 64 << 20, /* all sections together */
	FORMAT_MAX_COMPRESSED2 = 128 << 10,
	/* misc bits that older system headers lack */
	FORMAT_MISC_BUILD_ID_SIZE = 1 << 15,
	FORMAT_MISC_MMAP_BUILD_ID = 1 << 14,
};

#define FORMAT_BRANCH_COUNTERS (1ull << 19) /* branch_sample_type, since 6.8 */

/*
 * In event_types.offset, which is not read, while the recorder runs: data.size is that of the last
 * checkpoint, and the sections are only those that perf cannot do without.
 */
#define FORMAT_RUNNING 0x676e696e6e7572ull
/* ... and this, "no room", where the disk was full. */
#define FORMAT_NO_ROOM 0x6d6f6f72206f6eull

struct format_section {
	u64 offset;
	u64 size;
};

struct format_header {
	u64 magic;
	u64 size;
	u64 attr_size; /* of attr and its ids section */
	struct format_section attrs;
	struct format_section data;
	struct format_section event_types;
	u64 features[4];
};
_Static_assert(sizeof(struct format_header) == FORMAT_FILE_HEADER, "perf.data header");

/*
 * A piece of one of our own features inside the stream: in pipe mode, where perf refuses features
 * that it does not know, and at the start of a file, so that it survives a killed recorder. perf
 * skips records of this type (RECORD_HEADER_EVENT_TYPE).
 */
#define FORMAT_PIECE_MAGIC 0x0a4d4f4854414621ull

struct format_piece {
	u32 type;
	u16 misc;
	u16 size;
	u64 magic;
	u32 feature;
	u32 total;  /* bytes of the whole feature */
	u32 offset; /* of these bytes in it; pieces come in order */
	u32 len;    /* bytes here; the record is padded to 8 */
};
_Static_assert(sizeof(struct format_piece) == 32, "piece record");

/*
 * A piece that stands for itself, written as soon as it is known (bit of its misc): what grows with
 * time has no room in the memory of a recorder until its end. It is delivered as a record.
 */
enum { FORMAT_PIECE_ALONE = 1, FORMAT_PIECE_MOST = 48 << 10 };

/* What an EVENT_UPDATE record changes. */
enum { FORMAT_UPDATE_UNIT = 0, FORMAT_UPDATE_SCALE = 1, FORMAT_UPDATE_NAME = 2 };

/* TRACING_DATA begins with these bytes. */
#define FORMAT_TRACING_MAGIC      "\x17\x08\x44tracing"
#define FORMAT_TRACING_MAGIC_SIZE 10

#endif
