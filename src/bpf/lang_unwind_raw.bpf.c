/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lang_unwind.bpf.c for kernels that do not describe their types. */
#define BPF_RAW
#include "bpf/lang_unwind.bpf.c"
