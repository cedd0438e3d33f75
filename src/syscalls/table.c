/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "syscalls/table.h"

#include "capture/tracepoint.h"
#include "syscalls/structs.h"

enum { SOCKADDR_MOST = 110 };

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

/* How many pieces an argument takes, and how. */
static u32 taken_of(const struct syscall_arg *arg, u8 number, struct syscalls_taken *ret)
{
	static const struct {
		u8 take, size, again; /* the same once more, when the call ends */
	} how[ARG_FORMS] = {
		[ARG_TEXT] = { SYSCALLS_TEXT, 0, 0 },
		[ARG_TEXT_OUT] = { SYSCALLS_OUT_TEXT, 0, 0 },
		[ARG_BYTES] = { SYSCALLS_IN, 0, 0 },
		[ARG_CPUS] = { SYSCALLS_OUT, 0, 0 },
		[ARG_RESULT] = { SYSCALLS_OUT, 0, 0 },
		[ARG_SOCKADDR] = { SYSCALLS_IN, 0, 0 },
		[ARG_SOCKADDR_OUT] = { SYSCALLS_OUT_FIXED, SOCKADDR_MOST, 0 },
		[ARG_SOCKLEN] = { SYSCALLS_IN_FIXED, 4, SYSCALLS_OUT_FIXED },
		[ARG_FD_PAIR] = { SYSCALLS_OUT_FIXED, 8, 0 },
		[ARG_STRUCT_IN] = { SYSCALLS_IN_FIXED, 0, 0 },
		[ARG_STRUCT] = { SYSCALLS_OUT_FIXED, 0, 0 },
		[ARG_STRUCTS_IN] = { SYSCALLS_IN, 0, 0 },
		[ARG_STRUCTS] = { SYSCALLS_OUT, 0, 0 },
		[ARG_EPOLL] = { SYSCALLS_IN_FIXED, 0, 0 },
		[ARG_POLL] = { SYSCALLS_IN, 0, SYSCALLS_AFTER },
		[ARG_FCNTL] = { SYSCALLS_IN_FIXED, 32, 0 },
		[ARG_IOCTL] = { SYSCALLS_OUT_FIXED, 8, 0 },
		[ARG_FUTEX_TIME] = { SYSCALLS_IN_FIXED, 16, 0 },
	};
	u8 size;

	if (arg->form >= ARG_FORMS || !how[arg->form].take)
		return 0;
	size = arg->form >= ARG_STRUCT_IN && arg->form <= ARG_EPOLL ? struct_size(arg->group)
								    : how[arg->form].size;
	ret[0] = (struct syscalls_taken){ how[arg->form].take, number, arg->length, size };
	if (!how[arg->form].again)
		return 1;
	ret[1] = ret[0];
	ret[1].take = how[arg->form].again;
	return 2;
}

static u8 special_of(const struct syscall_arg *arg, u8 *ret_pieces)
{
	switch (arg->form) {
	case ARG_TEXTS: *ret_pieces = 4; return SYSCALLS_LIST_TEXTS;
	case ARG_VECTOR_IN: *ret_pieces = 2; return SYSCALLS_VECTOR_IN;
	case ARG_VECTOR: *ret_pieces = 2; return SYSCALLS_VECTOR_OUT;
	case ARG_MESSAGE_IN: *ret_pieces = 4; return SYSCALLS_MESSAGE_IN;
	case ARG_MESSAGE: *ret_pieces = 4; return SYSCALLS_MESSAGE_OUT;
	default: return 0;
	}
}

struct syscalls_call syscall_taken(const struct syscall *call)
{
	struct syscalls_call ret = { .wanted = 1, .never_returns = call->never_returns };

	for (u8 i = 0; i < call->n_args && ret.pieces < SYSCALLS_TAKEN; i++) {
		struct syscalls_taken taken[2];
		u32 n = taken_of(&call->args[i], i, taken);

		if (special_of(&call->args[i], &ret.pieces)) {
			ret.special = special_of(&call->args[i], &ret.pieces);
			ret.of = (struct syscalls_taken){ 0, i, call->args[i].length, 0 };
			break;
		}
		for (u32 k = 0; k < n && ret.pieces < SYSCALLS_TAKEN; k++)
			ret.taken[ret.pieces++] = taken[k];
	}
	return ret;
}
