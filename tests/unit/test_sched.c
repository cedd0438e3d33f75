/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waits and scheduler events whose answers can be worked out by hand. */
#include "analysis/waits.h"
#include "view/sched_lines.h"
#include "waits/names.h"
#include "analysis/threads.h"
#include "unit/harness.h"
#include "view/timeline.h"

/* --- scheduler events ------------------------------------------------------------------------- */

static struct sched_event switch_at(u64 time, u32 cpu, u32 prev, u64 state, u32 next)
{
	return (struct sched_event){ .type = SCHED_SWITCH,
				     .time = time,
				     .cpu = cpu,
				     .prev = prev,
				     .next = next,
				     .state = (u8)state };
}

static struct sched_event wake_at(u64 time, u32 waker, u32 wakee)
{
	return (struct sched_event){
		.type = SCHED_WAKEUP, .time = time, .tid = waker, .next = wakee
	};
}

static const struct table *table_of(const struct result *r, const char *name)
{
	for (size_t i = 0; i < r->sections.len; i++) {
		if (r->sections.items[i].type == SECTION_TABLE &&
		    streq(r->sections.items[i].table->name, name))
			return r->sections.items[i].table;
	}
	return NULL;
}

static const struct row *row_of(const struct table *t, u32 column, u64 value)
{
	for (size_t i = 0; t && i < t->rows.len; i++) {
		if (t->rows.items[i].cells[column].u == value)
			return &t->rows.items[i];
	}
	return NULL;
}

TEST(sched_state_letters)
{
	CHECK(sched_state_char(0) == 'R');
	CHECK(sched_state_char(0x100 & SCHED_STATE_AWAY) == 'R');
	CHECK(sched_state_char(1) == 'S');
	CHECK(sched_state_char(2) == 'D');
	CHECK(sched_state_char(0x80) == 'I');
}

