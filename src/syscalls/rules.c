/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How arguments are written. Most follows from the kernel's own names and types; what flags and
 * values an argument takes does not, and stands here. The first row that matches counts.
 */
#include "syscalls/structs.h"
#include "syscalls/table.h"

#include <fnmatch.h>

static const struct rule {
	const char *calls; /* patterns, space separated */
	const char *arg;
	u8 form;
	const char *with; /* group of values, or the argument with the length */
} rules[] = {
	{ "open openat openat2", "flags", ARG_OPEN, "open" },
	{ "open openat", "mode", ARG_OPEN_MODE, NULL },
	{ "read pread64 recvfrom getrandom", "buf", ARG_RESULT, NULL },
	{ "recvfrom getrandom", "ubuf", ARG_RESULT, NULL },
	{ "readlink readlinkat", "buf", ARG_RESULT, NULL },
	{ "write pwrite64", "buf", ARG_BYTES, "count" },
	{ "sendto", "buff", ARG_BYTES, "len" },
	{ "access faccessat faccessat2", "mode", ARG_FLAGS, "access" },
	{ "faccessat2", "flags", ARG_FLAGS, "faccess" },
	{ "newfstatat statx fchownat fchmodat2 linkat name_to_handle_at", "flag", ARG_FLAGS, "at" },
	{ "statx", "flags", ARG_STATX, "at" },
	{ "newfstatat fchownat utimensat linkat", "flags", ARG_FLAGS, "at" },
	{ "statx", "mask", ARG_FLAGS, "statx" },
	{ "unlinkat", "flag", ARG_FLAGS, "unlink" },
	{ "renameat2", "flags", ARG_FLAGS, "renameflags" },
	{ "mmap mprotect pkey_mprotect", "prot", ARG_FLAGS, "prot" },
	{ "mmap", "flags", ARG_FLAGS, "map" },
	{ "mmap", "off", ARG_HEX, NULL },
	{ "mmap", "fd", ARG_FD, NULL },
	{ "mmap munmap mprotect madvise brk mremap msync", "addr", ARG_POINTER, NULL },
	{ "munmap mprotect madvise brk mremap msync", "start", ARG_POINTER, NULL },
	{ "brk", "brk", ARG_POINTER, NULL },
	{ "mremap", "flags", ARG_FLAGS, "mremap" },
	{ "madvise", "behavior", ARG_VALUE, "madvise" },
	{ "msync", "flags", ARG_FLAGS, "msync" },
	{ "lseek", "whence", ARG_VALUE, "seek" },
	{ "lseek", "offset", ARG_INT, NULL },
	{ "fcntl", "cmd", ARG_VALUE, "fcntl" },
	{ "fcntl", "arg", ARG_FCNTL, NULL },
	{ "flock", "cmd", ARG_FLAGS, "flock" },
	{ "ioctl", "cmd", ARG_VALUE, "ioctl" },
	{ "ioctl", "arg", ARG_IOCTL, NULL },
	{ "clone", "clone_flags", ARG_CLONE, "clone" },
	{ "clone", "newsp", ARG_POINTER, NULL },
	{ "unshare", "unshare_flags", ARG_FLAGS, "clone" },
	{ "kill tkill tgkill rt_sigaction", "sig", ARG_SIGNAL, "signal" },
	{ "rt_sigprocmask", "how", ARG_VALUE, "sighow" },
	{ "socket socketpair", "family", ARG_VALUE, "family" },
	{ "socket socketpair", "type", ARG_SOCKTYPE, "socktype" },
	{ "socket socketpair", "protocol", ARG_PROTOCOL, "ipproto" },
	{ "socketpair", "usockvec", ARG_FD_PAIR, NULL },
	{ "pipe pipe2", "fildes", ARG_FD_PAIR, NULL },
	{ "pipe2", "flags", ARG_FLAGS, "pipe" },
	{ "dup3", "flags", ARG_FLAGS, "pipe" },
	{ "connect", "uservaddr", ARG_SOCKADDR, "addrlen" },
	{ "bind", "umyaddr", ARG_SOCKADDR, "addrlen" },
	{ "sendto", "addr", ARG_SOCKADDR, "addr_len" },
	{ "recvfrom", "addr", ARG_SOCKADDR_OUT, NULL },
	{ "accept accept4", "upeer_sockaddr", ARG_SOCKADDR_OUT, NULL },
	{ "getsockname getpeername", "usockaddr", ARG_SOCKADDR_OUT, NULL },
	{ "recvfrom", "addr_len", ARG_SOCKLEN, NULL },
	{ "accept accept4", "upeer_addrlen", ARG_SOCKLEN, NULL },
	{ "getsockname getpeername", "usockaddr_len", ARG_SOCKLEN, NULL },
	{ "getsockopt", "optlen", ARG_SOCKLEN, NULL },
	{ "sendmsg", "msg", ARG_MESSAGE_IN, NULL },
	{ "recvmsg", "msg", ARG_MESSAGE, NULL },
	{ "writev pwritev pwritev2 vmsplice", "vec", ARG_VECTOR_IN, "vlen" },
	{ "writev pwritev pwritev2 readv preadv preadv2", "fd", ARG_FD, NULL },
	{ "readv preadv preadv2", "vec", ARG_VECTOR, "vlen" },
	{ "execve execveat", "argv", ARG_TEXTS, NULL },
	{ "getcwd", "buf", ARG_TEXT_OUT, NULL },
	{ "poll ppoll", "ufds", ARG_POLL, "nfds" },
	{ "poll", "timeout_msecs", ARG_INT, NULL },
	{ "epoll_wait epoll_pwait epoll_pwait2", "events", ARG_STRUCTS, NULL },
	{ "epoll_ctl", "event", ARG_EPOLL, NULL },
	{ "ppoll pselect6 select", "tsp", ARG_STRUCT_IN, NULL },
	{ "select", "tvp", ARG_STRUCT_IN, NULL },
	{ "select pselect6", "inp", ARG_STRUCT_IN, NULL },
	{ "select pselect6", "outp", ARG_STRUCT_IN, NULL },
	{ "select pselect6", "exp", ARG_STRUCT_IN, NULL },
	{ "rt_sigprocmask", "nset", ARG_STRUCT_IN, NULL },
	{ "rt_sigsuspend", "unewset", ARG_STRUCT_IN, NULL },
	{ "setitimer", "value", ARG_STRUCT_IN, NULL },
	{ "setrlimit", "rlim", ARG_STRUCT_IN, NULL },
	{ "clone3", "uargs", ARG_STRUCT_IN, NULL },
	{ "recvmmsg futex_waitv", "timeout", ARG_STRUCT_IN, NULL },
	{ "utimensat", "utimes", ARG_STRUCT_IN, "utimes" },
	{ "wait4", "stat_addr", ARG_STRUCT, "status" },
	{ "sched_getaffinity", "user_mask_ptr", ARG_CPUS, NULL },
	{ "getgroups", "grouplist", ARG_STRUCTS, NULL },
	{ "futex", "utime", ARG_FUTEX_TIME, NULL },
	{ "futex", "uaddr", ARG_POINTER, NULL },
	{ "futex", "uaddr2", ARG_POINTER, NULL },
	{ "futex", "val3", ARG_POINTER, NULL },
	{ "set_tid_address", "tidptr", ARG_POINTER, NULL },
	{ "clone", "parent_tidptr", ARG_POINTER, NULL },
	{ "clone", "child_tidptr", ARG_POINTER, NULL },
	{ "accept4", "flags", ARG_FLAGS, "sockflags" },
	{ "send* recv*", "flags", ARG_FLAGS, "msg" },
	{ "shutdown", "how", ARG_VALUE, "shutdown" },
	{ "getsockopt setsockopt", "level", ARG_VALUE, "sollevel" },
	{ "getsockopt setsockopt", "optname", ARG_SOCKOPT, NULL },
	{ "epoll_create1", "flags", ARG_FLAGS, "epoll" },
	{ "epoll_ctl", "op", ARG_VALUE, "epollctl" },
	{ "eventfd2", "flags", ARG_FLAGS, "eventfd" },
	{ "memfd_create", "flags", ARG_FLAGS, "memfd" },
	{ "memfd_create", "uname", ARG_TEXT, NULL },
	{ "inotify_init1", "flags", ARG_FLAGS, "pipe" },
	{ "futex", "op", ARG_FUTEX, "futex" },
	{ "clock_*", "which_clock", ARG_VALUE, "clockid" },
	{ "clock_nanosleep", "flags", ARG_FLAGS, "timer" },
	{ "clock_nanosleep nanosleep", "rqtp", ARG_STRUCT_IN, NULL },
	{ "clock_nanosleep nanosleep", "rmtp", ARG_POINTER, NULL },
	{ "prlimit64 getrlimit setrlimit", "resource", ARG_VALUE, "rlimit" },
	{ "getrusage", "who", ARG_VALUE, "rusage" },
	{ "wait4 waitid", "options", ARG_FLAGS, "wait" },
	{ "wait4", "upid", ARG_INT, NULL },
	{ "prctl", "option", ARG_VALUE, "prctl" },
	{ "prctl", "arg2", ARG_PRCTL, "cap" },
	{ "arch_prctl", "option", ARG_VALUE, "arch" },
	{ "arch_prctl", "arg2", ARG_HEX, NULL },
	{ "getrandom", "flags", ARG_FLAGS, "random" },
	{ "close_range", "flags", ARG_FLAGS, "close_range" },
	{ "rseq", "flags", ARG_FLAGS, "rseq" },
	{ "getpriority setpriority", "which", ARG_VALUE, "prio" },
	{ "sched_setscheduler", "policy", ARG_VALUE, "sched" },
	{ "fadvise64", "advice", ARG_VALUE, "fadvise" },
	{ "fallocate", "mode", ARG_FLAGS, "fallocate" },
	{ "mount", "flags", ARG_FLAGS, "mount" },
	{ "getitimer setitimer", "which", ARG_VALUE, "itimer" },
	{ "*", "dfd", ARG_DIRFD, NULL },
	{ "*", "olddfd", ARG_DIRFD, NULL },
	{ "*", "newdfd", ARG_DIRFD, NULL },
	{ "*", "fd", ARG_FD, NULL },
	{ "*", "fildes", ARG_FD, NULL },
	{ "*", "mode", ARG_OCTAL, NULL },
	{ "umask", "mask", ARG_OCTAL, NULL },
	{ "*", "flags", ARG_HEX, NULL },
	{ "set_robust_list", "len", ARG_UNSIGNED, NULL },
};

