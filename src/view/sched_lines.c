/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/sched_lines.h"

#include "base/fmt.h"
#include "base/json.h"

/* No line is longer: room is requested once, and then written to. */
enum { LINE_MOST = 384, NAME_MOST = 64 };

#define INLINE static inline __attribute__((always_inline))

void sched_lines_init(struct sched_lines *l, struct sched_names *names,
		      enum sched_lines_format format, const struct sched_lines_more *more)
{
	*l = (struct sched_lines){ .names = names, .format = format };
	if (!more || format != SCHED_LINES_TEXT)
		return;
	l->more = *more;
	l->any_more = more->state || more->next || more->cpus;
}

void sched_lines_release(struct sched_lines *l)
{
	buf_release(&l->out);
	sched_tids_release(&l->at);
	vec_release(&l->tasks);
}

/* No NUL after it. */
INLINE char *put_text(char *to, const char *text, size_t n)
{
	memcpy(to, text, n);
	return to + n;
}

/* --- numbers ---------------------------------------------------------------------------------- */

static const char pairs[] = "0001020304050607080910111213141516171819"
			    "2021222324252627282930313233343536373839"
			    "4041424344454647484950515253545556575859"
			    "6061626364656667686970717273747576777879"
			    "8081828384858687888990919293949596979899";

INLINE void put_pair(char *to, u32 v)
{
	memcpy(to, pairs + 2 * (size_t)v, 2);
}

/* The digits of @v, the last of them before @end; returns where they begin. */
static char *put_before(char *end, u64 v)
{
	for (; v >= 100; v /= 100)
		put_pair(end -= 2, (u32)(v % 100));
	if (v >= 10)
		put_pair(end -= 2, (u32)v);
	else
		*--end = (char)('0' + v);
	return end;
}

static char *put_number(char *to, u64 v)
{
	char text[24], *begin = put_before(text + sizeof(text), v);
	size_t n = (size_t)(text + sizeof(text) - begin);

	memcpy(to, begin, n);
	return to + n;
}

/* Milliseconds of @ns with three digits: as "%11.3f", cut and not rounded. */
INLINE char *put_msec(char *to, u64 ns)
{
	enum { WIDTH = 11, POINT = WIDTH - 4 };
	u64 us = ns / 1000, ms = us / 1000;
	u32 rest = (u32)(us % 1000);

	(void)put_text(to, "      0.000", WIDTH);
	if (unlikely(ms >= 10000000))
		to = put_number(to, ms) - POINT;
	else if (ms)
		(void)put_before(to + POINT, ms);
	to[POINT] = '.';
	to[POINT + 1] = (char)('0' + rest / 100);
	put_pair(to + POINT + 2, rest % 100);
	return to + WIDTH;
}

/* --- text ------------------------------------------------------------------------------------- */

static __attribute__((noinline)) void take_second(struct sched_lines *l, u64 second)
{
	l->second = second;
	l->second_len = (u32)snprintf(l->second_text, sizeof(l->second_text), "%8llu.",
				      (unsigned long long)second);
}

/* "   12080.912774 [0001]  " */
INLINE char *put_place(struct sched_lines *l, char *to, u64 ns, u32 cpu)
{
	u64 second = ns / NSEC_PER_SEC;
	u32 us = (u32)(ns % NSEC_PER_SEC) / 1000;

	if (unlikely(second != l->second || !l->second_len))
		take_second(l, second);
	memcpy(to, l->second_text, sizeof(l->second_text));
	to += l->second_len;
	put_pair(to, us / 10000);
	put_pair(to + 2, us / 100 % 100);
	put_pair(to + 4, us % 100);
	(void)put_text(to + 6, " [0000]  ", 9);
	put_pair(to + 8, cpu / 100); /* below SCHED_CPUS_MOST */
	put_pair(to + 10, cpu % 100);
	return to + 15;
}

/* "[tid/pid]" */
static size_t ids_text(u32 tid, u32 pid, char ret[24])
{
	char *to = ret;

	*to++ = '[';
	to = put_number(to, tid);
	if (pid && pid != tid) {
		*to++ = '/';
		to = put_number(to, pid);
	}
	*to++ = ']';
	return (size_t)(to - ret);
}

/*
 * Names come from programs: what could steer a terminal is made visible. Those of the kernel's
 * workers are long; on a narrow screen no name pushes the columns after it.
 */
