#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# offcpu for some threads, for samples of time, for interrupts that wake, and on a kernel that does not
# describe its types.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
# shellcheck source=tests/lib/waits.sh
. "$(dirname "$0")/../lib/waits.sh"

need_root
need_cmd python3
need_file "$WORKLOADS/block" "$WORKLOADS/kinds"
cd "$TMP" || exit 1

# The thread of that name, once it has it.
tid_of() {
	local i t
	for ((i = 0; i < 100; i++)); do
		for t in "/proc/$1/task/"*; do
			[ "$(cat "$t/comm" 2>/dev/null)" = "$2" ] && echo "${t##*/}" && return
		done
		sleep 0.1
	done
}

# --- whose waits ---------------------------------------------------------------------------------

spawn "$WORKLOADS/block" pipe --count 100000 --ms 10
pid=$spawned
reader=$(tid_of "$pid" reader)
"$FATHOM" offcpu -t "$reader" -d 1s --folded >tid.folded
like "-t: the thread that was asked for" "$(cat tid.folded)" '^reader;'
unlike "-t: and no other" "$(cat tid.folded)" '^(block|writer);'
"$FATHOM" offcpu -p "$pid" --max 5ms -d 1s --folded >max.folded
unlike "--max leaves out what was longer" "$(cat max.folded)" 'wait_for_data'
"$FATHOM" offcpu -p "$pid" --user-threads -d 500ms --folded >user.folded
like "--user-threads: threads of programs" "$(cat user.folded)" '^reader;'
run "$FATHOM" offcpu -p "$pid" -k -d 300ms
expect_status 4
# bcc's letters and numbers mean here what they mean there
"$FATHOM" offcpu -p "$pid" -U -d 500ms --folded >user.folded
like "-U: frames of programs" "$(cat user.folded)" '^reader;.*wait_for_data'
unlike "-U: none of the kernel" "$(cat user.folded)" 'schedule'
"$FATHOM" offcpu -p "$pid" -K -d 500ms --folded >kernel.folded
like "-K: frames of the kernel" "$(cat kernel.folded)" '^reader;.*schedule'
unlike "-K: none of programs" "$(cat kernel.folded)" 'wait_for_data'
"$FATHOM" offcpu -p "$pid" --state 1 -d 500ms --folded >state.folded
like "--state 1: asleep" "$(cat state.folded)" '^reader;.*wait_for_data'
run "$FATHOM" offcpu -p "$pid" --state 2 -d 300ms --folded
unlike "--state 2: only what disks have in their hands" "$out" 'wait_for_data'
"$FATHOM" offwake -p "$pid" --no-kernel -d 500ms --folded >offwake.folded
like "--no-kernel: a timer that wakes keeps its name" "$(cat offwake.folded)" '^writer;.*;--;\[timer\] '
unlike "--no-kernel: and has no stack" "$(cat offwake.folded)" 'hrtimer|schedule'
run "$FATHOM" offcpu -p "$pid" -d 300ms
expect_out_like '^duration: .*(waits: [0-9,]+ +lost: 0|lost: 0)'
run "$FATHOM" offcpu -p "$pid" --interval 400ms -d 1200ms --json
expect_status 0
ok "--interval: each is about its own time" python3 - "$out_file" <<'END'
import json, sys
parts = [json.loads(l) for l in open(sys.argv[1]) if l.startswith("{")]
# on a busy machine one may come too late for its time, and the next one then has less
assert 2 <= len(parts) <= 3, len(parts)
assert 1.1e9 < sum(p["facts"]["duration_ns"] for p in parts) < 6e9, [p["facts"] for p in parts]
for p in parts:
    f = p["facts"]
    # two threads wait again and again; a wait counts where it ends
    longest = max((w["max_ns"] for w in p["waits"]), default=0)
    assert f["blocked_ns"] <= 2.05 * f["duration_ns"] + 2 * longest + 1e6, f
assert any(p["facts"]["blocked_ns"] > 0 for p in parts), parts
END

group=
for dir in /sys/fs/cgroup /sys/fs/cgroup/unified; do
	[ -e "$dir/cgroup.controllers" ] && mkdir "$dir/fathom-test-$$" 2>/dev/null && group=$dir/fathom-test-$$ && break
done
if [ -n "$group" ] && sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" true 2>/dev/null; then
	sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" "$WORKLOADS/block" sleep --count 100000 --ms 10 >/dev/null &
	inside=$!
	tid_of "$inside" sleeper >/dev/null
	"$FATHOM" offcpu -G "${group##*/}" -d 1s --folded >cgroup.folded
	like "-G: who is in the control group" "$(cat cgroup.folded)" '^sleeper;.*take_a_nap'
	unlike "-G: and nobody else" "$(cat cgroup.folded)" '^(reader|writer);'
	"$FATHOM" threads -G "${group##*/}" --by cgroup -d 1s --json >cgroup.json
	ok "threads --by cgroup names it" grep -q "${group##*/}" cgroup.json
	run "$FATHOM" runqlat --by cgroup -d 500ms
	expect_out_like "^cgroup = [0-9]+ /${group##*/}$"
	kill $inside
	wait $inside 2>/dev/null
	rmdir "$group"
else
	[ -z "$group" ] || rmdir "$group"
	skip "no control groups of version 2 to be used" 4
fi
kill "$pid"

# --- samples of time -----------------------------------------------------------------------------

