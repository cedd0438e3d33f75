/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/tracefield.h"

#include "profile/tracefield_tree.h"

#include <ctype.h>

int tracefield_new(const char *text, size_t n, struct tracefield **ret, struct err *e)
{
	struct tracefield *t;
	int r;

	if (n > TRACEPOINT_FORMAT_MOST)
		return err_set(e, EFBIG, "the format of a tracepoint has %zu bytes", n);
	t = xcalloc(1, sizeof(*t));
	r = tracepoint_format_parse(text, n, &t->format, e);
	if (r < 0) {
		free(t);
		return r;
	}
	vec_new(&t->nodes);
	if (!t->format.print_fmt)
		t->fault = "no print format";
	else if (!tracefield_compile(t, t->format.print_fmt) && !t->fault)
		t->fault = "the format cannot be read";
	*ret = t;
	return 0;
}

void tracefield_free(struct tracefield *t)
{
	if (!t)
		return;
	tracepoint_format_release(&t->format);
	arena_release(&t->arena);
	vec_release(&t->nodes);
	vec_release(&t->names);
	vec_release(&t->pieces);
	free(t);
}

/* --- conversions --------------------------------------------------------------------------- */

static void pad(struct buf *out, size_t start, s32 width, bool left)
{
	size_t len = out->len - start, missing;

	if (width < 0 || len >= (size_t)width)
		return;
	missing = (size_t)width - len;
	buf_fill(out, ' ', missing);
	if (left)
		return;
	memmove(out->data + start + missing, out->data + start, len);
	memset(out->data + start, ' ', missing);
}

static s32 count_of(const struct tracefield_run *r, bool star, u32 arg, s32 fixed)
{
	s64 v;

	if (!star)
		return fixed;
	v = (s32)tracefield_eval(r, arg).bits;
	return v < 0 || v > 1024 ? -1 : (s32)v;
}

static void print_text(const struct tracefield_run *r, const struct piece *p)
{
	s32 precision = count_of(r, p->star_precision, p->precision_arg, p->precision);
	size_t start = r->out->len;

	tracefield_eval_text(r, p->arg, r->out);
	if (precision >= 0)
		buf_truncate(r->out, start + (size_t)precision);
	pad(r->out, start, count_of(r, p->star_width, p->width_arg, p->width),
	    strchr(p->flags, '-') != NULL);
}

/* To the width that the conversion's length says. */
static u64 narrow(u64 v, s8 length, bool is_signed)
{
	switch (length) {
	case -2: return is_signed ? (u64)(s64)(s8)v : (u8)v;
	case -1: return is_signed ? (u64)(s64)(s16)v : (u16)v;
	case 0: return is_signed ? (u64)(s64)(s32)v : (u32)v;
	default: return v;
	}
}

/* Flags, width and precision: rare enough for printf. */
static void print_number_shaped(const struct tracefield_run *r, const struct piece *p, u64 v)
{
	s32 width = count_of(r, p->star_width, p->width_arg, p->width);
	s32 precision = count_of(r, p->star_precision, p->precision_arg, p->precision);
	char fmt[32], text[2200];
	size_t n;
	int len;

	n = (size_t)snprintf(fmt, sizeof(fmt), "%%%s", p->flags);
	if (width >= 0)
		n += (size_t)snprintf(fmt + n, sizeof(fmt) - n, "%d", width);
	if (precision >= 0)
		n += (size_t)snprintf(fmt + n, sizeof(fmt) - n, ".%d", precision);
	snprintf(fmt + n, sizeof(fmt) - n, "ll%c", p->conv);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	len = snprintf(text, sizeof(text), fmt, (long long)v);
#pragma GCC diagnostic pop
	if (len > 0)
		buf_add(r->out, text, MIN((size_t)len, sizeof(text) - 1));
}

