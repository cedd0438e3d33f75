/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "syscalls/structs.h"

#include "syscalls/headers.h"
#include "syscalls/text.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/times.h>
#include <sys/un.h>
#include <sys/utsname.h>

/* of the kernel; the headers of programs do not have them */
enum { STATFS_VALID = 0x20, ACTION_RESTORER = 0x04000000 };

enum member_kind {
	M_INT,
	M_UNSIGNED,
	M_POINTER,
	M_FLAGS,
	M_VALUE,
	M_SIGNAL,
	M_TEXT,
	M_LIMIT,
	M_SPEC,  /* seconds and nanoseconds */
	M_VAL,   /* seconds and microseconds */
	M_PAIR,  /* two 32-bit numbers in hexadecimal */
	M_LOADS, /* three numbers */
	M_MOUNTED,
};

struct member {
	const char *name;
	u16 offset;
	u8 size;
	u8 kind;
	const char *group;
};

struct layout {
	const char *types; /* of tracefs, separated by | */
	u8 size;
	bool more; /* members that are not shown follow */
	const struct member *members;
	void (*write)(const char *bytes, struct buf *out); /* instead of members */
};

static u64 number(const char *bytes, size_t offset, u32 size)
{
	u64 v = 0;

	memcpy(&v, bytes + offset, MIN(size, sizeof(v)));
	return v;
}

static s64 signed_number(const char *bytes, size_t offset, u32 size)
{
	u64 v = number(bytes, offset, size);

	return size == 4 ? (s32)v : size == 2 ? (s16)v : (s64)v;
}

/* --- members ---------------------------------------------------------------------------------- */

static void add_time(struct buf *out, const char *bytes, const char *fraction)
{
	buf_addf(out, "{tv_sec=%lld, %s=%lld}", (long long)signed_number(bytes, 0, 8), fraction,
		 (long long)signed_number(bytes, 8, 8));
}

static void add_limit(struct buf *out, u64 v)
{
	if (v == UINT64_MAX)
		buf_addstr(out, "RLIM64_INFINITY");
	else if (v > 1024 && v % 1024 == 0)
		buf_addf(out, "%llu*1024", (unsigned long long)(v / 1024));
	else
		buf_addf(out, "%llu", (unsigned long long)v);
}

static void add_member(const struct member *m, const char *bytes, struct buf *out)
{
	const char *at = bytes + m->offset;
	u8 group = m->group ? values_find(m->group) : (u8)VALUES_NONE;
	u64 v = number(at, 0, m->size);

	buf_addf(out, "%s=", m->name);
	switch (m->kind) {
	case M_INT: buf_addf(out, "%lld", (long long)signed_number(at, 0, m->size)); break;
	case M_UNSIGNED: buf_addf(out, "%llu", (unsigned long long)v); break;
	case M_POINTER: text_pointer(out, v); break;
	case M_FLAGS: text_flags(out, group, v); break;
	case M_VALUE: text_value(out, group, v); break;
	case M_SIGNAL: text_signal(out, group, v); break;
	case M_TEXT: text_quoted(out, at, strnlen(at, m->size), false); break;
	case M_LIMIT: add_limit(out, v); break;
	case M_SPEC: add_time(out, at, "tv_nsec"); break;
	case M_VAL: add_time(out, at, "tv_usec"); break;
	case M_PAIR:
		buf_addf(out, "{val=[%#x, %#x]}", (u32)number(at, 0, 4), (u32)number(at, 4, 4));
		break;
	case M_MOUNTED:
		if (v & STATFS_VALID)
			buf_addstr(out, v == STATFS_VALID ? "ST_VALID" : "ST_VALID|");
		if (v != STATFS_VALID)
			text_flags(out, group, v & ~(u64)STATFS_VALID);
		break;
	default:
		buf_addf(out, "[%llu, %llu, %llu]", (unsigned long long)number(at, 0, 8),
			 (unsigned long long)number(at, 8, 8),
			 (unsigned long long)number(at, 16, 8));
	}
}

