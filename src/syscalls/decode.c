/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "syscalls/decode.h"

#include "syscalls/headers.h"
#include "syscalls/structs.h"
#include "syscalls/text.h"

enum { ERRNO_MOST = 4095 };

bool decode_open(const void *data, size_t size, struct decoded *ret)
{
	const struct syscalls_long *l = data;
	u32 pieces = size >= sizeof(struct syscalls_long)   ? SYSCALLS_TAKEN
		     : size >= sizeof(struct syscalls_some) ? SYSCALLS_FEW
							    : 0;

	if (size < sizeof(struct syscalls_event))
		return false;
	*ret = (struct decoded){ .event = data };
	for (u32 i = 0; i < pieces; i++) {
		ret->bytes[i] = l->bytes[i];
		ret->len[i] = MIN(l->e.len[i], (s32)SYSCALLS_BYTES);
	}
	return true;
}

/* --- what was taken --------------------------------------------------------------------------- */

struct writer {
	const struct syscall *call;
	const struct decoded *d;
	const struct decode_opts *opts;
	struct buf *out;
	u32 taken; /* so far */
	bool futex;
};

static u64 argument(const struct writer *w, u32 i)
{
	return i < SYSCALLS_ARGS ? w->d->event->args[i] : 0;
}

static void add_text(struct writer *w, u64 address, const char *bytes, s32 len)
{
	if (!bytes || len <= 0 || !address)
		text_pointer(w->out, address);
	else
		text_quoted(w->out, bytes, (size_t)len - 1,
			    len == SYSCALLS_BYTES && bytes[len - 1] != '\0');
}

static void add_bytes(struct writer *w, u64 address, u64 whole, const char *bytes, s32 len)
{
	u64 most = MIN(w->opts->text, (u32)SYSCALLS_BYTES);

	if (!bytes || len < 0 || !address || (!len && whole))
		text_pointer(w->out, address);
	else
		text_quoted(w->out, bytes, (size_t)MIN((u64)len, most), whole > most);
}

static void add_sockopt(struct writer *w, u64 value)
{
	int level = (int)argument(w, 1);

	if (level == SOL_SOCKET || level == IPPROTO_TCP)
		text_value(w->out, values_find(level == SOL_SOCKET ? "sockopt" : "tcpopt"), value);
	else
		buf_addf(w->out, "%d", (int)value);
}

/* Protocols of the internet have names; those of other families are numbers. */
static void add_protocol(struct writer *w, const struct syscall_arg *arg, u64 value)
{
	u64 family = argument(w, 0);

	if (family == AF_INET || family == AF_INET6)
		text_value(w->out, arg->group, value);
	else
		buf_addf(w->out, "%d", (int)value);
}

static void add_prctl(struct writer *w, const struct syscall_arg *arg, u64 value)
{
	u64 option = argument(w, 0);

	if (option == PR_CAPBSET_READ || option == PR_CAPBSET_DROP)
		text_value(w->out, arg->group, value);
	else
		buf_addf(w->out, value ? "0x%llx" : "%llx", (unsigned long long)value);
}

/* What was taken for the next argument; NULL: nothing. */
static const char *piece(const struct writer *w, u32 at, s32 *ret_len)
{
	bool there = at < SYSCALLS_TAKEN && w->d->bytes[at];

	*ret_len = there ? w->d->len[at] : -1;
	return there ? w->d->bytes[at] : NULL;
}

static void add_pair(struct buf *out, const char *bytes, s32 len, u64 address)
{
	int fds[2];

	if (!address || len < (s32)sizeof(fds)) {
		text_pointer(out, address);
		return;
	}
	memcpy(fds, bytes, sizeof(fds));
	buf_addf(out, "[%d, %d]", fds[0], fds[1]);
}

/* How long an address was, that the kernel gave. */
static s32 length_given(const struct writer *w, u32 at, s32 most)
{
	s32 len, given;
	const char *bytes = piece(w, at, &len);

	if (!bytes || len < (s32)sizeof(given))
		return 0;
	memcpy(&given, bytes, sizeof(given));
	return MAX(MIN(given, most), 0);
}

