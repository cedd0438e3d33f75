#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Debian's bpftrace prints the same for every program of tests/lang/cases.txt that it knows; where
# it does not, the case says why. A difference without a reason fails.
. "$(dirname "$0")/../lib/test.sh"
need_root
need_cmd perl bpftrace
case $(bpftrace --version 2>/dev/null) in
*v0.17*) ;;
*) plan_skip "the cases were compared with bpftrace 0.17" ;;
esac

while IFS= read -r line; do
	case $line in
	'ok '*) pass "${line#ok }" ;;
	'skip '*) skip "${line#skip }" ;;
	*) fail "${line#not ok }" ;;
	esac
done < <(perl "$TOP/tests/lang/run.pl" bpftrace "$TOP/tests/lang/cases.txt")
ok 'at least 300 programs were compared' [ "$test_count" -ge 300 ]
done_testing
