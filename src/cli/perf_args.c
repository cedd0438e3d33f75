/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/perf_args.h"

#define SAME "accepted for compatibility with perf"

#define FLAG(letter, name_, ...)                                               \
	OPT_ENTRY(struct perf_args, letter, name_, OPT_FLAG, flag, NULL, SAME, \
		  .flags = OPT_HIDDEN, __VA_ARGS__)
#define VALUE(letter, name_, ...)                                                    \
	OPT_ENTRY(struct perf_args, letter, name_, OPT_STRING, value, "VALUE", SAME, \
		  .flags = OPT_HIDDEN, __VA_ARGS__)
#define MAYBE(letter, name_, ...)                                                    \
	OPT_ENTRY(struct perf_args, letter, name_, OPT_STRING, value, "VALUE", SAME, \
		  .flags = OPT_HIDDEN | OPT_OPTIONAL, .implied = "", __VA_ARGS__)

/* What samples hold, build ids, how the work is shared out. */
const struct opt perf_record_options[] = {
	FLAG('R', "raw-samples"),
	FLAG('T', "timestamp"),
	FLAG('s', "stat"),
	FLAG('N', "no-buildid-cache"),
	FLAG('B', "no-buildid", .alias = "buildid-all buildid-mmap no-bpf-event"),
	FLAG(0, "sample-cpu", .alias = "sample-identifier running-time timestamp-boundary"),
	FLAG(0, "namespaces"),
	FLAG(0, "per-thread", .alias = "no-buffering tail-synthesize kcore"),
	VALUE('r', "realtime"),
	VALUE(0, "proc-map-timeout", .alias = "num-thread-synthesize mmap-flush affinity synth"),
	VALUE(0, "vmlinux", .alias = "clang-path clang-opt"),
	MAYBE(0, "aio", .alias = "threads debuginfod"),
	OPT_END,
};

/* An option that does nothing would be a wrong answer. */
static int refuse_vmlinux(void *field UNUSED, const char *text, struct err *e)
{
	err_set(e, EOPNOTSUPP, "'%s' is not read: kernel names come with the recording", text);
	err_hint(e, "recordings of perf without them get the names of the running kernel");
	return -EOPNOTSUPP;
}

/* Ways of showing: there is one here. */
const struct opt perf_report_options[] = {
	FLAG('f', "force"),
	FLAG('n', "show-nr-samples", .alias = "show-total-period"),
	FLAG('m', "modules"),
	FLAG(0, "stdio", .alias = "stdio2 tui gtk"),
	FLAG(0, "inline", .alias = "demangle full-source-path source asm-raw"),
	OPT_ENTRY(struct perf_args, 'k', "vmlinux", OPT_CUSTOM, value, "FILE", SAME,
		  .flags = OPT_HIDDEN, .alias = "kallsyms", .parse = refuse_vmlinux),
	VALUE(0, "objdump"),
	VALUE(0, "column-widths", .alias = "percentage percent-type stdio-color"),
	OPT_END,
};
