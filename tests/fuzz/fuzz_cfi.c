/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frame information, ELF files, cached tables and core files, as nobody should write them. */
#include <stdint.h>
#include <sys/mman.h>

#include "unwind/cfi.h"
#include "unwind/core.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_rule(void *ctx, u64 address, const struct unwind_rule *rule)
{
	(void)ctx;
	(void)address;
	if (rule->cfa > UNWIND_CFA_FAR_FP || rule->bp > UNWIND_BP_REG || rule->ra > UNWIND_RA_REG)
		abort();
}

static void try_section(const u8 *p, size_t n, bool debug)
{
	const struct cfi_section s = { .data = p, .size = n, .vaddr = 0x400000, .debug = debug };
	struct cfi c;

	cfi_parse(&c, &s);
	vec_each(f, &c.fdes)
		cfi_run(&c, f, check_rule, NULL);
	cfi_release(&c);
}

static void walk(const struct unwind_table *t)
{
	for (u64 offset = 0; offset < (u64)t->n_pages << UNWIND_PAGE_BITS; offset += 4093)
		check_rule(NULL, offset, unwind_table_rule(t, offset));
}

static void try_file(const u8 *p, size_t n)
{
	_cleanup_table_ struct unwind_table *t = NULL;
	_cleanup_elf_ struct elf elf = ELF_INIT;

	if (!elf_open_mem(&elf, p, n, "fuzz", NULL) && !unwind_table_compile(&elf, &t, NULL))
		walk(t);
}

static void try_cache(const u8 *p, size_t n)
{
	_cleanup_free_ void *aligned = n ? xmemdup(p, n) : NULL;
	_cleanup_table_ struct unwind_table *t = NULL, *later = NULL;

	if (!aligned)
		return;
	if (!unwind_table_unpack(aligned, n, false, &t, NULL))
		walk(t);
	if (!unwind_table_unpack(aligned, n, true, &later, NULL)) {
		for (u32 i = 0; i < later->n_pages; i++)
			(void)unwind_table_page_valid(later, i);
	}
}

static void try_core(const u8 *p, size_t n)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct core c;
	u64 ip[64];

	if (fd < 0 || write(fd, p, n) != (ssize_t)n) {
		if (fd >= 0)
			close(fd);
		return;
	}
	if (core_open(&c, fd, "fuzz", NULL))
		return;
	vec_each(t, &c.threads) {
		struct unwind_frames f = { .ip = ip, .max = 64 };

		core_frames(&c, t, &f);
	}
	core_release(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	switch (data[0] % 5) {
	case 0: try_section(data + 1, size - 1, false); break;
	case 1: try_section(data + 1, size - 1, true); break;
	case 2: try_file(data + 1, size - 1); break;
	case 3: try_cache(data + 1, size - 1); break;
	default: try_core(data + 1, size - 1); break;
	}
	return 0;
}
