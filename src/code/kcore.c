/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "code/kcore.h"

#include "base/base.h"
#include "base/io.h"

#include <elf.h>

enum { SEGMENTS_MOST = 4096 };

static int read_at(int fd, u64 offset, void *ret, size_t n)
{
	ssize_t got = pread(fd, ret, n, (off_t)offset);

	return got < 0 ? -errno : (size_t)got == n ? 0 : -ENODATA;
}

static bool is_core(const Elf64_Ehdr *h)
{
	return memcmp(h->e_ident, ELFMAG, SELFMAG) == 0 && h->e_ident[EI_CLASS] == ELFCLASS64 &&
	       h->e_phentsize == sizeof(Elf64_Phdr) && h->e_phnum <= SEGMENTS_MOST;
}

static ssize_t read_segment(int fd, const Elf64_Phdr *p, u64 address, void *ret, size_t n)
{
	u64 into = address - p->p_vaddr;
	ssize_t got;

	n = MIN(n, (size_t)(p->p_memsz - into));
	if (p->p_offset > (u64)INT64_MAX - into)
		return -EBADMSG;
	got = pread(fd, ret, n, (off_t)(p->p_offset + into));
	return got < 0 ? -errno : got;
}

ssize_t kcore_read(const char *path, u64 address, void *ret, size_t n, struct err *e)
{
	_cleanup_close_ int fd = -1;
	Elf64_Ehdr head;
	ssize_t got = -ENOENT;
	int r = io_open_read(path, &fd, e);

	if (r < 0)
		return r;
	r = read_at(fd, 0, &head, sizeof(head));
	if (r < 0 || !is_core(&head))
		return err_set(e, EBADMSG, "'%s' is not a core file of this machine", path);
	for (u32 i = 0; i < head.e_phnum && got == -ENOENT; i++) {
		Elf64_Phdr p;

		if (read_at(fd, head.e_phoff + i * sizeof(p), &p, sizeof(p)) < 0)
			break;
		if (p.p_type == PT_LOAD && address >= p.p_vaddr && address - p.p_vaddr < p.p_memsz)
			got = read_segment(fd, &p, address, ret, n);
	}
	if (got == -ENOENT)
		return err_set(e, ENOENT, "'%s' has no code at 0x%llx", path,
			       (unsigned long long)address);
	return got < 0 ? err_sys(e, (int)-got, "cannot read '%s'", path) : got;
}
