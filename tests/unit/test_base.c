/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit/harness.h"

#include "base/arena.h"
#include "base/asset.h"
#include "base/buf.h"
#include "elf/note.h"
#include "base/err.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/vec.h"

TEST("buf grows and stays terminated")
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	CHECK_STR(buf_str(&b), "");
	for (int i = 0; i < 1000; i++)
		buf_addch(&b, (char)('a' + i % 26));
	CHECK_EQ(b.len, 1000);
	CHECK_EQ(strlen(buf_str(&b)), 1000);
	CHECK_EQ(buf_str(&b)[999], 'a' + 999 % 26);
}

TEST("buf formats longer than its first room")
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	buf_addf(&b, "%s-%0500d-%s", "head", 7, "tail");
	CHECK_EQ(b.len, 5 + 500 + 5);
	CHECK(ends_with(buf_str(&b), "0000007-tail"));
}

TEST("buf writes decimal and hexadecimal extremes")
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	buf_addu(&b, 0);
	buf_addch(&b, ' ');
	buf_addu(&b, UINT64_MAX);
	buf_addch(&b, ' ');
	buf_addx(&b, UINT64_MAX);
	buf_addch(&b, ' ');
	buf_addx(&b, 0);
	CHECK_STR(buf_str(&b), "0 18446744073709551615 ffffffffffffffff 0");
}

TEST("buf writes characters as UTF-8")
{
	_cleanup_buf_ struct buf b = BUF_INIT;

	buf_addutf8(&b, 0x7f);
	buf_addutf8(&b, 0x80);
	buf_addutf8(&b, 0x7ff);
	buf_addutf8(&b, 0x800);
	buf_addutf8(&b, 0xffff);
	buf_addutf8(&b, 0x10000);
	buf_addutf8(&b, 0x10ffff);
	CHECK_STR(buf_str(&b), "\x7f"
			       "\xc2\x80"
			       "\xdf\xbf"
			       "\xe0\xa0\x80"
			       "\xef\xbf\xbf"
			       "\xf0\x90\x80\x80"
			       "\xf4\x8f\xbf\xbf");
}

TEST("notes of ELF are taken one by one, and never beyond the end")
{
	static const u8 notes[] = "\4\0\0\0\5\0\0\0\3\0\0\0GNU\0abcde\0\0\0" /* padded */
				  "\2\0\0\0\1\0\0\0\1\0\0\0x\0\0\0z";        /* the end is not */
	const u8 *p = notes;
	size_t n = sizeof(notes) - 1;
	struct elf_note note;

	CHECK(elf_note_next(&p, &n, &note));
	CHECK(elf_note_is(&note, "GNU", 3));
	CHECK(!elf_note_is(&note, "GNU", 4));
	CHECK(!elf_note_is(&note, "GN", 3));
	CHECK(note.size == 5 && memcmp(note.data, "abcde", 5) == 0);
	CHECK(elf_note_next(&p, &n, &note));
	CHECK(elf_note_is(&note, "x", 1) && note.size == 1 && note.data[0] == 'z');
	CHECK(!elf_note_next(&p, &n, &note));
	for (size_t cut = 0; cut < 25; cut++) {
		p = notes;
		n = cut;
		CHECK_EQ(elf_note_next(&p, &n, &note), cut >= 21);
	}
	p = (const u8 *)"\xff\xff\xff\xff\xff\xff\xff\xff\3\0\0\0GNU";
	n = 16;
	CHECK(!elf_note_next(&p, &n, &note));
}

TEST("buf truncates, resets and detaches")
{
	struct buf b = BUF_INIT;
	char *p;

	buf_addstr(&b, "hello world");
	buf_truncate(&b, 100);
	CHECK_EQ(b.len, 11);
	buf_truncate(&b, 5);
	CHECK_STR(buf_str(&b), "hello");
	p = buf_detach(&b);
	CHECK_STR(p, "hello");
	free(p);
	CHECK_EQ(b.len, 0);
	p = buf_detach(&b);
	CHECK_STR(p, "");
	free(p);
}

TEST("vec keeps what is pushed")
{
	VEC(int) v = { 0 };
	int sum = 0;

	for (int i = 0; i < 100; i++)
		vec_push(&v, i);
	*vec_new(&v) += 1000;
	vec_each(it, &v)
		sum += *it;
	CHECK_EQ(v.len, 101);
	CHECK_EQ(sum, 4950 + 1000);
	CHECK_EQ(vec_pop(&v), 1000);
	CHECK_EQ(*vec_last(&v), 99);
	vec_release(&v);
	CHECK_EQ(v.len, 0);
}

