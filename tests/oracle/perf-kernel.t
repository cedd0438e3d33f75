#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# kwork, kmem and lock against perf's recordings of the same work.
. "$(dirname "$0")/../lib/test.sh"
. "$(dirname "$0")/../lib/tools.sh"
need_root
need_cmd perf gcc
need_file /sys/kernel/btf/vmlinux

# 20,000 packets to itself, and 20,000 pipes' worth of allocations by one call site
cat >"$TMP/work.py" <<-'EOF'
	import os, socket
	s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
	s.bind(("127.0.0.1", 0))
	for i in range(20000):
	    s.sendto(b"z", s.getsockname())
	    s.recv(10)
	for i in range(5000):
	    os.close(os.eventfd(0))
EOF
cp "$(readlink -f "$PYTHON")" "$TMP/truthpy"
work='"$TMP/truthpy" "$TMP/work.py"'

# --- kwork: soft interrupts of the same seconds, by us and by perf ------------------------------
if traced kwork '' "perf kwork record -o \"$TMP/kwork.data\" -- \"$TMP/truthpy\" \"$TMP/work.py\""; then
	figure '20,000 packets are as many soft interrupts' '20000 <= total("count", name="net_rx") < 24000'
	perf kwork report -i "$TMP/kwork.data" >"$TMP/kwork.txt" 2>"$TMP/err"
	theirs=$(awk -F'|' '/NET_RX/ { n += $4; split($3, t, " "); ms += t[1] } END { print n + 0, ms + 0 }' "$TMP/kwork.txt")
	diag "perf kwork: $theirs"
	if [ "${theirs%% *}" -gt 0 ]; then
		figure 'as many as perf kwork has' "abs(total('count', name='net_rx') - ${theirs%% *}) <= 0.05 * ${theirs%% *}"
	else
		skip "perf kwork has none: $(head -1 "$TMP/err")"
	fi
fi
if traced kwork '--latency' "$work"; then
	figure 'waits before soft interrupts and work' \
		'some(**{"class": "softirq"}) and all(0 < r["time"] <= r["worst"] * r["count"] for r in rows)'
fi

# --- kmem: one call site, 5,000 times ------------------------------------------------------------
if traced kmem '--comm truthpy' "$work"; then
	figure '5,000 objects of one call site' \
		'[r for r in rows if "eventfd" in r["callsite"] and r["hits"] == 5000 and 0 < r["asked"] <= r["given"]]'
fi
if traced kmem '--comm truthpy' "perf record -q -a -B -N -m 2048 -e kmem:kmalloc -o \"$TMP/kmem.data\" -- \"$TMP/truthpy\" \"$TMP/work.py\""; then
	# perf has the address of the call site only: it is the one with the most objects
	perf script -i "$TMP/kmem.data" 2>/dev/null | awk '$1 == "truthpy" {
		match($0, /call_site=[^ ]+/); site = substr($0, RSTART, RLENGTH)
		n[site]++
		match($0, /bytes_req=[0-9]+/); req[site] += substr($0, RSTART + 10, RLENGTH - 10)
		match($0, /bytes_alloc=[0-9]+/); alloc[site] += substr($0, RSTART + 12, RLENGTH - 12)
	} END { for (s in n) if (n[s] == 5000) print n[s], req[s], alloc[s] }' | head -1 >"$TMP/kmem.sum"
	read -r n req alloc <"$TMP/kmem.sum"
	n=${n:-0}
	diag "perf: $n times, $req bytes asked, $alloc given"
	if [ "$n" -gt 0 ]; then
		figure 'the bytes that perf has' \
			"[r for r in rows if 'eventfd' in r['callsite'] and r['hits'] == $n and r['asked'] == $req and r['given'] == $alloc]"
	else
		skip 'perf recorded no allocation of it'
	fi
fi

# --- lock: four threads change the mappings of one process --------------------------------------
cat >"$TMP/mmaps.c" <<-'EOF'
	#include <pthread.h>
	#include <sys/mman.h>
	#include <time.h>
	static void *work(void *x)
	{
		struct timespec t;
		time_t end;

		clock_gettime(CLOCK_MONOTONIC, &t);
		for (end = t.tv_sec + 2; t.tv_sec < end; clock_gettime(CLOCK_MONOTONIC, &t)) {
			char *p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

			munmap(p, 1 << 20);
		}
		return x;
	}
	int main(void)
	{
		pthread_t t[4];

		for (int i = 0; i < 4; i++)
			pthread_create(&t[i], NULL, work, NULL);
		for (int i = 0; i < 4; i++)
			pthread_join(t[i], NULL);
		return 0;
	}
EOF
gcc -O1 -o "$TMP/truthmmaps" "$TMP/mmaps.c" -lpthread
if traced lock '--lock-addr --comm truthmmaps' "perf record -q -a -B -N -e lock:contention_begin -c 1 -m 4096 -o \"$TMP/lock.data\" -- \"$TMP/truthmmaps\""; then
	figure 'one lock has most of the waiting' \
		'(lambda s: s[0]["type"].startswith("rwsem") and s[0]["contended"] > 20)(sorted(rows, key=lambda r: -r["total"]))'
	top=$("$PYTHON" -c 'import json, sys; print(max((r for l in open(sys.argv[1]) for r in json.loads(l)["rows"]), key=lambda r: r["total"] or 0)["lock"])' "$rows")
	theirs=$(perf script -i "$TMP/lock.data" 2>/dev/null | grep -c "^ *truthmmaps.*${top} .*\(READ\|WRITE\)")
	diag "perf: $theirs waits for $top"
	if [ "$theirs" -gt 0 ]; then
		figure 'as often as perf has it' "abs(total('contended', lock='$top') - $theirs) <= 3 + 0.02 * $theirs"
	else
		skip 'perf recorded no contention of it'
	fi
fi
if traced lock '--threads --comm truthmmaps' '"$TMP/truthmmaps"'; then
	figure 'each thread waits' 'len(set(r["tid"] for r in rows if r["type"].startswith("rwsem"))) >= 4'
fi
if traced lock '--comm truthmmaps' '"$TMP/truthmmaps"'; then
	figure 'the code that waits' '[r for r in rows if r["type"] == "rwsem:W" and "mmap" in r["stack"] and r["worst"] <= r["total"]]'
fi
done_testing
