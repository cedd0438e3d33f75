/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/log.h"

#include <stdarg.h>

static enum log_level current_level = LOG_NORMAL;

void log_set_level(enum log_level level)
{
	current_level = level;
}

enum log_level log_get_level(void)
{
	return current_level;
}

PRINTF_LIKE(2, 0)
static void print(enum log_level least, const char *fmt, va_list ap)
{
	if (current_level < least)
		return;
	flockfile(stderr);
	fputs("fathom: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	funlockfile(stderr);
}

#define LOGGER(name, level)             \
	void name(const char *fmt, ...) \
	{                               \
		va_list ap;             \
                                        \
		va_start(ap, fmt);      \
		print(level, fmt, ap);  \
		va_end(ap);             \
	}

LOGGER(log_warn, LOG_NORMAL)
LOGGER(log_info, LOG_VERBOSE)
LOGGER(log_debug, LOG_DEBUG)
