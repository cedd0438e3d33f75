/* SPDX-License-Identifier: GPL-2.0-or-later */
/* offcpu.bpf.c for kernels that do not describe their types. */
#define BPF_RAW
#include "bpf/offcpu.bpf.c"
