/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/sandbox.h"

#include "host/caps.h"

#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pwd.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

enum { NOBODY = 65534, MEMORY_MOST = 512 << 20 };

/* All that the server calls once it runs: sockets that it has, memory, time. Nothing opens. */
static const u32 allowed[] = {
	SYS_read,
	SYS_write,
	SYS_readv,
	SYS_writev,
	SYS_recvfrom,
	SYS_sendto,
	SYS_recvmsg,
	SYS_sendmsg,
	SYS_accept4,
	SYS_close,
	SYS_epoll_wait,
	SYS_epoll_pwait,
	SYS_epoll_ctl,
	SYS_epoll_create1,
	SYS_fcntl,
	SYS_setsockopt,
	SYS_getsockopt,
	SYS_getsockname,
	SYS_getpeername,
	SYS_shutdown,
	SYS_pread64,
	SYS_lseek,
	SYS_fstat,
	SYS_newfstatat,
	SYS_brk,
	SYS_mmap,
	SYS_munmap,
	SYS_mremap,
	SYS_madvise,
	SYS_mprotect,
	SYS_clock_gettime,
	SYS_gettimeofday,
	SYS_getrandom,
	SYS_futex,
	SYS_rt_sigreturn,
	SYS_rt_sigprocmask,
	SYS_rt_sigaction,
	SYS_getpid,
	SYS_gettid,
	SYS_tgkill,
	SYS_restart_syscall,
	SYS_poll,
	SYS_ppoll,
	SYS_exit,
	SYS_exit_group,
};

enum { FILTER_CONNECTS = 7, FILTER_MOST = 4 + 2 * ARRAY_SIZE(allowed) + FILTER_CONNECTS + 1 };

/* Programs with sanitizers need more calls than it allows: they run without it. */
UNUSED static int filter_calls(bool connects, struct err *e)
{
	struct sock_filter code[FILTER_MOST] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};
	/* sockets of IP alone, and where they lead to */
	const struct sock_filter connecting[FILTER_CONNECTS] = {
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_connect, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .filter = code };
	u16 n = 4;

	for (size_t i = 0; i < ARRAY_SIZE(allowed); i++) {
		code[n++] =
			(struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, allowed[i], 0, 1);
		code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
	for (size_t i = 0; i < FILTER_CONNECTS && connects; i++)
		code[n++] = connecting[i];
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	program.len = n;
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		return err_sys(e, errno, "cannot filter system calls of the HTTP side");
	return 0;
}

static int find_user(const char *user, uid_t *ret_uid, gid_t *ret_gid, struct err *e)
{
	const char *name = user ? user : "fathom";
	/* the file alone: name services are libraries, which a static program cannot load */
	FILE *file = fopen("/etc/passwd", "re");
	const struct passwd *pw = NULL;

	while (file && (pw = fgetpwent(file)) && !streq(pw->pw_name, name))
		continue;
	if (file)
		(void)fclose(file);
	*ret_uid = *ret_gid = NOBODY;
	if (pw) {
		*ret_uid = pw->pw_uid;
		*ret_gid = pw->pw_gid;
	} else if (user) {
		err_set(e, ENOENT, "there is no user '%s'", user);
		err_hint(e, "name one of /etc/passwd that has no rights");
		return -ENOENT;
	}
	return 0;
}

static int change_user(const char *user, struct err *e)
{
	uid_t uid;
	gid_t gid;
	int r = find_user(user, &uid, &gid, e);

	if (r < 0)
		return r;
	if (setgroups(0, NULL) < 0 || setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0)
		return err_sys(e, errno, "cannot become another user");
	return 0;
}

static int drop_capabilities(struct err *e)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };

	if (syscall(SYS_capset, &header, none) < 0)
		return err_sys(e, errno, "cannot give up capabilities");
	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_sys(e, errno, "cannot forbid new privileges");
	return 0;
}

static int by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void close_others(const int *keep, size_t n)
{
	int sorted[8];
	u32 from = STDERR_FILENO + 1;

	memcpy(sorted, keep, MIN(n, ARRAY_SIZE(sorted)) * sizeof(*keep));
	qsort(sorted, n, sizeof(*sorted), by_number);
	for (size_t i = 0; i < n; i++) {
		if (sorted[i] < (int)from)
			continue;
		if ((u32)sorted[i] > from)
			(void)syscall(SYS_close_range, from, (u32)sorted[i] - 1, 0);
		from = (u32)sorted[i] + 1;
	}
	(void)syscall(SYS_close_range, from, ~0u, 0);
}

int web_sandbox(const char *user, const int *keep, size_t n, pid_t parent, bool connects,
		struct err *e)
{
	const struct rlimit none = { 0, 0 };
	int r = 0;

	close_others(keep, n);
	(void)setrlimit(RLIMIT_CORE, &none);
	if (geteuid() == 0)
		r = change_user(user, e);
	if (!r)
		r = drop_capabilities(e);
	/* a change of the user would clear it */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!r && getppid() != parent)
		r = err_set(e, ESRCH, "the capturing side is gone");
#ifdef __SANITIZE_ADDRESS__
	(void)connects; /* sanitizers make system calls that the filter would refuse */
#else
	if (!r) {
		(void)setrlimit(RLIMIT_AS, &(struct rlimit){ MEMORY_MOST, MEMORY_MOST });
		r = filter_calls(connects, e);
	}
#endif
	return r;
}

static const int kept[] = {
	CAP_BPF,             /* programs and maps */
	CAP_PERFMON,         /* events of the kernel and of every process */
	CAP_SYS_PTRACE,      /* maps and files of processes of other users, for their symbols */
	CAP_DAC_READ_SEARCH, /* files with symbols that only their owner may read */
	CAP_SYSLOG,          /* addresses in /proc/kallsyms */
	CAP_SYS_RESOURCE,    /* memory for maps, before Linux 5.11 */
	CAP_SETUID,          /* these two: the HTTP side is another user */
	CAP_SETGID,
	CAP_KILL, /* and is ended, though it is another user, also when this process dies */
};

int web_sandbox_engine(struct err *e)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };
	u32 mask[_LINUX_CAPABILITY_U32S_3] = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		mask[CAP_TO_INDEX(kept[i])] |= CAP_TO_MASK(kept[i]);
	/* CAP_SYS_ADMIN is kept where these two do not exist */
	if (!caps_allow(caps_effective() & ~CAP_BIT(CAP_SYS_ADMIN),
			CAP_BIT(CAP_BPF) | CAP_BIT(CAP_PERFMON)))
		mask[CAP_TO_INDEX(CAP_SYS_ADMIN)] |= CAP_TO_MASK(CAP_SYS_ADMIN);
	/* a program that root starts gets all of the bounding set; only
	 * root may shrink it */
	for (int cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		if (!(mask[CAP_TO_INDEX(cap)] & CAP_TO_MASK(cap)))
			(void)prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
	if (syscall(SYS_capget, &header, data) < 0)
		return err_sys(e, errno, "cannot read capabilities");
	for (size_t i = 0; i < ARRAY_SIZE(data); i++) {
		data[i].effective &= mask[i];
		data[i].permitted &= mask[i];
		data[i].inheritable &= mask[i];
	}
	if (syscall(SYS_capset, &header, data) < 0)
		return err_sys(e, errno, "cannot give up capabilities");
	return 0;
}
