/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tracepoints as tracefs describes them. */
#ifndef CAPTURE_TRACEPOINT_H
#define CAPTURE_TRACEPOINT_H

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"

enum { TRACEPOINT_FORMAT_MOST = 1 << 20, TRACEPOINT_FIELDS_MOST = 1024 };

struct tracepoint_name {
	const char *sys;
	const char *name;
};

struct tracepoint_list {
	struct arena arena;
	VEC(struct tracepoint_name) names; /* sorted */
};

void tracepoint_list_release(struct tracepoint_list *list);
/* Those that match both globs. @root NULL: the real tracefs. No match is not an error. */
int tracepoint_find(const char *root, const char *sys_glob, const char *name_glob,
		    struct tracepoint_list *ret, struct err *e);
/* The number perf_event_attr.config wants. */
int tracepoint_id(const char *root, const char *sys, const char *name, u64 *ret, struct err *e);

struct tracepoint_field {
	const char *type; /* "unsigned int", "char" */
	const char *name; /* without the brackets of an array */
	u32 offset;
	u32 size;
	u32 array_len; /* elements, 0: not an array or of dynamic length */
	bool is_signed;
	bool is_string;  /* char array, __data_loc char[], or char pointer */
	bool is_dynamic; /* __data_loc or __rel_loc: the value is an offset and a length */
	bool is_common;  /* common_pid and the like */
};

struct tracepoint_format {
	struct arena arena;
	const char *name;
	u64 id;
	VEC(struct tracepoint_field) fields;
	const char *print_fmt; /* or NULL */
};

void tracepoint_format_release(struct tracepoint_format *f);
int tracepoint_format_read(const char *root, const char *sys, const char *name,
			   struct tracepoint_format *ret, struct err *e);
/* Parses the text of a format file (also from a recording). */
int tracepoint_format_parse(const char *text, size_t n, struct tracepoint_format *ret,
			    struct err *e);
const struct tracepoint_field *tracepoint_field_find(const struct tracepoint_format *f,
						     const char *name, size_t n);

#endif
