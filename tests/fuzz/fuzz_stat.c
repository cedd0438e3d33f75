/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as a file of 'fathom stat --json', compared with itself. */
#include "analysis/stat_result.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct stat_file f;
	struct result r;

	if (stat_file_parse((const char *)data, size, "input", &f, NULL) < 0)
		return 0;
	result_init(&r, "stat");
	stat_compare(&f, &f, &r);
	result_release(&r);
	stat_file_release(&f);
	return 0;
}
