/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/control.h"

#include <fcntl.h>
#include <poll.h>

#include "base/parse.h"

enum { FIRST_FD = 3 };

static int bad_text(const char *text, struct err *e)
{
	err_set(e, EINVAL, "'%s' does not say where commands come from", text);
	err_hint(e, "use fd:NUMBER[,NUMBER] or fifo:PATH[,PATH]: commands, and answers to them");
	return -EINVAL;
}

/* A copy of our own: 0 can be "none", and closing it does not take the caller's. */
static int take_fd(const char *text, int *ret, struct err *e)
{
	u64 number;
	int fd;

	if (parse_u64_range(text, 0, INT32_MAX, &number, e) < 0)
		return -EINVAL;
	fd = fcntl((int)number, F_DUPFD_CLOEXEC, FIRST_FD);
	if (fd < 0)
		return err_sys(e, errno, "cannot use descriptor %llu", (unsigned long long)number);
	*ret = fd;
	return 0;
}

/* For both directions: so a FIFO is not at its end before a writer opens it. */
static int open_fifo(const char *path, int *ret, struct err *e)
{
	int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return err_sys(e, errno, "cannot open the FIFO '%s'", path);
	*ret = fd;
	return 0;
}

int recorder_control_open(struct control *c, const char *text, struct err *e)
{
	bool fds = starts_with(text, "fd:");
	const char *rest = fds ? text + 3 : starts_with(text, "fifo:") ? text + 5 : NULL;
	_cleanup_free_ char *first = rest ? xstrdup(rest) : NULL;
	char *comma = first ? strchr(first, ',') : NULL;
	int (*take)(const char *, int *, struct err *) = fds ? take_fd : open_fifo;
	int rc;

	*c = (struct control){ 0 };
	if (!first || !*first || *first == ',' || (comma && !comma[1]))
		return bad_text(text, e);
	if (comma)
		*comma++ = '\0';
	rc = take(first, &c->fd, e);
	if (rc >= 0 && comma)
		rc = take(comma, &c->ack, e);
	if (rc < 0)
		recorder_control_release(c);
	return rc;
}

static void close_one(int *fd)
{
	if (*fd)
		close(*fd);
	*fd = 0;
}

void recorder_control_release(struct control *c)
{
	close_one(&c->fd);
	close_one(&c->ack);
	buf_release(&c->in);
	buf_release(&c->line);
}

/* Only what is there: it may be a descriptor on which others count to block. */
static void read_some(struct control *c)
{
	struct pollfd p = { .fd = c->fd, .events = POLLIN };
	ssize_t n;

	if (!c->fd || c->ended || poll(&p, 1, 0) != 1)
		return;
	n = read(c->fd, buf_reserve(&c->in, CONTROL_LINE_MOST), CONTROL_LINE_MOST);
	if (n > 0)
		buf_added(&c->in, (size_t)n);
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		c->ended = true;
}

/* Moves the first line to c->line; false: none yet. */
static bool take_line(struct control *c)
{
	const char *end = c->in.len ? memchr(c->in.data, '\n', c->in.len) : NULL;
	size_t n = end ? (size_t)(end - c->in.data) : c->in.len;

	if (!end && (!n || (!c->ended && n < CONTROL_LINE_MOST)))
		return false;
	buf_reset(&c->line);
	buf_add(&c->line, c->in.data, n);
	n += end != NULL;
	memmove(c->in.data, c->in.data + n, c->in.len - n);
	buf_truncate(&c->in, c->in.len - n);
	return true;
}

static enum control_command command_of(const char *line)
{
	static const struct {
		const char *name;
		enum control_command command;
	} commands[] = {
		{ "enable", CONTROL_ENABLE }, { "disable", CONTROL_DISABLE },
		{ "ping", CONTROL_PING },     { "snapshot", CONTROL_SNAPSHOT },
		{ "stop", CONTROL_STOP },
	};

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (streq(line, commands[i].name))
			return commands[i].command;
	}
	return CONTROL_UNKNOWN;
}

enum control_command recorder_control_next(struct control *c)
{
	if (!take_line(c)) {
		read_some(c);
		if (!take_line(c)) {
			if (c->ended)
				close_one(&c->fd);
			return CONTROL_NONE;
		}
	}
	return command_of(buf_str(&c->line));
}

void recorder_control_answer(struct control *c, bool known)
{
	const char *text = known ? "ack\n" : "unknown\n";

	if (c->ack && write(c->ack, text, strlen(text)) < 0 && errno != EAGAIN && errno != EINTR)
		close_one(&c->ack);
}
