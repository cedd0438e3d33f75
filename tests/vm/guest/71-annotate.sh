# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC1091,SC2154
#
# The kernel's own code, on a stock kernel: read from /proc/kcore, with the shares of its samples.
. /tests/lib.sh
need_cmd fathom

run fathom record -q --all-kernel --call-graph none -F 999 -o k.data -- \
	dd if=/dev/zero of=/dev/null bs=1 count=300000
expect_status 0 "a program that is mostly in the kernel"
run fathom annotate -i k.data --top 1
expect_status 0 "its hottest function in the kernel"
like "instructions with their share" "$out" '[0-9]+\.[0-9][0-9]% +ffffffff[0-9a-f]+ '
like "it is said that the code is patched" "$out" 'code as it is now'
run fathom annotate -i k.data --top 1 --json
like "no instruction is a bad byte at the begin" "$out" '"kind": "(plain|branch|call)"'
done_testing
