#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A damaged input is used up to the damage, and no view is silent about it.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
cd "$TMP" || exit 1

# two profiles, the second one is cut
frames='{"shared":{"frames":[{"name":"main"},{"name":"parse"},{"name":"draw"}]},"profiles":['
one='"type":"sampled","unit":"none","startValue":0,"endValue":9,'
one+='"samples":[[0,1],[0,2],[0]],"weights":[5,3,1]}'
printf '%s{"name":"first",%s,{"name":"second",%s' "$frames" "$one" "${one:0:60}" >cut.json
printf '%s{"name":"first",%s]}' "$frames" "$one" >whole.json

# looks FILE WORDS... : it works, and the damage is reported on one of the two outputs, once
looks() {
	local file=$1
	shift
	rm -f x.*
	run "$FATHOM" "$@" -i "$file"
	is "$*: works" "$status" 0
	is "$*: tells of the damage" "$(cat "$out_file" "$err_file" | grep -c 'damaged at offset')" 1
}

run "$FATHOM" fold -i cut.json
expect_status 0
expect_out 'main;parse 5'
looks cut.json report
looks cut.json report --header-only
looks cut.json fold
looks cut.json flame
looks cut.json flame -o x.svg
ok 'the picture says it itself' grep -q 'the file is damaged' x.svg
looks cut.json flame -o x.html
looks cut.json callgraph
looks cut.json callgraph -o x.svg
looks cut.json export -o x.pb.gz
looks cut.json export --format csv -o x.csv
looks cut.json components
looks cut.json stacks
looks cut.json import

# whole ones are silent
for words in report flame fold components import; do
	run "$FATHOM" "$words" -i whole.json
	unlike "$words of a whole file" "$out$err" 'damaged'
done
run "$FATHOM" diff cut.json whole.json
expect_status 0
expect_out "'cut.json': the JSON is damaged"
unlike 'the other side is whole' "$out" "whole.json': the JSON"

# nothing in it: one status, and one message whatever looks
printf '%s]}' "$frames" >nothing.json
for words in report fold flame callgraph heatmap 'export -o x.pb.gz' components stacks import; do
	# shellcheck disable=SC2086 # words are words
	run "$FATHOM" $words -i nothing.json
	is "$words of nothing" "$status/$err" "4/fathom: 'nothing.json' has no samples
hint: record for longer (-d), more often (-F), or while the target runs"
done
run "$FATHOM" report -i whole.json --comms nobody
is 'nothing that passes' "$status/$err" "4/fathom: no sample in 'whole.json' passes the filters
hint: 'fathom report' without filters shows what there is"
done_testing
