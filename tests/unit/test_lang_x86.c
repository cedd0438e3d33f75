/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "harness.h"
#include "host/cpu.h"

#define LENGTH(bytes) cpu_instruction((const u8 *)(bytes), sizeof(bytes) - 1)

TEST("lang: lengths of instructions are known")
{
	CHECK(LENGTH("\x55") == 1);                             /* push %rbp */
	CHECK(LENGTH("\xf3\x0f\x1e\xfa") == 4);                 /* endbr64 */
	CHECK(LENGTH("\x48\x89\xe5") == 3);                     /* mov %rsp,%rbp */
	CHECK(LENGTH("\x48\x8b\x84\x24\x10\x01\x00\x00") == 8); /* mov 0x110(%rsp),%rax */
	CHECK(LENGTH("\x48\x8d\x05\x01\x02\x03\x04") == 7);     /* lea 0x4030201(%rip),%rax */
	CHECK(LENGTH("\x48\xb8\x01\x02\x03\x04\x05\x06\x07\x08") == 10); /* movabs */
	CHECK(LENGTH("\x66\xb8\x34\x12") == 4);                          /* mov $0x1234,%ax */
	CHECK(LENGTH("\x0f\x84\x01\x00\x00\x00") == 6);                  /* je */
	CHECK(LENGTH("\xf6\xc1\x01") == 3);                              /* test $1,%cl */
	CHECK(LENGTH("\xf7\xd8") == 2);                                  /* neg %eax */
	CHECK(LENGTH("\xc5\xf8\x77") == 3);                              /* vzeroupper */
	CHECK(LENGTH("\xc4\xe3\x7d\x39\xc1\x01") == 6);                  /* vextracti128 */
	CHECK(LENGTH("\x62\xf1\x7c\x48\x10\x06") == 6);                  /* vmovups (%rsi),%zmm0 */
	CHECK(LENGTH("\x66\x0f\x3a\x0f\xc1\x08") == 6);                  /* palignr */
	CHECK(LENGTH("\xc8\x10\x00\x00") == 4);                          /* enter */
}

TEST("lang: an instruction that is cut off has no length")
{
	CHECK(LENGTH("") == -1);
	CHECK(LENGTH("\x48") == -1);
	CHECK(LENGTH("\x48\x8b") == -1);
	CHECK(LENGTH("\xe8\x01\x02") == -1);
	CHECK(LENGTH("\xc4\xe3") == -1);
	CHECK(LENGTH("\x62\xf1\x7c") == -1);
	CHECK(LENGTH("\x0f") == -1);
}

#define CHEAP(bytes) cpu_cheap_entry((const u8 *)(bytes), sizeof(bytes) - 1)

TEST("lang: a probe is moved to where no single step is needed")
{
	CHECK_EQ(CHEAP("\x41\x54\x55"), 0);                                 /* push at once */
	CHECK_EQ(CHEAP("\xf3\x0f\x1e\xfa\x55"), 4);                         /* endbr64; push */
	CHECK_EQ(CHEAP("\x48\x85\xff\x0f\x84\xbf\0\0\0\x55"), 9);           /* test; je; push */
	CHECK_EQ(CHEAP("\xf3\x0f\x1e\xfa\x48\x85\xff\x74\x10\x41\x57"), 9); /* all of them */
	CHECK_EQ(CHEAP("\x48\x85\xff\x74\x10\x48\x89\xf8"), 0);             /* nothing cheap */
	CHECK_EQ(CHEAP("\x48\x85\xff\x0f\x84"), 0);                         /* the end */
	CHECK_EQ(CHEAP(""), 0);
}
