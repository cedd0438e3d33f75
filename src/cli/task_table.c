/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/task_table.h"

#include "base/fmt.h"
#include "counters/formula.h"
#include "host/procfs.h"

double task_uid(const struct task_row *row, const struct task_context *ctx UNUSED)
{
	return row->uid;
}

double task_pid(const struct task_row *row, const struct task_context *ctx UNUSED)
{
	return row->pid;
}

double task_tid(const struct task_row *row, const struct task_context *ctx UNUSED)
{
	return row->tid;
}

static double seconds_of(const struct task_row *row, const struct task_context *ctx)
{
	u64 age = ctx->boot > row->start ? ctx->boot - row->start : 0;

	if (!ctx->since_boot)
		return ctx->seconds;
	/* a mean since boot is, of a task, one of its life */
	return (double)MAX(age, NSEC_PER_MSEC) / 1e9;
}

double task_rate(const struct task_row *row, const struct task_context *ctx, u32 figure)
{
	return (double)row->figures[figure] / seconds_of(row, ctx);
}

/* Arguments are separated by NULs. */
static bool add_arguments(u32 pid, struct buf *out)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (procfs_read(pid, 0, "cmdline", 4096, &text, NULL) < 0 || !text.len)
		return false;
	for (size_t i = 0; i + 1 < text.len; i++)
		if (!text.data[i])
			text.data[i] = ' ';
	buf_addstr(out, buf_str(&text));
	return true;
}

void task_command(const struct task_row *row, const struct task_context *ctx, struct buf *out)
{
	if (ctx->command_line && !row->ended && add_arguments(row->pid, out))
		return;
	if (row->tid != row->pid)
		buf_addstr(out, "|__");
	buf_addstr(out, row->comm);
	if (row->folded)
		buf_addf(out, " (+%u short-lived)", row->folded);
}

struct sorted {
	const struct task_row *row;
	double key;
};

static int by_key(const void *a, const void *b)
{
	const struct sorted *x = a, *y = b;

	if (x->key > y->key || x->key < y->key)
		return x->key > y->key ? -1 : 1;
	if (x->row->pid != y->row->pid)
		return x->row->pid < y->row->pid ? -1 : 1;
	return x->row->tid < y->row->tid ? -1 : x->row->tid > y->row->tid;
}

static enum style severity(const struct task_column *c, double value)
{
	if (c->bad > 0 && value >= c->bad)
		return STYLE_BAD;
	return c->warn > 0 && value >= c->warn ? STYLE_WARN : STYLE_NONE;
}

static void add_row(struct result *r, struct table *out, const struct task_table *t,
		    const struct task_row *task, const struct task_context *ctx)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct row *row = table_row(r, out);

	row->cells[0] = value_u(VALUE_TIME, ctx->wall);
	for (size_t i = 0; i < t->n_columns; i++) {
		const struct task_column *c = &t->columns[i];

		if (c->text) {
			buf_reset(&text);
			c->text(task, ctx, &text);
			row->cells[i + 1] = value_text(r, buf_str(&text));
		} else {
			double value = c->get(task, ctx);

			/* not known */
			if (value < 0)
				continue;
			row->cells[i + 1] = value_d(VALUE_NUMBER, value);
			row->cells[i + 1].style = severity(c, value);
		}
	}
	if (task->ended)
		row->style = STYLE_DIM;
}

static struct table *add_table(struct result *r, const struct task_table *t)
{
	_cleanup_free_ struct column *columns = xcalloc(t->n_columns + 1, sizeof(*columns));
	_cleanup_free_ struct column_look *looks = xcalloc(t->n_columns + 1, sizeof(*looks));
	struct table *out;

	columns[0] = (struct column){ "time_ns", "TIME", VALUE_TIME, COLUMN_SPARE };
	looks[0] = (struct column_look){ .width = 8 };
	for (size_t i = 0; i < t->n_columns; i++) {
		const struct task_column *c = &t->columns[i];

		columns[i + 1] = (struct column){ c->key, c->title,
						  c->text ? VALUE_TEXT : VALUE_NUMBER, c->flags };
		looks[i + 1] = (struct column_look){ .width = c->width,
						     .decimals = (u8)(c->decimals + 1) };
	}
	out = result_table(r, t->name, NULL, columns, t->n_columns + 1);
	table_looks(r, out, looks);
	return out;
}

void task_table_add(struct result *r, const struct task_table *t, const struct task_rows *rows,
		    const struct task_context *ctx, const void *args)
{
	struct table *out = add_table(r, t);
	VEC(struct sorted) sorted = { 0 };

	vec_each(row, &rows->rows)
		if (!t->shows || t->shows(row, args))
			vec_push(&sorted,
				 ((struct sorted){ row, t->order ? t->order(row, ctx) : 0 }));
	vec_sort(&sorted, by_key);
	if (t->limit && sorted.len > t->limit)
		sorted.len = t->limit;
	vec_each(s, &sorted)
		add_row(r, out, t, s->row, ctx);
	vec_release(&sorted);
}

