#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# A transfer over loopback and work on a disk, broken into components: nearly all of the kernel's
# time has one, and the main ones are there.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
need_root
need_cmd python3 dd
cd "$TMP" || exit 1
RUN_TIMEOUT=60

cat >transfer.py <<'END'
import socket
import threading
import time

server = socket.socket()
server.bind(("127.0.0.1", 0))
server.listen(1)

def receive():
    peer, _ = server.accept()
    while peer.recv(1 << 16):
        pass

thread = threading.Thread(target=receive)
thread.start()
client = socket.create_connection(server.getsockname())
end = time.time() + 2
while time.time() < end:
    client.sendall(b"x" * 65536)
client.close()
thread.join()
END
cat >disk.sh <<'END'
for i in 1 2 3; do
	dd if=/dev/zero of=file bs=64k count=800 conv=fsync 2>/dev/null
	dd if=/dev/zero of=file2 bs=4k count=200 oflag=dsync 2>/dev/null
done
END

# check JSON: the shares sum to 100, and below 5 % of the kernel's time has no component
cat >check.py <<'END'
import json
import sys

data = json.load(open(sys.argv[1]))
shares = {row["component"]: row["share"] for row in data["components"]}
total = sum(shares.values())
print("# " + ", ".join(f"{k} {v:.1f}%" for k, v in shares.items()))
if abs(total - 100) > 0.01:
    sys.exit(f"shares sum to {total}")
if data["facts"]["kernel_covered"] < 95:
    sys.exit(f"only {data['facts']['kernel_covered']} % have a component")
for name in sys.argv[2:]:
    if shares[name] <= 0:
        sys.exit(f"nothing in '{name}'")
END

record() {
	run "$FATHOM" record -q -F 1999 -o "$1" -- "${@:2}"
	[ "$status" -eq 0 ] && return
	diag "$err"
	return 1
}

if record net.data python3 transfer.py; then
	run "$FATHOM" components net.data --json
	cp "$out_file" net.json
	ok 'a transfer over loopback' python3 check.py net.json 'data copy' tcp/ip netdevice skb
	run "$FATHOM" components net.data --kernel --json
	cp "$out_file" net.json
	ok 'likewise as shares of the kernel' python3 check.py net.json 'data copy' tcp/ip
else
	skip 'cannot record here' 2
fi
if record disk.data sh disk.sh; then
	run "$FATHOM" components disk.data --taxonomy storage --json
	cp "$out_file" disk.json
	ok 'work on a disk' python3 check.py disk.json 'file system'
else
	skip 'cannot record here'
fi
if [ -s net.data ] && [ -s disk.data ]; then
	run "$FATHOM" components net.data disk.data
	expect_status 0
	expect_out 'disk.data'
	run "$FATHOM" diff net.data disk.data --lines 5
	expect_status 0
	expect_out_like 'new|vanished'
	run "$FATHOM" heatmap net.data
	expect_status 0
fi

# Requests of a disk: those that were issued and completed have a latency. 200 direct writes go to
# a file; where its file system has no disk that shows requests (tmpfs, overlays of it, btrfs on
# some devices), to a loop device.
cat >count.py <<'END'
import json
import sys

data = json.load(open("io.json"))
count = sum(cell["count"] for cell in data["cells"])
print("#", count, "requests with a latency")
sys.exit(count < 20 or not data["percentiles"])
END

# record_writes FILE: how many requests were issued and completed is in $issued and $completed
record_writes() {
	rm -f io.data
	run "$FATHOM" record -q -a -e block:block_rq_issue -e block:block_rq_complete -o io.data -- \
		dd if=/dev/zero of="$1" bs=4k count=200 oflag=direct,dsync conv=notrunc
	[ "$status" -eq 0 ] || return 1
	"$FATHOM" script -i io.data >io.txt 2>/dev/null
	issued=$(grep -c block_rq_issue: io.txt) completed=$(grep -c block_rq_complete: io.txt)
	[ "$issued" -ge 150 ] && [ "$completed" -ge 150 ]
}

loop=
# shellcheck disable=SC2317
detach() {
	[ -z "$loop" ] || losetup -d "$loop"
	loop=
}
trap 'detach; test_end' EXIT
issued=0 completed=0
record_writes direct || {
	why="'$TMP' shows $issued requests issued, $completed completed; $(head -n 1 "$err_file")"
	truncate -s 1M image
	if loop=$(losetup -f --show image 2>losetup.err); then
		record_writes "$loop" || why+="; $loop $issued and $completed"
	else
		why+="; $(head -n 1 losetup.err)"
	fi
}
if [ "$issued" -ge 150 ] && [ "$completed" -ge 150 ]; then
	run "$FATHOM" heatmap --pair block io.data --json
	cp "$out_file" io.json
	ok 'latencies of block requests' python3 count.py
	# a flush is issued at sector 0 and completed at none
	run "$FATHOM" record -e block:block_rq_issue -e block:block_rq_complete -a --call-graph none \
		--force -o flush.data -- dd if=/dev/zero of=direct bs=64k count=20 oflag=direct,sync
	"$FATHOM" script -i flush.data -F event,trace >flush.txt
	run "$FATHOM" heatmap --pair block flush.data --json
	cp "$out_file" flush.json
	if grep -q 'block_rq_complete: .* FF .*18446744073709551615 + 0' flush.txt; then
		ok 'flushes have their latencies' python3 -c 'import json, re
text = open("flush.txt").read()
ends = len(re.findall(r"block_rq_complete: .* [1-9]\d* \[", text)) or \
       len(re.findall(r"block_rq_complete: .* \+ [1-9]", text))
flushes = len(re.findall(r"block_rq_complete: .* FF ", text))
total = json.load(open("flush.json"))["facts"]["total"]
assert flushes and total > ends, (total, ends, flushes)'
	else
		skip "the disk of '$TMP' is not flushed"
	fi
	# requests whose end is missing are counted, not left out silently; completions that find an
	# idle CPU are not delivered everywhere
	spawn nice -n 19 "$WORKLOADS/burn" --seconds 0 --threads "$(nproc)"
	run "$FATHOM" record -e block:block_rq_issue -e block:block_rq_complete --filter 'sector & 128' \
		-a --call-graph none --force -o half.data -- \
		dd if=/dev/zero of=direct bs=64k count=100 oflag=direct
	kill "$spawned"
	run "$FATHOM" heatmap --pair block half.data --json
	cp "$out_file" half.json
	ok 'requests without an end are counted' python3 -c 'import json
d = json.load(open("half.json"))
n = d["losses"]["unmatched"]
assert 20 <= n <= 300, n'
	expect_status 0
else
	skip "no disk here shows its requests: $why" 2
fi
detach
done_testing
