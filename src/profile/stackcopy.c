/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/stackcopy.h"

#include <sys/auxv.h>

#include "base/hash.h"
#include "unwind/cfi.h"

enum { VDSO_SIZE = 0x2000, CODE_RULES_MOST = 1 << 20 };

void stackcopy_release(struct stackcopy *s)
{
	unwind_files_release(&s->files);
	map_release(&s->tables);
	vec_release(&s->maps);
	arena_release(&s->paths);
	map_release(&s->code_ids);
	vec_release(&s->code_rules);
}

struct walk {
	struct stackcopy *s;
	const struct machine *m;
	const struct process *p;
	struct unwind_copy copy;
};

static int walk_read(void *ctx, u64 address, void *to, size_t n)
{
	const struct walk *w = ctx;

	return unwind_copy_read(&w->copy, address, to, n);
}

/* The vDSO is in no file; ours is that of the recorded machine if the kernel is. */
static struct mapping file_of(struct stackcopy *s, const char *path)
{
	struct mapping map = { .exec = true, .path = arena_strdup(&s->paths, path) };

	if (streq(path, "[vdso]")) {
		map.start = getauxval(AT_SYSINFO_EHDR);
		map.end = map.start + VDSO_SIZE;
	}
	return map;
}

/* Tables are found by path: the recorded process may be long gone. */
static const struct unwind_file *table_of(const struct walk *w, const struct mapping *mapping)
{
	struct stackcopy *s = w->s;
	u64 *known = map_at(&s->tables, mapping->id);

	if (!*known) {
		vec_push(&s->maps, file_of(s, mapping->path));
		*known = s->maps.len;
	}
	return unwind_files_get(&s->files, &s->maps.items[*known - 1], getpid());
}

/* What the jitdump of the process says about this address. */
static bool dumped_rule(const struct walk *w, u64 pc, struct unwind_rule *ret)
{
	_cleanup_buf_ struct buf bytes = BUF_INIT;
	struct symbols *symbols = w->m->symbols;
	struct jit_unwind about;
	struct symbol sym;

	/* the dump is read when a name is requested */
	if (!symbols_jit(symbols, w->p->pid, 0, NULL, pc, w->p->last_time, &sym) ||
	    symbols_jit_unwind(symbols, w->p->pid, pc, w->p->last_time, &about, &bytes) ||
	    about.eh_frame_size > bytes.len)
		return false;
	const struct cfi_section section = { .data = (const u8 *)buf_str(&bytes),
					     .size = about.eh_frame_size,
					     .vaddr = about.eh_frame_address };

	return cfi_rule_at(&section, pc, ret);
}

/* NULL: none, follow the frame pointer. Valid until the next call. */
static const struct unwind_rule *code_rule(const struct walk *w, u64 pc)
{
	struct stackcopy *s = w->s;
	u64 *id;

	if (s->code_rules.len == CODE_RULES_MOST) {
		vec_clear(&s->code_rules);
		map_clear(&s->code_ids);
	}
	id = map_at(&s->code_ids, hash_mix((u64)w->p->pid, pc));
	if (!*id) {
		struct unwind_rule r = { .cfa = UNWIND_CFA_END };

		dumped_rule(w, pc, &r);
		vec_push(&s->code_rules, r);
		*id = s->code_rules.len;
	}
	const struct unwind_rule *r = &s->code_rules.items[*id - 1];

	return r->cfa == UNWIND_CFA_END ? NULL : r;
}

static int walk_find(void *ctx, u64 pc, const struct unwind_rule **ret)
{
	const struct walk *w = ctx;
	const struct mapping *mapping = machine_mapping(w->p, pc);
	const struct unwind_file *file;

	if (!mapping || !mapping->exec)
		return -ENOENT;
	*ret = NULL;
	if (!mapping->id) {
		*ret = code_rule(w, pc);
		return 0;
	}
	file = table_of(w, mapping);
	if (file->unreadable)
		return -EAGAIN;
	*ret = unwind_table_rule(file->table, pc - mapping->start + mapping->offset);
	return 0;
}

size_t stackcopy_unwind(struct stackcopy *s, const struct machine *m, const struct process *p,
			const struct sample *sample, u64 *ret, size_t max)
{
	const struct sample_regs *regs = &sample->regs_user;
	struct walk w = {
		.s = s,
		.m = m,
		.p = p,
		.copy = { .bytes = sample->stack,
			  .size = MIN(sample->stack_dyn, sample->stack_size) },
	};
	struct unwind_source source = { .ctx = &w, .read = walk_read, .find = walk_find };
	struct unwind_frames frames = { .ip = ret, .max = max };

	if (regs->abi == PERF_SAMPLE_REGS_ABI_NONE || !sample->stack || !sample->stack_size ||
	    !unwind_regs_from_perf(source.regs, regs->values, regs->nr, regs->mask))
		return 0;
	w.copy.start = source.regs[UNWIND_REG_SP];
	unwind_user(&source, &frames);
	s->ends[frames.end]++;
	for (size_t i = 1; i < frames.n; i++)
		ret[i]--;
	return frames.n;
}
