/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events to text or JSON lines. */
#include "base/clock.h"
#include "base/fmt.h"
#include "base/io.h"
#include "base/json.h"
#include "host/bpf_sys.h"
#include "lang/front/fmt.h"
#include "lang/row.h"
#include "lang/run/run.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

void run_write(struct run *r, bool to_err, const char *text, size_t n)
{
	int rc;

	if (!n || r->output_error)
		return;
	r->started = true;
	rc = r->sink->write(r->sink->ctx, to_err, text, n);
	if (rc < 0)
		r->output_error = rc;
}

void run_json(struct run *r, const char *type, const char *data, size_t n)
{
	struct buf line = BUF_INIT;

	buf_addf(&line, "{\"type\": \"%s\", \"data\": ", type);
	buf_add(&line, data, n);
	buf_addstr(&line, "}\n");
	run_write(r, false, line.data, line.len);
	buf_release(&line);
}

/* Finished text: as it is, or as a JSON string. */
static void emit_text(struct run *r, const char *type, bool to_err, const struct buf *text)
{
	struct buf quoted = BUF_INIT;

	if (r->c->opts->format != LANG_JSON) {
		run_write(r, to_err, buf_str(text), text->len);
		return;
	}
	json_quote(&quoted, buf_str(text), text->len);
	run_json(r, type, quoted.data, quoted.len);
	buf_release(&quoted);
}

void run_strftime(struct run *r, const char *fmt, u64 wall_ns, struct buf *out)
{
	time_t seconds = (time_t)(wall_ns / NSEC_PER_SEC);
	struct buf expanded = BUF_INIT;
	struct tm tm;
	char *room;

	(void)r;
	/* %f is ours: microseconds. */
	for (const char *p = fmt; *p; p++) {
		if (p[0] == '%' && p[1] == 'f') {
			buf_addf(&expanded, "%06llu",
				 (unsigned long long)(wall_ns % NSEC_PER_SEC / NSEC_PER_USEC));
			p++;
		} else if (p[0] == '%' && p[1]) {
			buf_add(&expanded, p, 2);
			p++;
		} else {
			buf_addch(&expanded, *p);
		}
	}
	if (expanded.len && localtime_r(&seconds, &tm)) {
		size_t most = expanded.len * 16 + 256;

		room = buf_reserve(out, most);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		buf_added(out, strftime(room, most, expanded.data, &tm));
#pragma GCC diagnostic pop
	}
	buf_release(&expanded);
}

static void event_time(struct run *r, const struct event *e)
{
	struct buf text = BUF_INIT;

	run_strftime(r, e->fmt, clock_wall_ns(), &text);
	emit_text(r, "time", false, &text);
	buf_release(&text);
}

static void event_value(struct run *r, const struct event *e, const u8 *args)
{
	struct buf text = BUF_INIT;

	if (r->c->opts->format == LANG_JSON) {
		run_value(r, e->args->fields[0].type, args, &text, true);
		run_json(r, "value", text.data, text.len);
	} else {
		run_value(r, e->args->fields[0].type, args, &text, false);
		buf_addch(&text, '\n');
		run_write(r, false, text.data, text.len);
	}
	buf_release(&text);
}

/* Bytes from outside. */
static void add_foreign(const struct run *r, const char *s, size_t n, struct buf *out)
{
	if (r->c->opts->clean)
		fmt_clean_lines(out, s, n);
	else
		buf_add(out, s, n);
}

static void event_join(struct run *r, const struct event *e, const u8 *args, size_t size)
{
	struct buf text = BUF_INIT;

	for (size_t at = 0; at + e->size <= size; at += e->size) {
		const char *s = (const char *)args + at;
		size_t n = strnlen(s, e->size);

		if (!n)
			break;
		if (at)
			buf_addstr(&text, e->fmt);
		add_foreign(r, s, n, &text);
	}
	if (r->c->opts->format != LANG_JSON)
		buf_addch(&text, '\n');
	emit_text(r, "join", false, &text);
	buf_release(&text);
}

