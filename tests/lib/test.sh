# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# TAP for shell tests. A test begins with
#
#	#!/usr/bin/env bash
#	. "$(dirname "$0")/../lib/test.sh"
#
# and ends with done_testing. Then there are:
#
#	plan_skip REASON            skip the whole file, before the first test
#	skip REASON [N]             count N tests (1) as skipped
#	ok NAME COMMAND...          passes if the command succeeds
#	not_ok NAME COMMAND...      passes if it fails
#	pass NAME, fail NAME [WHY]
#	is NAME GOT WANTED          equal strings
#	like NAME TEXT REGEX        extended regular expression, anywhere in the text
#	unlike NAME TEXT REGEX
#	run COMMAND...              keeps $status, $out and $err, and files $out_file and $err_file;
#	                            stopped after $RUN_TIMEOUT seconds (60)
#	expect_status N             about the last run
#	expect_out TEXT, expect_err TEXT           the text occurs in it (as it stands)
#	expect_out_like RE, expect_err_like RE     the regular expression matches it
#	expect_prose RE             likewise, but blanks for ends of lines: notes are filled
#	flat TEXT                   prints it as that one line
#	expect_no_err               nothing was written to stderr
#	golden NAME FILE [WANTED]   FILE equals WANTED (NAME next to the test, in golden/);
#	                            UPDATE_GOLDEN=1 rewrites it
#	spawn COMMAND...            in the background, ended with the test; its id is in $spawned
#	wait_until COMMAND...       tries it until it succeeds, at most $WAIT_SECONDS (30)
#	has_threads PID N           as many or more
#	watches PID                 it has perf events open
#	fetch_npm FILE PACKAGE...   installs packages under build/npm unless FILE of it is there;
#	                            fails when that takes over two minutes
#	have NAME...                every one of the commands exists
#	need_root, need_cmd NAME..., need_file PATH...   plan_skip unless
#	diag TEXT                   lines for the reader
#
# $TOP is the repository, $TMP a directory removed at the end, $FATHOM and $FATHOM_ASAN the
# programs under test, $WORKLOADS the folder of workloads. Works under prove and alone.
#
# The variables that run leaves are read by the tests; quotes inside ${} are part of the text.
# shellcheck disable=SC2034,SC2016