TEST(sched_latency_counts_from_wake_and_preemption)
{
	struct sched_names names = { 0 };
	_cleanup_result_ struct result r;
	struct sched_latency *l;
	const struct sched_event events[] = {
		switch_at(100, 0, 10, 1, 20), /* 10 sleeps */
		wake_at(300, 20, 10),
		switch_at(350, 0, 20, 0, 10), /* delay of 10: 50; 20 wants to continue */
		switch_at(500, 0, 10, 1, 20), /* delay of 20: 150 */
		wake_at(510, 20, 20),         /* running: means nothing */
		wake_at(600, 20, 10),
		wake_at(620, 20, 10),         /* woken already */
		switch_at(700, 0, 20, 1, 10), /* delay of 10: 100 */
	};
	const struct row *row;

	names.has[SCHED_WAKEUP] = true;
	names.first = 100;
	names.last = 700;
	l = sched_latency_new(&names, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		sched_latency_events(l, &events[i], 1);
	result_init(&r, "sched");
	CHECK(sched_latency_result(l, NULL, false, 0, &r, NULL) == 0);
	row = row_of(table_of(&r, "tasks"), 1, 10);
	CHECK(row && row->cells[4].u == 2);
	CHECK(row && row->cells[6].u == 100 && row->cells[9].u == 150);
	row = row_of(table_of(&r, "tasks"), 1, 20);
	/* its first turn began with the recording: no delay */
	CHECK(row && row->cells[4].u == 2 && row->cells[6].u == 150);
	sched_latency_free(l);
	sched_names_release(&names);
}

TEST(sched_latency_knows_its_sort_keys)
{
	struct sched_names names = { 0 };
	_cleanup_result_ struct result r;
	_cleanup_err_ struct err e = ERR_INIT;
	struct sched_latency *l = sched_latency_new(&names, NULL);

	result_init(&r, "sched");
	CHECK(sched_latency_result(l, "max,comm", true, 0, &r, &e) == 0);
	CHECK(sched_latency_result(l, "max,colour", true, 0, &r, &e) == -EINVAL);
	CHECK(e.what && strstr(e.what, "colour"));
	sched_latency_free(l);
	sched_names_release(&names);
}

struct turns {
	struct sched_turn items[16];
	size_t n;
};

static int on_turn(void *ctx, const struct sched_turn *t)
{
	struct turns *all = ctx;

	if (all->n < ARRAY_SIZE(all->items))
		all->items[all->n++] = *t;
	return 0;
}

TEST(sched_timehist_measures_each_turn)
{
	struct sched_names names = { 0 };
	struct turns all = { 0 };
	struct sched_timehist *t = sched_timehist_new(&names, NULL, false, on_turn, NULL, &all);
	const struct sched_event events[] = {
		switch_at(1000, 0, 10, 2, 20), wake_at(1400, 20, 10),
		switch_at(1500, 0, 20, 0, 10), switch_at(1900, 0, 10, 1, 0),
		switch_at(2500, 0, 30, 1, 0), /* 30 came unseen: a gap */
		switch_at(2600, 0, 0, 0, 20),
	};

	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		sched_timehist_events(t, &events[i], 1);
	CHECK(all.n == 5);
	CHECK(all.items[4].tid == 0 && all.items[4].run == 100 && !all.items[4].gap);
	CHECK(all.items[1].tid == 20 && all.items[1].run == 500);
	CHECK(all.items[2].tid == 10 && all.items[2].run == 400);
	CHECK(all.items[2].delay == 100 && all.items[2].wait == 500);
	CHECK(all.items[2].iowait == 500 && all.items[2].sleep == 0);
	CHECK(!all.items[2].gap && all.items[3].gap);
	sched_timehist_free(t);
	sched_names_release(&names);
}

struct lines_of {
	struct sched_lines lines;
};

static int line_turn(void *ctx, const struct sched_turn *t)
{
	sched_lines_turn(&((struct lines_of *)ctx)->lines, t);
	return 0;
}

static int line_wake(void *ctx, const struct sched_wake *w)
{
	sched_lines_wake(&((struct lines_of *)ctx)->lines, w);
	return 0;
}

static int line_move(void *ctx, const struct sched_move *m)
{
	sched_lines_move(&((struct lines_of *)ctx)->lines, m);
	return 0;
}

/* Task 10 sleeps on CPU 1; 20 runs, wakes 10, which is moved to CPU 0 and comes. */
static void lines_of(enum sched_lines_format format, const struct sched_lines_more *more,
		     const char *pids, struct buf *out)
{
	struct sched_names names = { .machine_cpus = 2 };
	range_list only = { 0 };
	const struct sched_filter filter = { .pids = &only };
	struct lines_of to;
	struct sched_timehist *t;
	const struct sched_event events[] = {
		switch_at(1000, 1, 10, 1, 0),
		switch_at(2000, 0, 0, 0, 20),
		wake_at(4000000, 20, 10),
		{ .type = SCHED_MIGRATE, .time = 4000001, .next = 10, .mover = 20, .from = 1 },
		switch_at(5002000, 0, 20, 0, 10),
	};

	if (pids)
		CHECK(parse_ranges(pids, 100, &only, NULL) == 0);
	t = sched_timehist_new(&names, &filter, false, line_turn, line_wake, &to);
	sched_timehist_moves(t, line_move);
	sched_lines_init(&to.lines, &names, format, more);
	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		sched_timehist_events(t, &events[i], 1);
	buf_add(out, to.lines.out.data, to.lines.out.len);
	sched_timehist_free(t);
	sched_lines_release(&to.lines);
	sched_names_release(&names);
	vec_release(&only);
}

TEST(sched_lines_tell_more_where_it_is_asked_for)
{
	const struct sched_lines_more more = { .state = true, .next = true, .cpus = true };
	_cleanup_buf_ struct buf text = BUF_INIT, json = BUF_INIT, plain = BUF_INIT;

	lines_of(SCHED_LINES_TEXT, &more, NULL, &text);
	CHECK_STR(buf_str(&text),
		  "           time    cpu  01  task name                       wait time  sch "
		  "delay   run time  state\n"
		  "                            [tid/pid]                          (msec)     "
		  "(msec)     (msec)\n"
		  "--------------- ------  --  ------------------------------  ---------  "
		  "---------  ---------  -----\n"
		  "       0.000001 [0001]   s  :10[10]                             0.000      "
		  "0.000      0.000      S  next: <idle>\n"
		  "       0.000002 [0000]  i   <idle>                              0.000      "
		  "0.000      0.000      R  next: :20[20]\n"
		  "       0.004000 [0000]      :20[20]                                           "
		  "              awakened: :10[10]\n"
		  "       0.004000 [0000]  mm  :20[20]                                           "
		  "              migrated: :10[10] cpu 1 => 0\n"
		  "       0.005002 [0000]  s   :20[20]                             0.000      "
		  "0.000      5.000      R  next: :10[10]\n");
	lines_of(SCHED_LINES_JSON, &more, NULL, &json);
	CHECK(strstr(buf_str(&json), "{\"event\":\"migration\",\"time_ns\":4000001,\"cpu\":0,"
				     "\"mover_tid\":20,\"mover_comm\":\":20\",\"tid\":10,"
				     "\"comm\":\":10\",\"from_cpu\":1,\"to_cpu\":0}\n"));
	CHECK(strstr(buf_str(&json), "{\"event\":\"wakeup\",\"time_ns\":4000000,\"cpu\":0,"
				     "\"waker_tid\":20,"));
	/* what 20 does to 10 is about both */
	lines_of(SCHED_LINES_TEXT, NULL, "20", &plain);
	CHECK(strstr(buf_str(&plain), "awakened: :10[10]\n"));
	CHECK(strstr(buf_str(&plain), "migrated: :10[10] cpu 1 => 0\n"));
	CHECK(strstr(buf_str(&plain), "5.000\n"));
	CHECK(!strstr(buf_str(&plain), "<idle>"));
}

/* Waits of a second and more have their place; what is longer pushes what follows. */
TEST(sched_lines_fit_a_narrow_screen)
{
	const struct sched_lines_more more = { .narrow = true };
	struct sched_turn turn = { .time = 123456000001000, .cpu = 1, .tid = 10, .gap = true };
	struct sched_names names = { .machine_cpus = 2 };
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct sched_lines lines;

	lines_of(SCHED_LINES_TEXT, &more, NULL, &text);
	CHECK_STR(
		buf_str(&text),
		"          time    cpu  task name                          wait   delay     run\n"
		"                       [tid/pid]                        (msec)  (msec)  (msec)\n"
		"-------------- ------  ------------------------------  -------  ------  ------\n"
		"      0.000001 [0001]  :10[10]                           0.000   0.000   0.000\n"
		"      0.000002 [0000]  <idle>                            0.000   0.000   0.000\n"
		"      0.004000 [0000]  :20[20]                         awakened: :10[10]\n"
		"      0.004000 [0000]  :20[20]                         migrated: :10[10] cpu 1 => "
		"0\n"
		"      0.005002 [0000]  :20[20]                           0.000   0.000   5.000\n");
	sched_lines_init(&lines, &names, SCHED_LINES_TEXT, &more);
	lines.begun = true;
	turn.wait = 9999999000;
	sched_lines_turn(&lines, &turn);
	turn.wait = 1234567890000;
	turn.delay = 12345678000;
	sched_lines_turn(&lines, &turn);
	turn = (struct sched_turn){ .time = turn.time, .tid = 28760 };
	*sched_tids_at(&names.by_tid, 28760) =
		intern_str(&names.strings, "kworker/u8:0-events_unbound");
	sched_lines_turn(&lines, &turn);
	CHECK_STR(
		buf_str(&lines.out),
		" 123456.000001 [0001]  :10[10]                        9999.999   0.000   0.000 ?\n"
		" 123456.000001 [0001]  :10[10]                       1234567.890 12345.678   "
		"0.000 ?\n"
		" 123456.000001 [0000]  kworker/u8:0-events_u..[28760]    0.000   0.000   0.000\n");
	sched_lines_release(&lines);
	sched_names_release(&names);
}

TEST(sched_timehist_cuts_to_the_time_asked_for)
{
	const struct sched_filter filter = { .from = 1200, .to = 1800, .outside = true };
	struct sched_names names = { 0 };
	struct turns all = { 0 };
	struct sched_timehist *t = sched_timehist_new(&names, &filter, false, on_turn, NULL, &all);
	const struct sched_event events[] = {
		switch_at(1000, 0, 10, 1, 20),
		switch_at(1500, 0, 20, 1, 10),
		switch_at(1900, 0, 10, 1, 20),
		switch_at(2500, 0, 20, 1, 0),
	};

	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		sched_timehist_events(t, &events[i], 1);
	CHECK(all.n == 2);
	CHECK(all.items[0].tid == 20 && all.items[0].time == 1500 && all.items[0].run == 300);
	/* its sleep before the window counts, its run ends with the window */
	CHECK(all.items[1].tid == 10 && all.items[1].time == 1800 && all.items[1].run == 300);
	CHECK(all.items[1].sleep == 500);
	sched_timehist_free(t);
	sched_names_release(&names);
}

TEST(sched_timehist_idle_only)
{
	struct sched_names names = { 0 };
	struct turns all = { 0 };
	struct sched_timehist *t = sched_timehist_new(&names, NULL, true, on_turn, NULL, &all);
	const struct sched_event events[] = {
		switch_at(100, 0, 10, 1, 20),
		switch_at(200, 0, 20, 1, 0),
		switch_at(500, 0, 0, 0, 10),
		switch_at(600, 0, 10, 1, 20),
	};

	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		sched_timehist_events(t, &events[i], 1);
	CHECK(all.n == 2);
	CHECK(all.items[0].tid == 20 && all.items[0].run == 100);
	CHECK(all.items[1].tid == 0 && all.items[1].run == 300);
	sched_timehist_free(t);
	sched_names_release(&names);
}

TEST(sched_pids_are_reused)
{
	struct sched_names names = { 0 };
	struct turns all = { 0 };
	_cleanup_result_ struct result r;
	struct sched_latency *l = sched_latency_new(&names, NULL);
	struct sched_timehist *t = sched_timehist_new(&names, NULL, false, on_turn, NULL, &all);
	const struct sched_event events[] = {
		switch_at(100, 0, 20, 0, 10),
		switch_at(200, 0, 10, 0x80, 20), /* ends */
		{ .type = SCHED_BORN, .time = 300, .prev = 20, .next = 10 },
		wake_at(310, 20, 10),
		switch_at(900, 0, 20, 0, 10), /* another one of this number */
		switch_at(950, 0, 10, 1, 20),
	};
	u32 rows = 0;

	names.has[SCHED_WAKEUP] = true;
	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		sched_latency_events(l, &events[i], 1);
		sched_timehist_events(t, &events[i], 1);
	}
	result_init(&r, "sched");
	CHECK(sched_latency_result(l, NULL, false, 0, &r, NULL) == 0);
	const struct table *table = table_of(&r, "tasks");

	for (size_t i = 0; i < table->rows.len; i++)
		rows += table->rows.items[i].cells[1].u == 10;
	CHECK(rows == 2);
	/* nothing of the first one's time is the second one's wait */
	CHECK(all.n == 4 && all.items[3].tid == 10);
	CHECK(all.items[3].wait == 0 && all.items[3].delay == 590 && all.items[3].run == 50);
	sched_latency_free(l);
	sched_timehist_free(t);
	sched_names_release(&names);
}

