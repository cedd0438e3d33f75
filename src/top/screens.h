/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tabs. */
#ifndef TOP_SCREENS_H
#define TOP_SCREENS_H

#include "top/top.h"

extern const struct screen screen_overview, screen_tasks, screen_functions, screen_flame,
	screen_waits, screen_disks, screen_network, screen_cgroups, screen_interrupts,
	screen_topology, screen_tools;

/* Lines of meters that @width columns take; and drawing them. */
int meters_lines(const struct top *t, int width, int most);
void meters_draw(struct top *t, struct rect r);

/* Waits cannot go back in time. */
#define WAITS_NOT_KEPT "waits are not kept: they cannot be rewound; p: go on"

/* False: there is no profile to draw, and that is said. */
bool profile_is_there(struct top *t, struct rect r);
/* Enter on a function, from any screen. */
void narrow_to_function(struct top *t, const char *name, const char *module);

/* Every screen then shows this process alone; from any screen. */
void narrow_to_process(struct top *t, u32 pid, const char *name);

/* The table of counters with this name; how many lines it takes, at most @most. */
void sheet_draw(struct top *t, struct rect r, const char *name, struct list *list);
int sheet_lines(const struct top *t, const char *name, int most);
void sheet_explain(struct top *t, struct buf *out, const char *name);
void sheet_result(struct top *t, struct result *r, const char *name);
/* What a tool said, for machines. */
void pane_result(const struct pane *p, struct result *r);

#endif
