/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fathom timechart: tasks and CPUs over time, as perf timechart draws them. */
#include "base/stop.h"
#include "cli/output.h"
#include "recorder/sched_watch.h"
#include "recording/recording.h"
#include "view/timechart.h"
#include "view/timeline.h"

struct timechart_args {
	const char *input;
	u64 duration;
	u64 tasks;
	u64 width;
	str_list processes;
	bool power_only, tasks_only, io_only;
	bool ignored;
	u64 ignored_number;
	u64 ring;
	struct output_args output;
};

#define AT(field) .offset = offsetof(struct timechart_args, field)

static const struct opt timechart_options[] = {
	{ 'i', "input", OPT_FILE, AT(input), .arg = "FILE",
	  .help = "a recording of 'perf timechart record'; else the running machine" },
	{ 'd', "duration", OPT_DURATION, AT(duration), .arg = "TIME",
	  .help = "how long to watch the running machine; else, or with 0, until Ctrl-C" },
	{ 'n', "proc-num", OPT_U64, AT(tasks), .arg = "N", .def = "15", .max = 2000,
	  .help = "maximum number of tasks shown, the busiest first" },
	{ 'w', "width", OPT_U64, AT(width), .arg = "PIXELS", .max = 100000, .flags = OPT_INSTEAD,
	  .help = "width of the picture (default 1200)" },
	{ 'p', "process", OPT_STRINGS, AT(processes), .arg = "PID|NAME",
	  .help = "only this process, thread or name" },
	{ 'P', "power-only", OPT_FLAG, AT(power_only),
	  .help = "only CPUs with their power states" },
	{ 'T', "tasks-only", OPT_FLAG, AT(tasks_only), .help = "only tasks",
	  .conflicts = "power-only" },
	{ 'I', "io-only", OPT_FLAG, AT(io_only),
	  .help = "I/O of tasks by their system calls, from 'perf timechart record -I'" },
	{ .name = "force-perf",
	  .short_name = 'f',
	  .type = OPT_FLAG,
	  AT(ignored),
	  .flags = OPT_HIDDEN,
	  .alias = "topology io-skip-eagain",
	  .help = "accepted for compatibility with perf" },
	{ .short_name = 't', .type = OPT_FLAG, AT(ignored), .flags = OPT_HIDDEN },
	{ .name = "io-min-time",
	  .type = OPT_U64,
	  AT(ignored_number),
	  .arg = "N",
	  .flags = OPT_HIDDEN,
	  .alias = "io-merge-dist",
	  .help = "accepted for compatibility with perf" },
	{ .type = OPT_INCLUDE, .include = output_options, AT(output) },
	{ 'm', "ring", OPT_SIZE, AT(ring), .arg = "SIZE", .def = "8M",
	  .help = "live: ring for each CPU" },
	OPT_END,
};

struct job {
	struct context *ctx;
	const struct timechart_args *args;
	struct output_args output;
	int fd; /* -1: from the file */
	struct sched_filter filter;
	struct sched_names names;
	struct sched_map *map;
	struct sched_kinds kinds;
	struct activities activities;
	struct timechart chart;
	struct map rows; /* tid -> index in chart.tasks + 1 */
};

static int open_recording(struct job *j, struct recording **ret)
{
	if (j->fd < 0)
		return recording_open(j->args->input, ret, &j->ctx->err);
	lseek(j->fd, 0, SEEK_SET);
	return recording_open_fd(j->fd, "the recording", ret, &j->ctx->err);
}

/* --- what there is ---------------------------------------------------------------------------- */

static int read_activities(struct job *j)
{
	struct recording *r = NULL;
	int rc = open_recording(j, &r);

	if (rc >= 0)
		rc = activities_read(r, &j->activities, &j->ctx->err);
	recording_free(r);
	return rc;
}

static int read_kinds(struct job *j)
{
	struct recording *r = NULL;
	int rc = open_recording(j, &r);

	if (rc >= 0)
		rc = sched_kinds_read(r, &j->kinds, &j->ctx->err);
	recording_free(r);
	return rc;
}

/* A recording of I/O has no switches. */
static bool has_other(const struct job *j)
{
	for (int i = 0; i < ACTIVITY_KINDS; i++)
		if (j->activities.counts[i])
			return true;
	return false;
}

static int read_schedule(struct job *j)
{
	int rc;

	if (j->fd >= 0)
		lseek(j->fd, 0, SEEK_SET);
	else
		stop_at_once();
	j->filter.types = ~(1u << SCHED_RUNTIME);
	rc = sched_read(j->fd < 0 ? j->args->input : NULL, j->fd, &j->filter, &j->names,
			sched_map_events, j->map, &j->ctx->err);
	if (rc == -ENODATA && has_other(j)) {
		err_release(&j->ctx->err);
		j->names.first = j->activities.first;
		j->names.last = j->activities.last;
		rc = 0;
	}
	if (rc >= 0 && j->names.has[SCHED_SWITCH])
		rc = read_kinds(j);
	if (rc < 0)
		return rc;
	sched_map_kinds(j->map, &j->kinds);
	sched_map_finish(j->map);
	return 0;
}