#define FIELD(struct_, member_, kind_, group_)                                                \
	{                                                                                     \
#member_, offsetof(struct_, member_), sizeof(((struct_ *)0)->member_), kind_, \
			group_                                                                \
	}
#define AT(name_, offset_, size_, kind_, group_)     \
	{                                            \
		name_, offset_, size_, kind_, group_ \
	}
#define END                         \
	{                           \
		NULL, 0, 0, 0, NULL \
	}

static const struct member rlimit_members[] = {
	AT("rlim_cur", 0, 8, M_LIMIT, NULL),
	AT("rlim_max", 8, 8, M_LIMIT, NULL),
	END,
};
static const struct member rusage_members[] = {
	AT("ru_utime", 0, 16, M_VAL, NULL),
	AT("ru_stime", 16, 16, M_VAL, NULL),
	END,
};
static const struct member tms_members[] = {
	FIELD(struct tms, tms_utime, M_INT, NULL),
	FIELD(struct tms, tms_stime, M_INT, NULL),
	FIELD(struct tms, tms_cutime, M_INT, NULL),
	FIELD(struct tms, tms_cstime, M_INT, NULL),
	END,
};
static const struct member sysinfo_members[] = {
	FIELD(struct sysinfo, uptime, M_INT, NULL),
	FIELD(struct sysinfo, loads, M_LOADS, NULL),
	FIELD(struct sysinfo, totalram, M_UNSIGNED, NULL),
	FIELD(struct sysinfo, freeram, M_UNSIGNED, NULL),
	FIELD(struct sysinfo, sharedram, M_UNSIGNED, NULL),
	FIELD(struct sysinfo, bufferram, M_UNSIGNED, NULL),
	FIELD(struct sysinfo, totalswap, M_UNSIGNED, NULL),
	FIELD(struct sysinfo, freeswap, M_UNSIGNED, NULL),
	FIELD(struct sysinfo, procs, M_UNSIGNED, NULL),
	FIELD(struct sysinfo, totalhigh, M_UNSIGNED, NULL),
	FIELD(struct sysinfo, freehigh, M_UNSIGNED, NULL),
	FIELD(struct sysinfo, mem_unit, M_UNSIGNED, NULL),
	END,
};
static const struct member utsname_members[] = {
	FIELD(struct utsname, sysname, M_TEXT, NULL),
	FIELD(struct utsname, nodename, M_TEXT, NULL),
	END,
};
static const struct member statfs_members[] = {
	AT("f_type", 0, 8, M_VALUE, "fsmagic"),         AT("f_bsize", 8, 8, M_UNSIGNED, NULL),
	AT("f_blocks", 16, 8, M_UNSIGNED, NULL),        AT("f_bfree", 24, 8, M_UNSIGNED, NULL),
	AT("f_bavail", 32, 8, M_UNSIGNED, NULL),        AT("f_files", 40, 8, M_UNSIGNED, NULL),
	AT("f_ffree", 48, 8, M_UNSIGNED, NULL),         AT("f_fsid", 56, 8, M_PAIR, NULL),
	AT("f_namelen", 64, 8, M_UNSIGNED, NULL),       AT("f_frsize", 72, 8, M_UNSIGNED, NULL),
	AT("f_flags", 80, 8, M_MOUNTED, "statfsflags"), END,
};
static const struct member itimerspec_members[] = {
	AT("it_interval", 0, 16, M_SPEC, NULL),
	AT("it_value", 16, 16, M_SPEC, NULL),
	END,
};
static const struct member itimerval_members[] = {
	AT("it_interval", 0, 16, M_VAL, NULL),
	AT("it_value", 16, 16, M_VAL, NULL),
	END,
};
static const struct member sigaltstack_members[] = {
	AT("ss_sp", 0, 8, M_POINTER, NULL),
	AT("ss_flags", 8, 4, M_FLAGS, "sigstack"),
	AT("ss_size", 16, 8, M_UNSIGNED, NULL),
	END,
};
static const struct member flock_members[] = {
	FIELD(struct flock, l_type, M_VALUE, "locktype"),
	FIELD(struct flock, l_whence, M_VALUE, "seek"),
	FIELD(struct flock, l_start, M_INT, NULL),
	FIELD(struct flock, l_len, M_INT, NULL),
	END,
};
static const struct member winsize_members[] = {
	FIELD(struct winsize, ws_row, M_UNSIGNED, NULL),
	FIELD(struct winsize, ws_col, M_UNSIGNED, NULL),
	FIELD(struct winsize, ws_xpixel, M_UNSIGNED, NULL),
	FIELD(struct winsize, ws_ypixel, M_UNSIGNED, NULL),
	END,
};
static const struct member clone_members[] = {
	AT("flags", 0, 8, M_FLAGS, "clone"),
	AT("child_tid", 16, 8, M_POINTER, NULL),
	AT("parent_tid", 24, 8, M_POINTER, NULL),
	AT("exit_signal", 32, 8, M_SIGNAL, "signal"),
	AT("stack", 40, 8, M_POINTER, NULL),
	AT("stack_size", 48, 8, M_POINTER, NULL),
	END,
};
static const struct member siginfo_members[] = {
	FIELD(siginfo_t, si_signo, M_SIGNAL, "signal"),
	FIELD(siginfo_t, si_code, M_VALUE, "sigcode"),
	{ "si_pid", 16, 4, M_INT, NULL },
	{ "si_uid", 20, 4, M_UNSIGNED, NULL },
	{ "si_status", 24, 4, M_INT, NULL },
	END,
};
static const struct member pollfd_members[] = {
	FIELD(struct pollfd, fd, M_INT, NULL),
	FIELD(struct pollfd, events, M_FLAGS, "poll"),
	END,
};

