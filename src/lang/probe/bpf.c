/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions of BPF programs that are loaded: fentry:bpf:[ID:]NAME and fexit. The program's own
 * types say which there are and what their parameters are.
 */
#include "lang/gen/gen.h"
#include "lang/run/run.h"

#include "base/parse.h"
#include "host/bpf_programs.h"
#include "host/bpf_sys.h"

static const struct provider fentry_of_bpf, fexit_of_bpf;

/* After target->data. */
struct place {
	u32 program;
	u32 func; /* in the types of the program */
};

/* The kernel hands over its own struct where a program is written for a view of it. */
static const char *kernel_name(const char *name)
{
	if (streq(name, "xdp_md"))
		return "xdp_buff";
	return streq(name, "__sk_buff") ? "sk_buff" : name;
}

static const struct type *param_type(struct comp *c, const struct kbtf *btf, u32 id)
{
	u32 shape = kbtf_resolve(btf, id), to;
	const struct btf_type *t = kbtf_type(btf, shape);
	const struct type *known;
	char *name;

	if (t && kbtf_kind(t) != BTF_KIND_PTR) {
		s64 size = kbtf_size(btf, shape);

		return type_int(&c->types, size == 1 || size == 2 || size == 4 ? (u32)size : 8,
				kbtf_kind(t) == BTF_KIND_INT);
	}
	to = t ? kbtf_resolve(btf, t->type) : 0;
	t = kbtf_type(btf, to);
	if (!t || kbtf_kind(t) != BTF_KIND_STRUCT || !*kbtf_name(btf, to))
		return type_int(&c->types, 8, false);
	name = arena_printf(&c->arena, "struct %s", kernel_name(kbtf_name(btf, to)));
	known = type_by_btf_name(&c->types, name, SPACE_KERNEL);
	return known ? type_ptr(&c->types, known, SPACE_KERNEL) : type_int(&c->types, 8, false);
}

struct expansion {
	struct comp *c;
	const struct provider *p;
	const struct spec *s;
	const char *name;
	u64 id; /* 0: any */
};

static void add_found(void *ctx, const struct bpf_program_func *f)
{
	struct expansion *x = ctx;
	const struct words_source from = { .btf = f->btf, .func = f->type, .type_of = param_type };
	struct place place = { f->program, f->type };
	struct target *t;

	if ((x->id && x->id != f->program) || !provider_match(x->name, f->name))
		return;
	t = provider_target(x->c, x->p, x->s, "%s:bpf:%u:%s", x->p->name, f->program, f->name);
	if (!t)
		return;
	t->provider = x->p == &probe_fentry ? &fentry_of_bpf : &fexit_of_bpf;
	t->event = arena_strdup(&x->c->arena, f->name);
	t->args = probe_words_args(x->c, &from,
				   arena_printf(&x->c->arena, "struct _bpf_%s", f->name));
	t->extra = t->args->n_fields;
	t->data = arena_dup(&x->c->arena, &place, sizeof(place));
}

void probe_bpf_expand(struct comp *c, const struct provider *p, const struct spec *s,
		      const char *rest)
{
	const char *first = provider_part(c, rest, 0), *second = provider_part(c, rest, 1);
	struct expansion x = { c, p, s, second ? second : first, 0 };
	int rc;

	if (!*x.name || (second && !streq(first, "*") && parse_u64(first, &x.id, NULL) < 0)) {
		diag_error(&c->diags, s->at, "'%s' does not name a function of a BPF program",
			   rest);
		diag_hint(&c->diags, "the form is %s:bpf:NAME or %s:bpf:PROGRAM-ID:NAME", p->name,
			  p->name);
		return;
	}
	rc = bpf_programs_each_func(add_found, &x);
	if (rc < 0)
		diag_error(&c->diags, s->at, "cannot look at the BPF programs that are loaded: %s",
			   strerror(-rc));
}

static bool prepare(struct comp *c, struct unit *u)
{
	const struct target *t = &c->targets.items[u->first];
	const struct place *place = t->data;

	u->prog_type = BPF_PROG_TYPE_TRACING;
	u->attach_type = t->provider == &fexit_of_bpf ? BPF_TRACE_FEXIT : BPF_TRACE_FENTRY;
	u->attach_btf = place->func;
	u->attach_prog = place->program;
	c->targets.items[u->first].unit_kind = 0;
	return true;
}

static const struct type *retval_type(struct comp *c)
{
	return check_int64(c, true);
}

static void emit_retval(struct gen *g, struct val *ret)
{
	vreg r = ir_load(&g->ir, BPF_DW, g->ctx, (s32)g->target->extra * 8);

	/* Programs and their functions return an int. */
	ir_extend(&g->ir, r, 4, true);
	*ret = gen_reg(r);
}

static void list_one(void *ctx, const struct bpf_program_func *f)
{
	_cleanup_free_ char *name = xasprintf("bpf:%u:%s", f->program, f->name);

	provider_list_name(ctx, name);
}

void probe_bpf_list(struct provider_listing *l)
{
	bpf_programs_each_func(list_one, l);
}

static const struct provider fentry_of_bpf = {
	.name = "fentry",
	.flags = PROBE_ARGS,
	.prepare = prepare,
	.arg_type = probe_words_arg_type,
	.emit_arg = probe_words_arg,
	.emit_field = probe_words_field,
	.attach = probe_fentry_attach,
};

static const struct provider fexit_of_bpf = {
	.name = "fexit",
	.flags = PROBE_ARGS,
	.prepare = prepare,
	.arg_type = probe_words_arg_type,
	.emit_arg = probe_words_arg,
	.emit_field = probe_words_field,
	.retval_type = retval_type,
	.emit_retval = emit_retval,
	.attach = probe_fentry_attach,
};
