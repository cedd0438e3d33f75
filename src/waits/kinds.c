/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/kinds.h"

static const struct {
	const char *name, *words;
} states[STATE_COUNT] = {
	[STATE_USER] = { "user", "running its own code" },
	[STATE_KERNEL] = { "kernel", "running in the kernel" },
	[STATE_RUNNING] = { "running", "running" },
	[STATE_RUNNABLE] = { "runnable", "waiting for a CPU" },
	[STATE_DISK] = { "disk", "waiting for a disk" },
	[STATE_NETWORK] = { "network", "waiting for the network or a socket" },
	[STATE_LOCK] = { "lock", "waiting for a lock" },
	[STATE_PIPE] = { "pipe", "waiting for a pipe" },
	[STATE_SLEEP] = { "sleep", "sleeping on a timer" },
	[STATE_FAULT] = { "fault", "waiting for a page of memory" },
	[STATE_POLL] = { "poll", "idle, waiting for one of many events" },
	[STATE_CHILD] = { "child", "waiting for a child process" },
	[STATE_IDLE] = { "idle", "a kernel thread without work" },
	[STATE_OTHER] = { "other", "waiting for something else" },
	[STATE_INTERRUPTIBLE] = { "interruptible", "blocked until something comes (S)" },
	[STATE_UNINTERRUPTIBLE] = { "uninterruptible", "blocked, mostly by disks (D)" },
};

const char *thread_state_name(enum thread_state s)
{
	return states[s].name;
}

const char *thread_state_words(enum thread_state s)
{
	return states[s].words;
}

/* --- what a wait is for ----------------------------------------------------------------------- */

struct kind_rule {
	const char *begin; /* of the function's name; a '$' at its end: the whole name */
	enum thread_state kind;
};

/* The first rule that any kernel frame fits, innermost frame first, decides. */
static const struct kind_rule rules[] = {
	{ "futex_", STATE_LOCK },
	{ "__futex_", STATE_LOCK },
	{ "do_futex", STATE_LOCK },
	{ "rwsem_", STATE_LOCK },
	{ "__mutex_", STATE_LOCK },
	{ "mutex_lock", STATE_LOCK },
	{ "__down_", STATE_LOCK },
	{ "rt_mutex_", STATE_LOCK },
	{ "do_semtimedop", STATE_LOCK },
	{ "fcntl_setlk", STATE_LOCK },
	{ "locks_lock_inode_wait", STATE_LOCK },
	{ "do_nanosleep", STATE_SLEEP },
	{ "hrtimer_nanosleep", STATE_SLEEP },
	{ "msleep", STATE_SLEEP },
	{ "usleep_range", STATE_SLEEP },
	{ "ep_poll", STATE_POLL },
	{ "do_epoll_wait", STATE_POLL },
	{ "do_sys_poll", STATE_POLL },
	{ "do_poll", STATE_POLL },
	{ "do_select", STATE_POLL },
	{ "io_cqring_wait", STATE_POLL },
	{ "eventfd_read", STATE_POLL },
	{ "inotify_read", STATE_POLL },
	{ "signalfd_", STATE_POLL },
	{ "timerfd_read", STATE_SLEEP },
	{ "do_sigtimedwait", STATE_POLL },
	{ "__x64_sys_pause", STATE_POLL },
	{ "sigsuspend", STATE_POLL },
	{ "n_tty_read", STATE_POLL },
	{ "anon_pipe_", STATE_PIPE },
	{ "pipe_", STATE_PIPE },
	{ "fifo_open", STATE_PIPE },
	{ "do_wait", STATE_CHILD },
	{ "kernel_wait4", STATE_CHILD },
	{ "wait_for_vfork_done", STATE_CHILD },
	{ "kernel_clone", STATE_CHILD },
	{ "sk_wait_data", STATE_NETWORK },
	{ "sk_stream_wait_memory", STATE_NETWORK },
	{ "unix_", STATE_NETWORK },
	{ "tcp_", STATE_NETWORK },
	{ "udp_", STATE_NETWORK },
	{ "inet_", STATE_NETWORK },
	{ "sock_", STATE_NETWORK },
	{ "netlink_", STATE_NETWORK },
	{ "packet_recvmsg", STATE_NETWORK },
	{ "__skb_wait", STATE_NETWORK },
	{ "__skb_recv", STATE_NETWORK },
	{ "vsock_", STATE_NETWORK },
	{ "io_schedule", STATE_DISK },
	{ "folio_wait_", STATE_DISK },
	{ "wait_on_page", STATE_DISK },
	{ "bit_wait_io", STATE_DISK },
	{ "blk_", STATE_DISK },
	{ "submit_bio_wait", STATE_DISK },
	{ "blkdev_issue_flush", STATE_DISK },
	{ "jbd2_", STATE_DISK },
	{ "ext4_", STATE_DISK },
	{ "xfs_", STATE_DISK },
	{ "btrfs_", STATE_DISK },
	{ "nfs_", STATE_NETWORK },
	{ "fuse_", STATE_DISK },
	{ "balance_dirty_pages", STATE_DISK },
	{ "worker_thread", STATE_IDLE },
	{ "rescuer_thread", STATE_IDLE },
	{ "smpboot_thread_fn", STATE_IDLE },
	{ "kthread_worker_fn", STATE_IDLE },
	{ "rcu_gp_kthread", STATE_IDLE },
	{ "kswapd", STATE_IDLE },
	{ "kcompactd", STATE_IDLE },
	{ "khugepaged", STATE_IDLE },
	{ "irq_thread", STATE_IDLE },
	{ "wb_workfn", STATE_DISK },
};

