/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Iterators: the program runs once for every task, open file, mapping ... that exists. */
#include "lang/gen/gen.h"
#include "lang/run/run.h"

#include "base/parse.h"
#include "host/bpf_sys.h"

#define PIN_DIR "/sys/fs/bpf"

enum { MAX_MAPS = 1 << 16 };

/* Over the contents of one map, which has to be named. */
static bool needs_map(const char *name)
{
	return streq(name, "bpf_map_elem") || streq(name, "bpf_sk_storage_map") ||
	       streq(name, "sockmap");
}

static void add_target(struct comp *c, const struct provider *p, const struct spec *s,
		       const char *name, const char *pin, const char *map)
{
	struct target *t = provider_target(c, p, s, "iter:%s", name);

	if (!t)
		return;
	t->event = arena_strdup(&c->arena, name);
	t->unit_kind = (u32)c->targets.len;
	t->group = pin;
	t->data = map;
}

/* Not every struct that is called so belongs to an iterator. */
static u32 has_function(struct comp *c, const char *name)
{
	struct kbtf *btf = types_btf(&c->types);
	char *function = arena_printf(&c->arena, "bpf_iter_%s", name);

	return btf ? kbtf_find(btf, BTF_KIND_FUNC, function) : 0;
}

static void each_iter(struct comp *c, const char *pattern,
		      void (*each)(void *ctx, const char *name), void *ctx)
{
	struct kbtf *btf = types_btf(&c->types);

	for (u32 id = 1; btf && id <= kbtf_count(btf); id++) {
		const struct btf_type *t = kbtf_type(btf, id);
		const char *name;

		if (!t || kbtf_kind(t) != BTF_KIND_STRUCT)
			continue;
		name = starts_with(kbtf_name(btf, id), "bpf_iter__");
		if (name && provider_match(pattern, name) && has_function(c, name))
			each(ctx, name);
	}
}

struct expansion {
	struct comp *c;
	const struct provider *p;
	const struct spec *s;
	const char *pin;
	const char *map;
};

static void add_found(void *ctx, const char *name)
{
	struct expansion *x = ctx;

	/* A pattern does not mean those that need more than a name. */
	if (x->map || !needs_map(name))
		add_target(x->c, x->p, x->s, name, x->pin, x->map);
}

static void expand(struct comp *c, const struct provider *p, const struct spec *s, const char *rest)
{
	const char *name = provider_part(c, rest, 0), *map = provider_part(c, rest, 1), *pin = map;
	struct expansion x = { c, p, s, NULL, NULL };

	if (needs_map(name)) {
		pin = provider_part(c, rest, 2);
		if (!map || !*map) {
			diag_error(&c->diags, s->at, "the iterator '%s' needs a map", name);
			diag_hint(
				&c->diags,
				"the form is iter:%s:MAP, with the number, name or pinned file of "
				"a map",
				name);
			return;
		}
		x.map = map;
	}
	if (pin)
		x.pin = *pin == '/' ? pin : arena_printf(&c->arena, PIN_DIR "/%s", pin);
	if (!*name)
		diag_error(&c->diags, s->at, "iter probe must have a target");
	else if (pin && (!*pin || provider_is_pattern(name)))
		diag_error(&c->diags, s->at, "one iterator can be pinned to one file");
	else
		each_iter(c, name, add_found, &x);
}

static bool prepare(struct comp *c, struct unit *u)
{
	struct target *t = &c->targets.items[u->first];
	const struct type *args;
	struct type *copy;
	u32 id = has_function(c, t->event);
	char *name;

	name = arena_printf(&c->arena, "struct bpf_iter__%s", t->event);
	args = type_by_btf_name(&c->types, name, SPACE_KERNEL);
	if (!id || !args) {
		diag_error(&c->diags, c->prog.probes.items[u->probe].specs.items[0].at,
			   "this kernel has no iterator '%s'", t->event);
		return false;
	}
	copy = arena_dup(&c->types.arena, args, sizeof(*args));
	t->args = copy;
	u->prog_type = BPF_PROG_TYPE_TRACING;
	u->attach_type = BPF_TRACE_ITER;
	u->attach_btf = id;
	t->unit_kind = 0;
	return true;
}

/* Fields of the context may be no pointer at the end of the walk: nothing to do then. */
static bool emit_field(struct gen *g, const struct field *f, struct val *ret)
{
	vreg r = ir_load(&g->ir, f->type->kind == T_INT && f->type->size == 4 ? BPF_W : BPF_DW,
			 g->ctx, (s32)f->offset);

	if (f->type->kind == T_PTR)
		ir_branchi(&g->ir, BPF_JEQ, r, 0, g->out);
	*ret = gen_reg(r);
	return true;
}

