/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runtime/goframe.h"

enum { DEPTH_MOST = 1 << 30 };

/* Beginnings of names: "runtime.mstart.abi0", "runtime.morestack_noctxt". */
static const char *const roots[] = {
	"runtime.goexit", "runtime.mcall", "runtime.mstart", "runtime.rt0_go", "_rt0_",
};
/* Functions in assembler that set the stack pointer. */
static const char *const changers[] = {
	"runtime.asancall",    "runtime.asmcgocall",
	"runtime.cgocallback", "runtime.clone",
	"runtime.gogo",        "runtime.gosave_systemstack_switch",
	"runtime.morestack",   "runtime.msancall",
	"runtime.nanotime1",   "runtime.racecall",
	"runtime.sigreturn",   "runtime.sigtramp",
	"runtime.systemstack", "runtime.vgetrandom1",
	"runtime.walltime",    "time.now",
};

static bool begins_with_any(const char *name, size_t n, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t len = strlen(list[i]);

		if (n >= len && !memcmp(name, list[i], len))
			return true;
	}
	return false;
}

/* The saved frame pointer is below the return address, if there is room for it. */
static struct unwind_rule rule_for(s64 depth)
{
	struct unwind_rule r = { .cfa = UNWIND_CFA_SP, .bx_off = UNWIND_BX_LOST };

	if (depth < 0 || depth > DEPTH_MOST)
		return (struct unwind_rule){ .cfa = UNWIND_CFA_END };
	r.cfa_off = (s32)depth + 8;
	if (depth >= 8) {
		r.bp = UNWIND_BP_CFA;
		r.bp_off = -16;
	}
	return r;
}

void go_frame_rules(const struct gotab *t, const struct gotab_function *f, go_emit_fn *emit,
		    void *ctx)
{
	static const struct unwind_rule root = { .cfa = UNWIND_CFA_STOP },
					far = { .cfa = UNWIND_CFA_FAR_FP },
					none = { .cfa = UNWIND_CFA_END };
	struct gotab_depth d;
	const char *name = "";
	size_t n = gotab_name(t, f, &name);
	u64 start;
	s64 depth;

	if (begins_with_any(name, n, roots, ARRAY_SIZE(roots))) {
		emit(ctx, f->start, &root);
		return;
	}
	if (begins_with_any(name, n, changers, ARRAY_SIZE(changers))) {
		emit(ctx, f->start, &far);
		return;
	}
	emit(ctx, f->start, &none);
	gotab_depth_begin(&d, t, f);
	while (gotab_depth_next(&d, &start, &depth)) {
		const struct unwind_rule r = rule_for(depth);

		emit(ctx, start, &r);
	}
}
