/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libbpf's messages are shown with -vv only. */
#ifndef HOST_BPF_LOG_H
#define HOST_BPF_LOG_H

#include "base/base.h"

#include <bpf/libbpf.h>

/* For libbpf_set_print(), around calls whose failure fathom reports itself. */
int bpf_log(enum libbpf_print_level level, const char *fmt, va_list ap) PRINTF_LIKE(2, 0);

#endif
