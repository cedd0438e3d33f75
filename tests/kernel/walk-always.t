#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Results are the same whether stacks are recognised or each is walked: live, recorded, in scripts.
# shared
. "$(dirname "$0")/../lib/test.sh"
need_root
need_cmd gcc python3
cd "$TMP" || exit 1
export XDG_CACHE_HOME=$TMP

# Stacks of equal depth that differ in one caller, and of other depths; 100 waits in each.
cat >naps.c <<'END_C'
#define _GNU_SOURCE
#include <sys/resource.h>
#include <time.h>
#define OWN __attribute__((noipa))
OWN long nap(long n)
{
	struct timespec ts = { .tv_nsec = 200000 };
	struct rusage before, after;
	long ret;

	/* on a busy machine the time may be over before the thread has left the CPU: no wait */
	getrusage(RUSAGE_THREAD, &before);
	do {
		ret = nanosleep(&ts, 0);
		getrusage(RUSAGE_THREAD, &after);
	} while (after.ru_nvcsw == before.ru_nvcsw);
	return ret + n;
}
OWN long even(long n) { return nap(n) + 3; }
OWN long odd(long n) { return nap(n) + 5; }
OWN long down(long n) { return n ? down(n - 1) + 1 : nap(n) + 2; }
int main(void)
{
	long sum = 0;

	for (int i = 0; i < 200; i++)
		sum += (i % 2 ? odd(i) : even(i)) + down(i % 2 * 9);
	return sum == 1;
}
END_C
gcc -O2 -fomit-frame-pointer -fno-optimize-sibling-calls -o naps naps.c

counts() { python3 "$TOP/tests/lib/stackcounts.py" "$1" even odd | paste -sd' '; }
fact() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["facts"][sys.argv[2]])' "$1" "$2"; }

for always in "" --walk-always; do
	how=${always:-recognised}
	# shellcheck disable=SC2086 # an option, or none
	FATHOM_CHECK_STACKS=1 "$FATHOM" offcpu $always -n 0 --json -- ./naps >live.json || fail "offcpu $how"
	is "live, $how: each wait under its caller" "$(counts live.json)" 'even=100 odd=100'
	# shellcheck disable=SC2086
	FATHOM_CHECK_STACKS=1 "$FATHOM" record --force $always --off-cpu -e cpu-clock -o waits.data -- ./naps \
		>/dev/null 2>&1 || fail "record $how"
	"$FATHOM" offcpu -n 0 -i waits.data --json >recorded.json
	is "recorded, $how: each wait under its caller" "$(counts recorded.json)" 'even=100 odd=100'
	is "live, $how: none was wrong" "$(fact live.json stacks_misrecognised)" 0
	if [ "$always" ]; then
		is "live, $how: none was recognised" "$(fact live.json stacks_recognised)" 0
	else
		ok "live, $how: some were" [ "$(fact live.json stacks_recognised)" -gt 0 ]
	fi
done
done_testing
