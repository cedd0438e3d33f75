/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/table.h"

static const char *const color_choices[] = { "auto", "always", "never", NULL };

#define FIELD(f) .offset = offsetof(struct common_args, f), .group = COMMON_GROUP

const struct opt common_options[] = {
/* A format of results is a view; each is an option by its name. */
#define VIEW(view)             \
	{ .name = #view,       \
	  .type = OPT_NAME,    \
	  FIELD(format),       \
	  .flags = OPT_RESULT, \
	  .help = "print results as " #view },
#include "views.inc"
#undef VIEW
	{ .name = "table",
	  .type = OPT_STRING,
	  FIELD(table),
	  .arg = "NAME",
	  .flags = OPT_RESULT,
	  .help = "csv: only this table of the result" },
	{ .short_name = 'w',
	  .name = "wide",
	  .type = OPT_FLAG,
	  FIELD(wide),
	  .flags = OPT_RESULT,
	  .help = "never cut a line to fit the terminal" },
	{ .name = "color",
	  .type = OPT_CHOICE,
	  FIELD(color),
	  .arg = "WHEN",
	  .help = "use colour",
	  .def = "auto",
	  .implied = "always",
	  .alias = "colour",
	  .choices = color_choices,
	  .flags = OPT_OPTIONAL },
	{ .name = "no-color",
	  .type = OPT_CHOICE,
	  FIELD(color),
	  .implied = "never",
	  .alias = "no-colour",
	  .choices = color_choices,
	  .flags = OPT_OPTIONAL | OPT_HIDDEN },
	{ .name = "no-pager",
	  .type = OPT_FLAG,
	  FIELD(no_pager),
	  .help = "never start a pager",
	  .flags = OPT_NEGATABLE },
	{ .short_name = 'q',
	  .name = "quiet",
	  .type = OPT_FLAG,
	  FIELD(quiet),
	  .help = "print nothing but results and errors",
	  .conflicts = "verbose" },
	{ .short_name = 'v',
	  .name = "verbose",
	  .type = OPT_COUNT,
	  FIELD(verbose),
	  .help = "more messages; twice for even more",
	  .conflicts = "quiet" },
	{ .short_name = 'h',
	  .name = "help",
	  .type = OPT_FLAG,
	  FIELD(help),
	  .help = "show this help" },
	OPT_END,
};
