#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# timeout: 120
#
# Names and stacks of processes that do not keep still: maps of run-time code that belong to others,
# are huge, cut or rewritten while they are read; libraries that come and go; processes that are gone;
# two unwinders on one CPU. Never a crash, a hang or a wrong name.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_root
need_file "$WORKLOADS/jitlike"
need_cmd gcc python3
cd "$TMP" || exit 1
export XDG_CACHE_HOME=$TMP

# A program with code at an address of its own: it spins there.
cat >jit.c <<'C'
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
int main(void)
{
	/* push rbp; mov rbp, rsp; xor eax, eax; 1: inc eax; jnz 1b; pop rbp; ret */
	static const unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0x31, 0xc0, 0xff,
					      0xc0, 0x75, 0xfc, 0x5d, 0xc3 };
	void *p = mmap((void *)0x600000000000, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	memcpy(p, code, sizeof(code));
	for (;;)
		((void (*)(void))p)();
}
C
gcc -O1 -o jit jit.c || exit 1

# sampled NAME: records process $pid; the names of its run-time code are in $out
sampled() {
	run timeout 60 "$FATHOM" record -q -e cpu-clock -F 499 -p "$pid" -d 500ms -o jit.data --force
	is "$1: recorded" "$status" 0
	run timeout 60 "$FATHOM" report -i jit.data --no-children -g none --sort symbol
	is "$1: reported" "$status" 0
}

spawn ./jit
pid=$spawned
map=/tmp/perf-$pid.map
wait_until is_running "$pid" jit

echo '600000000000 1000 good_name' >"$map"
sampled 'a map'
like 'a map names its code' "$out" good_name

chown 65534 "$map"
sampled 'a map of another user'
unlike 'a map of another user is not believed' "$out" good_name
like '... and that is said' "$out$err" 'belongs to another user'
rm -f "$map"

# a gigabyte, most of it never written: read in bounded time and memory
truncate -s 1G "$map"
printf '\n600000000000 1000 after_a_gigabyte\n' >>"$map"
sampled 'a map of 1 GB'
like 'a map of 1 GB: the end of it counts' "$out" after_a_gigabyte
rm -f "$map"

# written again all the time, with lines that are cut
python3 - "$map" <<'END' &
import os, sys
line = "600000000000 1000 again_and_again\n"
while True:
    with open(sys.argv[1], "w") as f:
        f.write(("500000000000 10 x%d\n" % os.getpid()) * 20000 + line + line[:20])
END
writer=$!
sampled 'a map that is rewritten'
unlike 'a map that is rewritten: no other names' "$out" '600000000000|x[0-9]+$'
kill "$writer"
wait "$writer" 2>/dev/null
kill "$pid"
rm -f "$map"

# a jitdump that ends in the middle of a record
dump_python=
for python in /usr/bin/python3.13 /usr/local/bin/python3.13 "$HOME"/.pyenv/versions/3.13.*/bin/python3; do
	[ -x "$python" ] && dump_python=$python
done
if [ -n "$dump_python" ]; then
	cat >work.py <<'END'
import os, time
open("python.pid", "w").write(str(os.getpid()))
def work():
    end = time.time() + 1
    while time.time() < end: sum(range(1000))
work()
END
	run "$FATHOM" record -q -e cpu-clock -F 499 --no-names -o cut.data -- "$dump_python" -X perf_jit work.py
	dump=/tmp/jit-$(cat python.pid).dump
	truncate -s -7 "$dump"
	run timeout 60 "$FATHOM" script -i cut.data
	is 'a jitdump cut short: read' "$status" 0
	like 'a jitdump cut short: what is whole counts' "$out" 'py::'
	rm -f "$dump"
else
	skip 'no CPython 3.13' 2
fi

# --- a library that comes and goes while its code runs ----------------------------------------------

