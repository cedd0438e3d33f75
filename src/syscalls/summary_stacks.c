/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums of system calls by the stack of the caller. */
#include "base/hash.h"
#include "base/intern.h"
#include "syscalls/summary.h"

void summary_stacks_release(struct summary_stacks *s)
{
	vec_release(&s->rows);
	map_release(&s->index);
}

void summary_add_stack(struct summary_stacks *s, const struct syscalls_event *e)
{
	u64 whose = e->stack & LANG_OF_PROCESS ? e->pid : 0;
	u64 *at = map_at(&s->index, hash_mix(hash_mix(e->stack, whose), e->nr));
	struct summary_stack *row;

	if (!*at) {
		row = vec_new(&s->rows);
		*at = s->rows.len;
		row->stack = e->stack;
		row->pid = e->pid;
		row->nr = e->nr;
	}
	row = &s->rows.items[*at - 1];
	row->count++;
	row->errors += e->ret < 0 && e->ret >= -4095;
	row->ns += e->ns;
}

/* Stacks that differ in addresses alone are one: @stack becomes the text. */
static void merge(struct summary_stacks *s, struct call_stacks *stacks, struct intern *texts)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct map known = { 0 };
	size_t out = 0;

	for (size_t i = 0; i < s->rows.len; i++) {
		struct summary_stack row = s->rows.items[i], *to;
		u64 *at;

		buf_reset(&text);
		call_stacks_folded(stacks, row.pid, row.stack, &text);
		row.stack = intern_bytes(texts, buf_str(&text), text.len);
		at = map_at(&known, row.stack << 32 | row.nr);
		if (!*at) {
			s->rows.items[out++] = row;
			*at = out;
			continue;
		}
		to = &s->rows.items[*at - 1];
		to->count += row.count;
		to->errors += row.errors;
		to->ns += row.ns;
	}
	s->rows.len = out;
	map_release(&known);
}

static int by_time(const void *a, const void *b)
{
	const struct summary_stack *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	if (x->nr != y->nr)
		return x->nr < y->nr ? -1 : 1;
	return x->stack < y->stack ? -1 : x->stack > y->stack;
}

void summary_stacks_table(struct summary_stacks *s, const struct syscall_table *t,
			  struct call_stacks *stacks, struct result *r)
{
	static const struct column columns[] = {
		{ "time_ns", "TIME", VALUE_DURATION, 0 },      { "calls", "CALLS", VALUE_COUNT, 0 },
		{ "errors", "ERRORS", VALUE_COUNT, 0 },        { "call", "CALL", VALUE_TEXT, 0 },
		{ "stack", "STACK", VALUE_TEXT, COLUMN_FILL },
	};
	struct table *out = result_table(r, "stacks", "Who called", columns, ARRAY_SIZE(columns));
	struct intern texts = { 0 };

	merge(s, stacks, &texts);
	vec_sort(&s->rows, by_time);
	vec_each(sum, &s->rows) {
		const char *call = sum->nr < SYSCALLS_MOST ? t->calls[sum->nr].name : NULL;
		struct row *row = table_row(r, out);

		row->cells[0] = value_u(VALUE_DURATION, sum->ns);
		row->cells[1] = value_u(VALUE_COUNT, sum->count);
		if (sum->errors)
			row->cells[2] = value_u(VALUE_COUNT, sum->errors);
		row->cells[3] = value_text(r, call ? call : "?");
		row->cells[4] = value_text(r, intern_get(&texts, (u32)sum->stack));
	}
	intern_release(&texts);
}
