#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Timers must not keep step with periodic work: at every rate, 70 % of work that repeats every 10 ms
# are 70 % of the samples. A timer with a fixed period gives anything from 60 to 100 %.
. "$(dirname "$0")/../lib/test.sh"
need_root
need_file "$WORKLOADS/periodic"
cd "$TMP" || exit 1
export XDG_CACHE_HOME=$TMP

# share RATE SECONDS WHERE...: samples and percent of a among those in a and b
share() {
	local rate=$1 seconds=$2
	shift 2
	run "$FATHOM" record -e cpu-clock -F "$rate" "$@" --force -o spread.data -- \
		"$WORKLOADS/periodic" --seconds "$seconds"
	"$FATHOM" fold -i spread.data | awk '
		/periodic;.*;a [0-9]+$/ || /periodic;.*;a;/ { a += $NF }
		/periodic;.*;b [0-9]+$/ || /periodic;.*;b;/ { b += $NF }
		END { printf "%d\n", a + b ? 100 * a / (a + b) : 0 }'
}

# five standard deviations of the number of samples
for rate in 100 200 499 500 999 1000; do
	got=$(share $rate $((rate < 300 ? 4 : 2)))
	wide=$((rate < 300 ? 12 : 8))
	ok "$rate Hz: $got % in a" [ $((got > 70 ? got - 70 : 70 - got)) -le $wide ]
done
got=$(share 500 2 -a)
ok "500 Hz, the whole machine: $got % in a" [ $((got > 70 ? got - 70 : 70 - got)) -le 8 ]

# The mean period is the nominal one.
run "$FATHOM" record -e cpu-clock -F 500 --force -o spread.data -- "$WORKLOADS/periodic" --seconds 4
n=$("$FATHOM" report -i spread.data --json -g none | sed -nE 's/.*"samples": ?([0-9]+).*/\1/p' | head -n 1)
ok "as many samples as at a fixed period ($n of 2000)" [ "$n" -gt 1900 ] && [ "$n" -lt 2100 ]

# Software events that are not clocks: every one, unless a rate is requested.
run "$FATHOM" record -e minor-faults --force -o faults.data -- sh -c :
expect_status 0
is "every fault is a sample" "$("$FATHOM" evlist -F -i faults.data | sed -n 's/^minor-faults.*sample_period=\([0-9]*\)$/\1/p')" 1
run "$FATHOM" record -e minor-faults -F 99 --force -o faults.data -- sh -c :
like "a rate is kept to" "$("$FATHOM" evlist -F -i faults.data)" 'minor-faults.*sample_freq=99'
done_testing
