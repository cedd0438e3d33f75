#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# offcpu, wakeup, offwake and chain against workloads that know how long they waited, and for whom.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
# shellcheck source=tests/lib/waits.sh
. "$(dirname "$0")/../lib/waits.sh"

need_root
need_cmd python3
need_file "$WORKLOADS/block" "$WORKLOADS/chain" "$WORKLOADS/hog" "$WORKLOADS/places"
cd "$TMP" || exit 1

# --- a reader, and who writes --------------------------------------------------------------------

run "$FATHOM" offcpu -o pipe.folded -- "$WORKLOADS/block" pipe
expect_status 0
is "the program's own output is left alone" "$(sed -n 's/^count=//p' "$out_file")" 20
got=$(sum_of pipe.folded '^(reader|block);.*;blocker_main;')
ok "the reader was blocked as long as it says, 2 % ($got us)" near "$got" "$(truth "$out_file" waited)" 2
ok "its stack names the read path, from the thread's start" \
	grep -Eq "^reader;$THREAD_ROOT;blocker_main;wait_for_data;read;.*pipe_read;.*schedule" pipe.folded

run "$FATHOM" offwake -o offwake.folded -- "$WORKLOADS/block" pipe
expect_status 0
got=$(sum_of offwake.folded '^reader;.*blocker_main;.*;--;.*write_late;.*;writer [0-9]+$')
ok "offwake: the writer ended it, upside down from the wake-up on ($got us)" \
	near "$got" "$(truth "$out_file" waited)" 6
ok "offwake: the writer itself was woken by a timer" \
	grep -Eq '^writer;.*nanosleep;.*;--;.*hrtimer.*;\[timer\] ' offwake.folded

run "$FATHOM" wakeup -o wakeup.folded -- "$WORKLOADS/block" pipe
expect_status 0
ok "wakeup: the waker's stack with the woken on top" \
	grep -Eq "^writer;$THREAD_ROOT;waker_main;write_late;.*;reader [0-9]{5,}\$" wakeup.folded

# --- a mutex ------------------------------------------------------------------------------------

run "$FATHOM" offwake -o mutex.folded -- "$WORKLOADS/block" mutex
got=$(sum_of mutex.folded "^waiter;.*;wait_for_lock;.*;--;.*(unlock[^;]*|$LIBC_PLACE);hold_lock;.*;holder ")
ok "the holder of the lock ended the waits for it ($got us)" near "$got" "$(truth "$out_file" waited)" 10

# --- A waits for B waits for C waits for a timer -------------------------------------------------

run "$FATHOM" chain -o chain.folded -- "$WORKLOADS/chain"
expect_status 0
got=$(sum_of chain.folded '^chain-a;.*a_waits_for_b;.*;b_wakes_a;.*;chain-b;--;.*;b_waits_for_c;.*;--;.*;c_wakes_b;.*;chain-c;--;.*;c_sleeps;.*;--;.*;\[timer\] ')
all=$(sum_of chain.folded '^chain-a;.*a_waits_for_b;')
# the thread itself cannot tell being blocked from waiting for a CPU afterwards
ok "chain: a was blocked no longer than it says ($all us)" [ "$all" -le "$(truth "$out_file" blocked.a)" ]
ok "chain: a - b - c - timer with the time of a ($got of $all us)" near "$got" "$all" 10
got=$(sum_of chain.folded '^chain-b;.*;--;.*;c_wakes_b;.*;chain-c;--;.*;c_sleeps;.*\[timer\] ')
all=$(sum_of chain.folded '^chain-b;.*b_waits_for_c;')
ok "chain: b - c - timer ($got of $all us)" near "$got" "$all" 10

# --- places that look alike: a stack that is recognised is the stack that is there ---------------

run "$FATHOM" offcpu -o places.folded -- "$WORKLOADS/places"
expect_status 0
for from in near next; do
	for kind in pipe:pipe_read event:eventfd_read socket:unix_stream_read; do
		got=$(sum_of places.folded "^(waiter|places);.*;main;$from;wait_on;.*${kind#*:}")
		ok "waiting in $from for a ${kind%:*} ($got us)" \
			near "$got" "$(truth "$out_file" "$from.${kind%:*}")" 12
	done
done

# what it has in rbp differs each time, and does not matter; where we are in memory does not either
recognised() { sed -n 's/.*"stacks_recognised": *\([0-9]*\).*/\1/p' "$out_file"; }
run "$FATHOM" offcpu --json -- "$WORKLOADS/block" sleep --count 300 --ms 2
expect_status 0
ok "a thread that naps in one place is recognised there ($(recognised) times of 300)" \
	[ "$(recognised)" -gt 50 ]
FATHOM_CHECK_STACKS=1 run "$FATHOM" offcpu --json -- "$WORKLOADS/block" sleep --count 300 --ms 2
expect_status 0
checked=$(sed -n 's/.*"stacks_checked": *\([0-9]*\).*/\1/p' "$out_file")
is "each of them can be checked" "$checked" "$(recognised)"
like "and is right" "$out" '"stacks_misrecognised": 0'
run "$FATHOM" offcpu --walk-always --json -- "$WORKLOADS/block" sleep --count 300 --ms 2
expect_status 0
is "with --walk-always none is recognised" "$(recognised)" 0

# --- a hog: runnable is not blocked -------------------------------------------------------------

