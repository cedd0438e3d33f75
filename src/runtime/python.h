/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CPython 3.11, 3.12 and 3.13: where a build keeps the frames of its threads and what its code
 * objects look like, found in its file. From 3.13 on the file itself says so; before that by
 * tables here.
 */
#ifndef RUNTIME_PYTHON_H
#define RUNTIME_PYTHON_H

#include "bpf/unwind_python.h"
#include "elf/elf.h"

/* Where things are in objects that are read after the sample. Offsets in bytes. */
struct python_objects {
	u32 code_file;
	u32 code_name;  /* the qualified one */
	u32 code_line;  /* the first: 32 bits */
	u32 code_lines; /* the table */
	u32 bytes_size;
	u32 bytes_data;
	u32 text_size;
	u32 text_state;
	u32 text_ascii; /* where the characters are, of ASCII strings */
	u32 text_wide;  /* and of others */
};

/* What is read of an object at first; the offsets above are within. */
enum { PYTHON_CODE_BYTES = 256, PYTHON_TEXT_BYTES = 128 };

struct python_build {
	u32 version; /* 0x030d00f0 */
	struct unwind_python frames;
	struct python_objects objects;
};

/* -ENOENT: not a Python; -ENOTSUP: one that we do not know (ret->version is set even so). */
int python_build_read(const struct elf *elf, struct python_build *ret);

/* A stretch of instructions of one line. */
struct python_line {
	u32 instr; /* the first one */
	u32 line;  /* 0: belongs to no line */
};
enum { PYTHON_MAX_LINE = 1 << 24 };

/*
 * Takes a location table (co_linetable of 3.11 and later) apart. At most @max of @ret are written;
 * returns how many. Broken tables end early.
 */
size_t python_lines(const u8 *table, size_t n, u32 first_line, struct python_line *ret, size_t max);

#endif
