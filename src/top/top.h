/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fathom top: one screen over the engines. Collectors make frames (top/frame.h) in threads of their
 * own; the main thread takes keys and draws the newest frames, and waits for neither.
 *
 * Screens are tabs, one file each: screen_NAME.c. Enter on a row narrows every screen to it (a
 * scope), Esc goes back.
 */
#ifndef TOP_TOP_H
#define TOP_TOP_H

#include "base/err.h"
#include "result/result.h"
#include "top/columns.h"
#include "top/filter.h"
#include "top/live.h"
#include "top/machine.h"
#include "top/pane_draw.h"
#include "top/recorded.h"
#include "top/topology_source.h"
#include "tui/driver.h"
#include "tui/edit.h"
#include "tui/popup.h"
#include "tui/table.h"

enum {
	SCOPES_MOST = 16,
	COLUMNS_MOST = 64,
	HISTORY = 600,
	TOP_FDS = 5,
	TABS_MOST = 16,
	KEYS_MOST = 64,
	GROUPS_MOST = 16
};

struct top_opts {
	u64 interval;
	u64 duration; /* 0: until it is left */
	double budget;
	u64 keep_ns;
	const char *input, *record;
	const char *screen;  /* first; NULL: processes */
	const char *sort;    /* key of a column */
	const char *columns; /* "pid,user,cpu"; NULL: the usual ones */
	const char *column;  /* the user's own: "iosize: io / vcsw"; NULL: none */
	const char *filter;
	const char *theme;
	const char *settings; /* file; NULL: the user's */
	u64 frequency;
	u32 pid; /* narrowed to it from the start; 0: not */
	bool threads, tree, ascii, readonly, no_color, no_settings;
};

/* What every screen is narrowed to. A later scope is inside the one before. */
struct scope {
	struct live_of of;
	char function[256]; /* "": all */
	char module[256];
	char label[128]; /* in the breadcrumb */
	int screen;      /* on which it was entered: Esc leads there */
	int cursor;
};

struct top;

enum {
	NEEDS_SAMPLES = 1 << 0,
	NEEDS_WAITS = 1 << 1,
	NEEDS_TOPOLOGY = 1 << 2,
	NEEDS_TOOLS = 1 << 3, /* the list of them */
};

struct screen {
	const char *key;
	const char *title;
	const char *brief; /* for narrow terminals */
	u32 needs;
	void (*draw)(struct top *t, struct rect r);
	/* False: not a key of this screen. */
	bool (*key_pressed)(struct top *t, const struct input *in);
	/* The tool that runs while the screen is shown; may be NULL, or write nothing. */
	void (*command)(const struct top *t, struct buf *out);
	/* What the figure under the cursor is; may be NULL. */
	void (*explain)(struct top *t, struct buf *out);
	/* Machines get this; may be NULL. */
	void (*result)(struct top *t, struct result *r);
};

const struct screen *const *top_screens(int *ret_n);
int top_screen_find(const char *key);

/* A line of the list of processes. */
struct task_line {
	u32 task; /* of the frame */
	u32 depth;
	u64 more; /* bit i: at depth i there are more siblings below */
	bool last;
	bool parent; /* has children, */
	bool closed; /* which are not shown */
};

struct tasks_state {
	VEC(struct task_line) lines;
	VEC(u32) first_child, next_sibling; /* by task, + 1 */
	struct list list;
	int columns[COLUMNS_MOST];
	int n_columns;
	int sort; /* column */
	bool ascending, tree, threads, no_kernel, follow, by_hand;
	struct map tagged, closed; /* tid -> 1 */
	struct filter filter;
	char filter_text[EDIT_MOST], search[EDIT_MOST], user[64];
	u32 cursor_tid; /* the line that the cursor is on stays under it when @follow */
	int shift;
	int column; /* for help: which one the cursor is in */
	struct rect place;
};

enum prompt {
	PROMPT_NONE,
	PROMPT_SEARCH,
	PROMPT_FILTER,
	PROMPT_AFFINITY,
	PROMPT_WRITE,
	PROMPT_SETTING,
	PROMPT_TOOL,
	PROMPT_FUNCTIONS,
};
enum popup_for {
	POPUP_TEXT,
	POPUP_SIGNAL,
	POPUP_USER,
	POPUP_SORT,
	POPUP_COLUMNS,
	POPUP_THEME,
	POPUP_THREAD,
	POPUP_METERS,
	POPUP_TABS,
	POPUP_KEYS,
	POPUP_POLICY,
	POPUP_IO_PRIORITY,
};

