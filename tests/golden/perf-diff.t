#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# 'perf diff' with perf's ways of comparing: each row as a script reads it.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
cd "$TMP" || exit 1
ln -s "$FATHOM" perf

printf 'a;f 60\na;g 30\na;old 10\n' >1.folded
printf 'a;f 30\na;g 60\na;new 10\n' >2.folded
printf 'a;f 50\na;g 50\n' >3.folded

# rows OPTIONS...: without the heading, one blank between the columns
rows() { ./perf diff "$@" 1.folded 2.folded 2>&1 </dev/null | grep -v '^#' | sed 's/^ *//; s/ *$//; s/  */ /g'; }

is 'by the size of the difference' "$(rows)" '60.00% -30.00% - [.] f
30.00% +30.00% - [.] g
10.00% - [.] old
+10.00% - [.] new'
is 'by the difference' "$(rows -c delta)" '30.00% +30.00% - [.] g
+10.00% - [.] new
10.00% - [.] old
60.00% -30.00% - [.] f'
is 'ratios of periods' "$(rows -c ratio)" '30.00% 2.000000 - [.] g
60.00% 0.500000 - [.] f
N/A - [.] new
10.00% - [.] old'
is 'weighted differences' "$(rows --compute wdiff:1,2)" '30.00% 90 - [.] g
60.00% 0 - [.] f
N/A - [.] new
10.00% - [.] old'
is 'periods' "$(rows --period -c ratio | head -n 2)" '30.00% 30 2.000000 60 - [.] g
60.00% 60 0.500000 30 - [.] f'
is 'only what both have, in parts of that' "$(rows -b)" '66.67% -30.00% - [.] f
33.33% +30.00% - [.] g'
is 'by other keys' "$(rows -s symbol | head -n 1)" '60.00% -30.00% [.] f'
is 'a separator' "$(rows -c ratio -t, | head -n 1 | tr -d ' ')" '30.00%,2.000000,-,[.]g'

run ./perf diff -c ratio --period 1.folded 2.folded 3.folded
expect_status 0 'three files'
like 'titles with their numbers' "$out" \
	'^# Baseline/0 +Base period/0 +Ratio/1 +Period/1 +Ratio/2 +Period/2 +Shared Object +Symbol'
like 'and a row' "$out" '^ +30\.00% +30 +2\.000000 +60 +1\.666667 +50 +- +\[\.\] g'
run ./perf diff -c delta 1.folded 2.folded
like 'its title' "$out" '^# Baseline +Delta +Shared Object'

run ./perf diff -c nosuch 1.folded 2.folded
expect_status 2 'another way'
like 'what there is' "$err" "^fathom: 'nosuch' is not a way to compare"
run ./perf diff -c wdiff:1 1.folded 2.folded
expect_status 2 'one weight'
run ./perf diff -s cpu 1.folded 2.folded
expect_status 2 'another key'
like 'which' "$err" "^fathom: recordings cannot be compared by 'cpu'"
run ./perf annotate -i 1.folded --percent-type global-hits
expect_status 2 'percents that are not shown'
done_testing