TEST(sched_map_cuts_to_the_time_that_is_asked_for)
{
	struct sched_names names = { .first = 100, .last = 500, .cpus = 1 };
	const struct sched_filter filter = { .from = 200, .to = 300, .outside = true };
	struct sched_map *m = sched_map_new(&names, &filter);
	const struct sched_event events[] = {
		switch_at(100, 0, 10, 0, 20), /* 10 waits from before to after */
		switch_at(150, 0, 20, 1, 30), switch_at(250, 0, 30, 1, 40),
		switch_at(400, 0, 40, 1, 10), switch_at(450, 0, 10, 1, 0),
	};
	static const u64 begins[] = { 200, 200, 250 }, ends[] = { 300, 250, 300 };
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		sched_map_events(m, &events[i], 1);
	sched_map_finish(m);
	/* three that run or want a CPU, two that sleep */
	CHECK_EQ(m->stretches.len, 5);
	vec_each(s, &m->stretches) {
		if (s->does > SCHED_WAITS)
			continue;
		size_t at = s->tid == 10 ? 0 : s->tid == 30 ? 1 : 2;

		CHECK((s->does == SCHED_WAITS) == (s->tid == 10));
		CHECK_EQ(s->begin, begins[at]);
		CHECK_EQ(s->end, ends[at]);
		n += at;
	}
	CHECK_EQ(n, 3);
	CHECK_EQ(m->switches.len, 1);
	sched_map_free(m);
	sched_names_release(&names);
}

