/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "syscalls/text.h"

#include "syscalls/headers.h"

/* O_LARGEFILE of the kernel: in the headers of 64-bit programs it is 0. */
enum { CLONE_SIGNAL = 0xff, OPEN_MODE = 3, OPEN_LARGE = 0100000, SIGNAL_RT = 32, SIGNAL_LAST = 64 };

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

void text_quoted(struct buf *out, const char *bytes, size_t n, bool more)
{
	buf_addch(out, '"');
	for (size_t i = 0; i < n; i++)
		add_byte(out, (u8)bytes[i],
			 i + 1 < n && bytes[i + 1] >= '0' && bytes[i + 1] <= '9');
	buf_addstr(out, more ? "\"..." : "\"");
}

void text_pointer(struct buf *out, u64 value)
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

void text_flags(struct buf *out, u8 group, u64 value)
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

void text_value(struct buf *out, u8 group, u64 value)
{
	const char *name = values_name(group, (u32)value);

	if (name)
		buf_addstr(out, name);
	else
		buf_addf(out, "%d", (int)value);
}

/* Those of real time have numbers, counted from the kernel's first. */
void text_signal(struct buf *out, u8 group, u64 value)
{
	u32 number = (u32)value;

	if (number == SIGNAL_RT)
		buf_addstr(out, "SIGRTMIN");
	else if (number > SIGNAL_RT && number <= SIGNAL_LAST)
		buf_addf(out, "SIGRT_%u", number - SIGNAL_RT);
	else
		text_value(out, group, value);
}

void text_open(struct buf *out, u8 group, u64 value)
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
void text_statx(struct buf *out, u8 group, u64 value)
{
	bool first = true;

	if (!(value & AT_STATX_SYNC_TYPE))
		first = add_name(out, "AT_STATX_SYNC_AS_STAT", first);
	first = add_flags_of(out, group, &value, first);
	add_rest(out, value, first);
}

void text_socktype(struct buf *out, u8 group, u64 value)
{
	u64 flags = value & ~0xfull;

	text_value(out, group, value & 0xf);
	add_flags_of(out, values_find("sockflags"), &flags, false);
	add_rest(out, flags, false);
}

void text_futex(struct buf *out, u8 group, u64 value)
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

void text_clone(struct buf *out, u8 group, u64 value)
{
	u64 flags = value & ~(u64)CLONE_SIGNAL, signal = value & CLONE_SIGNAL;
	bool first = add_flags_of(out, group, &flags, true);
	const char *name = signal ? values_name(values_find("signal"), signal) : NULL;

	if (name)
		first = add_name(out, name, first);
	add_rest(out, name ? flags : flags | signal, first);
}