static size_t task_text(struct sched_lines *l, u32 tid, u32 pid, char ret[LINE_MOST / 2])
{
	_cleanup_buf_ struct buf name = BUF_INIT;
	const char *comm = sched_comm(l->names, tid);
	char ids[24];
	size_t n_ids = ids_text(tid, pid, ids), room;

	fmt_clean(&name, comm, strnlen(comm, NAME_MOST));
	room = l->more.narrow ? SCHED_LINE_NAME - n_ids : (size_t)NAME_MOST;
	if (l->more.narrow && name.len > room) {
		name.len = fmt_cut(buf_str(&name), room - 2);
		buf_addstr(&name, "..");
	}
	name.len = MIN(name.len, (size_t)NAME_MOST);
	memcpy(ret, name.data, name.len);
	memcpy(ret + name.len, ids, n_ids);
	return name.len + n_ids;
}

static __attribute__((noinline)) char *new_task(struct sched_lines *l, char *to, u32 tid, u32 comm,
						u32 pid)
{
	u32 *at = sched_tids_at(&l->at, tid);
	struct sched_line_task *task;
	size_t len = task_text(l, tid, pid, to);

	if (len <= SCHED_LINE_TASK) {
		if (!*at) {
			(void)vec_new(&l->tasks);
			*at = (u32)l->tasks.len;
		}
		task = &l->tasks.items[*at - 1];
		task->comm = comm;
		task->pid = pid;
		task->len = (u32)len;
		memset(task->text, ' ', sizeof(task->text));
		memcpy(task->text, to, len);
	}
	memset(to + len, ' ', SCHED_LINE_NAME);
	return to + len;
}

/* Blanks follow, up to the column's width at least. */
INLINE char *put_task(struct sched_lines *l, char *to, u32 tid)
{
	u32 comm = *sched_tids_at(&l->names->by_tid, tid);
	u32 pid = sched_pid(l->names, tid);
	u32 at = *sched_tids_at(&l->at, tid);
	const struct sched_line_task *task;

	if (unlikely(!tid)) {
		(void)put_text(to, "<idle>                        ", SCHED_LINE_NAME);
		return to + 6;
	}
	task = at ? &l->tasks.items[at - 1] : NULL;
	if (unlikely(!task || task->comm != comm || task->pid != pid))
		return new_task(l, to, tid, comm, pid);
	memcpy(to, task->text, sizeof(task->text));
	return to + task->len;
}

/* The columns of CPUs: @mark at @cpu, and at @other. */
static char *put_cpus(const struct sched_lines *l, char *to, char mark, u32 cpu, u32 other)
{
	if (!l->n_cpus)
		return to;
	memset(to, ' ', l->n_cpus + 2);
	if (cpu < l->n_cpus)
		to[cpu] = mark;
	if (other < l->n_cpus)
		to[other] = mark;
	return to + l->n_cpus + 2;
}

static __attribute__((noinline)) char *put_more(struct sched_lines *l, char *to,
						const struct sched_turn *t)
{
	if (l->more.state) {
		to = put_text(to, "      ", 6);
		*to++ = t->state;
	}
	if (l->more.next)
		to = put_task(l, put_text(to, "  next: ", 8), t->next);
	return to;
}

/* How much narrower a narrow line has its columns than perf has them. */
enum { LESS_TIME = 1, LESS_WAIT = 2, LESS_DELAY = 3, LESS_RUN = 3 };

/* Removes @less of the blanks at @at, except the last one. Returns the end of the line. */
static char *tighten(char *at, size_t less, char *end)
{
	size_t n = 0;

	while (n < less && at[n] == ' ' && at[n + 1] == ' ')
		n++;
	memmove(at, at + n, (size_t)(end - at) - n);
	return end - n;
}

static char *put_times(struct sched_lines *l, char *line, char *to, const struct sched_turn *t)
{
	char *wait = to, *delay = put_msec(wait, t->wait), *run = put_msec(delay, t->delay);

	to = put_msec(run, t->run);
	if (likely(!l->more.narrow))
		return to;
	to = tighten(run, LESS_RUN, to);
	to = tighten(delay, LESS_DELAY, to);
	to = tighten(wait, LESS_WAIT, to);
	return tighten(line, LESS_TIME, to);
}

static void turn_text(struct sched_lines *l, const struct sched_turn *t)
{
	char *line = buf_reserve(&l->out, LINE_MOST + l->n_cpus);
	char *to = put_place(l, line, t->time, t->cpu), *end;

	if (unlikely(l->n_cpus))
		to = put_cpus(l, to, t->tid ? 's' : 'i', t->cpu, t->cpu);
	end = put_task(l, to, t->tid);
	to = put_times(l, line, MAX(end, to + SCHED_LINE_NAME), t);
	if (unlikely(l->any_more))
		to = put_more(l, to, t);
	if (unlikely(t->gap)) {
		*to++ = ' ';
		*to++ = '?';
	}
	*to++ = '\n';
	buf_added(&l->out, (size_t)(to - line));
}

