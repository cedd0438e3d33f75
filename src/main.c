/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/cli.h"

/* The build makes the list from the files of src/cmd/. */
#define COMMAND(name) extern const struct command cmd_##name;
#include "commands.inc"
#undef COMMAND

#define COMMAND(name) &cmd_##name,
static const struct command *const commands[] = {
#include "commands.inc"
};
#undef COMMAND

int main(int argc, char **argv)
{
	return cli_main(commands, ARRAY_SIZE(commands), argc, argv);
}
