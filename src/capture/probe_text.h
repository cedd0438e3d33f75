/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The grammar of perf probe:
 *
 *	[[GROUP:]EVENT=]FUNC[@FILE][+OFFSET|:LINE|%return] [ARG]...
 *	[[GROUP:]EVENT=]FILE:LINE [ARG]...
 *	ARG: $vars | $params | [NAME=]VALUE[:TYPE]
 *	VALUE: VARIABLE[->MEMBER|.MEMBER|[N]]... | %REG | $retval | $stack[N] | $comm | @SYMBOL
 */
#ifndef CAPTURE_PROBE_TEXT_H
#define CAPTURE_PROBE_TEXT_H

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"

enum { PROBE_ARGS_MOST = 64, PROBE_NAME_MOST = 64 };

struct probe_arg {
	const char *name; /* NULL: made from the expression */
	const char *expr;
	const char *type; /* NULL: by the debug information */
	bool is_variable; /* the debug information must say where it is */
	bool all;         /* "$vars" or "$params": each that is there */
};

struct probe_spec {
	const char *group; /* NULL: "probe" or "probe_FILE" */
	const char *event; /* NULL: made from the function */
	const char *func;  /* NULL: @file and @line alone */
	const char *file;
	u64 offset;
	u32 line; /* 0: none; with a function: relative to its first line */
	bool has_line;
	bool ret; /* %return */
	VEC(struct probe_arg) args;
};

void probe_spec_release(struct probe_spec *s);
/* Strings live in @arena. */
int probe_parse(const char *text, struct arena *arena, struct probe_spec *ret, struct err *e);
/* "FUNC[:FROM[-TO]]" or "FILE[:FROM[-TO]]" of --line. */
int probe_parse_lines(const char *text, struct arena *arena, struct probe_spec *ret, u32 *ret_to,
		      struct err *e);

#endif
