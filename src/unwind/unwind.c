/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unwind/unwind.h"

#include <linux/perf_event.h>
#include <asm/perf_regs.h>
#include <sys/user.h>

#define UNWIND_MEM                           const struct unwind_source
#define UNWIND_INLINE                        static inline
#define UNWIND_CALLED                        static
#define UNWIND_READ(mem, to, bytes, address) ((mem)->read((mem)->ctx, (address), (to), (bytes)))
#include "bpf/unwind_step.h"

static int step(const struct unwind_source *source, struct unwind_state *s)
{
	const struct unwind_rule *rule = NULL;
	int rc = source->find(source->ctx, s->reg[UNWIND_REG_IP] - s->returned, &rule);

	if (rc)
		return unwind_stop(s, rc == -EAGAIN ? UNWIND_END_NO_TABLE : UNWIND_END_NO_MAP);
	if (!rule)
		return unwind_fp_step(s, source);
	return unwind_apply(s, rule, source);
}

void unwind_user_from(const struct unwind_source *source, const struct unwind_resume *from,
		      struct unwind_frames *f)
{
	struct unwind_state s;

	memcpy(s.reg, source->regs, sizeof(s.reg));
	unwind_begin(&s);
	s.returned = from->returned;
	s.full = from->full;
	s.bx_lost = from->bx_lost;
	s.fp_steps = from->fp_steps;
	while (f->n < f->max) {
		u64 ip = s.reg[UNWIND_REG_IP], sp = s.reg[UNWIND_REG_SP];
		s.method = 0;
		int end = step(source, &s);

		if (source->before)
			f->n += source->before(source->ctx, sp, s.reg[UNWIND_REG_SP], f->ip + f->n,
					       f->max - f->n);
		if (f->n < f->max)
			f->ip[f->n++] = s.method ? unwind_method_word(s.method) : ip;
		if (end)
			break;
	}
	f->end = s.end ? s.end : UNWIND_END_DEPTH;
	f->fp_steps = s.fp_steps;
}

void unwind_user(const struct unwind_source *source, struct unwind_frames *f)
{
	const struct unwind_resume first = { .full = true };

	f->n = 0;
	unwind_user_from(source, &first, f);
}

bool unwind_regs_from_perf(u64 regs[UNWIND_REGS], const u64 *values, size_t n, u64 mask)
{
	static const u8 order[] = {
		[PERF_REG_X86_AX] = UNWIND_REG_AX + 1,   [PERF_REG_X86_BX] = UNWIND_REG_BX + 1,
		[PERF_REG_X86_CX] = UNWIND_REG_CX + 1,   [PERF_REG_X86_DX] = UNWIND_REG_DX + 1,
		[PERF_REG_X86_SI] = UNWIND_REG_SI + 1,   [PERF_REG_X86_DI] = UNWIND_REG_DI + 1,
		[PERF_REG_X86_BP] = UNWIND_REG_BP + 1,   [PERF_REG_X86_SP] = UNWIND_REG_SP + 1,
		[PERF_REG_X86_IP] = UNWIND_REG_IP + 1,   [PERF_REG_X86_R8] = UNWIND_REG_R8 + 1,
		[PERF_REG_X86_R9] = UNWIND_REG_R9 + 1,   [PERF_REG_X86_R10] = UNWIND_REG_R10 + 1,
		[PERF_REG_X86_R11] = UNWIND_REG_R11 + 1, [PERF_REG_X86_R12] = UNWIND_REG_R12 + 1,
		[PERF_REG_X86_R13] = UNWIND_REG_R13 + 1, [PERF_REG_X86_R14] = UNWIND_REG_R14 + 1,
		[PERF_REG_X86_R15] = UNWIND_REG_R15 + 1,
	};
	const u64 needed = 1ull << PERF_REG_X86_SP | 1ull << PERF_REG_X86_IP;
	size_t at = 0;

	if ((mask & needed) != needed)
		return false;
	memset(regs, 0, UNWIND_REGS * sizeof(*regs));
	for (unsigned int bit = 0; bit < 64; bit++) {
		if (!(mask >> bit & 1))
			continue;
		if (at == n)
			return bit > PERF_REG_X86_IP;
		if (bit < ARRAY_SIZE(order) && order[bit])
			regs[order[bit] - 1] = values[at];
		at++;
	}
	return true;
}

void unwind_regs_from_user(u64 regs[UNWIND_REGS], const struct user_regs_struct *u)
{
	const u64 values[UNWIND_REGS] = {
		[UNWIND_REG_R8] = u->r8,   [UNWIND_REG_R9] = u->r9,   [UNWIND_REG_R10] = u->r10,
		[UNWIND_REG_R11] = u->r11, [UNWIND_REG_R12] = u->r12, [UNWIND_REG_R13] = u->r13,
		[UNWIND_REG_R14] = u->r14, [UNWIND_REG_R15] = u->r15, [UNWIND_REG_DI] = u->rdi,
		[UNWIND_REG_SI] = u->rsi,  [UNWIND_REG_BP] = u->rbp,  [UNWIND_REG_BX] = u->rbx,
		[UNWIND_REG_DX] = u->rdx,  [UNWIND_REG_AX] = u->rax,  [UNWIND_REG_CX] = u->rcx,
		[UNWIND_REG_SP] = u->rsp,  [UNWIND_REG_IP] = u->rip,
	};

	memcpy(regs, values, sizeof(values));
}

struct end_name {
	const char *key;
	const char *text;
};

static const struct end_name end_names[UNWIND_END_COUNT] = {
	[UNWIND_END_NONE] = { "none", "no user stack was requested" },
	[UNWIND_END_ROOT] = { "root", "complete" },
	[UNWIND_END_NO_MAP] = { "no_map", "an address outside any executable mapping" },
	[UNWIND_END_NO_TABLE] = { "no_table", "a file whose unwind table was not ready yet" },
	[UNWIND_END_READ] = { "read", "stack memory could not be read" },
	[UNWIND_END_BAD_SP] = { "bad_sp", "the stack pointer went backwards" },
	[UNWIND_END_BAD_FP] = { "bad_fp", "code without frame information or frame pointer" },
	[UNWIND_END_UNSUP] = { "unsupported", "a frame rule that is not supported" },
	[UNWIND_END_REG] = { "register", "a frame rule needs a register that is not known" },
	[UNWIND_END_ZERO] = { "zero", "the return address was 0" },
	[UNWIND_END_DEPTH] = { "depth", "more frames than are kept" },
	[UNWIND_END_NO_REGS] = { "no_regs", "no user registers" },
	[UNWIND_END_NO_SLOT] = { "no_slot", "too many unwinds at once on one CPU" },
	[UNWIND_END_MISSED] = { "missed", "the process began while the unwinder was attached" },
	[UNWIND_END_EXEC] = { "exec", "the program is just being replaced or ending" },
};

static const struct end_name *end_name(enum unwind_end end)
{
	static const struct end_name unknown = { "unknown", "unknown" };

	return (unsigned int)end < UNWIND_END_COUNT ? &end_names[end] : &unknown;
}

const char *unwind_end_text(enum unwind_end end)
{
	return end_name(end)->text;
}

const char *unwind_end_key(enum unwind_end end)
{
	return end_name(end)->key;
}
