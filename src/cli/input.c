/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/input.h"

#include "base/io.h"

const struct opt input_options[] = {
	{ .short_name = 'i',
	  .name = "input",
	  .type = OPT_FILE,
	  .offset = offsetof(struct input_args, input),
	  .arg = "FILE",
	  .help = "the recording to read, - for the standard input",
	  .def = INPUT_DEFAULT,
	  .group = "Input" },
	OPT_END,
};

static int check_stdin(struct err *e)
{
	if (!isatty(STDIN_FILENO))
		return 0;
	err_set(e, EINVAL, "a recording cannot be read from a terminal");
	err_hint(e, "redirect one: fathom record -o - | fathom ... -i -");
	return -EINVAL;
}

int input_check(const struct input_args *in, struct err *e)
{
	_cleanup_close_ int fd = -1;
	int r;

	if (streq(in->input, "-"))
		return check_stdin(e);
	r = io_open_read(in->input, &fd, e);
	if (r == -ENOENT && streq(in->input, INPUT_DEFAULT))
		err_hint(e, "make one with 'fathom record', or name another with -i");
	else if (r == -ENOENT)
		err_hint(e, "-i names the recording; the default is " INPUT_DEFAULT);
	else if (r == -EACCES)
		err_hint(e, "only its owner and root may read a recording");
	return r;
}
