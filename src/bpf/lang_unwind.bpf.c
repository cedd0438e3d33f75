/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The unwinder as a function that programs of the tracing language call. It is never attached
 * itself: its instructions are put after those of the program (lang/unwinder.c).
 */
#include "bpf/lang_ustack.bpf.h"

SEC("lang/ustack")
u64 lang_ustack(u64 max)
{
	return lang_take_ustack(max);
}

char LICENSE[] SEC("license") = "GPL";