struct top {
	struct top_opts o;
	struct grid grid;
	struct machine_source *machine;
	struct live *live;
	struct recorded_samples *recorded; /* of opts.input, once they are requested */
	bool no_recorded;
	struct machine_frame *frame; /* never NULL while drawing */
	struct profile_frame *profile;
	struct profile_frame *hot, *cold; /* of which a flame graph of both is made */
	struct waits_frame *waits;
	struct scope scopes[SCOPES_MOST];
	int n_scopes;
	int screen;
	struct tasks_state tasks;
	struct list list; /* of the current screen, other than tasks */
	struct flame_state {
		char path[4096]; /* names from the root to the box, each followed by \n */
		char zoom[4096];
		char search[EDIT_MOST];
		bool inverted, cold, both;
		struct rect place;
		int first; /* row at the root's end */
	} flame;
	struct pane pane;                 /* of the screen's command */
	struct pane toolbox;              /* the list of tools, once it is requested */
	char tool[EDIT_MOST];             /* that runs on the screen of tools; "": the list */
	int tool_cursor;                  /* in that list */
	int tool_screen;                  /* whose command runs, */
	u32 tool_pace;                    /* with this interval, s */
	int form;                         /* enum pane_form */
	struct topology_source *topology; /* once it is requested */
	struct topo_load topology_load;
	int tabs[TABS_MOST]; /* screens in the order of their tabs */
	int n_tabs;
	struct {
		u32 from, to; /* pressing the one acts as the other */
	} remapped[KEYS_MOST];
	int n_remapped;
	/* groups of meters, separated by commas: on the overview, and above the processes */
	char overview_meters[128], short_meters[128];
	struct theme own_theme;           /* the chosen one with colours of the user */
	char colors[512];                 /* those: "bad:196 user:35" */
	char functions_filter[EDIT_MOST]; /* only functions and modules with this in their name */
	struct map opened;                /* functions whose paths are shown, */
	bool open_all;                    /* or (all) are not */
	bool code;                        /* the function's code fills the screen */
	struct popup popup;
	enum popup_for popup_for;
	struct edit edit;
	enum prompt prompt;
	char message[256];
	bool bad_message;
	bool paused, quit;
	bool has_bottom;      /* keys, a message or the time line below */
	u64 asked;            /* number of the last request */
	size_t at;            /* of the past, when paused */
	double busy[HISTORY]; /* percent of all CPUs, newest last */
	size_t n_busy;
	u64 draws, draw_ns;
};

int top_new(struct top **ret, const struct top_opts *o, struct err *e);
void top_free(struct top *t);
/* Until the user quits, or a stop is requested; the terminal is ours meanwhile. */
int top_run(struct top *t, struct err *e);

/* --- pieces, for screens, --once and tests ---------------------------------------------------- */

/* Takes what the collectors have; true: something is new. */
bool top_take(struct top *t);
/* Waits for the frames that the screen needs. */
int top_wait(struct top *t, struct err *e);
void top_draw(struct top *t);
void top_key(struct top *t, const struct input *in);
/* What the key does on the screen, whatever keys of the user's are remapped to. */
void top_press(struct top *t, const struct input *in);
void top_say(struct top *t, const char *fmt, ...) PRINTF_LIKE(2, 3);
void top_complain(struct top *t, const char *fmt, ...) PRINTF_LIKE(2, 3);
void top_go(struct top *t, int screen);
/* To the tab after this one, or before it (-1). */
void top_step_tab(struct top *t, int by);
/* Asks the collectors for what screen and scope need now. */
void top_ask(struct top *t);

static inline const struct scope *top_scope(const struct top *t)
{
	return &t->scopes[t->n_scopes];
}

/*
 * A scope inside the current one, for the caller to fill; then top_ask(). The current screen is
 * where Esc leads.
 */
struct scope *top_narrow(struct top *t, const char *fmt, ...) PRINTF_LIKE(2, 3);
bool top_widen(struct top *t);

/* How many times rarer all looks are than asked for, for the budget. */
static inline u32 top_pace(const struct top *t)
{
	return t->frame && t->frame->pace ? t->frame->pace : 1;
}

static inline struct top_context top_context(const struct top *t)
{
	return (struct top_context){ t->frame, t->waits ? &t->waits->shares : NULL, t->profile,
				     t->tasks.cursor_tid };
}

/* tasks.c: which lines there are, in which order. */
void tasks_arrange(struct top *t);
const struct top_task *tasks_at(const struct top *t, int line);
/* Of a closed line with all that is below it. */
double tasks_line_value(const struct top *t, const struct task_line *l, const struct top_column *c);
int tasks_set_columns(struct tasks_state *s, const char *list, struct err *e);

/* tasks_actions.c */
bool tasks_action(struct top *t, const struct input *in);
void tasks_chosen(struct top *t, int line);
void tasks_prompt_done(struct top *t);
void tasks_prompt_changed(struct top *t);

/* screen_functions.c: what was typed, and which thread was chosen. */
void functions_prompt_changed(struct top *t);
void functions_thread_chosen(struct top *t, int line);

/* screen_tools.c */
void tools_prompt_done(struct top *t);

/* take.c: what the collectors have, and what is requested of them. */
int top_poll_fds(const struct top *t, int fds[TOP_FDS]);

/* keys.c */
struct top_key {
	u32 key, also;
	const char *screen; /* NULL: everywhere */
	const char *bar; /* word in the line at the bottom, with + after the others; NULL: none */
	const char *help;
	void (*act)(struct top *t);
};
const struct top_key *top_keys(size_t *ret_n);
/* A line of the list of them was chosen. */
void keys_chosen(struct top *t, int line);

/* settings.c */
void settings_read(struct top *t);
void settings_write(struct top *t);
/* A line "name = value" of them that was typed. */
void settings_take(struct top *t, const char *line);
/* Columns of the user's own, separated by semicolons: defined, and shown. */
bool settings_own_columns(struct top *t, const char *value, struct err *e);
/* The theme by its name, with the colours of the user. */
void settings_theme(struct top *t, const struct theme *theme);
/* Does the list of groups have this one? */
bool meters_have(const char *list, const char *group);
void meters_choose(struct top *t);
void meters_chosen(struct top *t, int line);
void tabs_choose(struct top *t);
void tabs_chosen(struct top *t, int line);
/* write.c: what is on the screen as a file, by the end of its name. */
void top_write(struct top *t, const char *path);

#endif