static int read_all(struct job *j)
{
	int rc = read_activities(j);

	return rc < 0 ? rc : read_schedule(j);
}

/* --- tasks ------------------------------------------------------------------------------------ */

static bool is_chosen(struct job *j, u32 tid)
{
	const char *comm;

	if (!tid)
		return false;
	if (!j->args->processes.len)
		return true;
	comm = timechart_comm(&j->chart, tid);
	vec_each(which, &j->args->processes) {
		char *end;
		unsigned long n = strtoul(*which, &end, 10);

		if (*which != end && !*end ? n == tid || n == sched_pid(&j->names, tid)
					   : streq(*which, comm))
			return true;
	}
	return false;
}

static struct timechart_task *task_of(struct job *j, u32 tid, u64 time)
{
	u64 *at = map_at(&j->rows, tid);

	if (!*at) {
		vec_push(&j->chart.tasks, (struct timechart_task){ .tid = tid, .first = time });
		*at = j->chart.tasks.len;
	}
	return &j->chart.tasks.items[*at - 1];
}

static void add_stretches(struct job *j)
{
	vec_each(s, &j->map->stretches) {
		u64 ns = s->end - s->begin;
		struct timechart_task *t;

		if (!is_chosen(j, s->tid))
			continue;
		t = task_of(j, s->tid, s->begin);
		if (s->does == SCHED_RUNS)
			t->runs += ns;
		else if (s->does == SCHED_WAITS)
			t->waits += ns;
		else if (s->does == SCHED_DISK || s->kind == STATE_DISK || s->kind == STATE_FLUSH ||
			 s->kind == STATE_NETWORK)
			t->blocked += ns;
		else
			t->sleeps += ns;
	}
}

static void add_activities(struct job *j)
{
	vec_each(a, &j->activities.items) {
		struct timechart_task *t;

		if (a->kind <= ACTIVITY_FREQUENCY || !is_chosen(j, a->who))
			continue;
		t = task_of(j, a->who, a->begin);
		t->io[a->kind] += a->end - a->begin;
		t->io_bytes += a->bytes;
	}
}

/* How much of it is visible. */
static u64 weight(const struct timechart_task *t)
{
	u64 io = t->io[ACTIVITY_DISK] + t->io[ACTIVITY_SYNC] + t->io[ACTIVITY_NETWORK];

	return t->runs + t->waits + t->blocked + io;
}

