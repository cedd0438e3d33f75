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
LIBC_PLACE='libc[^;]*[+]0x[0-9a-f]+'
# shellcheck disable=SC2034 # for those who source this
THREAD_ROOT="(clone3|thread_start);(start_thread|$LIBC_PLACE)"
# shellcheck disable=SC2034
THREAD_ROOT_LAST="(start_thread|$LIBC_PLACE);(clone3|thread_start)"
