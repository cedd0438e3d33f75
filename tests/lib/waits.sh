# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# For tests of waits, on folded stacks in microseconds; sourced after test.sh.

# near GOT TRUTH PERCENT
near() { awk -v g="$1" -v t="$2" -v p="$3" 'BEGIN { d = g > t ? g - t : t - g; exit d > t * p / 100 }'; }
# sum_of FILE PATTERN: microseconds of the lines that match.
sum_of() { grep -E -e "$2" "$1" | awk '{ n += $NF } END { print n + 0 }'; }
# truth FILE KEY: what a workload printed, in microseconds.
truth() { awk -F= -v key="$2" '$1 == key { printf "%.0f\n", $2 * 1e6 }' "$1"; }
# Patterns. Without its debug file libc names little of what is its own; the places are known.
libc_place='libc[^;]*[+]0x[0-9a-f]+'
thread_root="(clone3|thread_start);(start_thread|$libc_place)"
thread_root_last="(start_thread|$libc_place);(clone3|thread_start)"
export libc_place thread_root thread_root_last