static void event_cat(struct run *r, const char *path)
{
	struct buf text = BUF_INIT;
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t left = r->c->config.max_cat_bytes;

	while (fd >= 0 && left) {
		char *room = buf_reserve(&text, MIN(left, (size_t)4096));
		ssize_t n = read(fd, room, MIN(left, (size_t)4096));

		if (n <= 0)
			break;
		buf_added(&text, (size_t)n);
		left -= (size_t)n;
	}
	if (fd < 0) {
		buf_addf(&text, "ERROR: failed to open file '%s' (%s)\n", path, strerror(errno));
		run_write(r, true, text.data, text.len);
	} else {
		struct buf shown = BUF_INIT;

		add_foreign(r, buf_str(&text), text.len, &shown);
		emit_text(r, "cat", false, &shown);
		buf_release(&shown);
	}
	buf_release(&text);
}

/* A command that failed: nothing else is shown of it, as far as the peer goes. */
static bool says_failure(struct run *r, int status)
{
	struct buf text = BUF_INIT;

	if (!r->c->opts->compat || (WIFEXITED(status) && !WEXITSTATUS(status)))
		return false;
	if (WIFEXITED(status))
		buf_addf(&text, "ERROR: command exited with code %d\n", WEXITSTATUS(status));
	else
		buf_addstr(&text, "ERROR: child process did not exit normally\n");
	run_write(r, true, text.data, text.len);
	buf_release(&text);
	return true;
}

/* Runs a shell command and shows what it prints. */
static void event_system(struct run *r, const char *command)
{
	struct buf text = BUF_INIT;
	int pipes[2], status = 0;
	pid_t pid;

	if (pipe2(pipes, O_CLOEXEC) < 0)
		return;
	pid = fork();
	if (pid == 0) {
		dup2(pipes[1], 1);
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	close(pipes[1]);
	if (pid > 0) {
		io_read_fd(pipes[0], "output of the command", 64 << 20, &text, NULL);
		waitpid(pid, &status, 0);
		if (says_failure(r, status))
			buf_reset(&text);
		else if (r->c->opts->compat && r->c->opts->format == LANG_TEXT)
			buf_addch(&text, '\n');
		if (text.len || (!status && r->c->opts->compat))
			emit_text(r, "syscall", false, &text);
	}
	close(pipes[0]);
	buf_release(&text);
}

/* A message about a place in the program. */
static void place_json(struct run *r, const char *type, const struct event *e,
		       const struct buf *text)
{
	struct buf out = BUF_INIT;
	u32 line, column;

	source_place(&r->c->src, e->at.start, &line, &column);
	buf_addf(&out, "{\"type\": \"%s\", \"msg\": ", type);
	json_quote(&out, buf_str(text), text->len);
	buf_addf(&out, ", \"filename\": ");
	json_quote(&out, r->c->src.name, strlen(r->c->src.name));
	buf_addf(&out, ", \"line\": %u, \"col\": %u}\n", line, column);
	run_write(r, false, out.data, out.len);
	buf_release(&out);
}

static void event_message(struct run *r, const struct event *e, const u8 *args)
{
	const char *type = e->kind == EV_ERRORF  ? "errorf"
			   : e->kind == EV_WARNF ? "warnf"
						 : "runtime_error";
	struct buf text = BUF_INIT;

	if (e->kind != EV_ERRORF && r->c->opts->no_warnings)
		return;
	if (e->kind == EV_RUNTIME_ERROR)
		buf_addstr(&text, e->fmt);
	else
		run_printf(r, e->fmt, e->args, args, &text);
	if (r->c->opts->format == LANG_JSON) {
		place_json(r, type, e, &text);
	} else {
		struct diags one = { 0 };
		struct buf out = BUF_INIT;

		if (text.len && text.data[text.len - 1] == '\n')
			text.data[--text.len] = 0;
		if (e->kind == EV_ERRORF)
			diag_error(&one, e->at, "%s", buf_str(&text));
		else
			diag_warning(&one, e->at, "%s", buf_str(&text));
		diags_render(&one, &r->c->src, true, &out);
		/* what the program says has its place, and not its line */
		if (r->c->opts->compat && e->kind != EV_RUNTIME_ERROR && strchr(out.data, '\n'))
			buf_truncate(&out, (size_t)(strchr(out.data, '\n') - out.data) + 1);
		run_write(r, true, out.data, out.len);
		diags_release(&one);
		buf_release(&out);
	}
	buf_release(&text);
}

/* What is known about the failure, in words. */
static const char *helper_words(const char *helper, int rc)
{
	if (streq(helper, "map_update_elem") && rc == -E2BIG)
		return "Map full; can't update element. Try increasing max_map_keys config or "
		       "manually setting the max entries in a map declaration e.g. `let @a = "
		       "hash(5000)`";
	if (streq(helper, "map_lookup_elem") && !rc)
		return "Can't lookup map element because it does not exist.";
	return strerror(-rc);
}

static void event_helper(struct run *r, const struct event *e, const u8 *args)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	struct diags one = { 0 };
	u32 line, column;
	s64 rc;

	memcpy(&rc, args, 8);
	if (r->c->opts->format == LANG_JSON) {
		source_place(&r->c->src, e->at.start, &line, &column);
		buf_addf(&out,
			 "{\"type\": \"helper_error\", \"msg\": \"%s\", \"helper\": \"%s\", "
			 "\"retcode\": %d, \"filename\": ",
			 strerror(-(int)rc), e->fmt, (int)rc);
		json_quote(&out, r->c->src.name, strlen(r->c->src.name));
		buf_addf(&out, ", \"line\": %u, \"col\": %u}\n", line, column);
		run_write(r, false, out.data, out.len);
	} else if (!r->c->opts->no_warnings) {
		diag_warning(&one, e->at, "%s\nAdditional Info - helper: %s, retcode: %d",
			     helper_words(e->fmt, (int)rc), e->fmt, (int)rc);
		diags_render(&one, &r->c->src, true, &out);
		run_write(r, true, out.data, out.len);
		diags_release(&one);
	}
}

