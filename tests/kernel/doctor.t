#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
#
# doctor against checks of its own kind made in other ways. Nothing is assumed about the machine:
# where the independent check says that a mechanism is there, doctor must agree, and the other way
# round.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
need_file "$FATHOM"
need_cmd python3

status_of() {
	python3 - "$TMP/doctor.json" "$1" "${2:-status}" <<'END'
import json, sys
for row in json.load(open(sys.argv[1]))["rows"]:
    if row["mechanism"] == sys.argv[2]:
        print(row[sys.argv[3]])
END
}

# works NAME, missing NAME: the status; a missing one must say why and what helps.
works() { is "$1 works" "$(status_of "$1")" works; }
explained() {
	like "$1 is missing and says why" "$(status_of "$1" detail)" '.'
	like "$1 is missing and says what helps" "$(status_of "$1" fix)" '.'
}
missing() { is "$1 is missing" "$(status_of "$1")" missing && explained "$1"; }

count_programs() { bpftool prog show 2>/dev/null | grep -c 'name fathom_trial'; }
state() {
	grep -c . /proc/mounts
	cat /sys/kernel/tracing/uprobe_events /sys/kernel/tracing/kprobe_events 2>/dev/null
	ls /sys/kernel/tracing/instances 2>/dev/null
	sysctl -n kernel.perf_event_paranoid kernel.kptr_restrict 2>/dev/null
}

# Others may be at work on this machine: a change counts when it comes with every run.
for _ in 1 2 3; do
	before=$(state)
	start=$(date +%s%N)
	run "$FATHOM" doctor --json
	end=$(date +%s%N)
	after=$(state)
	[ "$after" = "$before" ] && break
done
expect_status 0
is 'nothing on stderr' "$err" ''
cp "$out_file" "$TMP/doctor.json"
ok 'the JSON parses' python3 -m json.tool "$TMP/doctor.json" "$TMP/pretty.json"
diag "took $(((end - start) / 1000000)) ms"
is 'nothing was changed' "$after" "$before"

is 'every row has a known status' "$(python3 - "$TMP/doctor.json" <<'END'
import json, sys
d = json.load(open(sys.argv[1]))
bad = [r["mechanism"] for r in d["rows"] if r["status"] not in ("works", "partly", "missing", "unknown")]
bad += [r["mechanism"] for r in d["rows"] if r["status"] == "missing" and not (r["detail"] and r["fix"] and r["lost"])]
f = d["facts"]
for s in ("works", "partly", "missing", "unknown"):
    if f[s] != sum(r["status"] == s for r in d["rows"]):
        bad.append("count of " + s)
print(" ".join(bad))
END
)" ''
is 'the kernel is this one' "$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["facts"]["kernel"])' "$TMP/doctor.json")" "$(uname -r) $(uname -m)"

# --- each mechanism, seen in another way ---------------------------------------------------------

if [ -e /sys/kernel/btf/vmlinux ]; then works BTF; else missing BTF; fi
if grep -q some /proc/pressure/cpu 2>/dev/null; then works PSI; else missing PSI; fi
if [ -e /proc/schedstat ]; then works schedstat; else missing schedstat; fi
if grep -q ' cgroup2 ' /proc/mounts; then
	works 'cgroup v2'
else
	missing 'cgroup v2'
fi
if [ -r /proc/kallsyms ] && head -n 20 /proc/kallsyms | grep -vq '^0* '; then
	works 'kallsyms addresses'
else
	missing 'kallsyms addresses'
fi

for name in BPF PERFMON SYS_ADMIN SYS_PTRACE SYSLOG DAC_READ_SEARCH SYS_RESOURCE IPC_LOCK NET_ADMIN; do
	number=$(python3 -c '
import sys
print({"DAC_READ_SEARCH": 2, "NET_ADMIN": 12, "IPC_LOCK": 14, "SYS_PTRACE": 19, "SYS_ADMIN": 21,
       "SYS_RESOURCE": 24, "SYSLOG": 34, "PERFMON": 38, "BPF": 39}[sys.argv[1]])' "$name")
	held=$(awk '/^CapEff/ { print $2 }' /proc/self/status)
	if [ $(((0x$held >> number) & 1)) -eq 1 ]; then works "CAP_$name"; else missing "CAP_$name"; fi
done

if [ "$(id -u)" -eq 0 ] && [ $(((0x$(awk '/^CapEff/ { print $2 }' /proc/self/status) >> 39) & 1)) -eq 1 ]; then
	for name in 'perf software events' 'BPF ring buffer' 'typed raw tracepoint' 'raw tracepoint' \
		'tracepoint program' 'perf-event program'; do
		works "$name"
	done
	if [ -e /sys/bus/event_source/devices/uprobe/type ]; then
		works uprobe
		works 'USDT semaphores'
	else
		missing uprobe
	fi
	if [ -e /sys/bus/event_source/devices/kprobe/type ]; then
		works kprobe
	else
		missing kprobe
	fi
	# bpftool names link types that its kernel headers know, so ask BTF for the attach type.
	if bpftool btf dump file /sys/kernel/btf/vmlinux format raw 2>/dev/null |
		grep -q BPF_TRACE_UPROBE_MULTI; then
		works uprobe_multi
	else
		skip 'bpftool cannot tell about uprobe_multi'
	fi
else
	skip 'needs root with CAP_BPF' 9
fi

# fentry: the kernel may refuse for a reason that only a trial shows, so only the form is checked.
case $(status_of fentry) in
works) pass 'fentry works' ;;
*) explained fentry ;;
esac
case $(status_of 'hardware PMU') in
missing)
	not_ok 'no PMU where doctor says so' \
		test -e /sys/bus/event_source/devices/cpu/events/cpu-cycles
	explained 'hardware PMU'
	;;
