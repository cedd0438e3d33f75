/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/stat: where the time of each CPU goes, and what the kernel counts for the whole machine. */
#include "counters/reader.h"

/* Times of a CPU, in the order of the file. */
enum { CPU_USER, CPU_FIELDS = 10 };

#define TIME(name, field, meaning, high_)                                               \
	{                                                                               \
		name, CUMULATIVE, UNIT_TIME, field, meaning, .high = high_, SCALE_TICK, \
	}
#define SHARE(name, meaning, high_, formula_)                                                \
	{                                                                                    \
		name, RATIO, UNIT_PERCENT, NULL, meaning, .high = high_, .formula = formula_ \
	}

static const struct counter rows[] = {
	TIME("cpu.user", "user", "Time in user mode, guests included, niced tasks not.",
	     "Programs compute: profile them (fathom record)."),
	TIME("cpu.nice", "nice", "Time in user mode of tasks with lowered priority.", NULL),
	TIME("cpu.system", "system", "Time in the kernel for system calls and page faults.",
	     "Many or heavy system calls, page faults, or lock contention in the kernel."),
	TIME("cpu.idle", "idle", "Time without work.", NULL),
	TIME("cpu.iowait", "iowait",
	     "Idle time while a task that last ran here waited for a disk; may go back.",
	     "Tasks wait for disks, and no other work fills the gap (fathom iostat -x)."),
	TIME("cpu.irq", "irq", "Time in hardware interrupts, where the kernel accounts for it.",
	     "Interrupts of a device load this CPU (fathom irqtop)."),
	TIME("cpu.softirq", "softirq",
	     "Time in soft interrupts: network receive, timers, RCU, block completion.",
	     "Often network receive on one CPU (fathom irqtop)."),
	TIME("cpu.steal", "steal", "Time in which the hypervisor ran other guests.",
	     "The host is overcommitted, or this guest is over its quota."),
	TIME("cpu.guest", "guest", "Time of guests of this host; also counted in cpu.user.", NULL),
	TIME("cpu.guest_nice", "guest_nice",
	     "Time of niced guests of this host; also counted in cpu.nice.", NULL),

	{ "system.interrupts", CUMULATIVE, UNIT_COUNT, "intr", "Interrupts served, all kinds.",
	  .high = "A busy device or timer; fathom irqtop shows which." },
	{ "system.switches", CUMULATIVE, UNIT_COUNT, "ctxt", "Context switches of all CPUs.",
	  .high = "Many short waits: locks, pipes, small messages (fathom offcpu)." },
	{ "system.boot_time", GAUGE, UNIT_COUNT, "btime",
	  "Start of the machine, in seconds since 1970.", .high = NULL },
	{ "system.forks", CUMULATIVE, UNIT_COUNT, "processes", "Processes and threads created.",
	  .high = "Scripts or servers that start a process for each task (fathom trace)." },
	{ "system.running", GAUGE, UNIT_COUNT, "procs_running",
	  "Tasks that run or wait for a CPU at this moment.",
	  .high = "More than there are CPUs: tasks wait for one (fathom runqlat)." },
	{ "system.blocked", GAUGE, UNIT_COUNT, "procs_blocked",
	  "Tasks that wait for a disk at this moment.",
	  .high = "Disks are slow or overloaded (fathom iostat -x, fathom offcpu)." },
	{ "system.softirqs", CUMULATIVE, UNIT_COUNT, "softirq", "Soft interrupts served.",
	  .high = NULL },

	SHARE("cpu.total", "All time of a CPU that the kernel accounts for.", NULL,
	      "cpu.user + cpu.nice + cpu.system + cpu.idle + cpu.iowait + cpu.irq + cpu.softirq"
	      " + cpu.steal"),
	SHARE("cpu.user_percent", "Share of time in user mode, guests left out.", NULL,
	      "100 * max(cpu.user - cpu.guest, 0) / cpu.total"),
	SHARE("cpu.nice_percent", "Share of time in user mode with lowered priority.", NULL,
	      "100 * max(cpu.nice - cpu.guest_nice, 0) / cpu.total"),
	SHARE("cpu.system_percent", "Share of time in the kernel, interrupts left out.", NULL,
	      "100 * cpu.system / cpu.total"),
	SHARE("cpu.iowait_percent", "Share of time idle while a task waited for a disk.", NULL,
	      "100 * cpu.iowait / cpu.total"),
	SHARE("cpu.irq_percent", "Share of time in hardware interrupts.", NULL,
	      "100 * cpu.irq / cpu.total"),
	SHARE("cpu.softirq_percent", "Share of time in soft interrupts.", NULL,
	      "100 * cpu.softirq / cpu.total"),
	SHARE("cpu.steal_percent", "Share of time that the hypervisor gave to others.", NULL,
	      "100 * cpu.steal / cpu.total"),
	SHARE("cpu.guest_percent", "Share of time in guests of this host.", NULL,
	      "100 * cpu.guest / cpu.total"),
	SHARE("cpu.guest_nice_percent", "Share of time in niced guests of this host.", NULL,
	      "100 * cpu.guest_nice / cpu.total"),
	SHARE("cpu.idle_percent", "Share of time idle, with no task waiting for a disk.", NULL,
	      "100 * cpu.idle / cpu.total"),
	SHARE("cpu.busy_percent", "Share of time in which a CPU did anything.",
	      "Near 100: tasks wait for a CPU (fathom runqlat, fathom record).",
	      "100 * (cpu.total - cpu.idle - cpu.iowait) / cpu.total"),
};

/* "cpu " is the sum of all: its instance is called "all". */
static void parse_cpu(struct reader *r, struct span name, struct span line)
{
	struct span instance = { name.s + 3, name.n - 3 };

	put_columns(r, line, instance.n ? instance : SPAN("all"), CPU_USER, CPU_FIELDS);
}

static void parse(struct reader *r, const char *text, size_t len)
{
	const char *end = text + len;
	struct span line, key;
	u64 value;

	while (text_line(&text, end, &line)) {
		if (!line_word(&line, &key))
			continue;
		if (key.n >= 3 && memcmp(key.s, "cpu", 3) == 0)
			parse_cpu(r, key, line);
		else if (line_number(&line, &value))
			reader_put(r, key, SPAN_NONE, value);
	}
}

/* Rows of two prefixes: of a CPU, and of the system. */
const struct counter_source source_stat = {
	.prefix = "system",
	.path = "proc/stat",
	.rows = rows,
	.n_rows = ARRAY_SIZE(rows),
	.parse = parse,
};
