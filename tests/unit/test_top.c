/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fathom top without a terminal: recorded counters in, keys in, frames out. */
#include "harness.h"

#include "base/fmt.h"
#include "counters/counters.h"
#include "counters/track.h"
#include "top/filter.h"
#include "top/live_code.h"
#include "top/machine_file.h"
#include "top/meters.h"
#include "top/names.h"
#include "top/screens.h"
#include "top/top.h"
#include "tui/export.h"

#define SECOND 1000000000ull

/* --- a machine with two CPUs and four processes ----------------------------------------------- */

static void put(struct counter_set *set, struct snapshot *s, const char *name, const char *instance,
		u64 value)
{
	u32 counter = counter_set_find(set, name),
	    which = instance ? intern_str(&set->instances, instance) : 0;

	CHECK(counter != SET_NONE);
	snapshot_put(s, counter_set_series(set, counter, which), value);
}

static void put_cpu(struct counter_set *set, struct snapshot *s, const char *cpu, u64 user,
		    u64 system, u64 idle)
{
	static const char *const rest[] = { "cpu.nice", "cpu.iowait", "cpu.irq", "cpu.softirq",
					    "cpu.steal" };

	put(set, s, "cpu.user", cpu, user);
	put(set, s, "cpu.system", cpu, system);
	put(set, s, "cpu.idle", cpu, idle);
	for (size_t i = 0; i < ARRAY_SIZE(rest); i++)
		put(set, s, rest[i], cpu, 0);
}

static void add_task(struct snapshot *s, u32 pid, u32 ppid, const char *comm, u64 exec_ms,
		     u64 rss_mb)
{
	struct task_row *row = vec_new(&s->tasks.rows);

	row->pid = row->tid = pid;
	row->ppid = ppid;
	row->threads = 1;
	row->state = exec_ms ? 'R' : 'S';
	snprintf(row->comm, sizeof(row->comm), "%s", comm);
	row->start = pid * SECOND / 1000;
	row->vsize = (rss_mb + 10) << 20;
	row->rss = rss_mb << 20;
	row->figures[TASK_EXEC] = exec_ms * 1000000;
	row->user = row->figures[TASK_EXEC];
	s->tasks.n_tasks++;
}

/* @looks looks; in each interval burn uses 1.5 s of the two CPUs' 2 s, make and its child 100 ms.
 */
static const char *machine(u32 looks)
{
	static char path[256];
	struct counter_set set;
	struct track_writer w = TRACK_WRITER_INIT;
	struct err e = ERR_INIT;

	counter_set_init(&set);
	counter_set_add_tables(&set);
	set.page_size = 4096;
	for (u32 i = 0; i < looks; i++) {
		struct snapshot s = SNAPSHOT_INIT;

		s.mono = s.boot = (100 + i) * SECOND;
		s.wall = (1700000000ull + i) * SECOND;
		put_cpu(&set, &s, "all", 150 * i, 10 * i, 40 * i);
		put_cpu(&set, &s, "0", 100 * i, 0, 0);
		put_cpu(&set, &s, "1", 50 * i, 10 * i, 40 * i);
		put(&set, &s, "mem.total", NULL, 4 << 20);
		put(&set, &s, "mem.free", NULL, 2 << 20);
		put(&set, &s, "system.uptime", NULL, 100 + i);
		/* of tasks that did nothing, recordings tell nothing */
		add_task(&s, 1, 0, "init", i ? 1 : 0, 8);
		add_task(&s, 20, 1, "burn", i ? 1500 : 0, 100);
		add_task(&s, 30, 1, "make", i ? 60 : 0, 20);
		add_task(&s, 31, 30, "cc1 \033[31m", i ? 40 : 0, 50);
		s.tasks.by_bpf = true;
		track_writer_add(&w, &set, &s);
		snapshot_release(&s);
	}
	snprintf(path, sizeof(path), "%s/top.data", test_tmpdir());
	CHECK_EQ(machine_file_write(path, &w, &e), 0);
	track_writer_release(&w);
	counter_set_release(&set);
	return path;
}

