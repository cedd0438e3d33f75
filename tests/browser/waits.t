#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Pictures of waiting in chromium: hot/cold, off-CPU, off-wake and chain graphs of one recording;
# their numbers are those of --json. See waits.mjs.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
need_root
need_file "$WORKLOADS/block" "$WORKLOADS/burn" "$WORKLOADS/chain"
# shellcheck source=tests/lib/browser.sh
. "$(dirname "$0")/../lib/browser.sh"
cd "$TMP" || exit 1

"$FATHOM" record -q --chains -F 199 -o both.data -- sh -c "
	'$WORKLOADS/burn' --seconds 1 & '$WORKLOADS/block' pipe & '$WORKLOADS/chain' & wait" >/dev/null 2>record.err
case $? in
0) ;;
3) plan_skip "$(head -1 record.err)" ;;
*) fail "record both halves" "$(cat record.err)" ;;
esac
"$FATHOM" flame --hotcold -i both.data -o hotcold.html || fail 'draw hot/cold'
"$FATHOM" flame --hotcold -i both.data -o hotcold.svg || fail 'draw hot/cold as a picture'
"$FATHOM" flame --hotcold -i both.data --json >hotcold.json || fail 'tell hot/cold'
for view in offcpu wakeup offwake chain; do
	"$FATHOM" "$view" -i both.data -o "$view.html" || fail "draw $view"
	"$FATHOM" "$view" -i both.data -o "$view.svg" || fail "draw $view as a picture"
	"$FATHOM" "$view" -i both.data --json >"$view.json" || fail "tell $view"
done

RUN_TIMEOUT=120
drive waits.mjs
done_testing