TEST(sched_map_draws_nothing_unknown)
{
	struct sched_names names = { .first = 100, .last = 500, .cpus = 1 };
	struct sched_map *m = sched_map_new(&names, NULL);
	const struct sched_event events[] = {
		switch_at(100, 0, 10, 0, 20), switch_at(200, 0, 20, 1, 0),
		switch_at(400, 0, 30, 1, 10), /* when 30 came is not known */
	};
	_cleanup_buf_ struct buf text = BUF_INIT;
	u32 runs = 0;

	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		sched_map_events(m, &events[i], 1);
	sched_map_finish(m);
	vec_each(s, &m->stretches) {
		CHECK(s->tid != 30 || s->does == SCHED_SLEEPS);
		if (s->does == SCHED_WAITS)
			CHECK(s->tid == 10 && s->begin == 100 && s->end == 400);
		runs += s->does == SCHED_RUNS;
	}
	CHECK(runs == 2);
	sched_map_text(m, 0, &text);
	CHECK(strstr(buf_str(&text), "A0 => :20:20") != NULL);
	buf_reset(&text);
	*sched_tids_at(&names.by_tid, 20) = intern_str(&names.strings, "\033[2Jclear");
	sched_map_text(m, 1, &text);
	CHECK(strchr(buf_str(&text), '\n') == buf_str(&text) + text.len - 1);
	CHECK(strstr(buf_str(&text), "[2Jclear:20\n") && !strchr(buf_str(&text), '\033'));
	const struct timeline picture = {
		.map = m,
		.marks = &(struct marks){ 0 },
		.kinds = &(const struct sched_kinds){ .host = NULL },
		.file = "x",
	};

	buf_reset(&text);
	timeline_svg(&picture, false, &text);
	CHECK(strstr(buf_str(&text), "</svg>") != NULL);
	CHECK(strstr(buf_str(&text), ", none lost, 1 span without a start not drawn; ") != NULL);
	buf_reset(&text);
	names.lost = 1234;
	timeline_svg(&picture, true, &text);
	CHECK(strstr(buf_str(&text), ", 1,234 lost, 1 span without a start") != NULL);
	sched_map_free(m);
	sched_names_release(&names);
}

