/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/bpf_log.h"

#include "base/buf.h"
#include "base/log.h"

int bpf_log(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (level != LIBBPF_WARN || log_get_level() < LOG_DEBUG)
		return 0;
	buf_vaddf(&text, fmt, ap);
	log_debug("%s", buf_str(&text));
	return 0;
}
