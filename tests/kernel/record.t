#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fathom record against workloads whose truth is known, and perf as a reader of what it writes.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_root
need_cmd python3 perf
need_file "$WORKLOADS/burn"
cd "$TMP" || exit 1

burn=$WORKLOADS/burn
# Samples in a file, as perf counts them.
samples() { perf script -i "$1" -F comm,event 2>/dev/null | grep -c .; }
# Until a recording that still runs has samples in its file.
wait_for_samples() {
	for _ in $(seq 100); do
		"$FATHOM" script -i "$1" -F comm 2>/dev/null | grep -q . && return
		sleep 0.2
	done
}

# --- a program -----------------------------------------------------------------------------------

run "$FATHOM" record -e cpu-clock -F 999 -- "$burn" --seconds 1 a=70 b=30
expect_status 0
expect_err_like '^fathom: [0-9,]+ samples of cpu-clock in [0-9.]+s, 0 lost, [0-9.]+[KM] -> fathom.data$'
expect_err 'next: fathom report'
ok "perf report reads it" bash -c 'perf report --stdio -i fathom.data >/dev/null 2>perf.err'
is "without a complaint" "$(grep -v '^$' perf.err)" ''
ok "70 and 30 percent" python3 - <<'END'
import subprocess
out = subprocess.run("perf script -i fathom.data -G -F ip,sym".split(), capture_output=True,
                     text=True).stdout
n = {}
for line in out.splitlines():
    if line.split():
        n[line.split()[-1]] = n.get(line.split()[-1], 0) + 1
share = n["a"] / (n["a"] + n["b"])
assert 0.63 < share < 0.77, share
assert 900 < sum(n.values()) < 1100, n
END
n=$(samples fathom.data)
expect_err "$(sed -E ':a;s/^([0-9]+)([0-9]{3})/\1,\2/;ta' <<<"$n") samples" "perf counts as many samples as we say"

run "$FATHOM" record -- sh -c 'exit 7'
expect_status 7 "the program's status is ours"
ok "the file before is kept" test -s fathom.data.old
run "$FATHOM" record -- sh -c 'kill -9 $$'
expect_status 137 "a signal is 128 + its number"
cp fathom.data before
run "$FATHOM" record -- no-such-program
expect_status 127
expect_err "command not found: 'no-such-program'"
run "$FATHOM" record /tmp
expect_status 126 "a folder is no program"
expect_err "cannot run '/tmp': is a directory"
ok "and no file was touched" cmp -s before fathom.data

run "$FATHOM" record -q --user-data 'before the change' -o said.data -- true
run "$FATHOM" report --header-only -i said.data
expect_out 'notes: before the change'

# --- before it begins -----------------------------------------------------------------------------

run "$FATHOM" record -D 100000 -o late.data -- true
expect_status 0 "a program that ends before the delay is over ends the recording"
run "$FATHOM" record -D 300 -F 999 -e cpu-clock:u -o late.data -f -- "$burn" --seconds 1
expect_status 0
ok "a plain delay is in milliseconds" test "$(samples late.data)" -gt 100
run "$FATHOM" record --dry-run -s -B --aio --vmlinux x --proc-map-timeout 9 -o dry.data -- true
expect_status 0 "perf's ways of recording are taken"
not_ok "nothing is recorded in a trial" test -e dry.data
run "$FATHOM" record --dry-run -e cpu-clokc -- true
expect_status 2
expect_err "unknown event 'cpu-clokc'"
run "$FATHOM" record -j any_calls -- true
expect_status 2
expect_err "'any_calls' is not a branch type"

# What the leader of a group decides is not asked of its members.
run "$FATHOM" record -e '{cpu-clock:u,page-faults:k}:D' -o group.data -- true
expect_status 0
is "a pinned group is whole" "$("$FATHOM" evlist -g -i group.data | head -n 1)" '{cpu-clock:u,page-faults:k}'

