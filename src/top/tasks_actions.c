/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What keys do to processes: tags, search, filters, signals, priorities. */
#include "top/screens.h"

#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "base/parse.h"

/* Signals in the order of the list; the first is chosen unless another one is. */
static const struct {
	int number;
	const char *name;
} signals[] = {
	{ SIGTERM, "TERM" }, { SIGINT, "INT" },   { SIGHUP, "HUP" },   { SIGKILL, "KILL" },
	{ SIGSTOP, "STOP" }, { SIGCONT, "CONT" }, { SIGQUIT, "QUIT" }, { SIGUSR1, "USR1" },
	{ SIGUSR2, "USR2" }, { SIGABRT, "ABRT" }, { SIGSEGV, "SEGV" }, { SIGALRM, "ALRM" },
};

/* --- tasks that are acted on ------------------------------------------------------------------ */

typedef int (*task_fn)(const struct top_task *task, const void *arg);

/* All that are tagged, or the one under the cursor; says how it went. */
static void act_on(struct top *t, const char *what, task_fn fn, const void *arg)
{
	int done = 0, failed = 0, why = 0;

	if (t->o.readonly || t->o.input) {
		top_complain(t,
			     t->o.input ? "this is a recording" : "--readonly: nothing is changed");
		return;
	}
	for (int i = 0; i < (int)t->tasks.lines.len; i++) {
		const struct top_task *task = tasks_at(t, i);
		bool on = t->tasks.tagged.len ? map_get(&t->tasks.tagged, task->row.tid, 0) != 0
					      : i == t->tasks.list.cursor;

		if (!on)
			continue;
		if (fn(task, arg) == 0)
			done++;
		else
			failed++, why = errno;
	}
	if (failed)
		top_complain(t, "%s: %d done, %d failed: %s", what, done, failed, err_words(why));
	else
		top_say(t, "%s: %d done", what, done);
}

static int send_signal(const struct top_task *task, const void *arg)
{
	return kill((pid_t)task->row.pid, *(const int *)arg);
}

static int add_nice(const struct top_task *task, const void *arg)
{
	int nice;

	/* as it is now: keys may come faster than frames */
	errno = 0;
	nice = getpriority(PRIO_PROCESS, task->row.tid);
	if (nice == -1 && errno)
		return -1;
	nice += *(const int *)arg;
	return setpriority(PRIO_PROCESS, task->row.tid, MIN(MAX(nice, -20), 19));
}

static int set_affinity(const struct top_task *task, const void *arg)
{
	return sched_setaffinity((pid_t)task->row.tid, sizeof(cpu_set_t), arg);
}

/* Policies with the priority that they take; of the kernel's numbers. */
static const struct {
	const char *name, *text;
	int policy, priority;
} policies[] = {
	{ "OTHER", "a fair share, by nice", SCHED_OTHER, 0 },
	{ "BATCH", "the same, for work in the background", SCHED_BATCH, 0 },
	{ "IDLE", "only when nothing else wants the CPU", SCHED_IDLE, 0 },
	{ "RR 1", "real time, in turns with its equals", SCHED_RR, 1 },
	{ "RR 50", "the same, ahead of RR 1", SCHED_RR, 50 },
	{ "FIFO 1", "real time, until it blocks", SCHED_FIFO, 1 },
	{ "FIFO 50", "the same, ahead of FIFO 1", SCHED_FIFO, 50 },
};

static int set_policy(const struct top_task *task, const void *arg)
{
	int i = *(const int *)arg;
	struct sched_param p = { .sched_priority = policies[i].priority };

	return sched_setscheduler((pid_t)task->row.tid, policies[i].policy, &p);
}

/* Classes of ioprio_set(2), 13 bits above the level in them. */
static const struct {
	const char *name;
	int value;
} io_priorities[] = {
	{ "by nice", 0 },
	{ "best effort 0, the first", 2 << 13 | 0 },
	{ "best effort 2", 2 << 13 | 2 },
	{ "best effort 4", 2 << 13 | 4 },
	{ "best effort 7, the last", 2 << 13 | 7 },
	{ "idle: when no other process wants the disk", 3 << 13 },
	{ "real time 0: before all others", 1 << 13 | 0 },
	{ "real time 7", 1 << 13 | 7 },
};