static struct top *open_top(const char *path, int width, int height)
{
	const struct top_opts o = { .interval = SECOND,
				    .input = path,
				    .theme = "mono",
				    .ascii = true,
				    .no_settings = true,
				    .columns = "pid,user,res,state,cpu,mem,time,command" };
	struct err e = ERR_INIT;
	struct top *t;

	CHECK_EQ(top_new(&t, &o, &e), 0);
	CHECK_EQ(top_wait(t, &e), 0);
	grid_resize(&t->grid, width, height);
	return t;
}

static void press(struct top *t, const char *keys)
{
	struct input in;

	while (input_parse(&keys, &in)) {
		top_draw(t);
		top_key(t, &in);
		top_take(t);
	}
	CHECK_STR(keys, "");
	top_draw(t);
}

static char *frame_of(struct top *t)
{
	struct buf out = BUF_INIT;

	top_draw(t);
	grid_export_text(&t->grid, &out);
	return buf_detach(&out);
}

static void check_frame(struct top *t, const char *wanted)
{
	_cleanup_free_ char *got = frame_of(t);

	CHECK_STR(got, wanted);
}

static bool shows(struct top *t, const char *text)
{
	_cleanup_free_ char *got = frame_of(t);

	return strstr(got, text) != NULL;
}

/* --- frames ----------------------------------------------------------------------------------- */

TEST("processes, cell by cell")
{
	struct top *t = open_top(machine(3), 72, 14);

	check_frame(t, "1All  2 Processes 3Func 4Flame 5Wait 6Disk 7Net 8Grp 9Irq 0Topo =Tool\n"
		       "recording\n"
		       "0   [|||||||||||||||||||||||100.0%] 1   [|||||||||||||||**       60.0%]\n"
		       "Tasks: 4, 4 thr; 4 running  Load: 0.00 0.00 0.00  Up: 00:00\n"
		       "    PID USER         RES S CPU%v  MEM%     TIME+ COMMAND\n"
		       "     20 0         100.0M R 150.0   2.4           burn\n"
		       "     30 0          20.0M R   6.0   0.5           make\n"
		       "     31 0          50.0M R   4.0   1.2           cc1 \\x1b[31m\n"
		       "      1 0           8.0M R   0.1   0.2           init\n"
		       "\n"
		       "\n"
		       "\n"
		       "\n"
		       "F1Keys EnterDown EscBack qQuit F2Cols F3Search F4Filter F5Tree F6Sort\n");
	/* the cursor line is reversed, cell by cell */
	for (int x = 0; x < 72; x++)
		CHECK(grid_at(&t->grid, x, 5)->attr & ATTR_REVERSE);
	for (int x = 0; x < 72; x++)
		CHECK(!(grid_at(&t->grid, x, 6)->attr & ATTR_REVERSE));
	top_free(t);
}

TEST("rows and meter agree")
{
	struct top *t = open_top(machine(3), 72, 14);

	/* 1.6 s of the meter; rows 1.5 + 0.06 + 0.04 + 0.001 */
	CHECK_NEAR(t->frame->account.meter, 1.6e9, 1e6);
	CHECK_NEAR(t->frame->account.rows, 1.601e9, 1e3);
	CHECK_NEAR(t->frame->account.unknown, -1e6, 1e3);
	top_free(t);
}

TEST("a tree with sums")
{
	struct top *t = open_top(machine(3), 72, 14);

	press(t, "t");
	CHECK(shows(t, "R   6.0   0.5           +-make"));
	CHECK(shows(t, "  +-cc1"));
	/* closed: make has the sum of both */
	press(t, "Down +");
	CHECK(shows(t, "R  10.0   1.7           +-+ make"));
	CHECK(!shows(t, "cc1"));
	press(t, "t");
	CHECK(shows(t, "cc1"));
	top_free(t);
}