# What a program prints is not part of the recording that goes to the same place.
run "$FATHOM" record -q -F 999 -o - -- sh -c "echo words; '$burn' --seconds 0.2"
expect_status 0
expect_err words
cp "$out_file" words.data
not_ok "words are not in the recording" grep -q '^words' words.data
ok "perf reads all of it" test "$(samples words.data)" -gt 50

# A file that is cut before its first sample says so.
run "$FATHOM" record -z0 -F 999 -o whole.data -- "$burn" --seconds 0.1
head -c "$(python3 -c 'import struct; print(struct.unpack_from("<Q", open("whole.data", "rb").read(), 40)[0] + 20)')" \
	whole.data >cut.data
run "$FATHOM" report -i cut.data
expect_status 4
expect_err "'cut.data' has no samples"
expect_err 'the file is damaged at offset'

# --- files ---------------------------------------------------------------------------------------

mkfifo pipe
run "$FATHOM" record -d 50ms -o pipe
expect_status 1
expect_err "'pipe' is a pipe"
expect_err 'hint: -o - writes a form for pipes'
echo precious >mine
run "$FATHOM" record -d 50ms -o mine
expect_status 1
expect_err "'mine' already exists"
is "an existing file stays" "$(cat mine)" precious
run "$FATHOM" record -d 50ms -o nowhere/x.data
expect_status 1
expect_err "cannot create 'nowhere/x.data': no such file or directory"
run "$FATHOM" record -d 50ms -o .
expect_status 1
expect_err "cannot create '.': is a directory"
echo last >fathom.data
run "$FATHOM" record -d 50ms -e no-such-event
is "the last recording stays where it is until a new one begins" "$(cat fathom.data)" last
rm fathom.data
if command -v strace >/dev/null; then
	strace -f -e trace=bpf -o trace "$FATHOM" record -d 50ms -o mine 2>/dev/null
	ok "the calls are seen" grep -q exited trace
	not_ok "nothing is loaded for a file that already exists" grep -q BPF_PROG_LOAD trace
else
	skip "strace is not installed" 2
fi
run "$FATHOM" record -e cs -d 200ms -o mine --force
expect_status 0
"$FATHOM" record -q -F 999 -e cpu-clock -o - -- "$burn" --seconds 0.3 a=100 2>/dev/null >pipe.out
# the program writes to the same output: a pipe of its own for the recording
"$FATHOM" record -q -F 999 -e cpu-clock -o - -- sh -c "exec $burn --seconds 0.3 a=100 >/dev/null" |
	perf script -i - -F comm 2>/dev/null | grep -c burn >count
ok "a recording through a pipe" test "$(cat count)" -gt 200
run "$FATHOM" record -z -F 4999 -e cpu-clock -o z.data -- "$burn" --seconds 0.5 a=100
ok "a compressed recording is read by perf" test "$(samples z.data)" -gt 1500
run "$FATHOM" record -z0 -F 4999 -e cpu-clock -o plain.data -- "$burn" --seconds 0.5 a=100
ok "-z0 does not compress" test "$(stat -c %s plain.data)" -gt "$(($(stat -c %s z.data) * 2))"
run "$FATHOM" record -F 4999 -e cpu-clock -o usual.data -- "$burn" --seconds 0.5 a=100
ok "files are compressed by default" \
	test "$(($(stat -c %s usual.data) * 2))" -lt "$(stat -c %s plain.data)"
run "$FATHOM" record -z23 -F 99 -o z23.data -- true
is "a level that zstd does not have: status 2" "$status" 2
run "$FATHOM" record -F 999 -e cpu-clock --switch-output=400ms --switch-max-files 2 -d 2200ms \
	-o turn.data --idle
expect_status 0
is "two closed files are kept, and the current one" "$(find . -name 'turn.data*' | wc -l)" 3
for f in turn.data*; do
	ok "${f%.data*}.data: each stands for itself" test "$(samples "$f")" -gt 5
done

# --- targets -------------------------------------------------------------------------------------

