#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Monitors on the running machine: rows that add up, tasks that come and go, terminals, bad input.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_root
need_cmd python3
need_file "$WORKLOADS/forkstorm" "$WORKLOADS/burn"
cd "$TMP" || exit 1

# storm NAME LEAST MOST: a fork storm under pidstat; the share of the meter that rows account for
storm() {
	"$WORKLOADS/forkstorm" 2000 80 4 >truth.txt &
	local storm=$!
	sleep 0.3
	run "$FATHOM" pidstat --json 3 1
	wait "$storm"
	expect_status 0
	ok "$1: rows account for the CPU meter" python3 - "$out_file" truth.txt "$2" "$3" <<'END'
import json, sys
r = json.loads(open(sys.argv[1]).read().splitlines()[-1])
f, rows = r["facts"], r["cpu"]
truth = dict(line.split("=") for line in open(sys.argv[2]))
share = (f["rows_ns"] + f["orphans_ns"] + f["irq_ns"] + f["steal_ns"]) / f["meter_ns"]
storm = [row for row in rows if row["command"].startswith("forkstorm")]
if "busy_ns" in f:
    # the time from switch to switch, and that in which CPUs left idle, are what tasks are charged
    both = (f["busy_ns"] + f["leaving_idle_ns"]) / f["meter_ns"]
    print(f"# busy {f['busy_ns'] / 1e9:.3f} s, leaving idle {f['leaving_idle_ns'] / 1e9:.3f} s: "
          f"{both:.2%} of the meter", file=sys.stderr)
print(f"# {share:.2%} of the meter, storm {sum(r['cpu_percent'] for r in storm):.1f} % of a CPU, "
      f"{truth['children'].strip()} children", file=sys.stderr)
assert float(sys.argv[3]) <= share <= float(sys.argv[4]), f
if not storm:
    sys.exit("# the storm did not run: the machine is too busy")
parent = max(storm, key=lambda row: row["cpu_percent"])
whole = float(truth["children_cpu"]) / 4 * 100
assert 0.5 * whole < parent["cpu_percent"] < 2 * whole + 30, (parent, whole)
assert "by_bpf" in f
END
}
storm 'by BPF' 0.99 1.01
expect_out '"by_bpf":true'
expect_out_like '"meter_by":"(scheduler|switches)"'
# The meter of the kernel is sampled by ticks, and may miss short runs: rows may exceed it.
FATHOM_NO_BPF_TASKS=1 storm 'by /proc' 0.85 1.3
expect_out '"by_bpf":false'
expect_out '"meter_by":"ticks"'

"$WORKLOADS/burn" --seconds 20 a=100 >/dev/null &
burn=$!
trap 'kill $burn 2>/dev/null; test_end' EXIT
wait_until is_running $burn burn
run "$FATHOM" pidstat -p "$burn" --json 1 2
expect_status 0
ok 'one process: its own time' python3 - "$out_file" "$burn" <<'END'
import json, sys
for line in open(sys.argv[1]):
    rows = json.loads(line)["cpu"]
    assert len(rows) == 1 and rows[0]["pid"] == int(sys.argv[2]), rows
    assert rows[0]["cpu_percent"] + rows[0]["wait_percent"] > 90, rows
    assert rows[0]["user_percent"] > 0.8 * rows[0]["cpu_percent"], rows
END
run "$FATHOM" pidstat -t -r -d -w -p $$ 1 1
expect_status 0
expect_out_like 'TGID +TID +minflt/s +majflt/s +VSZ +RSS +%MEM +Command'
expect_out_like 'TGID +TID +kB_rd/s +kB_wr/s +kB_ccwr/s +Command'
expect_out_like 'TGID +TID +cswch/s +nvcswch/s +Command'

# iotop: bytes of direct I/O, and the time that was slept for the disk, without delay accounting
python3 - "$TMP/io.bin" >io.txt <<'END' &
import mmap, os, sys, time
buf = mmap.mmap(-1, 1 << 16)
try:
    fd = os.open(sys.argv[1], os.O_CREAT | os.O_RDWR | os.O_DIRECT, 0o600)
    os.pwrite(fd, buf, 0)
