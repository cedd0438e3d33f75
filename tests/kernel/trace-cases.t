#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# timeout: 300
# Every program of tests/lang/reference prints what bpftrace 0.27 prints, or what the case says and
# why, and every one of tests/lang/native.txt what it should in our own form.
. "$(dirname "$0")/../lib/test.sh"
need_root
need_cmd perl python3
need_file /sys/kernel/btf/vmlinux

while IFS= read -r line; do
	case $line in
	'ok '*) pass "${line#ok }" ;;
	*) fail "${line#not ok }" ;;
	esac
done < <(
	python3 "$TOP/tests/lang/reference.py" check "$TOP"/tests/lang/reference/*.txt
	perl "$TOP/tests/lang/run.pl" "$TOP/tests/lang/native.txt"
)
# Every reason for a difference is in the documentation.
while IFS= read -r reason; do
	ok "documented: $reason" grep -qF "| $reason |" "$TOP/docs/language.md"
done < <(sed -n 's/^differs: //p' "$TOP"/tests/lang/reference/*.txt | sort -u)
ok 'at least 1000 programs were run' [ "$test_count" -ge 1000 ]
done_testing