/* --- structs of other forms ------------------------------------------------------------------- */

static void add_mode(struct buf *out, u32 mode)
{
	static const struct {
		u32 bit;
		const char *name;
	} bits[] = { { S_ISUID, "S_ISUID" }, { S_ISGID, "S_ISGID" }, { S_ISVTX, "S_ISVTX" } };
	const char *type = values_name(values_find("filetype"), mode & S_IFMT);

	if (type)
		buf_addstr(out, type);
	else
		buf_addf(out, "%#o", mode & S_IFMT);
	for (size_t i = 0; i < ARRAY_SIZE(bits); i++)
		if (mode & bits[i].bit)
			buf_addf(out, "|%s", bits[i].name);
	buf_addf(out, "|%#03o", mode & 0777u);
}

static void add_device(struct buf *out, u32 major, u32 minor)
{
	buf_addf(out, "makedev(%#x, %#x), ...}", major, minor);
}

static void write_stat(const char *bytes, struct buf *out)
{
	u32 mode = (u32)number(bytes, offsetof(struct stat, st_mode), 4);
	u64 device = number(bytes, offsetof(struct stat, st_rdev), 8);

	buf_addstr(out, "{st_mode=");
	add_mode(out, mode);
	if (S_ISCHR(mode) || S_ISBLK(mode)) {
		buf_addstr(out, ", st_rdev=");
		add_device(out, (u32)(device >> 8 & 0xfff), (u32)(device & 0xff));
	} else {
		buf_addf(out, ", st_size=%lld, ...}",
			 (long long)signed_number(bytes, offsetof(struct stat, st_size), 8));
	}
}

static void write_statx(const char *bytes, struct buf *out)
{
	u32 mode = (u32)number(bytes, 28, 2);

	buf_addstr(out, "{stx_mask=");
	text_flags(out, values_find("statx"), number(bytes, 0, 4));
	buf_addstr(out, ", stx_attributes=");
	text_flags(out, values_find("statxattr"), number(bytes, 8, 8));
	buf_addstr(out, ", stx_mode=");
	add_mode(out, mode);
	if (S_ISCHR(mode) || S_ISBLK(mode)) {
		buf_addf(out, ", stx_rdev_major=%#x, stx_rdev_minor=%#x, ...}",
			 (u32)number(bytes, 128, 4), (u32)number(bytes, 132, 4));
		return;
	}
	buf_addf(out, ", stx_size=%llu, ...}", (unsigned long long)number(bytes, 40, 8));
}

