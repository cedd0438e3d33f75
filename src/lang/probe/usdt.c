/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Static tracepoints of user programs. Their notes say where each argument is. */
#include "host/cpu.h"
#include "elf/find.h"
#include "elf/usdt.h"
#include "lang/gen/gen.h"
#include "lang/run/run.h"
#include "lang/probe/user.h"

enum { USDT_MAX_ARGS = 12 };

/* One argument: "-4@%edi", "8@-8(%rbp)", "4@$5", "8@(%rax,%rcx,8)". */
struct usdt_arg {
	u32 size;
	bool is_signed;
	bool is_memory;
	int base;   /* offset in pt_regs; -1: none */
	int index;  /* -1: none */
	s64 offset; /* or the constant */
	u32 scale;
};

struct register_form {
	const char *name;
	const char *full;
};

/* edi, di, dil -> di */
static int register_offset(const char *name)
{
	static const struct register_form forms[] = {
		{ "al", "ax" },  { "bl", "bx" },  { "cl", "cx" },  { "dl", "dx" },
		{ "sil", "si" }, { "dil", "di" }, { "bpl", "bp" }, { "spl", "sp" },
	};
	char text[8];
	size_t n = strlen(name);
	int at = cpu_register(name);

	if (at >= 0)
		return at;
	if (name[0] == 'e')
		return cpu_register(name + 1);
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		if (streq(name, forms[i].name))
			return cpu_register(forms[i].full);
	}
	/* r8d, r8w, r8b */
	if (n < 3 || n >= sizeof(text))
		return -1;
	memcpy(text, name, n - 1);
	text[n - 1] = 0;
	return cpu_register(text);
}

static int take_register(const char **p)
{
	char name[8] = "";
	size_t n = 0;

	if (**p != '%')
		return -1;
	for ((*p)++; (**p >= 'a' && **p <= 'z') || (**p >= '0' && **p <= '9'); (*p)++) {
		if (n + 1 < sizeof(name))
			name[n++] = **p;
	}
	return register_offset(name);
}

static bool parse_memory(const char **p, struct usdt_arg *a)
{
	a->is_memory = true;
	(*p)++;
	if (**p == '%')
		a->base = take_register(p);
	if (**p == ',') {
		(*p)++;
		a->index = take_register(p);
		a->scale = 1;
		if (**p == ',') {
			(*p)++;
			a->scale = (u32)strtoul(*p, (char **)p, 10);
		}
		if (a->index < 0)
			return false;
	}
	if (**p != ')')
		return false;
	(*p)++;
	return a->base >= 0 || a->index >= 0;
}

static bool parse_arg(const char **p, struct usdt_arg *a)
{
	long size = strtol(*p, (char **)p, 10);

	*a = (struct usdt_arg){ .base = -1, .index = -1 };
	if (**p != '@' || size < -8 || size > 8)
		return false;
	a->is_signed = size < 0;
	a->size = (u32)labs(size);
	if (a->size != 1 && a->size != 2 && a->size != 4 && a->size != 8)
		return false;
	(*p)++;
	if (**p == '$') {
		(*p)++;
		a->offset = strtoll(*p, (char **)p, 0);
		return true;
	}
	if (**p == '%') {
		a->base = take_register(p);
		return a->base >= 0;
	}
	a->offset = strtoll(*p, (char **)p, 0);
	return **p == '(' && parse_memory(p, a);
}

/* Argument @n of the site; false when it has none that we understand. */
static bool find_arg(const struct target *t, u32 n, struct usdt_arg *ret)
{
	const char *p = t->data;

	for (u32 i = 0; p && *p && i < USDT_MAX_ARGS; i++) {
		while (*p == ' ')
			p++;
		if (!*p)
			return false;
		if (!parse_arg(&p, ret)) {
			if (i == n)
				return false;
			p += strcspn(p, " ");
			continue;
		}
		if (i == n)
			return true;
	}
	return false;
}

static int sites_of(const char *path, struct arena *arena, usdt_sites *ret, struct err *e)
{
	_cleanup_elf_ struct elf elf = ELF_INIT;
	int rc = elf_open(path, &elf, e);

	return rc < 0 ? rc : elf_list_usdt(&elf, arena, ret, e);
}

struct usdt_wanted {
	const struct provider *p;
	const struct spec *s;
	const char *path, *provider, *name;
	bool must_open;
};

static void expand_file(struct comp *c, const struct usdt_wanted *w)
{
	usdt_sites sites = { 0 };
	struct err e = ERR_INIT;

	if (sites_of(w->path, &c->arena, &sites, &e) < 0 && w->must_open)
		diag_error(&c->diags, w->s->at, "%s", e.what);
	err_release(&e);
	vec_each(it, &sites) {
		struct target *t;

		if ((w->provider && *w->provider && !provider_match(w->provider, it->provider)) ||
		    !provider_match(w->name, it->name))
			continue;
		t = provider_target(c, w->p, w->s, "usdt:%s:%s:%s", w->path, it->provider,
				    it->name);
		if (!t)
			break;
		t->group = w->path;
		t->event = it->name;
		t->value = it->offset;
		t->extra = it->semaphore;
		t->data = it->args;
		t->unit_kind = 1;
	}
	vec_release(&sites);
}

