/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Diagnostics for people who asked for them (-v), on stderr. The engine may use log_debug(); what
 * a user must see travels as data (results, errors), not through here.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "base/base.h"

enum log_level { LOG_QUIET, LOG_NORMAL, LOG_VERBOSE, LOG_DEBUG };

void log_set_level(enum log_level level);
enum log_level log_get_level(void);
/* A line "fathom: text" when the level allows. */
void log_warn(const char *fmt, ...) PRINTF_LIKE(1, 2);
void log_info(const char *fmt, ...) PRINTF_LIKE(1, 2);  /* -v */
void log_debug(const char *fmt, ...) PRINTF_LIKE(1, 2); /* -vv */

#endif