static int set_io_priority(const struct top_task *task, const void *arg)
{
	enum { OF_A_THREAD = 1 };

	return (int)syscall(SYS_ioprio_set, OF_A_THREAD, task->row.tid,
			    io_priorities[*(const int *)arg].value);
}

/* --- choices ---------------------------------------------------------------------------------- */

static void choose(struct top *t, enum popup_for what, const char *title, const struct buf *lines)
{
	popup_open(&t->popup, title, buf_str(lines), true);
	t->popup_for = what;
}

static void choose_signal(struct top *t)
{
	_cleanup_buf_ struct buf lines = BUF_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		buf_addf(&lines, "%2d SIG%s\n", signals[i].number, signals[i].name);
	choose(t, POPUP_SIGNAL, "Send signal", &lines);
}

static void choose_policy(struct top *t)
{
	_cleanup_buf_ struct buf lines = BUF_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(policies); i++)
		buf_addf(&lines, "%-8s %s\n", policies[i].name, policies[i].text);
	choose(t, POPUP_POLICY, "Policy of the scheduler", &lines);
}

static void choose_io_priority(struct top *t)
{
	_cleanup_buf_ struct buf lines = BUF_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(io_priorities); i++)
		buf_addf(&lines, "%s\n", io_priorities[i].name);
	choose(t, POPUP_IO_PRIORITY, "Priority at disks", &lines);
}

static void choose_user(struct top *t)
{
	_cleanup_buf_ struct buf lines = BUF_INIT;
	struct intern users = INTERN_INIT;

	buf_addstr(&lines, "all users\n");
	vec_each(task, &t->frame->tasks) {
		if (intern_find(&users, task->user, strlen(task->user)))
			continue;
		intern_str(&users, task->user);
		buf_addf(&lines, "%s\n", task->user);
	}
	intern_release(&users);
	choose(t, POPUP_USER, "Only the processes of", &lines);
}

static void choose_column(struct top *t, bool sort)
{
	_cleanup_buf_ struct buf lines = BUF_INIT;
	size_t n;
	const struct top_column *c = top_columns(&n);

	for (size_t i = 0; i < n; i++) {
		bool shown = false;

		for (int k = 0; k < t->tasks.n_columns; k++)
			shown |= t->tasks.columns[k] == (int)i;
		if (!sort)
			buf_addf(&lines, "[%c] ", shown ? 'x' : ' ');
		/* the first sentence */
		buf_addf(&lines, "%-9s %.*s\n", c[i].title, (int)strcspn(c[i].meaning, "."),
			 c[i].meaning);
	}
	popup_open_search(&t->popup, sort ? "Sort by" : "Columns (Enter: on, off)",
			  buf_str(&lines));
	t->popup_for = sort ? POPUP_SORT : POPUP_COLUMNS;
	if (sort)
		t->popup.list.cursor = t->tasks.sort;
}

/* The command stays last: it takes what is left of the line. */
static void toggle_column(struct top *t, int column)
{
	struct tasks_state *s = &t->tasks;

	for (int i = 0; i < s->n_columns; i++) {
		if (s->columns[i] != column)
			continue;
		if (s->n_columns > 1) {
			memmove(&s->columns[i], &s->columns[i + 1],
				(size_t)(s->n_columns - i - 1) * sizeof(*s->columns));
			s->n_columns--;
		}
		return;
	}
	if (s->n_columns >= COLUMNS_MOST - 8)
		return;
	s->columns[s->n_columns] = s->columns[s->n_columns - 1];
	s->columns[s->n_columns++ - 1] = column;
}

static void set_sort(struct top *t, int column)
{
	size_t n;

	t->tasks.sort = column;
	t->tasks.ascending = top_columns(&n)[column].flags & TOP_ASCENDING;
}

