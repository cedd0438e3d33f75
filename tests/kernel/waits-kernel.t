#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
#
# Kinds of waits that the kernel's own functions tell: held by a signal, a debugger or the freezer,
# file locks, semaphores of System V, pipes, queues, sockets, timers, events, signals, connections,
# flushes.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_root
need_cmd gcc python3
cd "$TMP" || exit 1

cat >kernel.c <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <linux/netlink.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static void in_filelock(void)
{
	struct flock l = { .l_type = F_WRLCK };
	int ready[2];
	char c;

	if (pipe(ready))
		return;
	if (!fork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		fcntl(open("lockfile", O_RDWR | O_CREAT, 0600), F_SETLKW, &l);
		(void)!write(ready[1], "x", 1);
		for (;;)
			pause();
	}
	(void)!read(ready[0], &c, 1);
	fcntl(open("lockfile", O_RDWR), F_SETLKW, &l);
}
static void in_sem(void)
{
	struct sembuf op = { .sem_op = -1 };
	int id = semget(getpid(), 1, IPC_CREAT | 0600);

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	semop(id, &op, 1);
}
static void in_pipe(void) { int p[2]; char c; if (!pipe(p)) (void)!read(p[0], &c, 1); }
static void in_socket(void)
{
	int s[2];
	char c;

	if (!socketpair(AF_UNIX, SOCK_STREAM, 0, s))
		(void)!read(s[0], &c, 1);
}
static void in_timer(void)
{
	struct itimerspec t = { .it_value = { .tv_sec = 100 } };
	int fd = timerfd_create(CLOCK_MONOTONIC, 0);
	char c[8];

	timerfd_settime(fd, 0, &t, NULL);
	(void)!read(fd, c, 8);
}
static void in_poll(void) { poll(NULL, 0, -1); }
static void in_epoll(void) { struct epoll_event e; epoll_wait(epoll_create1(0), &e, 1, -1); }
static void in_signal(void)
{
	sigset_t s;
	int got;

	sigemptyset(&s);
	sigaddset(&s, SIGUSR2);
	sigwait(&s, &got);
}
static void in_accept(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	int s = socket(AF_INET, SOCK_STREAM, 0);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (!bind(s, (void *)&a, sizeof(a)) && !listen(s, 1))
		accept(s, NULL, NULL);
}
static void in_child(void)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	waitpid(pid, NULL, __WALL);
}