static int by_weight(const void *a, const void *b)
{
	const struct timechart_task *x = a, *y = b;
	u64 wx = weight(x), wy = weight(y);

	if (wx != wy)
		return wx > wy ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static int by_first(const void *a, const void *b)
{
	const struct timechart_task *x = a, *y = b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static void choose_tasks(struct job *j)
{
	u64 most = j->args->power_only ? 0 : j->args->tasks;

	add_stretches(j);
	add_activities(j);
	vec_sort(&j->chart.tasks, by_weight);
	if (j->chart.tasks.len > most) {
		j->chart.more = j->chart.tasks.len - most;
		j->chart.tasks.len = (size_t)most;
	}
}

/* --- tables ----------------------------------------------------------------------------------- */

static void show_tasks(struct job *j, struct result *r)
{
	static const struct column columns[] = {
		{ "tid", "TID", VALUE_PID, 0 },
		{ "comm", "COMM", VALUE_TEXT, 0 },
		{ "runs_ns", "RUNS", VALUE_DURATION, 0 },
		{ "waits_ns", "WAITS", VALUE_DURATION, 0 },
		{ "blocked_ns", "BLOCKED", VALUE_DURATION, 0 },
		{ "sleeps_ns", "SLEEPS", VALUE_DURATION, 0 },
		{ "disk_ns", "DISK", VALUE_DURATION, COLUMN_SPARE },
		{ "sync_ns", "SYNC", VALUE_DURATION, COLUMN_SPARE },
		{ "network_ns", "NET", VALUE_DURATION, COLUMN_SPARE },
		{ "poll_ns", "POLL", VALUE_DURATION, COLUMN_SPARE },
		{ "io_bytes", "BYTES", VALUE_BYTES, COLUMN_SPARE },
	};
	struct table *out = result_table(r, "tasks", NULL, columns, ARRAY_SIZE(columns));

	vec_each(t, &j->chart.tasks) {
		struct row *row = table_row(r, out);
		const u64 times[] = { t->runs, t->waits, t->blocked, t->sleeps };

		row->cells[0] = value_u(VALUE_PID, t->tid);
		row->cells[1] = value_text(r, timechart_comm(&j->chart, t->tid));
		for (u32 i = 0; i < ARRAY_SIZE(times); i++)
			row->cells[2 + i] = value_u(VALUE_DURATION, times[i]);
		for (u32 i = ACTIVITY_DISK; i < ACTIVITY_KINDS; i++)
			if (t->io[i])
				row->cells[6 + i - ACTIVITY_DISK] =
					value_u(VALUE_DURATION, t->io[i]);
		if (t->io_bytes)
			row->cells[10] = value_u(VALUE_BYTES, t->io_bytes);
	}
}

static int by_state(const void *a, const void *b)
{
	const struct activity *x = a, *y = b;

	if (x->who != y->who)
		return x->who < y->who ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return x->detail < y->detail ? -1 : x->detail > y->detail;
}

/* How long each CPU was in each state. */
static void show_power(struct job *j, struct result *r)
{
	static const struct column columns[] = {
		{ "cpu", "CPU", VALUE_INT, 0 },       { "kind", "KIND", VALUE_TEXT, 0 },
		{ "state", "STATE", VALUE_INT, 0 },   { "time_ns", "TIME", VALUE_DURATION, 0 },
		{ "times", "TIMES", VALUE_COUNT, 0 },
	};
	struct table *out = NULL;
	const struct activity *last = NULL;
	struct row *row = NULL;

	vec_sort(&j->activities.items, by_state);
	vec_each(a, &j->activities.items) {
		if (a->kind > ACTIVITY_FREQUENCY)
			continue;
		if (!out)
			out = result_table(r, "power", "Power states of CPUs (frequencies in kHz)",
					   columns, ARRAY_SIZE(columns));
		if (!last || by_state(last, a) != 0) {
			row = table_row(r, out);
			row->cells[0] = value_u(VALUE_INT, a->who);
			row->cells[1] = value_text(r, activity_name(a->kind));
			row->cells[2] = value_u(VALUE_INT, a->detail);
			row->cells[3] = value_u(VALUE_DURATION, 0);
			row->cells[4] = value_u(VALUE_COUNT, 0);
		}
		row->cells[3].u += a->end - a->begin;
		row->cells[4].u++;
		last = a;
	}
}

static void add_health(struct job *j, struct result *r)
{
	if (j->names.has[SCHED_SWITCH])
		sched_health(&j->names, r);
	result_loss(r, "not_drawn", "spans beyond what there is room for",
		    j->activities.dropped + j->map->dropped);
	result_loss(r, "unbegun", "calls whose begin is not in the recording",
		    j->activities.unbegun);
	if (!j->activities.counts[ACTIVITY_IDLE] && !j->activities.counts[ACTIVITY_FREQUENCY] &&
	    !j->args->tasks_only && !j->args->io_only)
		result_note(r, NOTE_INFO, NULL,
			    "there are no events of power states: the machine has none, or they "
			    "were not recorded");
	if (j->chart.more && !j->args->power_only)
		result_note(r, NOTE_INFO, "-n N shows more", "%llu more tasks are not shown",
			    (unsigned long long)j->chart.more);
}

static int show_tables(struct job *j)
{
	_cleanup_result_ struct result r = { 0 };

	result_init(&r, "timechart");
	add_health(j, &r);
	if (!j->args->power_only)
		show_tasks(j, &r);
	if (!j->args->tasks_only && !j->args->io_only)
		show_power(j, &r);
	return cli_show(j->ctx, &r);
}

/* --- pictures --------------------------------------------------------------------------------- */

/* Power states and I/O as spans of the time line. */
static void make_marks(struct job *j, struct marks *m)
{
	vec_each(a, &j->activities.items) {
		bool power = a->kind <= ACTIVITY_FREQUENCY;
		char name[64];

		if (power ? j->args->tasks_only || j->args->io_only : j->args->power_only)
			continue;
		if (m->items.len >= MARKS_MOST) {
			m->dropped++;
			continue;
		}
		if (a->kind == ACTIVITY_IDLE)
			snprintf(name, sizeof(name), "CPU %u: C%u", a->who, a->detail);
		else if (power)
			snprintf(name, sizeof(name), "CPU %u: %u MHz", a->who, a->detail / 1000);
		else
			snprintf(name, sizeof(name), "%s: %s", activity_name(a->kind),
				 intern_get(&j->activities.names, a->detail));
		vec_push(&m->items, (struct mark){ .begin = a->begin,
						   .end = a->end,
						   .tid = power ? 0 : a->who,
						   .name = intern_str(&m->names, name),
						   .span = true });
	}
}

static int draw(struct job *j)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	struct marks marks = { 0 };
	const struct timeline line = { .map = j->map,
				       .marks = &marks,
				       .kinds = &j->kinds,
				       .file = j->args->input ? j->args->input : "fathom.data" };

	if (output_is(&j->output, "html")) {
		make_marks(j, &marks);
		timeline_svg(&line, true, &out);
		marks_release(&marks);
	} else {
		vec_sort(&j->chart.tasks, by_first);
		timechart_svg(&j->chart, &out);
	}
	return output_write(j->ctx, &j->output, &out);
}

static int run_job(struct job *j)
{
	int rc = read_all(j);

	if (rc < 0)
		return rc == -ENODATA ? EXIT_NOTHING : rc;
	if (j->args->io_only && !j->activities.counts[ACTIVITY_DISK] &&
	    !j->activities.counts[ACTIVITY_SYNC] && !j->activities.counts[ACTIVITY_NETWORK] &&
	    !j->activities.counts[ACTIVITY_POLL]) {
		err_set(&j->ctx->err, ENODATA, "there is no system call of I/O in the recording");
		err_hint(&j->ctx->err, "'fathom perf timechart record -I' records them; without "
				       "--io-only what blocks on I/O is shown");
		return EXIT_NOTHING;
	}
	choose_tasks(j);
	return j->output.path ? draw(j) : show_tables(j);
}

static int open_input(struct job *j)
{
	const struct timechart_args *a = j->args;
	int rc;

	if (a->input)
		return 0;
	cli_progress_watching(j->ctx, a->duration);
	rc = sched_watch(a->duration, a->ring, SCHED_WATCH_STACKS | SCHED_WATCH_POWER, &j->fd,
			 &j->ctx->err);
	cli_progress(j->ctx, "%s", "");
	return rc == -EPERM || rc == -EACCES ? EXIT_MISSING : rc;
}

static int timechart_run(struct context *ctx, void *args)
{
	struct timechart_args *a = args;
	struct job j = { .ctx = ctx, .args = a, .fd = -1, .output = a->output };
	int rc;

	/* as perf does */
	if (ctx->as_perf && !a->input)
		a->input = "perf.data";
	if (ctx->as_perf && !j.output.path)
		j.output = (struct output_args){ .path = "output.svg", .force = true };
	rc = output_check(ctx, &j.output, "svg html");
	if (!rc && a->width && a->width < 400) {
		err_set(&ctx->err, EINVAL, "a width of %llu pixels is too narrow",
			(unsigned long long)a->width);
		err_hint(&ctx->err, "400 are the least");
		rc = EXIT_USAGE;
	}
	if (rc)
		return rc;
	j.map = sched_map_new(&j.names, &j.filter);
	j.chart = (struct timechart){ .map = j.map,
				      .activities = &j.activities,
				      .width = (u32)a->width,
				      .cpus = !a->tasks_only && !a->io_only,
				      .io = a->io_only };
	rc = open_input(&j);
	if (!rc)
		rc = run_job(&j);
	vec_release(&j.chart.tasks);
	map_release(&j.rows);
	activities_release(&j.activities);
	sched_kinds_release(&j.kinds);
	sched_map_free(j.map);
	sched_names_release(&j.names);
	if (j.fd >= 0)
		close(j.fd);
	return rc;
}

static const struct example timechart_examples[] = {
	{ "fathom timechart -d 1s -o chart.svg", "one second of the machine as a picture" },
	{ "fathom timechart -d 1s -o chart.html", "the same, to zoom into" },
	{ "fathom timechart -d 1s -p postgres", "as a table, of one program" },
	{ "fathom timechart -i perf.data -o chart.svg", "a file of 'perf timechart record'" },
	{ "fathom timechart -i perf.data --io-only -o io.svg", "I/O, of a recording with -I" },
	{ 0 },
};

const struct command cmd_timechart = {
	.name = "timechart",
	.summary = "tasks and CPUs over time: running, waiting, I/O, power states",
	.description =
		"Draws a bar for each CPU with what ran there and its power states, and one for "
		"each task: when it ran, when it waited for a CPU, and when it was blocked on "
		"I/O. With -o FILE.svg this is the picture of 'perf timechart'; with -o "
		"FILE.html the time line of 'fathom sched map', with power states and I/O as "
		"spans; without -o it is sums for each task and each power state.\n\n"
		"Where a pixel covers several states, the height of each colour is its share of "
		"the time.",
	.question = Q_WAIT,
	.options = timechart_options,
	.args_size = sizeof(struct timechart_args),
	.instead_of = "timechart",
	.examples = timechart_examples,
	.see_also = "fathom-sched fathom-threads perf-timechart",
	.run = timechart_run,
};