static void write_sigset(const char *bytes, struct buf *out)
{
	u64 set = number(bytes, 0, 8);
	bool most = __builtin_popcountll(set) >= 42, first = true;

	buf_addstr(out, most ? "~[" : "[");
	set = most ? ~set : set;
	for (u32 i = 1; i <= 64; i++) {
		size_t at;

		if (!(set >> (i - 1) & 1))
			continue;
		if (!first)
			buf_addch(out, ' ');
		first = false;
		at = out->len;
		text_signal(out, values_find("signal"), i);
		/* without SIG */
		if (out->len > at + 3 && memcmp(out->data + at, "SIG", 3) == 0) {
			memmove(out->data + at, out->data + at + 3, out->len - at - 3);
			out->len -= 3;
		}
	}
	buf_addch(out, ']');
}

/* As the kernel takes it: handler, flags, restorer, mask. */
static void write_sigaction(const char *bytes, struct buf *out)
{
	u64 handler = number(bytes, 0, 8), flags = number(bytes, 8, 8);

	buf_addstr(out, "{sa_handler=");
	if (handler == 0 || handler == 1)
		buf_addstr(out, handler ? "SIG_IGN" : "SIG_DFL");
	else
		text_pointer(out, handler);
	buf_addstr(out, ", sa_mask=");
	write_sigset(bytes + 24, out);
	buf_addstr(out, ", sa_flags=");
	if (flags & ACTION_RESTORER)
		buf_addstr(out, flags == ACTION_RESTORER ? "SA_RESTORER" : "SA_RESTORER|");
	if (flags != ACTION_RESTORER)
		text_flags(out, values_find("sigaction"), flags & ~(u64)ACTION_RESTORER);
	if (flags & ACTION_RESTORER) {
		buf_addstr(out, ", sa_restorer=");
		text_pointer(out, number(bytes, 16, 8));
	}
	buf_addch(out, '}');
}

static void write_epoll(const char *bytes, struct buf *out)
{
	u64 data = number(bytes, 4, 8);

	buf_addstr(out, "{events=");
	text_flags(out, values_find("epollevents"), number(bytes, 0, 4));
	buf_addf(out, ", data={u32=%u, u64=%llu}}", (u32)data, (unsigned long long)data);
}

static void write_timespec(const char *bytes, struct buf *out)
{
	add_time(out, bytes, "tv_nsec");
}

static void write_timeval(const char *bytes, struct buf *out)
{
	add_time(out, bytes, "tv_usec");
}

static void write_utimes(const char *bytes, struct buf *out)
{
	for (u32 i = 0; i < 2; i++) {
		s64 part = signed_number(bytes, 16 * i + 8, 8);

		buf_addstr(out, i ? ", " : "[");
		if (part == UTIME_NOW || part == UTIME_OMIT)
			buf_addstr(out, part == UTIME_NOW ? "UTIME_NOW" : "UTIME_OMIT");
		else
			add_time(out, bytes + 16 * i, "tv_nsec");
	}
	buf_addch(out, ']');
}

static void write_int(const char *bytes, struct buf *out)
{
	buf_addf(out, "[%d]", (int)number(bytes, 0, 4));
}

static void write_unsigned(const char *bytes, struct buf *out)
{
	buf_addf(out, "[%u]", (u32)number(bytes, 0, 4));
}

