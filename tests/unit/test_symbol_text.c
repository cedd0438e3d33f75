/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit/harness.h"

#include "base/buf.h"
#include "symbol/kallsyms.h"
#include "symbol/kallsyms_cache.h"
#include "runtime/perfmap.h"

static const char *kernel_name(const struct kallsyms *k, u64 address)
{
	const struct kallsyms_symbol *s = kallsyms_find(k, address);

	return s ? k->names + s->name : "";
}

static void parse(struct kallsyms *k, const char *text)
{
	kallsyms_parse(k, text, strlen(text));
}

TEST(kallsyms_functions_reach_to_the_next)
{
	struct kallsyms k;

	parse(&k, "ffffffff81000000 T first\n"
		  "ffffffff81000010 D data\n"
		  "ffffffff81000090 T __pfx_second\n"
		  "ffffffff810000a0 t second\n"
		  "ffffffff810000a0 W __alias\n"
		  "ffffffffc0000000 t in_module\t[ext4]\n"
		  "ffffffffc0000100 t prog\t[bpf]\n");
	CHECK_EQ(k.spans.len > 0, true);
	CHECK_STR(kernel_name(&k, 0xffffffff80ffffff), "");
	CHECK_STR(kernel_name(&k, 0xffffffff81000095), "first");
	CHECK_STR(kernel_name(&k, 0xffffffff810000a0), "second");
	CHECK_STR(kernel_name(&k, 0xffffffff90000000), "");
	CHECK_STR(kernel_name(&k, 0xffffffffc00000ff), "in_module");
	CHECK_STR(kernel_name(&k, 0xffffffffc0000100), "prog");
	CHECK_STR(intern_get(&k.modules, kallsyms_find(&k, 0xffffffffc0000000)->module), "ext4");
	CHECK_STR(intern_get(&k.modules, kallsyms_find(&k, 0xffffffffc0000100)->module), "bpf");
	CHECK_EQ(kallsyms_address(&k, "second"), 0xffffffff810000a0);
	CHECK_EQ(kallsyms_address(&k, "nothing"), 0);
	CHECK(!k.hidden);
	kallsyms_release(&k);
}

TEST(kallsyms_in_any_order)
{
	struct kallsyms k;

	parse(&k, "3000 t c\n1000 t a\n2000 t b");
	CHECK_STR(kernel_name(&k, 0x1fff), "a");
	CHECK_STR(kernel_name(&k, 0x2000), "b");
	CHECK_STR(kernel_name(&k, 0x3001), "c");
	kallsyms_release(&k);
}

TEST(kallsyms_packed_without_what_passes)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct kallsyms k, back;

	parse(&k, "ffffffff81000000 T _text\nffffffff81000000 T _stext\n"
		  "ffffffff81000040 t second\n"
		  "ffffffffc0000000 t in_module\t[ext4]\n"
		  "ffffffffc0000100 t prog\t[bpf]\n");
	kallsyms_pack(&k, &b);
	CHECK_EQ(kallsyms_unpack(&back, b.data, b.len), 0);
	for (u64 at = 0; at < 0x80; at += 0x20)
		CHECK_STR(kernel_name(&back, 0xffffffff81000000 + at),
			  kernel_name(&k, 0xffffffff81000000 + at));
	CHECK_STR(kernel_name(&back, 0xffffffffc0000010), "in_module");
	CHECK_STR(intern_get(&back.modules, kallsyms_find(&back, 0xffffffffc0000000)->module),
		  "ext4");
	CHECK_STR(kernel_name(&back, 0xffffffffc0000100), "");
	CHECK_EQ(kallsyms_address(&back, "_text"), 0xffffffff81000000);
	kallsyms_release(&back);
	for (size_t n = 0; n < b.len; n++)
		CHECK(kallsyms_unpack(&back, b.data, n) < 0);
	/* Each byte damaged: refused, or read without harm. */
	for (size_t i = 0; i < b.len; i++) {
		b.data[i] ^= (char)0x81;
		if (kallsyms_unpack(&back, b.data, b.len) == 0) {
			(void)kernel_name(&back, 0xffffffff81000040);
			kallsyms_release(&back);
		}
		b.data[i] ^= (char)0x81;
	}
	kallsyms_release(&k);
}

