/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a result to the screen: the format, the pager, the progress line. */
#include "cli/cli.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/fmt.h"
#include "base/io.h"
#include "view/term.h"
#include "view/view.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

int cli_width(const struct context *ctx)
{
	return term_width(fileno(ctx->out));
}

bool cli_color(const struct context *ctx)
{
	return term_color((enum term_color)ctx->common.color, fileno(ctx->out));
}

static size_t count_lines(const struct buf *text)
{
	size_t n = 0;

	for (size_t i = 0; i < text->len; i++)
		n += text->data[i] == '\n';
	return n;
}

static bool longer_than_screen(const struct context *ctx, const struct buf *text)
{
	struct winsize size;

	if (ioctl(fileno(ctx->out), TIOCGWINSZ, &size) < 0 || !size.ws_row)
		return false;
	return count_lines(text) >= size.ws_row;
}

/* The pager to start, or NULL when the text goes out directly. */
static const char *choose_pager(const struct context *ctx, const struct buf *text)
{
	const char *pager = getenv("PAGER");

	if (ctx->common.no_pager || ctx->stream || !isatty(fileno(ctx->out)))
		return NULL;
	if (!pager)
		pager = "less";
	if (!*pager || streq(pager, "cat") || !longer_than_screen(ctx, text))
		return NULL;
	return pager;
}

/* Starts @pager reading from @fd, with the signals of a fresh program. */
static int spawn_pager(const char *pager, int fd, pid_t *ret)
{
	static const char sh[] = "/bin/sh";
	bool single = !pager[strcspn(pager, " \t\n;&|<>()$`\\\"'*?[#~=%")];
	const char *direct[] = { pager, NULL };
	const char *shell[] = { "sh", "-c", pager, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t signals;
	int r;

	sigemptyset(&signals);
	for (size_t i = 0; i < 4; i++)
		sigaddset(&signals, (const int[]){ SIGINT, SIGTERM, SIGHUP, SIGPIPE }[i]);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fd, STDIN_FILENO);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigdefault(&attr, &signals);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF);
	/* quit if it fits after all, colours as they are, leave the text on the screen */
	setenv("LESS", "FRX", 0);
	if (single)
		r = posix_spawnp(ret, pager, &actions, &attr, (char *const *)direct, environ);
	else
		r = posix_spawn(ret, sh, &actions, &attr, (char *const *)shell, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	return -r;
}

/* False when there is no such pager: the text is still to be written. */
static bool page(const char *pager, const struct buf *text)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, old;
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return false;
	/* Ctrl-C belongs to the pager while it runs */
	sigaction(SIGINT, &ignore, &old);
	if (spawn_pager(pager, fds[0], &pid) < 0) {
		sigaction(SIGINT, &old, NULL);
		close(fds[0]);
		close(fds[1]);
		return false;
	}
	close(fds[0]);
	/* a pager that was left early closes the pipe: that is not an error */
	(void)io_write_all(fds[1], text->data, text->len);
	close(fds[1]);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	sigaction(SIGINT, &old, NULL);
	return true;
}

static int write_out(struct context *ctx, const struct buf *text)
{
	int r;

	if (ctx->output_error)
		return -ctx->output_error;
	r = fflush(ctx->out) == EOF ? -errno
				    : io_write_all(fileno(ctx->out), text->data, text->len);
	if (r < 0) {
		ctx->output_error = -r;
		err_sys(&ctx->err, -r, "cannot write the output");
	}
	return r;
}

int cli_print(struct context *ctx, const struct buf *text)
{
	const char *pager = choose_pager(ctx, text);

	if (!text->len)
		return 0;
	if (pager && fflush(ctx->out) == 0 && page(pager, text))
		return 0;
	return write_out(ctx, text);
}

static bool is_terminal(const struct context *ctx)
{
	return isatty(fileno(ctx->out));
}

int cli_write_foreign(struct context *ctx, bool raw, const char *text, size_t n)
{
	_cleanup_buf_ struct buf clean = BUF_INIT;
	int r;

	if (!raw && is_terminal(ctx)) {
		fmt_clean_lines(&clean, text, n);
		text = buf_str(&clean);
		n = clean.len;
	}
	r = fflush(ctx->out) == EOF ? -errno : io_write_all(fileno(ctx->out), text, n);
	if (r < 0)
		ctx->output_error = -r;
	return r;
}

int cli_print_foreign(struct context *ctx, bool raw, const struct buf *text)
{
	_cleanup_buf_ struct buf clean = BUF_INIT;

	if (raw || !is_terminal(ctx))
		return cli_print(ctx, text);
	fmt_clean_lines(&clean, buf_str(text), text->len);
	return cli_print(ctx, &clean);
}

bool cli_is_machine(const struct context *ctx)
{
	return ctx->common.format;
}

bool cli_is(const struct context *ctx, const char *format)
{
	return ctx->common.format && streq(ctx->common.format, format);
}

/* What goes to a file or to another program is not cut. */
static int table_width(const struct context *ctx)
{
	if (ctx->common.wide || !(isatty(fileno(ctx->out)) || getenv("COLUMNS")))
		return 0;
	return cli_width(ctx);
}

int cli_show(struct context *ctx, const struct result *r)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	struct view_opts opts = VIEW_OPTS_INIT;
	const struct view *view = cli_is_machine(ctx) ? view_find(ctx->common.format) : &view_text;
	int err;

	opts.width = table_width(ctx);
	opts.color = cli_color(ctx);
	opts.unicode = term_unicode();
	opts.stream = ctx->stream;
	opts.table = ctx->common.table;
	opts.header = !ctx->headless;
	err = view->render(r, &opts, &out, &ctx->err);
	if (err < 0)
		return err;
	return cli_is_machine(ctx) ? write_out(ctx, &out) : cli_print(ctx, &out);
}

bool cli_progress_wanted(const struct context *ctx)
{
	const char *term = getenv("TERM");

	return !ctx->common.quiet && isatty(STDERR_FILENO) && !(term && streq(term, "dumb"));
}

void cli_progress(const struct context *ctx, const char *fmt, ...)
{
	_cleanup_buf_ struct buf text = BUF_INIT, line = BUF_INIT;
	va_list ap;

	if (!cli_progress_wanted(ctx))
		return;
	va_start(ap, fmt);
	buf_vaddf(&text, fmt, ap);
	va_end(ap);
	/* the last column stays free: some terminals wrap there */
	buf_truncate(&text, fmt_cut(buf_str(&text), (size_t)MAX(term_width(STDERR_FILENO), 2) - 1));
	buf_addstr(&line, "\r\033[K");
	fmt_clean(&line, buf_str(&text), text.len);
	(void)io_write_all(STDERR_FILENO, line.data, line.len);
}

void cli_progress_watching(const struct context *ctx, u64 duration)
{
	/* a part of the time requested may be over */
	u64 seconds = (duration + NSEC_PER_SEC / 2) / NSEC_PER_SEC;

	if (!duration)
		cli_progress(ctx, "watching... Ctrl-C ends it and shows the result");
	else if (seconds)
		cli_progress(ctx, "watching for %llu s... Ctrl-C ends it earlier",
			     (unsigned long long)seconds);
}