run "$FATHOM" offcpu --threads --runqueue -n 0 --json -- "$WORKLOADS/hog" --seconds 2
expect_status 0
ok "the victim's and the hog's waiting for a CPU is what the kernel counts" python3 - "$out_file" <<'END'
import json, re, sys
text = open(sys.argv[1]).read()
truth = dict(re.findall(r"^([a-z.]+)=([0-9.]+)$", text, re.M))
rows = json.loads(text[text.index("{\n"):])["waits"]
for comm in ("hog", "victim"):
    # the thread that started both has the name of the first
    mine = [r for r in rows if r["comm"] == comm and r["tid"] != int(truth["pid"])]
    runq = sum(r["runqueue_ns"] for r in mine) / 1e9
    delay = float(truth[comm + ".delay"])
    assert abs(runq - delay) < 0.05 + 0.05 * delay, (comm, runq, truth)
END

# Stacks are walked where they are shown: of one that only lost its CPU, with --runqueue.
walked() { sed -n 's/^ *"stacks_to_root": \([0-9]*\),$/\1/p' "$out_file"; }
run "$FATHOM" offcpu --runqueue --json -- "$WORKLOADS/hog" --seconds 1
like "where the hog was when it lost its CPU" "$out" hog_burns
all=$(walked)
run "$FATHOM" offcpu --json -- "$WORKLOADS/hog" --seconds 1
unlike "which is not asked for otherwise" "$out" hog_burns
ok "so fewer stacks are walked: $(walked), not $all" [ "$(walked)" -lt $((all * 3 / 4)) ]

# --- filters and forms --------------------------------------------------------------------------

run "$FATHOM" offcpu --min 500ms --folded -- "$WORKLOADS/block" sleep --count 100 --ms 10
unlike "--min leaves out what was shorter" "$out" 'take_a_nap'
like "--min keeps what was longer" "$out" "^block;.*(clockjoin|main;$LIBC_PLACE)"
run "$FATHOM" offcpu --state D --folded -- "$WORKLOADS/block" sleep --count 3
unlike "--state leaves out other states" "$out" 'take_a_nap'
run "$FATHOM" offcpu --comm sleeper --folded -- "$WORKLOADS/block" sleep --count 5
like "--comm keeps its threads" "$out" '^sleeper;.*take_a_nap'
unlike "--comm leaves out others" "$out" '^block;_start'
run "$FATHOM" offcpu --period 20ms --json -- "$WORKLOADS/block" sleep --count 20
ok "--period: the weights are multiples of it and sum to the time" python3 - "$out_file" <<'END'
import json, sys
text = open(sys.argv[1]).read()
rows = json.loads(text[text.index("{\n"):])["waits"]
mine = [r for r in rows if "nanosleep" in r["where"]]
for r in mine:
    assert (r["time_ns"] + r["runqueue_ns"]) % 20_000_000 == 0, r
total = sum(r["time_ns"] for r in mine) / 1e9
assert 0.95 < total < 1.1, total
END
"$WORKLOADS/block" sleep --count 200 --ms 10 >/dev/null &
pid=$!
run "$FATHOM" offcpu -p $pid --json 0.5 2
expect_status 0
is "an interval and a count give two results" "$(grep -c '"command":"offcpu"' "$out_file")" 2
"$FATHOM" offcpu -d 1s --json >all.json &
own=$!
wait $own
is "the whole machine" $? 0
ok "our own threads are left out" python3 - "$own" all.json <<'END'
import json, sys
rows = json.load(open(sys.argv[2]))["waits"]
assert rows and not [r for r in rows if r["pid"] == int(sys.argv[1])], rows
END
kill $pid 2>/dev/null
wait $pid 2>/dev/null

run "$FATHOM" offwake -o x.svg -- "$WORKLOADS/block" pipe --count 5
expect_status 0
like "a picture with its divider" "$(cat x.svg)" '<title>-- \('
run "$FATHOM" offwake -o x.svg -- "$WORKLOADS/block" pipe --count 1
expect_status 1 "no file is overwritten without --force"
run "$FATHOM" chain -o x.html -- "$WORKLOADS/chain" --count 3
expect_status 0
expect_err_like "wrote 'x.html', [0-9]+ KiB: open it in a browser"
ok "a page" grep -q '<html' x.html
run "$FATHOM" offcpu -o x.png -d 1s
expect_status 2 "a format that is none"
run "$FATHOM" offcpu --state Q -d 1s
expect_status 2 "a state that is none"
expect_err "hint:"
run "$FATHOM" offcpu -- sh -c 'exit 7'
expect_status 7 "the program's status is ours"
run "$FATHOM" offcpu -i /dev/null
expect_status 4 "an empty recording is refused"

# --- tasks that end while others look ------------------------------------------------------------

run "$FATHOM" offcpu --json -- sh -c 'for i in 1 2 3 4 5 6 7 8; do sleep 0.05 & done; sleep 0.2; kill %1 2>/dev/null; exec sleep 0.1'
expect_status 0
ok "forks, exits and execs while blocked: nothing lost, total plausible" python3 - "$out_file" <<'END'
import json, sys
r = json.load(open(sys.argv[1]))
assert r["facts"]["blocked_ns"] > 8 * 0.05e9, r["facts"]
losses = r.get("losses", {})
assert not any(losses.values()) if isinstance(losses, dict) else not any(l["count"] for l in losses), losses
END

# --- nothing to draw ------------------------------------------------------------------------------

run "$FATHOM" offcpu --comm nobody-has-it -o "$TMP/none.svg" -- true
expect_status 4
expect_err "nothing to draw: nothing was blocked
hint: --runqueue draws waits for a CPU"
not_ok "and no picture is left" test -e "$TMP/none.svg"
done_testing
