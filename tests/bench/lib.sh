# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# For the benchmarks of this folder: executables NAME.bench that begin with
#
#	#!/usr/bin/env bash
#	. "$(dirname "$0")/lib.sh"
#
# and call compare (see tests/bench/compare) once for every comparison. bench_need NAME... ends the
# benchmark, and says so, when a peer is not installed. BENCH_ROUNDS sets the rounds for all.
set -u
TOP=${TOP:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
FATHOM=${FATHOM:-$TOP/build/fathom}
WORKLOADS=${WORKLOADS:-$TOP/build/workloads}
export TOP FATHOM WORKLOADS LC_ALL=C NO_COLOR=1
PATH=$PATH:/usr/sbin:/sbin
BENCH_TMP=$(mktemp -d "${TMPDIR:-/tmp}/fathom-bench-XXXXXX") || exit 1
bench_children=()

bench_end() {
	local pid
	for pid in "${bench_children[@]}"; do
		kill -KILL -- "-$pid" 2>/dev/null
	done
	rm -rf "$BENCH_TMP"
}
trap bench_end EXIT
trap 'exit 130' INT TERM

bench_need() {
	local name
	for name in "$@"; do
		command -v "$name" >/dev/null && continue
		echo "${0##*/}: left out, needs '$name'"
		exit 0
	done
}

# bench_spawn COMMAND...: a load in the background, ended with the benchmark.
bench_spawn() {
	set -m
	"$@" >/dev/null 2>&1 &
	bench_children+=("$!")
	set +m
}

compare() { "$TOP/tests/bench/compare" -n "${BENCH_ROUNDS:-5}" "$@"; }
