/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "syscalls/stacks.h"

#include "base/folded.h"
#include "base/stop.h"
#include "elf/find.h"
#include "host/bpf_sys.h"
#include "symbol/procmaps.h"
#include "syscalls_stack.skel.h"
#include "unwind/checks.h"
#include "unwind/loader.h"
#include "unwind/numbered.h"

enum { RING_BYTES = 1 << 18 };

struct call_stacks {
	struct syscalls_stack_bpf *skel;
	int pending;
	struct unwind_feed *feed;
	struct ring_buffer *ring;
	struct symbols *symbols;
	struct procmaps *maps;
	u64 turn; /* bytes that this call_stacks_serve() took */
	u64 refused;
};

static int syscalls_stack_create(void *skel)
{
	return syscalls_stack_bpf__create_skeleton(skel);
}

static int prepare(void *ctx, bool again UNUSED, struct err *e)
{
	struct call_stacks *s = ctx;
	int r;

	loader_set_pidns(s->skel->rodata);
	unwind_checks_set(s->skel->rodata, false);
	bpf_map__set_max_entries(s->skel->maps.unwind_ring, RING_BYTES);
	r = bpf_map__reuse_fd(s->skel->maps.syscalls_pending, s->pending);
	return r ? err_sys(e, r, "cannot share the calls of threads") : 0;
}

static int on_need(void *ctx, void *data, size_t n)
{
	struct call_stacks *s = ctx;

	if (n >= sizeof(struct unwind_need) && *(const u32 *)data == UNWIND_RECORD_NEED)
		unwind_feed_need(s->feed, data, NULL);
	s->turn += n;
	return s->turn >= RING_BYTES || stop_requested() ? -ECANCELED : 0;
}

static void on_mapped(void *ctx, const struct module_key *key)
{
	const struct call_stacks *s = ctx;

	unwind_feed_module(s->feed, key);
}

static int load(struct call_stacks *s, struct err *e)
{
	/* the programs that it works with need the kernel's types, too: there is no other form */
	const struct loader l = { .what = "stacks of system calls",
				  .size = sizeof(struct syscalls_stack_bpf),
				  .create = syscalls_stack_create,
				  .typed = syscalls_stack_bpf__elf_bytes,
				  .raw = syscalls_stack_bpf__elf_bytes,
				  .few_types = true,
				  .prepare = prepare,
				  .ctx = s };
	bool raw;
	int r = loader_load(&l, &raw, &s->skel, e);

	if (!r)
		r = loader_feed(s->skel,
				&(struct loader_feed){ .epoch = &s->skel->bss->unwind_epoch },
				&s->feed, e);
	return r ? r : loader_ring(s->skel, on_need, s, &s->ring, e);
}

int call_stacks_new(struct call_stacks **ret, int pending, struct err *e)
{
	struct call_stacks *s = xcalloc(1, sizeof(*s));
	int r;

	s->pending = pending;
	r = load(s, e);
	if (r < 0) {
		call_stacks_free(s);
		return r;
	}
	s->symbols = symbols_new(NULL);
	s->maps = procmaps_new(s->symbols);
	procmaps_watch(s->maps, &(struct procmaps_listener){ on_mapped, s });
	*ret = s;
	return 0;
}

void call_stacks_free(struct call_stacks *s)
{
	if (!s)
		return;
	procmaps_free(s->maps);
	symbols_free(s->symbols);
	ring_buffer__free(s->ring);
	unwind_feed_free(s->feed);
	if (s->skel)
		unwind_checks_log(bpf_map__fd(s->skel->maps.unwind_counters));
	loader_free(s->skel);
	free(s);
}

int call_stacks_attach(struct call_stacks *s, struct err *e)
{
	if (!s)
		return 0;
	s->skel->links.syscalls_stack = bpf_program__attach(s->skel->progs.syscalls_stack);
	return s->skel->links.syscalls_stack
		       ? 0
		       : err_sys(e, errno, "cannot attach to the stacks of system calls");
}

void call_stacks_detach(struct call_stacks *s)
{
	if (!s)
		return;
	bpf_link__destroy(s->skel->links.syscalls_stack);
	s->skel->links.syscalls_stack = NULL;
}

/* --- tables ----------------------------------------------------------------------------------- */

void call_stacks_program(struct call_stacks *s, const char *path)
{
	struct arena arena = { 0 };
	elf_paths files = { 0 };

	if (!s)
		return;
	elf_find_needed(path, &arena, &files);
	vec_each(file, &files)
		unwind_feed_file(s->feed, *file);
	vec_release(&files);
	arena_release(&arena);
}

