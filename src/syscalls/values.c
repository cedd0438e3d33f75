/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "syscalls/headers.h"
#include "syscalls/table.h"

static const struct syscall_value values[] = {
#define CALL(number, name)
#define VALUE(group, name) { #group, #name, (u64)(name) },
#include "syscalls.inc"
#undef CALL
#undef VALUE
};

static const struct {
	u32 number;
	const char *name;
} calls[] = {
#define CALL(number, name) { number, #name },
#define VALUE(group, name)
#include "syscalls.inc"
#undef CALL
#undef VALUE
};

void syscall_table_init(struct syscall_table *t)
{
	memset(t, 0, sizeof(*t));
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (calls[i].number < SYSCALLS_MOST)
			t->calls[calls[i].number].name = calls[i].name;
}

/* Groups stand one after the other. */
u8 values_find(const char *group)
{
	u32 number = 0;

	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		if (i && !streq(values[i].group, values[i - 1].group))
			number++;
		if (streq(values[i].group, group))
			return (u8)number;
	}
	return VALUES_NONE;
}

const struct syscall_value *values_of(u8 group, size_t *ret_n)
{
	size_t first = 0, number = 0, i;

	for (i = 0; i < ARRAY_SIZE(values); i++) {
		if (i && !streq(values[i].group, values[i - 1].group)) {
			if (number++ == group)
				break;
			first = i;
		}
	}
	*ret_n = number >= group ? i - first : 0;
	return &values[first];
}

const char *values_name(u8 group, u64 value)
{
	size_t n;
	const struct syscall_value *v = values_of(group, &n);

	for (size_t i = 0; i < n; i++)
		if (v[i].value == value || (u32)v[i].value == value)
			return v[i].name;
	return NULL;
}

const char *errno_name(int number)
{
	return number > 0 ? values_name(values_find("errno"), (u64)number) : NULL;
}
