/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Static tracepoints by name, and their arguments as the kernel's probes fetch them. */
#include "capture/probe_usdt.h"
#include "unit/harness.h"

static void check(const char *note, const char *const *names, const char *wanted, u32 left_out)
{
	_cleanup_buf_ struct buf fields = BUF_INIT, shown = BUF_INIT;

	CHECK_EQ(probe_usdt_args(note, names, &fields, &shown), left_out);
	CHECK_STR(buf_str(&fields), wanted);
}

TEST("arguments in registers, in memory and in the code itself")
{
	check("", NULL, "", 0);
	check("-4@%edi 8@%rax", NULL, "arg1=%di:s32 arg2=%ax:u64", 0);
	check("1@%dil 1@%al 2@%cx 4@%r10d 8@%r15 2@%r8w 1@%r9b", NULL,
	      "arg1=%di:u8 arg2=%ax:u8 arg3=%cx:u16 arg4=%r10:u32 arg5=%r15:u64 arg6=%r8:u16 "
	      "arg7=%r9:u8",
	      0);
	check("8@-16(%rbp) -4@(%rsp) 4@0x10(%r12)", NULL,
	      "arg1=-16(%bp):u64 arg2=+0(%sp):s32 arg3=+16(%r12):u32", 0);
	check("-4@$-1 8@$42 4@7", NULL, "arg1=\\-1:s32 arg2=\\42:u64 arg3=\\7:u32", 0);
	check("8@x0 -4@w3 8@[sp, 16] 8@[x29] 4@sp", NULL,
	      "arg1=%x0:u64 arg2=%x3:s32 arg3=+16(%sp):u64 arg4=+0(%x29):u64 arg5=%sp:u32", 0);
}

TEST("what the kernel cannot fetch is left out, and counted")
{
	check("8@sym(%rip) 8@8(%rip) 8@(%rax,%rdx,8) 1@%ah -4@%edi", NULL, "arg5=%di:s32", 4);
	check("16@%xmm0 8@ 3@%eax @%eax 8@%", NULL, "", 5);
	check("8@%verylongname 8@5(%r 99999999999999999999@%eax", NULL, "", 3);
}

TEST("arguments with names of their own, the first an address of a string")
{
	static const char *const names[] = { "$name", "id", NULL };

	check("8@%rbp -8@%rbx 4@%edx", names, "name=+0(%bp):string id=%bx:s64 arg3=%dx:u32", 0);
	check("8@-8(%rbp)", names, "name=+0(-8(%bp)):string", 0);
}

static void check_name(const char *text, const char *provider, const char *name)
{
	char *p = NULL, *n = NULL;

	CHECK(probe_usdt_is(text));
	CHECK_EQ(probe_usdt_parse(text, &p, &n, NULL), 0);
	CHECK_STR(p, provider);
	CHECK_STR(n, name);
	free(p);
	free(n);
}

TEST("their names, as perf writes them, too")
{
	char *p, *n;

	check_name("%fathom:begin", "fathom", "begin");
	check_name("%sdt_fathom:b*", "fathom", "b*");
	check_name("sdt_libc:setjmp", "libc", "setjmp");
	check_name("%setjmp", "*", "setjmp");
	CHECK(!probe_usdt_is("main%return"));
	CHECK_EQ(probe_usdt_parse("%", &p, &n, NULL), -EINVAL);
	CHECK_EQ(probe_usdt_parse("%a:", &p, &n, NULL), -EINVAL);
	CHECK_EQ(probe_usdt_parse("%:b", &p, &n, NULL), -EINVAL);
	CHECK_EQ(probe_usdt_parse("%a:b c", &p, &n, NULL), -EINVAL);
}
