/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows that the program sent, as cells of a result. */
#include "lang/row.h"

#include "lang/fn/signals.h"
#include "lang/front/header.h"
#include "host/cpu.h"
#include "lang/run/run.h"

enum { ROW_MAX_COLUMNS = 64 };

static void add_errno(s64 v, struct buf *out)
{
	const char *name = v ? strerrorname_np((int)(v < 0 ? -v : v)) : NULL;

	if (name)
		buf_addstr(out, name);
	else
		buf_addf(out, "%lld", (long long)v);
}

static void add_numbered(u64 v, const char *name, struct buf *out)
{
	if (name)
		buf_addstr(out, name);
	else
		buf_addu(out, v);
}

/* Bytes as a text: NULs, which stand between the arguments of a program, become blanks. */
static void add_words(const struct type *t, const u8 *bytes, struct buf *out)
{
	u64 n;

	memcpy(&n, bytes, 8);
	n = MIN(n, (u64)t->size);
	while (n && !bytes[8 + n - 1])
		n--;
	for (u64 i = 0; i < n; i++)
		buf_addch(out, bytes[8 + i] ? (char)bytes[8 + i] : ' ');
}

/* Columns are narrow: a constant that begins with the name of its enum is shown without it. */
static void cut_enum_name(const struct type *t, size_t start, struct buf *out)
{
	const char *name = t->name ? t->name : "";
	size_t n;

	if (strncmp(name, "enum ", 5) == 0)
		name += 5;
	n = strlen(name);
	if (!n || out->len - start <= n + 1 || strncasecmp(out->data + start, name, n) != 0 ||
	    out->data[start + n] != '_')
		return;
	memmove(out->data + start, out->data + start + n + 1, out->len - start - n - 1);
	buf_truncate(out, out->len - n - 1);
}

static void add_text(struct run *r, const struct tool_column *column, const struct type *t,
		     const u8 *bytes, struct buf *out)
{
	const struct type user = { .kind = T_USERNAME, .size = 8 };
	size_t start = out->len;
	u64 v;

	memcpy(&v, bytes, 8);
	if (column->kind == KIND_ERRNO)
		add_errno((s64)v, out);
	else if (column->kind == KIND_SIGNAL)
		add_numbered(v, signal_name_of((int)v), out);
	else if (column->kind == KIND_SYSCALL)
		add_numbered(v, cpu_syscall_name((u32)v), out);
	else if (column->kind == KIND_USER && type_is_number(t))
		run_value(r, &user, bytes, out, false);
	else if (t->kind == T_BUF)
		add_words(t, bytes, out);
	else if (column->kind == KIND_STACK)
		run_stack(r, t, bytes, out, 0, true);
	else
		run_value(r, t, bytes, out, false);
	if (t->kind == T_INT)
		cut_enum_name(t, start, out);
}

static struct value number_cell(struct run *r, const struct tool_column *column, u64 v)
{
	enum value_type type = column_value_type(column->kind);

	switch (column->kind) {
	case KIND_PERCENT: return value_d(type, (double)(s64)v / 100);
	case KIND_RATE:
	case KIND_NUMBER: return value_d(type, (double)(s64)v);
	case KIND_TIMESTAMP: return value_u(type, v + r->boot_to_wall);
	case KIND_ELAPSED: return value_u(type, v - MIN(v, r->c->start_ns));
	default: return value_u(type, v);
	}
}

struct value run_cell(struct run *r, const struct tool_column *column, const struct type *t,
		      const u8 *bytes, struct buf *texts)
{
	struct value v = { .type = column_value_type(column->kind) };
	u64 number;

	if (v.type == VALUE_TEXT) {
		v.u = texts->len;
		add_text(r, column, t, bytes, texts);
		buf_addch(texts, '\0');
		return v;
	}
	memcpy(&number, bytes, 8);
	return number_cell(r, column, number);
}

void run_row(struct run *r, const struct event *e, const u8 *bytes)
{
	const struct tool_header *h = r->c->opts->header;
	struct value cells[ROW_MAX_COLUMNS] = { 0 };
	u32 i = 0, field = 0;
	u64 when;

	if (!h || !r->sink->row || h->columns.len > ROW_MAX_COLUMNS)
		return;
	memcpy(&when, bytes, 8);
	bytes += 8;
	buf_reset(&r->line);
	vec_each(it, &h->columns) {
		const struct field *f;

		if (!column_is_computed(it) && row_column_shown(r->c, it)) {
			f = &e->args->fields[field++];
			cells[i] = run_cell(r, it, f->type, bytes + f->offset, &r->line);
		}
		i++;
	}
	for (i = 0; i < h->columns.len; i++)
		if (cells[i].type == VALUE_TEXT)
			cells[i].s = r->line.data + cells[i].u;
	r->output_error = r->sink->row(r->sink->ctx, cells, h->columns.len, when + r->boot_to_wall);
}