static bool matches(const char *patterns, const char *name)
{
	char word[64];

	while (*patterns) {
		size_t n = strcspn(patterns, " ");

		snprintf(word, sizeof(word), "%.*s", (int)n, patterns);
		if (fnmatch(word, name, 0) == 0)
			return true;
		patterns += n + (patterns[n] == ' ');
	}
	return false;
}

static const struct rule *find_rule(const char *call, const char *arg)
{
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		if (streq(rules[i].arg, arg) && matches(rules[i].calls, call))
			return &rules[i];
	return NULL;
}

/* What the type alone says. */
static u8 form_of_type(const char *type)
{
	if (strchr(type, '*') && struct_find(type) != STRUCT_NONE)
		return starts_with(type, "const ") ? ARG_STRUCT_IN : ARG_STRUCT;
	if (strchr(type, '*'))
		return streq(type, "const char *") ? ARG_TEXT : ARG_POINTER;
	if (starts_with(type, "int") || starts_with(type, "pid_t") || streq(type, "long") ||
	    starts_with(type, "loff_t") || starts_with(type, "off_t") ||
	    starts_with(type, "clockid_t") || starts_with(type, "key_t"))
		return ARG_INT;
	return ARG_UNSIGNED;
}

static u8 place_of(const struct syscall *call, const char *arg)
{
	for (u8 i = 0; i < call->n_args; i++)
		if (streq(call->args[i].name, arg))
			return i;
	return SYSCALLS_ARGS;
}