static void print_number(const struct tracefield_run *r, const struct piece *p)
{
	bool is_signed = p->conv == 'd' || p->conv == 'i';
	u64 v = narrow(tracefield_eval(r, p->arg).bits, p->length, is_signed);

	if (p->flags[0] || p->width >= 0 || p->precision >= 0 || p->star_width ||
	    p->star_precision || p->conv == 'X' || p->conv == 'o') {
		print_number_shaped(r, p, v);
	} else if (p->conv == 'x') {
		buf_addx(r->out, v);
	} else if (is_signed && (s64)v < 0) {
		buf_addch(r->out, '-');
		buf_addu(r->out, -v);
	} else {
		buf_addu(r->out, v);
	}
}

static void print_symbol(const struct tracefield_run *r, const struct piece *p, u64 v)
{
	bool offset = p->sub[0] == 'S' || p->sub[0] == 'F' || p->sub[0] == 'B';
	const char *name;
	u64 start = v;

	name = r->env->symbol ? r->env->symbol(r->env->ctx, v, &start) : NULL;
	if (name) {
		buf_addstr(r->out, name);
		if (!offset)
			return;
		buf_add(r->out, "+0x", 3);
		buf_addx(r->out, v - start);
		return;
	}
	buf_add(r->out, "0x", 2);
	buf_addx(r->out, v);
}

static void print_pointer(const struct tracefield_run *r, const struct piece *p)
{
	size_t start = r->out->len;
	u64 v;

	if (p->sub[0] && tracefield_print_address(r, p))
		return;
	if (p->sub[0] == 'b') {
		tracefield_eval_text(r, p->arg, r->out);
		return;
	}
	v = tracefield_eval(r, p->arg).bits;
	if (p->sub[0] && strchr("FfSsB", p->sub[0])) {
		print_symbol(r, p, v);
	} else if (!v) {
		buf_addstr(r->out, "(nil)");
	} else {
		buf_add(r->out, "0x", 2);
		buf_addx(r->out, v);
	}
	pad(r->out, start, p->width, strchr(p->flags, '-') != NULL);
}

static void print_piece(const struct tracefield_run *r, const struct piece *p)
{
	buf_add(r->out, p->text, p->len);
	switch (p->conv) {
	case 0: break;
	case 's': print_text(r, p); break;
	case 'p': print_pointer(r, p); break;
	case 'c': buf_addch(r->out, (char)tracefield_eval(r, p->arg).bits); break;
	default: print_number(r, p); break;
	}
}

/* --- pairs --------------------------------------------------------------------------------- */

static bool is_printable(struct tracefield_bytes b)
{
	for (u32 i = 0; i < b.n && b.p[i]; i++)
		if (!isprint(b.p[i]) && !isspace(b.p[i]))
			return false;
	return true;
}

static void pair_array(const struct tracefield_run *r, const struct tracepoint_field *f)
{
	struct tracefield_bytes b = tracefield_field_bytes(r, f);

	if (f->is_string && b.p && is_printable(b)) {
		buf_add(r->out, b.p, strnlen((const char *)b.p, b.n));
		return;
	}
	buf_addstr(r->out, "ARRAY[");
	for (u32 i = 0; i < b.n; i++)
		buf_addf(r->out, "%s%02x", i ? ", " : "", b.p[i]);
	buf_addch(r->out, ']');
}

static void pair_number(const struct tracefield_run *r, const struct tracepoint_field *f, u64 v)
{
	bool is_long = strstr(f->type, "long") != NULL;

	if (strchr(f->type, '*') || (!f->is_signed && is_long) ||
	    (f->is_signed && is_long && f->size == 4)) {
		buf_add(r->out, "0x", 2);
		buf_addx(r->out, v);
	} else if (!f->is_signed) {
		buf_addu(r->out, v);
	} else if (f->size == 2) {
		buf_addf(r->out, "%2d", (s16)v);
	} else {
		buf_addf(r->out, "%lld",
			 (long long)narrow(v,
					   f->size == 8   ? 2
					   : f->size == 1 ? -2
							  : 0,
					   true));
	}
}

