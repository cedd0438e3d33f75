/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/peers.h"

#include "base/base.h"

/* What other tools show and fathom does not: where to look instead. */
static const struct {
	const char *names, *hint;
} elsewhere[] = {
	{ " smartctl nvme hdparm ", "the disk itself knows its health: smartmontools and nvme-cli "
				    "ask it; 'fathom iostat' and 'fathom biolatency' show how it "
				    "serves" },
	{ " toplev ocperf pmu-tools ", "'fathom stat -M' has ratios of hardware counters, "
				       "'fathom list' the CPU's events" },
	{ " tcpdump wireshark tshark ", "fathom looks at connections, not at packets: 'fathom "
					"tcplife', 'tcptop', 'tcpretrans'" },
	{ " netdata grafana vector cockpit ", "'fathom serve' shows the machine in a browser, "
					      "'/metrics' of it feeds others" },
	{ " bench ", "'fathom workload' runs small programs whose behaviour is known" },
	{ " config ", "options say everything; ~/.config/fathom has what 'fathom top' was set to "
		      "and own rules for kinds of waits" },
	{ " daemon ", "'fathom serve' records on demand and keeps the past, 'fathom record "
		      "--overwrite' the last seconds" },
	{ " kvm ", "'fathom kvmexit' counts exits of virtual machines, 'fathom list kvm:*' has the "
		   "tracepoints" },
	{ " test ", "'fathom doctor' tries what works on this machine" },
	{ " sadf ", "'fathom sar' has --json and --csv, and opens recordings of counters with -i" },
	{ " nfsiostat cifsiostat tapestat ", "'fathom iostat' shows disks, 'fathom fsdist' and "
					     "'fathom fileslower' any file system" },
	{ " numasched ", "'fathom migrations' shows who moves between CPUs, 'fathom numamove' "
			 "pages between nodes" },
	{ " wqlat ", "'fathom kwork --latency' has the waits of work queues" },
	{ " rdmaucma ", "'fathom trace' with probes of the module rdma_ucm shows its calls" },
	{ " sysdig ", "'fathom strace' shows system calls, 'fathom trace' filters any event" },
	{ " swapout ",
	  "'fathom vmstat' has what is swapped out, 'fathom swapin' who waits for it" },
	{ " vfsreadlat ", "'fathom fsdist' has the times of reads as histograms, 'fathom "
			  "funclatency' those of any function" },
	{ " ltrace ", "'fathom trace' and 'fathom funccount' probe functions of libraries, 'fathom "
		      "strace' system calls" },
	{ " gprof callgrind ", "'fathom record', then 'fathom report' or 'fathom callgraph'" },
	{ " hotspot kernelshark ", "'fathom flame -o x.html' and 'fathom sched map -o x.html' open "
				   "in a browser" },
	{ " ss ", "'fathom netstat' has what protocols count, 'fathom tcptop', 'tcpstates' and "
		  "'solisten' their connections" },
	{ " nethogs iftop ", "'fathom nettop' shows who sends and receives, 'fathom ifstat' the "
			     "interfaces" },
	{ " bpftool ", "'fathom bpflist' shows who holds BPF programs" },
	{ " pmap smem ", "'fathom top' has the memory of processes by kind, with column help" },
	{ " powertop ", "'fathom turbo' shows how fast CPUs run, 'fathom timechart' their idle "
			"states" },
	{ " valgrind heaptrack ", "'fathom memleak' shows what is not given back, 'fathom "
				  "annotate' where instructions take time" },
};

const char *peer_elsewhere(const char *name)
{
	_cleanup_free_ char *word = xasprintf(" %s ", name);

	if (!*name || strchr(name, ' '))
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(elsewhere); i++)
		if (strstr(elsewhere[i].names, word))
			return elsewhere[i].hint;
	return NULL;
}