static void expand(struct comp *c, const struct provider *p, const struct spec *s, const char *rest)
{
	const char *name = strrchr(rest, ':'), *provider = NULL;
	char *file, *colon;
	elf_paths paths = { 0 };

	/* A name alone: in the files of the process. */
	if (!name && *rest && c->opts->pid) {
		rest = arena_printf(&c->arena, ":%s", rest);
		name = rest;
	}
	if (!name || !name[1]) {
		diag_error(&c->diags, s->at, "usdt probe type requires 2 or 3 arguments, found %u",
			   provider_parts(rest));
		diag_hint(&c->diags, "the form is usdt:FILE:PROVIDER:NAME or usdt:FILE:NAME");
		return;
	}
	file = arena_strndup(&c->arena, rest, (size_t)(name - rest));
	name++;
	colon = strrchr(file, ':');
	if (colon) {
		provider = colon + 1;
		*colon = 0;
	}
	if (!*file && !c->opts->pid) {
		diag_error(&c->diags, s->at,
			   "usdt probe must specify at least path or pid to probe. To target all "
			   "paths/pids set the path to '*'.");
		return;
	}
	if (!*file)
		file = arena_strdup(&c->arena, "*");
	if (provider_is_pattern(file))
		user_files(c, file, &paths);
	else if (user_path(c, s, file))
		vec_push(&paths, user_path(c, s, file));
	vec_each(it, &paths)
		expand_file(c, &(struct usdt_wanted){ p, s, *it, provider, name,
						      !provider_is_pattern(file) });
	vec_release(&paths);
}

static const struct type *arg_type(struct comp *c, u32 n)
{
	struct usdt_arg a;

	/* for bpftrace one that does not exist is 0 */
	if (!find_arg(c->at->target, n, &a))
		return c->opts->compat ? type_int(&c->types, 8, false) : NULL;
	return type_int(&c->types, a.size, a.is_signed);
}

static void emit_arg(struct gen *g, u32 n, struct val *ret)
{
	struct usdt_arg a;
	struct val tmp;
	vreg r, x;

	if (!find_arg(g->target, n, &a)) {
		*ret = gen_reg(ir_imm(&g->ir, 0));
		return;
	}
	if (a.base < 0 && a.index < 0) {
		/* Constants are written as signed numbers whatever they are. */
		r = ir_imm(&g->ir, a.offset);
		ir_extend(&g->ir, r, a.size, a.is_signed);
		*ret = gen_reg(r);
		return;
	}
	r = a.base >= 0 ? ir_load(&g->ir, BPF_DW, g->ctx, a.base) : ir_imm(&g->ir, 0);
	if (a.is_memory) {
		if (a.index >= 0) {
			x = ir_load(&g->ir, BPF_DW, g->ctx, a.index);
			ir_alui(&g->ir, BPF_MUL, x, (s32)a.scale);
			ir_alu(&g->ir, BPF_ADD, r, x);
		}
		ir_alu(&g->ir, BPF_ADD, r, ir_imm(&g->ir, a.offset));
		tmp = gen_temp(g, 8);
		ir_storei(&g->ir, BPF_DW, tmp.reg, tmp.off, 0);
		gen_read(g, &tmp, a.size, r, SPACE_USER);
		r = ir_load(&g->ir, BPF_DW, tmp.reg, tmp.off);
	}
	ir_extend(&g->ir, r, a.size, a.is_signed);
	*ret = gen_reg(r);
}

static int attach(const struct attach_ctx *a)
{
	return user_attach(a, false);
}

/* usdt:FILE:PATTERN, or those of the process requested. */
static void list(struct comp *c, const char *pattern, void (*each)(void *ctx, const char *name),
		 void *ctx)
{
	const char *rest = strchr(pattern, ':');
	elf_paths paths = { 0 };

	if (!rest && !c->opts->pid)
		return;
	rest = rest ? arena_strndup(&c->arena, rest + 1, strcspn(rest + 1, ":")) : "*";
	user_files(c, rest, &paths);
	vec_each(path, &paths) {
		usdt_sites sites = { 0 };

		sites_of(*path, &c->arena, &sites, NULL);
		vec_each(it, &sites)
			each(ctx, arena_printf(&c->arena, "usdt:%s:%s:%s",
					       provider_is_pattern(rest) ? *path : rest,
					       it->provider, it->name));
		vec_release(&sites);
	}
	vec_release(&paths);
}

const struct provider probe_usdt = {
	.name = "usdt",
	.aliases = "U",
	.flags = PROBE_USER | PROBE_REGS | PROBE_NAMED,
	.expand = expand,
	.prepare = user_prepare,
	.arg_type = arg_type,
	.emit_arg = emit_arg,
	.attach = attach,
	.list = list,
};
