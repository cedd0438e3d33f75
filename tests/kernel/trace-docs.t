#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# The examples of docs/language.md work as they stand there.
. "$(dirname "$0")/../lib/test.sh"
need_root
need_file /sys/kernel/btf/vmlinux

in_code='' number=0
while IFS= read -r line; do
	case $line in
	'```bt'*)
		in_code=yes
		read -ra words <<<"${line#'```bt'}"
		: >"$TMP/program.bt"
		: >"$TMP/wanted"
		;;
	'```')
		[ -n "$in_code" ] || continue
		in_code=
		number=$((number + 1))
		if [ "${words[0]-}" = -c ]; then
			run "$FATHOM" trace -c "${words[1]}" "$TMP/program.bt"
		else
			run "$FATHOM" trace "$TMP/program.bt" "${words[@]}"
		fi
		expect_status 0
		while IFS= read -r wanted; do
			expect_out "$wanted"
		done <"$TMP/wanted"
		;;
	'//> '*) [ -z "$in_code" ] || printf '%s\n' "${line#'//> '}" >>"$TMP/wanted" ;;
	*) [ -z "$in_code" ] || printf '%s\n' "$line" >>"$TMP/program.bt" ;;
	esac
done <"$TOP/docs/language.md"
ok 'there were examples' [ "$number" -ge 10 ]
done_testing
