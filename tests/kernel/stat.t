#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fathom stat: who is counted, when, and how it is shown.
. "$(dirname "$0")/../lib/test.sh"
need_root
need_cmd python3
need_file "$WORKLOADS/burn"
cd "$TMP" || exit 1

# value EVENT: the count in lines of -x, left in $err or in a file.
value() { awk -F, -v e="$1" '{ for (i = 1; i <= NF; i++) if ($i == e) { print $(i - 2); exit } }' "${2:-$err_file}"; }

# burn CPU_SECONDS: a program that uses that much, whoever else runs.
cat >burn.py <<'END'
import sys, time
while time.process_time() < float(sys.argv[1]):
    pass
time.sleep(float(sys.argv[2]))
END

# --- a program
run "$FATHOM" stat -- sh -c 'echo out; exit 7'
expect_status 7
is 'the program has stdout for itself' "$out" out
expect_err_like "Counted for 'sh -c echo out; exit 7'"
expect_err_like 'msec task-clock .*CPUs utilized'
expect_err_like ' s +elapsed'
run "$FATHOM" stat -x, -e task-clock -- python3 burn.py 0.3 0
ms=$(value task-clock)
ok "CPU time is that of the program ($ms ms)" awk "BEGIN { exit !($ms > 250 && $ms < 600) }"
run "$FATHOM" stat --json -- sh -c 'echo words; sleep 0.1'
expect_status 0
ok 'JSON alone is on stdout' python3 -c 'import json,sys
r = json.load(open(sys.argv[1]))
assert r["command"] == "stat"
assert 0.1e9 <= r["facts"]["elapsed_ns"] < 5e9
assert {c["event"] for c in r["counters"]} >= {"task-clock", "context-switches", "page-faults"}
assert [x["unit"] for x in r["runs"] if x["event"] == "elapsed"] == ["s"]' "$out_file"
expect_err words
run "$FATHOM" stat no-such-program-here
expect_status 127

# --- where the rest of the time went
run "$FATHOM" stat --why --json -- sh -c 'sleep 0.5; exit 3'
expect_status 3
if grep -q '"why"' "$out_file"; then
	ok 'the times of the main thread sum to its wall time, which is that of the child' python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))
main = {w["state"]: w["time_ns"] for w in r["why"] if w["of"] == "main thread"}
every = {w["state"]: w["time_ns"] for w in r["why"] if w["of"] == "all threads"}
wall = r["facts"]["elapsed_ns"]
assert abs(sum(main.values()) - wall) < 0.2 * wall, (main, wall)
assert main["child"] > 0.4e9 and every["sleep"] > 0.49e9, (main, every)' "$out_file"
	run "$FATHOM" stat --why -- sleep 0.2
	like 'in words' "$(flat "$err")" '[0-9.]+ s of the main thread: [0-9.]+ s running, [0-9.]+ s waiting for a CPU, 0\.2[0-9]+ s sleeping'
else
	skip 'waits cannot be watched here' 2
fi
run "$FATHOM" stat --json -- python3 burn.py 0.2 0.3
ok 'the sums of the kernel are there without --why' python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))
main = {w["state"]: w["time_ns"] for w in r["why"] if w["of"] == "main thread"}
assert 0.19e9 < main["running"] < 0.6e9 and main["blocked"] > 0.29e9, main
assert abs(sum(main.values()) - r["facts"]["elapsed_ns"]) < 0.05e9, (main, r["facts"])' "$out_file"
run "$FATHOM" stat --why -r 2 true
expect_status 2

# --- repeated
run "$FATHOM" stat -r 4 --table -e task-clock -- sleep 0.02
expect_status 0
expect_err_like '\(4 runs\)'
expect_err_like '95% sure: 0\.0'
is 'each run is shown' "$(grep -c '#$' <<<"$err")" 4
for way in a b; do
	"$FATHOM" stat --json -r 6 -o $way.json -e task-clock -- sleep "$([ $way = a ] && echo 0.01 || echo 0.06)"
