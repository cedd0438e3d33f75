#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016
# timeout: 600
# Totals are exact, or the loss is stated to the last event: many keys, many events printed, two CPUs
# on one value. TRACE_TOTALS=long for a million keys, 100,000 events a second for 10 s.
. "$(dirname "$0")/../lib/test.sh"
need_root
need_cmd gcc awk
need_file /sys/kernel/btf/vmlinux
keys=200000 seconds=2 rounds=200000
if [ "${TRACE_TOTALS-}" = long ]; then
	keys=1000000 seconds=10 rounds=5000000
fi
RUN_TIMEOUT=300

# lost WORD: how many of these the report on standard error names; 0 when it says nothing.
lost() { awk -v word="$1" '$0 ~ word { n += $2 } END { print n + 0 }' "$err_file"; }

# --- keys ----------------------------------------------------------------------------------------
run "$FATHOM" trace -o "$TMP/keys" -e "config = { max_map_keys = $((keys + keys / 4)); }
	BEGIN { for (\$i : 0..$keys) { @k[\$i] = \$i * 3; } }"
expect_status 0
printed=$(grep -c '^@k' "$TMP/keys")
is "$keys keys: printed and lost" "$((printed + $(lost 'map was full|no memory available')))" "$keys"
ok 'nearly all keys are there' [ "$printed" -gt "$((keys * 99 / 100))" ]
right=$(sed -n 's/^@k\[\([0-9]*\)\]: \([0-9]*\)$/\1 \2/p' "$TMP/keys" | awk '$2 == $1 * 3' | wc -l)
is 'their values are right' "$right" "$printed"
is 'none of them is printed twice' "$(grep '^@k' "$TMP/keys" | sort -u | wc -l)" "$printed"
run "$FATHOM" trace -o "$TMP/keys" -e "config = { max_map_keys = 1000; }
	BEGIN { for (\$i : 0..$keys) { @k[\$i] = count(); } }"
is 'a full map: printed and lost' "$(($(grep -c '^@k' "$TMP/keys") + $(lost 'map was full|no memory available')))" "$keys"

# --- events --------------------------------------------------------------------------------------
# Makes 100,000 system calls a second, numbered, and prints how many they were.
cat >"$TMP/events.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec / 1e9; }
int main(int argc, char **argv)
{
	double start = now(), seconds = atof(argv[1]), t;
	long n = 0;
	while ((t = now() - start) < seconds) {
		for (int i = 0; i < 100 && n < t * 100000; i++)
			syscall(SYS_getpgid, 1000000000 + n++);
		if (n >= t * 100000)
			usleep(500);
	}
	fprintf(stderr, "%ld\n", n);
	return argc - 2;
}
END
gcc -O1 -o "$TMP/events" "$TMP/events.c"
run "$FATHOM" trace -o "$TMP/lines" -c "$TMP/events $seconds" \
	-e 't:syscalls:sys_enter_getpgid /pid == cpid && args.pid >= 1000000000/ { printf("%d %s\n", args.pid - 1000000000, comm); @n = count(); }'
expect_status 0
made=$(grep -E '^[0-9]+$' "$err_file")
lines=$(grep -c ' events$' "$TMP/lines")
diag "$made events made, $lines printed, $(lost 'events lost') lost"
is 'events counted' "$(sed -n 's/^@n: //p' "$TMP/lines")" "$made"
is 'events printed and lost' "$((lines + $(lost 'events lost')))" "$made"
is 'each is printed once and in order' "$(awk '/ events$/ && $1 <= last { n++ } / events$/ { last = $1 } BEGIN { last = -1 } END { print n + 0 }' "$TMP/lines")" 0

# --- one value on two CPUs -----------------------------------------------------------------------
cat >"$TMP/hammer.c" <<'END'
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	for (int cpu = 0; cpu < 2; cpu++) {
		if (fork())
			continue;
		cpu_set_t set;
		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		sched_setaffinity(0, sizeof(set), &set);
		for (long i = 0; i < atol(argv[1]); i++)
			syscall(SYS_getpgid, 1000000000);
		_exit(0);
	}
	while (wait(0) > 0)
		;
	return argc - 2;
}
END
gcc -O1 -o "$TMP/hammer" "$TMP/hammer.c"
run "$FATHOM" trace -c "$TMP/hammer $rounds" \
	-e 't:syscalls:sys_enter_getpgid /comm == "hammer" && args.pid == 1000000000/ { @plain++; @keyed[comm]++; @added += 2; @count = count(); @sum = sum(3); @hist = hist(5); @stats = stats(7); }'
expect_status 0
total=$((2 * rounds))
expect_out "@plain: $total"
expect_out "@keyed[hammer]: $total"
expect_out "@added: $((2 * total))"
expect_out "@count: $total"
expect_out "@sum: $((3 * total))"
expect_out "@stats: { .count = $total, .average = 7, .total = $((7 * total)) }"
done_testing
