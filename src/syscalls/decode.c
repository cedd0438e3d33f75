/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "syscalls/decode.h"

#include "syscalls/headers.h"

#include <arpa/inet.h>
#include <sys/un.h>

/* O_LARGEFILE of the kernel: in the headers of 64-bit programs it is 0. */
enum {
	ERRNO_MOST = 4095,
	CLONE_SIGNAL = 0xff,
	OPEN_MODE = 3,
	OPEN_LARGE = 0100000,
	SIGNAL_RT = 32,
	SIGNAL_LAST = 64
};

bool decode_open(const void *data, size_t size, struct decoded *ret)
{
	const struct syscalls_long *l = data;

	if (size < sizeof(struct syscalls_event))
		return false;
	*ret = (struct decoded){ .event = data };
	if (size < sizeof(*l))
		return true;
	for (u32 i = 0; i < SYSCALLS_TAKEN; i++) {
		ret->bytes[i] = l->bytes[i];
		ret->len[i] = MIN(l->e.len[i], (s32)SYSCALLS_BYTES);
	}
	return true;
}

/* --- bytes ------------------------------------------------------------------------------------ */

static void add_byte(struct buf *out, u8 c, bool digit_follows)
{
	static const char letters[] = "\tt\nn\vv\ff\rr\"\"\\\\";

	for (size_t i = 0; i + 1 < sizeof(letters); i += 2)
		if (letters[i] == (char)c) {
			buf_addch(out, '\\');
			buf_addch(out, letters[i + 1]);
			return;
		}
	if (c >= 0x20 && c < 0x7f)
		buf_addch(out, (char)c);
	else
		buf_addf(out, digit_follows ? "\\%03o" : "\\%o", c);
}

static void add_quoted(struct buf *out, const char *bytes, size_t n, bool more)
{
	buf_addch(out, '"');
	for (size_t i = 0; i < n; i++)
		add_byte(out, (u8)bytes[i],
			 i + 1 < n && bytes[i + 1] >= '0' && bytes[i + 1] <= '9');
	buf_addstr(out, more ? "\"..." : "\"");
}

static void add_pointer(struct buf *out, u64 value)
{
	if (value)
		buf_addf(out, "0x%llx", (unsigned long long)value);
	else
		buf_addstr(out, "NULL");
}

/* --- values ----------------------------------------------------------------------------------- */

static bool add_name(struct buf *out, const char *name, bool first)
{
	if (!first)
		buf_addch(out, '|');
	buf_addstr(out, name);
	return false;
}

static bool add_if_set(struct buf *out, const struct syscall_value *v, u64 *value, bool first)
{
	u64 bits = (u32)v->value;

	if ((*value & bits) != bits)
		return first;
	*value &= ~bits;
	return add_name(out, v->name, first);
}

/* Those of several bits first, for O_SYNC holds O_DSYNC; then by bit. */
static bool add_flags_of(struct buf *out, u8 group, u64 *value, bool first)
{
	size_t n;
	const struct syscall_value *v = values_of(group, &n);

	for (int bits = 32; bits > 1; bits--)
		for (size_t i = 0; i < n; i++)
			if (__builtin_popcountll((u32)v[i].value) == bits)
				first = add_if_set(out, &v[i], value, first);
	for (u32 bit = 0; bit < 32; bit++)
		for (size_t i = 0; i < n && *value & 1u << bit; i++)
			if ((u32)v[i].value == 1u << bit)
				first = add_if_set(out, &v[i], value, first);
	return first;
}

static void add_rest(struct buf *out, u64 rest, bool first)
{
	if (!rest && !first)
		return;
	if (!first)
		buf_addch(out, '|');
	buf_addf(out, rest ? "0x%llx" : "0", (unsigned long long)rest);
}

static void add_flags(struct buf *out, u8 group, u64 value)
{
	const char *whole = value ? NULL : values_name(group, 0);
	bool first;

	if (whole) {
		buf_addstr(out, whole);
		return;
	}
	first = add_flags_of(out, group, &value, true);
	add_rest(out, value, first);
}

static void add_value(struct buf *out, u8 group, u64 value)
{
	const char *name = values_name(group, (u32)value);

	if (name)
		buf_addstr(out, name);
	else
		buf_addf(out, "%d", (int)value);
}

/* Those of real time have numbers, counted from the kernel's first. */
static void add_signal(struct buf *out, u8 group, u64 value)
{
	u32 number = (u32)value;

	if (number == SIGNAL_RT)
		buf_addstr(out, "SIGRTMIN");
	else if (number > SIGNAL_RT && number <= SIGNAL_LAST)
		buf_addf(out, "SIGRT_%u", number - SIGNAL_RT);
	else
		add_value(out, group, value);
}

