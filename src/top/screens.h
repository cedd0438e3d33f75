/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tabs. */
#ifndef TOP_SCREENS_H
#define TOP_SCREENS_H

#include "top/top.h"

extern const struct screen screen_overview, screen_tasks, screen_functions, screen_flame,
	screen_waits, screen_disks, screen_network, screen_cgroups, screen_interrupts,
	screen_topology, screen_tools;

/* bars.c */
void tabs_draw(struct top *t, int y);
void keys_draw(struct top *t, int y);
void timeline_draw(struct top *t, int y);
/* The screen of the tab with this key; -1: not a key of a tab. */
int top_tab_of_key(const struct top *t, u32 key);
/* Was a bar clicked on? @ret_key: the key whose word it was, which is to be pressed; 0: none. */
bool bars_click(struct top *t, const struct input *in, struct input *ret_key);

/* Lines of meters that @width columns take; and drawing them. */
int meters_lines(const struct top *t, int width, int most);
void meters_draw(struct top *t, struct rect r);

/* Of other rows, or of another kind than what is requested now. */
void top_drop_profile(struct top *t);
/* False: there is no profile to draw, and that is said. */
bool profile_is_there(struct top *t, struct rect r);
/* Enter on a function, from any screen. */
void narrow_to_function(struct top *t, const char *name, const char *module);

/* tasks_proc.c: what /proc says of the process under the cursor, in a box. */
void tasks_show_environment(struct top *t);
void tasks_show_files(struct top *t);
void tasks_show_locks(struct top *t);
/* A tool with its options on the screen of tools. */
void tools_run(struct top *t, const char *words);

/* Every screen then shows this process alone; from any screen. */
void narrow_to_process(struct top *t, u32 pid, const char *name);

/* The table of counters with this name; how many lines it takes, at most @most. */
void sheet_draw(struct top *t, struct rect r, const char *name, struct list *list);
int sheet_lines(const struct top *t, const char *name, int most);
void sheet_explain(struct top *t, struct buf *out, const char *name);
void sheet_result(struct top *t, struct result *r, const char *name);
/* explain.c: what a counter is, its file, unit, formula, and what a high value suggests. */
bool explain_counter(struct buf *out, const char *name);
/* All counters that the formula names; returns how many. */
int explain_formula(struct buf *out, const char *formula);
/* Meters and the lines below them; of the groups that are above the processes, or all. */
void meters_explain(const struct top *t, struct buf *out, bool all);
/* What a tool said, for machines. */
void pane_result(const struct pane *p, struct result *r);

#endif
