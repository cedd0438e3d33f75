/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * System calls of this machine: names from the headers of the build, arguments from tracefs (so
 * that they are those of the running kernel), and how each argument is written (rules.c). A call
 * that tracefs does not describe shows its registers.
 */
#ifndef SYSCALLS_TABLE_H
#define SYSCALLS_TABLE_H

#include "base/arena.h"
#include "base/err.h"
#include "bpf/syscalls_abi.h"

enum arg_form {
	ARG_INT, /* signed */
	ARG_UNSIGNED,
	ARG_HEX,
	ARG_POINTER, /* NULL, or hexadecimal */
	ARG_FD,
	ARG_DIRFD, /* AT_FDCWD, or a descriptor */
	ARG_OCTAL,
	ARG_TEXT,   /* up to a NUL */
	ARG_BYTES,  /* of a length that another argument says */
	ARG_RESULT, /* of the length that the call returns */
	ARG_FLAGS,
	ARG_VALUE,
	ARG_OPEN,      /* the access mode and flags */
	ARG_OPEN_MODE, /* only where a file may be made */
	ARG_STATX,
	ARG_SOCKOPT, /* depends on the level before it */
	ARG_SIGNAL,
	ARG_PRCTL, /* depends on the option before it */
	ARG_SOCKTYPE,
	ARG_FUTEX,
	ARG_CLONE, /* flags, and a signal in the lowest byte */
	ARG_FCNTL, /* depends on the command before it */
	ARG_SOCKADDR,
	ARG_SOCKADDR_OUT, /* of the length that the next argument points to */
	ARG_SOCKLEN,
	ARG_FD_PAIR,
	ARG_TEXT_OUT,
	ARG_STRUCT_IN, /* which one says the group */
	ARG_STRUCT,
	ARG_STRUCTS_IN, /* as many as another argument says */
	ARG_STRUCTS,    /* as many as the call returns */
	ARG_POLL,
	ARG_EPOLL,    /* some operations do not read it */
	ARG_CPUS,     /* bits, as many bytes as the call returns */
	ARG_PROTOCOL, /* depends on the family before it */
	ARG_IOCTL,    /* depends on the command before it */
	ARG_FUTEX_TIME,
	ARG_TEXTS, /* a list that ends with NULL */
	ARG_VECTOR_IN,
	ARG_VECTOR,
	ARG_MESSAGE_IN,
	ARG_MESSAGE,
	ARG_FORMS,
};

struct syscall_arg {
	const char *name;
	const char *type;
	u8 form;
	u8 group;  /* of values_find(), or of struct_find() */
	u8 length; /* the argument that says how many */
};

struct syscall {
	const char *name; /* NULL: there is no such number */
	struct syscall_arg args[SYSCALLS_ARGS];
	u8 n_args;
	bool known; /* its arguments are */
	bool hex_result, octal_result;
	bool never_returns;
};

struct syscall_table {
	struct arena arena;
	struct syscall calls[SYSCALLS_MOST];
};

/* Names only. */
void syscall_table_init(struct syscall_table *t);
void syscall_table_release(struct syscall_table *t);
/* The arguments of one call. @root: tracefs, NULL for the real one. */
int syscall_table_describe(struct syscall_table *t, u32 nr, const char *root, struct err *e);
/* The number of a call; false: no such name. */
bool syscall_number(const struct syscall_table *t, const char *name, u32 *ret);
/* What the programs in the kernel have to take of a call. */
struct syscalls_call syscall_taken(const struct syscall *call);

/* --- rules.c ---------------------------------------------------------------------------------- */

/* How each argument is written, by call, name and type. */
void syscall_rules(struct syscall *call);
/* Calls of a class ("file", "network", ...); false: there is no such class. */
bool syscall_class(const struct syscall_table *t, const char *class, bool *ret_wanted);

/* --- values.c --------------------------------------------------------------------------------- */

struct syscall_value {
	const char *group;
	const char *name;
	u64 value;
};

enum { VALUES_NONE = 255 };

/* VALUES_NONE: no such group. */
u8 values_find(const char *group);
const struct syscall_value *values_of(u8 group, size_t *ret_n);
/* NULL: none has it. */
const char *values_name(u8 group, u64 value);
const char *errno_name(int number);

#endif