static bool is_listed(const char *name, const char *const *list)
{
	for (; *list; list++)
		if (streq(name, *list))
			return true;
	return false;
}

static bool is_struct(u8 form)
{
	return form >= ARG_STRUCT_IN && form <= ARG_EPOLL;
}

static bool has_length(u8 form)
{
	return form == ARG_BYTES || form == ARG_SOCKADDR || form == ARG_STRUCTS_IN ||
	       form == ARG_POLL || form == ARG_VECTOR_IN || form == ARG_VECTOR;
}

void syscall_rules(struct syscall *call)
{
	static const char *const addresses[] = { "mmap", "brk", "mremap", "shmat", NULL };
	static const char *const ends[] = { "exit", "exit_group", NULL };

	call->hex_result = is_listed(call->name, addresses);
	call->octal_result = streq(call->name, "umask");
	call->never_returns = is_listed(call->name, ends);
	for (u8 i = 0; i < call->n_args; i++) {
		struct syscall_arg *arg = &call->args[i];
		const struct rule *rule = find_rule(call->name, arg->name);

		arg->form = rule ? rule->form : form_of_type(arg->type);
		arg->group = VALUES_NONE;
		arg->length = SYSCALLS_ARGS;
		if (is_struct(arg->form))
			arg->group = struct_find(arg->type);
		if (!rule || !rule->with)
			continue;
		if (has_length(arg->form))
			arg->length = place_of(call, rule->with);
		else if (is_struct(arg->form))
			arg->group = struct_find(rule->with);
		else
			arg->group = values_find(rule->with);
	}
}

