/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libbpf resolves maps, types of the kernel and calls in our object, then asks a handler of ours
 * before it loads: there the finished instructions are taken, and something trivial is loaded in
 * their place. They lie behind the instructions of each program that takes user stacks; all jumps
 * in them are relative.
 */
#include "lang/run/unwinder.h"

#include "base/stop.h"
#include "host/bpf_log.h"
#include "host/kernel_types.h"
#include "lang_unwind.skel.h"
#include "lang_unwind_raw.skel.h"
#include "unwind/coretypes.h"
#include "unwind/feed.h"
#include "unwind/raw.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

enum { RING_BYTES = 1 << 18 };

struct unwinder {
	struct lang_unwind_bpf *skel;
	bool raw; /* the kernel does not describe its types */
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

/* In a pid namespace of our own, the kernel must count pids as we do. */
static void set_pid_namespace(struct lang_unwind_bpf *skel)
{
	u64 dev, ino;

	if (!unwind_own_pidns(&dev, &ino))
		return;
	skel->rodata->unwind_pidns.dev = dev;
	skel->rodata->unwind_pidns.ino = ino;
}

static void register_placeholder(void)
{
	LIBBPF_OPTS(libbpf_prog_handler_opts, opts);

	libbpf_register_prog_handler("lang/nothing", BPF_PROG_TYPE_KPROBE, 0, &opts);
}

/*
 * libbpf 1.1 frees its list of handlers when the last one goes, and uses it again at the next
 * registration: one that nobody needs stays.
 */
static void keep_one_handler(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, register_placeholder);
}

/* Both forms of the code have the same names for what is used here, in one place. */
#define SAME_PLACE(section, member)                                                     \
	_Static_assert(offsetof(struct lang_unwind_bpf__##section, member) ==           \
			       offsetof(struct lang_unwind_raw_bpf__##section, member), \
		       "one skeleton does for both")

SAME_PLACE(rodata, unwind_pidns);
SAME_PLACE(bss, unwind_epoch);

/* @types: what to take for the kernel's types, NULL: those themselves. */
static int open_and_load(struct unwinder *u, int stacks, const char *types)
{
	LIBBPF_OPTS(bpf_object_open_opts, open, .btf_custom_path = types);
	int rc;

	u->skel = xcalloc(1, sizeof(*u->skel));
	rc = lang_unwind_bpf__create_skeleton(u->skel);
	if (!rc && u->raw)
		u->skel->skeleton->data =
			(void *)lang_unwind_raw_bpf__elf_bytes(&u->skel->skeleton->data_sz);
	if (!rc)
		rc = bpf_object__open_skeleton(u->skel->skeleton, &open);
	if (rc)
		return rc;
	set_pid_namespace(u->skel);
	bpf_map__set_max_entries(u->skel->maps.unwind_ring, RING_BYTES);
	rc = bpf_map__reuse_fd(u->skel->maps.lang_ustacks, stacks);
	if (!rc)
		rc = lang_unwind_bpf__load(u->skel);
	return rc || !u->raw ? rc : raw_find_regs(u->skel->obj, NULL);
}

/* Reading all types of the kernel takes half of the time: a few of them do, if they are at hand. */
static int load_by_types(struct unwinder *u, int stacks)
{
	_cleanup_buf_ struct buf types = BUF_INIT, all = BUF_INIT;
	size_t size;
	const void *object;
	int rc;

	u->raw = !kernel_types_own();
	rc = u->raw ? kernel_types_path(&all, NULL) : 0;
	if (rc < 0)
		return rc;
	object = u->raw ? lang_unwind_raw_bpf__elf_bytes(&size) : lang_unwind_bpf__elf_bytes(&size);
	if (coretypes_path(object, size, &types) >= 0) {
		if (!open_and_load(u, stacks, buf_str(&types)))
			return 0;
		lang_unwind_bpf__destroy(u->skel);
		u->skel = NULL;
		free(u->insns);
		u->insns = NULL;
		vec_clear(&u->funcs);
		(void)unlink(buf_str(&types));
	}
	return open_and_load(u, stacks, u->raw ? buf_str(&all) : NULL);
}

static int load(struct unwinder *u, int stacks, struct err *e)
{
	LIBBPF_OPTS(libbpf_prog_handler_opts, opts, .cookie = (long)u,
		    .prog_prepare_load_fn = take_code);
	libbpf_print_fn_t print = libbpf_set_print(bpf_log);
	int handler, rc;

	keep_one_handler();
	handler = libbpf_register_prog_handler("lang/ustack", BPF_PROG_TYPE_KPROBE, 0, &opts);
	rc = handler < 0 ? handler : load_by_types(u, stacks);
	if (handler >= 0)
		libbpf_unregister_prog_handler(handler);
	libbpf_set_print(print);
	return rc < 0 ? err_sys(e, -rc, "cannot load the unwinder of user stacks") : 0;
}

static int on_need(void *ctx, void *data, size_t n)
{
	struct unwinder *u = ctx;

	if (n >= sizeof(struct unwind_need) && *(const u32 *)data == UNWIND_RECORD_NEED)
		unwind_feed_need(u->feed, data, NULL);
	/* tables take their time, and one that is missing asks again: others have their turn */
	u->turn += n;
	return u->turn >= RING_BYTES || stop_requested() ? -ECANCELED : 0;
}

int unwinder_new(int stacks, struct unwinder **ret, struct err *e)
{
	struct unwinder *u = xcalloc(1, sizeof(*u));
	int rc = load(u, stacks, e);

	if (rc == 0) {
		const struct unwind_feed_maps maps = {
			.bins = bpf_map__fd(u->skel->maps.unwind_bins),
			.rules = bpf_map__fd(u->skel->maps.unwind_rules),
			.pool = bpf_map__fd(u->skel->maps.unwind_pool),
			.epoch = &u->skel->bss->unwind_epoch,
		};

		rc = unwind_feed_new(&u->feed, &maps, e);
	}
	if (rc == 0) {
		u->ring =
			ring_buffer__new(bpf_map__fd(u->skel->maps.unwind_ring), on_need, u, NULL);
		if (!u->ring)
			rc = err_sys(e, errno, "cannot map the ring of the unwinder");
	}
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
	lang_unwind_bpf__destroy(u->skel);
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
	struct unwind_map map = { .exec = true, .path = path };
	struct stat st;

	if (stat(path, &st))
		return;
	map.ino = st.st_ino;
	map.dev = major(st.st_dev) << 20 | minor(st.st_dev);
	unwind_feed_map(u->feed, &map, 0, NULL);
}

void unwinder_mapped(struct unwinder *u, const struct module_key *key)
{
	struct unwind_map map = { .start = key->map_start,
				  .end = key->map_end,
				  .ino = key->ino,
				  .dev = key->maj << 20 | key->min,
				  .exec = true,
				  .path = key->path };

	if (key->ino)
		unwind_feed_map(u->feed, &map, key->pid, NULL);
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

void unwinder_ends(const struct unwinder *u, u64 ret[UNWIND_END_COUNT])
{
	struct unwind_counts counts;

	unwind_counters_read(bpf_map__fd(u->skel->maps.unwind_counters), &counts);
	memcpy(ret, counts.n, UNWIND_END_COUNT * sizeof(*ret));
}