/* Beside the times, as perf has it; on a narrow screen in their place. */
static char *put_beside(const struct sched_lines *l, char *line, char *to, const char *what)
{
	enum { BESIDE = 34 };
	size_t blanks = l->more.narrow ? 2 : BESIDE;

	memset(to, ' ', blanks);
	to = put_text(to + blanks, what, strlen(what));
	return l->more.narrow ? tighten(line, LESS_TIME, to) : to;
}

static void wake_text(struct sched_lines *l, const struct sched_wake *w)
{
	char *line = buf_reserve(&l->out, LINE_MOST + l->n_cpus);
	char *to = put_place(l, line, w->time, w->cpu), *end;

	to = put_cpus(l, to, ' ', w->cpu, w->cpu);
	end = put_task(l, to, w->waker);
	to = put_beside(l, line, MAX(end, to + SCHED_LINE_NAME), "awakened: ");
	to = put_task(l, to, w->wakee);
	*to++ = '\n';
	buf_added(&l->out, (size_t)(to - line));
}

static void move_text(struct sched_lines *l, const struct sched_move *m)
{
	char *line = buf_reserve(&l->out, LINE_MOST + l->n_cpus);
	char *to = put_place(l, line, m->time, m->cpu), *end;

	to = put_cpus(l, to, 'm', m->from, m->to);
	end = put_task(l, to, m->mover);
	to = put_beside(l, line, MAX(end, to + SCHED_LINE_NAME), "migrated: ");
	to = put_task(l, to, m->tid);
	to = put_number(put_text(to, " cpu ", 5), m->from);
	to = put_number(put_text(to, " => ", 4), m->to);
	*to++ = '\n';
	buf_added(&l->out, (size_t)(to - line));
}

struct widths {
	int time, wait, delay, run;
	const char *names[3];
};

static struct widths widths_of(const struct sched_lines *l)
{
	if (!l->more.narrow)
		return (struct widths){ 15, 10, 10, 10, { "wait time", "sch delay", "run time" } };
	return (struct widths){ 15 - LESS_TIME,
				10 - LESS_WAIT,
				10 - LESS_DELAY,
				10 - LESS_RUN,
				{ "wait", "delay", "run" } };
}

static void heading_text(struct sched_lines *l)
{
	const struct widths w = widths_of(l);
	static const char line[] = "------------------------------";
	_cleanup_buf_ struct buf cpus = BUF_INIT, dashes = BUF_INIT;
	int width;

	/* where the recording does not say how many there are: those met so far */
	if (l->more.cpus)
		l->n_cpus = l->names->machine_cpus ? l->names->machine_cpus : l->names->cpus;
	for (u32 i = 0; i < l->n_cpus; i++) {
		buf_addch(&cpus, "0123456789abcdef"[i % 16]);
		buf_addch(&dashes, '-');
	}
	if (l->n_cpus) {
		buf_addstr(&cpus, "  ");
		buf_addstr(&dashes, "  ");
	}
	width = (int)cpus.len;
	buf_addf(&l->out, "%*s %6s  %s%-30s %*s %*s %*s%s\n", w.time, "time", "cpu", buf_str(&cpus),
		 "task name", w.wait, w.names[0], w.delay, w.names[1], w.run, w.names[2],
		 l->more.state ? "  state" : "");
	buf_addf(&l->out, "%*s %6s  %*s%-30s %*s %*s %*s\n", w.time, "", "", width, "", "[tid/pid]",
		 w.wait, "(msec)", w.delay, "(msec)", w.run, "(msec)");
	buf_addf(&l->out, "%.*s %.6s  %s%.30s  %.*s  %.*s  %.*s%s\n", w.time, line, line,
		 buf_str(&dashes), line, w.wait - 1, line, w.delay - 1, line, w.run - 1, line,
		 l->more.state ? "  -----" : "");
}

/* --- for programs ----------------------------------------------------------------------------- */

