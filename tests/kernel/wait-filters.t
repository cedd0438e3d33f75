#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
#
# Threads that sleep all the time, asked for by name, user or control group: there is no switch at
# which the filters could be tried. With the kernel's types and without.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
need_root
need_cmd python3 runuser
cd "$TMP" || exit 1
chmod 755 "$TMP"
name=sleeps-$$
cp "$(command -v sleep)" "$name"
user=games
id $user >/dev/null 2>&1 || user=nobody

spawn "./$name" 600
named=$spawned
spawn runuser -u "$user" -- "$TMP/$name" 601
spawned_by=$spawned
group=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)/fathom-filter-$$
if mkdir -p "$group/below" 2>/dev/null; then
	spawn "$(command -v sleep)" 602
	grouped=$spawned
	echo "$grouped" >"$group/below/cgroup.procs"
else
	group=
fi
# shellcheck disable=SC2317  # called by wait_until
is_sleep() {
	[ "$(cat "/proc/$named/comm")" = "$name" ] &&
		pgrep -u "$user" -x -P "$spawned_by" "$name" >/dev/null
}
wait_until is_sleep
owned=$(pgrep -u "$user" -x -P "$spawned_by" "$name")

# the threads that were seen; all of them sleep
tids() {
	python3 - "$out_file" <<'END'
import json, sys
rows = json.load(open(sys.argv[1]))["threads"]
assert all(r["sleep_percent"] > 90 for r in rows), rows
print(*sorted(r["tid"] for r in rows))
END
}
both() { printf '%s\n' "$@" | sort -n | paste -sd ' '; }
for types in kernel file; do
	if [ $types = file ]; then
		[ -e /sys/kernel/btf/vmlinux ] || continue
		export FATHOM_NO_BTF=1 FATHOM_BTF=/sys/kernel/btf/vmlinux
	fi
	run "$FATHOM" threads --comm "$name" -d 200ms --json
	expect_status 0
	is "--comm ($types)" "$(tids)" "$(both "$named" "$owned")"
	run "$FATHOM" threads --comm "$name" -u "$user" -d 200ms --json
	is "--user ($types)" "$(tids)" "$owned"
	run "$FATHOM" offcpu --open --comm "$name" -d 200ms --json
	like "offcpu --open --comm ($types)" "$out" "\"pid\": ?$named\b"
	if [ -n "$group" ]; then
		run "$FATHOM" threads -G "$group" -d 200ms --json
		is "--cgroup, of a group below it ($types)" "$(tids)" "$grouped"
	else
		skip "no control groups of version 2"
	fi
done
unset FATHOM_NO_BTF FATHOM_BTF
run "$FATHOM" threads -p "$named" --comm another -d 100ms
expect_status 4
unlike 'a filter that leaves none is not a fault of the kernel' "$err" 'kernel'
if [ -n "$group" ]; then
	kill "$grouped"
	wait "$grouped" 2>/dev/null
	rmdir "$group/below" "$group"
fi
done_testing
