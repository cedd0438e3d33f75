#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The scheduler's views of a control group: three programs burn, one of them is in it, one moves in.
# shellcheck disable=SC2317 # finish() is called at the end
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_root
need_cmd python3
need_file "$WORKLOADS/burn"
cd "$TMP" || exit 1

v2=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
name=fathom-sched-$$
group=$v2/$name
if [ -z "$v2" ] || ! mkdir -p "$group/below" "$group/empty" 2>/dev/null; then
	plan_skip 'no control groups of version 2 that can be made here'
fi
pids=()
finish() {
	kill -KILL "${pids[@]}" 2>/dev/null
	wait "${pids[@]}" 2>/dev/null
	for _ in 1 2 3 4 5; do
		rmdir "$group/below" "$group/empty" "$group" 2>/dev/null && break
		sleep 0.1
	done
	test_end
}
trap finish EXIT

# shellcheck disable=SC2016 # $$ and $0 are those of the program
sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group/below" "$WORKLOADS/burn" --seconds 300 >/dev/null &
inside=$!
"$WORKLOADS/burn" --seconds 300 >/dev/null &
outside=$!
"$WORKLOADS/burn" --seconds 300 >/dev/null &
mover=$!
pids=("$inside" "$outside" "$mover")
wait_until grep -q "^0::.*/below" "/proc/$inside/cgroup"

# Who ran, in the rows of sched map --json, one id a line.
ran() {
	python3 -c 'import json, sys
print(*sorted({r["tid"] for r in json.load(open(sys.argv[1]))["stretches"]}), sep="\n")' "$1"
}

for path in "$name" "$group/" "/$name/below"; do
	run "$FATHOM" sched map -G "$path" -d 1s --json
	expect_status 0
	is "map -G: who is in the group and nobody else" "$(ran "$out_file")" "$inside"
done
run "$FATHOM" sched map -G "$name" -d 1s
expect_out_like "=> burn:$inside"
unlike 'map: others have no name' "$out" "=> [^ ]*:($outside|$mover)\$"
run "$FATHOM" sched map -G "$name" -d 1s -o group.html
expect_status 0
ok 'map -o: all stretches are of that program' python3 - group.html "$inside" <<'END'
import json, re, sys
page = open(sys.argv[1]).read()
tasks = json.loads(re.search(r'"tasks":(\[.*?\]),\n', page).group(1))
stretches = json.loads(re.search(r'"stretches":(\[.*?\]),\n', page).group(1))
assert {tasks[n][0] for n in stretches[3::5]} == {int(sys.argv[2])}, tasks
END
run "$FATHOM" sched timehist -G "$name" -d 1s
expect_out_like "burn\\[$inside\\]"
unlike 'timehist: and nobody else' "$out" "\\[($outside|$mover)\\]"
run "$FATHOM" sched latency -G "$name" -d 1s --json --pids
is 'latency: one row' "$(python3 -c 'import json, sys
print(*[r["tid"] for r in json.load(open(sys.argv[1]))["tasks"]])' "$out_file")" "$inside"

# --- a thread that moves ------------------------------------------------------------------------

"$FATHOM" sched map -G "$name" -d 4s --json >moved.json 2>moved.err &
watcher=$!
wait_until watches "$watcher"
sleep 1
begin=$(awk '{ print $1 }' /proc/uptime)
echo "$mover" >"$group/below/cgroup.procs"
wait "$watcher"
like 'who moves is counted' "$(cat moved.err)" 'came into or left the control group 1 times'
ok 'it is shown from when it is in the group' python3 - moved.json "$mover" "$begin" <<'END'
import json, sys
rows = [float(r["begin_s"]) for r in json.load(open(sys.argv[1]))["stretches"] if r["tid"] == int(sys.argv[2])]
# /proc/uptime has hundredths of a second
assert rows and min(rows) >= float(sys.argv[3]) - 0.02, (rows[:3], sys.argv[3])
END

# --- recordings ---------------------------------------------------------------------------------

what=sched:sched_switch,sched:sched_waking,sched:sched_stat_runtime
"$FATHOM" record -q -a -e "$what" --call-graph none --all-cgroups -d 1s -o groups.data
run "$FATHOM" sched map -i groups.data -G "$name" --json
expect_status 0
is 'a recording' "$(ran "$out_file")" "$(printf '%s\n' "$inside" "$mover" | sort -n)"
run "$FATHOM" sched map -i groups.data -G "$name" -p "$mover" --json
is 'with -p: who is both' "$(ran "$out_file")" "$mover"
run "$FATHOM" sched map -i groups.data -G nowhere
expect_status 4
expect_err "has no control group '/nowhere'"
"$FATHOM" record -q -a -e "$what" --call-graph none -d 200ms -o plain.data
run "$FATHOM" sched map -i plain.data -G "$name"
expect_status 4
expect_err 'hint: record with --all-cgroups'
# shellcheck disable=SC2016 # $0 is that of the shell
run sh -c '"$0" sched map -i - -G x <groups.data' "$FATHOM"
expect_status 2
expect_err 'a pipe is read once'

run "$FATHOM" sched map -G "$name/nowhere" -d 10s
expect_status 1 'a group that is not there is refused at once'
expect_err "cannot find cgroup '$name/nowhere'"
run "$FATHOM" sched map -G "$name/empty" -d 200ms
expect_status 4
expect_err 'no task ran in the control group'
done_testing
