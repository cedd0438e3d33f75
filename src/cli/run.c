/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From argv to an exit status: finds the command, runs it, says what went wrong. */
#include "cli/cli.h"

#include "base/buf.h"
#include "base/fmt.h"
#include "base/log.h"
#include "base/stop.h"
#include "base/suggest.h"
#include "base/text.h"
#include "cli/peers.h"
#include "cli/table.h"
#include "view/term.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>

static bool has_word(const char *list, const char *word)
{
	size_t len = strlen(word);

	while (list && *list) {
		size_t n = strcspn(list, " ");

		if (n == len && memcmp(list, word, n) == 0)
			return true;
		list += n + (list[n] == ' ');
	}
	return false;
}

const struct command *cli_find(const struct command *const *commands, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (streq(commands[i]->name, name))
			return commands[i];
	for (size_t i = 0; i < n; i++)
		if (has_word(commands[i]->aliases, name))
			return commands[i];
	return NULL;
}

/* The command for users of the tool @name. */
static const struct command *find_instead(const struct command *const *commands, size_t n,
					  const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (has_word(commands[i]->instead_of, name))
			return commands[i];
	return NULL;
}

int cli_unknown_command(const struct command *const *commands, size_t n, const char *name,
			struct err *e)
{
	const struct command *instead = find_instead(commands, n, name);
	struct suggestion s;

	suggest_init(&s, name);
	for (size_t i = 0; i < n; i++)
		suggest_try(&s, commands[i]->name);
	err_set(e, EINVAL, "unknown command '%s'", name);
	if (instead)
		err_hint(e, "that is 'fathom %s' here, see 'fathom help %s'", instead->name,
			 instead->name);
	else if (peer_elsewhere(name))
		err_hint(e, "%s", peer_elsewhere(name));
	else if (*s.best)
		err_hint(e, "did you mean '%s'?", s.best);
	else
		err_hint(e, "'fathom help' lists the commands");
	return -EINVAL;
}

/*
 * What the user typed may be in the message: no escape sequence of it may reach the terminal. On a
 * terminal it is wrapped; elsewhere a line stays a line, so that it can be searched for.
 */
static void add_message(struct buf *out, const char *word, const char *message)
{
	_cleanup_buf_ struct buf line = BUF_INIT;
	size_t width = isatty(STDERR_FILENO) ? (size_t)term_width(STDERR_FILENO) : SIZE_MAX;

	buf_addstr(&line, word);
	fmt_clean(&line, message, strlen(message));
	if (fmt_width(buf_str(&line)) > width) {
		text_fill(out, buf_str(&line), line.len, 0, 2, width);
		return;
	}
	buf_add(out, buf_str(&line), line.len);
	buf_addch(out, '\n');
}

static void print_error(const struct command *cmd, const struct err *e)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	if (!e->what)
		return;
	add_message(&text, cmd && cmd->peer ? "ERROR: " : "fathom: ", e->what);
	if (e->hint)
		add_message(&text, "hint: ", e->hint);
	fputs(buf_str(&text), stderr);
}

static int status_of(int r)
{
	switch (-r) {
	case EPERM:
	case EACCES:
	case ENOSYS:
	case EOPNOTSUPP: return EXIT_MISSING;
	case ENODATA: return EXIT_NOTHING;
	default: return EXIT_FAILED;
	}
}

/* Stdio remembers that a write failed, but not why. */
static int forgotten_error(FILE *out)
{
	struct pollfd p = { .fd = fileno(out) };

	return poll(&p, 1, 0) > 0 && (p.revents & POLLERR) ? EPIPE : EIO;
}

/* A reader that has seen enough is not an error; a full disk is. */
static int output_status(struct context *ctx, int status)
{
	if (!ctx->output_error && fflush(ctx->out) == EOF)
		ctx->output_error = errno ? errno : EIO;
	else if (!ctx->output_error && ferror(ctx->out))
		ctx->output_error = forgotten_error(ctx->out);
	if (!ctx->output_error)
		return status;
	if (ctx->output_error == EPIPE)
		return EXIT_OK;
	err_sys(&ctx->err, ctx->output_error, "cannot write the output");
	return EXIT_FAILED;
}

