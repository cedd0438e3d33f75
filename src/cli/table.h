/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Option tables made flat: what parsing, help, man pages and completions walk over. */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include "cli/cli.h"

enum { OPT_NAME_MAX = 64, OPT_INCLUDE_DEPTH = 8 };

/* Heading of the options that every command has. */
#define COMMON_GROUP "Common options"

/* In common.c; fills struct common_args. */
extern const struct opt common_options[];

struct opt_ref {
	const struct opt *opt;
	size_t base; /* where the struct that opt->offset counts from begins */
	bool common; /* is in struct common_args, not in the command's own */
	bool hidden; /* accepted, but not shown */
	bool given;  /* for the parser */
};
typedef VEC(struct opt_ref) opt_refs;

/* The command's own options (included tables in place), then the common ones; release with
 * vec_release(). */
void opts_collect(const struct command *cmd, opt_refs *ret);
/* Is it the first of its group that is shown? Groups are in the order of their first options. */
bool opts_group_begins(const opt_refs *refs, size_t i);
const char *opt_group(const struct opt *o);
bool opt_takes_value(const struct opt *o);
/* What the value is called in help; choices joined with '|' when the table does not name it. */
void opt_arg_name(const struct opt *o, struct buf *out);
/* "--pid" or "-p": how messages call it. */
void opt_label(const struct opt *o, struct buf *out);

/* Walks all long names of an option: name, aliases, and the --no- form of each. */
struct opt_names {
	const struct opt *opt;
	const char *aliases;
	bool begun;
	bool negation_due;
	bool negated;            /* what @text means */
	bool alias;              /* @text is not the main name nor its negation */
	char text[OPT_NAME_MAX]; /* the name, without dashes */
};

void opt_names_init(struct opt_names *it, const struct opt *o);
bool opt_names_next(struct opt_names *it);

/* The next word of a space separated list into @ret; false at the end (and for NULL). */
bool word_next(const char **list, char *ret, size_t size);

/* In value.c: text to field and back to nothing. */
int value_store(const struct opt *o, void *field, const char *text, struct err *e);
void value_release(const struct opt *o, void *field);
/* "duration": the type for machines. */
const char *value_type_name(enum opt_type type);
/* "TIME": the name of a value when the table gives none. */
const char *value_arg_name(enum opt_type type);

#endif