spawn "$burn" --seconds 0 a=100
pid=$spawned
run "$FATHOM" record -e cpu-clock -F 499 -p "$pid" -d 500ms -o p.data
expect_status 0
is "only that process" "$(perf script -i p.data -F pid 2>/dev/null | sort -u | tr -d ' ')" "$pid"
ok "its mappings were known" grep -q "$burn" <(perf script -i p.data -F ip,sym,dso 2>/dev/null)
run "$FATHOM" record -e cpu-clock -t "$pid" -d 200ms -o p.data -f
expect_status 0
# forks between the opening of its event and the program on it: their samples come without a stack
cat >forker <<'END'
spin() { i=0; while [ "$i" -lt 3000 ]; do i=$((i + 1)); done; }
while :; do (spin) & (spin); done
END
spawn sh forker
run "$FATHOM" record -e cpu-clock -F 999 -p "$spawned" -d 300ms -o fork.data
kill "$spawned"
perf script -i fork.data -F comm,ip >fork.txt 2>fork.err
unlike "every sample of a process that forks all the time can be read" "$(cat fork.err)" 'parse'
ok "and there are some" test "$(grep -c '^sh' fork.txt)" -gt 20
run "$FATHOM" record -e cpu-clock -F 499 -C 0 -d 300ms -o c.data --idle
is "only that CPU" "$(perf script -i c.data -F cpu 2>/dev/null | sort -u | tr -d ' ')" '[000]'
run "$FATHOM" record -e cpu-clock -F 499 -u root -d 1s -o u.data
expect_status 0
ok "the user's processes" test "$(samples u.data)" -gt 50
run "$FATHOM" record -p "$pid,4194302,4194303" -d 1s -o gone.data
expect_status 1 "-p with neighbours that are not there: status 1"
expect_err_like 'no process 419430[23]' "-p with neighbours that are not there: says so"
run "$FATHOM" record -p 4194303 -d 1s
expect_status 1
expect_err 'no process 4194303'

cgroup=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)/fathom-test-$$
if mkdir "$cgroup" 2>/dev/null && echo "$pid" >"$cgroup/cgroup.procs"; then
	run "$FATHOM" record -e cpu-clock -F 499 -G "${cgroup##*/}" -d 500ms -o g.data
	is "only that control group" \
		"$(perf script -i g.data -F pid 2>/dev/null | sort -u | tr -d ' ')" "$pid"
	kill "$pid"
	wait "$pid" 2>/dev/null
	for _ in 1 2 3 4 5; do rmdir "$cgroup" && break; sleep 0.1; done
else
	kill "$pid"
	skip "no cgroup v2 that takes a group"
fi

spawn sleep 30
run "$FATHOM" record -e cpu-clock -p "$spawned" -d 200ms -o s.data
expect_status 4 "nothing captured is 4"
spawn sleep 0.4
RUN_TIMEOUT=10 run "$FATHOM" record -e cs -p "$spawned" -o s.data -f
expect_err_like 'in 0\.[0-9]s' "ends with its target"

# --- events --------------------------------------------------------------------------------------

run "$FATHOM" record -e sched:sched_process_exec -o x.data -d 1s -- sh -c 'for i in 1 2 3 4 5; do /bin/true; done'
is "every exec of the program and its children" "$(samples x.data)" 6
run "$FATHOM" record -e sched:sched_process_exec --filter 'filename ~ "*true"' -o x.data -f \
	-- sh -c 'for i in 1 2 3; do /bin/true; done'
is "the filter holds" "$(samples x.data)" 3
run "$FATHOM" record -e faults -c 100 -o n.data -- "$burn" --seconds 0.1 a=100
few=$(samples n.data)
run "$FATHOM" record -e faults -c 1 -o n.data -f -- "$burn" --seconds 0.1 a=100
all=$(samples n.data)
ok "-c 100 takes a hundredth ($few of $all)" test "$all" -gt $((few * 50))
run "$FATHOM" record -e cs --filter 'x == 1' -d 1s
expect_status 2
run "$FATHOM" record -e sched:sched_switch --filter 'prev_pd == 1' -d 1s
expect_status 2
expect_err "did you mean 'prev_pid'?"
run "$FATHOM" record -e cylces -d 1s
expect_status 2
expect_err "did you mean 'cycles'?"
run "$FATHOM" record -e cpu-clock,faults,cs -F 999 -o m.data -- "$burn" --seconds 0.3 a=100
is "several events in one file" \
	"$(perf evlist -i m.data 2>/dev/null | grep -v -e dummy -e '#' | tr '\n' ' ')" \
	'cpu-clock faults cs '
