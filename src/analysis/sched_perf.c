/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/sched_perf.h"

#include "base/vec.h"

enum turn_state { TURN_SLEEPS, TURN_WAITS, TURN_RUNS, TURN_IGNORED };

/* A task, and from merge() on all tasks of a name. */
struct perf_row {
	char *comm; /* from sched_perf_text() on, or as it was when another got the tid */
	u32 tid;
	u32 tasks;
	enum turn_state state; /* of the last turn */
	u64 out, woken;
	u64 runtime, delay, turns;
	u64 longest, from, to;
};

enum { KEYS_MOST = 16 };

struct sched_perf {
	struct sched_names *names;
	const struct sched_perf_args *args;
	VEC(struct perf_row) rows;
	struct sched_tids at; /* tid -> index + 1 */
	u64 wakes, unordered, jumps;
	u32 runs[SCHED_CPUS_MOST]; /* who came last, + 1 */
};

struct sched_perf *sched_perf_new(struct sched_names *names, const struct sched_perf_args *args)
{
	struct sched_perf *p = xcalloc(1, sizeof(*p));

	p->names = names;
	p->args = args;
	return p;
}

void sched_perf_free(struct sched_perf *p)
{
	vec_each(row, &p->rows)
		free(row->comm);
	vec_release(&p->rows);
	sched_tids_release(&p->at);
	free(p);
}

/* --- counting --------------------------------------------------------------------------------- */

static void begin(struct perf_row *row, bool runnable, u64 time)
{
	row->out = time;
	row->state = runnable ? TURN_WAITS : TURN_SLEEPS;
	row->woken = runnable ? time : 0;
}

/* One that is heard of for the first time is taken to be runnable or asleep from now on. */
static struct perf_row *row_of(struct sched_perf *p, u32 tid, bool runnable, u64 time)
{
	u32 *at = sched_tids_at(&p->at, tid);
	struct perf_row *row;

	if (*at)
		return &p->rows.items[*at - 1];
	row = vec_new(&p->rows);
	*row = (struct perf_row){ .tid = tid, .tasks = 1 };
	*at = (u32)p->rows.len;
	begin(row, runnable, time);
	return row;
}

static void come(struct perf_row *row, u64 time)
{
	u64 delay = time - row->woken;

	if (row->state != TURN_WAITS)
		return;
	if (time < row->woken) {
		row->state = TURN_IGNORED;
		return;
	}
	row->state = TURN_RUNS;
	row->delay += delay;
	row->turns++;
	if (delay <= row->longest)
		return;
	row->longest = delay;
	row->from = row->woken;
	row->to = time;
}

static void on_switch(struct sched_perf *p, const struct sched_event *ev)
{
	u32 *runs = &p->runs[ev->cpu];

	p->jumps += *runs && *runs != ev->prev + 1;
	*runs = ev->next + 1;
	begin(row_of(p, ev->prev, false, ev->time), !ev->state, ev->time);
	come(row_of(p, ev->next, true, ev->time), ev->time);
}

static void on_wake(struct sched_perf *p, const struct sched_event *ev)
{
	struct perf_row *row = row_of(p, ev->next, false, ev->time);

	/* one that is on a run queue already has been waiting for longer */
	if (!p->args->one_cpu && row->state != TURN_SLEEPS)
		return;
	p->wakes++;
	if (row->out > ev->time) {
		p->unordered++;
		return;
	}
	row->state = TURN_WAITS;
	row->woken = ev->time;
}

static void on_migrate(struct sched_perf *p, const struct sched_event *ev)
{
	struct perf_row *row;

	if (!p->args->one_cpu)
		return;
	row = row_of(p, ev->next, true, ev->time);
	row->out = row->woken = ev->time;
	p->wakes++;
}

/* Another task gets the number: the row keeps the name that this one had. */
static void on_birth(struct sched_perf *p, const struct sched_event *ev)
{
	u32 *at = sched_tids_at(&p->at, ev->next);

	if (!*at)
		return;
	p->rows.items[*at - 1].comm = xstrdup(sched_comm(p->names, ev->next));
	*at = 0;
}