static void turn_json(struct sched_lines *l, const struct sched_turn *t)
{
	struct json w;
	const char state[2] = { t->state, 0 };

	json_init(&w, &l->out, false);
	json_open(&w);
	json_kv_u64(&w, "time_ns", t->time);
	json_kv_u64(&w, "cpu", t->cpu);
	json_kv_u64(&w, "tid", t->tid);
	json_kv_str(&w, "comm", sched_comm(l->names, t->tid));
	json_kv_str(&w, "state", state);
	json_kv_u64(&w, "wait_ns", t->wait);
	json_kv_u64(&w, "delay_ns", t->delay);
	json_kv_u64(&w, "run_ns", t->run);
	json_kv_u64(&w, "next_tid", t->next);
	json_kv_bool(&w, "gap", t->gap);
	json_close(&w);
	buf_addch(&l->out, '\n');
}

static void csv_number(struct buf *out, u64 v)
{
	buf_addu(out, v);
	buf_addch(out, ',');
}

static void turn_csv(struct sched_lines *l, const struct sched_turn *t)
{
	struct buf *out = &l->out;

	csv_number(out, t->time);
	csv_number(out, t->cpu);
	csv_number(out, t->tid);
	buf_addch(out, '"');
	for (const char *c = sched_comm(l->names, t->tid); *c; c++) {
		if (*c == '"')
			buf_addch(out, '"');
		buf_addch(out, *c);
	}
	buf_addstr(out, "\",");
	buf_addch(out, t->state);
	buf_addch(out, ',');
	csv_number(out, t->wait);
	csv_number(out, t->delay);
	csv_number(out, t->run);
	csv_number(out, t->next);
	buf_addstr(out, t->gap ? "1\n" : "0\n");
}

static void wake_json(struct sched_lines *l, const struct sched_wake *w)
{
	struct json j;

	json_init(&j, &l->out, false);
	json_open(&j);
	json_kv_str(&j, "event", "wakeup");
	json_kv_u64(&j, "time_ns", w->time);
	json_kv_u64(&j, "cpu", w->cpu);
	json_kv_u64(&j, "waker_tid", w->waker);
	json_kv_str(&j, "waker_comm", sched_comm(l->names, w->waker));
	json_kv_u64(&j, "tid", w->wakee);
	json_kv_str(&j, "comm", sched_comm(l->names, w->wakee));
	json_close(&j);
	buf_addch(&l->out, '\n');
}

static void move_json(struct sched_lines *l, const struct sched_move *m)
{
	struct json j;

	json_init(&j, &l->out, false);
	json_open(&j);
	json_kv_str(&j, "event", "migration");
	json_kv_u64(&j, "time_ns", m->time);
	json_kv_u64(&j, "cpu", m->cpu);
	json_kv_u64(&j, "mover_tid", m->mover);
	json_kv_str(&j, "mover_comm", sched_comm(l->names, m->mover));
	json_kv_u64(&j, "tid", m->tid);
	json_kv_str(&j, "comm", sched_comm(l->names, m->tid));
	json_kv_u64(&j, "from_cpu", m->from);
	json_kv_u64(&j, "to_cpu", m->to);
	json_close(&j);
	buf_addch(&l->out, '\n');
}

/* --- lines ------------------------------------------------------------------------------------ */

void sched_lines_heading(struct sched_lines *l)
{
	if (l->begun)
		return;
	l->begun = true;
	if (l->format == SCHED_LINES_CSV)
		buf_addstr(&l->out, "time_ns,cpu,tid,comm,state,wait_ns,delay_ns,run_ns,next_tid,"
				    "gap\n");
	else if (l->format == SCHED_LINES_TEXT)
		heading_text(l);
}

void sched_lines_turn(struct sched_lines *l, const struct sched_turn *t)
{
	if (unlikely(!l->begun))
		sched_lines_heading(l);
	switch (l->format) {
	case SCHED_LINES_TEXT: turn_text(l, t); break;
	case SCHED_LINES_JSON: turn_json(l, t); break;
	case SCHED_LINES_CSV: turn_csv(l, t); break;
	}
}

void sched_lines_wake(struct sched_lines *l, const struct sched_wake *w)
{
	if (unlikely(!l->begun))
		sched_lines_heading(l);
	if (l->format == SCHED_LINES_TEXT)
		wake_text(l, w);
	else if (l->format == SCHED_LINES_JSON)
		wake_json(l, w);
}

void sched_lines_move(struct sched_lines *l, const struct sched_move *m)
{
	if (unlikely(!l->begun))
		sched_lines_heading(l);
	if (l->format == SCHED_LINES_TEXT)
		move_text(l, m);
	else if (l->format == SCHED_LINES_JSON)
		move_json(l, m);
}