except OSError as e:
    print("none", e)
    sys.exit(0)
end, n = time.time() + 20, 0
while time.time() < end:
    os.pwrite(fd, buf, n % 64 * len(buf))
    n += 1
END
io=$!
writes() { [ -s "$TMP/io.bin" ] || grep -q none io.txt; }
wait_until writes
run "$FATHOM" iotop -P -p "$io" --json 2 1
kill "$io" 2>/dev/null
wait "$io" 2>/dev/null
if grep -q none io.txt; then
	skip 'iotop: bytes and time of direct writes' "$(cat io.txt)"
else
	expect_status 0
	ok 'iotop: bytes and time of direct writes' python3 - "$out_file" <<'END'
import json, sys
r = json.loads(open(sys.argv[1]).read().splitlines()[-1])
assert len(r["tasks"]) == 1, r
row, facts = r["tasks"][0], r["facts"]
print("#", row, file=sys.stderr)
assert row["write_rate"] > 1 << 20 and row["read_rate"] < row["write_rate"], row
assert facts["total_write"] >= row["write_rate"], facts
assert 1 < row["io_percent"] <= 101, row
END
fi
run "$FATHOM" iotop -u no-such-user
expect_status 2
expect_err "unknown user 'no-such-user'"
run "$FATHOM" iotop -a -n 2 -d 0.3 -k
expect_status 0
run "$FATHOM" netstat -t -u 0.2 2
expect_status 0
run "$FATHOM" numastat -p 4194303
expect_status 0
expect_out 'memory of process 4194303'
run "$FATHOM" turbo 0.2 2
if [ "$status" -eq 3 ]; then
	expect_err 'APERF and MPERF'
	expect_err 'hint:'
else
	expect_status 0
	expect_out 'C0_MCYC'
fi

# a process that ends between two updates shows its last time, and no crash follows
("$WORKLOADS/burn" --seconds 1 a=100 >/dev/null) &
run "$FATHOM" pidstat -C burn 1 3
expect_status 0

# headings are repeated on a terminal, once a screen; a narrow one cuts nothing silently
run python3 "$TOP/tests/lib/on_terminal.py" 10 '' "$FATHOM" vmstat 0.05 20
expect_status 0
is 'headings are repeated' "$(grep -c ' r  b ' "$out_file")" 3
run env COLUMNS=40 "$FATHOM" vmstat
expect_status 0
ok 'nothing is wider than 40 columns' \
	awk '{ gsub(/[^\x00-\x7f]+/, "."); if (length($0) > 40 && NR > 2) exit 1 }' "$out_file"

run "$FATHOM" vmstat 0
expect_status 2
run "$FATHOM" vmstat 1 0
expect_status 2
run "$FATHOM" vmstat soon
expect_status 2
run "$FATHOM" mpstat -P x
expect_status 2
run "$FATHOM" vmstat --from /no/such/place
expect_status 1
expect_err "cannot open '/no/such/place'"

# each does something sensible without options, for people and for programs
for command in dstat free ifstat iostat iotop irqtop mpstat netstat numastat pidstat sar slabtop \
	uptime use vmstat; do
	operands=()
	[ "$command" = dstat ] && operands=(0.2 2)
	run "$FATHOM" "$command" "${operands[@]}"
	expect_status 0
	run "$FATHOM" "$command" --json "${operands[@]}"
	expect_status 0
	ok "$command: JSON" python3 -c '
import json, sys
text = sys.stdin.read()
for r in json.loads("[" + text.replace("}\n{", "},{") + "]"):
    tables = [v for k, v in r.items() if isinstance(v, list) and k != "notes"]
    # on a quiet machine nobody does I/O
    assert any(tables) or sys.argv[1] == "iotop", r
    assert r["facts"]["cost_ns"] > 0' "$command" <"$out_file"
done
run "$FATHOM" dstat -e no.such.counter
expect_status 1
expect_err "unknown counter 'no.such.counter'"
run "$FATHOM" sar -n NOTHING
expect_status 2
run "$FATHOM" dstat -tcm --vm --aio --udp --tcp --socket --pressure -e 'rate(tcp.OutSegs)' 0.2 3
expect_status 0
is 'dstat: headings once, a line each time' "$(wc -l <"$out_file")" 7

