#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Stacks in, report out.
. "$(dirname "$0")/../lib/test.sh"

stacks=$TOP/tests/golden/report/stacks.folded
cd "$TMP" || exit 1
cp "$stacks" stacks.folded

page() { golden "$1" "$out_file" "$TOP/tests/golden/report/$1"; }

run "$FATHOM" report -i stacks.folded
expect_status 0
page default.txt
COLUMNS=40 run "$FATHOM" report -i stacks.folded
page narrow.txt
# Names of any length are whole in a pipe, in a file, and with -w on a terminal.
long=$(printf 'a_very_long_name_%.0s' {1..12})
echo "main;$long 5" >long.folded
ok "a pipe cuts nothing" bash -c "\"$FATHOM\" report -i long.folded | grep -q $long"
if command -v script >/dev/null; then
	on_terminal() { script -qec "stty cols 80; $*" /dev/null </dev/null; }
	unlike "a terminal cuts" "$(on_terminal "$FATHOM" report --no-pager -i long.folded)" "$long"
	like "... unless -w" "$(on_terminal "$FATHOM" report --no-pager -w -i long.folded)" "$long"
fi
like "shares are coloured by weight" "$("$FATHOM" report --color=always -i stacks.folded)" \
	$'\033\\[31m *[0-9.]+%\033\\[0m'
run "$FATHOM" report -i stacks.folded --json
page all.json
ok "it is JSON" python3 -m json.tool "$out_file"
run "$FATHOM" report -i stacks.folded --csv --sort symbol --no-children
page self.csv
run "$FATHOM" report -i stacks.folded -g callee --sort comm --percent-limit 10
page callee.txt
run bash -c "\"$FATHOM\" report -i - < stacks.folded"
like "standard input" "$out" 'escape_html'

run "$FATHOM" report -i stacks.folded --sort colour
expect_status 2
expect_err "unknown sort key 'colour'"
expect_err "hint: keys are comm"
run "$FATHOM" report
expect_status 1
expect_err "no recording here"
run "$FATHOM" report -i nothing.data
expect_err "cannot open 'nothing.data': no such file or directory"
run "$FATHOM" report -i .
expect_err "cannot read '.': it is a directory"
: > empty.data
run "$FATHOM" report -i empty.data
expect_status 4
expect_err "'empty.data' is empty"
echo 'this is prose, not stacks' > prose
run "$FATHOM" report -i prose
expect_err "'prose' is neither a recording nor text with stacks"
run "$FATHOM" report -i stacks.folded --time 5
expect_status 2
expect_err "'5' is not a span of time"
done_testing
