#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# What the tools share: whose events count, pictures, a flood of events, maps that are full.
. "$(dirname "$0")/../lib/test.sh"
. "$(dirname "$0")/../lib/tools.sh"
need_root
need_file /sys/kernel/btf/vmlinux
cp /bin/true "$TMP/truth"
cp "$(readlink -f /bin/sh)" "$TMP/truthsh"

# --- control groups ------------------------------------------------------------------------------
v2=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
if [ -n "$v2" ] && mkdir "$v2/fathom-truth-$$" 2>"$TMP/err"; then
	export cg=$v2/fathom-truth-$$
	mkdir "$cg/below"
	trap 'rmdir "$cg/below" "$cg"; test_end' EXIT
	inside='"$TMP/truth" outside
		"$TMP/truthsh" -c "echo \$\$ >$cg/cgroup.procs; \"$TMP/truth\" inside; echo \$\$ >$cg/below/cgroup.procs; \"$TMP/truth\" below; true"'
	if traced execsnoop "-G $cg" "$inside"; then
		figure 'a control group and those below it' \
			'sorted(r["args"].split()[-1] for r in some(pcomm="truth")) == ["below", "inside"]'
	fi
	if traced syscount "-P -G $cg/below" "$inside"; then
		figure 'only the one below' 'len(some(comm="truth")) == 1'
	fi
	run "$FATHOM" execsnoop -G /no/such/group -d 100ms
	expect_status 1
	expect_err 'no/such/group'
else
	skip "no control group can be made here: $(head -1 "$TMP/err")" 4
fi

# --- children ------------------------------------------------------------------------------------
# the shell has a child already when the tool starts, and that one starts others
mkfifo "$TMP/go"
"$TMP/truthsh" -c '"$TMP/truthsh" -c "read line; \"\$TMP/truth\" grandchild; true" <"$TMP/go"; "$TMP/truth" child; true' &
parent=$!
exec 8>"$TMP/go"
children() { [ -n "$(cat /proc/$parent/task/$parent/children)" ]; }
wait_until children
if traced execsnoop "-p $parent --children" "echo >&8; \"$TMP/truth\" stranger; while kill -0 $parent; do sleep 0.1; done"; then
	figure 'children of the process, and theirs' \
		'sorted(r["args"].split()[-1] for r in some(pcomm="truth")) == ["child", "grandchild"]'
fi
wait $parent

# --- operands as bcc takes them ------------------------------------------------------------------
sleep 30 &
sleeper=$!
run "$FATHOM" deadlock -d 100ms $sleeper
expect_status 0 'a number where a program would stand is a process'
kill $sleeper
run "$FATHOM" deadlock -d 100ms 4194305
expect_status 1
expect_err 'no process 4194305 exists'
run "$FATHOM" biolatpcts -i 100ms -d 300ms no-such-disk
expect_status 0 'a word is the value of the option that the header names'
run "$FATHOM" biolatpcts no-such-disk 100ms 2
expect_status 0 'and an interval and a count may follow'
run "$FATHOM" dbslower neither
expect_status 2
expect_err "'neither' is not a duration" 'a word that is not a choice of an option is an interval'
run "$FATHOM" syscount -j 200ms 1
expect_status 0
ok '-j is --json' "$PYTHON" -c 'import json, sys; json.loads(open(sys.argv[1]).readline())' "$out_file"

# --- pictures ------------------------------------------------------------------------------------
if traced fsslower "0 --comm truth-dd --heatmap $TMP/heat.svg" 'cp "$(command -v dd)" "$TMP/truth-dd"; "$TMP/truth-dd" if=/dev/zero of="$TMP/x" bs=4k count=500 status=none'; then
	figure 'rows and a heat map of them' 'len(some(op="write", file="x")) == 500'
	ok 'the heat map is one' grep -q '</svg>' "$TMP/heat.svg"
	like 'with its percentiles' "$(cat "$TMP/heat.svg")" 'p99'
	"$PYTHON" -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$TMP/heat.svg" 2>"$TMP/err"
	is 'it is well-formed' "$(cat "$TMP/err")" ''
fi
run "$FATHOM" fsslower --comm nobody-has-this -d 100ms --heatmap "$TMP/none.svg"
expect_err 'nothing to draw'
not_ok 'and no file is left' [ -e "$TMP/none.svg" ]
run "$FATHOM" fsslower -d 100ms --heatmap "$TMP/heat.svg"
expect_status 1
expect_err 'heat.svg'
is 'nothing is looked at before that is known' "$out" ''
run "$FATHOM" fsslower -d 100ms --heatmap "$TMP/heat.xyz"
expect_status 2
run "$FATHOM" execsnoop --heatmap "$TMP/e.svg" -d 100ms
expect_status 2
expect_err 'heatmap'

# --- a flood: every call is a row or is counted as lost -----------------------------------------
cat >"$TMP/flood.c" <<-'EOF'
	#include <stdio.h>
	#include <time.h>
	#include <unistd.h>
	int main(void)
	{
		struct timespec a, b;

		clock_gettime(CLOCK_MONOTONIC, &a);
		for (int i = 0; i < 1000000; i++)
			getppid();
		clock_gettime(CLOCK_MONOTONIC, &b);
		printf("%.0f\n", 1e6 / ((b.tv_sec - a.tv_sec) + (b.tv_nsec - a.tv_nsec) / 1e9));
		return 0;
	}
EOF
cat >"$TMP/flood.bt" <<-'EOF'
	/* tool
	summary: each call of getppid as a row
	group: own
	column: pid pid 7
	column: comm comm 16
	column: nr int 5
	*/
	rawtracepoint:sys_enter /target() && args.id == 110/ { row(pid, comm, args.id); }
