/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command line, as data.
 *
 * A command is one file in src/cmd/ that defines
 *
 *	const struct command cmd_hello = { .name = "hello", .run = hello_run, ... };
 *
 * and nothing else has to know: the build makes the list from the folder. From its option table
 * come parsing, --help, the man page and the completions.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "base/err.h"
#include "base/parse.h"
#include "base/vec.h"
#include "result/result.h"

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_MISSING = 3, EXIT_NOTHING = 4 };

typedef VEC(const char *) str_list;

/* What an option stores, and so which type its field in the argument struct must have. */
enum opt_type {
	OPT_FLAG = 1,  /* bool; --no-NAME clears it when OPT_NEGATABLE */
	OPT_COUNT,     /* int: how often it was given (-vv) */
	OPT_STRING,    /* const char * */
	OPT_FILE,      /* const char *; completed as a path */
	OPT_STRINGS,   /* str_list: may be repeated */
	OPT_U64,       /* u64 */
	OPT_S64,       /* s64 */
	OPT_DOUBLE,    /* double */
	OPT_PERCENT,   /* double */
	OPT_DURATION,  /* u64 nanoseconds */
	OPT_SIZE,      /* u64 bytes */
	OPT_FREQUENCY, /* u64 hertz */
	OPT_RANGES,    /* range_list: 0-3,7 */
	OPT_PIDS,      /* range_list of ids, may be repeated, comma separated */
	OPT_CHOICE,    /* int: index into choices */
	OPT_NAME,      /* const char *: its own name; of those with one field one may be given */
	OPT_CUSTOM,    /* .parse(void *field, const char *text, struct err *) */
	OPT_INCLUDE,   /* not an option: .include is another table, its struct is at .offset */
};

enum {
	OPT_NEGATABLE = 1 << 0, /* OPT_FLAG: --no-NAME exists */
	OPT_HIDDEN = 1 << 1,    /* accepted (a peer's name for it), not shown in help */
	OPT_RESULT = 1 << 3,    /* about the form of a result: not for a command with .only_form */
	OPT_INSTEAD = 1 << 4,   /* has the name of a common option of OPT_RESULT, as a peer */
	OPT_OPTIONAL = 1 << 2,  /* the value may be missing: --call-graph or --call-graph=fp;
				   .implied is used */
};

struct opt {
	char short_name;  /* 0: none */
	const char *name; /* long name without dashes */
	enum opt_type type;
	size_t offset;       /* of the field */
	const char *arg;     /* "PID": name of the value in help */
	const char *help;    /* one line, lower case, no full stop */
	const char *def;     /* default in text form, parsed as if given; NULL: zero */
	const char *implied; /* OPT_OPTIONAL: the value when none is given */
	const char *group;   /* heading in help: "Target", "Output", ...; NULL: "Options" */
	const char *alias;   /* other long names, space separated */
	const char
		*conflicts; /* long names that cannot be given together with it, space separated */
	const char *const *choices; /* OPT_CHOICE, NULL-terminated; of an OPT_CUSTOM that is
				       OPT_OPTIONAL: words that begin its value */
	int (*parse)(void *field, const char *text, struct err *e);
	const struct opt *include;
	u64 max; /* OPT_U64, OPT_RANGES: largest value; 0: no limit */
	/*
	 * Its letter stands for it after this operand only; elsewhere it may stand for another
	 * option: -s of "sched timehist" is not that of "sched latency".
	 */
	const char *after;
	/* An option of peers alone: it is refused, and this is what to do here; a hint. */
	const char *instead;
	u32 flags;
	size_t given_offset; /* of a bool that says whether it was given; 0: none */
};

/* Tables end with OPT_END. */
/* An entry whose value goes to @field of @struct_; more fields of struct opt may follow. */
#define OPT_ENTRY(struct_, letter, name_, type_, field, arg_, help_, ...)                   \
	{                                                                                   \
		.short_name = letter, .name = name_, .type = type_,                         \
		.offset = offsetof(struct_, field), .arg = arg_, .help = help_, __VA_ARGS__ \
	}
#define OPT_END   \
	{         \
		0 \
	}

struct example {
	const char *line; /* "fathom record -d 5s": works when pasted */
	const char *text; /* what it does */
};

/* A column of its rows, for those that show them: "average", "duration", "ns" (NULL: none). */
struct column_words {
	const char *key, *type, *unit;
};

/* Commands are listed under the question they answer, in this order. */
enum question {
	Q_CPU = 1, /* Where does CPU time go? */
	Q_WAIT,    /* What is being waited for? */
	Q_TRACE,   /* What happens, how often, how long? */
	Q_TOOL,    /* Which tool shows one thing? */
	Q_LOOK,    /* How can I look at a recording? */
	Q_MACHINE, /* What is this machine, what does it do now? */
	Q_SELF,    /* What can fathom do here? */
	QUESTION_COUNT
};

struct buf;
struct context;

