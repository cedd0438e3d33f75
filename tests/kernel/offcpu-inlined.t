#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# One path from a frame to its names: functions that were inlined are frames in every view of waits.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_root
need_cmd gcc
cd "$TMP" || exit 1

cat >inlined.c <<'END'
#include <time.h>

static inline __attribute__((always_inline)) void inner_nap(long ms)
{
	nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000 }, NULL);
}

static inline __attribute__((always_inline)) void outer_nap(long ms)
{
	inner_nap(ms);
}

__attribute__((noinline)) void work(void)
{
	for (int i = 0; i < 10; i++)
		outer_nap(10);
	__asm__ volatile("");
}

int main(void)
{
	work();
	return 0;
}
END
gcc -O2 -g -o inlined inlined.c || exit 1

run "$FATHOM" record --off-cpu -o inlined.data -- ./inlined
expect_status 0
stacks() { sed 's/ [0-9]*$//' | sort; }
"$FATHOM" offcpu -i inlined.data --folded >offcpu.folded
like "offcpu -i: inlined functions are frames" "$(cat offcpu.folded)" \
	';main;work;outer_nap;inner_nap;.*nanosleep'
is "offcpu -i and report read the same stacks" "$(stacks <offcpu.folded)" \
	"$("$FATHOM" fold -i inlined.data --event offcpu-time --inline | stacks)"
run "$FATHOM" report -i inlined.data --event offcpu-time
expect_out_like 'outer_nap \(inlined\)'
"$FATHOM" offcpu --folded -- ./inlined >live.folded
is "... and so does the running machine" "$(stacks <live.folded)" "$(stacks <offcpu.folded)"
done_testing
