/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/program.h"

#include <signal.h>

#include "base/stop.h"

enum { STATUS_NOT_RUN = 126, STATUS_NOT_FOUND = 127 };

int program_prepare(struct launch *l, char *const *argv, struct err *e)
{
	int rc = launch_prepare(l, argv, e);

	return rc == -ENOENT ? STATUS_NOT_FOUND : rc == -EACCES ? STATUS_NOT_RUN : rc;
}

int program_end(struct launch *l)
{
	bool ours;
	int status;

	if (!l->pid || !l->running)
		return 0;
	ours = !launch_ended(l);
	if (ours)
		launch_signal(l, stop_signal() ? stop_signal() : SIGTERM);
	status = launch_wait(l);
	return ours && !stop_requested() ? 0 : status;
}