/* --- classes of calls, as strace has them ----------------------------------------------------- */

static const struct {
	const char *name;
	const char *calls; /* patterns */
	const char *arg;   /* or those that have an argument of this name */
} classes[] = {
	{ "file",
	  "open* stat lstat newfstatat statx access faccess* rename* *link* mk* rm* ch* *chown* "
	  "*chmod* "
	  "mount umount* *utime* swap* execve* statfs truncate acct *xattr* getcwd "
	  "name_to_handle_at fchownat fchmodat quotactl",
	  NULL },
	{ "desc",
	  "close* dup* select pselect6 poll ppoll epoll_* fcntl ioctl lseek flock pipe* "
	  "eventfd* signalfd* timerfd_* inotify_* memfd_create sendfile splice tee",
	  "fd" },
	{ "network",
	  "socket* bind connect listen accept* get*name send* recv* shutdown "
	  "getsockopt setsockopt",
	  NULL },
	{ "memory",
	  "mmap munmap mprotect mremap madvise brk msync mincore mlock* munlock* "
	  "mbind *mempolicy migrate_pages move_pages remap_file_pages pkey_*",
	  NULL },
	{ "process",
	  "fork vfork clone* execve* exit* wait* kill tkill tgkill pidfd_* "
	  "unshare rt_sigqueueinfo arch_prctl",
	  NULL },
	{ "signal", "rt_sig* kill tkill tgkill sigaltstack pause signalfd* pidfd_send_signal",
	  NULL },
	{ "ipc", "sem* shm* msg* mq_*", NULL },
	{ "creds", "*uid *gid *groups cap* prctl setfs*", NULL },
	{ "clock", "clock_* gettimeofday settimeofday time adjtimex", NULL },
};

bool syscall_class(const struct syscall_table *t, const char *class, bool *ret_wanted)
{
	for (size_t i = 0; i < ARRAY_SIZE(classes); i++) {
		if (!streq(classes[i].name, class))
			continue;
		for (u32 nr = 0; nr < SYSCALLS_MOST; nr++) {
			const struct syscall *c = &t->calls[nr];

			ret_wanted[nr] |= c->name && matches(classes[i].calls, c->name);
			for (u8 k = 0; classes[i].arg && k < c->n_args; k++)
				ret_wanted[nr] |= streq(c->args[k].name, classes[i].arg);
		}
		return true;
	}
	return false;
}
