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
playwright=$TOP/build/npm/node_modules/playwright-core/index.js
if [ ! -e "$playwright" ]; then
	mkdir -p "$TOP/build/npm"
	npm install --silent --no-audit --no-fund --prefix "$TOP/build/npm" playwright-core \
		>"$TMP/npm" 2>&1 || plan_skip "playwright-core cannot be installed by npm"
fi
need_file "$playwright"

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