run "$FATHOM" record -e cpu-clock --call-graph dwarf -o d.data -- "$burn" --seconds 0.3 a=100
like "perf unwinds our copies of stacks to main" "$(perf script -i d.data -F ip,sym 2>/dev/null)" ' main'
run "$FATHOM" record --call-graph bogus -d 1s
expect_status 2
expect_err 'use auto, fp, dwarf'
run "$FATHOM" record -e cpu-clock -b -d 100ms -o b.data
expect_status 3
expect_err 'no record of branches'
# The kernel would let a timer take all the time there is, and nothing else would ever run again.
rates=('-F 10000000' '-c 1000')
[ "$(cat /proc/sys/kernel/perf_event_max_sample_rate)" -le 50000 ] || rates+=('-F max')
for rate in "${rates[@]}"; do
	# shellcheck disable=SC2086 # two words
	run "$FATHOM" record -e cpu-clock $rate -d 100ms -o r.data -f
	expect_err_like "note: 'cpu-clock' is sampled at [1-5][0-9],[0-9]{3} Hz and not at [1-9]" \
		"$rate: lowered to what leaves time for others, and noted"
	expect_err_like "a timer's interrupt alone takes [0-9.]+[num]s" "$rate: says what was measured"
	expect_status 0 "$rate: and it ends"
done
run "$FATHOM" record -e cpu-clock,task-clock -F 9999 -d 100ms -o r.data -f
expect_err "note: 'task-clock' is sampled at" "timers share what there is"
run "$FATHOM" record -e cpu-clock -F 9999 -d 100ms -o r.data -f
unlike "a usual rate stays as it is" "$err" 'is sampled at'
spawn "$FATHOM" record -e cpu-clock -F 99 --idle -o int.data 2>int.err
wait_for_samples int.data
kill -INT "$spawned"
wait "$spawned"
is "Ctrl-C ends it well" $? 0
like "and it reports" "$(cat int.err)" 'next: fathom report -i int.data'
run "$FATHOM" record -e cycles -o y.data -- "$burn" --seconds 0.3 a=100
expect_status 0 "cycles works with a PMU and without"

# Many tracepoints: closing them (half a second and more) must not hold up the end.
ok "26 tracepoints do not hold up the end" python3 - "$FATHOM" <<'END'
import subprocess, sys, time
t = time.monotonic()
subprocess.run([sys.argv[1], "record", "-q", "-e", "sched:*", "-o", "q.data", "--", "true"])
t = time.monotonic() - t
print("# %.0f ms" % (t * 1000))
assert t < 10
END

# --- losses and the flight recorder ----------------------------------------------------------------

spawn "$burn" --seconds 0 --threads 2 a=100
run "$FATHOM" record -e cpu-clock -F 9999 -a -d 2s -o fast.data
expect_err_like ', 0 lost,' "nothing is lost at 9,999 Hz"
unlike "nor does perf see a loss" "$(perf report --stdio -i fast.data 2>&1)" 'LOST [1-9]'

run "$FATHOM" record -e cpu-clock -F 9999 --call-graph dwarf -m 1 -d 300ms -o lossy.data
expect_err_like ', [1-9][0-9,]* lost,' "a ring that is too small loses, and we say it"
lost=$(sed -nE 's/.*, ([0-9,]+) lost,.*/\1/p' <<<"$err" | tr -d ,)
is "the recording keeps the number" "$(perf script -i lossy.data -D 2>/dev/null |
	sed -nE 's/.*PERF_RECORD_LOST.*lost( samples )?:([0-9]+).*/\2/p' | awk '{ n += $1 } END { print n }')" "$lost"

