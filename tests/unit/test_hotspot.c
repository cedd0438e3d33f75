/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The numbers in HotSpot's debug positions. */
#include "runtime/hotspot_scopes.h"

#include "unit/harness.h"

static bool number(const void *bytes, size_t n, bool no_zero, u32 *ret, size_t *ret_used)
{
	*ret_used = 0;
	return hotspot_read_number(bytes, n, ret_used, no_zero, ret);
}

TEST("hotspot: numbers of scopes, in both forms")
{
	size_t used;
	u32 v;

	CHECK(number("\x05", 1, false, &v, &used) && v == 5 && used == 1);
	CHECK(number("\xbf", 1, false, &v, &used) && v == 191 && used == 1);
	/* 192 + 1 << 6 */
	CHECK(number("\xc0\x01", 2, false, &v, &used) && v == 256 && used == 2);
	/* five bytes at most, whatever the last one is */
	CHECK(number("\xff\xff\xff\xff\xff\xff", 6, false, &v, &used) && used == 5);
	/* from java 20 on each byte is one more */
	CHECK(number("\x01", 1, true, &v, &used) && v == 0);
	CHECK(number("\xbf", 1, true, &v, &used) && v == 190 && used == 1);
	CHECK(number("\xc0\x02", 2, true, &v, &used) && v == 191 + 64 && used == 2);
}

TEST("hotspot: numbers that are cut or impossible")
{
	size_t used;
	u32 v;

	CHECK(!number("", 0, false, &v, &used));
	CHECK(!number("\xc0", 1, false, &v, &used));
	CHECK(!number("\x00", 1, true, &v, &used));
	CHECK(!number("\xc0\x00", 2, true, &v, &used));
}
