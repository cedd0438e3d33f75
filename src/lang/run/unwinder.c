/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libbpf resolves maps, types of the kernel and calls in our object, then asks a handler of ours
 * before it loads: there the finished instructions are taken, and something trivial is loaded in
 * their place. They lie after the instructions of each program that takes user stacks; all jumps
 * in them are relative.
 */
#include "lang/run/unwinder.h"

#include "base/stop.h"
#include "lang_unwind.skel.h"
#include "lang_unwind_raw.skel.h"
#include "unwind/checks.h"
#include "unwind/loader.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <pthread.h>

enum { RING_BYTES = 1 << 18 };

struct unwinder {
	struct lang_unwind_bpf *skel;
	bool raw; /* the kernel does not describe its types */
	bool walk_always;
	int stacks; /* the map that programs find their stacks in; the caller's */
	struct unwind_feed *feed;
	struct ring_buffer *ring;
	u64 turn; /* bytes that this unwinder_serve() took */
	struct bpf_insn *insns;
	size_t n_insns;
	func_types funcs; /* offsets from the first instruction */
};

/* --- the code --------------------------------------------------------------------------------- */

static const struct btf_type *plain_type(const struct btf *btf, u32 id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);

	while (t && (btf_is_typedef(t) || btf_is_mod(t)))
		t = btf__type_by_id(btf, t->type);
	return t;
}

/* Size of what a pointer points to; 0: not a pointer to a struct. */
static u32 pointed_size(const struct btf *btf, u32 id)
{
	const struct btf_type *t = plain_type(btf, id);

	if (!t || !btf_is_ptr(t))
		return 0;
	t = plain_type(btf, t->type);
	return t && btf_is_struct(t) ? t->size : 0;
}

static void describe(const struct btf *btf, const struct bpf_func_info *info, struct func_type *f)
{
	const struct btf_type *func = btf__type_by_id(btf, info->type_id), *proto;

	f->start = info->insn_off;
	/* The first one is a program there and an ordinary function here. */
	if (!func || !f->start || btf_vlen(func) != BTF_FUNC_GLOBAL)
		return;
	proto = btf__type_by_id(btf, func->type);
	if (!proto || btf_vlen(proto) > FUNC_MAX_PARAMS)
		return;
	f->is_global = true;
	f->n_params = btf_vlen(proto);
	for (u32 i = 0; i < f->n_params; i++)
		f->pointed[i] = pointed_size(btf, btf_params(proto)[i].type);
}

static int take_code(struct bpf_program *prog, struct bpf_prog_load_opts *opts, long cookie)
{
	static struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	struct unwinder *u = (struct unwinder *)cookie;
	const struct btf *btf = bpf_object__btf(u->skel->obj);
	const char *info = opts->func_info;

	u->n_insns = bpf_program__insn_cnt(prog);
	u->insns = xmemdup(bpf_program__insns(prog), u->n_insns * sizeof(*u->insns));
	if (!info || !btf || opts->func_info_rec_size < sizeof(struct bpf_func_info))
		return -EOPNOTSUPP;
	for (u32 i = 0; i < opts->func_info_cnt; i++) {
		struct bpf_func_info one;

		memcpy(&one, info + (size_t)i * opts->func_info_rec_size, sizeof(one));
		describe(btf, &one, vec_new(&u->funcs));
	}
	opts->func_info_cnt = 0;
	opts->line_info_cnt = 0;
	return bpf_program__set_insns(prog, nothing, ARRAY_SIZE(nothing));
}

static void register_placeholder(void)
{
	LIBBPF_OPTS(libbpf_prog_handler_opts, opts);

	libbpf_register_prog_handler("lang/nothing", BPF_PROG_TYPE_KPROBE, 0, &opts);
}

/*
 * libbpf 1.1 frees its list of handlers when the last one goes, and uses it again at the next
 * registration: one that is not needed stays.
 */
static void keep_one_handler(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, register_placeholder);
}

LOADER_FORMS(lang_unwind)
LOADER_SAME(lang_unwind, rodata, unwind_pidns);
LOADER_SAME(lang_unwind, rodata, unwind_walk_always);
LOADER_SAME(lang_unwind, rodata, unwind_check_every);
LOADER_SAME(lang_unwind, bss, unwind_epoch);

