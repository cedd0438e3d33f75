/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit/harness.h"

#include "base/io.h"
#include "symbol/ask.h"
#include "symbol/kallsyms.h"
#include "symbol/symbol.h"

TEST("what the kernel prints is taken apart")
{
	struct ask_answer a;

	CHECK(ask_parse("vfs_read+0x12/0x340", 0xffffffff81000012, &a));
	CHECK_STR(a.name, "vfs_read");
	CHECK_STR(a.module, "");
	CHECK_EQ(a.start, 0xffffffff81000000);
	CHECK_EQ(a.size, 0x340);
	CHECK(ask_parse("ext4_read+0x0/0x10 [ext4]", 0xffffffffc0000000, &a));
	CHECK_STR(a.name, "ext4_read");
	CHECK_STR(a.module, "ext4");
	CHECK(ask_parse("bpf_prog_0123456789abcdef_x+0x5/0x10", 0xffffffffc0000005, &a));
	CHECK_STR(a.module, "bpf");
	CHECK(ask_parse("bpf_trampoline_6442536912+0x5/0x10", 0xffffffffc0000005, &a));
	CHECK_STR(a.module, "bpf");
	/* functions of the kernel itself */
	CHECK(ask_parse("bpf_prog_free+0x5/0x10", 0xffffffff81000005, &a));
	CHECK_STR(a.module, "");
	CHECK(ask_parse("bpf_trampoline_link_prog+0x5/0x10", 0xffffffff81000005, &a));
	CHECK_STR(a.module, "");
}

TEST("text that names no function is refused")
{
	static const char *const texts[] = {
		"", "0xffffffff81000000", "+0x1/0x2", "f+0x1", "f+0x1/", "f+1/2", "f+0x3/0x2"
	};
	struct ask_answer a;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		CHECK(!ask_parse(texts[i], 0xffffffff81000001, &a));
	CHECK(!ask_parse("f+0x20/0x30", 0x10, &a));
}

/* Some function of the running kernel; every @every-th of them. */
static const struct kallsyms_symbol *nth(const struct kallsyms *k, size_t i, size_t every)
{
	return i * every < k->symbols.len ? &k->symbols.items[i * every] : NULL;
}

TEST("the running kernel says the names that /proc/kallsyms has")
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	const struct symbols_opts opts = { .ask_kernel = true, .no_cache = true };
	const struct kallsyms_symbol *sym;
	struct symbols *asked = symbols_new(&opts);
	struct ask *probe = NULL;
	struct kallsyms k;
	u32 same = 0, all = 0;

	if (ask_new(&probe) < 0)
		test_skip("the kernel takes no program that prints symbols");
	ask_free(probe);
	CHECK(io_read_file("/proc/kallsyms", IO_MAX_PROC, &text, NULL) >= 0);
	kallsyms_parse(&k, buf_str(&text), text.len);
	/* programs come and go, the kernel's own functions stay */
	for (size_t i = 0; (sym = nth(&k, i, 97)); i++) {
		const struct kallsyms_symbol *best = kallsyms_find(&k, sym->start);
		struct symbol got;

		if (sym->module || !best)
			continue;
		CHECK(symbols_kernel(asked, sym->start, &got, NULL));
		CHECK_EQ(got.start, sym->start);
		all++;
		same += streq(got.raw_name, k.names + best->name);
	}
	/* of several names for one address, some are others */
	CHECK(all > 100 && same >= all - all / 50);
	kallsyms_release(&k);
	symbols_free(asked);
}