/* --- waits ------------------------------------------------------------------------------------ */

static u32 frame_named(struct profile *p, const char *name, enum frame_kind kind)
{
	struct frame f = { .name = profile_string(p, name), .kind = kind };

	return profile_get_frame(p, &f);
}

/* "main;read;vfs_read": names that begin with 'k' are the kernel's, without the letter. */
static u32 stack_of(struct profile *p, const char *text)
{
	_cleanup_free_ char *copy = xstrdup(text);
	char *save = NULL;
	u32 stack = 0;

	for (char *w = strtok_r(copy, ";", &save); w; w = strtok_r(NULL, ";", &save)) {
		bool kernel = w[0] == 'k';

		stack = profile_get_stack(
			p, stack, frame_named(p, w + kernel, kernel ? FRAME_KERNEL : FRAME_USER));
	}
	return stack;
}

static struct wait wait_in(struct profile *p, const char *comm, const char *stack, u64 blocked)
{
	return (struct wait){
		.thread = profile_get_thread(p, 1, 1, profile_string(p, comm), 0),
		.stack = stack_of(p, stack),
		.state = 1,
		.syscall = -1,
		.blocked = blocked,
		.count = 1,
	};
}

static void set_kinds(struct profile *p, wait_list *waits)
{
	struct wait_kinds *kinds;

	CHECK_EQ(wait_kinds_new(&kinds, p, NULL), 0);
	vec_each(w, waits)
		wait_kinds_set(kinds, w);
	wait_kinds_free(kinds);
}