static void event_formatted(struct run *r, const struct event *e, const u8 *args)
{
	struct buf text = BUF_INIT;

	run_printf(r, e->fmt, e->args, args, &text);
	if (e->kind == EV_SYSTEM)
		event_system(r, buf_str(&text));
	else if (e->kind == EV_CAT)
		event_cat(r, buf_str(&text));
	else
		emit_text(r, "printf", false, &text);
	buf_release(&text);
}

/* --- clear and zero --------------------------------------------------------------------------- */

void run_clear_map(struct run *r, const struct map_def *m, bool zero)
{
	int fd = r->map_fds.items[m->index];
	struct map_dump d;
	size_t value = type_stored(m->value);
	u8 *empty;

	if (run_dump_map(r, m, &d) < 0)
		return;
	empty = xcalloc(d.cpus, d.value_size);
	/* A map without a key keeps its one value: not set, or set to nothing. */
	for (size_t cpu = 0; !m->key && zero && cpu < d.cpus; cpu++)
		empty[cpu * d.value_size + value] = 1;
	for (size_t i = 0; i < d.n; i++) {
		const u8 *key = d.keys + i * d.key_size;

		if (m->key && !zero)
			bpfsys_map_delete(fd, key);
		else
			bpfsys_map_update(fd, key, empty, BPF_ANY);
	}
	free(empty);
	map_dump_release(&d);
}

void run_event(struct run *r, const void *record, size_t size)
{
	const struct event *e;
	const u8 *args = (const u8 *)record + 8;
	u64 number;

	if (size < 8)
		return;
	memcpy(&number, record, 8);
	if (number >= r->c->events.len)
		return;
	e = &r->c->events.items[number];
	if (e->args && size < 8 + e->args->size + e->size * (e->kind == EV_ROW))
		return;
	switch (e->kind) {
	case EV_ERRORF:
	case EV_WARNF:
	case EV_RUNTIME_ERROR: event_message(r, e, args); break;
	case EV_HELPER_ERROR:
		if (size >= 16)
			event_helper(r, e, args);
		break;
	case EV_PRINTF:
	case EV_SYSTEM:
	case EV_CAT: event_formatted(r, e, args); break;
	case EV_PRINT_VALUE: event_value(r, e, args); break;
	case EV_PRINT_MAP: run_print_map(r, e->map, e->top, e->div, NULL); break;
	case EV_PRINT_MAP_KEY: run_print_map(r, e->map, 0, 0, args); break;
	case EV_CLEAR: run_clear_map(r, e->map, false); break;
	case EV_ZERO: run_clear_map(r, e->map, true); break;
	case EV_SKB: break; /* comes another way */
	case EV_ROW: run_row(r, e, args); break;
	case EV_TIME: event_time(r, e); break;
	case EV_JOIN: event_join(r, e, args, size - 8); break;
	case EV_EXIT:
		r->stopping = true;
		if (e->args) {
			s64 code;

			memcpy(&code, args, 8);
			r->exit_code = (int)(code & 0xff);
		}
		break;
	}
}
