/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/peers.h"

#include "base/base.h"

static const struct {
	const char *whose;
	const char *names; /* each between blanks */
} peers[] = {
	{ "perf",
	  " annotate archive bench buildid-cache buildid-list c2c config daemon data ftrace "
	  "inject iostat kallsyms kmem kvm kwork lock mem probe test timechart top trace " },
	{ "sysstat", " cifsiostat iostat mpstat nfsiostat pidstat sadf sar tapestat vmstat " },
	{ "bcc",
	  " argdist bashreadline bindsnoop biolatency biolatpcts biopattern biosnoop biotop "
	  "bitesize bpflist btrfsdist btrfsslower cachestat cachetop capable cobjnew "
	  "compactsnoop cpudist cpuunclaimed criticalstat cthreads dbslower dbstat dcsnoop "
	  "dcstat deadlock dirtop drsnoop execsnoop exitsnoop ext4dist ext4slower f2fsslower "
	  "filegone filelife fileslower filetop funccount funcinterval funclatency funcslower "
	  "futexctn gethostlatency hardirqs inject javacalls javaflow javagc javaobjnew "
	  "javastat javathreads killsnoop klockstat ksnoop kvmexit llcstat mdflush memleak "
	  "mountsnoop mysqld_qslower naptime netqtop nfsdist nfsslower nodegc nodestat "
	  "numasched numamove offcputime offwaketime oomkill opensnoop perlcalls perlflow "
	  "perlstat phpcalls phpflow phpstat pidpersec ppchcalls profile pythoncalls "
	  "pythonflow pythongc pythonstat rdmaucma readahead reset-trace rubycalls rubyflow "
	  "rubygc rubyobjnew rubystat runqlat runqlen runqslower shmsnoop slabratetop sigsnoop "
	  "sofdsnoop softirqs solisten sslsniff stackcount statsnoop swapin swapout syncsnoop "
	  "syscount sysdig tcpaccept tcpcong tcpconnect tcpconnlat tcpdrop tcplife tcppktlat "
	  "tcpretrans tcprtt tcpstates tcpsubnet tcpsynbl tcptop tcptracer threadsnoop "
	  "tplist trace ttysnoop undump vfscount vfsreadlat vfsstat virtiostat wakeuptime "
	  "wqlat xfsdist xfsslower zfsdist zfsslower " },
};

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

const char *peer_of(const char *name)
{
	size_t n = strlen(name);

	/* a word between blanks is looked for: it has none itself */
	if (!n || strchr(name, ' '))
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(peers); i++) {
		const char *list = peers[i].names;

		for (const char *at = strstr(list, name); at; at = strstr(at + 1, name))
			if (at[-1] == ' ' && at[n] == ' ')
				return peers[i].whose;
	}
	return NULL;
}