static int prepare(void *ctx, bool again, struct err *e)
{
	struct unwinder *u = ctx;
	int rc;

	if (again) {
		free(u->insns);
		u->insns = NULL;
		vec_clear(&u->funcs);
	}
	loader_set_pidns(u->skel->rodata);
	unwind_checks_set(u->skel->rodata, u->walk_always);
	bpf_map__set_max_entries(u->skel->maps.unwind_ring, RING_BYTES);
	rc = bpf_map__reuse_fd(u->skel->maps.lang_ustacks, u->stacks);
	return rc ? err_sys(e, rc, "cannot share the stacks of programs") : 0;
}

static int load(struct unwinder *u, struct err *e)
{
	LIBBPF_OPTS(libbpf_prog_handler_opts, opts, .cookie = (long)u,
		    .prog_prepare_load_fn = take_code);
	const struct loader l = { LOADER_OF(lang_unwind), .what = "user stack", .few_types = true,
				  .prepare = prepare, .ctx = u };
	int handler, rc;

	keep_one_handler();
	handler = libbpf_register_prog_handler("lang/ustack", BPF_PROG_TYPE_KPROBE, 0, &opts);
	if (handler < 0)
		return err_sys(e, handler, "cannot load the unwinder of user stacks");
	rc = loader_load(&l, &u->raw, &u->skel, e);
	libbpf_unregister_prog_handler(handler);
	return rc;
}

static int on_need(void *ctx, void *data, size_t n)
{
	struct unwinder *u = ctx;

	if (n >= sizeof(struct unwind_need) && *(const u32 *)data == UNWIND_RECORD_NEED)
		unwind_feed_need(u->feed, data, NULL);
	/* tables are slow, and a missing one is requested again: others get their turn */
	u->turn += n;
	return u->turn >= RING_BYTES || stop_requested() ? -ECANCELED : 0;
}

int unwinder_new(int stacks, bool walk_always, struct unwinder **ret, struct err *e)
{
	struct unwinder *u = xcalloc(1, sizeof(*u));
	int rc;

	u->stacks = stacks;
	u->walk_always = walk_always;
	rc = load(u, e);
	if (rc == 0)
		rc = loader_feed(u->skel,
				 &(struct loader_feed){ .epoch = &u->skel->bss->unwind_epoch },
				 &u->feed, e);
	if (rc == 0)
		rc = loader_ring(u->skel, on_need, u, &u->ring, e);
	if (rc < 0) {
		unwinder_free(u);
		return rc;
	}
	*ret = u;
	return 0;
}

void unwinder_free(struct unwinder *u)
{
	if (!u)
		return;
	ring_buffer__free(u->ring);
	unwind_feed_free(u->feed);
	if (u->skel)
		unwind_checks_log(bpf_map__fd(u->skel->maps.unwind_counters));
	loader_free(u->skel);
	free(u->insns);
	vec_release(&u->funcs);
	free(u);
}

void unwinder_link(const struct unwinder *u, bpf_insns *insns, func_types *funcs)
{
	u32 start = (u32)insns->len;

	for (u32 i = 0; i < start; i++) {
		struct bpf_insn *in = &insns->items[i];

		if (in->code == (BPF_JMP | BPF_CALL) && in->src_reg == BPF_PSEUDO_CALL)
			in->imm = (s32)(start - i - 1);
	}
	for (size_t i = 0; i < u->n_insns; i++)
		vec_push(insns, u->insns[i]);
	vec_each(it, &u->funcs) {
		struct func_type f = *it;

		f.start += start;
		vec_push(funcs, f);
	}
}

/* --- the tables ------------------------------------------------------------------------------- */

void unwinder_file(struct unwinder *u, const char *path)
{
	unwind_feed_file(u->feed, path);
}

void unwinder_mapped(struct unwinder *u, const struct module_key *key)
{
	unwind_feed_module(u->feed, key);
}

void unwinder_process(struct unwinder *u, u32 pid)
{
	if (pid)
		unwind_feed_process(u->feed, (int)pid);
	else
		unwind_feed_running(u->feed, true);
}

int unwinder_fd(const struct unwinder *u)
{
	return u ? ring_buffer__epoll_fd(u->ring) : -1;
}

void unwinder_serve(struct unwinder *u)
{
	if (!u)
		return;
	u->turn = 0;
	ring_buffer__consume(u->ring);
}

void unwinder_counts(const struct unwinder *u, struct unwind_counts *ret)
{
	unwind_counters_read(bpf_map__fd(u->skel->maps.unwind_counters), ret);
}

const struct numbered_file *unwinder_place(const struct unwinder *u, u64 place, u64 *ret_offset)
{
	return u ? numbered_place(unwind_feed_numbered(u->feed), place, ret_offset) : NULL;
}
