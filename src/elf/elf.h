/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The reader of ELF files, 32 and 64 bit, little-endian. It trusts nothing: it reads with pread and
 * never maps, so that a file that is truncated while it is read is an error and not a SIGBUS.
 * The headers are copied; offsets and sizes in them may be anything, elf_read() checks.
 */
#ifndef ELF_ELF_H
#define ELF_ELF_H

#include "base/buf.h"
#include "base/err.h"

#include <elf.h>

enum {
	ELF_MAX_PHDRS = 4096,
	ELF_MAX_SECTIONS = 1 << 18,
	ELF_MAX_NAMES = 16 << 20, /* bytes of section names */
	ELF_MAX_NOTES = 1 << 20,
	ELF_BUILD_ID_MAX = 64,
};

struct elf_section {
	u32 name; /* into names; elf_section_name() */
	u32 type;
	u32 link;
	u32 info;
	u64 flags;
	u64 addr;
	u64 offset;
	u64 size;
	u64 entsize;
};

struct elf_segment {
	u32 type;
	u32 flags;
	u64 offset;
	u64 vaddr;
	u64 filesz;
	u64 memsz;
};

struct elf {
	char *name;    /* for messages */
	int fd;        /* -1 when the bytes are in memory */
	bool borrowed; /* fd is the caller's */
	const u8 *mem; /* the caller's */
	u64 size;
	bool is64;
	u16 type;
	u16 machine;
	struct elf_segment *segments;
	size_t segment_count;
	struct elf_section *sections;
	size_t section_count;
	char *names;
	size_t names_len;
	u8 build_id[ELF_BUILD_ID_MAX];
	size_t build_id_len; /* 0: none */
	u64 fingerprint;     /* of the headers: tells two builds with one build id apart */
	/*
	 * Which file it is, and since when: device, inode, generation, size and change time. A
	 * build id is only what a file claims and can be copied; this cannot. 0: in memory.
	 */
	u64 identity;
};

#define ELF_INIT          \
	{                 \
		.fd = -1, \
	}
#define _cleanup_elf_ _cleanup_(elf_release)

/* Reads the headers. Takes ownership of @fd, even on failure. */
int elf_open_fd(struct elf *elf, int fd, const char *name, struct err *e);
/* The same, but @fd stays the caller's and must outlive @elf. */
int elf_use_fd(struct elf *elf, int fd, const char *name, struct err *e);
/* The same for bytes that outlive @elf. */
int elf_open_mem(struct elf *elf, const void *bytes, size_t size, const char *name, struct err *e);
void elf_release(struct elf *elf);

/* All @n bytes or an error. */
int elf_read(const struct elf *elf, u64 offset, void *ret, size_t n);
/* Appends up to @max bytes of the file; more than that or beyond the file's end is an error. */
int elf_read_buf(const struct elf *elf, u64 offset, u64 size, u64 max, struct buf *ret);
/* Appends the section's bytes; -ENODATA for sections without any in this file. */
int elf_read_section(const struct elf *elf, const struct elf_section *s, u64 max, struct buf *ret);

/* "" where the name is broken. */
const char *elf_section_name(const struct elf *elf, const struct elf_section *s);
/* The first of this name or type, or NULL. */
const struct elf_section *elf_find_section(const struct elf *elf, const char *name);
const struct elf_section *elf_find_type(const struct elf *elf, u32 type);
const struct elf_segment *elf_find_segment(const struct elf *elf, u32 type);
/* Whether the section has bytes in this file that can be used as they are. */
bool elf_has_bytes(const struct elf *elf, const struct elf_section *s);

/* Copies at most @max bytes of the build id; returns how many, 0 when there is none. */
static inline size_t elf_build_id(const struct elf *elf, u8 *ret, size_t max)
{
	size_t n = MIN(elf->build_id_len, max);

	memcpy(ret, elf->build_id, n);
	return n;
}
/* The name in .gnu_debuglink and the CRC of that file; the name has no '/' in it. */
bool elf_debuglink(const struct elf *elf, struct buf *ret_name, u32 *ret_crc);

/*
 * The file offset of an address, and how many file bytes of its segment follow; false: not loaded
 * from the file, or, with @exec, not as code. The result is inside the file.
 */
bool elf_offset(const struct elf *elf, u64 vaddr, bool exec, u64 *ret_offset, u64 *ret_left);
/* Where code begins at link time; prelink moved some files, but not their debug files. */
u64 elf_code_start(const struct elf *elf);
/* Between file offsets and addresses of loaded segments; code is tried first. */
bool segments_vaddr(const struct elf_segment *segments, size_t n, u64 offset, u64 *ret);
bool segments_offset(const struct elf_segment *segments, size_t n, u64 vaddr, u64 *ret);

#endif
