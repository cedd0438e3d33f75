/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Signals by name. */
#ifndef LANG_SIGNALS_H
#define LANG_SIGNALS_H

/* "SIGKILL", "KILL", "kill" -> 9; -1 when there is none. */
int signal_number(const char *name);
/* "SIGKILL", or NULL. */
const char *signal_name_of(int number);

#endif
