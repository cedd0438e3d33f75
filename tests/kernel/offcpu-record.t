#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# record --off-cpu: both halves of time in one file, and every view of it.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
# shellcheck source=tests/lib/waits.sh
. "$(dirname "$0")/../lib/waits.sh"

need_root
need_cmd python3
need_file "$WORKLOADS/block" "$WORKLOADS/chain" "$WORKLOADS/burn"
cd "$TMP" || exit 1


# --- a program, and what it waits for ------------------------------------------------------------

run "$FATHOM" record --chains -o pipe.data -- "$WORKLOADS/block" pipe
expect_status 0
expect_err_like 'waits: [0-9,]+ samples of time off the CPU with chains of wakers$'
waited=$(truth "$out_file" waited)
run "$FATHOM" evlist -i pipe.data
is "its events" "$(grep -v dummy "$out_file" | tail -n +2 | tr '\n' ' ')" \
	"offcpu-time runqueue-time wakeup-time chain-time "
"$FATHOM" offcpu -i pipe.data --folded >off.folded
got=$(sum_of off.folded "^reader;$THREAD_ROOT;blocker_main;wait_for_data;read;.*pipe_read")
ok "offcpu -i: the reader's waits, 2 % ($got us)" near "$got" "$waited" 2
"$FATHOM" offwake -i pipe.data --folded >offwake.folded
got=$(sum_of offwake.folded '^reader;.*blocker_main;.*;--;.*write_late;.*;writer [0-9]+$')
ok "offwake -i: the writer ended them ($got us)" near "$got" "$waited" 6
"$FATHOM" wakeup -i pipe.data --folded >wakeup.folded
got=$(sum_of wakeup.folded "^writer;$THREAD_ROOT;waker_main;write_late;.*;reader [0-9]+\$")
ok "wakeup -i: from the writer's side ($got us)" near "$got" "$waited" 6
"$FATHOM" fold -i pipe.data --event wakeup-time | grep '^swapper;' >irq.folded
ok "a timer's stack is its own" test -s irq.folded
not_ok "... and not that of the task which it interrupted" \
	grep -Evq '^swapper;(asm_|__)?(sysvec_|common_interrupt|handle_softirqs|do_softirq)' irq.folded
unlike "the program's wait for our word to begin is no wait" \
	"$("$FATHOM" script -i pipe.data -F comm,event,sym)" '^:[0-9]'

run "$FATHOM" record --chains -o chain.data -- "$WORKLOADS/chain"
expect_status 0
"$FATHOM" chain -i chain.data --folded >chain.folded
got=$(sum_of chain.folded '^chain-a;.*a_waits_for_b;.*;b_wakes_a;.*;chain-b;--;.*;b_waits_for_c;.*;--;.*;c_wakes_b;.*;chain-c;--;.*;c_sleeps;.*;--;.*;\[timer\] ')
all=$(sum_of chain.folded '^chain-a;.*a_waits_for_b;')
ok "chain -i: a - b - c - timer ($got of $all us)" near "$got" "$all" 10
"$FATHOM" chain -i chain.data --no-kernel --folded >users.folded
got=$(sum_of users.folded '^chain-a;.*a_waits_for_b;.*;chain-b;--;.*b_waits_for_c;.*;chain-c;--;.*c_sleeps;.*;--;\[timer\] ')
ok "chain -i --no-kernel: the timer has its name ($got of $all us)" near "$got" "$all" 10
unlike "chain -i --no-kernel: no frame of the kernel" "$(cat users.folded)" 'schedule|hrtimer'
run "$FATHOM" chain -i chain.data
expect_out_like '^file: chain.data +duration: [0-9.]+m?s +blocked: '
expect_out_like '\blost: 0$'
expect_out_like 'chain-a +chain-b <- chain-c <- \[timer\]'

# --- the views know the events -------------------------------------------------------------------

