/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/cpuwatch.h"

#include <linux/filter.h>
#include <linux/netlink.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/parse.h"

#define PREFIX      "online@/devices/system/cpu/cpu"
#define SLEPT_LEAST (10 * NSEC_PER_MSEC) /* the two clocks are read one after the other */

enum { KERNEL_GROUP = 1, MESSAGE_MOST = 4096, CPU_MOST = 1 << 16, ONLINE_WORD = 0x6f6e6c69 };

/* A machine that starts containers announces hundreds of devices a second: "onli" alone wakes us.
 */
static void keep_online_only(int fd)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ONLINE_WORD, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};
	const struct sock_fprog program = { .len = 4, .filter = code };

	(void)setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program));
}

static u64 time_asleep(void)
{
	u64 awake = clock_ns(CLOCK_MONOTONIC), all = clock_ns(CLOCK_BOOTTIME);

	return all > awake ? all - awake : 0;
}

void cpuwatch_open(struct cpuwatch *w)
{
	struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = KERNEL_GROUP };

	w->asleep = time_asleep();
	w->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_KOBJECT_UEVENT);
	if (w->fd < 0)
		return;
	keep_online_only(w->fd);
	if (bind(w->fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		cpuwatch_close(w);
}

void cpuwatch_close(struct cpuwatch *w)
{
	if (w->fd >= 0)
		close(w->fd);
	w->fd = -1;
}

int cpuwatch_parse(const char *message, size_t n)
{
	size_t prefix = strlen(PREFIX), len = strnlen(message, n);
	u64 cpu;

	if (len == n || len <= prefix || strncmp(message, PREFIX, prefix) != 0 ||
	    parse_u64(message + prefix, &cpu, NULL) < 0 || cpu >= CPU_MOST)
		return CPUWATCH_NONE;
	return (int)cpu;
}

static bool has_slept(struct cpuwatch *w)
{
	u64 asleep = time_asleep(), before = w->asleep;

	w->asleep = asleep;
	return asleep > before + SLEPT_LEAST;
}

int cpuwatch_next(struct cpuwatch *w)
{
	char message[MESSAGE_MOST];
	struct sockaddr_nl from;
	socklen_t size = sizeof(from);
	int cpu = CPUWATCH_NONE;

	if (has_slept(w))
		return CPUWATCH_ALL;
	while (w->fd >= 0 && cpu == CPUWATCH_NONE) {
		ssize_t n = recvfrom(w->fd, message, sizeof(message), 0, (struct sockaddr *)&from,
				     &size);

		if (n < 0 && errno == ENOBUFS)
			return CPUWATCH_ALL;
		if (n < 0)
			break;
		/* port 0 is the kernel */
		if (size >= sizeof(from) && from.nl_pid == 0)
			cpu = cpuwatch_parse(message, (size_t)n);
	}
	return cpu;
}
