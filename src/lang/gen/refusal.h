/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the verifier did not like, said about the script. */
#ifndef LANG_REFUSAL_H
#define LANG_REFUSAL_H

#include "lang/comp.h"

/* From the end of the verifier's log: its complaint, and the instruction that it is about. */
struct refusal {
	const char *text; /* in the log */
	size_t len;
	u32 insn;
	bool has_insn;
};

void refusal_parse(const char *log, struct refusal *ret);
/* Adds the diagnostic; @why is the errno (positive) of the load, @log may be empty. */
void refusal_report(struct comp *c, const struct unit *u, int why, const char *log);

#endif