run "$FATHOM" report -i pipe.data --event offcpu-time --json
ok "report: the same time" python3 - "$out_file" "$waited" <<'END'
import json, sys
r = json.load(open(sys.argv[1]))
got = sum(n["value"] for n in r["tree"] if n["label"] == "wait_for_data") / 1e3
assert abs(got - float(sys.argv[2])) < 0.02 * float(sys.argv[2]), got
END
run "$FATHOM" report -i pipe.data --event offcpu-time
expect_out_like '[0-9.]+%  [0-9.]+m?s .*wait_for_data'
expect_out_like '^ *TIME +CHILDREN'
expect_out_like '^ *[0-9.]+m?s +[0-9.]+%.* wait_for_data$'
run "$FATHOM" fold -i pipe.data --event offcpu-time
expect_out_like '^reader;.*wait_for_data;.*schedule[^;]* [0-9]+$'
run "$FATHOM" flame -i pipe.data --event runqueue-time -o runq.svg
expect_status 0
like "a picture says how much it is of, and what was lost" "$(cat runq.svg)" '[0-9]+ samples, [0-9.]+[mu]?s of runqueue-time over [0-9.]+m?s, none lost'
run "$FATHOM" heatmap -i pipe.data --event offcpu-time -o heat.svg
expect_status 0

# --- filters of the reader -----------------------------------------------------------------------

run "$FATHOM" offcpu -i pipe.data --comm writer --folded
unlike "--comm" "$out" '^(reader|block);'
like "--comm keeps" "$out" '^writer;'
run "$FATHOM" offcpu -i pipe.data --min 20ms --max 300ms --folded
unlike "--max leaves out the main thread's long wait" "$out" '^block;.*join'
like "--min keeps what is long enough" "$out" '^reader;.*wait_for_data'
run "$FATHOM" offcpu -i pipe.data --no-kernel --folded
unlike "--no-kernel" "$out" 'schedule'
run "$FATHOM" offcpu -i pipe.data --no-user --folded
unlike "--no-user" "$out" 'wait_for_data'
run "$FATHOM" offcpu -i pipe.data --state D --folded
unlike "--state" "$out" 'wait_for_data'

# --- intervals of recorded time -------------------------------------------------------------------

"$FATHOM" script -i pipe.data --ns -F time,event,period >pipe.script
run "$FATHOM" offcpu -i pipe.data --open --interval 200ms --json
expect_status 0
ok "--interval: each has the waits that ended in it" python3 - "$out_file" pipe.script <<'END'
import json, re, sys
parts = [json.loads(l) for l in open(sys.argv[1])]
samples = [re.match(r"\s*(\d+)\.(\d{9}):\s+(\d+)\s+(\S+):", l).groups() for l in open(sys.argv[2]) if l.strip()]
samples = [(int(s) * 10**9 + int(ns), int(period), event) for s, ns, period, event in samples]
begin = min(s[0] for s in samples)
want = {}
for time, period, event in samples:
    if event == "offcpu-time":
        at = (time - begin) // 200_000_000 * 200_000_000
        want[at] = want.get(at, 0) + period
assert len(parts) >= 4, len(parts)
got = {p["facts"]["from_ns"]: p["facts"]["blocked_ns"] for p in parts if p["facts"]["blocked_ns"]}
assert got == want, (got, want)
for p in parts:
    assert sum(w["time_ns"] for w in p["waits"]) == p["facts"]["blocked_ns"], p
    assert 0 < p["facts"]["duration_ns"] <= 200_000_000, p["facts"]
END
run "$FATHOM" offwake -i pipe.data --json 0.2 2
expect_status 0
is "an interval and a count give two results" "$(grep -c '"command":"offwake"' "$out_file")" 2
all=$(awk '{ n += $NF } END { print n }' offwake.folded)
got=$("$FATHOM" offwake -i pipe.data --interval 300ms --folded | awk '{ n += $NF } END { print n }')
ok "folded: the intervals are the whole but for what is cut off ($got of $all us)" near "$got" "$all" 1
for what in wakeup chain; do
	run "$FATHOM" $what -i pipe.data --interval 500ms
	expect_status 0
	expect_out_like '^from: 500' "$what: each tells where it begins"
done
run "$FATHOM" offcpu -i pipe.data -d 300ms --json
ok "-d: only the first part" python3 - "$out_file" "$waited" <<'END'
import json, sys
blocked = json.load(open(sys.argv[1]))["facts"]["blocked_ns"] / 1e3
assert 0 < blocked < 0.8 * float(sys.argv[2]), blocked
END

