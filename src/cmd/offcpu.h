/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What offcpu, wakeup, offwake and chain share. */
#ifndef CMD_OFFCPU_H
#define CMD_OFFCPU_H

#include "analysis/waits.h"
#include "cli/wait_args.h"
#include "cli/waiting.h"

/* Looks (live, or at a recording) and shows what that view shows. */
int wait_command(struct context *ctx, struct wait_args *a, enum wait_view view);

#endif