static void write_status(const char *bytes, struct buf *out)
{
	int status = (int)number(bytes, 0, 4);

	if (WIFEXITED(status)) {
		buf_addf(out, "[{WIFEXITED(s) && WEXITSTATUS(s) == %d}]", WEXITSTATUS(status));
	} else if (WIFSIGNALED(status)) {
		buf_addstr(out, "[{WIFSIGNALED(s) && WTERMSIG(s) == ");
		text_signal(out, values_find("signal"), (u64)WTERMSIG(status));
		buf_addstr(out, WCOREDUMP(status) ? " && WCOREDUMP(s)}]" : "}]");
	} else if (WIFSTOPPED(status)) {
		buf_addstr(out, "[{WIFSTOPPED(s) && WSTOPSIG(s) == ");
		text_signal(out, values_find("signal"), (u64)WSTOPSIG(status));
		buf_addstr(out, "}]");
	} else {
		buf_addf(out, status == 0xffff ? "[{WIFCONTINUED(s)}]" : "[%#x]", status);
	}
}

void struct_bits(const char *bytes, s32 len, struct buf *out)
{
	bool first = true;

	buf_addch(out, '[');
	for (s32 bit = 0; bit < 8 * len; bit++)
		if ((u8)bytes[bit / 8] >> bit % 8 & 1) {
			buf_addf(out, first ? "%d" : " %d", bit);
			first = false;
		}
	buf_addch(out, ']');
}

static void write_fds(const char *bytes, struct buf *out)
{
	struct_bits(bytes, FD_SETSIZE / 8, out);
}

static const struct layout layouts[] = {
	{ "struct stat *", sizeof(struct stat), 0, NULL, write_stat },
	{ "struct statx *", 136, 0, NULL, write_statx },
	{ "struct __kernel_timespec *|struct timespec *", 16, 0, NULL, write_timespec },
	{ "struct __kernel_old_timeval *|struct timeval *", 16, 0, NULL, write_timeval },
	{ "utimes", 32, 0, NULL, write_utimes },
	{ "struct rlimit *|struct rlimit64 *", 16, 0, rlimit_members, NULL },
	{ "struct rusage *", 32, 1, rusage_members, NULL },
	{ "struct tms *", sizeof(struct tms), 0, tms_members, NULL },
	{ "struct sysinfo *", sizeof(struct sysinfo), 0, sysinfo_members, NULL },
	{ "struct new_utsname *", 130, 1, utsname_members, NULL },
	{ "struct statfs *", 88, 0, statfs_members, NULL },
	{ "struct __kernel_itimerspec *", 32, 0, itimerspec_members, NULL },
	{ "struct __kernel_old_itimerval *", 32, 0, itimerval_members, NULL },
	{ "stack_t *|struct sigaltstack *", 24, 0, sigaltstack_members, NULL },
	{ "flock", sizeof(struct flock), 0, flock_members, NULL },
	{ "winsize", sizeof(struct winsize), 0, winsize_members, NULL },
	{ "struct clone_args *", 64, 1, clone_members, NULL },
	{ "siginfo_t *|struct siginfo *", 32, 1, siginfo_members, NULL },
	{ "struct pollfd *", sizeof(struct pollfd), 0, pollfd_members, NULL },
	{ "struct epoll_event *", 12, 0, NULL, write_epoll },
	{ "sigset_t *", 8, 0, NULL, write_sigset },
	{ "struct sigaction *", 32, 0, NULL, write_sigaction },
	{ "fd_set *", FD_SETSIZE / 8, 0, NULL, write_fds },
	{ "status", 4, 0, NULL, write_status },
	{ "int *", 4, 0, NULL, write_int },
	{ "uid_t *|gid_t *|u32 *|unsigned int *", 4, 0, NULL, write_unsigned },
};

/* --- in and out ------------------------------------------------------------------------------- */

static bool is_of(const char *types, const char *type)
{
	size_t n = strlen(type);

	for (const char *at = types; at; at = strchr(at, '|')) {
		at += *at == '|';
		if (strncmp(at, type, n) == 0 && (at[n] == '|' || !at[n]))
			return true;
	}
	return false;
}

u8 struct_find(const char *type)
{
	if (starts_with(type, "const "))
		type += strlen("const ");
	for (size_t i = 0; i < ARRAY_SIZE(layouts); i++)
		if (is_of(layouts[i].types, type))
			return (u8)i;
	return STRUCT_NONE;
}