# --- targets, and forms of the file --------------------------------------------------------------

spawn "$WORKLOADS/block" pipe --count 2000
pid=$spawned
run "$FATHOM" record --wakers -p "$pid" -d 1s -z -o p.data
expect_status 0
"$FATHOM" offwake -i p.data --folded >p.folded
got=$(sum_of p.folded '^reader;.*wait_for_data;.*;--;.*write_late;.*;writer ')
ok "-p, -z: most of a second is the reader's ($got us)" [ "$got" -gt 800000 ]
ok "... and not more" [ "$got" -lt 1100000 ]
"$FATHOM" offcpu -i p.data --folded >p.folded
unlike "waits that were not seen from begin to end are not in it" "$(cat p.folded)" '^block;'
"$FATHOM" offcpu -i p.data --open --folded >p.folded
got=$(sum_of p.folded '^block;')
ok "--open shows the main thread, which waits all the time ($got us)" near "$got" 1000000 15
like "... with its stack from main on, though it slept before" "$(cat p.folded)" \
	'^block;_start;.*;main;.*futex_wait'
run "$FATHOM" record --off-cpu -t "$pid" -d 500ms -o t.data
expect_status 0
run "$FATHOM" offcpu -i t.data --open --folded
unlike "-t: one thread" "$out" '^(reader|writer);'
"$FATHOM" record --off-cpu -p "$pid" -d 1s -o - 2>/dev/null | "$FATHOM" report -i - --event offcpu-time >pipe.txt
like "a pipe carries waits" "$(cat pipe.txt)" 'wait_for_data'
run "$FATHOM" record --off-cpu -p "$pid" -d 2s --switch-output=700ms -o sw.data
expect_status 0
n=0
for f in sw.data*; do
	"$FATHOM" offcpu -i "$f" --open --folded >sw.folded
	grep -q '^reader;.*wait_for_data' sw.folded && n=$((n + 1))
done
ok "--switch-output: each file has its part ($n of $(find . -name 'sw.data*' | wc -l))" [ "$n" -ge 2 ]
kill "$pid"

# A waker outside of the target has names, too.
mkfifo fifo
sh -c 'exec 3>fifo; while :; do sleep 0.02; echo x >&3 || exit; done' &
writer=$!
spawn sh -c 'exec cat fifo >/dev/null'
pid=$spawned
run "$FATHOM" record --wakers -p "$pid" -d 1s -o out.data
expect_status 0
run "$FATHOM" wakeup -i out.data --folded
like "a waker that is not watched is named down to its functions" "$out" '^sh;.*__libc_start_main;.*write;.*pipe_write;.*;cat [0-9]+$'
kill "$writer" 2>/dev/null
wait "$writer" 2>/dev/null

# Of the whole machine's recording one process: its wakers are others, and stay.
spawn sh -c 'exec 3>fifo; while :; do sleep 0.02; echo x >&3 || exit; done'
spawn sh -c 'exec cat fifo >/dev/null'
pid=$spawned
run "$FATHOM" record --wakers -d 1s -o machine.data
expect_status 0
run "$FATHOM" flame -i machine.data -p "$pid" -o machine.html
expect_status 0
run "$FATHOM" offwake -i machine.data -p "$pid" --folded
like "offwake -i -p: wakers that are other processes" "$out" '^cat;.*pipe_read;.*;--;.*pipe_write;.*;sh [0-9]+$'
unlike "... and only waits of that process" "$out" '^sh;'

run "$FATHOM" record --off-cpu -d 1s -o all.data
expect_status 0
run "$FATHOM" offcpu -i all.data
expect_status 0

# --- what cannot be -------------------------------------------------------------------------------

run "$FATHOM" record --off-cpu --overwrite -d 1s -o no.data
expect_status 1 "a flight recorder cannot"
expect_err 'flight recorder'
run "$FATHOM" record --off-cpu -k realtime -d 1s -o no.data
expect_status 1 "another clock cannot"
run "$FATHOM" record --wait-min 1ms -d 1s -o no.data
expect_status 2 "--wait-min alone means nothing"
run "$FATHOM" record -o cpu.data -- "$WORKLOADS/burn" --seconds 0.2
run "$FATHOM" offcpu -i cpu.data
expect_status 4 "a recording without waits"
expect_err 'record --off-cpu'
run "$FATHOM" record --off-cpu -o no-wakers.data -- "$WORKLOADS/block" sleep --count 3
run "$FATHOM" offwake -i no-wakers.data
expect_status 4 "a recording without wakers"
expect_err 'record --wakers'
# --- hot and cold --------------------------------------------------------------------------------