struct command {
	const char *name;
	const char *summary;     /* one line, lower case, no full stop */
	const char *description; /* paragraphs separated by blank lines */
	enum question question;
	const char *group;         /* Q_TOOL: what it is about; NULL otherwise */
	const char *aliases;       /* other names of it, space separated; may be NULL */
	const struct opt *options; /* in addition to the common ones; may be NULL */
	size_t args_size;          /* of the argument struct that @options fills */
	const char *operands;      /* "[PID]..." in the synopsis; NULL: none taken */
	size_t min_operands;
	size_t max_operands; /* SIZE_MAX: any number */
	bool takes_program;  /* -- program args, or the first operand begins the program */
	/*
	 * The program whose command line this one takes: when we are called by that name (a link)
	 * the command runs, and it complains as the peer does ("ERROR: text", status 1).
	 */
	const char *peer;
	/* The synopsis in the peer's form, shown in help and after a wrong command line; or NULL.
	 */
	const char *peer_usage;
	const char *instead_of; /* names in other tool collections, space separated */
	const char *only_form;  /* it writes a format of its own: --json and the like are refused */
	const struct example *examples;     /* ends with { 0 }; at least one */
	const struct column_words *columns; /* ends with { 0 }; NULL: unknown */
	const char *notes;                  /* CAVEATS of the man page, may be NULL */
	const char *see_also;               /* space separated: "fathom-report perf-record" */
	/*
	 * Returns the exit status (EXIT_*, a child's status, 128 + signal) or a negative errno with
	 * @ctx->err set. @ctx->err is printed whenever the status is not 0; a command that parses
	 * words of its own sets it and returns EXIT_USAGE.
	 */
	int (*run)(struct context *ctx, void *args);
	/* Frees what @options allocated, except lists of the engine; may be NULL. */
	void (*release)(void *args);
};

enum color_mode { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/* Options that every command has. */
struct common_args {
	const char *format; /* the name of a view; NULL: text */
	const char *table;  /* of a result in CSV; NULL: all */
	bool wide;
	int color; /* enum color_mode */
	bool no_pager;
	bool quiet;
	int verbose;
	bool help;
};

/* What a command gets in addition to its own arguments: one struct, no globals. */
struct context {
	const struct command *command;
	const struct command *const *commands; /* all of them, for help and completion */
	size_t n_commands;
	struct common_args common;
	str_list operands;
	char **program;    /* argv of the program after "--", NULL-terminated, or NULL */
	struct err err;    /* filled when run() returns a negative errno */
	FILE *out;         /* results */
	bool stream;       /* results follow one another: no pager, one JSON line each */
	bool headless;     /* the tables go on where those of the last result ended */
	bool as_perf;      /* called by perf's name: its defaults and its form of text */
	const char *cache; /* as_perf: the folder of --buildid-dir, or NULL */
	int output_error;  /* errno of a failed write to @out: run() may just return */
};

/*
 * Shows a finished result in the format the user chose, paged if that is wanted; 0 or -errno.
 * Commands that show a result again and again set @ctx->stream first.
 */
int cli_show(struct context *ctx, const struct result *r);
/* Writes finished text to @ctx->out, through the pager if it is longer than the screen. */
int cli_print(struct context *ctx, const struct buf *text);
/*
 * Text with names from outside, as it comes: on a terminal control characters are made visible
 * unless @raw, a pipe gets the bytes.
 */
int cli_write_foreign(struct context *ctx, bool raw, const char *text, size_t n);
/* The same for a whole text, through the pager if it is longer than the screen. */
int cli_print_foreign(struct context *ctx, bool raw, const struct buf *text);
#define CLI_RAW_HELP "control characters in names as they are, also on a terminal"
/* Is the result for a program; is it in that format? */
bool cli_is_machine(const struct context *ctx);
bool cli_is(const struct context *ctx, const char *format);
/* Columns of the terminal, and whether colour is wanted on @ctx->out. */
int cli_width(const struct context *ctx);
bool cli_color(const struct context *ctx);
/* True when a progress line on stderr is welcome. */
bool cli_progress_wanted(const struct context *ctx);
/* Replaces the progress line; an empty text removes it. */
void cli_progress(const struct context *ctx, const char *fmt, ...) PRINTF_LIKE(2, 3);

/*
 * Reports that it is observing, and for how long (0: until stopped), on a terminal; an empty
 * cli_progress() removes it.
 */
void cli_progress_watching(const struct context *ctx, u64 duration);

/* Parses argv and runs; returns the exit status of the process. */
int cli_main(const struct command *const *commands, size_t n_commands, int argc, char **argv);

/* Pieces of the above, for tests, `help`, the man page writer and the completion writer. */
const struct command *cli_find(const struct command *const *commands, size_t n, const char *name);
/* Fills @e with "unknown command" and the nearest name; returns -EINVAL. */
int cli_unknown_command(const struct command *const *commands, size_t n, const char *name,
			struct err *e);
/*
 * argv[0] is the name of the command. Clears @args (args_size bytes), fills it and @ctx; stops
 * early at --help. Call cli_args_release() afterwards, also when it failed.
 */
int cli_parse(const struct command *cmd, int argc, char **argv, struct context *ctx, void *args,
	      struct err *e);
/*
 * Runs @cmd as perf's command of that name would run: @outer->as_perf for it. @argv[0] is any
 * word. Says what went wrong; returns the exit status.
 */
int cli_run_as_perf(const struct context *outer, const struct command *cmd, char **argv);
/* Is @typed the operand @word, or an unambiguous prefix of it? */
bool cli_is_operand(const char *typed, const char *word);
void cli_args_release(const struct command *cmd, struct context *ctx, void *args);
void cli_help(const struct command *cmd, bool color, int width, struct buf *out);
void cli_overview(const struct command *const *commands, size_t n, bool color, int width,
		  struct buf *out);
/* mdoc source of fathom-NAME(1), and of fathom(1) when @cmd is NULL. */
void cli_man(const struct command *const *commands, size_t n, const struct command *cmd,
	     struct buf *out);
/* @shell is "bash" or "zsh". */
int cli_completion(const struct command *const *commands, size_t n, const char *shell,
		   struct buf *out, struct err *e);
/* The question that the commands of a group answer. */
const char *cli_question(enum question q);
/* JSON of the tables: all commands, or @only if it is not NULL. */
void cli_dump(const struct command *const *commands, size_t n, const struct command *only,
	      struct buf *out);
/* Checks the tables themselves (duplicate letters, missing help, no example): a line per fault. */
void cli_check(const struct command *const *commands, size_t n, struct buf *ret_faults);

#endif
