/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a program has to say: records for our loop, or text for the reader of a pinned iterator. */
#include "lang/front/fmt.h"
#include "lang/gen/gen.h"
#include "lang/probe/provider.h"

enum { SEQ_MAX_ARGS = 12 }; /* of bpf_seq_printf() */

void gen_output(struct gen *g, const struct val *record, u32 size)
{
	const struct node here = { .at = { g->ir.line, g->ir.line + 1 } };

	vreg map = ir_map(&g->ir, gen_ring_map(g->c));
	vreg rc = IR_CALLV(&g->ir, BPF_FUNC_ringbuf_output, ARG_REG(map), gen_addr_arg(g, record),
			   ARG_IMM((s32)size), ARG_IMM(0));

	gen_count_negative(g, rc, COUNTER_LOST);
	if (gen_is_pinned(g))
		gen_fail(g, &here, "only printf() works in a pinned iterator");
}

void gen_helper_error(struct gen *g, const char *helper, vreg rc)
{
	const struct event e = { .kind = EV_HELPER_ERROR, .fmt = helper, .at = g->at };
	struct val record;

	if (gen_is_pinned(g))
		return;
	record = gen_temp(g, 16);
	ir_storei(&g->ir, BPF_DW, record.reg, record.off, (s32)comp_event(g->c, &e));
	ir_store(&g->ir, BPF_DW, record.reg, record.off + 8, rc);
	gen_output(g, &record, 16);
}

void gen_event(struct gen *g, u32 number, struct node **args, u32 n_args)
{
	const struct type *types = g->c->events.items[number].args;
	u32 size = 8 + (types ? types->size : 0);
	struct val record = gen_temp(g, size);

	ir_storei(&g->ir, BPF_DW, record.reg, record.off, (s32)number);
	for (u32 i = 0; i < n_args; i++) {
		struct val at = record;

		at.off += 8 + (s32)types->fields[i].offset;
		gen_store(g, args[i], types->fields[i].type, &at, false);
	}
	gen_output(g, &record, size);
}

/* --- into the file that is being read --------------------------------------------------------- */

bool gen_is_pinned(const struct gen *g)
{
	return g->target->provider == &probe_iter && g->target->group;
}

/* The kernel's own formats, which know no precision and no types of ours. */
static bool seq_conversion(const struct conversion *v, const struct type *t, struct buf *out)
{
	bool text = t->kind == T_STR;

	if (v->precision >= 0 || (text != (v->letter == 's')) || (!text && !type_is_number(t)) ||
	    !strchr("diuxXcps", v->letter))
		return false;
	buf_addf(out, "%%%s", v->flags);
	if (v->width >= 0)
		buf_addf(out, "%d", v->width);
	buf_addf(out, "%s%c", strchr("diuxX", v->letter) ? "ll" : "", v->letter);
	return true;
}

static bool seq_format(struct gen *g, struct node *n, struct buf *out)
{
	const char *fmt = n->kids[0]->str;
	struct conversion v;
	u32 i = 1;

	while (!fmt_next(&fmt, &v)) {
		buf_add(out, v.text, v.text_len);
		if (!v.letter)
			return true;
		if (v.letter == '%') {
			buf_addstr(out, "%%");
			continue;
		}
		if (i > SEQ_MAX_ARGS || !seq_conversion(&v, n->kids[i]->type, out)) {
			gen_fail(g, n->kids[i],
				 "the kernel cannot print this into a pinned iterator's file");
			return false;
		}
		i++;
	}
	return true;
}

/* Arguments are words: numbers, and where strings are. */
static void seq_arguments(struct gen *g, struct node *n, const struct val *words)
{
	for (u32 i = 1; i < n->n_kids; i++) {
		s32 at = words->off + (s32)(i - 1) * 8;
		struct val text;

		if (n->kids[i]->type->kind == T_STR) {
			text = gen_temp_scratch(g, type_stored(n->kids[i]->type));
			gen_store(g, n->kids[i], n->kids[i]->type, &text, true);
			ir_store(&g->ir, BPF_DW, words->reg, at, gen_addr(g, &text));
		} else {
			ir_store(&g->ir, BPF_DW, words->reg, at, gen_num(g, n->kids[i]));
		}
	}
}

void gen_seq_printf(struct gen *g, struct node *n)
{
	struct buf fmt = BUF_INIT;
	struct node literal = { .kind = N_STR, .at = n->at };
	struct val text, words;
	u32 size = (n->n_kids - 1) * 8;
	vreg seq;

	if (seq_format(g, n, &fmt)) {
		literal.str = buf_str(&fmt);
		literal.str_len = (u32)fmt.len;
		literal.type = type_str(&g->c->types, (u32)fmt.len + 1);
		text = gen_temp_scratch(g, type_stored(literal.type));
		gen_store(g, &literal, literal.type, &text, true);
		words = gen_temp_scratch(g, MAX(size, 8u));
		seq_arguments(g, n, &words);
		/* ctx->meta->seq */
		seq = ir_load(&g->ir, BPF_DW, ir_load(&g->ir, BPF_DW, g->ctx, 0), 0);
		IR_CALLV(&g->ir, BPF_FUNC_seq_printf, ARG_REG(seq), gen_addr_arg(g, &text),
			 ARG_IMM((s32)fmt.len + 1), gen_addr_arg(g, &words), ARG_IMM((s32)size));
	}
	buf_release(&fmt);
}
