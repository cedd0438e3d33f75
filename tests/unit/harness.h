/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The unit test harness: tests register themselves, each runs in a child process of its own,
 * and the output is TAP. A test file holds nothing but tests:
 *
 *	TEST(append_grows)
 *	{
 *		CHECK_EQ(len, 3);
 *	}
 *
 * The name is a bare word or a string: TEST(two_columns) and TEST("two columns") both show as
 * "fold: two columns" when they are in test_fold.c. A failed check ends its test. A crash, a
 * time-out, a leak or anything else a sanitizer reports fails that test and no other.
 */
#ifndef FATHOM_TESTS_UNIT_HARNESS_H
#define FATHOM_TESTS_UNIT_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct test_case {
	const char *file;
	int line;
	const char *name;       /* as written in TEST(), with its quotes if it had any */
	unsigned int timeout_s; /* 0: the default, 20 s */
	void (*run)(void);
	struct test_case *next;
};

/* An integer of any type and sign, as CHECK_EQ compares it. */
struct test_int {
	bool negative;
	uint64_t bits;
	const char *text;
};

/* Called from constructors; @test must live as long as the program. */
void test_register(struct test_case *test);

void test_fail(const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4), noreturn));
void test_skip(const char *reason) __attribute__((noreturn));

/* A directory that belongs to the running test alone and is removed after it. */
const char *test_tmpdir(void);
/* mkdir -p; 0 or a negative errno. */
int test_make_dirs(const char *path);

void test_check_eq(const char *file, int line, struct test_int a, struct test_int b);
void test_check_str(const char *file, int line, const char *a, const char *b, const char *text);
void test_check_mem(const char *file, int line, const void *a, const void *b, size_t size,
		    const char *text);
void test_check_near(const char *file, int line, double a, double b, double within,
		     const char *text);

#define TEST_CAT_(a, b) a##b
#define TEST_CAT(a, b)  TEST_CAT_(a, b)

#define TEST_DEFINE(name_, timeout_, id_)                                       \
	static void TEST_CAT(test_run_, id_)(void);                             \
	static void __attribute__((constructor)) TEST_CAT(test_add_, id_)(void) \
	{                                                                       \
		static struct test_case test_case_here = {                      \
			.file = __FILE__,                                       \
			.line = __LINE__,                                       \
			.name = name_,                                          \
			.timeout_s = timeout_,                                  \
			.run = TEST_CAT(test_run_, id_),                        \
		};                                                              \
		test_register(&test_case_here);                                 \
	}                                                                       \
	static void TEST_CAT(test_run_, id_)(void)

#define TEST(name) TEST_DEFINE(#name, 0, __LINE__)
/* For the rare test that needs longer than the default. */
#define TEST_TIMEOUT(name, seconds) TEST_DEFINE(#name, seconds, __LINE__)

#define CHECK(cond)                                                           \
	do {                                                                  \
		if (!(cond))                                                  \
			test_fail(__FILE__, __LINE__, "not true: %s", #cond); \
	} while (0)

/*
 * "x > 0 || x == 0" instead of "x >= 0": the latter is a warning for unsigned types. Adding 0
 * promotes bool and narrow types, and refuses structs.
 */
#define TEST_INT(x_, text_)                                                                  \
	__extension__({                                                                      \
		const __typeof__((x_) + 0) test_value_ = (x_);                               \
		_Static_assert((__typeof__((x_) + 0))0.5 == 0, "use CHECK_NEAR for floats"); \
		(struct test_int){                                                           \
			.negative = !(test_value_ > 0 || test_value_ == 0),                  \
			.bits = (uint64_t)test_value_,                                       \
			.text = text_,                                                       \
		};                                                                           \
	})

/* Equal integers, compared by value whatever their types: -1 is not UINT64_MAX. */
#define CHECK_EQ(a, b) test_check_eq(__FILE__, __LINE__, TEST_INT(a, #a), TEST_INT(b, #b))
/* Equal strings; NULL equals only NULL. */
#define CHECK_STR(a, b)          test_check_str(__FILE__, __LINE__, (a), (b), #a)
#define CHECK_MEM(a, b, size)    test_check_mem(__FILE__, __LINE__, (a), (b), (size), #a)
#define CHECK_NEAR(a, b, within) test_check_near(__FILE__, __LINE__, (a), (b), (within), #a)

#define FAIL(...)    test_fail(__FILE__, __LINE__, __VA_ARGS__)
#define SKIP(reason) test_skip(reason)

#endif
