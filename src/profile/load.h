/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Anything with stacks in it -> profile. What the input is, is found out from its first bytes:
 * perf.data (ours or perf's, file or pipe), `perf script` text, folded stacks, pprof, speedscope.
 */
#ifndef PROFILE_LOAD_H
#define PROFILE_LOAD_H

#include "base/buf.h"
#include "base/err.h"
#include "base/parse.h"
#include "profile/profile.h"

struct load_opts {
	const char *event;      /* only this event (glob), NULL: all */
	const char *comms;      /* comma-separated globs, NULL: all; likewise below */
	const char *dsos;       /* samples whose leaf is in one of these modules */
	const char *symbols;    /* samples whose leaf is one of these functions */
	const range_list *pids; /* NULL or empty: all */
	const range_list *tids;
	const range_list *cpus;
	u64 time_from, time_to; /* on the recording's clock, 0: open */
	bool time_relative;     /* the two are relative to the first sample */
	const char *trace_keys; /* data of tracepoints, see traced.h; NULL: none */
	bool merge;             /* samples of equal stack, thread, event become one: less memory */
	bool lines;             /* frames are distinguished by source line */
	bool inlines;           /* inlined functions are frames, where debug information has them */
	bool addresses;         /* code without name is distinguished by address: "0x7f12" */
	bool wakes;             /* wakers: profile.wakes */
	bool no_kernel, no_user;    /* leave out one half of the stacks */
	u32 max_stack;              /* frames kept of each stack (the innermost), 0: all */
	const char *guest_kallsyms; /* files with the names of a guest's kernel, or NULL */
	const char *guest_modules;
	void (*progress)(void *ctx, u64 done, u64 total);
	void *progress_ctx;
};

/* @path "-" is standard input; NULL: fathom.data, otherwise perf.data. @opts may be NULL. */
int profile_load(struct profile *p, const char *path, const struct load_opts *opts, struct err *e);
/* "Intel PT", by profile.aux_kind */
const char *profile_aux_name(u32 kind);
/* Why there is nothing to look at: none was taken, none passes the filters, damage; -ENODATA. */
int profile_no_samples(const struct profile *p, struct err *e);
/* The file that NULL stands for; -ENOENT with a hint when there is none. */
int profile_default_input(const char **ret, struct err *e);

struct recording;
/* What is known of the machine, the command, and what was lost: after it was replayed. */
void profile_take_facts(struct profile *p, const struct recording *r);

/* Its readers; each takes all the bytes. Broken lines are counted in bad_records. */
int profile_load_folded(struct profile *p, const char *text, size_t len, struct err *e);
int profile_load_script(struct profile *p, const char *text, size_t len,
			const struct load_opts *opts, struct err *e);
/* pprof (gzip or plain) and the JSON of speedscope. */
int profile_load_pprof(struct profile *p, const void *data, size_t len, struct err *e);
int profile_load_speedscope(struct profile *p, const char *text, size_t len, struct err *e);

/* What these bytes (the first few KB of an input) look like. */
enum input_kind {
	INPUT_UNKNOWN,
	INPUT_PERF_DATA,
	INPUT_SCRIPT,
	INPUT_FOLDED,
	INPUT_PPROF,
	INPUT_SPEEDSCOPE,
};
enum input_kind profile_sniff(const char *bytes, size_t len);

#endif
