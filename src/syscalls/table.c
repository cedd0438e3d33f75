/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "syscalls/table.h"

#include "capture/tracepoint.h"

void syscall_table_release(struct syscall_table *t)
{
	arena_release(&t->arena);
}

/* Where tracefs has another name for a call. */
static const char *event_of(const char *name)
{
	static const struct {
		const char *call, *event;
	} others[] = {
		{ "stat", "newstat" },          { "lstat", "newlstat" }, { "fstat", "newfstat" },
		{ "newfstatat", "newfstatat" }, { "uname", "newuname" }, { "umount2", "umount" },
		{ "sendfile", "sendfile64" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (streq(others[i].call, name))
			return others[i].event;
	return name;
}

int syscall_table_describe(struct syscall_table *t, u32 nr, const char *root, struct err *e)
{
	struct syscall *call = &t->calls[nr];
	struct tracepoint_format format;
	char event[80];
	int r;

	if (!call->name || call->known)
		return 0;
	snprintf(event, sizeof(event), "sys_enter_%s", event_of(call->name));
	r = tracepoint_format_read(root, "syscalls", event, &format, e);
	if (r < 0)
		return r;
	call->n_args = 0;
	vec_each(field, &format.fields) {
		struct syscall_arg *arg = &call->args[call->n_args];

		if (field->is_common || streq(field->name, "__syscall_nr"))
			continue;
		if (call->n_args == SYSCALLS_ARGS)
			break;
		arg->name = arena_strndup(&t->arena, field->name, strlen(field->name));
		arg->type = arena_strndup(&t->arena, field->type, strlen(field->type));
		call->n_args++;
	}
	tracepoint_format_release(&format);
	call->known = true;
	syscall_rules(call);
	return 0;
}

bool syscall_number(const struct syscall_table *t, const char *name, u32 *ret)
{
	for (u32 i = 0; i < SYSCALLS_MOST; i++)
		if (t->calls[i].name && streq(t->calls[i].name, name)) {
			*ret = i;
			return true;
		}
	return false;
}

static bool taken_of(const struct syscall_arg *arg, u8 number, struct syscalls_taken *ret)
{
	static const struct {
		u8 take, size;
	} how[ARG_FORMS] = {
		[ARG_TEXT] = { SYSCALLS_TEXT, 0 },
		[ARG_BYTES] = { SYSCALLS_IN, 0 },
		[ARG_RESULT] = { SYSCALLS_OUT, 0 },
		[ARG_SOCKADDR] = { SYSCALLS_IN, 0 },
		[ARG_TIMESPEC] = { SYSCALLS_IN_FIXED, 16 },
		[ARG_FD_PAIR] = { SYSCALLS_OUT_FIXED, 8 },
	};

	if (arg->form >= ARG_FORMS || !how[arg->form].take)
		return false;
	*ret = (struct syscalls_taken){ how[arg->form].take, number, arg->length,
					how[arg->form].size };
	return true;
}

struct syscalls_call syscall_taken(const struct syscall *call)
{
	struct syscalls_call ret = { .wanted = 1, .never_returns = call->never_returns };
	u32 n = 0;

	for (u8 i = 0; i < call->n_args && n < SYSCALLS_TAKEN; i++)
		n += taken_of(&call->args[i], i, &ret.taken[n]);
	return ret;
}