EOF
if command -v gcc >/dev/null && gcc -O1 -o "$TMP/truthflood" "$TMP/flood.c"; then
	if traced run "$TMP/flood.bt --comm truthflood" '"$TMP/truthflood"'; then
		diag "$(cat "$TMP/workload.out") events a second; $(grep lost "$said" || echo none lost)"
		n=$(grep -c '"comm":"truthflood"' "$rows")
		lost=$(sed -n 's/.*fathom: \([0-9]*\) events lost.*/\1/p' "$said")
		is 'rows and losses are all calls' $((n + ${lost:-0})) 1000000
		figure 'and the loss is in the JSON, too' "len([1 for l in open('$rows') if '\"type\": \"loss\"' in l]) == $([ "${lost:-0}" -gt 0 ] && echo 1 || echo 0)"
	fi
	# and one whose filter lets none of them through
	if traced run "$TMP/flood.bt --comm truthflood --filter pid==1" '"$TMP/truthflood"'; then
		figure 'what does not match is not sent' 'not rows'
		unlike 'and none is lost' "$(cat "$said")" 'events lost'
	fi
else
	skip 'needs the command gcc' 4
fi

# --- tables that follow one another -------------------------------------------------------------
run "$FATHOM" pidpersec -i 200ms -d 700ms
expect_status 0
ok 'tables of one row are lines under one heading, each with its time' "$PYTHON" -c 'import re, sys
lines = open(sys.argv[1]).read().splitlines()
assert lines[0].split() == ["TIME", "PIDS/s", "THREADS/s"], lines
assert len(lines) >= 4, lines
assert all(re.fullmatch(r"[\d:.]{15} +[\d.]+ +[\d.]+", l) for l in lines[1:]), lines' "$out_file"
run "$FATHOM" pidpersec 1 1
expect_out_like '^[0-9]{2}:[0-9]{2}:[0-9]{2} +[0-9]' 'of seconds, without a fraction'
run "$FATHOM" pidpersec -i 200ms -d 500ms --csv
ok 'and CSV has one heading' [ "$(grep -c forks "$out_file")" -eq 1 ]
run "$FATHOM" filetop -i 300ms -d 400ms -- sh -c 'cat /etc/services /etc/services >/dev/null'
expect_out_like 'W_BYTES +T +FILE$' 'names of files are at the end of the line'
expect_out_like ' R +services$'
if [ -b /dev/vda ] && traced biolatpcts '/dev/vda 60' 'dd if=/dev/zero of="$TMP/disk" bs=64k count=8 oflag=dsync status=none'; then
	figure 'a disk may be named by its file' 'total("count", operation="write") + unseen >= 8'
fi
cat >"$TMP/kinds.bt" <<-'EOF'
	/* tool
	summary: percentiles and bytes a second
	group: own
	column: name string 8 last
	column: count count 8
	column: bytes byterate 9
	column: low duration 8 percentile 1
	column: high duration 8 percentile 100
	show: @count @bytes
	*/
	begin { for ($i : 1..101) { @count["x"] = hist($i * 1000, 5); @bytes["x"] = sum(1000); } }
EOF
run "$FATHOM" run "$TMP/kinds.bt" -d 500ms --json
ok 'columns of percentiles and of bytes a second' "$PYTHON" -c 'import json, sys
d = json.load(open(sys.argv[1]))
r = d["rows"][0]
assert list(r)[-1] == "name" and r["count"] == 100, r
assert 900 <= r["low"] <= 2100 and 98000 <= r["high"] <= 103000, r
assert abs(r["bytes"] - 100000 / d["facts"]["seconds"]) <= 1, d' "$out_file"
sed 's/percentile 1$/percentile 101/' "$TMP/kinds.bt" >"$TMP/over.bt"
run "$FATHOM" run "$TMP/over.bt"
expect_status 2
expect_err "'percentile N'"
ok 'and nothing else is said' sh -c '! grep -q "unknown command" "$1"' sh "$err_file"
run "$FATHOM" run "$TMP/nowhere.bt"
expect_status 2
expect_err "fathom: cannot open '$TMP/nowhere.bt': no such file or directory"
ok 'only that' [ "$(wc -l <"$err_file")" -eq 1 ]
if have script; then
	run timeout 5 script -qec "$FATHOM ttysnoop -d 700ms" /dev/null
	ok 'ttysnoop does not show what it writes itself' [ "$(grep -c TEXT "$out_file")" -eq 1 ]
fi

# --- a map that is too small ---------------------------------------------------------------------
cat >"$TMP/small.bt" <<-'EOF'
	/* tool
	summary: a map that is too small
	group: own
	column: tid pid 7
	column: count count 9
	show: @count
	*/
	config = { max_map_keys = 4 }
	rawtracepoint:sys_enter /target()/ { @count[tid] = count(); }
EOF
run "$FATHOM" run "$TMP/small.bt" -- sh -c 'for i in 1 2 3 4 5 6 7 8; do /bin/true; done'
expect_status 0
expect_err_like '[0-9]+ updates lost because a map was full'
run "$FATHOM" run "$TMP/small.bt" --json -- sh -c 'for i in 1 2 3 4 5 6 7 8; do /bin/true; done'
ok 'losses are in the document of the table' "$PYTHON" -c 'import json, sys
d = json.load(open(sys.argv[1]))
assert d["losses"]["updates_map_full"] > 0 and d["losses"]["events_lost"] == 0, d["losses"]' "$out_file"
done_testing