static void add_length(struct writer *w, u64 address, u32 at)
{
	s32 before = length_given(w, at, INT32_MAX), after = length_given(w, at + 1, INT32_MAX);
	s32 len;

	(void)piece(w, at, &len);
	if (!address || len < (s32)sizeof(s32))
		text_pointer(w->out, address);
	else if (w->d->event->ret < 0 || before == after)
		buf_addf(w->out, "[%d]", before);
	else
		buf_addf(w->out, "[%d => %d]", before, after);
}

/* Of @n structs those that were taken. */
static void add_structs(struct writer *w, const struct syscall_arg *arg, u64 address, u64 n,
			const char *bytes, s32 len)
{
	u8 size = struct_size(arg->group);

	if (!bytes || !size || !address || (n && len < size)) {
		text_pointer(w->out, address);
		return;
	}
	buf_addch(w->out, '[');
	for (u64 i = 0; i < n; i++) {
		if (i)
			buf_addstr(w->out, ", ");
		if (!struct_text(arg->group, bytes + i * size, len - (s32)(i * size), w->out)) {
			buf_addstr(w->out, "...");
			break;
		}
	}
	buf_addch(w->out, ']');
}

static bool is_lock(u64 cmd)
{
	return cmd == F_GETLK || cmd == F_SETLK || cmd == F_SETLKW || cmd == F_OFD_GETLK ||
	       cmd == F_OFD_SETLK || cmd == F_OFD_SETLKW;
}

static void add_struct(struct writer *w, u8 which, u64 address, const char *bytes, s32 len)
{
	if (!address || !struct_text(which, bytes, len, w->out))
		text_pointer(w->out, address);
}

static void add_fcntl(struct writer *w, u64 value, const char *bytes, s32 len)
{
	u64 cmd = argument(w, 1);

	if (cmd == F_SETFD)
		text_flags(w->out, values_find("fdflags"), (u32)value);
	else if (cmd == F_SETFL)
		text_open(w->out, values_find("open"), (u32)value);
	else if (cmd == F_DUPFD || cmd == F_DUPFD_CLOEXEC)
		buf_addf(w->out, "%d", (int)value);
	else
		add_struct(w, is_lock(cmd) ? struct_find("flock") : (u8)STRUCT_NONE, value, bytes,
			   len);
}

static void add_ioctl(struct writer *w, u64 value, const char *bytes, s32 len)
{
	u64 cmd = argument(w, 1);
	const char *type = cmd == TIOCGWINSZ ? "winsize" : cmd == FIONREAD ? "int *" : NULL;

	add_struct(w, type ? struct_find(type) : (u8)STRUCT_NONE, value, bytes, len);
}

/* A time where there is one, otherwise a number. */
static void add_futex_time(struct writer *w, u64 value, const char *bytes, s32 len)
{
	u32 op = (u32)argument(w, 1) & 0x7f;
	bool number = op == FUTEX_REQUEUE || op == FUTEX_CMP_REQUEUE || op == FUTEX_WAKE_OP ||
		      op == FUTEX_CMP_REQUEUE_PI;

	if (number)
		buf_addf(w->out, "%u", (u32)value);
	else
		add_struct(w, struct_find("struct timespec *"), value, bytes, len);
}

/* --- lists ------------------------------------------------------------------------------------ */

/* Strings of a list: each in its room, and which of them were read. */
static void add_texts(struct writer *w, u64 address)
{
	const struct syscalls_event *e = w->d->event;
	u32 read = (u16)e->len[1], n = (u16)e->len[2];

	if (!w->d->bytes[1] || !address || (!n && e->ret < 0)) {
		text_pointer(w->out, address);
		return;
	}
	buf_addch(w->out, '[');
	for (u32 i = 0; i < n && i < SYSCALLS_TEXTS; i++) {
		const char *text = w->d->bytes[1] + (size_t)i * SYSCALLS_TEXT_ROOM;
		size_t len = strnlen(text, SYSCALLS_TEXT_ROOM);
		size_t shown = MIN(len, (size_t)MIN(w->opts->text, SYSCALLS_TEXT_ROOM - 1u));

		if (i)
			buf_addstr(w->out, ", ");
		if (read >> i & 1)
			text_quoted(w->out, text, shown,
				    shown < len || len >= SYSCALLS_TEXT_ROOM - 1);
		else
			buf_addstr(w->out, "?");
	}
	buf_addstr(w->out, n == SYSCALLS_TEXTS ? ", ...]" : "]");
}