static void print_value(const struct tracefield_run *r, const struct tracepoint_field *f)
{
	if (f->array_len || f->is_dynamic)
		pair_array(r, f);
	else if (f->offset <= r->size && f->size <= r->size - f->offset)
		pair_number(r, f, tracefield_read(r, r->data + f->offset, f->size));
}

void tracefield_print_pairs(const struct tracefield *t, const struct tracefield_env *env,
			    const void *raw, u32 raw_size, struct buf *out)
{
	struct tracefield_run r = { t, env, raw, raw_size, out };

	vec_each(f, &t->format.fields) {
		if (f->is_common)
			continue;
		buf_addch(out, ' ');
		buf_addstr(out, f->name);
		buf_addch(out, '=');
		print_value(&r, f);
	}
}

void tracefield_print(const struct tracefield *t, const struct tracefield_env *env, const void *raw,
		      u32 raw_size, struct buf *out)
{
	struct tracefield_run r = { t, env, raw, raw_size, out };
	size_t start = out->len;

	if (t->fault) {
		buf_addstr(out, "[FAILED TO PARSE]");
		tracefield_print_pairs(t, env, raw, raw_size, out);
		return;
	}
	vec_each(p, &t->pieces) {
		print_piece(&r, p);
		if (out->len - start > TRACEFIELD_TEXT_MOST)
			break;
	}
}

/* --- one field ----------------------------------------------------------------------------- */

enum { OF_FIELD = 1, OF_OTHERS = 2 };

/* What the node is made of. */
static int made_of(const struct tracefield *t, u32 node, s64 field)
{
	const struct node *n = &t->nodes.items[node];
	int what = 0;

	if (!node)
		return 0;
	if (n->kind >= NODE_FIELD && n->kind <= NODE_BITMASK)
		what = n->value == field ? OF_FIELD : OF_OTHERS;
	return what | made_of(t, n->a, field) | made_of(t, n->b, field) | made_of(t, n->c, field);
}

static int piece_of(const struct tracefield *t, const struct piece *p, s64 field)
{
	return made_of(t, p->arg, field) | (p->star_width ? made_of(t, p->width_arg, field) : 0) |
	       (p->star_precision ? made_of(t, p->precision_arg, field) : 0);
}

/* The conversions of that field, with what stands between them: "8,0" of a device. */
static bool print_pieces(const struct tracefield_run *r, s64 field)
{
	bool any = false;

	vec_each(p, &r->t->pieces) {
		struct piece bare = *p;

		if (!p->conv || piece_of(r->t, p, field) != OF_FIELD) {
			if (any)
				break;
			continue;
		}
		if (!any)
			bare.len = 0;
		any = true;
		print_piece(r, &bare);
	}
	return any;
}

static void trim(struct buf *out, size_t start)
{
	size_t skip = 0;

	while (out->len > start && out->data[out->len - 1] == ' ')
		buf_truncate(out, out->len - 1);
	while (start + skip < out->len && out->data[start + skip] == ' ')
		skip++;
	memmove(out->data + start, out->data + start + skip, out->len - start - skip);
	buf_truncate(out, out->len - skip);
}

bool tracefield_print_field(const struct tracefield *t, const struct tracefield_env *env,
			    const char *field, bool plain, const void *raw, u32 raw_size,
			    struct buf *out)
{
	const struct tracepoint_field *f = tracepoint_field_find(&t->format, field, strlen(field));
	struct tracefield_run r = { t, env, raw, raw_size, out };
	size_t start = out->len;

	if (!f)
		return false;
	if (plain || t->fault || !print_pieces(&r, f - t->format.fields.items))
		print_value(&r, f);
	if (out->len - start > TRACEFIELD_TEXT_MOST)
		buf_truncate(out, start + TRACEFIELD_TEXT_MOST);
	if (out->len > start)
		trim(out, start);
	return true;
}

const char *tracefield_name(const struct tracefield *t, size_t i)
{
	vec_each(f, &t->format.fields) {
		if (!f->is_common && !i--)
			return f->name;
	}
	return NULL;
}
