#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# shellcheck disable=SC2016
# timeout: 600
# kprobe, kretprobe, fentry and fexit, and the tools that come with bpftrace 0.27 where the reference
# can be made, on Debian's 6.1 and 6.12 kernels in qemu.
TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
work=$(mktemp -d "${TMPDIR:-/tmp}/fathom-test-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
scripts=("$TOP/tests/lang/guest.sh")

# tools_script TOOL...: each attaches, unless the guest has no such function, field or file.
tools_script() {
	local tool
	echo '. /tests/lib.sh'
	for tool in "$@"; do
		printf 'cat >"/tmp/%s" <<'\''END_OF_TOOL'\''\n' "${tool##*/}"
		cat "$tool"
		printf 'END_OF_TOOL\n'
	done
	cat <<-'END'
		absent='kernel has no such function|No matches for|does not exist or is not executable|does not contain a field'
		attached=0
		for tool in /tmp/*.bt; do
			run fathom trace --dry-run "$tool"
			if [ "$status" != 0 ] && grep -qE "$absent" "$err_file"; then
				skip "${tool##*/}: $(grep -E "cannot attach|$absent" "$err_file" | head -n 1)"
			else
				is "${tool##*/} attaches" "$status" 0
				attached=$((attached + 1))
			fi
		done
		ok "most of them do" [ "$attached" -ge 25 ]
		done_testing
	END
}

if reference=$("$TOP/scripts/reference" bpftrace 2>/dev/null) &&
	tools=("$reference"/usr/sbin/*.bt) && [ "${#tools[@]}" -ge 30 ]; then
	tools_script "${tools[@]}" >"$work/tools.sh"
	scripts+=("$work/tools.sh")
fi
status=0
plan=0
for kernel in 6.1 6.12; do
	text=$("$TOP/tests/vm/boot" -n "$kernel" "${scripts[@]}" 2>&1)
	case $? in
	77) echo "ok $((plan += 1)) # SKIP linux $kernel: $(tail -n 1 <<<"$text")" ;;
	*)
		while IFS= read -r line; do
			case $line in
			'ok '*'# SKIP'*) echo "ok $((plan += 1)) # SKIP linux $kernel: ${line#*SKIP }" ;;
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
