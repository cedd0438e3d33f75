# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC1091,SC2154
#
# The tool library on this kernel: which rung each tool has, and those of kernel functions against
# work whose figures are known. What a tool says when it does not work goes to /out.
. /tests/lib.sh

# Starts a tool, runs the work once it looks on, ends it; rows are in /tmp/rows.
traced() {
	tool=$1
	args=$2
	shift 2
	: >/tmp/said
	# shellcheck disable=SC2086
	fathom "$tool" $args -v --csv >/tmp/rows 2>/tmp/said &
	pid=$!
	n=0
	while ! grep -q 'probes are attached' /tmp/said && kill -0 $pid 2>/dev/null && [ $n -lt 60 ]; do
		sleep 1
		n=$((n + 1))
	done
	if ! kill -0 $pid 2>/dev/null; then
		fail "$tool starts" "$(head -3 /tmp/said)"
		return 1
	fi
	"$@" >/dev/null 2>&1
	sleep 1
	kill -INT $pid
	wait $pid
}

count() { grep -c -- "$1" /tmp/rows; }

# the value of column NAME in the last row
column() {
	awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i } NR > 1 && c { v = $c } END { print v + 0 }' /tmp/rows
}

fathom tools --csv >/out/tools.csv 2>/tmp/err
working=$(grep -c ',yes,' /out/tools.csv)
ok "at least 95 tools work here ($working)" [ "$working" -ge 95 ]
grep ',no,' /out/tools.csv | cut -c1-200 | while read -r line; do diag "$line"; done

many() { i=0; while [ $i -lt 20 ]; do cat /tmp/nosuchfile$i; i=$((i + 1)); done; }
execs() { i=0; while [ $i -lt 30 ]; do /bin/busybox true; i=$((i + 1)); done; }
files() { i=0; while [ $i -lt 10 ]; do mkdir /tmp/d$i; rmdir /tmp/d$i; i=$((i + 1)); done; }
short() { i=0; while [ $i -lt 5 ]; do echo x >/tmp/short$i; rm /tmp/short$i; i=$((i + 1)); done; }

traced dcsnoop '' many && ok 'dcsnoop: names that are not in the cache' [ "$(count nosuchfile)" -ge 10 ]
traced dcstat '60' many && ok 'dcstat: they are missed' [ "$(column misses)" -ge 10 ]
traced vfsstat '60' files && ok 'vfsstat: folders are made' \
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "mkdir") c = i } NR > 1 { if ($c > 0) found = 1 } END { exit !found }' /tmp/rows
traced vfscount '' files && ok 'vfscount: by function' grep -q 'vfs_mkdir,10$' /tmp/rows
traced filelife '' short && ok 'filelife: five files' [ "$(count short)" -eq 5 ]
traced execsnoop '' execs && ok 'execsnoop: thirty programs' [ "$(count busybox)" -ge 30 ]
traced opensnoop '' many && ok 'opensnoop: files that are not there' [ "$(count 'ENOENT.*/tmp/nosuchfile')" -eq 20 ]
traced capable '' files && ok 'capable: each check by a function' [ "$(wc -l </tmp/rows)" -ge 1 ]
traced funcslower '--min 0 vfs_mkdir' files && ok 'funcslower: a function of the kernel' [ "$(wc -l </tmp/rows)" -ge 11 ]
traced funcinterval 'vfs_mkdir' files && ok 'funcinterval: between calls' [ "$(wc -l </tmp/rows)" -ge 2 ]
traced loads '' sleep 2 && ok 'loads: averages' [ "$(wc -l </tmp/rows)" -ge 2 ]
traced klockstat '--hold' files && ok 'klockstat: how long locks are held' \
	awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "held") c = i } NR > 1 && $c > 0 { found = 1 } END { exit !found }' /tmp/rows
done_testing