static void add_open(struct buf *out, u8 group, u64 value)
{
	static const char *const modes[] = { "O_RDONLY", "O_WRONLY", "O_RDWR", "O_ACCMODE" };
	u64 rest = value & ~(u64)OPEN_MODE;

	buf_addstr(out, modes[value & OPEN_MODE]);
	add_flags_of(out, group, &rest, false);
	if (rest & OPEN_LARGE)
		add_name(out, "O_LARGEFILE", false);
	rest &= ~(u64)OPEN_LARGE;
	add_rest(out, rest, false);
}

/* How fresh figures have to be is a value among flags. */
static void add_statx(struct buf *out, u8 group, u64 value)
{
	bool first = true;

	if (!(value & AT_STATX_SYNC_TYPE))
		first = add_name(out, "AT_STATX_SYNC_AS_STAT", first);
	first = add_flags_of(out, group, &value, first);
	add_rest(out, value, first);
}

static void add_socktype(struct buf *out, u8 group, u64 value)
{
	u64 flags = value & ~0xfull;

	add_value(out, group, value & 0xf);
	add_flags_of(out, values_find("sockflags"), &flags, false);
	add_rest(out, flags, false);
}

static void add_futex(struct buf *out, u8 group, u64 value)
{
	const char *name = values_name(group, value & 0x7f);
	u64 flags = value & ~0x7full & UINT32_MAX;

	if (name)
		buf_addstr(out, name);
	else
		buf_addf(out, "0x%llx", (unsigned long long)(value & 0x7f));
	/* the old way to write it, as strace does */
	if (flags & FUTEX_PRIVATE_FLAG)
		buf_addstr(out, "_PRIVATE");
	flags &= ~(u64)FUTEX_PRIVATE_FLAG;
	add_flags_of(out, values_find("futexflags"), &flags, false);
	add_rest(out, flags, false);
}

static void add_clone(struct buf *out, u8 group, u64 value)
{
	u64 flags = value & ~(u64)CLONE_SIGNAL, signal = value & CLONE_SIGNAL;
	bool first = add_flags_of(out, group, &flags, true);
	const char *name = signal ? values_name(values_find("signal"), signal) : NULL;

	if (name)
		first = add_name(out, name, first);
	add_rest(out, name ? flags : flags | signal, first);
}

/* --- structs ---------------------------------------------------------------------------------- */

static void add_timespec(struct buf *out, const char *bytes, s32 len, u64 address)
{
	s64 parts[2];

	if (!address || len < (s32)sizeof(parts)) {
		add_pointer(out, address);
		return;
	}
	memcpy(parts, bytes, sizeof(parts));
	buf_addf(out, "{tv_sec=%lld, tv_nsec=%lld}", (long long)parts[0], (long long)parts[1]);
}

static void add_inet(struct buf *out, const char *bytes, s32 len, bool six)
{
	char text[INET6_ADDRSTRLEN] = "";
	u16 port;

	memcpy(&port, bytes + 2, sizeof(port));
	inet_ntop(six ? AF_INET6 : AF_INET, bytes + (six ? 8 : 4), text, sizeof(text));
	if (six)
		buf_addf(out, "sin6_port=htons(%u), inet_pton(AF_INET6, \"%s\")", ntohs(port),
			 text);
	else
		buf_addf(out, "sin_port=htons(%u), sin_addr=inet_addr(\"%s\")", ntohs(port), text);
	(void)len;
}

static void add_sockaddr(struct buf *out, const char *bytes, s32 len, u64 address)
{
	const char *name;
	u16 family;

	if (!address || len < (s32)sizeof(family)) {
		add_pointer(out, address);
		return;
	}
	memcpy(&family, bytes, sizeof(family));
	name = values_name(values_find("family"), family);
	buf_addf(out, "{sa_family=%s, ", name ? name : "?");
	if (family == AF_INET && len >= 8)
		add_inet(out, bytes, len, false);
	else if (family == AF_INET6 && len >= 24)
		add_inet(out, bytes, len, true);
	else if (family == AF_UNIX) {
		/* one that begins with a NUL has no file */
		size_t at = len > 2 && !bytes[2] ? 3 : 2;
		size_t n = (size_t)len > at ? strnlen(bytes + at, (size_t)len - at) : 0;

		buf_addstr(out, at == 3 ? "sun_path=@" : "sun_path=");
		add_quoted(out, bytes + at, n, false);
	} else {
		buf_addstr(out, "sa_data=");
		add_quoted(out, bytes + 2, MIN((size_t)len - 2, 14u), false);
	}
	buf_addch(out, '}');
}