/* The rules of tools/waits.tsv, as they are in the program. */
TEST(wait_kinds)
{
	static const struct {
		const char *stack, *comm;
		enum thread_state kind;
	} cases[] = {
		{ "main;read;kdo_syscall_64;kvfs_read;kanon_pipe_read;kschedule", "x", STATE_PIPE },
		{ "main;kdo_futex;kfutex_wait;kschedule", "x", STATE_FUTEX },
		{ "main;pthread_mutex_lock;kdo_futex;kfutex_wait;kschedule", "x", STATE_LOCK },
		{ "main;pthread_cond_wait;kdo_futex;kfutex_wait;kschedule", "x", STATE_COND },
		{ "main;pthread_cond_wait;kdo_futex;kfutex_wait", "bio_aof", STATE_WORK },
		{ "runtime.mstart;runtime.stopm;runtime.futexsleep;kfutex_wait", "x", STATE_WORK },
		{ "main;ProcSleep;WaitLatch;kdo_epoll_wait;kep_poll", "postgres", STATE_LOCK },
		{ "main;PyEval_RestoreThread;pthread_cond_timedwait;kfutex_wait", "x", STATE_LOCK },
		{ "main;khrtimer_nanosleep;kdo_nanosleep;kschedule", "x", STATE_SLEEP },
		{ "main;kdo_epoll_wait;kep_poll;kschedule", "x", STATE_POLL },
		{ "main;k__x64_sys_fsync;kvfs_fsync_range;kext4_sync_file;kjbd2_log_wait_commit",
		  "x", STATE_FLUSH },
		{ "main;kext4_file_read_iter;kfolio_wait_bit;kio_schedule", "x", STATE_DISK },
		{ "main;ktcp_recvmsg;ksk_wait_data;kschedule", "x", STATE_NETWORK },
		{ "main;kinet_accept;kinet_csk_accept;kschedule", "x", STATE_WORK },
		{ "main;kkernel_wait4;kdo_wait;kschedule", "x", STATE_CHILD },
		{ "main;kptrace_stop;kschedule", "x", STATE_STOPPED },
		{ "main;kasm_exc_page_fault;kfilemap_fault;kio_schedule", "x", STATE_FAULT },
		{ "kret_from_fork;kkthread;kworker_thread;kschedule", "x", STATE_IDLE },
		{ "main;knobody_knows;kschedule", "x", STATE_OTHER },
	};
	_cleanup_err_ struct err e = ERR_INIT;
	struct wait_kinds *kinds;
	struct profile p;

	profile_init(&p);
	CHECK_EQ(wait_kinds_new(&kinds, &p, &e), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct wait w = wait_in(&p, cases[i].comm, cases[i].stack, 1);

		CHECK_EQ(wait_kinds_of(kinds, &w), cases[i].kind);
		CHECK_EQ(wait_kinds_of(kinds, &w), cases[i].kind);
	}
	wait_kinds_free(kinds);
	profile_release(&p);
}

