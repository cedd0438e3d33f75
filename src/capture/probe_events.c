/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/probe_events.h"

#include "base/clock.h"
#include "base/io.h"
#include "host/tracefs.h"

#include <fcntl.h>

enum { FILE_MOST = 16 << 20 };
#define BUSY_NS (2 * NSEC_PER_SEC)

static const char *file_of(bool user)
{
	return user ? "uprobe_events" : "kprobe_events";
}

/* "p:group/name target args"; "r2:..." has the number of instances after the letter. */
static bool parse_line(char *line, bool user, struct probe_event *ret)
{
	char *save = NULL, *head = strtok_r(line, " ", &save), *target = strtok_r(NULL, " ", &save);
	char *colon = head ? strchr(head, ':') : NULL, *slash = colon ? strchr(colon, '/') : NULL;

	if (!slash || !target || (*head != 'p' && *head != 'r'))
		return false;
	*slash = 0;
	*ret = (struct probe_event){ .user = user,
				     .ret = *head == 'r',
				     .group = colon + 1,
				     .name = slash + 1,
				     .target = target,
				     .args = save ? save : "" };
	return true;
}

void probe_events_parse(const char *text, size_t n, bool user, struct arena *arena,
			probe_event_list *ret)
{
	char *copy = arena_strndup(arena, text, n), *save = NULL;

	for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		struct probe_event p;

		if (parse_line(line, user, &p))
			vec_push(ret, p);
	}
}

int probe_events_read(struct arena *arena, probe_event_list *ret, struct err *e)
{
	struct tracefs fs = TRACEFS_INIT;
	int r = tracefs_open(&fs, e);

	for (int user = 0; r >= 0 && user < 2; user++) {
		_cleanup_buf_ struct buf text = BUF_INIT;

		r = tracefs_read(&fs, file_of(user), FILE_MOST, &text, e);
		if (r >= 0)
			probe_events_parse(buf_str(&text), text.len, user, arena, ret);
		if (r == -ENOENT) {
			err_release(e);
			r = 0;
		}
	}
	tracefs_release(&fs);
	return r;
}

void probe_event_text(const struct probe_event *p, struct buf *out)
{
	buf_addf(out, "%c:%s/%s %s", p->ret ? 'r' : 'p', p->group, p->name, p->target);
	if (p->args && *p->args)
		buf_addf(out, " %s", p->args);
}

static int write_line(bool user, const char *line, struct err *e)
{
	struct tracefs fs = TRACEFS_INIT;
	int r = tracefs_open(&fs, e), fd;

	if (r < 0)
		return r;
	fd = openat(fs.fd, file_of(user), O_WRONLY | O_APPEND | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT) {
		err_set(e, EOPNOTSUPP, "this kernel has no %s", user ? "uprobes" : "kprobes");
		err_hint(e, "'fathom trace -l' shows tracepoints that exist; 'fathom doctor' says "
			    "what works here");
		r = -EOPNOTSUPP;
	} else if (fd < 0) {
		r = err_sys(e, errno, "cannot open tracefs file '%s'", file_of(user));
		err_hint(e, "run as root; tracefs must not be read-only");
	} else {
		r = io_write_all(fd, line, strlen(line));
		if (r < 0)
			err_sys(e, -r, "the kernel does not take '%.*s'", (int)strcspn(line, "\n"),
				line);
		close(fd);
	}
	tracefs_release(&fs);
	return r;
}

int probe_events_add(const struct probe_event *p, struct err *e)
{
	_cleanup_buf_ struct buf line = BUF_INIT;

	probe_event_text(p, &line);
	buf_addch(&line, '\n');
	return write_line(p->user, buf_str(&line), e);
}

int probe_events_del(const struct probe_event *p, struct err *e)
{
	_cleanup_free_ char *line = xasprintf("-:%s/%s\n", p->group, p->name);
	int r = write_line(p->user, line, e);

	/* who has recorded it may be gone, but not who closes its descriptors: capture/closer.h */
	for (u64 end = clock_mono_ns() + BUSY_NS; r == -EBUSY && clock_mono_ns() < end;) {
		clock_sleep_ns(10 * NSEC_PER_MSEC);
		err_release(e);
		r = write_line(p->user, line, e);
	}
	if (r == -EBUSY)
		err_set(e, EBUSY, "'%s:%s' is in use", p->group, p->name);
	return r;
}
