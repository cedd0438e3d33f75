#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Every program of tests/lang/cases.txt prints what it should in bpftrace's form, and every one of
# tests/lang/native.txt in our own.
. "$(dirname "$0")/../lib/test.sh"
need_root
need_cmd perl
need_file /sys/kernel/btf/vmlinux

while IFS= read -r line; do
	case $line in
	'ok '*) pass "${line#ok }" ;;
	*) fail "${line#not ok }" ;;
	esac
done < <(
	perl "$TOP/tests/lang/run.pl" fathom "$TOP/tests/lang/cases.txt"
	perl "$TOP/tests/lang/run.pl" native "$TOP/tests/lang/native.txt"
)
ok 'at least 300 programs were run' [ "$test_count" -ge 300 ]
done_testing
