/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/clock.h"
#include "cli/cli.h"
#include "tool/tool.h"

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
	struct toolbox box;
	int status;

	clock_init();
	toolbox_init(&box, commands, ARRAY_SIZE(commands), argc, argv);
	if (box.faults.len)
		fputs(buf_str(&box.faults), stderr);
	if (box.refused)
		status = EXIT_USAGE;
	else if (box.words.len)
		status = cli_main(box.commands.items, box.commands.len, (int)box.words.len - 1,
				  box.words.items);
	else
		status = cli_main(box.commands.items, box.commands.len, argc, argv);
	toolbox_release(&box);
	return status;
}
