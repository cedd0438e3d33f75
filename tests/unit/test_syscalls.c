/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit/harness.h"

#include "syscalls/decode.h"
#include "syscalls/filter.h"
#include "syscalls/headers.h"
#include "syscalls/structs.h"
#include "syscalls/summary.h"

static struct syscall call_of(const char *name, u8 form, const char *group)
{
	struct syscall c = { .name = name, .n_args = 1, .known = true };

	c.args[0] =
		(struct syscall_arg){ "x", "int", form,
				      group ? values_find(group) : (u8)VALUES_NONE, SYSCALLS_ARGS };
	return c;
}

static const char *decoded(struct buf *out, u8 form, const char *group, u64 value)
{
	struct syscall call = call_of("x", form, group);
	const struct syscalls_event e = { .args = { value } };
	const struct decoded d = { .event = &e };
	const struct decode_opts opts = { .text = 32 };

	buf_reset(out);
	decode_args(&call, &d, &opts, out);
	return buf_str(out);
}

TEST("system calls: numbers have the names of the headers")
{
	static struct syscall_table t;
	u32 nr;

	syscall_table_init(&t);
	CHECK_STR(t.calls[__NR_openat].name, "openat");
	CHECK(syscall_number(&t, "execve", &nr) && nr == __NR_execve);
	CHECK(!syscall_number(&t, "open_the_door", &nr));
	CHECK_STR(errno_name(EAGAIN), "EAGAIN");
	CHECK_STR(errno_name(EOPNOTSUPP), "EOPNOTSUPP");
	CHECK(!errno_name(0) && !errno_name(-5) && !errno_name(4000));
	syscall_table_release(&t);
}

TEST("system calls: values by name, flags by bit, the rest as a number")
{
	struct buf b = BUF_INIT;

	CHECK_STR(decoded(&b, ARG_OPEN, "open", O_RDWR | O_CREAT | O_CLOEXEC),
		  "O_RDWR|O_CREAT|O_CLOEXEC");
	CHECK_STR(decoded(&b, ARG_OPEN, "open", O_WRONLY | O_SYNC | 0x40000000),
		  "O_WRONLY|O_SYNC|0x40000000");
	CHECK_STR(decoded(&b, ARG_FLAGS, "prot", 0), "PROT_NONE");
	CHECK_STR(decoded(&b, ARG_FLAGS, "prot", 3), "PROT_READ|PROT_WRITE");
	CHECK_STR(decoded(&b, ARG_FLAGS, "at", 0), "0");
	CHECK_STR(decoded(&b, ARG_VALUE, "seek", SEEK_END), "SEEK_END");
	CHECK_STR(decoded(&b, ARG_VALUE, "seek", 77), "77");
	CHECK_STR(decoded(&b, ARG_SIGNAL, "signal", 34), "SIGRT_2");
	CHECK_STR(decoded(&b, ARG_SOCKTYPE, "socktype", SOCK_STREAM | SOCK_CLOEXEC),
		  "SOCK_STREAM|SOCK_CLOEXEC");
	CHECK_STR(decoded(&b, ARG_CLONE, "clone", CLONE_VM | SIGCHLD), "CLONE_VM|SIGCHLD");
	CHECK_STR(decoded(&b, ARG_FUTEX, "futex", FUTEX_WAIT_PRIVATE), "FUTEX_WAIT_PRIVATE");
	CHECK_STR(decoded(&b, ARG_DIRFD, NULL, (u64)AT_FDCWD), "AT_FDCWD");
	CHECK_STR(decoded(&b, ARG_POINTER, NULL, 0), "NULL");
	CHECK_STR(decoded(&b, ARG_OCTAL, NULL, 0644), "0644");
	CHECK_STR(decoded(&b, ARG_FLAGS, "no-such-group", 5), "0x5");
	buf_release(&b);
}

TEST("system calls: text and bytes as strace quotes them")
{
	struct syscall call = call_of("write", ARG_BYTES, NULL);
	struct syscalls_event e = { .args = { 0x1000, 40 } };
	struct decoded d = { .event = &e, .bytes = { "a\n\"\\\0011\377z" }, .len = { 8 } };
	const struct decode_opts opts = { .text = 8 };
	struct buf b = BUF_INIT;

	call.args[0].length = 1;
	decode_args(&call, &d, &opts, &b);
	CHECK_STR(buf_str(&b), "\"a\\n\\\"\\\\\\0011\\377z\"...");
	d.len[0] = -1;
	buf_reset(&b);
	decode_args(&call, &d, &opts, &b);
	CHECK_STR(buf_str(&b), "0x1000");
	buf_release(&b);
}