spawn "$burn" --seconds 0 a=100
"$FATHOM" record -e cpu-clock -F 1999 --overwrite -m 64K -p "$spawned" -o fly.data 2>fly.err &
fly=$!
wait_until [ -s fly.data ]
runs_for "$spawned" 10
kill -USR2 "$fly"
wait_until grep -q 'wrote fly.data' fly.err
runs_for "$spawned" 10
kill -INT "$fly"
wait "$fly"
ok "SIGUSR2 writes the past to a file of its own" test "$(samples "$(echo fly.data.*)")" -gt 50
ok "the rest comes at the end" test "$(samples fly.data)" -gt 50

# --- privileges ----------------------------------------------------------------------------------

mkdir -m 777 open
cp "$FATHOM" open/fathom
chmod 755 "$TMP"
run setpriv --reuid 65534 --regid 65534 --clear-groups "$TMP/open/fathom" record -d 50ms -o open/n
if [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -gt 0 ]; then
	expect_status 3 "the whole machine is not for everybody"
	expect_err 'hint:'
else
	skip "perf_event_paranoid lets everybody see everything" 2
fi

# --- killed --------------------------------------------------------------------------------------

spawn "$FATHOM" record -a -e cpu-clock -F 99 -f -o killed.data
# what is complete is written each second
wait_until "$FATHOM" report -i killed.data >/dev/null 2>&1
run "$FATHOM" report -i killed.data
expect_status 0
expect_prose 'the recording continues: up to its last second is not in the file yet'
kill -KILL "$spawned"
wait "$spawned" 2>/dev/null
run "$FATHOM" report -i killed.data
expect_status 0
expect_prose 'the recording was cut: its recorder was killed'

# --- a full disk -----------------------------------------------------------------------------------

mkdir full
if unshare -m sh -c "mount -t tmpfs none '$TMP/full'" 2>/dev/null; then
	for level in 0 3; do
		size=$((level ? 256 : 16384))k # copies of one stack compress to a hundredth
		run unshare -m sh -c "mount -t tmpfs -o size=$size none '$TMP/full' &&
			'$FATHOM' record --call-graph dwarf -F 2999 -z$level -o '$TMP/full/cut.data' \\
			'$WORKLOADS/burn' --seconds 20 a=100
			status=\$?; cp '$TMP/full/cut.data' '$TMP/cut$level.data'; exit \$status"
		expect_status 1 "a full disk ends the recording (-z $level)"
		expect_err 'no space left on device'
		run "$FATHOM" report -i "cut$level.data"
		expect_status 0
		expect_prose 'the recording was cut: its disk was full'
		if command -v perf >/dev/null; then
			ours=$("$FATHOM" script -i "cut$level.data" -F time 2>/dev/null | grep -c .)
			theirs=$(perf script -i "cut$level.data" -F time 2>/dev/null | grep -c .)
			ok "perf reads it, too: $theirs of $ours samples" \
				test "$theirs" -gt 10 -a "$theirs" -eq "$ours"
		else
			skip 'no perf'
		fi
	done
else
	skip 'no mount namespaces' 8
fi
# Nobody has mounted tracefs: a mount of our own serves.
if unshare -m true 2>/dev/null && grep -q ' /sys/kernel/tracing ' /proc/mounts; then
	run unshare -m sh -c "umount -l /sys/kernel/debug/tracing /sys/kernel/debug 2>/dev/null
		umount -l /sys/kernel/tracing && ! test -e /sys/kernel/tracing/events &&
		'$FATHOM' record -q -e sched:sched_switch -d 200ms -o '$TMP/unmounted.data'"
	expect_status 0 'tracepoints are recorded where tracefs is not mounted'
	run "$FATHOM" script -i "$TMP/unmounted.data"
	expect_out_like 'sched:sched_switch: prev_comm=.* ==> next_comm=' '... with their formats'
else
	skip 'no mount namespaces, or tracefs is elsewhere' 2
fi

done_testing
