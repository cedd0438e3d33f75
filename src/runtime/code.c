/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runtime/code.h"

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

const struct unwind_rule *code_rows_find(const struct code_rows *c, u64 address)
{
	size_t lo = 0, hi = c->rows.len;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (c->rows.items[mid].address <= address)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || c->rows.items[lo - 1].rule.cfa == UNWIND_CFA_END)
		return NULL;
	return &c->rows.items[lo - 1].rule;
}

void code_names_add(struct code_names *n, const struct code_name *entry, const char *name)
{
	if (n->list.len == CODE_MAX_NAMES) {
		n->dropped++;
		return;
	}
	struct code_name *e = vec_new(&n->list);

	*e = *entry;
	e->name = intern_str(&n->strings, name);
}
