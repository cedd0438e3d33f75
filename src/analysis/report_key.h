/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sort keys of the report: what an entry is distinguished by. */
#ifndef ANALYSIS_REPORT_KEY_H
#define ANALYSIS_REPORT_KEY_H

#include "base/err.h"
#include "profile/profile.h"
#include "result/result.h"

enum { REPORT_KEYS_MOST = 24 };

struct report_key {
	const char *name; /* as in --sort */
	const char *alias;
	const char *title;
	enum value_type type;
	bool of_frame; /* differs along a stack; otherwise it belongs to the sample */
	/* The value that tells entries apart. @frame is of the entry, @root of the stack's root. */
	u64 (*get)(const struct report_key *k, const struct profile *p,
		   const struct profile_sample *s, u32 frame, u32 root);
	/* The value as shown. */
	struct value (*show)(const struct profile *p, struct result *r, u64 value);
	u32 column; /* of the tracepoints' data */
};

struct report_keys {
	struct report_key keys[REPORT_KEYS_MOST];
	size_t n;
	bool of_frame; /* some key differs along a stack */
};

/* Keys that are not fathom's are columns of @p: fields of tracepoints. */
int report_keys_parse(struct profile *p, const char *text, struct report_keys *ret, struct err *e);
/* Those among the keys of @text, for load_opts.trace_keys; NULL: none. To be freed. */
char *report_keys_traced(const char *text);

#endif