TEST("system calls: sums with their spread")
{
	static struct syscall_table t;
	const struct syscalls_key key = { 7, __NR_read };
	struct syscalls_sum sum = { .count = 4,
				    .errors = 1,
				    .ns = 4000,
				    .min = 1000,
				    .max = 1000,
				    .square_low = 4000000,
				    .pid = 7,
				    .comm = "x" };
	struct summary s = { .by = SUMMARY_CALL };
	struct result r;

	syscall_table_init(&t);
	result_init(&r, "strace");
	sum.buckets[10] = 4;
	summary_add(&s, &key, &sum);
	summary_add(&s, &key, &sum);
	CHECK_EQ(s.rows.len, 1);
	CHECK_EQ(s.rows.items[0].count, 8);
	CHECK_EQ(s.rows.items[0].errors, 2);
	CHECK_NEAR(s.rows.items[0].squares, 8e6, 1);
	summary_table(&s, &t, &r);
	summary_histograms(&s, &t, &r);
	result_release(&r);
	summary_release(&s);
	syscall_table_release(&t);
}

TEST("system calls: structs of the kernel's types")
{
	const u64 limit[2] = { 8192 * 1024, UINT64_MAX };
	const int status = 3 << 8;
	struct buf b = BUF_INIT;
	u8 which = struct_find("struct rlimit64 *");

	CHECK(struct_text(which, (const char *)limit, sizeof(limit), &b));
	CHECK_STR(buf_str(&b), "{rlim_cur=8192*1024, rlim_max=RLIM64_INFINITY}");
	CHECK(!struct_text(which, (const char *)limit, sizeof(limit) - 1, &b));
	CHECK(!struct_text(which, NULL, 16, &b));
	CHECK_EQ(struct_find("struct no_such *"), STRUCT_NONE);
	CHECK_EQ(struct_find("struct rlimit"), STRUCT_NONE);
	CHECK(!struct_text(STRUCT_NONE, (const char *)limit, 16, &b));
	buf_reset(&b);
	CHECK(struct_text(struct_find("status"), (const char *)&status, 4, &b));
	CHECK_STR(buf_str(&b), "[{WIFEXITED(s) && WEXITSTATUS(s) == 3}]");
	buf_reset(&b);
	CHECK(struct_sockaddr("\2\0\0\120\177\0\0\1\0\0\0\0\0\0\0\0", 16, &b));
	CHECK_STR(buf_str(&b),
		  "{sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr(\"127.0.0.1\")}");
	CHECK(!struct_sockaddr("\2", 1, &b));
	buf_release(&b);
}

TEST("system calls: conditions become rows that go on to later ones")
{
	static struct syscall_table t;
	struct syscall_filter f;
	struct err e = ERR_INIT;

	syscall_table_init(&t);
	CHECK(!syscall_filter_parse(&f, "ret < 0 && dur > 1ms", &t, &e));
	CHECK_EQ(f.n, 2);
	CHECK_EQ(f.rows[0].yes, 1);
	CHECK_EQ(f.rows[0].no, SYSCALLS_FILTER_NO);
	CHECK_EQ(f.rows[1].value, 1000000);
	CHECK_EQ(f.rows[1].yes, SYSCALLS_FILTER_YES);
	CHECK(!syscall_filter_parse(&f, "!(ret == -EINTR || fd == 3) && call == read", &t, &e));
	CHECK_EQ(f.n, 3);
	CHECK_EQ(f.rows[0].value, (u64)-EINTR);
	CHECK_EQ(f.rows[0].yes, SYSCALLS_FILTER_NO);
	CHECK_EQ(f.rows[0].no, 1);
	CHECK_EQ(f.rows[1].field, SYSCALLS_FIELD_NAMED);
	CHECK_EQ(f.rows[1].no, 2);
	CHECK_STR(f.named[0], "fd");
	CHECK(f.args);
	CHECK_EQ(syscall_filter_parse(&f, "ret < 0 &&", &t, &e), -EINVAL);
	CHECK_EQ(syscall_filter_parse(&f, "ret < 99999999999999999999", &t, &e), -EINVAL);
	err_release(&e);
	syscall_table_release(&t);
}
