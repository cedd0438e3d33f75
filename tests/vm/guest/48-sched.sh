# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC1091,SC2154
#
# The scheduler, on a stock kernel: live, and from a file of which each command tells the same.
. /tests/lib.sh
need_cmd fathom
need_workload block
need_workload naps
events=sched:sched_switch,sched:sched_wakeup,sched:sched_waking,sched:sched_stat_runtime
events=$events,sched:sched_migrate_task

# long enough that most of it is used in the file itself
cat >work.sh <<'END'
"$1" pipe --count 40
"$2" --threads 4 --count 1000
END
run fathom record -z0 --call-graph none -a -e "$events" -o sched.data -- \
	sh work.sh "$workloads/block" "$workloads/naps"
expect_status 0 "a recording of the scheduler's events"
size=$(wc -c <sched.data)
ok "it is a long one ($size bytes)" [ "$size" -gt 600000 ]
run fathom sched latency -i sched.data
expect_status 0
like "latency: the reader came to a CPU 40 times, at least" "$out" \
	'^reader +[0-9]+( +1)? +[0-9.]+[num]?s +(4[0-9]|[5-9][0-9]|[1-9][0-9][0-9]) '
whole=$out
# through a pipe nothing can be used in the file itself
run sh -c 'cat sched.data | fathom sched latency -i -'
is "latency: through a pipe it is the same" "$out" "$whole"
run fathom sched timehist -w -i sched.data
expect_status 0
like "timehist: a turn of the reader's" "$out" 'reader\[[0-9/]+\]'
like "timehist: the writer wakes the reader" "$out" 'writer\[.*awakened: reader\['
run fathom sched map -i sched.data
expect_status 0
like "map: the reader has a letter" "$out" '=> reader:'
run fathom sched map -i sched.data -o map.svg
expect_status 0
ok "map: a timeline of who ran" grep -q 'reader' map.svg
run fathom sched summary -i sched.data
expect_status 0
for what in latency timehist map summary; do
	run fathom sched $what -i sched.data --json
	expect_status 0
	run fathom sched $what -d 1s
	expect_status 0 "sched $what of the running machine"
done
for what in runqlat cpudist; do
	run fathom $what -i sched.data
	expect_status 0
done
run fathom wakeup --folded -- "$workloads/block" pipe --count 10
expect_status 0
like "wakeup: the writer wakes the reader" "$out" 'writer.*write_late.*reader'
done_testing
