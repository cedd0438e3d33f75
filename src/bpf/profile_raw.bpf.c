/* SPDX-License-Identifier: GPL-2.0-or-later */
/* profile.bpf.c for kernels that do not describe their types. */
#define BPF_RAW
#include "bpf/profile.bpf.c"