# recorded beside the samples, shown later; perf passes over it
run "$FATHOM" record --counters=200ms -o c.data -F 99 -- "$WORKLOADS/burn" --seconds 2 a=100
expect_status 0
for command in dstat free ifstat iostat irqtop mpstat pidstat sar uptime use vmstat; do
	run "$FATHOM" "$command" -i c.data
	expect_status 0
done
run "$FATHOM" pidstat -i c.data --at 1s -C burn --json
expect_status 0
ok 'what a process did at a moment' python3 - "$out_file" <<'END'
import json, sys
lines = open(sys.argv[1]).read().splitlines()
assert len(lines) == 1, lines
row = json.loads(lines[0])["cpu"][0]
assert row["cpu_percent"] + row["wait_percent"] > 80, row
END
run "$FATHOM" vmstat -i c.data --json 1
expect_status 0
ok 'intervals are put together' python3 -c '
import json, sys
times = [json.loads(line)["facts"]["duration_ns"] for line in sys.stdin]
assert times and all(0.97e9 < t < 2e9 for t in times), times' <"$out_file"
run "$FATHOM" vmstat -i c.data --at 100s
expect_status 4
run "$FATHOM" vmstat -i c.data --at soon
expect_status 2
run "$FATHOM" report -i c.data
expect_status 0
if command -v perf >/dev/null; then
	run perf report -i c.data --stdio
	expect_status 0
fi
run "$FATHOM" record -o plain.data -- true
run "$FATHOM" vmstat -i plain.data
expect_status 4
expect_err 'holds no counters'

# --- counters are found by file ------------------------------------------------------------------
run "$FATHOM" counters meminfo
expect_status 0
expect_out 'mem.available' "a file's name finds its counters"
run "$FATHOM" counters /proc/net
expect_out 'tcpext.TCPLostRetransmit' 'so does a folder'
run "$FATHOM" counters /proc/self/statm
expect_status 4
expect_err "'fathom pidstat' and 'fathom top' show"

# nothing to be read: blanks with reasons
mkdir -p empty/proc
run "$FATHOM" vmstat --from empty
expect_status 0
expect_out 'no such file'
run "$FATHOM" pidstat --from empty
expect_status 0

# who may see little
if command -v setpriv >/dev/null; then
	run setpriv --reuid 65534 --clear-groups "$FATHOM" pidstat 0.5 1
	expect_status 0
	expect_out 'tasks are read from /proc'
	run setpriv --reuid 65534 --clear-groups "$FATHOM" counters tcp.OutSegs
	expect_status 0
fi

# a /proc that hides the processes of others, and one whose files are masked as in containers
if unshare -m true 2>/dev/null && command -v setpriv >/dev/null; then
	# shellcheck disable=SC2016 # the inner shell expands them
	run unshare -m sh -c 'mount -t proc -o hidepid=2 proc /proc && exec setpriv --reuid 65534 \
		--regid 65534 --clear-groups "$@"' sh "$FATHOM" pidstat --idle 0.5 1 --json
	expect_status 0
	ok 'hidepid: only what may be seen' python3 -c '
import json, sys
r = json.loads(sys.stdin.read().splitlines()[-1])
assert r["cpu"] and all(row["uid"] == 65534 for row in r["cpu"]), r["cpu"]' <"$out_file"
	for command in vmstat 'counters cpu' 'iotop 0.2 1' netstat numastat 'mpstat 0.2 1' iostat; do
		# shellcheck disable=SC2016,SC2086
		run unshare -m sh -c 'for f in stat vmstat diskstats net/snmp net/netstat meminfo; do
			mount --bind /dev/null "/proc/$f" 2>/dev/null || :
			done; exec "$@"' sh "$FATHOM" $command
		expect_status 0
		case $command in
		vmstat | iostat | mpstat*) expect_out '/proc/stat: no data available' ;;
		esac
	done
else
	skip 'hidepid and masked files' 'no mount namespaces here'
fi
done_testing