void tasks_chosen(struct top *t, int line)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	int column = line;

	switch (t->popup_for) {
	case POPUP_SIGNAL: act_on(t, signals[line].name, send_signal, &signals[line].number); break;
	case POPUP_USER:
		popup_line(&t->popup, line, &text);
		snprintf(t->tasks.user, sizeof(t->tasks.user), "%s", line ? buf_str(&text) : "");
		break;
	case POPUP_POLICY: act_on(t, "policy", set_policy, &line); break;
	case POPUP_IO_PRIORITY: act_on(t, "priority at disks", set_io_priority, &line); break;
	case POPUP_KEYS: keys_chosen(t, line); break;
	case POPUP_METERS: meters_chosen(t, line); break;
	case POPUP_TABS: tabs_chosen(t, line); break;
	case POPUP_THREAD: functions_thread_chosen(t, line); break;
	case POPUP_SORT: set_sort(t, column); break;
	case POPUP_COLUMNS:
		toggle_column(t, column);
		top_ask(t);
		choose_column(t, false);
		t->popup.list.cursor = column;
		break;
	default: break;
	}
}

/* --- lines that are typed --------------------------------------------------------------------- */

static bool is_found(const struct top_task *task, const char *text)
{
	return strcasestr(task->command, text) || strcasestr(task->row.comm, text);
}

/* From the line after @from on, and around. */
static void find_next(struct top *t, int from, int step)
{
	int n = (int)t->tasks.lines.len;

	for (int i = 0; i < n && *t->tasks.search; i++) {
		int line = ((from + step * i) % n + n) % n;

		if (is_found(tasks_at(t, line), t->tasks.search)) {
			list_go(&t->tasks.list, line);
			t->tasks.cursor_tid = tasks_at(t, line)->row.tid;
			return;
		}
	}
	if (n && *t->tasks.search)
		top_complain(t, "'%s' is not in the list", t->tasks.search);
}

void tasks_prompt_changed(struct top *t)
{
	_cleanup_err_ struct err e = ERR_INIT;
	struct filter f;

	if (t->prompt == PROMPT_SEARCH) {
		snprintf(t->tasks.search, sizeof(t->tasks.search), "%s", t->edit.text);
		find_next(t, t->tasks.list.cursor, 1);
	}
	if (t->prompt != PROMPT_FILTER)
		return;
	if (filter_parse(&f, t->edit.text, &e) < 0) {
		top_complain(t, "%s", e.what);
		return;
	}
	t->message[0] = '\0';
	t->tasks.filter = f;
	snprintf(t->tasks.filter_text, sizeof(t->tasks.filter_text), "%s", t->edit.text);
}

void tasks_prompt_done(struct top *t)
{
	_cleanup_err_ struct err e = ERR_INIT;
	range_list cpus = { 0 };
	cpu_set_t set;

	if (t->prompt != PROMPT_AFFINITY)
		return;
	if (parse_ranges(t->edit.text, CPU_SETSIZE - 1, &cpus, &e) < 0) {
		top_complain(t, "%s", e.what);
		return;
	}
	CPU_ZERO(&set);
	for (u32 i = 0; i < CPU_SETSIZE; i++)
		if (ranges_contain(&cpus, i))
			CPU_SET(i, &set);
	vec_release(&cpus);
	act_on(t, "affinity", set_affinity, &set);
}

static void ask(struct top *t, enum prompt prompt, const char *text)
{
	t->prompt = prompt;
	edit_set(&t->edit, text);
}

static void ask_affinity(struct top *t)
{
	const struct top_task *task = tasks_at(t, t->tasks.list.cursor);
	_cleanup_buf_ struct buf now = BUF_INIT;
	cpu_set_t set;

	if (!task || sched_getaffinity((pid_t)task->row.tid, sizeof(set), &set) < 0)
		CPU_ZERO(&set);
	for (int i = 0; i < CPU_SETSIZE && now.len < 200; i++)
		if (CPU_ISSET(i, &set))
			buf_addf(&now, "%s%d", now.len ? "," : "", i);
	ask(t, PROMPT_AFFINITY, buf_str(&now));
}

