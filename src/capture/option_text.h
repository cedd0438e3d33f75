/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Option values as people type them, in the form of parsers of the command line: a field, the
 * text, an error. Shared by all commands that open events.
 */
#ifndef CAPTURE_OPTION_TEXT_H
#define CAPTURE_OPTION_TEXT_H

#include "base/err.h"
#include "capture/event.h"

struct stack_option {
	enum stack_mode mode;
	u32 size; /* STACK_DWARF: bytes, 0: the default */
};

/* struct stack_option: "fp", "dwarf", "dwarf,16384", "lbr", "none" */
int option_stacks(void *field, const char *text, struct err *e);
/* u64 hertz: "99", "1khz", or "max" for what the kernel allows */
int option_rate(void *field, const char *text, struct err *e);
/* u64 bytes: a bare number is pages, as perf has it; with a unit it is a size */
int option_ring(void *field, const char *text, struct err *e);
/* u64 ns: a time; a plain number is milliseconds and -1 "on command", as in perf. */
#define OPTION_DELAY_CONTROL UINT64_MAX
int option_delay(void *field, const char *text, struct err *e);
/* u64: bits of branch_sample_type, by perf's names. */
int option_branches(void *field, const char *text, struct err *e);
/* int: "monotonic" ... to a clock's number, "perf" to -1 */
int option_clock(void *field, const char *text, struct err *e);
const char *option_clock_name(int id);

#endif
