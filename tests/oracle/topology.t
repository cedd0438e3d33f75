#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# fathom topology against hwloc: this machine and made-up ones, object by object; and both read what
# the other writes.
. "$(dirname "$0")/../lib/test.sh"
need_cmd lstopo-no-graphics python3
cd "$TMP" || exit 1
COMPARE=$TOP/tests/oracle/topology_compare.py

same() { # NAME HWLOC.xml OURS.xml
	run python3 "$COMPARE" "$2" "$3"
	is "$1: the same objects" "$status:$(head -4 <<<"$out" | grep -v objects)" '0:'
}

lstopo-no-graphics --filter osdev:all --of xml here.hwloc.xml
run "$FATHOM" topology -o here.xml
expect_status 0
same 'this machine' here.hwloc.xml here.xml

for kind in two-socket eight-node hybrid many; do
	python3 "$TOP/tests/lib/make_topology.py" $kind $kind
	lstopo-no-graphics --if fsroot -i $kind --filter osdev:all --of xml $kind.hwloc.xml
	run "$FATHOM" topology --from $kind -o $kind.xml
	expect_status 0
	same "$kind" $kind.hwloc.xml $kind.xml
	# hwloc reads ours
	run lstopo-no-graphics --if xml -i $kind.xml --filter osdev:all --of xml $kind.again.xml
	expect_status 0
	is "$kind: hwloc says nothing against our XML" "$err" ''
	same "$kind, read by hwloc" $kind.hwloc.xml $kind.again.xml
	# we read theirs
	run "$FATHOM" topology -i $kind.hwloc.xml -o $kind.back.xml
	expect_status 0
	same "$kind, read from hwloc's" $kind.hwloc.xml $kind.back.xml
done

# what a person sees
run "$FATHOM" topology --from two-socket
expect_out_like '^Machine 128.0G: 2 packages, 32 cores, 64 CPUs, 2 memory nodes; Made-up CPU'
expect_out_like '^    NUMA node 1 64.0G$'
expect_out_like 'Block nvme0n1 953.9G'
expect_out_like '^ +1 +21 +10$'
run "$FATHOM" topology --from hybrid
expect_out_like 'CPU 0 \(IntelCore\)'
expect_out_like 'CPU 19 \(IntelAtom\)'
run "$FATHOM" topology --from many
expect_out_like '510 CPUs, 4 memory nodes, 2 offline'
run env LC_ALL=C.UTF-8 COLUMNS=100 "$FATHOM" topology --from many --boxes
expect_status 0
ok 'boxes of 512 CPUs stay within the width' awk '{ gsub(/[^\x00-\x7f]+/, "x") } length($0) > 104 { bad = 1 } END { exit bad }' "$out_file"
is 'each CPU is drawn once' "$(grep -oE 'CPU [0-9]+' "$out_file" | sort -u | wc -l)" 510
done_testing