TEST("search, filter, user, sort")
{
	struct top *t = open_top(machine(3), 100, 14);

	press(t, "/ i n i t Enter");
	CHECK_EQ(tasks_at(t, t->tasks.list.cursor)->row.pid, 1);
	press(t, "f c p u Space > Space 5 Enter");
	CHECK_EQ(t->tasks.lines.len, 2);
	CHECK(shows(t, "filter: cpu > 5"));
	press(t, "f Ctrl-U c c 1 | i n i t Enter");
	CHECK_EQ(t->tasks.lines.len, 2);
	/* not yet a condition: the filter stays as it was, and the fault is named */
	press(t, "f Ctrl-U c p u > x");
	CHECK(shows(t, "a number is expected"));
	press(t, "Esc f Ctrl-U Enter M");
	CHECK_EQ(tasks_at(t, 0)->row.pid, 20);
	CHECK_EQ(tasks_at(t, 1)->row.pid, 31);
	press(t, "I");
	CHECK_EQ(tasks_at(t, 0)->row.pid, 1);
	top_free(t);
}

TEST("down and back")
{
	struct top *t = open_top(machine(3), 100, 14);

	press(t, "Down Enter");
	CHECK(shows(t, "recording > 30 make"));
	CHECK_EQ(t->tasks.lines.len, 1);
	press(t, "6");
	CHECK(shows(t, "6 Disks"));
	CHECK(shows(t, "recording > 30 make"));
	press(t, "Esc");
	CHECK(!shows(t, "> 30 make"));
	CHECK_EQ(t->tasks.lines.len, 4);
	CHECK_EQ(t->tasks.list.cursor, 1);
	press(t, "Esc");
	CHECK(shows(t, "this is the whole machine"));
	top_free(t);
}

TEST("time stands still and goes back")
{
	struct top *t = open_top(machine(6), 100, 14);

	press(t, "] ] ]");
	CHECK(shows(t, "look 5 of 6"));
	CHECK(shows(t, "22:13:24"));
	press(t, "[");
	CHECK(shows(t, "look 4 of 6"));
	press(t, "{");
	CHECK(shows(t, "look 2 of 6"));
	press(t, "} }");
	CHECK(shows(t, "look 6 of 6"));
	top_free(t);
}

TEST("tabs have names where there is room for them, keys are never cut")
{
	struct top *t = open_top(machine(6), 160, 14);

	CHECK(shows(t, " 1 Overview  2 Processes  3 Functions "));
	CHECK(shows(t, "F7Nice- F8Nice+"));
	grid_resize(&t->grid, 80, 14);
	CHECK(shows(t, "1All  2 Processes 3Func "));
	CHECK(shows(t, "F9Kill"));
	press(t, "9");
	CHECK(shows(t, "8Grp  9 Interrupts 0Topo =Tool"));
	grid_resize(&t->grid, 60, 14);
	CHECK(shows(t, " 8  9 Interrupts  0  = "));
	CHECK(shows(t, "22:13:21"));
	top_free(t);
}

TEST("clicks on tabs, keys and the time line")
{
	struct top *t = open_top(machine(6), 100, 14);

	/* "1All  2 Processes 3Func": by what is drawn */
	press(t, "click:0,0");
	CHECK(shows(t, " 1 Overview "));
	press(t, "click:14,0");
	CHECK(shows(t, " 2 Processes "));
	press(t, "click:2,13");
	CHECK(shows(t, "this list"));
	press(t, "Esc p");
	CHECK(shows(t, "PAUSED"));
	/* its end, and its begin */
	press(t, "click:99,13");
	CHECK(shows(t, "look 6 of 6"));
	press(t, "click:84,13");
	CHECK(shows(t, "look 2 of 6") || shows(t, "look 3 of 6"));
	press(t, "click:2,13");
	CHECK(shows(t, "PAUSED"));
	top_free(t);
}

TEST("help explains figures, keys are listed")
{
	struct top *t = open_top(machine(3), 120, 40);

	press(t, "?");
	CHECK(shows(t, "CPU% of 20 burn: 150.0"));
	CHECK(shows(t, "from: sum_exec_runtime of the scheduler"));
	press(t, "Esc F1");
	CHECK(shows(t, "what the figure is, and where it comes from"));
	press(t, "Esc 1 ?");
	CHECK(shows(t, "cpu.busy_percent"));
	top_free(t);
}

