/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a flight recorder keeps, and the commands that a recording obeys. */
#include "harness.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "recorder/control.h"
#include "recorder/flight_parts.h"

/* --- the past --------------------------------------------------------------------------------- */

enum { RECORD = 32, MOST = 4096 };

/* As COMM has it, and a fork: pid, tid or the parent's pid, tid, the parent's tid. */
struct made {
	struct perf_event_header h;
	u32 pid;
	u32 tid;
	u32 child;
	u32 number;
	u8 rest[RECORD - 24];
};
_Static_assert(sizeof(struct made) == RECORD, "records are as large as they say");

static struct made made(u32 type, u32 pid, u32 number)
{
	return (struct made){ .h = { .type = type, .size = RECORD },
			      .pid = pid,
			      .tid = pid,
			      .child = pid,
			      .number = number };
}

static void add(struct past *p, u32 type, u32 pid, u32 number)
{
	struct made m = made(type, pid, number);

	recorder_past_add(p, &m, sizeof(m));
}

static void know(struct past *p, u32 pid)
{
	struct made m = made(PERF_RECORD_COMM, pid, 0);

	recorder_past_know(p, &m, sizeof(m));
}

static void turn(struct past *p, u32 pid)
{
	recorder_past_turn(p);
	know(p, pid);
}

static u32 tid_of(void *ctx UNUSED, const struct perf_event_header *h)
{
	return ((const struct made *)(const void *)h)->tid;
}

struct written {
	struct buf bytes;
	int fail_at; /* calls from 1 on; 0: none */
	int calls;
};

static int take(void *ctx, const void *records, size_t n)
{
	struct written *w = ctx;

	if (++w->calls == w->fail_at)
		return -ENOSPC;
	buf_add(&w->bytes, records, n);
	return 0;
}

static const struct made *written_at(const struct written *w, size_t i)
{
	CHECK((i + 1) * RECORD <= w->bytes.len);
	return (const void *)(w->bytes.data + i * RECORD);
}

TEST("a past that is not full is written as it came")
{
	struct past p = { .most = MOST };
	struct written w = { 0 };

	turn(&p, 7);
	for (u32 i = 0; i < 10; i++)
		add(&p, PERF_RECORD_SAMPLE, 7, i);
	CHECK_EQ(recorder_past_write(&p, tid_of, take, &w), 0);
	CHECK_EQ(w.bytes.len, 11 * RECORD);
	CHECK_EQ(written_at(&w, 0)->h.type, PERF_RECORD_COMM);
	for (u32 i = 0; i < 10; i++)
		CHECK_EQ(written_at(&w, i + 1)->number, i);
	CHECK_EQ(p.dropped, 0);
	CHECK_EQ(p.parts.len, 0);
	buf_release(&w.bytes);
	recorder_past_release(&p);
}

TEST("the oldest makes room, and what is left begins with what ran then")
{
	struct past p = { .most = MOST };
	struct written w = { 0 };
	u32 n = 0, first;
	size_t most = 0, bytes;

	turn(&p, 1);
	for (u32 part = 2; part < 40; part++) {
		while (!recorder_past_is_full(&p))
			add(&p, PERF_RECORD_SAMPLE, part - 1, n++);
		turn(&p, part);
		bytes = 0;
		vec_each(it, &p.parts)
			bytes += it->records.len;
		most = MAX(most, bytes);
		if (n * RECORD > MOST)
			CHECK(bytes >= MOST - MOST / PAST_PARTS);
	}
	CHECK(most <= MOST);
	CHECK_EQ(recorder_past_write(&p, tid_of, take, &w), 0);
	first = written_at(&w, 1)->number;
	CHECK_EQ(written_at(&w, 0)->h.type, PERF_RECORD_COMM);
	CHECK_EQ(written_at(&w, 0)->pid, written_at(&w, 1)->pid);
	/* only the first part tells what ran: the rest follows from it */
	CHECK_EQ(w.bytes.len, (1 + n - first) * RECORD);
	CHECK_EQ(written_at(&w, n - first)->number, n - 1);
	CHECK_EQ(p.dropped, first);
	buf_release(&w.bytes);
	recorder_past_release(&p);
}

TEST("samples of a thread that nothing is reported are left out and counted")
{
	struct past p = { .most = MOST };
	struct written w = { 0 };

	turn(&p, 1);
	add(&p, PERF_RECORD_SAMPLE, 2, 0);
	add(&p, PERF_RECORD_SAMPLE, 1, 1);
	/* the idle task has no name of its own */
	add(&p, PERF_RECORD_SAMPLE, 0, 1);
	/* the number of a fork is the parent: 1 is known, 2 is not */
	add(&p, PERF_RECORD_FORK, 3, 1);
	add(&p, PERF_RECORD_FORK, 4, 2);
	add(&p, PERF_RECORD_SAMPLE, 3, 3);
	add(&p, PERF_RECORD_SAMPLE, 4, 4);
	add(&p, PERF_RECORD_SAMPLE, 2, 5);
	CHECK_EQ(recorder_past_write(&p, tid_of, take, &w), 0);
	CHECK_EQ(w.bytes.len, 6 * RECORD);
	CHECK_EQ(written_at(&w, 1)->number, 1);
	CHECK_EQ(written_at(&w, 5)->number, 3);
	CHECK_EQ(p.dropped, 3);
	buf_release(&w.bytes);
	recorder_past_release(&p);
}

