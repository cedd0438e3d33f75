/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/code.h"

void code_rows_add(struct code_rows *c, u64 address, const struct unwind_rule *rule)
{
	struct code_row *last = c->rows.len ? vec_last(&c->rows) : NULL;

	if (last && !memcmp(&last->rule, rule, sizeof(*rule)))
		return;
	if (last && last->address == address) {
		last->rule = *rule;
		return;
	}
	if (last && last->address > address)
		return;
	vec_push(&c->rows, (struct code_row){ address, *rule });
}