int sched_perf_events(void *perf, const struct sched_event *ev, size_t n)
{
	struct sched_perf *p = perf;

	for (; n; n--, ev++) {
		switch ((enum sched_type)ev->type) {
		case SCHED_SWITCH: on_switch(p, ev); break;
		case SCHED_WAKEUP:
			if (!p->names->has[SCHED_WAKING])
				on_wake(p, ev);
			break;
		case SCHED_WAKING:
		case SCHED_WAKEUP_NEW: on_wake(p, ev); break;
		case SCHED_MIGRATE: on_migrate(p, ev); break;
		case SCHED_RUNTIME:
			row_of(p, ev->next, true, ev->time)->runtime += ev->runtime;
			break;
		case SCHED_BORN: on_birth(p, ev); break;
		default: break;
		}
	}
	return 0;
}

/* --- the table -------------------------------------------------------------------------------- */

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

static u64 average(const struct perf_row *row)
{
	return row->turns ? row->delay / row->turns : 0;
}

static int by_average(const struct perf_row *a, const struct perf_row *b)
{
	return COMPARE(average(a), average(b));
}

static int by_longest(const struct perf_row *a, const struct perf_row *b)
{
	return COMPARE(a->longest, b->longest);
}

static int by_turns(const struct perf_row *a, const struct perf_row *b)
{
	return COMPARE(a->turns, b->turns);
}

static int by_runtime(const struct perf_row *a, const struct perf_row *b)
{
	return COMPARE(a->runtime, b->runtime);
}

static int by_tid(const struct perf_row *a, const struct perf_row *b)
{
	return COMPARE(a->tid, b->tid);
}

typedef int (*row_compare)(const struct perf_row *a, const struct perf_row *b);

static const struct {
	const char *name;
	row_compare compare;
} keys[] = {
	{ "avg", by_average },     { "max", by_longest }, { "switch", by_turns },
	{ "runtime", by_runtime }, { "pid", by_tid },
};

/* Fills @ret up to a NULL; -EINVAL: *ret_bad is not a key. */
static int parse_sort(const char *sort, row_compare ret[KEYS_MOST + 1], char **ret_bad)
{
	_cleanup_free_ char *copy = xstrdup(sort ? sort : "avg, max, switch, runtime");
	char *save = NULL;
	size_t n = 0;

	for (char *word = strtok_r(copy, ", ", &save); word; word = strtok_r(NULL, ", ", &save)) {
		size_t i = 0;

		while (i < ARRAY_SIZE(keys) && !streq(keys[i].name, word))
			i++;
		if (i == ARRAY_SIZE(keys)) {
			*ret_bad = xstrdup(word);
			return -EINVAL;
		}
		if (n < KEYS_MOST)
			ret[n++] = keys[i].compare;
	}
	ret[n] = NULL;
	return 0;
}

int sched_perf_check_sort(const char *sort, char **ret_bad)
{
	row_compare compare[KEYS_MOST + 1];

	return parse_sort(sort, compare, ret_bad);
}

/* perf's order where no key decides: of names, and of tasks that are shown one by one, backwards.
 */
static int by_name(const void *a, const void *b)
{
	const struct perf_row *x = a, *y = b;
	int r = strcmp(y->comm, x->comm);

	return r ? r : -by_tid(x, y);
}

static int by_task(const void *a, const void *b)
{
	return -by_tid(a, b);
}

/* The first row of each name, which is that of the highest tid, takes the others in. */
static void merge(struct sched_perf *p)
{
	size_t kept = 0;

	vec_sort(&p->rows, by_name);
	for (size_t i = 1; i < p->rows.len; i++) {
		struct perf_row *to = &p->rows.items[kept], *row = &p->rows.items[i];

		if (!streq(to->comm, row->comm)) {
			p->rows.items[++kept] = *row;
			continue;
		}
		free(row->comm);
		to->tasks++;
		to->runtime += row->runtime;
		to->turns += row->turns;
		to->delay += row->delay;
		if (to->longest < row->longest) {
			to->longest = row->longest;
			to->from = row->from;
			to->to = row->to;
		}
	}
	p->rows.len = MIN(p->rows.len, kept + 1);
}

struct order {
	const struct perf_row *first;
	row_compare compare[KEYS_MOST + 1];
};