u8 struct_size(u8 which)
{
	return which < ARRAY_SIZE(layouts) ? layouts[which].size : 0;
}

bool struct_text(u8 which, const char *bytes, s32 len, struct buf *out)
{
	const struct layout *l;

	if (which >= ARRAY_SIZE(layouts) || !bytes || len < layouts[which].size)
		return false;
	l = &layouts[which];
	if (l->write) {
		l->write(bytes, out);
		return true;
	}
	buf_addch(out, '{');
	for (const struct member *m = l->members; m->name; m++) {
		if (m != l->members)
			buf_addstr(out, ", ");
		add_member(m, bytes, out);
	}
	buf_addstr(out, l->more ? ", ...}" : "}");
	return true;
}

void struct_revents(const char *bytes, s32 len, struct buf *out)
{
	const s32 size = sizeof(struct pollfd);
	bool first = true;

	buf_addch(out, '[');
	for (s32 at = 0; at + size <= len; at += size) {
		u64 found = number(bytes + at, offsetof(struct pollfd, revents), 2);

		if (!found)
			continue;
		buf_addf(out, "%s{fd=%d, revents=", first ? "" : ", ",
			 (int)number(bytes + at, 0, 4));
		text_flags(out, values_find("poll"), found);
		buf_addch(out, '}');
		first = false;
	}
	buf_addch(out, ']');
}

static void add_inet(struct buf *out, const char *bytes)
{
	char text[INET_ADDRSTRLEN] = "";

	inet_ntop(AF_INET, bytes + 4, text, sizeof(text));
	buf_addf(out, "sin_port=htons(%u), sin_addr=inet_addr(\"%s\")",
		 ntohs((u16)number(bytes, 2, 2)), text);
}

static void add_inet6(struct buf *out, const char *bytes, s32 len)
{
	char text[INET6_ADDRSTRLEN] = "";

	inet_ntop(AF_INET6, bytes + 8, text, sizeof(text));
	buf_addf(out,
		 "sin6_port=htons(%u), sin6_flowinfo=htonl(%u), inet_pton(AF_INET6, \"%s\", "
		 "&sin6_addr)",
		 ntohs((u16)number(bytes, 2, 2)), ntohl((u32)number(bytes, 4, 4)), text);
	if (len >= 28)
		buf_addf(out, ", sin6_scope_id=%u", (u32)number(bytes, 24, 4));
}

static void add_unix(struct buf *out, const char *bytes, s32 len)
{
	/* one that begins with a NUL has no file */
	size_t at = len > 2 && !bytes[2] ? 3 : 2;
	size_t n = (size_t)len > at ? strnlen(bytes + at, (size_t)len - at) : 0;

	buf_addstr(out, at == 3 ? "sun_path=@" : "sun_path=");
	text_quoted(out, bytes + at, n, false);
}

bool struct_sockaddr(const char *bytes, s32 len, struct buf *out)
{
	const char *name;
	u16 family;

	if (!bytes || len < (s32)sizeof(family))
		return false;
	memcpy(&family, bytes, sizeof(family));
	name = values_name(values_find("family"), family);
	buf_addf(out, "{sa_family=%s", name ? name : "?");
	if (len > (s32)sizeof(family))
		buf_addstr(out, ", ");
	if (family == AF_INET && len >= 8) {
		add_inet(out, bytes);
	} else if (family == AF_INET6 && len >= 24) {
		add_inet6(out, bytes, len);
	} else if (family == AF_NETLINK && len >= 12) {
		buf_addf(out, "nl_pid=%u, nl_groups=%08x", (u32)number(bytes, 4, 4),
			 (u32)number(bytes, 8, 4));
	} else if (family == AF_UNIX && len > 2) {
		add_unix(out, bytes, len);
	} else if (len > 2) {
		buf_addstr(out, "sa_data=");
		text_quoted(out, bytes + 2, MIN((size_t)len - 2, 14u), false);
	}
	buf_addch(out, '}');
	return true;
}
