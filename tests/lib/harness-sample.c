/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests that pass, fail and misbehave in every way the harness knows; see tests/unit/harness.t. */
#include "unit/harness.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

TEST(all_is_well)
{
	bool yes = true;

	CHECK(1 + 1 == 2);
	CHECK_EQ(2U, (long)2);
	CHECK_EQ((unsigned char)255, 255);
	CHECK_EQ(yes, 1);
	CHECK_STR("a", "a");
	CHECK_STR(NULL, NULL);
	CHECK_MEM("abc", "abd", 2);
	CHECK_NEAR(1.0, 1.01, 0.1);
}

TEST("a name # with signs")
{
	CHECK(true);
}

TEST(a_false_condition)
{
	CHECK(1 + 1 == 3);
}

TEST(minus_one_is_not_the_largest)
{
	CHECK_EQ(UINT64_MAX, -1);
}

TEST(strings_differ)
{
	CHECK_STR("x", NULL);
}

TEST(bytes_differ)
{
	CHECK_MEM("abc", "abd", 3);
}

TEST(numbers_are_far_apart)
{
	CHECK_NEAR(1.0, 2.0, 0.5);
}

TEST(a_crash)
{
	abort();
}

TEST_TIMEOUT(too_slow, 1)
{
	if (fork() == 0)
		pause();
	pause();
}

TEST(ends_on_its_own)
{
	exit(5);
}

TEST(not_here)
{
	SKIP("no reason at all");
}

TEST(a_child_keeps_the_output_open)
{
	if (fork() == 0)
		pause();
}

TEST(files_of_its_own)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/file", test_tmpdir());
	FILE *f = fopen(path, "w");

	CHECK(f);
	fclose(f);
	puts(path);
	FAIL("in %s", test_tmpdir());
}

TEST(a_leak)
{
	char *volatile p = malloc(10);

	p[0] = 1;
	p = NULL;
}

TEST(undefined_behaviour)
{
	volatile int x = INT_MAX;

	x = x + 1;
}