TEST(kallsyms_hidden_addresses_are_seen)
{
	struct kallsyms k;

	parse(&k, "0000000000000000 T first\n0000000000000000 t second\n");
	CHECK(k.hidden);
	CHECK_STR(kernel_name(&k, 0), "");
	kallsyms_release(&k);
}

TEST(kallsyms_of_nonsense_is_empty)
{
	static const char *const texts[] = {
		"",
		"\n\n",
		"zz T x\n",
		"ffffffff81000000\n",
		"ffffffff81000000 T\n",
		"ffffffff81000000 T \n",
		"ffffffff8100000012345 T x\n",
		"1000 T",
		"1000 T \t[m]\n",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct kallsyms k;

		parse(&k, texts[i]);
		CHECK_EQ(k.symbols.len, 0);
		kallsyms_release(&k);
	}
}

static const char *map_name(struct perfmap *m, u64 address)
{
	const struct perfmap_entry *e = perfmap_find(m, address);

	return e ? perfmap_name(m, e) : "";
}

static size_t add(struct perfmap *m, const char *text)
{
	return perfmap_add(m, text, strlen(text));
}

TEST(perfmap_lines)
{
	struct perfmap m = PERFMAP_INIT;

	static const char text[] = "1000 10 LazyCompile:~f /a b.js:1\r\n0x2000 0x20 g\nnonsense\n"
				   "3000 0 h\n4000 10 \nffffffffffffffff 10 wraps\n5000 zz x\n";

	CHECK_EQ(add(&m, text), strlen(text));
	CHECK_STR(map_name(&m, 0x100f), "LazyCompile:~f /a b.js:1");
	CHECK_STR(map_name(&m, 0x1010), "");
	CHECK_STR(map_name(&m, 0x201f), "g");
	CHECK_EQ(m.entries.len, 2);
	perfmap_release(&m);
}

TEST(perfmap_later_lines_win)
{
	struct perfmap m = PERFMAP_INIT;

	add(&m, "1000 100 old\n1080 40 middle\n");
	CHECK_STR(map_name(&m, 0x1090), "middle");
	add(&m, "1000 90 new\n");
	CHECK_STR(map_name(&m, 0x1000), "new");
	CHECK_STR(map_name(&m, 0x108f), "new");
	CHECK_STR(map_name(&m, 0x1090), "middle");
	CHECK_STR(map_name(&m, 0x10f0), "old");
	perfmap_release(&m);
}

TEST(perfmap_a_part_of_a_line_waits)
{
	struct perfmap m = PERFMAP_INIT;

	CHECK_EQ(add(&m, "1000 10 a\n2000 10 b"), strlen("1000 10 a\n"));
	CHECK_STR(map_name(&m, 0x2000), "");
	CHECK_EQ(add(&m, "2000 10 bcd\n"), strlen("2000 10 bcd\n"));
	CHECK_STR(map_name(&m, 0x2000), "bcd");
	perfmap_release(&m);
}

TEST(perfmap_long_names_are_cut)
{
	struct perfmap m = PERFMAP_INIT;
	_cleanup_buf_ struct buf line = BUF_INIT;

	buf_addstr(&line, "1000 10 ");
	buf_fill(&line, 'x', 10 * PERFMAP_MAX_NAME);
	buf_addch(&line, '\n');
	CHECK_EQ(perfmap_add(&m, line.data, line.len), line.len);
	CHECK_EQ(strlen(map_name(&m, 0x1000)), PERFMAP_MAX_NAME);
	perfmap_release(&m);
}
