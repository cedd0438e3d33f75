/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Python functions of running processes, as addresses.
 *
 * A Python frame comes from the kernel as a code object's address and an instruction. Here it
 * becomes an address of its own kind, above all that a program can have: each function of each
 * file gets a stretch of PYTHON_LINE_UNITS addresses for each of its lines, the same in all
 * processes. So a recording needs nothing new to carry it: the process has a mapping of
 * PYTHON_MAP_SIZE bytes at PYTHON_MAP_START named PYTHON_MAP_NAME, and the names of stretches
 * travel like names of any file.
 *
 * Code objects are read from the process soon after the sample, or from the process that it was
 * forked by if it is gone by then. One that is found nowhere and was not read before becomes the
 * function PYTHON_UNREADABLE, and is counted.
 */
#ifndef RUNTIME_PYTHON_NAMES_H
#define RUNTIME_PYTHON_NAMES_H

#include "base/buf.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/vec.h"
#include "runtime/python.h"
#include "runtime/python_lives.h"

#define PYTHON_MAP_START (1ull << 52)
#define PYTHON_MAP_SIZE  (1ull << 40)
#define PYTHON_MAP_NAME  "//fathom-python"
/*
 * An odd address of a line's stretch is in stacks: readers look for callers one byte before the
 * return address, and that must still be the same line.
 */
enum { PYTHON_LINE_UNITS = 2 };
#define PYTHON_UNREADABLE "[unreadable python function]"

enum {
	PYTHON_MAX_FUNCTIONS = 1 << 20,
	PYTHON_MAX_CODES = 1 << 15, /* code objects of all processes that are remembered */
	PYTHON_MAX_TEXT = 4096,     /* characters of a name */
	PYTHON_MAX_TABLE = 1 << 20, /* bytes of a location table */
	PYTHON_MAX_LINES = 4 << 20, /* entries of all tables together: 32 MB */
};

struct python_function {
	u64 start; /* from PYTHON_MAP_START on: the "file offset" */
	u64 size;
	u32 name; /* in the strings */
	u32 file;
	u32 line; /* of the first stretch */
};

struct python_code {
	u64 identity;
	u64 checked; /* the round in which it was found to be the same, 0: reading failed */
	u32 function;
	u32 n_lines;
	const struct python_line *lines; /* shared: as many processes run the same function */
};

struct python_line_table {
	struct python_line *items;
	u32 n;
};

struct python_names {
	struct intern strings;
	struct intern keys;                    /* of functions: id - 1 is the index */
	VEC(struct python_function) functions; /* [0] is PYTHON_UNREADABLE */
	VEC(struct python_code) codes;
	struct map by_code;
	VEC(struct python_line_table) tables; /* of lines, each once */
	struct map by_lines;                  /* hash -> index + 1 */
	u64 n_lines;                          /* of all tables */
	struct python_lives lives;
	u64 end; /* of the last function's stretch */
	u64 unreadable;
};

void python_names_init(struct python_names *p);
void python_names_release(struct python_names *p);

/*
 * The address for a frame of process @pid; @word as in bpf/unwind_python.h. A code object is
 * checked again in each new @round (above 0): Python may have put another one in its place.
 */
u64 python_names_address(struct python_names *p, const struct python_build *b, int pid, u64 word,
			 u64 round);

/* A stack as the kernel sent it: struct unwind_sample. */
struct python_stack {
	struct python_whose whose;
	const u64 *words;
	size_t n;
	u32 names; /* unwind_python_names() of then; 0: not known */
};

/*
 * Replaces the words for Python frames of a stack by addresses; true: there were any. @b NULL: none
 * of them can be read.
 */
bool python_names_replace(struct python_names *p, const struct python_build *b,
			  const struct python_stack *from, u64 round, u64 *to);

/* The function at an address; NULL: none. */
const struct python_function *python_names_find(const struct python_names *p, u64 address);

/*
 * For a recording: the names, to be appended to what symbols_export() writes (section
 * FEATURE_NAMES), and the lines, which python_source reads. Nothing is written without functions.
 */
void python_names_export(const struct python_names *p, struct buf *ret);
void python_names_export_lines(const struct python_names *p, struct buf *ret);

/*
 * The lines of a recording: "FPYL", a byte 1, then until the end
 *	start - previous start, size, line, file length, file
 * as ULEB128.
 */
struct python_source {
	VEC(struct python_function) functions; /* by start; no name */
	struct intern files;
};

void python_source_release(struct python_source *s);
/* -EBADMSG with nothing taken when the bytes are broken. */
int python_source_read(struct python_source *s, const void *bytes, size_t n, struct err *e);
/* @offset: address - PYTHON_MAP_START. The file belongs to @s. */
bool python_source_find(const struct python_source *s, u64 offset, const char **ret_file,
			u32 *ret_line);

#endif