*) ok 'a PMU where doctor says so' test -e /sys/bus/event_source/devices/cpu ;;
esac
for tracer in function function_graph; do
	if grep -qw "$tracer" /sys/kernel/tracing/available_tracers 2>/dev/null &&
		head -c 1 /sys/kernel/tracing/available_filter_functions >/dev/null 2>&1; then
		works "$tracer tracer"
	elif [ -e /sys/kernel/tracing/available_tracers ]; then
		missing "$tracer tracer"
	else
		skip 'tracefs is not mounted'
	fi
done

# --- for people -----------------------------------------------------------------------------------

run "$FATHOM" doctor
expect_status 0
expect_out_like '^perf software events +(works|partly|missing)' 'a row for people'
expect_out_like '^[0-9]+ work,.* missing' 'a summary at the end'
is 'no line is longer than 80 columns' "$(COLUMNS=80 "$FATHOM" doctor | awk 'length > 80' | grep -v '^  setcap')" ''
run "$FATHOM" doctor -v
expect_out 'lost: ' '-v says what is lost'
run "$FATHOM" doctor --json 'uprobe*' BTF
is 'patterns choose rows' "$(python3 -c '
import json,sys
print(*(r["mechanism"] for r in json.load(open(sys.argv[1]))["rows"]))' "$out_file")" 'BTF uprobe uprobe_multi'
run "$FATHOM" doctor no-such-thing
expect_status 1
expect_err "no mechanism matches 'no-such-thing'"

# --- without tracefs, in a mount namespace where that harms nobody ----------------------------------

if [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null; then
	# shellcheck disable=SC2016 # expanded by the inner shell
	run unshare -m sh -c '
		for dir in /sys/kernel/tracing /sys/kernel/debug/tracing /sys/kernel/debug; do
			umount "$dir" 2>/dev/null
		done
		grep " tracefs " /proc/mounts >"$TMP/before"
		"$FATHOM" doctor --json "tracefs*" "tracepoint program"
		grep " tracefs " /proc/mounts >"$TMP/after"'
	cp "$out_file" "$TMP/doctor.json"
	is 'tracefs that is not mounted can still be used' "$(status_of 'tracefs mounted')" partly
	like 'and the fix is to mount it' "$(status_of 'tracefs mounted' fix)" '^mount -t tracefs '
	works 'tracepoint program'
	is 'and it was not mounted' "$(cat "$TMP/after")" "$(cat "$TMP/before")"
else
	skip 'needs root and a mount namespace' 4
fi

# --- for ordinary users ---------------------------------------------------------------------------

if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
	cp "$FATHOM" "$TMP/fathom" && chmod 755 "$TMP" "$TMP/fathom"
	as_nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps=-all --no-new-privs)
	run "${as_nobody[@]}" "$TMP/fathom" doctor --json
	expect_status 0 'an ordinary user can run it'
	is 'and nothing goes wrong' "$err" ''
	cp "$out_file" "$TMP/doctor.json"
	is 'CAP_BPF is missing then' "$(status_of CAP_BPF)" missing
	is 'the typed raw tracepoint is missing then' "$(status_of 'typed raw tracepoint')" missing
	like 'and the capabilities are named' "$(status_of 'typed raw tracepoint' detail)" 'CAP_BPF'
	like 'and how to get them' "$(status_of 'typed raw tracepoint' fix)" 'setcap .*cap_bpf'
else
	skip 'needs root and setpriv to become an ordinary user' 6
fi

if command -v bpftool >/dev/null && [ "$(id -u)" -eq 0 ]; then
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		[ "$(count_programs)" -eq 0 ] && break
		sleep 0.1
	done
	is 'no trial program is left in the kernel' "$(count_programs)" 0
else
	skip 'needs bpftool and root to look for left programs'
fi
done_testing