/* The exit status for what run() returned; prints what is to be said. */
static int finish(struct context *ctx, int r)
{
	int status;

	if (r < 0 && !ctx->err.what)
		err_sys(&ctx->err, r, "'%s' failed", ctx->command->name);
	status = output_status(ctx, r < 0 ? status_of(r) : r);
	if (status != EXIT_OK)
		print_error(ctx->command, &ctx->err);
	return status;
}

static void set_log_level(const struct common_args *common)
{
	if (common->quiet)
		log_set_level(LOG_QUIET);
	else if (common->verbose)
		log_set_level(common->verbose > 1 ? LOG_DEBUG : LOG_VERBOSE);
}

static int show_help(struct context *ctx)
{
	_cleanup_buf_ struct buf text = BUF_INIT;

	cli_help(ctx->command, cli_color(ctx), cli_width(ctx), &text);
	return cli_print(ctx, &text);
}

static int refuse_form(struct context *ctx)
{
	err_set(&ctx->err, EINVAL, "'%s' writes %s and nothing else", ctx->command->name,
		ctx->command->only_form);
	err_hint(&ctx->err, "'fathom report' and 'fathom flame' have --json and --csv");
	return EXIT_USAGE;
}

static int run_parsed(struct context *ctx, void *args)
{
	int r;

	set_log_level(&ctx->common);
	if (ctx->common.help)
		return show_help(ctx);
	if (ctx->command->only_form && cli_is_machine(ctx))
		return refuse_form(ctx);
	if (ctx->common.table && !cli_is(ctx, "csv")) {
		err_set(&ctx->err, EINVAL, "--table chooses a table of --csv");
		return EXIT_USAGE;
	}
	r = ctx->as_perf ? 0 : stop_install(&ctx->err); /* the outer run did */
	if (r < 0)
		return r;
	return ctx->command->run(ctx, args);
}

static int run_command(const struct command *cmd, int argc, char **argv, struct context *ctx)
{
	_cleanup_free_ void *args = xcalloc(1, MAX(cmd->args_size, (size_t)1));
	int status;

	if (cli_parse(cmd, argc, argv, ctx, args, &ctx->err) < 0) {
		if (ctx->as_perf && ctx->err.what && starts_with(ctx->err.what, "unknown option"))
			err_hint(&ctx->err,
				 "this part of perf's %s is missing here; 'fathom %s --help' lists "
				 "what there is",
				 cmd->name, cmd->name);
		print_error(cmd, &ctx->err);
		fputs(cmd->peer_usage ? cmd->peer_usage : "", stderr);
		status = cmd->peer ? EXIT_FAILED : EXIT_USAGE;
	} else {
		status = finish(ctx, run_parsed(ctx, args));
	}
	cli_args_release(cmd, ctx, args);
	return status;
}

int cli_run_as_perf(const struct context *outer, const struct command *cmd, char **argv)
{
	struct context ctx = {
		.commands = outer->commands,
		.n_commands = outer->n_commands,
		.out = outer->out,
		.as_perf = true,
		.cache = outer->cache,
	};
	int argc = 0, status;

	while (argv[argc])
		argc++;
	status = run_command(cmd, argc, argv, &ctx);
	err_release(&ctx.err);
	return status;
}

static int usage_error(struct context *ctx)
{
	print_error(NULL, &ctx->err);
	return EXIT_USAGE;
}

static int show_overview(struct context *ctx)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	static const struct command nothing = { .name = "fathom" };

	ctx->command = &nothing;
	cli_overview(ctx->commands, ctx->n_commands, cli_color(ctx), cli_width(ctx), &text);
	return finish(ctx, cli_print(ctx, &text));
}

