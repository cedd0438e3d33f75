/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recordings from anywhere, read as events of the kernel's locks, memory and work. */
#include "tool/kernel_events.h"
#include "recording/recording.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct kernel_events_opts opts = {
		.what = (enum kernel_events_what)(size & 3),
		.by = (enum kernel_locks_by)((size >> 2) % 3),
		.cross = size & 4,
	};
	struct err e = ERR_INIT;
	struct recording *r;
	struct result result;

	if (recording_open_memory(data, size, &r, &e) == 0) {
		result_init(&result, "lock");
		(void)kernel_events_replay(r, &opts, &result, &e);
		result_release(&result);
		recording_free(r);
	}
	err_release(&e);
	return 0;
}