cat >plugin.c <<'C'
static volatile unsigned long sink;
__attribute__((noinline)) void plugin_leaf(void) { for (int i = 0; i < 200000; i++) sink += i; }
void plugin_work(void) { plugin_leaf(); sink++; }
C
cat >host.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	for (int i = 0;; i++) {
		void *h = dlopen(argv[1 + i % 2], RTLD_NOW);

		if (!h)
			return 1;
		((void (*)(void))dlsym(h, "plugin_work"))();
		dlclose(h);
	}
}
C
gcc -O1 -g -shared -fPIC -fomit-frame-pointer -o one.so plugin.c
sed 's/plugin_leaf/second_leaf/' plugin.c >second.c
gcc -O1 -g -shared -fPIC -fomit-frame-pointer -o two.so second.c
gcc -O1 -o host host.c -ldl
spawn ./host ./one.so ./two.so
pid=$spawned
run timeout 60 "$FATHOM" record -q -e cpu-clock -F 999 -p "$pid" -d 1500ms -o host.data
is 'a library that comes and goes: recorded' "$status" 0
run "$FATHOM" fold -i host.data --no-inline
kill "$pid"
right=$(awk '/;main;plugin_work;(plugin|second)_leaf / { n += $NF } END { print n + 0 }' <<<"$out")
all=$(awk '/_leaf / { n += $NF } END { print n + 0 }' <<<"$out")
diag "$right of $all ns in the library have the right callers"
ok '... its callers are right' test "$all" -gt 0 -a $((right * 100)) -ge $((all * 95))
like '... both of them were seen' "$out" 'plugin_leaf'
like '... and distinguished' "$out" 'second_leaf'

# --- processes that are gone when they are named ----------------------------------------------------

cat >brief.c <<'C'
#include <time.h>
static volatile unsigned long sink;
__attribute__((noinline)) void brief_work(void)
{
	for (clock_t end = clock() + CLOCKS_PER_SEC / 50; clock() < end;)
		for (int i = 0; i < 10000; i++)
			sink += i;
}
int main(void) { brief_work(); return 0; }
C
gcc -O1 -g -o brief brief.c
cat >many.sh <<'END'
for i in $(seq 40); do cp brief "gone$i"; "./gone$i"; rm "gone$i"; done
END
run "$FATHOM" record -q -e cpu-clock -F 999 -o gone.data -- bash many.sh
run "$FATHOM" fold -i gone.data --no-inline
named=$(awk '/^gone.*;main;brief_work/ { n += $NF } END { print n + 0 }' <<<"$out")
all=$(awk '/^gone[^;]*;_start/ { n += $NF } END { print n + 0 }' <<<"$out")
diag "$named of $all ns of programs that are deleted and gone are named"
ok 'programs that are gone have names' test "$all" -gt 0 -a $((named * 100)) -ge $((all * 60))

# --- one unwinder interrupts another ----------------------------------------------------------------

# the sampler at a high rate on the CPUs where the scheduler's unwinder works all the time
cat >pong.c <<'C'
#include <unistd.h>
__attribute__((noinline)) static void play(int from, int to)
{
	char c = 0;

	while (write(to, &c, 1) == 1 && read(from, &c, 1) == 1)
		;
}
int main(void)
{
	int a[2], b[2];

	if (pipe(a) || pipe(b))
		return 1;
	if (fork())
		play(a[0], b[1]);
	else
		play(b[0], a[1]);
	return 0;
}
C
gcc -O1 -o pong pong.c
spawn ./pong
pid=$spawned
"$FATHOM" offcpu --json -d 2s >off.json 2>/dev/null &
off=$!
run "$FATHOM" record -q -e cpu-clock -F 9999 -a -d 1500ms -o both.data
is 'two unwinders at once: recorded' "$status" 0
wait "$off"
is 'two unwinders at once: waits' "$?" 0
kill "$pid"
run "$FATHOM" stacks -i both.data --json
ok 'two unwinders at once: stacks are whole' python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
p = [p for p in d["processes"] if p["comm"] == "pong"]
users = sum(r["user_stacks"] for r in p)
good = sum(r["complete"] for r in p)
print("#", good, "of", users, "stacks of the switching program are complete")
sys.exit(users < 20 or good < 0.98 * users)' "$out_file"
unlike 'two unwinders at once: none found no room' "$(cat "$out_file" off.json)" \
	'too many unwinds at once'

# A map that tells a part, and is gone: not that there was none, nor that there should be one.
spawn "$WORKLOADS/jitlike" --seconds 60
pid=$spawned
wait_until grep -q jit_warm "/tmp/perf-$pid.map"
sed -i /jit_warm/d "/tmp/perf-$pid.map"
sampled 'a map of a part'
rm -f "/tmp/perf-$pid.map"
kill "$pid"
like 'a map of a part names what it tells' "$out" jit_hot
run "$FATHOM" report -i jit.data
like 'a map of a part: the reason' "$(flat "$out$err")" \
	'frames of run-time code \(process [0-9]+\) have no name: its perf map does not contain this code'
unlike '... and to write a map is no advice' "$(flat "$out$err")" 'writes a perf map'
done_testing
