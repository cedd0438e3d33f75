/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any text as a condition on system calls: rows only ever go on to later ones. */
#include "syscalls/filter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct syscall_table table;
	struct syscall_filter f;
	struct err e = ERR_INIT;
	char *text = xstrndup((const char *)data, size);

	if (!table.calls[0].name)
		syscall_table_init(&table);
	if (!syscall_filter_parse(&f, text, &table, &e)) {
		if (!f.n || f.n > SYSCALLS_FILTER_ROWS)
			abort();
		for (u32 i = 0; i < f.n; i++)
			if ((f.rows[i].yes <= i) || f.rows[i].no <= i)
				abort();
	}
	err_release(&e);
	free(text);
	return 0;
}
