/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A terminal that shows a grid: terminfo, the keyboard, the mouse and the size come from ncurses;
 * what is drawn is the difference to what is there. The terminal is given back on every way out,
 * a crash included.
 */
#ifndef TUI_DRIVER_H
#define TUI_DRIVER_H

#include "base/err.h"
#include "tui/grid.h"
#include "tui/key.h"

struct driver;

/* -ENOTTY: no terminal, -ENOTSUP: one that cannot place its cursor, or built without ncurses. */
int driver_open(struct driver **ret, struct err *e);
/* Gives the terminal back as it was. */
void driver_close(struct driver *d);
void driver_size(const struct driver *d, int *ret_width, int *ret_height);
/* Has the terminal colours, and may they be used? */
bool driver_has_color(const struct driver *d);
/* Shows @g; only cells that changed since the last call are written. */
void driver_show(struct driver *d, const struct grid *g);
/* All is written again, as after a program that drew over us. */
void driver_redraw(struct driver *d);
/* For poll(): readable when there is input. */
int driver_fd(const struct driver *d);
/* The next input that is there; false: none. Never waits. */
bool driver_input(struct driver *d, struct input *ret);

#endif
