#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# timeout: 600
# The stored answers of tests/lang/reference are those of bpftrace 0.27: a part of the programs is
# run with it again, another part every day. reference.py live compares all of them.
. "$(dirname "$0")/../lib/test.sh"
need_root
need_cmd python3
need_file /sys/kernel/btf/vmlinux
reason=$("$TOP/scripts/reference" bpftrace 2>&1 >/dev/null) || plan_skip "no reference: $reason"
case $("$TOP/scripts/reference" bpftrace --version 2>/dev/null) in
*v0.27*) ;;
*) plan_skip 'the answers were recorded with bpftrace 0.27' ;;
esac

while IFS= read -r line; do
	case $line in
	'ok '*) pass "${line#ok }" ;;
	*) fail "${line#not ok }" ;;
	esac
done < <(PART="$(($(date +%s) / 86400 % 16))/16" python3 "$TOP/tests/lang/reference.py" live "$TOP"/tests/lang/reference/*.txt)
ok 'at least 60 programs were compared' [ "$test_count" -ge 60 ]
done_testing
