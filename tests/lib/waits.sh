# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# For tests of waits, on folded stacks in microseconds; sourced after test.sh.

# near GOT TRUTH PERCENT
near() { awk -v g="$1" -v t="$2" -v p="$3" 'BEGIN { d = g > t ? g - t : t - g; exit d > t * p / 100 }'; }
# sum_of FILE PATTERN: microseconds of the lines that match.
sum_of() { grep -E -e "$2" "$1" | awk '{ n += $NF } END { print n + 0 }'; }
# truth FILE KEY: what a workload printed, in microseconds.
truth() { awk -F= -v key="$2" '$1 == key { print $2 * 1e6 }' "$1"; }
