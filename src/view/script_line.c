/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The beginning of a line: who, where, when. No printf: this runs for every sample. */
#include "view/script_state.h"

#include "base/fmt.h"

enum { COMM_WIDTH = 16, ID_WIDTH = 5, CPU_WIDTH = 3, PERIOD_WIDTH = 10 };

/* Writes @v backwards from @end, at least @width wide with @fill; returns where it begins. */
static char *number_before(char *end, u64 v, int width, char fill)
{
	char *p = end;

	do {
		*--p = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	while (end - p < width)
		*--p = fill;
	return p;
}

/* As %*d: a minus sign takes a place. */
static void add_number(struct buf *b, s64 v, int width, char fill)
{
	char text[40], *end = text + sizeof(text), *p;

	if (v < 0) {
		buf_addf(b, fill == '0' ? "%0*lld" : "%*lld", width, (long long)v);
		return;
	}
	p = number_before(end, (u64)v, width, fill);
	buf_add(b, p, (size_t)(end - p));
}

void script_line_period(struct buf *b, u64 period)
{
	char text[40], *end = text + sizeof(text), *p;

	*--end = ' ';
	p = number_before(end, period, PERIOD_WIDTH, ' ');
	buf_add(b, p, (size_t)(end + 1 - p));
}

void script_hex16(struct buf *b, u64 v)
{
	char *p = buf_reserve(b, 16);

	for (int i = 16; i--; v >>= 4)
		p[i] = v || i == 15 ? "0123456789abcdef"[v & 15] : ' ';
	buf_added(b, 16);
}

/* As perf has it: a thread that was never named does not take its process's name. */
static u32 thread_comm(struct machine *m, s32 tid)
{
	const u64 *comm = map_find(&m->comms, (u32)tid);
	char text[16];

	if (comm)
		return (u32)*comm;
	snprintf(text, sizeof(text), ":%d", tid);
	return intern_str(&m->strings, text);
}

static void add_comm(struct script *s, const struct script_event *ev, const struct script_who *who)
{
	struct buf *b = &s->out;
	size_t n = 3;
	const char *comm = ":-1";

	if (who->known) {
		u32 id = thread_comm(&s->machine, who->tid);

		comm = machine_str(&s->machine, id);
		n = intern_len(&s->machine.strings, id);
	}
	if (!ev->tight && n < COMM_WIDTH)
		buf_fill(b, ' ', COMM_WIDTH - n);
	buf_add(b, comm, n);
	buf_addch(b, ' ');
}

static void add_ids(struct buf *b, const struct script_event *ev, const struct script_who *who)
{
	u32 both = ev->fields & (SCRIPT_PID | SCRIPT_TID);

	if (both == (SCRIPT_PID | SCRIPT_TID)) {
		size_t start;

		add_number(b, who->pid, ID_WIDTH, ' ');
		buf_addch(b, '/');
		start = b->len;
		add_number(b, who->tid, 1, ' ');
		if (b->len - start < ID_WIDTH)
			buf_fill(b, ' ', ID_WIDTH - (b->len - start));
	} else {
		add_number(b, both & SCRIPT_PID ? who->pid : who->tid, ID_WIDTH, ' ');
	}
	buf_addch(b, ' ');
}

static bool has(u16 misc, u16 bits)
{
	return (misc & bits) == bits;
}

/* Letters for the mode and for what is special about the record, six columns. */
static void add_misc(struct buf *b, const struct script_who *who)
{
	size_t start = b->len;
	u16 m = who->misc;

	buf_addstr(b, has(m, PERF_RECORD_MISC_KERNEL) ? "K" : "");
	buf_addstr(b, has(m, PERF_RECORD_MISC_USER) ? "U" : "");
	buf_addstr(b, has(m, PERF_RECORD_MISC_HYPERVISOR) ? "H" : "");
	buf_addstr(b, has(m, PERF_RECORD_MISC_GUEST_KERNEL) ? "G" : "");
	buf_addstr(b, has(m, PERF_RECORD_MISC_GUEST_USER) ? "g" : "");
	switch (who->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2: buf_addstr(b, has(m, PERF_RECORD_MISC_MMAP_DATA) ? "M" : ""); break;
	case PERF_RECORD_COMM: buf_addstr(b, has(m, PERF_RECORD_MISC_COMM_EXEC) ? "E" : ""); break;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		if (!has(m, PERF_RECORD_MISC_SWITCH_OUT))
			break;
		buf_addstr(b, has(m, PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) ? "Sp" : "S");
		break;
	default: break;
	}
	buf_fill(b, ' ', b->len - start < 6 ? 6 - (b->len - start) : 1);
}

/* The wall clock, if the recording tells how to get there. */
static void add_tod(struct script *s, u64 time)
{
	const struct recording_info *info = recording_info(s->recording);

	if (!info->has_clock_data) {
		buf_addstr(&s->out, "N/A ");
		return;
	}
	fmt_clock(&s->out, info->clock_wall_ns + (time - info->clock_ns), 6);
	buf_addch(&s->out, ' ');
}

static void add_time(struct script *s, u64 time)
{
	char text[48], *end = text + sizeof(text), *p;
	u64 t = time;

	if (s->opts->reltime || s->opts->deltatime) {
		if (!s->first_time)
			s->first_time = s->last_time = time;
		t = time - (s->opts->reltime ? s->first_time : s->last_time);
		s->last_time = time;
	}
	*--end = ' ';
	*--end = ':';
	p = s->opts->ns ? number_before(end, t % NSEC_PER_SEC, 9, '0')
			: number_before(end, t % NSEC_PER_SEC / 1000, 6, '0');
	*--p = '.';
	p = number_before(p, t / NSEC_PER_SEC, 5, ' ');
	buf_add(&s->out, p, (size_t)(end + 2 - p));
}

void script_line_start(struct script *s, const struct script_event *ev,
		       const struct script_who *who)
{
	struct buf *b = &s->out;

	if (ev->fields & SCRIPT_COMM)
		add_comm(s, ev, who);
	if (ev->fields & (SCRIPT_PID | SCRIPT_TID))
		add_ids(b, ev, who);
	if (ev->fields & SCRIPT_CPU) {
		buf_addch(b, '[');
		add_number(b, (s32)who->cpu, CPU_WIDTH, '0');
		buf_add(b, "] ", 2);
	}
	if (ev->fields & SCRIPT_MISC)
		add_misc(b, who);
	if (ev->fields & SCRIPT_TOD)
		add_tod(s, who->time);
	if (ev->fields & SCRIPT_TIME)
		add_time(s, who->time);
}