TEST("map agrees with a plain array under puts and deletes")
{
	_cleanup_map_ struct map m = MAP_INIT;
	u64 truth[512] = { 0 };
	bool here[512] = { false };
	u32 seed = 12345;
	size_t n = 0;

	for (int i = 0; i < 100000; i++) {
		seed = seed * 1664525 + 1013904223;
		u32 key = seed >> 23;

		if (seed & 0x100) {
			truth[key] = seed;
			n += !here[key];
			here[key] = true;
			map_put(&m, key * 0x100000001ull, seed);
		} else {
			CHECK_EQ(map_del(&m, key * 0x100000001ull), here[key]);
			n -= here[key];
			here[key] = false;
		}
		CHECK_EQ(m.len, n);
	}
	for (u32 key = 0; key < 512; key++) {
		const u64 *v = map_find(&m, key * 0x100000001ull);

		CHECK_EQ(v != NULL, here[key]);
		if (v)
			CHECK_EQ(*v, truth[key]);
	}
	size_t seen = 0;
	map_each(slot, &m)
		seen += here[slot->key & 511];
	CHECK_EQ(seen, n);
}

TEST("map at makes zero and keeps it")
{
	_cleanup_map_ struct map m = MAP_INIT;

	CHECK(!map_find(&m, 0));
	CHECK_EQ(map_get(&m, 0, 77), 77);
	(*map_at(&m, 0))++;
	(*map_at(&m, 0))++;
	CHECK_EQ(map_get(&m, 0, 77), 2);
	map_clear(&m);
	CHECK_EQ(m.len, 0);
	CHECK(!map_find(&m, 0));
}

TEST("arena memory is aligned, stable and apart")
{
	_cleanup_arena_ struct arena a = ARENA_INIT;
	char *first = arena_strdup(&a, "first");
	u64 *big;

	for (int i = 0; i < 5000; i++) {
		u64 *p = arena_alloc(&a, sizeof(u64));

		CHECK_EQ((uintptr_t)p % 16, 0);
		*p = UINT64_MAX;
	}
	big = arena_zalloc(&a, 3 << 20);
	CHECK_EQ(big[(3 << 20) / 8 - 1], 0);
	CHECK_STR(first, "first");
	CHECK_STR(arena_printf(&a, "%d-%s", 42, "x"), "42-x");
	CHECK_STR(arena_strndup(&a, "abcdef", 3), "abc");
}

TEST("intern gives one id to equal bytes and finds them again")
{
	struct intern in = INTERN_INIT;
	char name[32];

	CHECK_STR(intern_get(&in, 0), "");
	CHECK_EQ(intern_find(&in, "x", 1), 0);
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 10000; i++) {
			snprintf(name, sizeof(name), "name%d", i);
			CHECK_EQ(intern_str(&in, name), i + 1);
		}
	}
	CHECK_STR(intern_get(&in, 10000), "name9999");
	CHECK_EQ(intern_len(&in, 10), 5);
	CHECK_EQ(intern_find(&in, "name5", 5), 6);
	CHECK_STR(intern_get(&in, 99999), "");
	CHECK(intern_bytes(&in, "a\0b", 3) != intern_bytes(&in, "a\0c", 3));
	CHECK(intern_bytes(&in, NULL, 0) != 0);
	intern_release(&in);
}

TEST("err carries what and hint, and keeps the code on its way up")
{
	_cleanup_err_ struct err e = ERR_INIT;

	CHECK_EQ(err_sys(&e, EACCES, "cannot open '%s'", "x"), -EACCES);
	CHECK_STR(e.what, "cannot open 'x': permission denied");
	CHECK(!e.hint);
	err_hint(&e, "try %d", 1);
	CHECK_STR(e.hint, "try 1");
	CHECK_EQ(err_prefix(&e, "reading"), -EACCES);
	CHECK_STR(e.what, "reading: cannot open 'x': permission denied");
	CHECK_EQ(err_set(&e, -EINVAL, "other"), -EINVAL);
	CHECK_STR(e.what, "other");
	CHECK(!e.hint);
	CHECK_EQ(err_set(NULL, ENOENT, "nobody listens"), -ENOENT);
	CHECK_STR(err_words(123456), "error 123456");
}

TEST("assets end with an empty name")
{
	size_t n = 0;

	for (const struct asset *a = asset_all(); a->name; a++) {
		CHECK(a->size > 18);
		CHECK_EQ(a->gzip[0], 0x1f);
		CHECK(asset_find(a->name) == a);
		CHECK(++n < 10000);
	}
	CHECK(!asset_find("no such asset"));
}
