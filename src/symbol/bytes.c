/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bytes of a module's file: what was mapped and run. */
#include "symbol/store.h"

#include <sys/stat.h>

static void open_bytes(const struct symbols *s, struct module *m)
{
	struct elf elf = ELF_INIT;
	struct module probe = *m;

	m->bytes_tried = true;
	if (!module_open_vdso(s, m, &elf) && !module_open_file(s, &probe, &elf))
		return;
	m->bytes = xmalloc(sizeof(*m->bytes));
	*m->bytes = elf;
}

void module_bytes_free(struct module *m)
{
	if (m->bytes)
		elf_release(m->bytes);
	free(m->bytes);
}

size_t symbols_bytes(struct symbols *s, u32 module, u64 file_offset, void *ret, size_t n)
{
	struct module *m = store_module(s, module);

	if (m && !m->bytes_tried)
		open_bytes(s, m);
	if (!m || !m->bytes || file_offset >= m->bytes->size)
		return 0;
	n = MIN(n, (size_t)(m->bytes->size - file_offset));
	return elf_read(m->bytes, file_offset, ret, n) < 0 ? 0 : n;
}

u64 symbols_bytes_time(const struct symbols *s, u32 module)
{
	const struct module *m = store_module(s, module);
	struct stat st;

	if (!m || !m->bytes || m->bytes->fd < 0 || fstat(m->bytes->fd, &st) < 0)
		return 0;
	return (u64)st.st_mtime;
}
