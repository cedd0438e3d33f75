/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit/harness.h"

#include "elf/elf.h"
#include "elf/make.h"

TEST(elf_make_is_read_back)
{
	static const u8 code[] = { 0x55, 0xc3, 0x90 };
	const struct elf_make_line lines[] = { { 0, "a.js", 7 }, { 1, "", 3 }, { 9, "a.js", 9 } };
	_cleanup_buf_ struct buf bytes = BUF_INIT, text = BUF_INIT;
	_cleanup_elf_ struct elf elf = ELF_INIT;
	struct elf_make m = { .machine = EM_X86_64 };
	const u64 first = elf_make_add(&m, "first", code, sizeof(code));
	const u64 second = elf_make_add(&m, "second", code, 2);

	elf_make_lines(&m, second, 2, lines, ARRAY_SIZE(lines));
	CHECK_EQ(elf_make_add(&m, "huge", code, (size_t)ELF_MAKE_MOST + 1), 0);
	elf_make_finish(&m, &bytes);
	CHECK_EQ(elf_open_mem(&elf, bytes.data, bytes.len, "made", NULL), 0);
	CHECK_EQ(elf.machine, EM_X86_64);
	CHECK_EQ(elf.build_id_len, ELF_MAKE_ID);
	CHECK(memcmp(elf.build_id, m.build_id, ELF_MAKE_ID) == 0);
	CHECK_EQ(second - first, 16);
	CHECK_EQ(elf_read_section(&elf, elf_find_section(&elf, ".text"), 4096, &text), 0);
	CHECK_EQ(text.len, 18);
	CHECK(memcmp(text.data + 16, code, 2) == 0);
	CHECK(elf_find_section(&elf, ".debug_line") != NULL);
	elf_make_release(&m);
}

TEST(elf_make_without_functions)
{
	_cleanup_buf_ struct buf bytes = BUF_INIT;
	_cleanup_elf_ struct elf elf = ELF_INIT;
	struct elf_make m = { .machine = EM_AARCH64 };

	elf_make_finish(&m, &bytes);
	CHECK_EQ(elf_open_mem(&elf, bytes.data, bytes.len, "made", NULL), 0);
	elf_make_release(&m);
}
