/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What this kernel, this user and this build can do: one table, one row per mechanism, each with
 * a real trial. No row looks at a version number. A trial leaves nothing: what it attaches
 * is closed before it returns, it mounts nothing and writes to no file.
 */
#ifndef HOST_FEATURES_H
#define HOST_FEATURES_H

#include "base/err.h"
#include "host/btf.h"
#include "host/tracefs.h"

#include <pthread.h>

enum feature_status {
	FEATURE_UNKNOWN, /* could not be tried */
	FEATURE_WORKS,
	FEATURE_PARTLY, /* works with a limit, which the detail names */
	FEATURE_MISSING,
};

enum { PROBE_TEXT = 200, PROBE_COUNTERS = 64, PROBE_CLOSERS = 32 };

struct probe_result {
	enum feature_status status;
	int code;                /* positive errno of what failed; 0: none */
	char detail[PROBE_TEXT]; /* what was seen, or why not; may be empty when it works */
	char fix[PROBE_TEXT];    /* how to get it; empty: nothing to do, or nothing is known */
	u64 caps;                /* capabilities that would give it, which the fix names */
};

/* What the trials share, made when the first one asks. */
struct probe_ctx {
	u64 caps; /* effective capabilities */
	struct kbtf *btf;
	int btf_code; /* negative errno when there is no BTF */
	bool btf_tried;
	struct tracefs tracefs;
	int tracefs_code;
	bool tracefs_tried;
	struct {
		bool tried;
		int code;    /* negative errno: no uprobe could be attached */
		bool hit;    /* it counted */
		bool raised; /* its semaphore was raised */
	} uprobe;
	int counters; /* array map, one u64 for each trial program to add to; -1: none yet */
	u32 n_counters;
	/* Detaching waits for all CPUs: it continues in threads while the next rows are tried. */
	pthread_t closers[PROBE_CLOSERS];
	size_t n_closers;
};

struct probe {
	const char *name;  /* what a person calls it, and the key of everything else */
	const char *group; /* heading */
	const char *lost;  /* what cannot be done without it */
	const char *fix;   /* what helps when privileges are not the reason; may be NULL */
	u64 needs;         /* capabilities that it asks for */
	/* Fills the result, or returns a negative errno that is put in words. */
	int (*try)(struct probe_ctx *ctx, const struct probe *p, struct probe_result *res);
};

void probe_ctx_init(struct probe_ctx *ctx);
/* Returns when everything is detached. */
void probe_ctx_release(struct probe_ctx *ctx);
#define _cleanup_probe_ctx_ _cleanup_(probe_ctx_release)

/* Rows in the order in which people read them; NULL after the last. */
const struct probe *features_at(size_t i);
const struct probe *features_find(const char *name);
/* Tries one. The result always has a status, and a detail unless it works. */
void features_try(struct probe_ctx *ctx, const struct probe *p, struct probe_result *ret);
/* "works", "partly", "missing", "unknown" */
const char *features_status_name(enum feature_status status);

#endif
