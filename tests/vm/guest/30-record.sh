# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC1091,SC2154
#
# The kernel-side unwinder on a stock kernel; 30-record.check reads report.json and stacks.json on
# the host.
. /tests/lib.sh
need_cmd fathom burn

cd /tmp || exit 1
run fathom record -e cpu-clock -F 199 -a -o a.data -- burn --seconds 2 a=70 b=30
expect_status 0 "record: the whole machine"
like "record: unwound in the kernel" "$(cat "$err_file")" 'unwound in the kernel by CFI tables'
diag "$(cat "$err_file")"
run fathom report -i a.data --json --comms burn
expect_status 0 "report"
cp "$out_file" /out/report.json
run fathom stacks -i a.data --json
expect_status 0 "stacks"
cp "$out_file" /out/stacks.json

run fathom record -e cpu-clock -F 199 -o p.data -- burn --seconds 3 a=100
expect_status 0 "record: a program"
diag "$(cat "$err_file")"
run fathom stacks -i p.data --json
cp "$out_file" /out/stacks-program.json

run fathom record -e cpu-clock -F 199 -k boottime -o c.data -- burn --seconds 1 a=100
like "record: copies when the clock is another" "$(cat "$err_file")" 'copied and unwound by CFI'
run fathom stacks -i c.data --json
cp "$out_file" /out/stacks-copies.json
done_testing