static int by_keys(const void *a, const void *b, void *ctx)
{
	const u32 *x = a, *y = b;
	const struct order *o = ctx;

	for (const row_compare *c = o->compare; *c; c++) {
		int r = (*c)(&o->first[*x], &o->first[*y]);

		if (r)
			return -r;
	}
	return COMPARE(*x, *y);
}

static void row_text(const struct perf_row *row, struct buf *ret)
{
	size_t start = ret->len;

	if (row->tasks > 1)
		buf_addf(ret, "  %s:(%u) ", row->comm, row->tasks);
	else
		buf_addf(ret, "  %s:%u ", row->comm, row->tid);
	while (ret->len - start < 24)
		buf_addch(ret, ' ');
	buf_addf(ret, "|%11.3f ms |%9llu | avg:%8.3f ms | max:%8.3f ms",
		 (double)row->runtime / NSEC_PER_MSEC, (unsigned long long)row->turns,
		 (double)average(row) / NSEC_PER_MSEC, (double)row->longest / NSEC_PER_MSEC);
	buf_addf(ret, " | max start: %5llu.%06llu s | max end: %5llu.%06llu s\n",
		 (unsigned long long)(row->from / NSEC_PER_SEC),
		 (unsigned long long)(row->from % NSEC_PER_SEC / NSEC_PER_USEC),
		 (unsigned long long)(row->to / NSEC_PER_SEC),
		 (unsigned long long)(row->to % NSEC_PER_SEC / NSEC_PER_USEC));
}

static void dashes(struct buf *ret, u32 n)
{
	buf_addch(ret, ' ');
	while (n--)
		buf_addch(ret, '-');
	buf_addch(ret, '\n');
}

static void part_of(struct buf *ret, const char *what, u64 part, u64 all)
{
	if (part && all)
		buf_addf(ret, "  INFO: %.3f%% %s (%llu out of %llu",
			 100.0 * (double)part / (double)all, what, (unsigned long long)part,
			 (unsigned long long)all);
}

static void faults_text(const struct sched_perf *p, struct buf *ret)
{
	const struct sched_names *n = p->names;
	size_t start = ret->len;

	part_of(ret, "unordered timestamps", p->unordered, p->wakes);
	buf_addf(ret, "%s", ret->len > start ? ")\n" : "");
	start = ret->len;
	part_of(ret, "lost events", n->lost, n->events);
	buf_addf(ret, "%s", ret->len > start ? ")\n" : "");
	start = ret->len;
	part_of(ret, "context switch bugs", p->jumps, p->wakes);
	if (ret->len > start)
		buf_addf(ret, ")%s\n", n->lost ? " (due to lost events?)" : "");
}

void sched_perf_text(struct sched_perf *p, struct buf *ret)
{
	_cleanup_free_ u32 *index = NULL;
	struct order order = { 0 };
	u64 runtime = 0, turns = 0;
	char *bad = NULL;

	vec_each(row, &p->rows)
		row->comm = row->comm ? row->comm : xstrdup(sched_comm(p->names, row->tid));
	if (p->args->pids_apart)
		vec_sort(&p->rows, by_task);
	else
		merge(p);
	parse_sort(p->args->sort, order.compare, &bad);
	free(bad);
	order.first = p->rows.items;
	index = xcalloc(p->rows.len + 1, sizeof(*index));
	for (u32 i = 0; i < p->rows.len; i++)
		index[i] = i;
	qsort_r(index, p->rows.len, sizeof(*index), by_keys, &order);

	buf_addstr(ret, "\n");
	dashes(ret, 139);
	buf_addstr(
		ret,
		"  Task                  |   Runtime ms  | Switches | Avg delay ms    | Max delay "
		"ms    | Max delay start           | Max delay end          |\n");
	dashes(ret, 139);
	for (size_t i = 0; i < p->rows.len; i++) {
		const struct perf_row *row = &p->rows.items[index[i]];

		if (!row->turns || streq(row->comm, "swapper"))
			continue;
		runtime += row->runtime;
		turns += row->turns;
		row_text(row, ret);
	}
	dashes(ret, 113);
	buf_addf(ret, "  TOTAL:                |%11.3f ms |%9llu |\n",
		 (double)runtime / NSEC_PER_MSEC, (unsigned long long)turns);
	dashes(ret, 51);
	faults_text(p, ret);
	buf_addstr(ret, "\n");
}