static char bytes[1 << 20];
static void in_flock(void)
{
	int a = open("flock", O_RDWR | O_CREAT, 0600), b = open("flock", O_RDWR);

	flock(a, LOCK_EX);
	flock(b, LOCK_EX);
}
static void in_eventfd(void) { (void)!read(eventfd(0, 0), bytes, 8); }
static void in_pipe_full(void) { int p[2]; if (!pipe(p)) for (;;) (void)!write(p[1], bytes, 65536); }
static void in_fifo(void) { mkfifo("fifo", 0600); open("fifo", O_RDONLY); }
static void in_msgrcv(void) { msgrcv(msgget(getpid(), IPC_CREAT | 0600), bytes, 8, 0, 0); }
static void in_mq(void)
{
	struct mq_attr a = { .mq_maxmsg = 1, .mq_msgsize = 8 };
	char name[32];

	snprintf(name, sizeof(name), "/fathom-%d", getpid());
	mqd_t q = mq_open(name, O_RDWR | O_CREAT, 0600, &a);

	mq_unlink(name);
	mq_receive(q, bytes, 8, NULL);
}
static void in_inotify(void) { (void)!read(inotify_init(), bytes, 4096); }
static void in_fanotify(void) { (void)!read(fanotify_init(FAN_CLASS_NOTIF, 0), bytes, 4096); }
static void in_signalfd(void)
{
	sigset_t s;

	sigemptyset(&s);
	sigaddset(&s, SIGUSR1);
	(void)!read(signalfd(-1, &s, 0), bytes, 4096);
}
static void in_terminal(void)
{
	int m = open("/dev/ptmx", O_RDWR | O_NOCTTY);

	(void)!read(m, bytes, 1);
}
static void in_aio(void)
{
	aio_context_t c = 0;
	struct io_event e;

	syscall(SYS_io_setup, 4, &c);
	syscall(SYS_io_getevents, c, 1, 1, &e, NULL);
}
static void in_uring(void)
{
	struct io_uring_params p = { 0 };
	int fd = (int)syscall(SYS_io_uring_setup, 4, &p);

	syscall(SYS_io_uring_enter, fd, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0);
}
static void in_udp(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	int s = socket(AF_INET, SOCK_DGRAM, 0);

	bind(s, (void *)&a, sizeof(a));
	recv(s, bytes, 8, 0);
}
static void in_netlink(void)
{
	struct sockaddr_nl a = { .nl_family = AF_NETLINK };
	int s = socket(AF_NETLINK, SOCK_RAW, 0);

	bind(s, (void *)&a, sizeof(a));
	recv(s, bytes, 8, 0);
}
static void in_tcp_full(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	int l = socket(AF_INET, SOCK_STREAM, 0), s = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t n = sizeof(a);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(l, (void *)&a, n) || listen(l, 1) || getsockname(l, (void *)&a, &n) ||
	    connect(s, (void *)&a, n))
		return;
	for (;;)
		send(s, bytes, sizeof(bytes), 0);
}
static void in_unix_accept(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX, .sun_path = "socket" };
	int s = socket(AF_UNIX, SOCK_STREAM, 0);

	bind(s, (void *)&a, sizeof(a));
	listen(s, 1);
	accept(s, NULL, NULL);
}
static void in_vfork(void)
{
	if (!vfork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
}

static const struct job { const char *name; void (*run)(void); } jobs[] = {
	{ "k-lock2", in_flock }, { "k-semaphore2", in_eventfd }, { "k-pipe2", in_pipe_full },
	{ "k-pipe3", in_fifo }, { "k-pipe4", in_msgrcv }, { "k-pipe5", in_mq },
	{ "k-poll3", in_inotify }, { "k-poll4", in_fanotify }, { "k-poll5", in_signalfd },
	{ "k-poll6", in_terminal }, { "k-poll7", in_aio }, { "k-poll8", in_uring },
	{ "k-network2", in_udp }, { "k-network3", in_netlink }, { "k-network4", in_tcp_full },
	{ "k-work3", in_unix_accept }, { "k-child2", in_vfork },
	{ "k-lock", in_filelock }, { "k-semaphore", in_sem }, { "k-pipe", in_pipe },
	{ "k-network", in_socket }, { "k-sleep", in_timer }, { "k-poll", in_poll },
	{ "k-poll2", in_epoll }, { "k-work", in_signal }, { "k-work2", in_accept },
	{ "k-child", in_child },
};

static void *begin(void *p)
{
	const struct job *j = p;

	prctl(PR_SET_NAME, j->name);
	j->run();
	return NULL;
}

int main(void)
{
	pthread_t t;

	for (unsigned i = 0; i < sizeof(jobs) / sizeof(*jobs); i++)
		pthread_create(&t, NULL, begin, (void *)&jobs[i]);
	for (;;)
		pause();
}
END
gcc -O2 -w kernel.c -o kernel -lpthread -lrt

# seen PID: "comm=kind ..." of its threads, by the kind of most of their time
seen() {
	run "$FATHOM" threads -p "$1" -d 300ms --idle -n 0 --json
	python3 - "$out_file" <<'END'
import json, sys
for r in sorted(json.load(open(sys.argv[1]))["threads"], key=lambda r: str(r["comm"])):
    state = max((k for k in r if k.endswith("_percent")), key=lambda k: r[k] or 0)
    print(r["comm"] + "=" + state[:-len("_percent")], end=" ")
END
}
# All of its threads sleep.
asleep() { [ "$(grep -hc '^State:.[SD]' /proc/"$1"/task/*/status | grep -c 1)" -ge "$2" ]; }

spawn ./kernel
pid=$spawned
# what cannot be called here has ended; the others all sleep
settled() { ! grep -hq '^State:.R' /proc/"$pid"/task/*/status && asleep "$pid" 20; }
wait_until settled
sleep 0.2
got=$(seen "$pid")
for want in k-lock=lock k-lock2=lock k-semaphore=semaphore k-semaphore2=semaphore k-pipe=pipe \
	k-pipe2=pipe k-pipe3=pipe k-pipe4=pipe k-pipe5=pipe k-network=network k-network2=network \
	k-network3=network k-network4=network k-sleep=sleep k-poll=poll k-poll2=poll k-poll3=poll \
	k-poll4=poll k-poll5=poll k-poll6=poll k-poll7=poll k-poll8=poll k-work=work k-work2=work \
	k-work3=work k-child=child k-child2=child; do
	if grep -q "^${want%=*}$" /proc/"$pid"/task/*/comm; then
		like "$want" "$got" "(^| )$want "
	else
		skip "no such call here: $want"
	fi
done
ipcrm -Q "$pid" -S "$pid"

# --- held by somebody else ----------------------------------------------------------------------------

is_stopped() { grep -q '^State:.[Tt]' "/proc/$1/status"; }
is_sleep() { [ "$(cat "/proc/$1/comm")" = sleep ]; }
spawn sleep 60
held=$spawned
wait_until is_sleep "$held"
kill -STOP "$held"
wait_until is_stopped "$held"
like 'a thread that a signal stopped' "$(seen "$held")" '^sleep=stopped '
kill -CONT "$held"

cat >tracer.c <<'END'
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	int pid = atoi(argv[argc - 1]);

	if (ptrace(PTRACE_SEIZE, pid, 0, 0) || ptrace(PTRACE_INTERRUPT, pid, 0, 0))
		return 1;
	waitpid(pid, NULL, __WALL);
	for (;;)
		pause();
}
END
gcc -O2 -w tracer.c -o tracer
spawn ./tracer "$held"
tracer=$spawned
if wait_until is_stopped "$held"; then
	like 'a thread that its debugger stopped' "$(seen "$held")" '^sleep=stopped '
else
	skip 'nothing can be traced here'
fi
kill "$tracer"

group=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)/fathom-test-$$
if mkdir "$group" 2>/dev/null && [ -w "$group/cgroup.freeze" ]; then
	spawn sleep 60
	frozen=$spawned
	wait_until is_sleep "$frozen"
	echo "$frozen" >"$group/cgroup.procs"
	echo 1 >"$group/cgroup.freeze"
	is_frozen() { grep -q 'frozen 1' "$group/cgroup.events"; }
	wait_until is_frozen
	like 'a thread that is frozen' "$(seen "$frozen")" '^sleep=frozen '
	echo 0 >"$group/cgroup.freeze"
	kill "$frozen"
	wait "$frozen" 2>/dev/null