static bool is_fault(const char *name)
{
	return streq(name, "asm_exc_page_fault") || streq(name, "exc_page_fault") ||
	       streq(name, "handle_mm_fault");
}

static enum thread_state kind_of_name(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		if (starts_with(name, rules[i].begin))
			return rules[i].kind;
	}
	return STATE_COUNT;
}

/* Where there is no kernel stack: x86-64's numbers. */
static enum thread_state kind_of_syscall(s32 nr)
{
	switch (nr) {
	case 35:
	case 230: return STATE_SLEEP; /* nanosleep, clock_nanosleep */
	case 202:
	case 449: return STATE_LOCK; /* futex, futex_waitv */
	case 7:
	case 23:
	case 270:
	case 271:
	case 232:
	case 281:
	case 441: return STATE_POLL;
	case 58:
	case 61:
	case 247: return STATE_CHILD; /* vfork, wait4, waitid */
	case 42:
	case 43:
	case 44:
	case 45:
	case 46:
	case 47:
	case 288: return STATE_NETWORK;
	case 74:
	case 75:
	case 162: return STATE_DISK; /* fsync, fdatasync, sync */
	case 34:
	case 130:
	case 128: return STATE_POLL; /* pause, sigsuspend, sigtimedwait */
	default: return STATE_OTHER;
	}
}

static enum thread_state kind_of_state(u32 state)
{
	return state & 2 ? STATE_UNINTERRUPTIBLE : state & 1 ? STATE_INTERRUPTIBLE : STATE_OTHER;
}

enum thread_state wait_kind(const struct profile *p, const struct wait *w)
{
	enum thread_state kind = STATE_COUNT;
	bool fault = false;

	for (u32 s = w->stack; s; s = p->stacks.items[s].parent) {
		const struct frame *f = profile_frame_of(p, s);
		const char *name = profile_str(p, f->name);

		if (f->kind != FRAME_KERNEL)
			break;
		fault |= is_fault(name);
		if (kind == STATE_COUNT)
			kind = kind_of_name(name);
	}
	/* a lock taken within a fault is still a wait for a page, as the thread sees it */
	if (fault)
		return STATE_FAULT;
	if (kind != STATE_COUNT)
		return kind;
	if ((w->state & 0x402) == 0x402)
		return STATE_IDLE;
	if (w->syscall == WAIT_ONLY_STATE)
		return kind_of_state(w->state);
	if (w->syscall >= 0)
		return kind_of_syscall(w->syscall);
	return w->flags & OFFCPU_KTHREAD ? STATE_IDLE : STATE_OTHER;
}
