#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The test bench can fail: the harness, the shell library and the runner report what goes wrong.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
need_cmd "${CC:-cc}" perl

build() {
	"${CC:-cc}" -std=gnu17 -D_GNU_SOURCE -g -O1 "$@" -I"$TOP/tests" -w \
		"$TOP/tests/lib/harness-sample.c" "$TOP/tests/unit/harness.c" -lm
}

# line REGEX: the first line of the last run that matches; after REGEX: the one that follows it.
line() { grep -E -m 1 -e "$1" "$out_file"; }
after() { grep -E -m 1 -A 1 -e "$1" "$out_file" | tail -n 1; }

ok 'the harness builds' build -o "$TMP/plain"
run "$TMP/plain"
expect_status 1
is 'the plan comes first' "$(head -n 1 "$out_file")" 1..15
is 'a good test passes' "$(line 'all is well')" 'ok 1 - harness-sample: all is well'
is 'a name may be a string' "$(line 'with signs')" 'ok 2 - harness-sample: a name   with signs'
like 'a false condition' "$(after '^not ok .* a false condition')" \
	'^# .*harness-sample.c:[0-9]+: not true: 1 \+ 1 == 3$'
like 'integers of unlike sign' "$(after '^not ok .* minus one')" \
	'UINT64_MAX is 18446744073709551615 \(0xffffffffffffffff\), not -1$'
like 'strings' "$(after '^not ok .* strings differ')" "is 'x', not NULL\$"
like 'bytes' "$(after '^not ok .* bytes differ')" 'at byte 2 of 3: 0x63, not 0x64$'
like 'floats' "$(after '^not ok .* far apart')" 'not within 0.5 of 2$'
like 'a crash fails one test' "$(after '^not ok .* a crash')" 'killed by signal 6'
like 'a time-out' "$(after '^not ok .* too slow')" 'timed out after 1 s$'
like 'an early exit' "$(after '^not ok .* ends on its own')" 'ended with status 5$'
like 'a skip' "$(line 'not here')" '^ok [0-9]+ - .* # SKIP no reason at all$'
like 'a left-over child' "$(line 'keeps the output open')" '^ok '
dir=$(sed -n 's/^# .*: in \(\/tmp\/.*\)$/\1/p' "$out_file")
like 'a test has a folder of its own' "$dir" '^/tmp/fathom-unit-'
not_ok 'the folder is removed' test -e "$dir"

run "$TMP/plain" '*: a[l_ ]*l'
is 'tests are chosen by pattern' "$(head -n 1 "$out_file")" 1..1
run "$TMP/plain" -l
is 'tests are listed' "$(wc -l <"$out_file")" 15
run "$TMP/plain" nothing-like-it
expect_status 1 'no test at all is a failure'

if build -fsanitize=address,undefined -o "$TMP/asan" 2>"$TMP/log"; then
	run "$TMP/asan"
	like 'a sanitizer that only warns fails the test' "$(line 'undefined behaviour')" '^not ok'
	case ${ASAN_OPTIONS:-} in
	*detect_leaks=0*) skip 'the leak checker is switched off' ;;
	*) like 'a leak fails the test' "$(line 'a leak')" '^not ok' ;;
	esac
	like 'a good test passes there too' "$(line 'all is well')" '^ok'
else
	skip 'the compiler has no sanitizers' 3
fi

# ---- the shell library and the runner, in a tree of their own ---------------------------------

mkdir -p "$TMP/tree/tests/golden"
cp -r "$TOP/tests/lib" "$TOP/tests/run" "$TMP/tree/tests/"
# script NAME [LAYER]: a test of that tree, from standard input.
script() {
	local path=$TMP/tree/tests/${2:-golden}/$1.t
	{
		printf '#!/usr/bin/env bash\n# timeout: 3\n. "%s/tests/lib/test.sh"\n' "$TMP/tree"
		cat
	} >"$path"
	chmod 755 "$path"
}
run_tree() { run env -u TOP -u FATHOM -u WORKLOADS -u TEST_AGAIN "$TMP/tree/tests/run" "$@"; }
last_line() { tail -n 1 "$out_file"; }

script good <<<'pass one; is two a a; skip "not today" 2; done_testing'
run_tree golden
expect_status 0
is 'the last line counts' "$(last_line)" '2 passed, 0 failed, 2 skipped'
expect_out '  golden/good.t: not today (2 tests)'

script none <<<'need_cmd no-such-command'
run_tree tests/golden/none.t
expect_status 1 'nothing but skips is no success'
is 'a skipped file counts once' "$(last_line)" '0 passed, 0 failed, 1 skipped'

script bad <<<'is one a b; like two abc "^b"; run false; expect_status 0; done_testing'
run_tree golden
expect_status 1
is 'failures are counted' "$(last_line)" '2 passed, 3 failed, 3 skipped'
expect_out '# wanted: b'

rm "$TMP/tree/tests/golden/bad.t"
script early <<<'pass one; exit 0'
script slow <<<'pass one; spawn sleep 4321; run sleep 4322; done_testing'
run_tree golden
is 'an early end and a time-out are failures' "$(last_line)" '4 passed, 2 failed, 3 skipped'
expect_out 'timed out after 3 s'
is 'nothing is left running' "$(pgrep -fx 'sleep 432[12]')" ''

# shellcheck disable=SC2016 # for the other script to expand
script diff <<<'printf "a\nb\n" >"$TMP/f"; golden page "$TMP/f"; done_testing'
mkdir -p "$TMP/tree/tests/golden/golden"
printf 'a\nc\n' >"$TMP/tree/tests/golden/golden/page"
run_tree tests/golden/diff.t
expect_out '# -c'
run env UPDATE_GOLDEN=1 "$TMP/tree/tests/golden/diff.t"
is 'a golden file is rewritten on request' "$(tail -n 1 "$TMP/tree/tests/golden/golden/page")" b

# A layer that measures the machine gets a second and a third run for what failed in it.
mkdir -p "$TMP/tree/tests/kernel"
script steady kernel <<<'pass one; done_testing'
script shaky kernel <<<"pass one; not_ok two mkdir '$TMP/done-before'; done_testing"
run_tree kernel
expect_status 0 'what passes in a later run has passed'
is 'only the last run counts' "$(last_line)" '3 passed, 0 failed, 0 skipped'
expect_out '  kernel/shaky.t: two (passed in run 2)'
script broken kernel <<<'fail always; done_testing'
run_tree kernel
expect_status 1 'what never passes has failed'
is 'it counts once' "$(last_line)" '3 passed, 1 failed, 0 skipped'
is 'after three runs' "$(grep -c '^kernel/broken.t ' "$out_file")" 3

done_testing
