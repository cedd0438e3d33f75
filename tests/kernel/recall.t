#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
#
# Stacks of samples are recognised from frame to frame: those that differ in one return address in
# their middle must not be taken for one another.
. "$(dirname "$0")/../lib/test.sh"
need_root
need_file "$WORKLOADS/twins"
cd "$TMP" || exit 1
export XDG_CACHE_HOME=$TMP

spawn "$WORKLOADS/twins" --seconds 60
pid=$spawned
run "$FATHOM" record -e cpu-clock -F 1999 -p "$pid" -d 3s -o twins.data
expect_status 0
"$FATHOM" fold -i twins.data >folded

# sum PATTERN: ns of CPU time in the stacks that match
sum() { grep -E "$1" folded | awk '{ n += $NF } END { printf "%d\n", n }'; }
all=$(sum ';main;')
near=$(sum ';main;near;work;burn')
next=$(sum ';main;next;work;burn')

ok "there are enough samples ($all ns)" [ "$all" -gt 100000000 ]
# the rest: just called, about to return
ok "stacks are whole ($near + $next of $all ns)" [ $((near + next)) -ge $((all * 95 / 100)) ]
# three quarters of 200 samples and more: four standard deviations are 12 %
ok "the two are distinguished ($near to $next ns)" \
	awk -v a="$near" -v b="$next" 'BEGIN { share = a / (a + b); exit !(share > 0.62 && share < 0.88) }'
# whole names: the kernel's part has pick_next_task and others like it
ok "no stack goes through both" [ "$(sum ';near;(.*;)?next[; ]|;next;(.*;)?near[; ]')" -eq 0 ]
done_testing
