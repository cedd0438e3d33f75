/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Filters of fathom top: any text is words, a condition or a fault. */
#include "top/filter.h"
#include "tui/key.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	const struct machine_frame frame = { .seconds = 1, .cpus = 2, .memory = 1 << 20 };
	const struct top_context ctx = { .frame = &frame };
	struct top_task task = {
		.user = "root", .command = "sh -c x", .cgroup = "/", .container = ""
	};
	_cleanup_err_ struct err e = ERR_INIT;
	_cleanup_free_ char *text = xstrndup((const char *)data, size);
	const char *keys = text;
	struct filter f;
	struct input in;

	task.row.pid = 7;
	if (filter_parse(&f, text, &e) == 0)
		(void)filter_match(&f, &task, &ctx);
	while (input_parse(&keys, &in))
		;
	return 0;
}