else
	skip 'no freezer of control groups here'
fi
rmdir "$group" 2>/dev/null

# --- limits of control groups -------------------------------------------------------------------------

# limited CONTROLLER V2_FILE V2_VALUE V1_FILE V1_VALUE: a group with that limit; its path is $group
limited() {
	local v1=/sys/fs/cgroup/$1 v2
	v2=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)

	group=$v2/fathom-limit-$$
	mkdir "$group" 2>/dev/null && echo "$3" 2>/dev/null >"$group/$2" && return
	rmdir "$group" 2>/dev/null
	group=$v1/fathom-limit-$$
	mkdir "$group" 2>/dev/null && echo "$5" 2>/dev/null >"$group/$4" && return
	rmdir "$group" 2>/dev/null
	return 1
}

cat >spin.c <<'END'
int main(void) { for (volatile long i = 0;; i++) ; }
END
gcc -O1 -w spin.c -o spin
if limited cpu cpu.max '2000 100000' cpu.cfs_quota_us 2000; then
	spawn ./spin
	pid=$spawned
	echo "$pid" >"$group/cgroup.procs"
	was_throttled() { grep -q '^nr_throttled [1-9]' "$group/cpu.stat"; }
	wait_until was_throttled
	like 'a thread whose group has used up its CPU time is throttled' "$(seen "$pid")" \
		'^spin=throttled '
	run "$FATHOM" explain -p "$pid" -d 500ms
	expect_out_like 'throttled by its cgroup$'
	expect_out 'It ended when its cgroup had CPU time again.'
	"$FATHOM" record -q --chains -p "$pid" -o spin.data -d 500ms
	run "$FATHOM" explain -i spin.data
	expect_out_like 'throttled by its cgroup$'
	kill "$pid"
	wait "$pid" 2>/dev/null
	rmdir "$group"
else
	skip 'no limits of CPU time here' 4
fi

if [ "$(stat -f -c %T .)" = tmpfs ]; then
	skip "'$TMP' is in memory"
elif limited memory memory.high 16M memory.limit_in_bytes 16M; then
	spawn bash -c 'exec dd if=/dev/zero of=filled bs=1M count=2000 conv=notrunc 2>/dev/null'
	pid=$spawned
	echo "$pid" >"$group/cgroup.procs"
	"$FATHOM" threads -p "$pid" -d 1s --json >reclaim.json
	kill "$pid"
	wait "$pid" 2>/dev/null
	rm -f filled
	ok 'a thread whose group has too much memory reclaims' python3 - reclaim.json <<'END'
import json, sys
r = json.load(open(sys.argv[1]))["threads"][0]
assert r["reclaim_percent"] > 0, r
END
	rmdir "$group"
else
	skip 'no limits of memory here'
fi

# --- flushes ------------------------------------------------------------------------------------------

if [ "$(stat -f -c %T .)" != tmpfs ]; then
	spawn bash -c 'exec dd if=/dev/zero of=flushed bs=4k count=1000000 oflag=sync 2>/dev/null'
	run "$FATHOM" threads -p "$spawned" -d 1s --json
	kill "$spawned"
	ok 'writes through to the disk are flushes' python3 - "$out_file" <<'END'
import json, sys
r = json.load(open(sys.argv[1]))["threads"][0]
waits = {k: v or 0 for k, v in r.items() if k.endswith("_percent")
         and k not in ("user_percent", "kernel_percent", "running_percent", "runnable_percent", "cpu_percent")}
assert max(waits, key=waits.get) in ("flush_percent", "disk_percent"), waits
assert waits.get("flush_percent", 0) > 0, waits
END
else
	skip "'$TMP' is in memory"
fi
done_testing