# Both at the same time, of a thread whose waits are shorter than the period, and both by the clock of
# the run queue: it is set before a CPU has left idle, which in a virtual machine can be 5 % of such
# short waits earlier than the other clock.
spawn "$WORKLOADS/block" sleep --count 1000000 --ms 0.3
tid=$(tid_of "$spawned" sleeper)
"$FATHOM" offcpu -t "$tid" -d 4s --min 1ns --json >every.json &
every=$!
"$FATHOM" offcpu -t "$tid" -d 4s --period 1ms --json >some.json
wait $every
ok "--period 1ms: a fraction of the waits stands for all their time, 2 %" python3 - <<'END'
import json
every, some = (json.load(open(n + ".json")) for n in ("every", "some"))
total = [r["facts"]["blocked_ns"] + r["facts"]["runqueue_ns"] for r in (every, some)]
count = [sum(w["count"] for w in r["waits"]) for r in (every, some)]
assert abs(total[1] - total[0]) < 0.02 * total[0], total
assert count[1] < 0.8 * count[0], count
assert all((w["time_ns"] + w["runqueue_ns"]) % 1000000 == 0 for w in some["waits"]), some["waits"]
END
# Threads that wait for less than a period in all: together they must not vanish.
run "$FATHOM" offcpu --period 20ms --json -- sh -c 'for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 \
	21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40; do sleep 0.01 & done; wait'
ok "--period: short lives are seen by chance" python3 - "$out_file" <<'END'
import json, sys
rows = json.load(open(sys.argv[1]))["waits"]
n = sum(w["count"] for w in rows if w["comm"] == "sleep" and "nanosleep" in w["where"])
# 40 lives, each seen with a chance of a half: 3 or fewer, or 37 and more, once in 10^8 runs
assert 3 < n < 37 + 40, n
END

# Of a program that is started, also those that have the name only later than their parents.
run "$FATHOM" offcpu --comm sleep --json -- sh -c 'sleep 0.1; true'
expect_status 0
ok "--comm: a child of another name" python3 - "$out_file" <<'END'
import json, sys
rows = json.load(open(sys.argv[1]))["waits"]
assert {w["comm"] for w in rows} == {"sleep"}, rows
assert sum(w["time_ns"] for w in rows) > 0.09e9, rows
END

# --- interrupts that wake ------------------------------------------------------------------------

cat >remote.py <<'END'
import socket, threading, time
server = socket.socket()
server.bind(("127.0.0.1", 0))
server.listen(1)
def send():
    c, _ = server.accept()
    for i in range(10):
        time.sleep(0.05)
        c.send(b"x")
    c.close()
t = threading.Thread(target=send)
t.start()
c = socket.socket()
c.connect(server.getsockname())
while c.recv(1):
    pass
t.join()
END
run "$FATHOM" offwake --folded -- python3 remote.py
cp "$out_file" net.folded
got=$(sum_of net.folded 'tcp_recvmsg.*;--;.*tcp_rcv_established;.*;(\[network\]|python3) ')
ok "who waits for a socket is woken by the network, or by who sends ($got us)" [ "$got" -gt 400000 ]
# By loopback it is the sender that does the network's work, in a softirq that it calls itself.
got=$(sum_of net.folded "tcp_recvmsg.*;--;.*net_rx_action;.*;__local_bh_enable_ip;.*;tcp_sendmsg;.*;$THREAD_ROOT_LAST;python3 ")
ok "by loopback the sender is reported, down to its own code ($got us)" [ "$got" -gt 300000 ]
"$FATHOM" chain --folded -- python3 remote.py >chain.folded
got=$(sum_of chain.folded 'tcp_recvmsg.*;--;.*tcp_sendmsg;.*;python3( \(likely\))?;--;.*nanosleep;.*;--;.*;\[timer\] ')
ok "... and what it had been doing ($got us)" [ "$got" -gt 300000 ]

# A disk's answer comes while anybody runs, who has nothing to do with it.
head -c 16777216 /dev/urandom >file
sync -f file
case $(stat -f -c %T file) in
tmpfs | ramfs) skip "'$TMP' is in memory" ;;
*)
	spawn sh -c 'while :; do /bin/true; done'
	"$FATHOM" offwake --folded -- "$WORKLOADS/kinds" fault --file file 2>/dev/null | grep 'exc_page_fault;.*;--;' >fault.folded
	all=$(sum_of fault.folded .)
	got=$(sum_of fault.folded '(\[(disk|irq|softirq|other CPU)\]|(kworker|ksoftirqd|jbd2)[^;]*) ')
	ok "who waits for a page is woken by the disk: $got of $all us" [ "$got" -ge $((all * 95 / 100)) ]
	;;
esac

# --- a kernel that does not describe its types ---------------------------------------------------

# shellcheck disable=SC2016  # for the shell in there
hidden='mount -t tmpfs none /sys/kernel/btf && exec "$@"'
if unshare -m sh -c "$hidden" x true 2>/dev/null; then
	for command in "offcpu -d 100ms" "chain -d 100ms" "threads -d 100ms" "explain -p $$ -d 100ms" \
		"record --off-cpu -d 100ms -o no.data"; do
		# shellcheck disable=SC2086  # words
		run unshare -m sh -c "$hidden" x "$FATHOM" $command
		expect_status 3 "${command%% *} without types: what is missing is a feature"
		expect_err "/sys/kernel/btf/vmlinux"
		expect_err "CONFIG_DEBUG_INFO_BTF"
	done
	run unshare -m sh -c "$hidden" x "$FATHOM" sched latency -d 300ms
	expect_status 0 "the scheduler without types: works"
else
	skip "no mount namespace to hide the kernel's types in" 16
fi
done_testing
