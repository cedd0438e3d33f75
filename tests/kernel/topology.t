#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# fathom topology: pictures, live load, processes, and trees that are damaged.
. "$(dirname "$0")/../lib/test.sh"
need_cmd python3
need_file "$WORKLOADS/burn"
cd "$TMP" || exit 1
cpus=$(nproc --all)

run "$FATHOM" topology
expect_status 0
expect_out_like '^Machine .* CPUs?, '
expect_no_err
run "$FATHOM" topology --json
ok 'JSON has every CPU' python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))
assert r["facts"]["cpus"] == sum(o["type"] == "CPU" for o in r["objects"]) > 0' "$out_file"

# --- pictures
python3 "$TOP/tests/lib/make_topology.py" two-socket two
run "$FATHOM" topology --from two -o two.svg
expect_status 0
ok 'the picture is XML, with 64 CPUs' python3 -c 'import sys, xml.etree.ElementTree as ET
t = ET.parse("two.svg").getroot()
texts = [e.text or "" for e in t.iter("{http://www.w3.org/2000/svg}text")]
assert sum(x.startswith("CPU ") for x in texts) == 64, texts
assert any("Made-up CPU <& \"x\">" in x for x in texts)'
unlike 'foreign text is escaped' "$(cat two.svg)" 'CPU <&'
run "$FATHOM" topology --from two -o two.svg
expect_status 1
expect_err '--force'
run "$FATHOM" topology -o x.png
expect_status 2
run "$FATHOM" topology --live=200ms -d 800ms -o load.html
expect_status 0
like 'loads are played' "$(cat load.html)" '<animate attributeName="fill".*values="#[0-9a-f]{6};'
unlike 'no script is needed' "$(cat load.html)" '<script'
ok 'and have words' grep -qE '<title>CPU 0: [0-9]+% busy, [0-9]+ runnable, [0-9]+ interrupts/s' load.html

# --- live
for ((i = 0; i < cpus; i++)); do spawn taskset -c $i "$WORKLOADS/burn" --seconds 0; runs_for "$spawned" 1; done
run "$FATHOM" topology --live=500ms -d 1s --json
ok 'CPUs that burn are busy, with somebody to run' python3 -c 'import json, sys
line = open(sys.argv[1]).read().strip().split("\n")[-1]
cpus = [o for o in json.loads(line)["objects"] if o["type"] == "CPU"]
assert cpus and all(c["used_percent"] > 80 for c in cpus), cpus
assert sum(c["runnable"] for c in cpus) >= len(cpus)
assert all(c["interrupts_per_s"] > 0 for c in cpus)' "$out_file"
run "$FATHOM" topology --live=200ms -d 400ms
expect_out_like 'CPU 0 #{8,10}'
expect_out_like 'NUMA node 0 .*%'
run "$FATHOM" topology --ps
expect_out_like "$spawned +burn +$((cpus - 1)) +$((cpus - 1)) +(Core|CPU|Machine|Package)"
run "$FATHOM" topology --ps=all --json
ok 'all processes' python3 -c 'import json, sys, os
r = json.load(open(sys.argv[1]))
assert len(r["processes"]) >= 10 and any(p["pid"] == 1 for p in r["processes"])' "$out_file"
run "$FATHOM" topology --ps=some
expect_status 2

# --- damaged trees: what can be obtained is shown
cp -r two bad
echo garbage >bad/sys/devices/system/cpu/cpu3/topology/core_id
rm -r bad/sys/devices/system/cpu/cpu5/cache bad/sys/devices/system/node/node1/meminfo
echo 99999999999999999999 >bad/sys/devices/system/cpu/cpu6/cache/index0/size
echo '0-70000' >bad/sys/devices/system/cpu/cpu7/cache/index0/shared_cpu_list
echo 0-40 >bad/sys/devices/system/cpu/cpu0/cache/index3/shared_cpu_list
run "$FATHOM" topology --from bad
expect_status 0
expect_out_like '64 CPUs'
expect_out_like 'the files contradict one another'
echo xx >bad/sys/devices/system/cpu/online
run "$FATHOM" topology --from bad
expect_status 1
expect_err_like "^fathom: 'bad/sys/devices/system/cpu/online'"
mkdir empty
run "$FATHOM" topology --from empty
expect_status 1
expect_err_like '^hint: --from takes a folder'
for bad in '' '<topology>' '<object type="Machine"/>' '<object type="PU" cpuset="0x1"/>' \
	'<object type="Machine" cpuset="zz">' '<object type="Machine" cpuset="0x3">' \
	'<object type="Machine" cpuset="0x1"><object type="PU" os_index="9999" cpuset="0x1"/></object>'; do
	printf '%s' "$bad" >bad.xml
	run "$FATHOM" topology -i bad.xml
	ok "refused: $bad" [ "$status" = 1 ]
	like 'with the byte' "$err" "^fathom: 'bad.xml': .* at byte [0-9]+"
done
run env COLUMNS=40 "$FATHOM" topology --boxes
expect_status 0
done_testing