/* --- the rows and the meter ------------------------------------------------------------------- */

const char *const task_account_wants[] = { "cpu.busy_percent{all}", "cpu.irq{all}", "mem.total",
					   NULL };

static double counter_ns(const struct delta *d, const char *name)
{
	u32 counter = counter_set_find(d->set, name);
	u32 all = intern_find(&d->set->instances, "all", 3);
	double value;

	return counter != SET_NONE && formula_counter(d, counter, all, &value) ? value : 0;
}

/* What the meter shows, and the part of it that belongs to no task; ns. */
struct account {
	double meter, irq, steal, rows, dead;
	const char *by, *words;
};

/*
 * The meter by ticks misses tasks that run and end between two of them, and counts interrupts
 * apart, which most kernels leave in the time of the task that they interrupt.
 */
static struct account account_of(const struct delta *d)
{
	const struct task_rows *t = &d->after->tasks;
	struct account a = {
		.meter = counter_ns(d, "cpu.total") - counter_ns(d, "cpu.idle") -
			 counter_ns(d, "cpu.iowait"),
		.irq = counter_ns(d, "cpu.irq") + counter_ns(d, "cpu.softirq"),
		.steal = counter_ns(d, "cpu.steal"),
		.by = "ticks",
		.words = "by ticks",
	};

	if (t->meter.known) {
		a.meter = (double)t->meter.charged;
		/* the scheduler's clock leaves them out, too */
		a.irq = t->meter.irq_apart && !t->meter.by_clock ? a.irq : 0;
		a.steal = t->meter.steal_apart && !t->meter.by_clock ? a.steal : 0;
		a.by = t->meter.by_clock ? "scheduler" : "switches";
		a.words = "from switch to switch";
	}
	vec_each(row, &t->rows) {
		a.rows += (double)row->figures[TASK_EXEC];
		a.dead += (double)row->folded_exec;
	}
	return a;
}

static void add_account_facts(struct result *r, const struct task_rows *t, const struct account *a,
			      double rest)
{
	result_fact(r, "meter_ns", NULL, value_d(VALUE_NUMBER, a->meter));
	result_fact(r, "meter_by", NULL, value_text(r, a->by));
	if (t->meter.known) {
		result_fact(r, "busy_ns", NULL, value_u(VALUE_DURATION, t->meter.busy));
		result_fact(r, "leaving_idle_ns", NULL, value_u(VALUE_DURATION, t->meter.leaving));
	}
	result_fact(r, "rows_ns", NULL, value_d(VALUE_NUMBER, a->rows));
	result_fact(r, "short_lived_ns", NULL, value_d(VALUE_NUMBER, a->dead));
	result_fact(r, "orphans_ns", NULL, value_u(VALUE_DURATION, t->orphans_exec));
	result_fact(r, "lost_ns", NULL, value_u(VALUE_DURATION, t->lost_exec));
	result_fact(r, "irq_ns", NULL, value_d(VALUE_NUMBER, a->irq));
	result_fact(r, "steal_ns", NULL, value_d(VALUE_NUMBER, a->steal));
	result_fact(r, "unknown_ns", NULL, value_d(VALUE_NUMBER, rest));
	result_fact(r, "tasks", NULL, value_u(VALUE_COUNT, t->n_tasks));
	result_fact(r, "by_bpf", NULL, value_u(VALUE_BOOL, t->by_bpf));
	result_loss(r, "lost_ends", "ends of tasks that could not be reported", t->lost);
}

void task_account(struct result *r, const struct delta *d, bool say)
{
	const struct task_rows *t = &d->after->tasks;
	struct account a = account_of(d);
	double gone = (double)(t->orphans_exec + t->lost_exec),
	       rest = a.meter - a.rows - a.irq - a.steal - gone;

	add_account_facts(r, t, &a, rest);
	if (!say || !(a.meter > 0))
		return;
	result_note(r, NOTE_INFO, NULL,
		    "CPU meter %.2f s (%s): rows %.2f s (%.2f s of short-lived tasks), parents "
		    "gone %.2f s, interrupts %.2f s, steal %.2f s, not known %.2f s",
		    a.meter / 1e9, a.words, a.rows / 1e9, a.dead / 1e9, gone / 1e9, a.irq / 1e9,
		    a.steal / 1e9, rest / 1e9);
	if (t->meter.leaving > NSEC_PER_MSEC)
		result_note(r, NOTE_INFO, NULL,
			    "%.3f s of it is not work: the kernel charges tasks from their wakeup "
			    "on, while their CPU leaves its idle state",
			    (double)t->meter.leaving / 1e9);
}