/* --- keys ------------------------------------------------------------------------------------- */

static void tag(struct top *t, bool children)
{
	const struct tasks_state *s = &t->tasks;
	int line = s->list.cursor;
	const struct top_task *task = tasks_at(t, line);
	u32 depth;

	if (!task)
		return;
	if (map_get(&s->tagged, task->row.tid, 0) && !children)
		map_del(&t->tasks.tagged, task->row.tid);
	else
		map_put(&t->tasks.tagged, task->row.tid, 1);
	depth = s->lines.items[line].depth;
	while (children && tasks_at(t, ++line) && s->lines.items[line].depth > depth)
		map_put(&t->tasks.tagged, tasks_at(t, line)->row.tid, 1);
	list_go(&t->tasks.list, s->list.cursor + 1);
	t->tasks.cursor_tid = tasks_at(t, s->list.cursor)->row.tid;
}

static void close_line(struct top *t, bool all)
{
	const struct top_task *task = tasks_at(t, t->tasks.list.cursor);
	bool any = t->tasks.closed.len != 0;

	if (!all) {
		if (task && !map_del(&t->tasks.closed, task->row.tid))
			map_put(&t->tasks.closed, task->row.tid, 1);
		return;
	}
	map_clear(&t->tasks.closed);
	for (int i = 0; !any && i < (int)t->tasks.lines.len; i++)
		if (t->tasks.lines.items[i].parent)
			map_put(&t->tasks.closed, tasks_at(t, i)->row.tid, 1);
}

static void add_nice_by(struct top *t, int by)
{
	act_on(t, "nice", add_nice, &by);
}

static void sort_by(struct top *t, const char *key)
{
	set_sort(t, top_column_find(key, strlen(key)));
	t->tasks.list.cursor = 0;
}

bool tasks_action(struct top *t, const struct input *in)
{
	struct tasks_state *s = &t->tasks;

	switch (in->key) {
	case ' ':
	case 'c': tag(t, in->key == 'c'); return true;
	case 'U': map_clear(&s->tagged); return true;
	case '/':
	case TUI_F1 + 2: ask(t, PROMPT_SEARCH, ""); return true;
	case 'n':
	case 'N':
		find_next(t, s->list.cursor + (in->key == 'n' ? 1 : -1), in->key == 'n' ? 1 : -1);
		return true;
	case '\\':
	case 'f':
	case TUI_F1 + 3: ask(t, PROMPT_FILTER, s->filter_text); return true;
	case 't':
	case TUI_F1 + 4: s->tree = !s->tree; return true;
	case TUI_F1 + 5:
	case '<':
	case '>':
	case 's': choose_column(t, true); return true;
	case TUI_F1 + 6: add_nice_by(t, -1); return true;
	case TUI_F1 + 7: add_nice_by(t, 1); return true;
	case 'x':
	case TUI_F1 + 8: choose_signal(t); return true;
	case 'a': ask_affinity(t); return true;
	case 'u': choose_user(t); return true;
	case 'Y': choose_policy(t); return true;
	case 'i': choose_io_priority(t); return true;
	case 'e': tasks_show_environment(t); return true;
	case 'l': tasks_show_files(t); return true;
	case 'L': tasks_show_locks(t); return true;
	case 'C':
	case TUI_F1 + 1: choose_column(t, false); return true;
	case 'F':
		s->follow = !s->follow;
		top_say(t, s->follow ? "the cursor follows its process" : "the cursor stays");
		return true;
	case 'H':
		s->threads = !s->threads;
		top_ask(t);
		return true;
	case 'K': s->no_kernel = !s->no_kernel; return true;
	case 'I': s->ascending = !s->ascending; return true;
	case 'P': sort_by(t, "cpu"); return true;
	case 'M': sort_by(t, "res"); return true;
	case 'T': sort_by(t, "time"); return true;
	case '+':
	case '-': close_line(t, false); return true;
	case '*': close_line(t, true); return true;
	default: return false;
	}
}
