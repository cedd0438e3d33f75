/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who makes a system call: notes the user stack of the call that syscalls_enter() has begun, and
 * that alone. Attached after it; the time that the walk takes is not the call's.
 */
#include "bpf/lang_ustack.bpf.h"
#include "bpf/syscalls_pending.bpf.h"
#include <bpf/bpf_tracing.h>

SEC("tp_btf/sys_enter")
int BPF_PROG(syscalls_stack, struct pt_regs *regs, long id)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pending *p = bpf_task_storage_get(&syscalls_pending, task, 0, 0);

	if (!p || !p->begin || p->nr != (u32)id)
		return 0;
	p->stack = lang_take_ustack(LANG_STACK_FRAMES | LANG_PLACES);
	p->begin = bpf_ktime_get_ns();
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
