#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# kprobe, kretprobe, fentry and fexit, on Debian's 6.1 and 6.12 kernels in qemu.
TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
status=0
plan=0
for kernel in 6.1 6.12; do
	text=$("$TOP/tests/vm/boot" -n "$kernel" "$TOP/tests/lang/guest.sh" 2>&1)
	case $? in
	77) echo "ok $((plan += 1)) # SKIP linux $kernel: $(tail -n 1 <<<"$text")" ;;
	*)
		while IFS= read -r line; do
			case $line in
			'ok '*) echo "ok $((plan += 1)) - linux $kernel: ${line#ok * - }" ;;
			'not ok '*)
				echo "not ok $((plan += 1)) - linux $kernel: ${line#not ok * - }"
				status=1
				;;
			*) echo "# $line" ;;
			esac
		done <<<"$text"
		;;
	esac
done
echo "1..$plan"
exit $status