/* Buffers: the pieces @at and after it. */
static void add_vector(struct writer *w, u32 at, u64 address, u64 n, u64 most)
{
	s32 len, unused;
	const char *bytes = piece(w, at, &len), *parts = piece(w, at + 1, &unused);
	u32 read = at + 1 < SYSCALLS_TAKEN ? (u16)w->d->event->len[at + 1] : 0;

	if (!bytes || !parts || !address || len < 0 || (n && len < 16)) {
		text_pointer(w->out, address);
		return;
	}
	buf_addch(w->out, '[');
	for (u32 i = 0; i < n && (s32)(16 * i + 16) <= len; i++) {
		u64 v[2], whole;

		memcpy(v, bytes + (size_t)16 * i, sizeof(v));
		whole = MIN(v[1], most);
		most -= whole;
		buf_addstr(w->out, i ? ", {iov_base=" : "{iov_base=");
		if (i < SYSCALLS_PARTS && read >> i & 1 && v[0]) {
			u64 shown = MIN(MIN(whole, (u64)w->opts->text), (u64)SYSCALLS_PART_ROOM);

			text_quoted(w->out, parts + (size_t)i * SYSCALLS_PART_ROOM, shown,
				    shown < whole);
		} else {
			text_pointer(w->out, v[0]);
		}
		buf_addf(w->out, ", iov_len=%llu}", (unsigned long long)v[1]);
	}
	buf_addstr(w->out, n > SYSCALLS_BYTES / 16 ? ", ...]" : "]");
}

static void add_message(struct writer *w, u64 address, u64 most)
{
	u64 m[7]; /* name, its length, vector, its length, control, its length, flags */
	s32 len, name_len;
	const char *bytes = piece(w, 0, &len), *name = piece(w, 3, &name_len);

	if (!address || !bytes || len < (s32)sizeof(m)) {
		text_pointer(w->out, address);
		return;
	}
	memcpy(m, bytes, sizeof(m));
	buf_addstr(w->out, "{msg_name=");
	if (!m[0] || !struct_sockaddr(name, name_len, w->out))
		text_pointer(w->out, m[0]);
	buf_addf(w->out, ", msg_namelen=%u, msg_iov=", (u32)m[1]);
	add_vector(w, 1, m[2], m[3], most);
	buf_addf(w->out, ", msg_iovlen=%llu", (unsigned long long)m[3]);
	if (m[4] && m[5])
		buf_addf(w->out, ", msg_control=0x%llx", (unsigned long long)m[4]);
	buf_addf(w->out, ", msg_controllen=%llu, msg_flags=", (unsigned long long)m[5]);
	text_flags(w->out, values_find("msg"), (u32)m[6]);
	buf_addch(w->out, '}');
}

/* What takes several pieces; false: this does not. */
static bool add_list(struct writer *w, const struct syscall_arg *arg, u64 value)
{
	s64 ret = w->d->event->ret;
	u64 most = ret > 0 ? (u64)ret : 0;

	if ((arg->form == ARG_VECTOR || arg->form == ARG_MESSAGE) && ret < 0)
		text_pointer(w->out, value);
	else if (arg->form == ARG_TEXTS)
		add_texts(w, value);
	else if (arg->form == ARG_VECTOR_IN || arg->form == ARG_VECTOR)
		add_vector(w, 0, value, argument(w, arg->length),
			   arg->form == ARG_VECTOR ? most : UINT64_MAX);
	else if (arg->form == ARG_MESSAGE_IN || arg->form == ARG_MESSAGE)
		add_message(w, value, arg->form == ARG_MESSAGE ? most : UINT64_MAX);
	else
		return false;
	return true;
}