TEST("a file that takes no more is an error")
{
	for (int at = 1; at < 4; at++) {
		struct past p = { .most = 8 * RECORD };
		struct written w = { .fail_at = at };

		turn(&p, 1);
		add(&p, PERF_RECORD_SAMPLE, 1, 0);
		turn(&p, 2);
		add(&p, PERF_RECORD_SAMPLE, 1, 1);
		CHECK_EQ(recorder_past_write(&p, tid_of, take, &w), -ENOSPC);
		buf_release(&w.bytes);
		recorder_past_release(&p);
	}
}

/* --- commands --------------------------------------------------------------------------------- */

struct talk {
	int in[2], out[2];
	struct control c;
};

static void talk_begin(struct talk *t)
{
	char text[64];

	CHECK(pipe(t->in) == 0 && pipe(t->out) == 0);
	snprintf(text, sizeof(text), "fd:%d,%d", t->in[0], t->out[1]);
	CHECK_EQ(recorder_control_open(&t->c, text, NULL), 0);
}

static void talk_end(struct talk *t)
{
	recorder_control_release(&t->c);
	for (int i = 0; i < 2; i++) {
		close(t->in[i]);
		close(t->out[i]);
	}
}

static void say(const struct talk *t, const char *text)
{
	CHECK_EQ(write(t->in[1], text, strlen(text)), (ssize_t)strlen(text));
}

TEST("commands come line by line, in whatever pieces")
{
	struct talk t;
	char answer[32] = "";

	talk_begin(&t);
	CHECK_EQ(recorder_control_next(&t.c), CONTROL_NONE);
	say(&t, "enable\ndisable\nsnap");
	CHECK_EQ(recorder_control_next(&t.c), CONTROL_ENABLE);
	CHECK_EQ(recorder_control_next(&t.c), CONTROL_DISABLE);
	CHECK_EQ(recorder_control_next(&t.c), CONTROL_NONE);
	say(&t, "shot\nping\nstop\nenabled\n\n");
	CHECK_EQ(recorder_control_next(&t.c), CONTROL_SNAPSHOT);
	CHECK_EQ(recorder_control_next(&t.c), CONTROL_PING);
	CHECK_EQ(recorder_control_next(&t.c), CONTROL_STOP);
	CHECK_EQ(recorder_control_next(&t.c), CONTROL_UNKNOWN);
	CHECK_STR(buf_str(&t.c.line), "enabled");
	CHECK_EQ(recorder_control_next(&t.c), CONTROL_UNKNOWN);
	CHECK_EQ(recorder_control_next(&t.c), CONTROL_NONE);
	recorder_control_answer(&t.c, true);
	recorder_control_answer(&t.c, false);
	CHECK_EQ(read(t.out[0], answer, sizeof(answer) - 1), 12);
	CHECK_STR(answer, "ack\nunknown\n");
	talk_end(&t);
}

TEST("the end of commands, and a line that never ends")
{
	struct talk t;
	char *line = xmalloc(CONTROL_LINE_MOST);

	talk_begin(&t);
	memset(line, 'x', CONTROL_LINE_MOST);
	CHECK_EQ(write(t.in[1], line, CONTROL_LINE_MOST), CONTROL_LINE_MOST);
	say(&t, "\nstop");
	CHECK_EQ(recorder_control_next(&t.c), CONTROL_UNKNOWN);
	CHECK_EQ(recorder_control_next(&t.c), CONTROL_UNKNOWN);
	CHECK_EQ(recorder_control_next(&t.c), CONTROL_NONE);
	close(t.in[1]);
	/* a last line needs no end */
	CHECK_EQ(recorder_control_next(&t.c), CONTROL_STOP);
	CHECK_EQ(recorder_control_next(&t.c), CONTROL_NONE);
	CHECK_EQ(t.c.fd, 0);
	CHECK_EQ(recorder_control_next(&t.c), CONTROL_NONE);
	t.in[1] = -1;
	talk_end(&t);
	free(line);
}

TEST("a FIFO is read also before somebody writes to it")
{
	_cleanup_free_ char *in = xasprintf("%s/in", test_tmpdir());
	_cleanup_free_ char *text = xasprintf("fifo:%s", in);
	struct control c;
	int fd;

	CHECK_EQ(mkfifo(in, 0600), 0);
	CHECK_EQ(recorder_control_open(&c, text, NULL), 0);
	CHECK_EQ(recorder_control_next(&c), CONTROL_NONE);
	for (int i = 0; i < 2; i++) {
		fd = open(in, O_WRONLY | O_CLOEXEC);
		CHECK(fd >= 0);
		CHECK_EQ(write(fd, "ping\n", 5), 5);
		close(fd);
		CHECK_EQ(recorder_control_next(&c), CONTROL_PING);
		CHECK_EQ(recorder_control_next(&c), CONTROL_NONE);
	}
	CHECK(c.fd > 2);
	recorder_control_answer(&c, true);
	recorder_control_release(&c);
}

TEST("where commands come from is checked")
{
	static const char *const bad[] = { "",       "fd",    "fd:",     "fd:,3", "fd:1,",
					   "fd:one", "fifo:", "fifo:,x", "pipe:3" };
	struct control c;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		_cleanup_err_ struct err e = ERR_INIT;

		CHECK_EQ(recorder_control_open(&c, bad[i], &e), -EINVAL);
		CHECK(e.what);
	}
	CHECK_EQ(recorder_control_open(&c, "fd:987654", NULL), -EBADF);
	CHECK_EQ(recorder_control_open(&c, "fifo:/nonexistent/fifo", NULL), -ENOENT);
}