static void add_pair(struct buf *out, const char *bytes, s32 len, u64 address)
{
	int fds[2];

	if (!address || len < (s32)sizeof(fds)) {
		add_pointer(out, address);
		return;
	}
	memcpy(fds, bytes, sizeof(fds));
	buf_addf(out, "[%d, %d]", fds[0], fds[1]);
}

/* --- an argument ------------------------------------------------------------------------------ */

struct writer {
	const struct syscall *call;
	const struct decoded *d;
	const struct decode_opts *opts;
	struct buf *out;
	u32 taken; /* so far */
};

static u64 argument(const struct writer *w, u32 i)
{
	return i < SYSCALLS_ARGS ? w->d->event->args[i] : 0;
}

static void add_text(struct writer *w, u64 address, const char *bytes, s32 len)
{
	if (!bytes || len <= 0 || !address)
		add_pointer(w->out, address);
	else
		add_quoted(w->out, bytes, (size_t)len - 1,
			   len == SYSCALLS_BYTES && bytes[len - 1] != '\0');
}

static void add_bytes(struct writer *w, u64 address, u64 whole, const char *bytes, s32 len)
{
	u64 most = MIN(w->opts->text, (u32)SYSCALLS_BYTES);

	if (!bytes || len < 0 || !address || (!len && whole))
		add_pointer(w->out, address);
	else
		add_quoted(w->out, bytes, (size_t)MIN((u64)len, most), whole > most);
}

static void add_fcntl(struct writer *w, u64 value)
{
	u64 cmd = argument(w, 1);

	if (cmd == F_SETFD)
		add_flags(w->out, values_find("fdflags"), (u32)value);
	else if (cmd == F_SETFL)
		add_open(w->out, values_find("open"), (u32)value);
	else if (cmd == F_DUPFD || cmd == F_DUPFD_CLOEXEC)
		buf_addf(w->out, "%d", (int)value);
	else
		add_pointer(w->out, value);
}

static void add_sockopt(struct writer *w, u64 value)
{
	int level = (int)argument(w, 1);

	if (level == SOL_SOCKET || level == IPPROTO_TCP)
		add_value(w->out, values_find(level == SOL_SOCKET ? "sockopt" : "tcpopt"), value);
	else
		buf_addf(w->out, "%d", (int)value);
}

static void add_prctl(struct writer *w, const struct syscall_arg *arg, u64 value)
{
	u64 option = argument(w, 0);

	if (option == PR_CAPBSET_READ || option == PR_CAPBSET_DROP)
		add_value(w->out, arg->group, value);
	else
		buf_addf(w->out, value ? "0x%llx" : "%llx", (unsigned long long)value);
}

static void add_taken(struct writer *w, const struct syscall_arg *arg, u64 value)
{
	u32 at = w->taken++;
	const char *bytes = at < SYSCALLS_TAKEN ? w->d->bytes[at] : NULL;
	s32 len = at < SYSCALLS_TAKEN ? w->d->len[at] : -1;

	if (!bytes)
		len = -1;
	if (arg->form == ARG_TEXT)
		add_text(w, value, bytes, len);
	else if (arg->form == ARG_BYTES)
		add_bytes(w, value, argument(w, arg->length), bytes, len);
	else if (arg->form == ARG_RESULT)
		add_bytes(w, value, w->d->event->ret > 0 ? (u64)w->d->event->ret : 0,
			  w->d->event->ret >= 0 ? bytes : NULL, len);
	else if (arg->form == ARG_SOCKADDR)
		add_sockaddr(w->out, bytes, len, value);
	else if (arg->form == ARG_TIMESPEC)
		add_timespec(w->out, bytes, len, value);
	else
		add_pair(w->out, bytes, len, value);
}

static void add_number(struct writer *w, const struct syscall_arg *arg, u64 value)
{
	struct buf *out = w->out;

	switch (arg->form) {
	case ARG_INT:
		buf_addf(out, "%lld",
			 strstr(arg->type, "long") || strstr(arg->type, "off_t") ? (long long)value
										 : (int)value);
		break;
	case ARG_FD: buf_addf(out, "%d", (int)value); break;
	case ARG_DIRFD:
		if ((int)value == AT_FDCWD)
			buf_addstr(out, "AT_FDCWD");
		else
			buf_addf(out, "%d", (int)value);
		break;
	case ARG_OCTAL:
	case ARG_OPEN_MODE: buf_addf(out, "%#03o", (u32)value); break;
	case ARG_HEX: buf_addf(out, value ? "0x%llx" : "%llx", (unsigned long long)value); break;
	case ARG_UNSIGNED: buf_addf(out, "%llu", (unsigned long long)value); break;
	default: add_pointer(out, value);
	}
}

