/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files that hold the rows of the table of mechanisms; no other file needs it. */
#ifndef HOST_PROBES_H
#define HOST_PROBES_H

#include "host/bpf_sys.h"
#include "host/caps.h"
#include "host/features.h"

#define GROUP_PERF       "perf events"
#define GROUP_BPF        "BPF"
#define GROUP_ATTACH     "attach points"
#define GROUP_TRACING    "tracing"
#define GROUP_SYSTEM     "system"
#define GROUP_PRIVILEGES "privileges"
#define GROUP_SYMBOLS    "symbols"

#define NEEDS_BPF     CAP_BIT(CAP_BPF)
#define NEEDS_PERF    CAP_BIT(CAP_PERFMON)
#define NEEDS_TRACING (NEEDS_BPF | NEEDS_PERF)
/* A uprobe as a perf event; uprobe_multi asks for less. */
#define NEEDS_UPROBE CAP_BIT(CAP_SYS_ADMIN)

/* Each table ends with a row without a name. */
extern const struct probe probes_perf[];
extern const struct probe probes_bpf[];
extern const struct probe probes_attach[];
extern const struct probe probes_tracing[];
extern const struct probe probes_system[];
extern const struct probe probes_privileges[];
extern const struct probe probes_symbols[];

/* Sets the status and the detail; returns 0, so that a trial can end with it. */
int probe_works(struct probe_result *res, const char *fmt, ...) PRINTF_LIKE(2, 3);
int probe_partly(struct probe_result *res, const char *fmt, ...) PRINTF_LIKE(2, 3);
int probe_missing(struct probe_result *res, const char *fmt, ...) PRINTF_LIKE(2, 3);
int probe_unknown(struct probe_result *res, const char *fmt, ...) PRINTF_LIKE(2, 3);
void probe_fix(struct probe_result *res, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Types that the kernel has itself, or a negative errno. */
int probe_btf(struct probe_ctx *ctx, struct kbtf **ret);
/* tracefs, mounted or our own, or a negative errno. */
int probe_tracefs(struct probe_ctx *ctx, const struct tracefs **ret);
/*
 * Loads a program that adds 1 to a counter of its own and returns @value. @prog gives type, attach
 * type and BTF id. Returns a descriptor or a negative errno.
 */
int probe_load_counting(struct probe_ctx *ctx, const struct bpfsys_prog *prog, s32 value,
			u32 *ret_counter);
u64 probe_counted(const struct probe_ctx *ctx, u32 counter);
/* Closes a link or event without waiting for it; ignores negative ones. */
void probe_close(struct probe_ctx *ctx, int fd);
/* Says which capabilities would help, in the way in which this user can get them. */
void probe_fix_caps(struct probe_result *res, u64 needs);
/* Makes task:task_rename and __set_task_comm() happen: this thread gets the name it has. */
void probe_rename_self(void);

#endif
