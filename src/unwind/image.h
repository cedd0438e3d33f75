/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The little of an ELF file that unwinding needs: program headers, the sections that hold frame
 * information, the build id. From a file descriptor or from memory (the vDSO). The file may be
 * anything: every offset and size is checked against its real size before it is used.
 */
#ifndef UNWIND_IMAGE_H
#define UNWIND_IMAGE_H

#include "base/buf.h"
#include "base/err.h"

enum {
	IMAGE_MAX_SEGMENTS = 64,
	IMAGE_MAX_SECTIONS = 65536,
	IMAGE_MAX_BUILD_ID = 64,
	IMAGE_MAX_NOTES = 65536, /* bytes of a note segment that are looked through */
};
#define IMAGE_MAX_FRAMES (512ull << 20) /* bytes of frame information in one file */

/* A PT_LOAD segment: file bytes [offset, offset + size) lie at vaddr. */
struct image_segment {
	u64 vaddr;
	u64 offset;
	u64 size; /* in the file */
	bool exec;
};

/* A stretch of the file at an address. */
struct image_range {
	u64 vaddr;
	u64 offset;
	u64 size; /* 0: not there */
};

struct image {
	const char *name; /* for messages; must outlive the image */
	int fd;           /* -1: in memory */
	const u8 *bytes;
	u64 size;
	struct image_segment segments[IMAGE_MAX_SEGMENTS];
	size_t n_segments;
	struct image_range eh_frame;     /* .eh_frame by its section header */
	struct image_range debug_frame;  /* .debug_frame, not compressed */
	struct image_range eh_frame_hdr; /* PT_GNU_EH_FRAME */
	struct image_range go_table;     /* .gopclntab */
	struct image_range text;         /* .text */
	u8 build_id[IMAGE_MAX_BUILD_ID];
	size_t build_id_len; /* 0: none */
};

/* The descriptor stays the caller's and must live as long as the image. -ENOEXEC: not for us. */
int image_open(struct image *im, int fd, const char *name, struct err *e);
int image_open_memory(struct image *im, const void *bytes, size_t n, const char *name,
		      struct err *e);
/* All @n bytes or an error. */
int image_read(const struct image *im, u64 offset, void *to, size_t n, struct err *e);
/* Appends the bytes of a range; at most IMAGE_MAX_FRAMES. */
int image_read_range(const struct image *im, const struct image_range *r, struct buf *ret,
		     struct err *e);
/* File offset of an address, and how many file bytes of its segment follow; false: not mapped. */
bool image_offset(const struct image *im, u64 vaddr, bool exec, u64 *ret_offset, u64 *ret_left);
/* A number that changes when the same code lies elsewhere in the file. */
u64 image_layout(const struct image *im);

#endif
