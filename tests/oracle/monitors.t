#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Counters against the files read by hand, monitors against sysstat and procps in the same second.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_cmd python3
cd "$TMP" || exit 1

run "$FATHOM" counters --all --json --interval 200ms
expect_status 0
ok "counters are what the files say, between two looks by hand" \
	python3 "$TOP/tests/oracle/monitors.py" counters "$FATHOM"

for tool in netstat numastat; do
	if command -v "$tool" >/dev/null; then
		ok "$tool: the figures of $tool" \
			python3 "$TOP/tests/oracle/monitors.py" "$tool" "$FATHOM"
	else
		skip "$tool: the figures of $tool" "no $tool"
	fi
done

need_cmd vmstat
ok "vmstat: the figures of procps" python3 "$TOP/tests/oracle/monitors.py" vmstat "$FATHOM"

need_cmd iostat mpstat
for tool in iostat mpstat; do
	ok "$tool: the figures of sysstat" python3 "$TOP/tests/oracle/monitors.py" "$tool" "$FATHOM"
done
need_file "$WORKLOADS/burn"
need_root
ok "pidstat: the figures of sysstat" \
	python3 "$TOP/tests/oracle/monitors.py" pidstat "$FATHOM" "$WORKLOADS/burn"
done_testing
