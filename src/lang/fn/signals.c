/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lang/fn/signals.h"

#include "base/base.h"

#include <strings.h>

static const char *const names[] = {
	NULL,        "SIGHUP",  "SIGINT",    "SIGQUIT", "SIGILL",   "SIGTRAP", "SIGABRT", "SIGBUS",
	"SIGFPE",    "SIGKILL", "SIGUSR1",   "SIGSEGV", "SIGUSR2",  "SIGPIPE", "SIGALRM", "SIGTERM",
	"SIGSTKFLT", "SIGCHLD", "SIGCONT",   "SIGSTOP", "SIGTSTP",  "SIGTTIN", "SIGTTOU", "SIGURG",
	"SIGXCPU",   "SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGWINCH", "SIGIO",   "SIGPWR",  "SIGSYS",
};

int signal_number(const char *name)
{
	for (size_t i = 1; i < ARRAY_SIZE(names); i++) {
		if (strcasecmp(names[i], name) == 0 || strcasecmp(names[i] + 3, name) == 0)
			return (int)i;
	}
	return -1;
}

const char *signal_name_of(int number)
{
	/* cppcheck-suppress arrayIndexOutOfBoundsCond ; the bound is checked next */
	return number > 0 && (size_t)number < ARRAY_SIZE(names) ? names[number] : NULL;
}