TEST("the list of keys is searched, and does what it lists")
{
	struct top *t = open_top(machine(3), 80, 24);
	size_t n;
	const struct top_key *k = top_keys(&n);

	/* one line each, on 80 columns */
	for (size_t i = 0; i < n; i++)
		CHECK(strlen(k[i].help) <= 51);
	press(t, "F1 m e m");
	CHECK(shows(t, "sort by memory") && !shows(t, "sort by CPU time"));
	press(t, "Enter");
	CHECK(!shows(t, "sort by memory"));
	CHECK_STR(top_columns(&n)[t->tasks.sort].key, "res");
	press(t, "F1 s c r e e n Space d i s k Enter");
	CHECK(shows(t, " 6 Disks "));
	/* what is about another screen leads there */
	press(t, "F1 r o w s Space a r e Enter");
	CHECK(shows(t, " 2 Processes ") && t->tasks.threads);
	/* letters are typed, whatever they are remapped to */
	settings_take(t, "keys = x q");
	press(t, "F1 x Esc");
	CHECK(!t->quit && shows(t, " 2 Processes "));
	top_free(t);
}

TEST("Enter narrows to what is tagged")
{
	struct top *t = open_top(machine(3), 100, 24);

	press(t, "Space Space");
	CHECK_EQ(t->tasks.tagged.len, 2u);
	press(t, "Enter");
	CHECK(shows(t, "2 tagged") && shows(t, "burn") && shows(t, "make") && !shows(t, "init"));
	CHECK_EQ(t->tasks.tagged.len, 0u);
	/* and further down, to one of them */
	press(t, "Enter");
	CHECK(shows(t, "burn") && !shows(t, "30 "));
	press(t, "Esc Esc");
	CHECK(shows(t, "init") && !shows(t, "2 tagged"));
	top_free(t);
}

TEST("samples of what is tagged")
{
	struct live_of of = { 0 };

	CHECK(live_is_of(&of, 5, 6));
	of.marked[of.n_marked++] = 5;
	of.marked[of.n_marked++] = 9;
	CHECK(live_is_of(&of, 5, 6) && live_is_of(&of, 9, 9) && !live_is_of(&of, 6, 5));
	of.threads = true;
	CHECK(live_is_of(&of, 6, 5) && !live_is_of(&of, 5, 6));
	of.pid = 6;
	CHECK(live_is_of(&of, 6, 5) && !live_is_of(&of, 7, 5));
}

/* Numbers that say who or which it is, not how much. */
static bool is_identity(const struct top_column *c)
{
	static const char *const keys[] = { "pid", "tid", "ppid", "nice", "pri", "processor" };

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (streq(c->key, keys[i]))
			return true;
	return false;
}

TEST("every column, meter and table has its help")
{
	size_t n;
	const struct top_column *c = top_columns(&n);
	const struct monitor_table *sheets;
	_cleanup_buf_ struct buf out = BUF_INIT;
	const char *counter;

	for (size_t i = 0; i < n; i++) {
		CHECK(c[i].meaning && *c[i].meaning && c[i].from && *c[i].from);
		if (c[i].get && !is_identity(&c[i]) && !c[i].deeper)
			CHECK_STR(c[i].key, "has no word about high values");
	}
	for (size_t i = 0; (counter = top_meter_counter(i)); i++)
		CHECK(explain_counter(&out, counter));
	sheets = top_sheet_defs(&n);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < sheets[i].n_columns; k++)
			if (sheets[i].columns[k].formula)
				CHECK(explain_formula(&out, sheets[i].columns[k].formula) > 0);
	CHECK(!explain_counter(&out, "no.such"));
	CHECK_EQ(explain_formula(&out, "100 * seconds"), 0);
}

TEST("every screen answers the question mark")
{
	struct top *t = open_top(machine(3), 120, 100);
	int n;
	const struct screen *const *screens = top_screens(&n);

	for (int i = 0; i < n; i++) {
		top_go(t, i);
		press(t, "?");
		CHECK(!shows(t, "F1 lists the keys."));
		CHECK(screens[i]->explain != NULL);
		press(t, "Esc");
	}
	top_go(t, top_screen_find("processes"));
	press(t, "?");
	CHECK(shows(t, "Number of the process."));
	press(t, "End");
	CHECK(shows(t, "Load: tasks that ran"));
	top_free(t);
}

