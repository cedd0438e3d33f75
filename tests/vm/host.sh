# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# What the tests of this folder share: vm_test KERNEL boots that kernel once, runs every script of
# guest/ in it, then guest/NAME.check (given the folder with the files that came out) on the host.
vm_dir=$TOP/tests/vm

# Adds TAP lines without a plan to the tests of this file.
vm_adopt() {
	cat "$1"
	# shellcheck disable=SC2034 # counted by done_testing
	test_count=$((test_count + $(grep -Ec '^(not )?ok ' "$1")))
	# shellcheck disable=SC2034
	test_failed=$((test_failed + $(grep -c '^not ok ' "$1")))
}

vm_run_checks() {
	local check name
	for check in "$vm_dir"/guest/*.check; do
		name=${check##*/}
		name=${name%.check}
		echo "### begin $name"
		timeout 60 "$check" "$TMP/out" 2>&1
		echo "### end $name $?"
	done
}

vm_test() {
	"$vm_dir/boot" -n -t 900 -o "$TMP/out" "$1" "$vm_dir"/guest/*.sh >"$TMP/tap" 2>"$TMP/reason"
	[ $? -eq 77 ] && plan_skip "$(head -n 1 "$TMP/reason")"
	sed 's/^/# /' "$TMP/reason"
	vm_adopt "$TMP/tap"
	# A guest that never came up says it all.
	if [ -d "$TMP/out" ] && [ -e "$TMP/out/release" ]; then
		vm_run_checks >"$TMP/checks"
		awk -v kernel="$1" -v count="$test_count" -f "$vm_dir/tap.awk" "$TMP/checks" >"$TMP/tap"
		vm_adopt "$TMP/tap"
	fi
	done_testing
}