static void add_argument(struct writer *w, const struct syscall_arg *arg, u64 value)
{
	switch (arg->form) {
	case ARG_FLAGS: add_flags(w->out, arg->group, (u32)value); break;
	case ARG_VALUE: add_value(w->out, arg->group, value); break;
	case ARG_OPEN: add_open(w->out, arg->group, (u32)value); break;
	case ARG_STATX: add_statx(w->out, arg->group, (u32)value); break;
	case ARG_SIGNAL: add_signal(w->out, arg->group, value); break;
	case ARG_SOCKOPT: add_sockopt(w, value); break;
	case ARG_PRCTL: add_prctl(w, arg, value); break;
	case ARG_SOCKTYPE: add_socktype(w->out, arg->group, (u32)value); break;
	case ARG_FUTEX: add_futex(w->out, arg->group, value); break;
	case ARG_CLONE: add_clone(w->out, arg->group, value); break;
	case ARG_FCNTL: add_fcntl(w, value); break;
	case ARG_TEXT:
	case ARG_BYTES:
	case ARG_RESULT:
	case ARG_SOCKADDR:
	case ARG_TIMESPEC:
	case ARG_FD_PAIR: add_taken(w, arg, value); break;
	default: add_number(w, arg, value);
	}
}

/* Arguments that this call does not look at. */
static bool is_left_out(const struct writer *w, const struct syscall_arg *arg, u32 i)
{
	u64 before = argument(w, i - 1);

	if (!i)
		return false;
	if (arg->form == ARG_OPEN_MODE)
		return !(before & O_CREAT) && (before & O_TMPFILE) != O_TMPFILE;
	if (arg->form == ARG_FCNTL)
		return before == F_GETFD || before == F_GETFL || before == F_GETOWN ||
		       before == F_GETPIPE_SZ || before == F_GET_SEALS;
	return false;
}

void decode_args(const struct syscall *call, const struct decoded *d, const struct decode_opts *o,
		 struct buf *out)
{
	struct writer w = { call, d, o, out, 0 };
	u32 n = call->known ? call->n_args : SYSCALLS_ARGS;

	for (u32 i = 0; i < n && i < SYSCALLS_ARGS; i++) {
		if (call->known && is_left_out(&w, &call->args[i], i))
			continue;
		if (i)
			buf_addstr(out, ", ");
		if (call->known)
			add_argument(&w, &call->args[i], d->event->args[i]);
		else
			buf_addf(out, "0x%llx", (unsigned long long)d->event->args[i]);
	}
}

void decode_call(const struct syscall_table *t, const struct decoded *d,
		 const struct decode_opts *o, struct buf *out)
{
	static const struct syscall none;
	u32 nr = d->event->nr;
	const struct syscall *call = nr < SYSCALLS_MOST ? &t->calls[nr] : &none;

	if (call->name)
		buf_addstr(out, call->name);
	else
		buf_addf(out, "syscall_%u", nr);
	buf_addch(out, '(');
	decode_args(call, d, o, out);
	buf_addch(out, ')');
}

void decode_result(const struct syscall_table *t, const struct syscalls_event *e, struct buf *out)
{
	static const struct {
		int number;
		const char *text;
	} restarts[] = {
		{ 512, "ERESTARTSYS" },
		{ 513, "ERESTARTNOINTR" },
		{ 514, "ERESTARTNOHAND" },
		{ 516, "ERESTART_RESTARTBLOCK" },
	};
	const char *name;

	if (e->flags & SYSCALLS_UNFINISHED) {
		buf_addch(out, '?');
		return;
	}
	if (e->ret >= 0 || e->ret < -ERRNO_MOST) {
		const struct syscall *call = e->nr < SYSCALLS_MOST ? &t->calls[e->nr] : NULL;

		buf_addf(out,
			 call && call->hex_result     ? "0x%llx"
			 : call && call->octal_result ? "%#03llo"
						      : "%lld",
			 (long long)e->ret);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(restarts); i++)
		if (restarts[i].number == -e->ret) {
			buf_addf(out, "? %s (To be restarted)", restarts[i].text);
			return;
		}
	name = errno_name((int)-e->ret);
	if (name)
		buf_addf(out, "-1 %s (%s)", name, strerror((int)-e->ret));
	else
		buf_addf(out, "-1 (errno %d)", (int)-e->ret);
}
