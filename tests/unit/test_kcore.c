/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Code from a core file: found by its address, refused where the file is not one. */
#include "unit/harness.h"

#include "base/io.h"
#include "code/kcore.h"

#include <elf.h>
#include <fcntl.h>

static const char path[] = "kcore.test";

static void write_core(u64 memsz, u64 offset)
{
	Elf64_Ehdr h = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB },
			 .e_type = ET_CORE,
			 .e_phoff = sizeof(h),
			 .e_phentsize = sizeof(Elf64_Phdr),
			 .e_phnum = 1 };
	Elf64_Phdr p = { .p_type = PT_LOAD,
			 .p_vaddr = 0xffffffff81000000,
			 .p_memsz = memsz,
			 .p_filesz = memsz,
			 .p_offset = offset };
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	CHECK(fd >= 0);
	CHECK_EQ(io_write_all(fd, &h, sizeof(h)), 0);
	CHECK_EQ(io_write_all(fd, &p, sizeof(p)), 0);
	CHECK_EQ(io_write_all(fd, "\x90\x90\xc3\xcc", 4), 0);
	close(fd);
}

TEST(code_by_its_address)
{
	u8 code[8];

	write_core(4, sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr));
	CHECK_EQ(kcore_read(path, 0xffffffff81000002, code, sizeof(code), NULL), 2);
	CHECK_EQ(code[0], 0xc3);
	CHECK_EQ(kcore_read(path, 0xffffffff81000004, code, sizeof(code), NULL), -ENOENT);
	CHECK_EQ(kcore_read(path, 0x1000, code, sizeof(code), NULL), -ENOENT);
	unlink(path);
}

TEST(offsets_that_lead_nowhere)
{
	u8 code[8];

	write_core(~0ull - 0xffffffff81000000, ~0ull);
	CHECK_EQ(kcore_read(path, 0xffffffff81000002, code, sizeof(code), NULL), -EBADMSG);
	CHECK_EQ(kcore_read("/dev/null", 0xffffffff81000002, code, sizeof(code), NULL), -EBADMSG);
	unlink(path);
}
