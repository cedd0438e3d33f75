#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# Tools about disks, against a known number of requests of a known size.
. "$(dirname "$0")/../lib/test.sh"
. "$(dirname "$0")/../lib/tools.sh"
need_root
need_cmd dd
need_file /sys/kernel/btf/vmlinux

# 200 writes of 64K past the page cache, one after the other, and 100 reads of 4K
dir=$(mktemp -d /var/tmp/fathom-test-XXXXXX)
trap 'rm -rf "$dir"; test_end' EXIT
cp "$(command -v dd)" "$TMP/truthdd"
export dir
if ! "$TMP/truthdd" if=/dev/zero of="$dir/x" bs=64k count=200 oflag=direct 2>"$TMP/err"; then
	plan_skip "no file system that can be written past the cache: $(head -1 "$TMP/err")"
fi
work='"$TMP/truthdd" if=/dev/zero of=$dir/x bs=64k count=200 oflag=direct conv=notrunc &&
	"$TMP/truthdd" if=$dir/x of=/dev/null bs=4k count=100 iflag=direct'

if traced biosnoop '' "$work"; then
	figure '200 writes' 'len([r for r in some(comm="truthdd", op="write", bytes=65536)]) == 200'
	figure '100 reads' 'len([r for r in some(comm="truthdd", op="read", bytes=4096)]) >= 100'
	figure 'with latencies' 'all(0 < r["lat"] < 10e9 for r in some(comm="truthdd"))'
fi
if traced biosnoop "--filter bytes==65536" "$work"; then
	figure 'only what the filter lets through' 'rows and all(r["bytes"] == 65536 for r in rows)'
fi
if traced biotop '600' "$work"; then
	figure 'requests and bytes by process' \
		'[r for r in some(comm="truthdd", op="write") if 200 <= r["io"] <= 205 and r["bytes"] >= 200 * 65536]'
fi
# requests that a tool says it missed count as seen: the others must be there
writes='sum(h["count"] for h in hists if h["label"] == "operation = write") + unseen >= 200'
if traced_until "$writes" biolatency -F "$work"; then
	figure 'each write is in the histogram' "$writes"
	figure 'percentiles are in order' 'all(h["p50"] <= h["p99"] for h in hists)'
fi
writes='total("count", operation="write") + unseen >= 200'
if traced_until "$writes" biolatpcts '600' "$work"; then
	figure 'percentiles by operation' "$writes"
	figure 'and they are times in order' \
		'[r for r in some(operation="write") if 0 < r["p1"] <= r["p50"] <= r["p84"] <= r["p99"] <= r["p100"]]'
fi
sizes='sum(b["count"] for h in hists if h["label"] == "comm = truthdd, operation = write" for b in h["buckets"] if b["min"] == 65536) + unseen >= 200'
if traced_until "$sizes" bitesize -F "$work"; then
	figure 'sizes by process' "$sizes"
fi
# another process's request in between makes two of them random
if traced_until 'total("seq") + unseen >= 200' biopattern '600' "$work"; then
	figure 'what follows the request before' 'total("seq") + unseen >= 200'
	figure 'and all of it is counted' 'total("bytes") + unseen * 65536 >= 200 * 65536 + 100 * 4096'
fi
access='total("bytes") + unseen * 65536 >= 200 * 65536 and total("writes") + unseen >= 200'
if traced_until "$access" bioaccess '' "$work"; then
	figure 'the access profile' "$access"
fi
stacks='sum(r["requests"] for r in rows if "write" in r["stack"]) + unseen >= 200'
if traced_until "$stacks" biostacks '' "$work"; then
	figure 'stacks of the requests' "$stacks"
fi
# eight threads at once, on a disk of its own: each request is counted, or what is not is said
truncate -s 32M "$TMP/disk"
if loop=$(losetup -f --show "$TMP/disk" 2>"$TMP/err"); then
	export loop
	trap 'losetup -d "$loop"; rm -rf "$dir"; test_end' EXIT
	cat >"$TMP/many.py" <<-'END'
		import mmap, os, sys, threading
		def write(k):
		    fd = os.open(sys.argv[1], os.O_RDWR | os.O_DIRECT)
		    m = mmap.mmap(-1, 4096)
		    for i in range(500):
		        os.pwritev(fd, [m], (k * 500 + i) * 4096)
		threads = [threading.Thread(target=write, args=(k,)) for k in range(8)]
		for t in threads:
		    t.start()
		for t in threads:
		    t.join()
	END
	if traced biolatency "-F --disk ${loop##*/}" "$PYTHON"' "$TMP/many.py" "$loop"'; then
		lost=$(sed -n 's/^fathom: \([0-9]*\) .*lost.*/\1/p' "$said" | head -1)
		figure '4,000 writes at once' \
			"sum(h['count'] for h in hists if h['label'] == 'operation = write') + ${lost:-0} == 4000"
	fi
else
	skip "no disk of its own: $(head -1 "$TMP/err")"
fi
if traced mdflush '' "$work"; then
	figure 'nothing where there is no md device' 'not rows'
fi
done_testing
