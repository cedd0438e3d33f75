#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# Waits on a kernel that does not describe its types: by raw tracepoints, with the types from a file.
# Any kernel is one as far as we are concerned when FATHOM_NO_BTF is set.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
# shellcheck source=tests/lib/waits.sh
. "$(dirname "$0")/../lib/waits.sh"

need_root
need_cmd python3
need_file /sys/kernel/btf/vmlinux
need_file "$WORKLOADS/block" "$WORKLOADS/chain" "$WORKLOADS/hog" "$WORKLOADS/mixed" \
	"$WORKLOADS/burn"
cd "$TMP" || exit 1
types=/sys/kernel/btf/vmlinux
# within VALUE LOW HIGH
within() { [ "$1" -ge "$2" ] && [ "$1" -le "$3" ]; }
export FATHOM_NO_BTF=1 FATHOM_BTF=$types

# --- the truth ----------------------------------------------------------------------------------

run "$FATHOM" offcpu -o pipe.folded -- "$WORKLOADS/block" pipe
expect_status 0
got=$(sum_of pipe.folded '^(reader|block);.*;blocker_main;')
# it waits for 20 x 50 ms at least, and what it says has the time for a CPU in it
all=$(truth "$out_file" waited)
ok "the reader was blocked as long as it must be, and no longer than it says ($got of $all us)" \
	within "$got" 980000 $((all * 102 / 100))
ok "its stack names the read path, from the thread's start" \
	grep -Eq "^reader;$THREAD_ROOT;blocker_main;wait_for_data;read;.*pipe_read;.*schedule" pipe.folded

run "$FATHOM" offwake -o offwake.folded -- "$WORKLOADS/block" pipe
expect_status 0
got=$(sum_of offwake.folded '^reader;.*blocker_main;.*;--;.*write_late;.*;writer [0-9]+$')
all=$(truth "$out_file" waited)
ok "offwake: the writer ended it ($got of $all us)" within "$got" 940000 $((all * 102 / 100))
ok "offwake: the writer itself was woken by a timer" \
	grep -Eq '^writer;.*nanosleep;.*;--;.*hrtimer.*;\[timer\] ' offwake.folded

run "$FATHOM" chain -o chain.folded -- "$WORKLOADS/chain"
expect_status 0
got=$(sum_of chain.folded '^chain-a;.*a_waits_for_b;.*;b_wakes_a;.*;chain-b;--;.*;b_waits_for_c;.*;--;.*;c_wakes_b;.*;chain-c;--;.*;c_sleeps;.*;--;.*;\[timer\] ')
all=$(sum_of chain.folded '^chain-a;.*a_waits_for_b;')
ok "chain: a - b - c - timer with the time of a ($got of $all us)" near "$got" "$all" 10

run "$FATHOM" explain -- "$WORKLOADS/hog" --seconds 1
expect_status 0
expect_out 'waiting for a CPU'
expect_out 'Who had the CPU in that time'

run "$FATHOM" threads --json -- "$WORKLOADS/mixed"
expect_status 0
ok "the states of each thread sum to its wall time, which is what it says" python3 - "$out_file" <<'END'
import json, re, sys
text = open(sys.argv[1]).read()
truth = {k: float(v) for k, v in re.findall(r"^([a-z._]+)=(-?[0-9.]+)$", text, re.M)}
doc = json.loads(text[text.index("{\n"):])
rows = doc["threads"]
assert {r["comm"] for r in rows} >= {"burner", "rival", "copier", "sleeper", "reader", "writer", "yielder"}
for r in rows:
    shares = sum(v for k, v in r.items() if k.endswith("_percent"))
    assert abs(shares - 100) <= 0.1, r
    # before its first look at the clock and after its last it may have to wait for a CPU
    wall, got = truth.get(r["comm"] + ".wall"), r["wall_ns"] / 1e9
    late = r["runnable_percent"] / 100 * got
    assert wall is None or -0.01 * wall - 0.1 <= got - wall <= 0.01 * wall + 0.1 + late, (r, wall)
assert not any(doc["losses"].values()), doc["losses"]
END

# Those who sleep already are found by the kernel's list of threads.
spawn "$WORKLOADS/block" sleep --count 1 --ms 20000 >/dev/null
pid=$spawned
for _ in $(seq 100); do
	[ "$(cat /proc/$pid/task/*/comm 2>/dev/null | grep -c sleeper)" -eq 1 ] && break
	sleep 0.05
done
run "$FATHOM" explain -p $pid -d 500ms
expect_status 0
like "who slept before we looked is shown, with the user's part of its stack" \
	"$(flat "$out")" 'sleeper [^.]* sleeping on a timer in [^.]*take_a_nap'
