/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values that show as text: strings, names of flags, arrays. */
#include "profile/tracefield_tree.h"

#include "base/fmt.h"

static void add_cut(struct buf *out, struct tracefield_bytes b)
{
	if (b.p)
		buf_add(out, b.p, strnlen((const char *)b.p, b.n));
}

static void add_prefixed_hex(struct buf *out, u64 v)
{
	buf_add(out, "0x", 2);
	buf_addx(out, v);
}

/* As the kernel prints them: each flag that is set, then what is left as a number. */
static void print_flags(const struct tracefield_run *r, const struct node *n, struct buf *out)
{
	u64 v = tracefield_eval(r, n->a).bits;
	const struct node *separator = &r->t->nodes.items[n->b];
	const char *between =
		separator->kind == NODE_TEXT && separator->text ? separator->text : "";
	bool some = false;

	for (u32 i = 0; i < n->n; i++) {
		const struct tracefield_name *name = &r->t->names.items[n->first + i];
		u64 flag = (u64)name->value;

		if (!v && name->value < 0) {
			buf_addstr(out, name->name);
			break;
		}
		if (name->value <= 0 || (v & flag) != flag)
			continue;
		if (some)
			buf_addstr(out, between);
		buf_addstr(out, name->name);
		v &= ~flag;
		some = true;
	}
	if (!v)
		return;
	if (some)
		buf_addstr(out, between);
	add_prefixed_hex(out, v);
}

static void print_symbolic(const struct tracefield_run *r, const struct node *n, struct buf *out)
{
	u64 v = tracefield_eval(r, n->a).bits;

	for (u32 i = 0; i < n->n; i++) {
		const struct tracefield_name *name = &r->t->names.items[n->first + i];

		/* a 32-bit field that is -1 equals both ways of writing it */
		if ((u64)name->value == v || (u64)name->value == (u32)v) {
			buf_addstr(out, name->name);
			return;
		}
	}
	add_prefixed_hex(out, v);
}

static void print_hex(const struct tracefield_run *r, const struct node *n, struct buf *out)
{
	struct tracefield_bytes b = tracefield_eval_bytes(r, n->a);
	u64 len = tracefield_eval(r, n->b).bits;

	len = MIN(len, (u64)b.n);
	for (u64 i = 0; i < len; i++) {
		if (i && n->kind == NODE_HEX)
			buf_addch(out, ' ');
		fmt_hex(out, b.p + i, 1);
	}
}

static void print_array(const struct tracefield_run *r, const struct node *n, struct buf *out)
{
	struct tracefield_bytes b = tracefield_eval_bytes(r, n->a);
	u64 len = tracefield_eval(r, n->b).bits;
	u32 size = n->value > 0 && n->value <= 8 ? (u32)n->value : 1;

	len = MIN(len, (u64)b.n / size);
	buf_addch(out, '{');
	for (u64 i = 0; i < len; i++) {
		if (i)
			buf_addch(out, ',');
		add_prefixed_hex(out, tracefield_read(r, b.p + i * size, size));
	}
	buf_addch(out, '}');
}

/* The highest word first, eight digits each: "00000000,00000003". */
static void print_bitmask(const struct tracefield_run *r, const struct node *n, struct buf *out)
{
	struct tracefield_bytes b = tracefield_field_bytes(r, &r->t->format.fields.items[n->value]);
	u32 words = b.n / 4;
	bool some = false;

	for (u32 i = words; i--;) {
		u32 at = r->env->swap ? words - 1 - i : i;
		u64 v = tracefield_read(r, b.p + (size_t)at * 4, 4);

		if (some)
			buf_addf(out, ",%08x", (unsigned int)v);
		else if (v || !i)
			buf_addf(out, "%x", (unsigned int)v);
		some |= v || !i;
	}
}

/* An array is text itself; a long may be the address of a string that the recording knows. */
static void print_field(const struct tracefield_run *r, const struct node *n, struct buf *out)
{
	const struct tracepoint_field *f = &r->t->format.fields.items[n->value];
	u32 long_size = r->env->long_size ? r->env->long_size : 8;
	struct tracefield_bytes b;
	const char *text;
	u64 v;

	if (f->array_len || f->is_dynamic || f->size != long_size) {
		b = tracefield_field_bytes(r, f);
		add_cut(out, b);
		return;
	}
	v = tracefield_eval(r, (u32)(n - r->t->nodes.items)).bits;
	text = r->env->string ? r->env->string(r->env->ctx, v) : NULL;
	if (text)
		buf_addstr(out, text);
	else
		buf_addx(out, v);
}

void tracefield_eval_text(const struct tracefield_run *r, u32 node, struct buf *out)
{
	const struct node *n = &r->t->nodes.items[node];

	switch (n->kind) {
	case NODE_TEXT: buf_addstr(out, n->text ? n->text : "(null)"); break;
	case NODE_FIELD: print_field(r, n, out); break;
	case NODE_STRING:
	case NODE_DYNAMIC: add_cut(out, tracefield_eval_bytes(r, node)); break;
	case NODE_BITMASK: print_bitmask(r, n, out); break;
	case NODE_FLAGS: print_flags(r, n, out); break;
	case NODE_SYMBOLIC: print_symbolic(r, n, out); break;
	case NODE_HEX:
	case NODE_HEX_STR: print_hex(r, n, out); break;
	case NODE_ARRAY: print_array(r, n, out); break;
	case NODE_CAST:
	case NODE_ADDRESS: tracefield_eval_text(r, n->a, out); break;
	case NODE_CHOICE:
		tracefield_eval_text(r, tracefield_eval(r, n->a).bits ? n->b : n->c, out);
		break;
	default: buf_addx(out, tracefield_eval(r, node).bits); break;
	}
}