TEST("a futex call tells what it waits for, where it can")
{
	static const struct {
		u32 op, value;
		enum thread_state kind;
	} cases[] = {
		{ 0x80, 2, STATE_FUTEX },          { 0x80, 0x80000010, STATE_LOCK },
		{ 0x80, 0xffffffff, STATE_FUTEX }, { 0x86, 0, STATE_LOCK },
		{ 0x8d, 0, STATE_LOCK },           { 0x8b, 4, STATE_COND },
		{ 0x189, 0, STATE_FUTEX },         { 0xffffffff, 77, STATE_FUTEX },
	};
	struct wait_kinds *kinds;
	struct profile p;

	profile_init(&p);
	CHECK_EQ(wait_kinds_new(&kinds, &p, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct wait w = wait_in(&p, "x", "main;kdo_futex;kfutex_wait;kschedule", 1);

		w.syscall = offcpu_futex_call(cases[i].op, cases[i].value);
		CHECK_EQ(wait_kinds_of(kinds, &w), cases[i].kind);
	}
	wait_kinds_free(kinds);
	profile_release(&p);
}

TEST("rules of waits that cannot be read are refused with their line")
{
	static const char *const bad[] = { "nonsense\tuser=x\n", "lock\n",
					   "lock\tplace=x\n",    "lock\tuser\n",
					   "lock\tuser=\n",      "running\tuser=x\n" };
	struct wait_kinds *kinds;
	struct profile p;

	profile_init(&p);
	CHECK_EQ(wait_kinds_new(&kinds, &p, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		_cleanup_err_ struct err e = ERR_INIT;

		CHECK_EQ(wait_kinds_parse(kinds, bad[i], strlen(bad[i]), "file", &e), -EINVAL);
		CHECK(strstr(e.what, "file:1: "));
	}
	wait_kinds_free(kinds);
	profile_release(&p);
}

TEST(wait_state_letters)
{
	CHECK(streq(wait_state_name(0, OFFCPU_PREEMPTED), "R+"));
	CHECK(streq(wait_state_name(0, 0), "R"));
	CHECK(streq(wait_state_name(0x402, 0), "I"));
	CHECK(streq(wait_state_name(0x102, 0), "D"));
	CHECK(streq(wait_state_name(1, 0), "S"));
}

TEST(folded_off_wake_and_chain)
{
	struct profile p;
	wait_list waits = { 0 };
	struct wait w;
	_cleanup_buf_ struct buf out = BUF_INIT;

	profile_init(&p);
	w = wait_in(&p, "reader", "main;read;kschedule", 5000000);
	w.n_links = 2;
	w.links[0] = (struct wait_link){ .stack = stack_of(&p, "main;write;kwake"),
					 .sleep_stack = stack_of(&p, "main;nap;kschedule"),
					 .comm = profile_string(&p, "writer") };
	w.links[1] = (struct wait_link){ .stack = stack_of(&p, "khrtimer_wakeup"),
					 .kind = OFFCPU_WAKER_IRQ,
					 .comm = profile_string(&p, "[timer]") };
	vec_push(&waits, w);
	waits_to_folded(&p, &waits, WAIT_VIEW_SLEEPER, false, &out);
	CHECK(streq(buf_str(&out), "reader;main;read;schedule 5000\n"));
	buf_reset(&out);
	waits_to_folded(&p, &waits, WAIT_VIEW_BOTH, false, &out);
	CHECK(streq(buf_str(&out), "reader;main;read;schedule;--;wake;write;main;writer 5000\n"));
	buf_reset(&out);
	waits_to_folded(&p, &waits, WAIT_VIEW_WAKER, false, &out);
	CHECK(streq(buf_str(&out), "writer;main;write;wake;reader 5000\n"));
	buf_reset(&out);
	waits_to_folded(&p, &waits, WAIT_VIEW_CHAIN, false, &out);
	CHECK(streq(buf_str(&out), "reader;main;read;schedule;--;wake;write;main;writer;--;"
				   "schedule;nap;main;--;hrtimer_wakeup;[timer] 5000\n"));
	CHECK(streq(wait_irq_name(&p, w.links[1].stack, OFFCPU_WAKER_IRQ), "[timer]"));
	CHECK(streq(wait_irq_name(&p, w.stack, OFFCPU_WAKER_SOFTIRQ), "[softirq]"));
	vec_release(&waits);
	profile_release(&p);
}

TEST(folded_sums_equal_lines)
{
	struct profile p;
	wait_list waits = { 0 };
	_cleanup_buf_ struct buf out = BUF_INIT;

	profile_init(&p);
	vec_push(&waits, wait_in(&p, "b", "main;x", 1500000));
	vec_push(&waits, wait_in(&p, "a", "main;x;y", 2000000));
	vec_push(&waits, wait_in(&p, "b", "main;x", 500000));
	vec_push(&waits, wait_in(&p, "c", "main", 10)); /* less than a microsecond */
	waits_to_folded(&p, &waits, WAIT_VIEW_SLEEPER, false, &out);
	CHECK(streq(buf_str(&out), "a;main;x;y 2000\nb;main;x 2000\n"));
	waits_to_profile(&p, &waits, WAIT_VIEW_SLEEPER, false);
	CHECK(p.events.items[profile_get_event(&p, OFFCPU_EVENT)].weight == 4000010);
	vec_release(&waits);
	profile_release(&p);
}

/* --- accounts --------------------------------------------------------------------------------- */

static u64 account_sum(const struct thread_account *a)
{
	u64 sum = 0;

	for (int i = 0; i < STATE_COUNT; i++)
		sum += a->ns[i];
	return sum;
}

TEST(accounts_sum_to_wall_time)
{
	struct profile p;
	wait_list waits = { 0 };
	account_list accounts = { 0 };
	const struct offcpu_thread threads[] = {
		{ .pid = 1,
		  .tid = 1,
		  .oncpu = 300,
		  .blocked = 600,
		  .runq = 100,
		  .utime = 1,
		  .stime = 2,
		  .comm = "one" },
		/* rows beyond the account: scaled down to it */
		{ .pid = 1, .tid = 2, .oncpu = 10, .blocked = 90, .comm = "two" },
	};

	profile_init(&p);
	vec_push(&waits, wait_in(&p, "one", "main;pthread_mutex_lock;kfutex_wait", 400));
	vec_push(&waits, wait_in(&p, "two", "main;kdo_nanosleep", 180));
	vec_last(&waits)->thread = profile_get_thread(&p, 1, 2, profile_string(&p, "two"), 0);
	const struct observed seen = {
		.profile = &p, .waits = &waits, .threads = threads, .n_threads = ARRAY_SIZE(threads)
	};

	set_kinds(&p, &waits);
	accounts_build(&seen, &accounts);
	CHECK(accounts.len == 2);
	CHECK(accounts.items[0].wall == 1000 && account_sum(&accounts.items[0]) == 1000);
	CHECK(accounts.items[0].ns[STATE_LOCK] == 400);
	CHECK(accounts.items[0].ns[STATE_OTHER] == 200);
	CHECK(accounts.items[0].ns[STATE_USER] == 100 && accounts.items[0].ns[STATE_KERNEL] == 200);
	CHECK(accounts.items[1].ns[STATE_SLEEP] == 90);
	CHECK(account_sum(&accounts.items[1]) == accounts.items[1].wall);
	accounts_group(&accounts, BY_PROCESS);
	CHECK(accounts.len == 1 && accounts.items[0].n == 2 && accounts.items[0].wall == 1100);
	vec_release(&accounts);
	vec_release(&waits);
	profile_release(&p);
}

TEST("accounts of sampled waits, and of who is not separated in user and kernel")
{
	struct profile p;
	wait_list waits = { 0 };
	account_list accounts = { 0 };
	const struct offcpu_thread threads[] = {
		{ .pid = 1, .tid = 1, .oncpu = 300, .blocked = 600, .runq = 100, .comm = "one" },
		{ .pid = 1, .tid = 2, .oncpu = 10, .blocked = 90, .comm = "two" },
	};
	const struct observed seen = { .profile = &p,
				       .waits = &waits,
				       .threads = threads,
				       .n_threads = ARRAY_SIZE(threads),
				       .waits_sampled = true,
				       .unsplit = true };

	profile_init(&p);
	vec_push(&waits, wait_in(&p, "one", "main;pthread_mutex_lock;kfutex_wait", 200));
	vec_push(&waits, wait_in(&p, "one", "main;kdo_nanosleep", 100));
	set_kinds(&p, &waits);
	accounts_build(&seen, &accounts);
	CHECK_EQ(accounts.len, 2);
	/* 300 of 600 were met by a sample: two thirds of all are locks */
	CHECK_EQ(accounts.items[0].ns[STATE_LOCK], 400);
	CHECK_EQ(accounts.items[0].ns[STATE_SLEEP], 200);
	CHECK_EQ(accounts.items[0].ns[STATE_OTHER], 0);
	CHECK_EQ(accounts.items[0].ns[STATE_RUNNING], 300);
	CHECK_EQ(accounts.items[0].ns[STATE_USER] + accounts.items[0].ns[STATE_KERNEL], 0);
	CHECK_EQ(account_sum(&accounts.items[0]), accounts.items[0].wall);
	/* none met it */
	CHECK_EQ(accounts.items[1].ns[STATE_OTHER], 90);
	CHECK_EQ(account_sum(&accounts.items[1]), accounts.items[1].wall);
	vec_release(&accounts);
	vec_release(&waits);
	profile_release(&p);
}