/* Is it one of the options that every command has? */
static bool is_common(const char *word)
{
	struct opt_names it;

	for (const struct opt *o = common_options; o->type; o++) {
		const char *name = starts_with(word, "--");

		if (!name) {
			if (word[1] == o->short_name)
				return true;
			continue;
		}
		opt_names_init(&it, o);
		while (opt_names_next(&it)) {
			size_t n = strlen(it.text);

			if (strncmp(name, it.text, n) == 0 && (!name[n] || name[n] == '='))
				return true;
		}
	}
	return false;
}

static int early_option(struct context *ctx, const char *word)
{
	struct suggestion s;

	err_set(&ctx->err, EINVAL, "unknown option '%s' before a command", word);
	suggest_init(&s, starts_with(word, "--") ? word + 2 : word + 1);
	suggest_try(&s, "help");
	suggest_try(&s, "version");
	if (*s.best)
		err_hint(&ctx->err, "did you mean '--%s'?", s.best);
	else
		err_hint(&ctx->err, "options of a command come after its name");
	return usage_error(ctx);
}

static bool is_version(const char *word)
{
	return streq(word, "--version") || streq(word, "-V");
}

static bool is_help(const char *word)
{
	return streq(word, "--help") || streq(word, "-h");
}

/*
 * Options that are before the command belong to it: "fathom --json doctor" and "fathom doctor
 * --json" are the same. @words has room for all of argv; words[0] becomes the command's name.
 */
static int dispatch(struct context *ctx, int argc, char **argv, char **words)
{
	const struct command *cmd = NULL;
	const char *name = NULL;
	bool help = false;
	int n = 1, i = 1;

	for (; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
		if (is_version(argv[i]))
			name = "version";
		else if (is_help(argv[i]))
			help = true;
		else if (!is_common(argv[i]))
			return early_option(ctx, argv[i]);
		if (!is_version(argv[i]))
			words[n++] = argv[i];
	}
	if (!name && i < argc)
		name = argv[i++];
	if (!name && help)
		return show_overview(ctx);
	if (!name && n == 1)
		return show_overview(ctx);
	if (!name) {
		err_set(&ctx->err, EINVAL, "no command was given");
		err_hint(&ctx->err, "'fathom help' lists the commands");
		return usage_error(ctx);
	}
	cmd = cli_find(ctx->commands, ctx->n_commands, name);
	if (!cmd) {
		cli_unknown_command(ctx->commands, ctx->n_commands, name, &ctx->err);
		return usage_error(ctx);
	}
	words[0] = (char *)(uintptr_t)cmd->name;
	for (; i < argc; i++)
		words[n++] = argv[i];
	return run_command(cmd, n, words, ctx);
}

/* The command that a link of this name stands for. */
static const struct command *find_peer(const struct context *ctx, const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL, *name = slash ? slash + 1 : path;

	for (size_t i = 0; name && i < ctx->n_commands; i++)
		if (ctx->commands[i]->peer && streq(ctx->commands[i]->peer, name))
			return ctx->commands[i];
	return NULL;
}

/*
 * A standard descriptor that is closed would be taken by the next file that is opened, and our
 * output would go into it. Read-only for the outputs, so that writing fails as it should.
 */
static void fill_standard_fds(void)
{
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_RDONLY : O_WRONLY) < 0)
			return;
}

/* The kernel names a process that we start from /proc/self/exe after that link. */
static void name_process(void)
{
	char name[16] = "";

	if (prctl(PR_GET_NAME, name) == 0 && streq(name, "exe"))
		(void)prctl(PR_SET_NAME, "fathom");
}

int cli_main(const struct command *const *commands, size_t n_commands, int argc, char **argv)
{
	_cleanup_free_ char **words = xcalloc((size_t)MAX(argc, 1) + 1, sizeof(*words));
	struct context ctx = { .commands = commands, .n_commands = n_commands, .out = stdout };
	const struct command *peer = find_peer(&ctx, argv[0]);
	int status;

	name_process();

	fill_standard_fds();
	stop_ignore_pipe();
	status = peer ? run_command(peer, argc, argv, &ctx) : dispatch(&ctx, argc, argv, words);
	err_release(&ctx.err);
	return status;
}