/* --- an argument ------------------------------------------------------------------------------ */

static void add_taken(struct writer *w, const struct syscall_arg *arg, u64 value)
{
	s64 ret = w->d->event->ret;
	u32 at = w->taken++;
	s32 len;
	const char *bytes = piece(w, at, &len);

	switch (arg->form) {
	case ARG_TEXT: add_text(w, value, bytes, len); break;
	case ARG_TEXT_OUT: add_text(w, value, ret >= 0 ? bytes : NULL, len); break;
	case ARG_BYTES: add_bytes(w, value, argument(w, arg->length), bytes, len); break;
	case ARG_RESULT:
		add_bytes(w, value, ret > 0 ? (u64)ret : 0, ret >= 0 ? bytes : NULL, len);
		break;
	case ARG_CPUS:
		if (ret > 0 && bytes && len > 0)
			struct_bits(bytes, len, w->out);
		else
			text_pointer(w->out, value);
		break;
	case ARG_SOCKADDR:
		if (!value || !struct_sockaddr(bytes, len, w->out))
			text_pointer(w->out, value);
		break;
	case ARG_SOCKADDR_OUT:
		if (!value || ret < 0 ||
		    !struct_sockaddr(bytes, length_given(w, at + 2, len), w->out))
			text_pointer(w->out, value);
		break;
	case ARG_SOCKLEN:
		w->taken++;
		add_length(w, value, at);
		break;
	case ARG_EPOLL:
		add_struct(w, arg->group, value, argument(w, 1) == EPOLL_CTL_DEL ? NULL : bytes,
			   len);
		break;
	case ARG_STRUCT_IN: add_struct(w, arg->group, value, bytes, len); break;
	case ARG_STRUCT: add_struct(w, arg->group, value, ret >= 0 ? bytes : NULL, len); break;
	case ARG_POLL:
		w->taken++;
		add_structs(w, arg, value, argument(w, arg->length), bytes, len);
		break;
	case ARG_STRUCTS_IN:
		add_structs(w, arg, value, argument(w, arg->length), bytes, len);
		break;
	case ARG_STRUCTS:
		add_structs(w, arg, value, ret > 0 ? (u64)ret : 0, ret >= 0 ? bytes : NULL, len);
		break;
	case ARG_FCNTL: add_fcntl(w, value, bytes, len); break;
	case ARG_IOCTL: add_ioctl(w, value, ret >= 0 ? bytes : NULL, len); break;
	case ARG_FUTEX_TIME: add_futex_time(w, value, bytes, len); break;
	default: add_pair(w->out, bytes, len, value);
	}
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
	default: text_pointer(out, value);
	}
}

static void add_argument(struct writer *w, const struct syscall_arg *arg, u64 value)
{
	switch (arg->form) {
	case ARG_FLAGS: text_flags(w->out, arg->group, (u32)value); break;
	case ARG_VALUE: text_value(w->out, arg->group, value); break;
	case ARG_OPEN: text_open(w->out, arg->group, (u32)value); break;
	case ARG_STATX: text_statx(w->out, arg->group, (u32)value); break;
	case ARG_SIGNAL: text_signal(w->out, arg->group, value); break;
	case ARG_SOCKOPT: add_sockopt(w, value); break;
	case ARG_PRCTL: add_prctl(w, arg, value); break;
	case ARG_PROTOCOL: add_protocol(w, arg, value); break;
	case ARG_SOCKTYPE: text_socktype(w->out, arg->group, (u32)value); break;
	case ARG_FUTEX: text_futex(w->out, arg->group, value); break;
	case ARG_CLONE: text_clone(w->out, arg->group, value); break;
	case ARG_FCNTL:
	case ARG_IOCTL:
	case ARG_FUTEX_TIME:
	case ARG_TEXT:
	case ARG_TEXT_OUT:
	case ARG_BYTES:
	case ARG_RESULT:
	case ARG_CPUS:
	case ARG_SOCKADDR:
	case ARG_SOCKADDR_OUT:
	case ARG_SOCKLEN:
	case ARG_EPOLL:
	case ARG_STRUCT_IN:
	case ARG_STRUCT:
	case ARG_STRUCTS_IN:
	case ARG_STRUCTS:
	case ARG_POLL:
	case ARG_FD_PAIR: add_taken(w, arg, value); break;
	default:
		if (!add_list(w, arg, value))
			add_number(w, arg, value);
	}
}