done
run "$FATHOM" stat --compare a.json b.json
expect_status 0
expect_out_like 'elapsed .* more'
run "$FATHOM" stat --compare a.json a.json
unlike 'the same is no difference' "$out" '(more|less)$'
run "$FATHOM" stat --compare a.json
expect_status 2
printf '{}' >empty.json
run "$FATHOM" stat --compare a.json empty.json
expect_status 1
expect_err "'empty.json' has no runs"
run "$FATHOM" stat -r 2 --pre 'echo pre >>log' --post 'echo post >>log' -n -- sh -c 'echo run >>log'
is 'pre and post surround each run' "$(tr '\n' ' ' <log)" 'pre run post pre run post '

# --- processes and threads
spawn "$WORKLOADS/burn" --seconds 0
burn=$spawned
wait_until grep -q burn "/proc/$burn/comm"
run "$FATHOM" stat -p "$burn" -e task-clock -x, --timeout 300
expect_status 0
ms=$(value task-clock "$out_file")
ok "a process that burns is counted ($ms ms)" awk "BEGIN { exit !($ms > 60) }"
run "$FATHOM" stat -p "$burn" --per-thread -e task-clock -x, --timeout 100
expect_out_like "^burn-$burn,[0-9.]+,msec,task-clock"
run "$FATHOM" stat --per-thread -a -e task-clock -x, --timeout 200
expect_out_like "^burn-$burn,"
run "$FATHOM" stat -p 4194303
expect_status 1
sleep 2 &
run "$FATHOM" stat -p $! -e task-clock -x,
expect_status 0
pass 'it ends with the process'

# --- where
run "$FATHOM" stat --per-core -e task-clock -x, -- python3 burn.py 0.2 0
ok 'a program can be counted core by core' python3 -c 'import sys
rows = [l.split(",") for l in open(sys.argv[1])]
total = sum(float(r[2]) for r in rows if not r[2].startswith("<"))
assert len(rows) > 0 and 150 < total < 500, rows' "$err_file"
if cg=$(findmnt -rno TARGET -t cgroup2 | head -1) && [ -n "$cg" ] && mkdir -p "$cg/fathom-stat-a" "$cg/fathom-stat-b" 2>/dev/null; then
	spawn sh -c "echo \$\$ >$cg/fathom-stat-a/cgroup.procs; exec '$WORKLOADS/burn' --seconds 0"
	wait_until grep -q . "$cg/fathom-stat-a/cgroup.procs"
	run "$FATHOM" stat --for-each-cgroup fathom-stat-a,fathom-stat-b -e task-clock -x, --timeout 300
	expect_status 0
	expect_out_like '^[0-9.]+,msec,task-clock,fathom-stat-a,'
	expect_out_like '^<not counted>,msec,task-clock,fathom-stat-b,|^0.00,msec,task-clock,fathom-stat-b,'
	run "$FATHOM" stat -G fathom-stat-a -e task-clock -x, --timeout 200
	ok 'a control group is counted' awk -F, '{ exit !($1 > 5) }' "$out_file"
	kill -KILL -- "-$spawned"
	wait_until rmdir "$cg/fathom-stat-a" "$cg/fathom-stat-b" 2>/dev/null
else
	skip 'no control groups can be made here' 4
fi