# Three threads burn, one reads what one writes; with the main thread that is five, for the whole
# time, on two CPUs or fewer: some of it is spent waiting for one.
cat >both.c <<'END'
#include <pthread.h>
#include <time.h>
#include <unistd.h>
static int pipes[2];
static volatile unsigned long n;
static void *burn(void *arg) { for (;;) n++; return arg; }
static void *reader(void *arg) { char c; while (read(pipes[0], &c, 1) == 1); return arg; }
static void *writer(void *arg)
{
	struct timespec t = { 0, 20000000 };
	for (;;) { nanosleep(&t, NULL); if (write(pipes[1], "x", 1) != 1) return arg; }
}
int main(void)
{
	pthread_t t[5];
	if (pipe(pipes)) return 1;
	for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, burn, NULL);
	pthread_create(&t[3], NULL, reader, NULL);
	pthread_create(&t[4], NULL, writer, NULL);
	pause();
	return 0;
}
END
if cc -O1 -pthread both.c -o both 2>/dev/null; then
	spawn ./both
	pid=$spawned
	for ((i = 0; i < 100; i++)); do
		[ "$(find "/proc/$pid/task" -mindepth 1 -maxdepth 1 | wc -l)" -lt 6 ] || break
		sleep 0.1
	done
	run "$FATHOM" record --wakers -F 499 -p "$pid" -d 3s -o both.data
	expect_status 0
	seconds=$(sed -n 's/.* in \([0-9.]*\)s, .*/\1/p' "$err_file")
	run "$FATHOM" flame --hotcold --idle -i both.data --json
	expect_status 0
	ok "hot/cold: the whole is threads x duration, 1 % ($seconds s)" python3 - "$out_file" "$seconds" <<'END'
import json, sys
r = json.load(open(sys.argv[1]))
f, seconds = r["facts"], float(sys.argv[2])
# the duration is printed with one digit: what the scheduler saw is at most that much off
assert f["threads"] == 6, f
want = 6 * seconds * 1e9
assert abs(f["wall_ns"] - want) < 0.01 * want + 6 * 0.05e9, f
parts = f["oncpu_ns"] + f["runqueue_ns"] + f["blocked_ns"] + f["unknown_ns"]
assert abs(parts - f["wall_ns"]) < 1000, f
assert f["unknown_ns"] < 0.01 * f["wall_ns"], f
box = {}
for b in r["boxes"]:
    box[b["label"]] = box.get(b["label"], 0) + b["value"]
# three threads that never sleep: on a CPU, or waiting for one, all the time; of a wait that began
# before the recording the stack is not known
early = sum(b["value"] for b in r["boxes"] if b["depth"] == 2 and b["label"] == "[waiting for a CPU]")
assert abs(box["burn"] + early - want / 2) < 0.02 * want, (box["burn"], early)
assert abs(box["[on CPU]"] - f["oncpu_ns"]) < 1000
assert box["reader"] > 0.9 * want / 6 and box["writer"] > 0.9 * want / 6
END
	run "$FATHOM" flame --hotcold --idle -i both.data
	expect_out_like 'of wall-clock time of 6 threads'
	run "$FATHOM" flame --hotcold --idle -i both.data -o both.svg
	expect_status 0
	like "the picture says what colours mean" "$(cat both.svg)" '>waiting for a CPU [0-9.]+%<'
	like "... and what a box is made of" "$(cat both.svg)" '<title>burn \(.*% on CPU(, [0-9.]+% waiting for a CPU)?'
	run "$FATHOM" flame --hotcold --idle -i both.data --comm nobody -o none.svg
	expect_status 4 "nothing of that name"
	kill "$pid"
else
	skip "no compiler" 8
fi
run "$FATHOM" flame --hotcold --idle -i cpu.data
expect_status 4 "hot/cold needs both halves"
expect_err 'record --off-cpu'
done_testing
