/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of function groups: a new file adds its table here, nothing else. */
#include "lang/comp.h"

static const struct fn *const groups[] = {
	fn_agg_table, fn_print_table,   fn_mem_table, fn_sym_table,  fn_map_table,
	fn_net_table, fn_control_table, fn_str_table, fn_task_table, fn_row_table,
};

const struct fn *fn_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
		for (const struct fn *f = groups[i]; f->name; f++) {
			if (streq(f->name, name))
				return f;
		}
	}
	return NULL;
}

const char *fn_name_at(void *ctx, size_t i)
{
	(void)ctx;
	for (size_t k = 0; k < ARRAY_SIZE(groups); k++) {
		for (const struct fn *f = groups[k]; f->name; f++) {
			if (!i--)
				return f->name;
		}
	}
	return NULL;
}