TEST("shares of code are percents, never addresses")
{
	CHECK_NEAR(live_code_share(" 47.37%   16d800       movq   %rdi, %rax"), 47.37, 0.001);
	CHECK_NEAR(live_code_share("          5e8cf0       movl   %esi, %r8d"), 0, 0.001);
	CHECK_NEAR(live_code_share("          16d803       cmpq   $0x40, %rdx"), 0, 0.001);
	CHECK_NEAR(live_code_share("82 samples of cpu-clock, 100.00% of all"), 0, 0.001);
	CHECK_NEAR(live_code_share("        burn.c:12"), 0, 0.001);
	CHECK_NEAR(live_code_share(""), 0, 0.001);
}

TEST("a recording is not acted on")
{
	struct top *t = open_top(machine(3), 100, 30);

	press(t, "x Enter");
	CHECK(shows(t, "this is a recording"));
	press(t, "F8");
	CHECK(shows(t, "this is a recording"));
	top_free(t);
}

TEST("any size, any key")
{
	static const int sizes[][2] = { { 1, 1 }, { 20, 5 }, { 3, 40 }, { 80, 24 }, { 300, 2 } };
	struct top *t = open_top(machine(4), 80, 24);

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		grid_resize(&t->grid, sizes[i][0], sizes[i][1]);
		for (u32 screen = '1'; screen <= '9'; screen++) {
			top_key(t, &(struct input){ screen, 0, 0 });
			for (u32 key = 1; key < 0x80; key++) {
				top_key(t, &(struct input){ key, 0, 0 });
				top_take(t);
				t->quit = false;
				if (key % 16 == 0)
					top_draw(t);
			}
			for (u32 key = TUI_FIRST; key <= TUI_LAST; key++)
				top_key(t,
					&(struct input){ key, (int)(key % 90), (int)(key % 30) });
			top_key(t, &(struct input){ TUI_ESC, 0, 0 });
			top_key(t, &(struct input){ TUI_ESC, 0, 0 });
			top_draw(t);
		}
	}
	top_free(t);
}

/* --- pieces ----------------------------------------------------------------------------------- */

static bool matches(const char *text, const struct top_task *task, const struct machine_frame *f)
{
	const struct top_context ctx = { .frame = f };
	struct err e = ERR_INIT;
	struct filter filter;

	CHECK_EQ(filter_parse(&filter, text, &e), 0);
	return filter_match(&filter, task, &ctx);
}

TEST("filters")
{
	const struct machine_frame f = { .seconds = 1, .cpus = 1, .memory = 1 << 30 };
	struct top_task task = {
		.user = "www", .command = "nginx: worker", .cgroup = "/a", .container = ""
	};

	task.row.pid = task.row.tid = 77;
	task.row.rss = 200 << 20;
	task.row.state = 'S';
	task.row.figures[TASK_EXEC] = 70000000;
	CHECK(matches("", &task, &f));
	CHECK(matches("redis|NGINX", &task, &f));
	CHECK(matches("77", &task, &f));
	CHECK(!matches("7", &task, &f));
	CHECK(!matches("redis", &task, &f));
	CHECK(matches("cpu > 5 and user = www", &task, &f));
	CHECK(matches("not (cpu < 5 or user != www)", &task, &f));
	CHECK(matches("res >= 200M && command ~ 'worker'", &task, &f));
	CHECK(!matches("res > 200M", &task, &f));
	CHECK(matches("state = S or cpu > 90", &task, &f));
	/* what is not known is not more than anything */
	CHECK(!matches("lock > 0", &task, &f));
	CHECK(!matches("lock <= 0", &task, &f));
}

