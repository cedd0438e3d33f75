#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 300
# Tools about what seldom happens, where it is made to happen: memory that runs out, pages that go to
# swap, packets that are lost, exits of a virtual machine.
. "$(dirname "$0")/../lib/test.sh"
. "$(dirname "$0")/../lib/tools.sh"
need_root
need_file /sys/kernel/btf/vmlinux

# --- a control group with 32 MB of memory --------------------------------------------------------
group=
limited_begin() {
	if [ -w /sys/fs/cgroup/memory/cgroup.procs ]; then
		group=/sys/fs/cgroup/memory/fathom-truth-$$
		mkdir "$group" && echo 32M >"$group/memory.limit_in_bytes"
	elif grep -qw memory /sys/fs/cgroup/cgroup.controllers 2>/dev/null; then
		echo +memory >/sys/fs/cgroup/cgroup.subtree_control 2>/dev/null
		group=/sys/fs/cgroup/fathom-truth-$$
		mkdir "$group" && echo 32M >"$group/memory.max"
	fi
} 2>"$TMP/err"
provoked_end() {
	[ -z "$swap" ] || { swapoff "$swap" && rm -f "$swap"; }
	[ -z "$group" ] || rmdir "$group"
	ip netns del "fathom-truth-$$" 2>/dev/null
}
swap=
trap 'provoked_end; test_end' EXIT
cat >"$TMP/limited" <<-'EOF'
	echo $$ >"$group/cgroup.procs" && exec "$@"
EOF
cat >"$TMP/eat.c" <<-'EOF'
	#include <stdlib.h>
	/* eat MB ROUNDS: touches that much memory, page by page */
	int main(int argc, char **argv)
	{
		size_t n = (size_t)atoi(argv[1]) << 20;
		volatile char *p = malloc(n);

		for (int k = argc > 2 ? atoi(argv[2]) : 1; k > 0; k--)
			for (size_t i = 0; i < n; i += 4096)
				p[i] = (char)(i >> 12);
		return 0;
	}
EOF
if ! limited_begin || [ -z "$group" ] || ! command -v gcc >/dev/null || ! gcc -O1 -w -o "$TMP/truth-eat" "$TMP/eat.c"; then
	skip "no control group can be limited here, or there is no gcc: $(head -1 "$TMP/err")" 4
else
	export group
	if traced oomkill '' 'sh "$TMP/limited" "$TMP/truth-eat" 200; true'; then
		figure 'the process that was killed' \
			'len(some(tcomm="truth-eat")) == 1 and (24 << 20) < some(tcomm="truth-eat")[0]["rss"] < (64 << 20)'
	fi
	if fallocate -l 96M /var/tmp/fathom-swap-$$ && chmod 600 /var/tmp/fathom-swap-$$ &&
		mkswap /var/tmp/fathom-swap-$$ >/dev/null 2>"$TMP/err" && swapon /var/tmp/fathom-swap-$$ 2>"$TMP/err"; then
		swap=/var/tmp/fathom-swap-$$
		if traced drsnoop '--comm truth-eat' 'sh "$TMP/limited" "$TMP/truth-eat" 48'; then
			figure 'it had to free pages itself' \
				'len(some(short="cgroup")) > 10 and 2000 < total("pages") < 30000 and all(r["lat"] > 0 for r in rows)'
		fi
		before=$(awk '/^pswpin/ { print $2 }' /proc/vmstat)
		if traced swapin '60' 'sh "$TMP/limited" "$TMP/truth-eat" 48 3'; then
			after=$(awk '/^pswpin/ { print $2 }' /proc/vmstat)
			grep -q major "$said" && diag 'counted by major faults'
			figure "pages came back from swap: $((after - before))" \
				"1000 < total('count', comm='truth-eat') <= $((after - before)) and total('count') >= 0.9 * $((after - before))"
		fi
	else
		rm -f /var/tmp/fathom-swap-$$
		skip "no file can be swapped to here: $(head -1 "$TMP/err")" 2
	fi
fi
if [ -w /proc/sys/vm/compact_memory ]; then
	if traced compactsnoop '--comm bash' 'echo 1 >/proc/sys/vm/compact_memory'; then
		figure 'a compaction of each zone' 'some(zone="DMA32") and all(r["lat"] > 0 and r["order"] == -1 for r in rows)'
	fi
else
	skip 'memory cannot be compacted here'
fi