set -u
TOP=${TOP:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
FATHOM=${FATHOM:-$TOP/build/fathom}
FATHOM_ASAN=${FATHOM_ASAN:-$TOP/build/asan/fathom}
WORKLOADS=${WORKLOADS:-$TOP/build/workloads}
RUN_TIMEOUT=${RUN_TIMEOUT:-60}
export TOP FATHOM FATHOM_ASAN WORKLOADS
export LC_ALL=C TZ=UTC NO_COLOR=1
unset PAGER
test_dir=$(cd "$(dirname "$0")" && pwd)
test_count=0
test_failed=0
test_planned=
test_children=()
status=0 out='' err='' spawned=''

TMP=$(mktemp -d "${TMPDIR:-/tmp}/fathom-test-XXXXXX") || exit 1
export TMP
out_file=$TMP/run.out
err_file=$TMP/run.err

# Every spawned command leads a process group of its own, so that its children go too.
test_end() {
	local code=$? pid
	for pid in "${test_children[@]}"; do
		kill -KILL -- "-$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
	cd / && rm -rf "$TMP"
	if [ -z "$test_planned" ]; then
		echo "# ended without done_testing (status $code) after $test_count tests"
		exit 1
	fi
	# Not the status it was left with: a test may have put something of its own before this.
	[ "$test_failed" -eq 0 ] || exit 1
	exit 0
}
trap test_end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

diag() { printf '%s\n' "$*" | sed 's/^/# /'; }

plan_skip() {
	test_planned=yes
	if [ "$test_count" -gt 0 ]; then
		echo "Bail out! plan_skip after the first test"
		test_failed=1
		exit 1
	fi
	echo "1..0 # SKIP $*"
	exit 0
}

pass() {
	test_count=$((test_count + 1))
	echo "ok $test_count - ${1//#/}"
}

fail() {
	test_count=$((test_count + 1))
	test_failed=$((test_failed + 1))
	echo "not ok $test_count - ${1//#/}"
	shift
	[ $# -eq 0 ] || diag "$*"
	return 1
}

skip() {
	local i
	for ((i = 0; i < ${2:-1}; i++)); do
		test_count=$((test_count + 1))
		echo "ok $test_count # SKIP $1"
	done
}

ok() {
	local name=$1
	shift
	if "$@"; then pass "$name"; else fail "$name" "failed: $*"; fi
}

not_ok() {
	local name=$1
	shift
	if "$@"; then fail "$name" "should have failed: $*"; else pass "$name"; fi
}

is() {
	if [ "$2" = "$3" ]; then
		pass "$1"
	else
		fail "$1"
		diag "got:    $2"
		diag "wanted: $3"
		return 1
	fi
}

# A here-string and not a pipe: grep -q would end it early.
like() {
	if grep -Eq -e "$3" <<<"$2"; then
		pass "$1"
	else
		fail "$1" "does not match: $3"
		diag "$(head -c 2000 <<<"$2")"
		return 1
	fi
}

unlike() {
	if ! grep -Eq -e "$3" <<<"$2"; then
		pass "$1"
	else
		fail "$1" "matches: $3"
		diag "$(head -c 2000 <<<"$2")"
		return 1
	fi
}

# Called with the command line of the last run, for the names of the expect_ tests.
test_last=''

run() {
	test_last=${*##*/}
	timeout -k 2 "$RUN_TIMEOUT" "$@" >"$out_file" 2>"$err_file" </dev/null
	status=$?
	# Bytes of 0 cannot be held in a variable; tests of binary output read the file.
	out=$(tr -d '\0' <"$out_file")
	err=$(tr -d '\0' <"$err_file")
	[ "$status" -ne 124 ] || diag "timed out after $RUN_TIMEOUT s: $*"
}

test_show_run() {
	diag "status $status"
	[ -z "$out" ] || diag "stdout: $(head -c 2000 <<<"$out")"
	[ -z "$err" ] || diag "stderr: $(head -c 2000 <<<"$err")"
	return 1
}

expect_status() {
	if [ "$status" -eq "$1" ]; then
		pass "${2:-$test_last: status $1}"
	else
		fail "${2:-$test_last: status $1}"
		test_show_run
	fi
}

test_expect_text() {
	if [[ $2 == *"$3"* ]]; then
		pass "$1"
	else
		fail "$1" "not found: $3"
		test_show_run
	fi
}

expect_out() { test_expect_text "${2:-$test_last: prints '$1'}" "$out" "$1"; }
expect_err() { test_expect_text "${2:-$test_last: says '$1'}" "$err" "$1"; }
expect_out_like() { like "${2:-$test_last: prints /$1/}" "$out" "$1"; }
flat() { printf '%s\n' "$1" | tr -s '\n ' ' '; }
expect_prose() { like "${2:-$test_last: says /$1/}" "$(flat "$out")" "$1"; }
expect_err_like() { like "${2:-$test_last: says /$1/}" "$err" "$1"; }
expect_no_err() { is "${1:-$test_last: nothing on stderr}" "$err" ''; }

golden() {
	local name=$1 file=$2 wanted=${3:-$test_dir/golden/$1}
	if [ -n "${UPDATE_GOLDEN:-}" ]; then
		mkdir -p "$(dirname "$wanted")" && cp "$file" "$wanted" && pass "golden $name (rewritten)"
		return
	fi
	if [ ! -e "$wanted" ]; then
		fail "golden $name" "'$wanted' does not exist; UPDATE_GOLDEN=1 makes it"
		return
	fi
	if cmp -s "$wanted" "$file"; then
		pass "golden $name"
	else
		fail "golden $name"
		diff -u --label "$name (wanted)" --label "$name (got)" "$wanted" "$file" |
			head -n 60 | sed 's/^/# /'
		return 1
	fi
}

spawn() {
	set -m
	"$@" &
	spawned=$!
	set +m
	test_children+=("$spawned")
}

wait_until() {
	local i
	for ((i = 0; i < ${WAIT_SECONDS:-30} * 5; i++)); do
		"$@" && return
		sleep 0.2
	done
	return 1
}

# is_running PID NAME: it has become this program. had_ticks PID TICKS: it had so much CPU time.
is_running() { [ "$(cat "/proc/$1/comm" 2>/dev/null)" = "$2" ]; }
cpu_ticks() { awk '{ sub(/.*\) /, ""); print $12 + $13 }' "/proc/$1/stat"; }
had_ticks() { [ "$(cpu_ticks "$1")" -ge "$2" ]; }
# runs_for PID TICKS: waits until it had that much more.
runs_for() { wait_until had_ticks "$1" $(($(cpu_ticks "$1") + $2)); }

has_threads() { [ "$(find "/proc/$1/task" -mindepth 1 -maxdepth 1 2>/dev/null | wc -l)" -ge "$2" ]; }

watches() { [ -n "$(find "/proc/$1/fd" -lname 'anon_inode:\[perf_event\]' 2>/dev/null)" ]; }

need_root() { [ "$(id -u)" -eq 0 ] || plan_skip "needs root"; }

# A sampler for tests of the kernel's unwinder: $sampler SECONDS PROGRAM...
need_sampler() {
	need_root
	sampler=$TOP/build/oracle/unwind_sampler
	need_file "$sampler" "$WORKLOADS/burn"
	"$sampler" 0.2 "$WORKLOADS/burn" --seconds 0.1 a=100 >"$TMP/try" 2>&1 ||
		plan_skip "the sampler does not load here: $(tail -n 1 "$TMP/try")"
}

# Every CPython that is installed and known to the unwinder, in the array pythons.
need_pythons() {
	local python
	pythons=()
	for python in /usr/bin/python3.1[123] /usr/local/bin/python3.1[123] \
		"$HOME"/.pyenv/versions/3.1[123].*/bin/python3; do
		[ -x "$python" ] && pythons+=("$python")
	done
	[ ${#pythons[@]} -gt 0 ] || plan_skip 'no CPython from 3.11 to 3.13 is installed'
}

# Every one of the commands exists; command -v with several names asks for one of them.
have() {
	local name
	for name in "$@"; do command -v "$name" > /dev/null || return 1; done
}

need_cmd() {
	local name
	for name in "$@"; do
		command -v "$name" >/dev/null || plan_skip "needs the command '$name'"
	done
}

need_file() {
	local path
	for path in "$@"; do
		[ -e "$path" ] || plan_skip "needs '${path#"$TOP"/}'"
	done
}

done_testing() {
	test_planned=yes
	echo "1..$test_count"
	[ "$test_failed" -eq 0 ] || exit 1
	exit 0
}

# The last one that runs on the node of Debian 12.
PLAYWRIGHT=playwright-core@1.49.1

fetch_npm() {
	local file=$TOP/build/npm/node_modules/$1
	shift
	[ -e "$file" ] && return
	command -v npm >/dev/null || return
	mkdir -p "$TOP/build/npm"
	timeout 120 npm install --silent --no-audit --no-fund --fetch-retries=1 \
		--prefix "$TOP/build/npm" "$@" >"$TMP/npm.log" 2>&1 && [ -e "$file" ]
}
