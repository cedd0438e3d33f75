/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The unwinder as a function that programs of the tracing language call. It is never attached
 * itself: its instructions are put behind those of the program (lang/unwinder.c).
 */
#define UNWIND_PYTHON_FRAMES 0
#include "bpf/unwind.bpf.h"

#include "bpf/lang_abi.h"

/* Bytes of the user stack of the current task that were written to @out; negative: none. */
SEC("lang/ustack")
int lang_ustack(u64 *out, u64 max)
{
	struct unwind_slot *slot = unwind_slot_take();
	u32 n = 0;

	if (!slot)
		return -16; /* EBUSY */
	slot->first = 0;
	if (max > LANG_STACK_FRAMES)
		max = LANG_STACK_FRAMES;
	if (unwind_from_task(slot)) {
		slot->pid = unwind_task_id() >> 32;
		slot->gen = unwind_generation(slot);
		n = unwind_run(slot, max, 0);
		unwind_count(slot->s.end < UNWIND_END_COUNT ? slot->s.end : 0, 1);
		if (n > LANG_STACK_FRAMES)
			n = LANG_STACK_FRAMES;
		bpf_probe_read_kernel(out, n * sizeof(*out), slot->out.ip);
	}
	unwind_slot_give(slot);
	return n * sizeof(*out);
}

char LICENSE[] SEC("license") = "GPL";