# --- retransmits by their cause ------------------------------------------------------------------
# A program on the loopback of a name space drops segments that say so: "DROP", how often, and a name
# for the count; and the first two SYN to port 9.
cat >"$TMP/drop.c" <<-'EOF'
	typedef unsigned char u8;
	typedef unsigned int u32;
	#define SEC(n) __attribute__((section(n), used))
	struct xdp_md { u32 data, data_end; };
	struct { int (*type)[2]; u32 *key; u32 *value; int (*max_entries)[256]; } dropped SEC(".maps");
	static void *(*const lookup)(void *, const void *) = (void *)1;
	SEC("xdp") int drop(struct xdp_md *c)
	{
		u8 *p = (u8 *)(long)c->data, *end = (u8 *)(long)c->data_end, *t = p + 34;
		u32 key = 10, most = 2, *n;

		if (t + 20 > end || p[14] != 0x45 || p[23] != 6)
			return 2;
		if (t[13] != 2 || t[2] || t[3] != 9) {
			t += ((t[12] >> 4) * 4) & 63;
			if (t + 6 > end || t[0] != 'D' || t[1] != 'R' || t[2] != 'O' || t[3] != 'P')
				return 2;
			key = t[5];
			most = t[4] - '0';
		}
		n = lookup(&dropped, &key);
		if (!n || *n >= most)
			return 2;
		(*n)++;
		return 1;
	}
	char permit[] SEC("license") = "GPL";
EOF
cat >"$TMP/causes.py" <<-'EOF'
	import socket, threading, time
	def connect():
	    s = socket.socket()
	    s.bind(("127.0.0.1", 0))
	    s.listen(1)
	    c = socket.create_connection(s.getsockname())
	    a, _ = s.accept()
	    c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
	    def drain():
	        while a.recv(1 << 16):
	            pass
	    t = threading.Thread(target=drain)
	    t.start()
	    for i in range(50):
	        c.send(b"warm" * 20)
	        time.sleep(0.0005)
	    time.sleep(0.05)
	    return c, t
	def lose(name, text, after, wait):
	    c, t = connect()
	    print(name, c.getsockname()[1], flush=True)
	    c.send(text + b"x" * 500)
	    for i in range(after):
	        c.send(b"after" * 200)
	    time.sleep(wait)
	    c.shutdown(socket.SHUT_WR)
	    t.join()
	    c.close()
	lose("fast", b"DROP1F", 12, 0.2)
	lose("TLP", b"DROP1T", 0, 0.5)
	lose("RTO", b"DROP3R", 0, 1.5)
	def retransmitted():
	    keys, values = [l.split() for l in open("/proc/net/netstat") if l.startswith("TcpExt:")]
	    return int(values[keys.index("TCPSynRetrans")])
	before = retransmitted()
	s = socket.socket()
	s.settimeout(5)
	try:
	    s.connect(("127.0.0.1", 9))
	except OSError:
	    pass
	s.close()
	print("SYN", retransmitted() - before, flush=True)
EOF
ns=fathom-truth-$$
export ns
if command -v clang >/dev/null && clang -O2 -target bpf -g -c "$TMP/drop.c" -o "$TMP/drop.o" 2>"$TMP/err" &&
	ip netns add "$ns" 2>"$TMP/err" && ip -n "$ns" link set lo up &&
	ip -n "$ns" link set dev lo xdpgeneric obj "$TMP/drop.o" sec xdp 2>"$TMP/err"; then
	# a slow machine may be late for what should have repaired a hole: then the timer does it
	causes() { echo "[r['cause'] for r in some(lport=workload['$1'])] == [$2]"; }
	all="$(causes fast "'fast'") and $(causes TLP "'TLP'") and $(causes RTO "'TLP', 'RTO', 'RTO'")"
	if traced_until "$all" tcpretrans '' 'ip netns exec "$ns" '"$PYTHON"' "$TMP/causes.py"'; then
		figure 'a hole between segments: fast' "$(causes fast "'fast'")"
		figure 'the last segment: a tail loss probe' "$(causes TLP "'TLP'")"
		figure 'the probe is lost, too: the timer' "$(causes RTO "'TLP', 'RTO', 'RTO'")"
		figure 'nobody answers: as many SYN as the kernel counts' \
			"workload['SYN'] > 0 and [(r['cause'], r['state']) for r in some(rport=9)] == [('SYN', 'SYN_SENT')] * workload['SYN']"
	fi
else
	skip "no packets can be dropped here: $(head -1 "$TMP/err")" 4
fi

# --- a virtual machine that looks for a disk ------------------------------------------------------
if [ -w /dev/kvm ] && command -v qemu-system-x86_64 >/dev/null; then
	if traced kvmexit '--userspace' 'timeout 3 qemu-system-x86_64 -accel kvm -display none -m 32 -monitor none -serial none; true'; then
		grep -qiE 'kvm.*(fail|not|No)' "$TMP/workload.out" && rows=/dev/null
		[ "$rows" != /dev/null ] || skip "qemu: $(grep -iE kvm "$TMP/workload.out" | head -1)"
		[ "$rows" = /dev/null ] || figure 'exits that qemu answers' \
			'[r for r in rows if r["comm"].startswith("qemu") and r["reason"] == "io" and r["count"] > 10]'
	fi
else
	skip 'no virtual machine can run here'
fi
done_testing
