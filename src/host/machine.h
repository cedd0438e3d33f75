/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What this machine is: the facts that a recording keeps and a person wants to see first. */
#ifndef HOST_MACHINE_H
#define HOST_MACHINE_H

#include "base/buf.h"
#include "base/err.h"
#include "base/parse.h"

enum { MACHINE_MAX_CPUS = 1 << 16 };

struct host_machine {
	char *hostname;
	char *release;      /* 6.12.9-amd64 */
	char *version;      /* #1 SMP ... */
	char *arch;         /* x86_64 */
	char *distribution; /* "Debian GNU/Linux 12 (bookworm)", or "" */
	char *cpu_model;    /* "" when unknown */
	char *vendor;       /* GenuineIntel, AuthenticAMD, or "" */
	range_list online;  /* CPUs */
	u64 memory;         /* bytes */
};

void host_machine_init(struct host_machine *m);
/* Fills what can be found; only a machine without online CPUs is an error. */
int host_machine_read(struct host_machine *m, struct err *e);
void host_machine_release(struct host_machine *m);
#define _cleanup_host_machine_ _cleanup_(host_machine_release)

/* Value of KEY=value or KEY="value" in the text of an os-release file; -ENOENT. */
int machine_os_release(const char *text, size_t len, const char *key, struct buf *ret);
/* Value of the first "key : value" line in the text of /proc/cpuinfo or /proc/meminfo; -ENOENT. */
int machine_colon_line(const char *text, size_t len, const char *key, struct buf *ret);
/* CPUs online, as in /sys/devices/system/cpu/online. */
int machine_online(range_list *ret, struct err *e);

enum lockdown { LOCKDOWN_UNKNOWN, LOCKDOWN_NONE, LOCKDOWN_INTEGRITY, LOCKDOWN_CONFIDENTIALITY };
enum lockdown machine_lockdown(void);
/* A number in /proc/sys: machine_sysctl("kernel/perf_event_paranoid", &v). */
int machine_sysctl(const char *name, s64 *ret);
/* How many entries a table of all threads should have: for those of now, and more to come. */
u32 machine_thread_room(void);

#endif