/* The link remains under its name; reading that file runs the program. */
static int pin(const struct attach_ctx *a, const struct target *t, int link)
{
	char *said = arena_printf(&a->run->c->arena, "Program pinned to %s\n", t->group);
	int rc = bpfsys_pin(link, t->group);

	if (rc < 0) {
		err_sys(a->err, -rc, "cannot pin '%s' to '%s'", t->name, t->group);
		if (rc == -EEXIST)
			err_hint(a->err, "remove the file, or choose another name");
		else
			err_hint(a->err,
				 "the file must be in a bpf file system, such as that in %s",
				 PIN_DIR);
		return rc;
	}
	a->run->pinned = said;
	return 0;
}

static int map_by_name(const char *name, struct err *e)
{
	int found = -1;
	u32 id = 0, other = 0;

	for (u32 i = 0; i < MAX_MAPS && bpfsys_map_next(id, &id) >= 0; i++) {
		struct bpf_map_info info = { 0 };
		u32 len = sizeof(info);
		int fd = bpfsys_map_by_id(id);

		if (fd < 0)
			continue;
		if (bpfsys_info(fd, &info, &len) < 0 ||
		    strncmp(info.name, name, sizeof(info.name)) != 0) {
			close(fd);
		} else if (found >= 0) {
			close(fd);
			close(found);
			err_set(e, EEXIST, "several maps are called '%s', such as %u and %u", name,
				other, id);
			err_hint(e, "give the number of the one that is meant");
			return -EEXIST;
		} else {
			found = fd;
			other = id;
		}
	}
	if (found < 0)
		return err_set(e, ENOENT, "there is no BPF map '%s'", name);
	return found;
}

/* By number, by name in a bpf file system, or by the name that it was made with. */
static int open_map(const char *text, struct err *e)
{
	u64 id;
	int fd;

	if (strchr(text, '/')) {
		fd = bpfsys_open_pinned(text);
		return fd < 0 ? err_sys(e, -fd, "cannot open the map '%s'", text) : fd;
	}
	if (parse_u64(text, &id, NULL) < 0)
		return map_by_name(text, e);
	fd = id <= UINT32_MAX ? bpfsys_map_by_id((u32)id) : -ENOENT;
	return fd < 0 ? err_sys(e, -fd, "cannot open the map %s", text) : fd;
}

static int link_iter(const struct attach_ctx *a, const struct target *t)
{
	union bpf_iter_link_info info = { 0 };
	_cleanup_close_ int map = -1;

	if (t->data) {
		map = open_map(t->data, a->err);
		if (map < 0)
			return map;
		info.map.map_fd = (u32)map;
	} else if (streq(t->event, "cgroup")) {
		/* All control groups, parents before their children. */
		info.cgroup.order = BPF_CGROUP_ITER_DESCENDANTS_PRE;
	} else {
		return bpfsys_link_iter(a->prog_fd, NULL, 0);
	}
	return bpfsys_link_iter(a->prog_fd, &info, sizeof(info));
}

static int attach(const struct attach_ctx *a)
{
	const struct target *t = &a->run->c->targets.items[a->unit->first];
	int link = link_iter(a, t), fd;

	if (link < 0 && a->err->code)
		return link;
	if (link < 0) {
		err_sys(a->err, -link, "cannot attach to '%s'", t->name);
		if (t->data && link == -EINVAL)
			err_hint(a->err, "the kernel has no iterator for this kind of map");
		return link;
	}
	run_keep(a->run, link, false);
	if (t->group)
		return pin(a, t, link);
	fd = bpfsys_iter_create(link);
	if (fd < 0)
		return err_sys(a->err, -fd, "cannot start '%s'", t->name);
	run_keep(a->run, fd, false);
	vec_push(&a->run->iters, fd);
	return 0;
}

static void list(struct comp *c, const char *pattern, void (*each)(void *ctx, const char *name),
		 void *ctx)
{
	struct provider_listing l = { "iter", each, ctx };

	(void)pattern;
	each_iter(c, "*", provider_list_name, &l);
}

const struct provider probe_iter = {
	.name = "iter",
	.aliases = "it",
	.flags = PROBE_ARGS,
	.expand = expand,
	.prepare = prepare,
	.emit_field = emit_field,
	.attach = attach,
	.list = list,
};