TEST("faults of filters are named")
{
	static const struct {
		const char *text, *fault;
	} cases[] = {
		{ "cpu > ", "a number" },       { "cpu > 5 and", "a column" },
		{ "cpu > 5 nice", "'and'" },    { "(cpu > 5", "')'" },
		{ "user > root", "a text is" }, { "cpu ~ 5", "a number is" },
		{ "user = 'x", "the quote" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct err e = ERR_INIT;
		struct filter f;

		CHECK_EQ(filter_parse(&f, cases[i].text, &e), -EINVAL);
		CHECK(strstr(e.what, cases[i].fault));
		err_release(&e);
	}
}

TEST("containers by their groups")
{
	static const struct {
		const char *path, *name;
	} cases[] = {
		{ "/system.slice/"
		  "docker-0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.scope",
		  "docker:0123456789ab" },
		{ "/lxc.payload.web/init", "lxc:web" },
		{ "/user.slice/user-0.slice", NULL },
		{ "/docker/", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct buf out = BUF_INIT;

		CHECK_EQ(container_of_cgroup(cases[i].path, &out), cases[i].name != NULL);
		if (cases[i].name)
			CHECK_STR(buf_str(&out), cases[i].name);
		buf_release(&out);
	}
}

TEST("settings are kept")
{
	struct top_opts o = { .interval = SECOND, .input = machine(3), .theme = "mono" };
	char path[300];
	struct err e = ERR_INIT;
	struct top *t;

	snprintf(path, sizeof(path), "%s/top.conf", test_tmpdir());
	o.settings = path;
	o.columns = "pid,wait,command";
	o.sort = "wait";
	o.tree = true;
	CHECK_EQ(top_new(&t, &o, &e), 0);
	settings_write(t);
	CHECK(!t->bad_message);
	top_free(t);
	o.columns = o.sort = NULL;
	o.tree = false;
	CHECK_EQ(top_new(&t, &o, &e), 0);
	CHECK_EQ(t->tasks.n_columns, 3);
	CHECK_EQ(t->tasks.sort, top_column_find("wait", 4));
	CHECK(t->tasks.tree);
	top_free(t);
}

TEST("columns of one's own: of others, and of counters")
{
	struct top_opts o = { .interval = SECOND, .input = machine(4), .theme = "mono" };
	struct err e = ERR_INIT;
	struct top *t;
	char path[300];
	int column;

	snprintf(path, sizeof(path), "%s/own.conf", test_tmpdir());
	o.settings = path;
	o.ascii = true;
	CHECK_EQ(top_new(&t, &o, &e), 0);
	CHECK_EQ(top_wait(t, &e), 0);
	grid_resize(&t->grid, 100, 14);
	settings_take(t, "column = twice: 2 * (cpu + 1) - 2 / 1; perres: res / 0, bytes");
	CHECK(!t->bad_message);
	/* 160 of 200 ticks are not idle; the formula is known from the next look on */
	settings_take(t, "column = ofall: cpu * [cpu.total{all} / cpu.idle{all}], percent");
	CHECK(!t->bad_message);
	press(t, "p [");
	column = top_column_find("TWICE", 5);
	CHECK(column >= 0 && shows(t, "TWICE") && shows(t, "300.00"));
	column = top_column_find("ofall", 5);
	CHECK(column >= 0 && shows(t, "OFALL"));
	for (u32 i = 0; i < t->frame->tasks.len; i++) {
		const struct top_context c = top_context(t);
		const struct top_task *task = &t->frame->tasks.items[i];
		size_t n;
		double value = top_column_value(&top_columns(&n)[column], task, &c);

		if (task->row.pid == 20)
			CHECK(value > 749 && value < 751);
		CHECK(top_column_value(&top_columns(&n)[top_column_find("perres", 6)], task, &c) ==
		      0);
	}
	/* sorted and filtered by */
	settings_take(t, "sort = -twice");
	CHECK(!t->bad_message && t->tasks.sort == top_column_find("twice", 5));
	press(t, "F4 t w i c e > 1 0 0 Enter");
	CHECK(shows(t, "burn") && !shows(t, "make"));
	settings_write(t);
	/* what cannot be is named */
	settings_take(t, "column = x: cpu + nosuch");
	CHECK(t->bad_message && strstr(t->message, "a column with numbers"));
	settings_take(t, "column = x: [no.such.counter]");
	CHECK(t->bad_message && strstr(t->message, "no.such.counter"));
	settings_take(t, "column = cpu: res");
	CHECK(t->bad_message && strstr(t->message, "already"));
	settings_take(t, "column = x: twice");
	CHECK(t->bad_message && strstr(t->message, "not your own"));
	settings_take(t, "column = x: ((((((((((((((((((((cpu))))))))))))))))))))");
	CHECK(t->bad_message);
	top_free(t);
	/* and kept */
	CHECK_EQ(top_new(&t, &o, &e), 0);
	CHECK_EQ(t->tasks.sort, top_column_find("twice", 5));
	grid_resize(&t->grid, 120, 14);
	CHECK_EQ(top_wait(t, &e), 0);
	CHECK(shows(t, "TWICE") && shows(t, "OFALL"));
	top_free(t);
}

TEST("tabs, meters, colours and keys are settings")
{
	struct top_opts o = { .interval = SECOND, .input = machine(3) };
	struct err e = ERR_INIT;
	struct top *t, *again;
	char path[300];

	snprintf(path, sizeof(path), "%s/look.conf", test_tmpdir());
	o.settings = path;
	CHECK_EQ(top_new(&t, &o, &e), 0);
	settings_take(t, "tabs = processes, waits");
	CHECK(!t->bad_message);
	settings_take(t, "meters = memory");
	settings_take(t, "colors = bad:201 user:-1");
	CHECK(!t->bad_message);
	settings_take(t, "keys = g Tab F12 q");
	CHECK(!t->bad_message);
	settings_take(t, "meters = nothing");
	CHECK(t->bad_message);
	settings_take(t, "colors = bad:900");
	CHECK(t->bad_message);
	settings_take(t, "tabs = ");
	CHECK(t->bad_message);
	settings_take(t, "keys = nokey q");
	CHECK(t->bad_message);
	settings_take(t, "unknown = 1");
	CHECK(t->bad_message);
	settings_take(t, "keys = g Tab F12 q");
	settings_write(t);
	CHECK(!t->bad_message);
	top_free(t);

	CHECK_EQ(top_new(&again, &o, &e), 0);
	CHECK_EQ(again->n_tabs, 2);
	CHECK_EQ(again->tabs[1], top_screen_find("waits"));
	CHECK(meters_have(again->short_meters, "memory"));
	CHECK(!meters_have(again->short_meters, "cpu"));
	CHECK_EQ(again->grid.theme->roles[ROLE_BAD].fg, 201);
	CHECK_EQ(again->n_remapped, 2);
	/* g goes to the next tab, which is the second of two */
	top_wait(again, &e);
	top_key(again, &(struct input){ .key = 'g' });
	CHECK_EQ(again->screen, top_screen_find("waits"));
	top_key(again, &(struct input){ .key = 'g' });
	CHECK_EQ(again->screen, top_screen_find("processes"));
	/* chosen from inside */
	meters_choose(again);
	meters_chosen(again, 6);
	CHECK(meters_have(again->short_meters, "cpu"));
	tabs_chosen(again, top_screen_find("flame"));
	CHECK_EQ(again->n_tabs, 3);
	top_key(again, &(struct input){ .key = TUI_ESC });
	top_key(again, &(struct input){ .key = TUI_F1 + 11 });
	CHECK(again->quit);
	top_free(again);
}

/* A machine of recorded form with many CPUs and threads: no meter for each, and no slow frame. */
TEST("many CPUs and threads")
{
	enum { CPUS = 5000, THREADS = 30000, LOOKS = 2 };
	struct counter_set set;
	struct track_writer w = TRACK_WRITER_INIT;
	_cleanup_buf_ struct buf out = BUF_INIT;
	struct err e = ERR_INIT;
	char path[256];
	struct top *t;

	counter_set_init(&set);
	counter_set_add_tables(&set);
	set.page_size = 4096;
	for (u32 i = 0; i < LOOKS; i++) {
		struct snapshot s = SNAPSHOT_INIT;

		s.mono = s.boot = (100 + i) * SECOND;
		s.wall = (1700000000ull + i) * SECOND;
		put_cpu(&set, &s, "all", 50 * CPUS * i, 0, 50 * CPUS * i);
		for (u32 cpu = 0; cpu < CPUS; cpu++) {
			char name[16];

			snprintf(name, sizeof(name), "%u", cpu);
			put_cpu(&set, &s, name, 50 * i, 0, 50 * i);
		}
		put(&set, &s, "mem.total", NULL, 4 << 20);
		put(&set, &s, "mem.free", NULL, 2 << 20);
		for (u32 n = 1; n <= THREADS; n++)
			add_task(&s, n, n > 1, "worker", i ? 1 + n % 7 : 0, 1);
		s.tasks.by_bpf = true;
		track_writer_add(&w, &set, &s);
		snapshot_release(&s);
	}
	snprintf(path, sizeof(path), "%s/many.data", test_tmpdir());
	CHECK_EQ(machine_file_write(path, &w, &e), 0);
	track_writer_release(&w);
	counter_set_release(&set);

	t = open_top(path, 100, 40);
	CHECK_EQ(t->frame->cpus, CPUS);
	CHECK_EQ(t->frame->tasks.len, THREADS);
	for (int i = 0; i < 2; i++) {
		top_go(t, top_screen_find(i ? "overview" : "processes"));
		top_draw(t);
		buf_reset(&out);
		grid_export_text(&t->grid, &out);
		/* one meter for all, and room for the rest */
		CHECK(strstr(buf_str(&out), "all") != NULL);
		CHECK(strstr(buf_str(&out), "50.0%") != NULL);
		CHECK(strstr(buf_str(&out), i ? "PSI" : "worker") != NULL || i);
	}
	t->tasks.tree = true;
	top_go(t, top_screen_find("processes"));
	top_draw(t);
	top_free(t);
}

TEST("samples and waits in one flame graph, in halves")
{
	struct profile_frame hot = {
		.samples = 50, .weight = 5000, .frequency = 100, .seconds = 5
	};
	struct profile_frame cold = {
		.samples = 9, .weight = 600000000, .seconds = 2, .cold = true
	};
	struct profile_frame *f;

	vec_push(&hot.boxes, (struct live_box){ .name = "all", .module = "", .weight = 5000 });
	vec_push(&hot.boxes, (struct live_box){ .name = "main",
						.module = "/bin/x",
						.depth = 1,
						.start = 1000,
						.weight = 4000,
						.self = 4000 });
	vec_push(&cold.boxes,
		 (struct live_box){ .name = "all", .module = "", .weight = 600000000 });
	vec_push(&cold.boxes,
		 (struct live_box){
			 .name = "read", .module = "libc", .depth = 1, .weight = 600000000 });
	f = live_join(&hot, &cold);
	/* 50 of 500 samples in 5 s on a CPU are 0.1 s of each; 0.6 s of waiting in 2 s are 0.3 */
	CHECK_EQ(f->hot_ns, 100000000u);
	CHECK_EQ(f->cold_ns, 300000000u);
	CHECK_EQ(f->weight, 2 * LIVE_HALF);
	CHECK_EQ(f->boxes.len, 5u);
	CHECK_STR(f->boxes.items[1].name, "on CPUs");
	CHECK_EQ(f->boxes.items[1].weight, LIVE_HALF);
	CHECK_NEAR((double)f->boxes.items[2].start, 0.2 * (double)LIVE_HALF, 2);
	CHECK_NEAR((double)f->boxes.items[2].weight, 0.8 * (double)LIVE_HALF, 2);
	CHECK_EQ(f->boxes.items[2].parent, 1u);
	CHECK_EQ(f->boxes.items[2].depth, 2u);
	CHECK_STR(f->boxes.items[3].name, "waiting");
	CHECK_EQ(f->boxes.items[3].start, LIVE_HALF);
	CHECK_EQ(f->boxes.items[4].parent, 3u);
	CHECK_EQ(f->boxes.items[4].weight, LIVE_HALF);
	profile_frame_free(f);
	/* of nothing, nothing */
	f = live_join(&(struct profile_frame){ 0 }, &(struct profile_frame){ .cold = true });
	CHECK_EQ(f->weight, 0u);
	profile_frame_free(f);
	vec_release(&hot.boxes);
	vec_release(&cold.boxes);
}