void call_stacks_process(struct call_stacks *s, u32 pid)
{
	if (s && pid)
		unwind_feed_process(s->feed, (int)pid);
	else if (s)
		unwind_feed_running(s->feed, true);
}

void call_stacks_fds(const struct call_stacks *s, int ret[CALL_STACKS_FDS])
{
	ret[0] = s ? ring_buffer__epoll_fd(s->ring) : -1;
	ret[1] = s ? procmaps_fd(s->maps) : -1;
}

void call_stacks_serve(struct call_stacks *s)
{
	if (!s)
		return;
	procmaps_drain(s->maps);
	s->turn = 0;
	ring_buffer__consume(s->ring);
}

/* --- stacks ----------------------------------------------------------------------------------- */

size_t call_stacks_get(struct call_stacks *s, u64 id, u64 frames[LANG_STACK_FRAMES])
{
	struct lang_stack stack;
	size_t n;

	if (!s || !id)
		return 0;
	if ((s64)id < 0 ||
	    bpfsys_map_lookup(bpf_map__fd(s->skel->maps.lang_ustacks), &id, &stack) < 0) {
		s->refused++;
		return 0;
	}
	n = MIN(stack.bytes / sizeof(u64), (u64)LANG_STACK_FRAMES);
	memcpy(frames, stack.ip, n * sizeof(*frames));
	return n;
}

/* A place in a file that the unwinder knows. */
static bool find_place(struct call_stacks *s, u64 place, u32 *ret_module, u64 *ret_offset)
{
	const struct numbered_file *f =
		numbered_place(unwind_feed_numbered(s->feed), place, ret_offset);
	struct module_key key;

	if (!f)
		return false;
	key = numbered_key(f);
	*ret_module = symbols_module(s->symbols, &key);
	return true;
}

static bool find_code(struct call_stacks *s, u32 pid, u64 word, u32 *ret_module, u64 *ret_offset)
{
	return unwind_is_place(word) ? find_place(s, word, ret_module, ret_offset)
				     : procmaps_find(s->maps, pid, word, ret_module, ret_offset);
}

/* Without a name, the place: "libx.so+0x1234", or the address. */
static void add_name(struct call_stacks *s, u32 pid, u64 address, u32 back, bool whole,
		     struct buf *out)
{
	struct symbol sym;
	u32 module;
	u64 at;

	if (!find_code(s, pid, address - back, &module, &at)) {
		if (symbols_jit(s->symbols, (pid_t)pid, 0, NULL, address - back, 0, &sym))
			buf_addstr(out, sym.name);
		else
			buf_addf(out, "0x%llx", (unsigned long long)address);
		return;
	}
	if (!symbols_lookup(s->symbols, module, at, &sym) || sym.flags & SYM_FDE) {
		buf_addf(out, "%s+0x%llx", symbols_module_name(s->symbols, module),
			 (unsigned long long)at + back);
		return;
	}
	buf_addstr(out, sym.name);
	if (whole)
		buf_addf(out, "+0x%llx (%s)", (unsigned long long)(at + back - sym.start),
			 symbols_module_name(s->symbols, module));
}

void call_stacks_frame(struct call_stacks *s, u32 pid, u64 address, u32 back, struct buf *out)
{
	add_name(s, pid, address, back, true, out);
}

void call_stacks_folded(struct call_stacks *s, u32 pid, u64 id, struct buf *out)
{
	u64 frames[LANG_STACK_FRAMES];
	size_t n = call_stacks_get(s, id, frames), line = out->len, from;

	for (size_t i = n; i-- > 0;) {
		folded_next(out, line);
		from = out->len;
		add_name(s, pid, frames[i], i > 0, false, out);
		folded_clean(out, from);
	}
}

void call_stacks_ends(const struct call_stacks *s, struct call_stacks_ends *ret)
{
	static const enum unwind_end cut[] = { UNWIND_END_NO_MAP, UNWIND_END_READ,
					       UNWIND_END_BAD_SP, UNWIND_END_BAD_FP,
					       UNWIND_END_UNSUP,  UNWIND_END_REG,
					       UNWIND_END_ZERO };
	struct unwind_counts counts;

	*ret = (struct call_stacks_ends){ 0 };
	if (!s)
		return;
	unwind_counters_read(bpf_map__fd(s->skel->maps.unwind_counters), &counts);
	ret->complete = counts.n[UNWIND_END_ROOT];
	ret->no_table = counts.n[UNWIND_END_NO_TABLE];
	ret->refused = s->refused;
	for (size_t i = 0; i < ARRAY_SIZE(cut); i++)
		ret->cut += counts.n[cut[i]];
}