# --- when
run "$FATHOM" stat -a -e context-switches -I 100 --timeout 350 -x,
is 'three intervals and a rest' "$(wc -l <"$out_file")" 4
run "$FATHOM" stat -a -e context-switches -I 50 --interval-count 2 -x,
is 'as many intervals as asked for' "$(wc -l <"$out_file")" 2
run "$FATHOM" stat -D 1500 -e task-clock -x, -- python3 burn.py 0.15 2
ms=$(value task-clock)
ok "a delay leaves out what was before ($ms ms)" awk "BEGIN { exit !(\"$ms\" ~ /not/ || $ms + 0 < 100) }"
mkfifo ctl ack
spawn "$FATHOM" stat -D -1 --control fifo:ctl,ack -a -e context-switches -x, -o told.out
exec 7<>ack
printf 'enable\n' >ctl
read -r -t 10 answer <&7
is 'commands are answered' "$answer" ack
printf 'disable\nstop\n' >ctl
wait_until test -s told.out
ok 'and obeyed' awk -F, '{ exit !($1 > 0) }' told.out
exec 7>&-

# --- files
run "$FATHOM" stat -o file.out -e task-clock -x, true
run "$FATHOM" stat -o file.out --append -e task-clock -x, true
is 'a file can be added to' "$(wc -l <file.out)" 2
run "$FATHOM" stat --log-fd 2 -x, -e task-clock true
expect_err_like ',msec,task-clock,'
run "$FATHOM" stat -o /no/such/dir/x true
expect_status 1
expect_err_like "cannot create '/no/such/dir/x'"

# --- no hardware, and what is not possible
run "$FATHOM" stat -e cycles,page-faults true
expect_status 0
if "$FATHOM" doctor --json | grep -A2 '"hardware PMU"' | grep -q missing; then
	expect_err_like 'not counted here: cycles'
	run "$FATHOM" stat true
	is 'one line says why, not one for each event' "$(grep -c 'no hardware counters' <<<"$err")" 1
	unlike 'no wall of events that do not exist' "$err" 'not supported'
	run "$FATHOM" stat --strict -e cycles true
	expect_status 3
	run "$FATHOM" stat --topdown true
	expect_status 3
else
	skip 'this machine has a PMU' 5
fi
for bad in '-r 3' '-A --per-core true' '-r 2 -I 100 true' '-D -1 true' '-I 1 true' '-x "" true' \
	'-e no-such-event true' '-M no-such-metric true' '-C 99999 true' '-u no-such-user-here' \
	'-G no/such/group'; do
	eval "run \"$FATHOM\" stat $bad"
	ok "refused: $bad" [ "$status" -ge 1 ]
	like 'with words' "$err" '^fathom: '
done

# --- a terminal
run python3 "$TOP/tests/lib/on_terminal.py" 40 '' "$FATHOM" stat -a -e context-switches -I 100 --interval-count 3
expect_out_like $'\033\\[[0-9]+A'
# each option of perf stat does its work, or says why it cannot
while read -r want args; do
	# shellcheck disable=SC2086 # words of a table
	run timeout 20 "$FATHOM" stat $args
	is "stat $args" "$status" "$want"
	[ "$want" -eq 0 ] || expect_err hint:
done <<END
0 -e task-clock -- true
0 -a -A -e task-clock --timeout 100
0 -C 0 -e task-clock --timeout 100
0 -p $$ -t $$ -e task-clock --timeout 100
0 -u 0 -e task-clock --timeout 100
0 -G / -e task-clock --timeout 100
0 -r 2 --table -d -- true
0 -ddd -- true
0 -a -I 100 --interval-count 2 -x, -e task-clock
0 -j -n -- true
0 -D 20 -e task-clock -- sleep 0.1
0 -a --per-socket -e task-clock --timeout 100
0 -a --per-die -e task-clock --timeout 100
0 -a --per-core -e task-clock --timeout 100
0 -a --per-node -e task-clock --timeout 100
0 -p $$ --per-thread -e task-clock --timeout 100
0 -a --for-each-cgroup / -e task-clock --timeout 100
0 -a --metric-only -e task-clock --timeout 100
0 -e {task-clock,page-faults}:S --no-scale -- true
0 -e page-faults:u,page-faults:k -- true
0 -e r13c -a --timeout 100
0 -M ipc -- true
2 -M no-such-metric -- true
END

done_testing
