#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The scheduler's timeline in chromium, as a page and as a picture; its numbers are those of --json.
# See timeline.mjs.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
need_root
need_file "$WORKLOADS/block"
# shellcheck source=tests/lib/browser.sh
. "$(dirname "$0")/../lib/browser.sh"
cd "$TMP" || exit 1

"$FATHOM" record -q -a -g -o sched.data \
	-e sched:sched_switch,sched:sched_waking,sched:sched_wakeup_new -- \
	sh -c "timeout 2 '$WORKLOADS/burn' --seconds 1 & '$WORKLOADS/block' pipe; wait" >/dev/null 2>record.err
case $? in
0) ;;
3) plan_skip "$(head -1 record.err)" ;;
*) fail "record sched events" "$(cat record.err)" ;;
esac
part=+0.2,+0.4
"$FATHOM" sched map -i sched.data -o whole.html || fail 'draw all as a page'
"$FATHOM" sched map -i sched.data --time $part -o part.svg || fail 'draw a part as a picture'
"$WORKLOADS/block" pipe >/dev/null &
"$FATHOM" sched map -d 300ms -o live.html || fail 'draw the running machine'
wait
ok 'the running machine has kinds of waits' grep -q '"pipe","waiting for a pipe or queue"' live.html
"$FATHOM" timechart -i sched.data -o chart.svg || fail 'draw a chart'
"$FATHOM" sched map -i sched.data --json >whole.json || fail 'tell all'
"$FATHOM" sched map -i sched.data --time $part --json >part.json || fail 'tell a part'

RUN_TIMEOUT=120
drive timeline.mjs
done_testing
