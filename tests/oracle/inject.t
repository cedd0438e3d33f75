#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
#
# fathom inject -j: functions of a jitdump become an ELF file that perf, readelf and addr2line read;
# and -s: each switch with the time of the sched_stat event of its thread.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
need_root
need_cmd gcc python3 readelf addr2line
need_file "$FATHOM"
[ "$(uname -m)" = x86_64 ] || plan_skip "the code of the workload is for x86-64"
cd "$TMP" || exit 1

# Three functions made at run time, with lines and code in a jitdump: hot and warm, and then second
# in the place of hot.
cat >jit.c <<'END'
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
/* push %rbp; mov %rsp,%rbp; 1: dec %rdi; jnz 1b; pop %rbp; ret */
static const uint8_t code[] = { 0x55, 0x48, 0x89, 0xe5, 0x48, 0xff, 0xcf, 0x75, 0xfb, 0x5d, 0xc3 };
static FILE *dump;
static uint64_t now(clockid_t c) { struct timespec t; clock_gettime(c, &t); return t.tv_sec * 1000000000ull + t.tv_nsec; }
static void w32(uint32_t v) { fwrite(&v, 4, 1, dump); }
static void w64(uint64_t v) { fwrite(&v, 8, 1, dump); }
static void load(const char *name, uint8_t *at, uint64_t index)
{
	memcpy(at, code, sizeof(code));
	w32(2); w32(16 + 16 + 2 * 16 + 6 + 2); w64(now(CLOCK_MONOTONIC));
	w64((uintptr_t)at); w64(2);
	w64((uintptr_t)at); w32(10 + index); w32(0); fwrite("jit.x", 6, 1, dump);
	w64((uintptr_t)at + 4); w32(20 + index); w32(0); fwrite("\xff", 2, 1, dump);
	w32(0); w32(16 + 40 + strlen(name) + 1 + sizeof(code)); w64(now(CLOCK_MONOTONIC));
	w32(getpid()); w32(getpid()); w64((uintptr_t)at); w64((uintptr_t)at); w64(sizeof(code)); w64(index);
	fwrite(name, strlen(name) + 1, 1, dump);
	fwrite(code, sizeof(code), 1, dump);
	fflush(dump);
}
static void spend(uint8_t *at, unsigned ms)
{
	uint64_t end = now(CLOCK_THREAD_CPUTIME_ID) + ms * 1000000ull;
	while (now(CLOCK_THREAD_CPUTIME_ID) < end)
		((void (*)(long))at)(100000);
}
int main(void)
{
	char path[64];
	uint8_t *m = mmap(0, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sprintf(path, "jit-%d.dump", getpid());
	dump = fopen(path, "w+");
	w32(0x4a695444); w32(1); w32(40); w32(62); w32(0); w32(getpid()); w64(now(CLOCK_MONOTONIC)); w64(0);
	fflush(dump);
	mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump), 0);
	load("jit_hot", m, 0);
	load("jit_warm", m + 64, 1);
	spend(m, 300);
	spend(m + 64, 100);
	load("jit_second", m, 2);
	spend(m, 200);
	return 0;
}
END
gcc -O1 -o jit jit.c || plan_skip "no compiler"
"$FATHOM" record -q -F 999 --call-graph fp -o jit.data -- ./jit || plan_skip "nothing can be recorded here"
pid=$(ls jit-*.dump)
pid=${pid#jit-}
pid=${pid%.dump}

run "$FATHOM" inject -j -i jit.data -o named.data
expect_status 0 "a jitdump"
expect_err "jitdumps: 1 with 3 functions"
so=jitted-$pid.so
ok "one file for all functions" test -s "$so"
is "readelf names them" "$(readelf -Ws "$so" | awk '$4 == "FUNC" { print $3, $8 }' | xargs)" \
	"11 jit_hot 11 jit_warm 11 jit_second"
is "readelf has nothing to complain about" "$(readelf -aW --debug-dump=info,decodedline "$so" 2>&1 >/dev/null)" ""
address=$(readelf -Ws "$so" | awk '$8 == "jit_second" { print $2 }')
is "addr2line has the lines" "$(addr2line -fe "$so" "$address" "$(printf %x $((16#$address + 4)))" | xargs)" \
	"jit_second jit.x:12 jit_second jit.x:22"

samples() { "$FATHOM" script -i "$1" -F ip,sym --no-inline 2>/dev/null | awk 'NF >= 2 && $2 ~ /^jit_/ { n[$2]++ } END { for (s in n) print s, n[s] }' | sort; }
is "the same names as from the dump itself" "$(samples named.data)" "$(samples jit.data)"
ok "jit_hot, jit_warm and jit_second have samples" test "$(samples named.data | wc -l)" = 3
run "$FATHOM" annotate -i named.data jit_second
expect_out 'jit.x:22'
# skid: the share may be the jump's alone
expect_out_like '[0-9a-f]+ .*decq'
expect_out_like '[0-9]% +[0-9a-f]+ .*(decq|jne)'
if command -v perf >/dev/null; then
	theirs=$(perf script -i named.data -F ip,sym -G 2>/dev/null |
		awk 'NF >= 2 && $2 ~ /^jit_/ { n[$2]++ } END { for (s in n) print s, n[s] }' | sort)
	leaves=$("$FATHOM" script -i named.data -F ip,sym -G 2>/dev/null |
		awk 'NF >= 2 && $2 ~ /^jit_/ { n[$2]++ } END { for (s in n) print s, n[s] }' | sort)
	is "perf gives each function the same samples" "$theirs" "$leaves"
	like "perf annotate shows its code and lines" "$(perf annotate --stdio -i named.data jit_hot 2>/dev/null </dev/null)" \
		'[0-9]+\.[0-9]+ : +1004: +dec'
else
	skip "needs the command perf" 2
fi
run "$FATHOM" inject -j -i jit.data -o again.data
expect_status 1 "the files of an earlier run are not replaced"
expect_err '--force replaces'
run "$FATHOM" inject -f -j -i jit.data -o again.data
expect_status 0 "but with --force"
cp jit-*.dump whole
head -c 150 whole >"jit-$pid.dump"
run "$FATHOM" inject -f -j -i jit.data -o again.data
expect_status 0 "a dump that is cut"
expect_err 'with 0 functions'
echo nonsense, and more of it than the head of a dump has >"jit-$pid.dump"
run "$FATHOM" inject -f -j -i jit.data -o again.data
expect_err 'does not begin like one'
rm "jit-$pid.dump"
run "$FATHOM" inject -f -j -i jit.data -o again.data
expect_status 0 "a dump that is gone"
expect_err '1 not there'
"$FATHOM" record -q -k perf -F 999 --call-graph fp -o clock.data -- true 2>/dev/null
run "$FATHOM" inject -j -i clock.data -o again.data -f
expect_status 1 "another clock"
expect_err 'record with'

# --- node ----------------------------------------------------------------------------------------

if command -v node >/dev/null; then
	mkdir node && cd node || exit 1
	cat >hot.js <<-'END'
		function hotjs(n) { let x = 0; for (let i = 0; i < n; i++) x = (x + i * i) % 1000003; return x; }
		for (let k = 0; k < 40; k++) hotjs(1000000);
	END
	"$FATHOM" record -q --call-graph none -F 999 -o js.data -- node --perf-prof hot.js 2>/dev/null
	if ls jit-*.dump >/dev/null 2>&1; then
		run "$FATHOM" inject -j -i js.data -o named.data
		expect_status 0 "node's dump"
		rm jit-*.dump
		run "$FATHOM" annotate -i named.data --top 1
		expect_out_like 'hotjs.*jitted-'
		expect_out_like '[0-9]% +[0-9a-f]+ '
	else
		skip "this node writes no jitdump" 3
	fi
	cd ..
else
	skip "needs the command node" 3
fi

# --- sched_stat ----------------------------------------------------------------------------------

run "$FATHOM" record -q -e sched:sched_switch,sched:sched_stat_runtime,sched:sched_process_exit,task-clock -g \
	-o sched.data -- bash -c 'for i in 1 2 3 4 5 6 7 8; do sleep 0.01; done'
if [ "$status" = 0 ] && [ -s sched.data ]; then
	run "$FATHOM" inject -s -i sched.data -o merged.data
	expect_status 0 "sched_stat"
	for f in sched merged; do
		"$FATHOM" script -i $f.data -F comm,tid,time,event,period,trace -G --ns >$f.txt 2>/dev/null
	done
	ok "each switch has the time and period of the next sched_stat event of its thread" python3 - <<-'END'
		import re
		def lines(path):
		    for l in open(path):
		        m = re.match(r"\s*(.*?)\s+(\d+)\s+([\d.]+):\s+(\d+)\s+(\S+?):(?:\s+(.*))?$", l)
		        assert m, l
		        yield m.groups("")
		last, want, alone = {}, [], 0
		for comm, tid, time, period, event, text in lines("sched.txt"):
		    if event == "sched:sched_switch":
		        last[tid] = (comm, tid, text)
		    elif event == "sched:sched_process_exit":
		        last.pop(tid, None)
		    elif event.startswith("sched:sched_stat_"):
		        pid = re.search(r" pid=(\d+)", " " + text).group(1)
		        if pid in last:
		            c, t, x = last[pid]
		            want.append((t, time, period, "sched:sched_switch", x))
		    else:
		        want.append((tid, time, period, event, text))
		have = [(tid, time, period, event, text) for comm, tid, time, period, event, text in lines("merged.txt")]
		assert len(want) > 8, len(want)
		assert sorted(have) == sorted(want), (len(have), len(want), sorted(set(have) ^ set(want))[:4])
	END
	run "$FATHOM" inject -s -i jit.data -o no.data
	expect_status 1 "a recording without such events"
	expect_err 'sched_stat_sleep needs'
else
	skip "no tracepoint can be recorded" 4
fi
done_testing
