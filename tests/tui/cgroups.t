#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# Control groups in fathom top: the quota, throttling and the memory limit of a group that has them.
# shellcheck source=tests/lib/test.sh disable=SC2317 # functions are called by wait_until
. "$(dirname "$0")/../lib/test.sh"

need_root
need_cmd python3
export HOME=$TMP
folder_name=fathom-test-$$
groups=()
remove() {
	local pid
	for pid in "${test_children[@]}"; do
		kill -KILL -- "-$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
	rmdir "${groups[@]}" 2>/dev/null
	test_end
}
trap remove EXIT
# A folder of the test for it, with the limits; version 1 has one for each controller.
group() { # FOLDER FILE=VALUE...
	local file
	mkdir "$1" 2>/dev/null || return
	groups+=("$1")
	for file in "${@:2}"; do
		echo "${file#*=}" >"$1/${file%%=*}" 2>/dev/null || return
	done
}
root=/sys/fs/cgroup
if [ -e $root/cgroup.controllers ]; then
	group $root/$folder_name 'cpu.max=20000 100000' memory.max=268435456 || plan_skip 'no group with limits can be made here'
else
	{ group $root/cpu/$folder_name cpu.cfs_period_us=100000 cpu.cfs_quota_us=20000 &&
		group $root/memory/$folder_name memory.limit_in_bytes=268435456; } ||
		plan_skip 'no group with limits can be made here'
	[ ! -d $root/cpuacct ] || group $root/cpuacct/$folder_name
fi
spawn "$WORKLOADS/burn" --seconds 300 c=1
for folder in "${groups[@]}"; do
	echo "$spawned" >"$folder/cgroup.procs" || plan_skip 'no process can be moved to the group'
done

check() { # PYTHON: of the group's row
	run "$FATHOM" top --once --json --screen cgroups --interval 1s
	[ "$status" -eq 0 ] || return
	python3 - "$out_file" "/$folder_name" "$1" <<'P'
import json, sys
rows = [r for r in json.load(open(sys.argv[1]))["cgroups"] if r["cgroup"].endswith(sys.argv[2])]
assert rows, "no such group"
r = rows[0]
assert eval(sys.argv[3]), r
P
}
ok 'its quota' check 'abs(r["cpu_max_percent"] - 20) < 0.1'
ok 'its limit of memory, in MB' check 'abs(r["memory_max"] - 256) < 0.1'
ok 'periods and time in which it is throttled' wait_until check \
	'r["throttled_percent"] > 0 and r["throttled_ms"] > 0'
run "$FATHOM" top --once --size 140x40 --screen cgroups
expect_out_like "20 .* 256 .*/$folder_name" 'a line of the table'
run "$FATHOM" top --once --size 80x24 --screen cgroups
expect_out_like "THRms/s .* PSIcpu PSIio PSImem CGROUP" '80 columns have the most important ones'
run "$FATHOM" top --once --size 100x40 --screen cgroups --keys '?'
expect_out_like 'cgroup.cpu_quota: CPU time that it may use' '? explains them'
done_testing
