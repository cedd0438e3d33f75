# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC2016,SC2154
#
# TAP for guest scripts, which busybox sh runs. They begin with ". /tests/lib.sh" and end with
# done_testing; what they leave in /out can be checked on the host by guest/NAME.check. The
# words are those of tests/lib/test.sh: plan_skip, skip, ok, not_ok, pass, fail, is, like, run,
# expect_status, expect_out, diag, need_cmd; and need_workload.
test_count=0
test_failed=0
out_file=/tmp/run.out
err_file=/tmp/run.err

diag() { printf '%s\n' "$*" | sed 's/^/# /'; }

plan_skip() {
	echo "1..0 # SKIP $*"
	exit 0
}

pass() {
	test_count=$((test_count + 1))
	echo "ok $test_count - $1"
}

fail() {
	test_count=$((test_count + 1))
	test_failed=$((test_failed + 1))
	echo "not ok $test_count - $1"
	shift
	[ $# -eq 0 ] || diag "$*"
}

skip() {
	test_count=$((test_count + 1))
	echo "ok $test_count # SKIP $1"
}

ok() {
	name=$1
	shift
	if "$@"; then pass "$name"; else fail "$name" "failed: $*"; fi
}

not_ok() {
	name=$1
	shift
	if "$@"; then fail "$name" "should have failed: $*"; else pass "$name"; fi
}

is() {
	if [ "$2" = "$3" ]; then pass "$1"; else fail "$1" "got '$2', wanted '$3'"; fi
}

like() {
	if printf '%s\n' "$2" | grep -E -e "$3" >/dev/null; then
		pass "$1"
	else
		fail "$1" "does not match: $3"
		diag "$(printf '%s' "$2" | head -c 2000)"
	fi
}

# Everything is slow here: a minute for what takes a second elsewhere.
run() {
	test_last=$*
	timeout "${RUN_TIMEOUT:-60}" "$@" >"$out_file" 2>"$err_file" </dev/null
	status=$?
	out=$(cat "$out_file")
}

test_show_run() {
	diag "status $status"
	diag "stdout: $(head -c 2000 "$out_file")"
	diag "stderr: $(head -c 2000 "$err_file")"
}

expect_status() {
	if [ "$status" -eq "$1" ]; then
		pass "${2:-$test_last: status $1}"
	else
		fail "${2:-$test_last: status $1}"
		test_show_run
	fi
}

expect_out() {
	case $out in
	*"$1"*) pass "${2:-$test_last: prints '$1'}" ;;
	*)
		fail "${2:-$test_last: prints '$1'}"
		test_show_run
		;;
	esac
}

need_cmd() {
	for name in "$@"; do
		command -v "$name" >/dev/null || plan_skip "needs the command '$name'"
	done
}

# need_workload NAME: it is in $workloads.
need_workload() {
	workloads=/workloads
	[ -d "$workloads" ] || workloads=$(dirname "$(command -v "$1" 2>/dev/null || echo /bin/x)")
	[ -x "$workloads/$1" ] || plan_skip "the workloads are not in the guest"
}

done_testing() {
	echo "1..$test_count"
	[ "$test_failed" -eq 0 ]
	exit
}