/* How many arguments an operation of futex(2) has. */
static u32 futex_args(u64 op)
{
	switch (op & 0x7f) {
	case FUTEX_WAKE:
	case FUTEX_FD: return 3;
	case FUTEX_UNLOCK_PI:
	case FUTEX_TRYLOCK_PI: return 2;
	case FUTEX_WAIT:
	case FUTEX_LOCK_PI: return 4;
	case FUTEX_REQUEUE: return 5;
	default: return SYSCALLS_ARGS;
	}
}

/* Arguments that this call does not look at. */
static bool is_left_out(const struct writer *w, const struct syscall_arg *arg, u32 i)
{
	u64 before = argument(w, i - 1);

	if (!i)
		return false;
	if (w->futex)
		return i >= futex_args(argument(w, 1));
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
	struct writer w = {
		call, d, o, out, 0, call->n_args > 1 && call->args[1].form == ARG_FUTEX
	};
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

static const struct syscall *call_of(const struct syscall_table *t, u32 nr)
{
	static const struct syscall none;

	return nr < SYSCALLS_MOST ? &t->calls[nr] : &none;
}

void decode_call(const struct syscall_table *t, const struct decoded *d,
		 const struct decode_opts *o, struct buf *out)
{
	const struct syscall *call = call_of(t, d->event->nr);

	if (call->name)
		buf_addstr(out, call->name);
	else
		buf_addf(out, "syscall_0x%x", d->event->nr);
	buf_addch(out, '(');
	decode_args(call, d, o, out);
	buf_addch(out, ')');
}

static void add_fcntl_flags(const struct syscalls_event *e, struct buf *out)
{
	if (e->ret <= 0 || (e->args[1] != F_GETFD && e->args[1] != F_GETFL))
		return;
	buf_addstr(out, " (flags ");
	if (e->args[1] == F_GETFD)
		text_flags(out, values_find("fdflags"), (u64)e->ret);
	else
		text_open(out, values_find("open"), (u64)e->ret);
	buf_addch(out, ')');
}

/* What a call prints after its result. */
static void add_remark(const struct syscall *call, const struct decoded *d, struct buf *out)
{
	const struct syscalls_event *e = d->event;
	bool waits =
		call->n_args && (call->args[0].form == ARG_POLL || streq(call->name, "select"));

	if (!call->known || e->flags & SYSCALLS_UNFINISHED)
		return;
	if (call->n_args > 2 && call->args[2].form == ARG_FCNTL)
		add_fcntl_flags(e, out);
	if (waits && !e->ret) {
		buf_addstr(out, " (Timeout)");
	} else if (call->n_args && call->args[0].form == ARG_POLL && e->ret > 0 && d->bytes[1]) {
		buf_addstr(out, " (");
		struct_revents(d->bytes[1], d->len[1], out);
		buf_addch(out, ')');
	}
}

static void add_result(const struct syscall_table *t, const struct syscalls_event *e,
		       struct buf *out)
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
		const struct syscall *call = call_of(t, e->nr);

		bool hex = call->hex_result ||
			   (call->n_args > 2 && e->ret && call->args[2].form == ARG_FCNTL &&
			    (e->args[1] == F_GETFD || e->args[1] == F_GETFL));

		buf_addf(out,
			 hex                  ? "0x%llx"
			 : call->octal_result ? "%#03llo"
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

void decode_result(const struct syscall_table *t, const struct decoded *d, struct buf *out)
{
	add_result(t, d->event, out);
	add_remark(call_of(t, d->event->nr), d, out);
}