run "$FATHOM" threads -p $pid -d 500ms --json
expect_status 0
ok "... and accounted for from then on" python3 - "$out_file" <<'END'
import json, sys
rows = {r["comm"]: r for r in json.load(open(sys.argv[1]))["threads"]}
assert {"block", "sleeper"} <= set(rows), rows
assert rows["sleeper"]["sleep_percent"] > 95, rows["sleeper"]
END
kill "$pid"

run "$FATHOM" record --off-cpu --wakers -o both.data -- "$WORKLOADS/block" pipe --count 5
expect_status 0
run "$FATHOM" offwake -i both.data --folded
like "recorded: the writer ended it" "$out" '^reader;.*wait_for_data;.*;--;.*write_late;.*;writer '

run "$FATHOM" record -F 499 -o cpu.data -- "$WORKLOADS/burn" --seconds 0.5 a=70 b=30
expect_status 0
expect_err "unwound in the kernel"
run "$FATHOM" fold -i cpu.data
like "sampled: whole stacks" "$out" '^burn;_start;.*;main;work;a'
run "$FATHOM" trace -e 'tracepoint:syscalls:sys_enter_clock_nanosleep /comm == "sleeper" && pid == cpid/ { @[ustack] = count(); }' \
	-c "$WORKLOADS/block sleep --count 3"
expect_status 0 "trace"
# the first may come before the table that it is unwound by
like "traced: whole user stacks" "$(printf '%s' "$out" | tr -d '\n')" \
	'clock_nanosleep[+0-9]* +take_a_nap[+0-9]* +blocker_main[^]]*\]: [1-3]'

for what in runqlat cpudist runqlen; do
	run "$FATHOM" $what -d 500ms --json
	expect_status 0
	like "$what counts something" "$out" '"count": *[1-9]'
done

# --- what it does not know is said ---------------------------------------------------------------

run "$FATHOM" offcpu -d 100ms --json
expect_out '"tracepoints": "raw"' "its source is reported"
run "$FATHOM" doctor --json
ok "doctor says whose types are used, and what that leads to" python3 - "$out_file" <<'END'
import json, sys
rows = {r["mechanism"]: r for r in json.load(open(sys.argv[1]))["rows"]}
row = rows["BTF"]
assert row["status"] == "partly" and "/sys/kernel/btf/vmlinux" in row["detail"], row
assert "raw tracepoints" in row["detail"], row
assert rows["typed raw tracepoint"]["status"] == "missing", rows["typed raw tracepoint"]
END

# --- files that are none -------------------------------------------------------------------------

run env FATHOM_BTF= "$FATHOM" runqlat -d 100ms
expect_status 3 "without types: what is missing is a feature"
expect_err CONFIG_DEBUG_INFO_BTF
expect_err FATHOM_BTF=FILE
run env FATHOM_BTF=/etc/passwd "$FATHOM" offcpu -d 100ms
expect_err "'/etc/passwd', which FATHOM_BTF names, holds no kernel types"
run env FATHOM_BTF=nowhere "$FATHOM" offcpu -d 100ms
expect_status 1
expect_err "'nowhere'"
head -c 100000 "$types" >half
for command in offcpu runqlat; do
	run env FATHOM_BTF=half "$FATHOM" $command -d 100ms
	not_ok "$command: half a file is refused" [ "$status" -eq 0 ]
	expect_err "'half'"
done
# the same with two names of fields exchanged
python3 - "$types" <<'END'
import sys
data = open(sys.argv[1], "rb").read()
assert data.count(b"\0tgid\0") == data.count(b"\0prio\0") == 1
data = data.replace(b"\0tgid\0", b"\0XXXX\0").replace(b"\0prio\0", b"\0tgid\0").replace(b"\0XXXX\0", b"\0prio\0")
open("strange", "wb").write(data)
END
run env FATHOM_BTF=strange "$FATHOM" offcpu -d 100ms
not_ok "types of another kernel are noticed" [ "$status" -eq 0 ]
expect_err "not about this kernel"

# a vmlinux has them in a section
if command -v objcopy >/dev/null && cp "$WORKLOADS/block" elf && objcopy --add-section .BTF="$types" elf 2>/dev/null; then
	run env FATHOM_BTF=elf "$FATHOM" offcpu --folded -- "$WORKLOADS/block" pipe --count 3
	expect_status 0 "types from a section of an ELF file"
	like "... do as well" "$out" '^reader;.*wait_for_data;'
	# shellcheck disable=SC2016  # for the shell in there
	boot='mount -t tmpfs none /boot && cp elf "/boot/vmlinux-$(uname -r)" && exec "$@"'
	if mkdir -p /boot && unshare -m sh -c "$boot" x true 2>/dev/null; then
		run unshare -m sh -c "$boot" x env FATHOM_BTF= "$FATHOM" runqlat -d 200ms
		expect_status 0 "a vmlinux in its usual place is found"
	else
		skip "no mount namespace to put a vmlinux into"
	fi
else
	skip "objcopy makes no file with types" 3
fi
done_testing
