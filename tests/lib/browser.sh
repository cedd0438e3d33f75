# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# For tests that drive chromium; sourced after test.sh. Skips the file where node, npm or chromium
# is missing, fetches playwright-core once, and gives
#
#	drive SCRIPT.mjs [ARGS]...   runs a script of tests/browser with playwright, chromium's path
#	                             and $TMP as its first arguments; its "ok" lines become tests

# shellcheck disable=SC2154 # status, out and err are left by run
need_cmd node npm chromium
fetch_npm playwright-core/index.js "$PLAYWRIGHT" ||
	plan_skip "playwright-core cannot be installed by npm"
playwright=$TOP/build/npm/node_modules/playwright-core/index.js

drive() {
	local script=$1 line
	shift
	run node "$TOP/tests/browser/$script" "$playwright" "$(command -v chromium)" "$TMP" "$@"
	expect_status 0
	while read -r line; do
		case $line in
		'ok '*) pass "${line#ok }" ;;
		'not ok '*) fail "${line#not ok }" ;;
		*) diag "$line" ;;
		esac
	done <<<"$out"
	[ "$status" = 0 ] || diag "$err"
}
