#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Stacks where other code takes the place of what was there: each program knows how often it waited
# in which function. At most one wait in a thousand may be attributed to another function, live and
# from a recording.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_root
need_cmd gcc python3 setarch
need_file "$WORKLOADS/reload" "$WORKLOADS/contexts"
cd "$TMP" || exit 1
export XDG_CACHE_HOME=$TMP/cache

# --- how it is judged ----------------------------------------------------------------------------

# counts FILE.json NAME...: prints NAME=COUNT
counts() { python3 "$TOP/tests/lib/stackcounts.py" "$@"; }

# judge WHAT FILE.json N NAME...: each NAME was waited in N times
judge() {
	local what=$1 json=$2 n=$3 line got wrong=0 all=0 each
	shift 3
	each=$(counts "$json" "$@")
	for line in $each; do
		got=${line#*=}
		wrong=$((wrong + (got > n ? got - n : n - got)))
		all=$((all + n))
	done
	ok "$what: at most 0.1 % wrong ($wrong of $all)" [ $((wrong * 1000)) -le "$all" ] ||
		diag "$each" "$(python3 - "$json" <<'END_PY'
import json, sys
r = json.load(open(sys.argv[1]))
print(r.get("losses"), r["facts"])
for w in r["waits"]:
    print(w["count"], w["state"], w["where"])
END_PY
		)"
}

# watch COMMAND...: into live.json, and recorded into recorded.json
watch() {
	"$FATHOM" offcpu -n 0 --json -- sh -c '"$@" >/dev/null' sh "$@" >live.json || fail "offcpu runs"
	"$FATHOM" record --force --off-cpu -e cpu-clock -F 99 -o waits.data -- "$@" >record.log 2>&1 ||
		fail "record runs" "$(cat record.log)"
	"$FATHOM" offcpu -n 0 -i waits.data --json >recorded.json || fail "offcpu -i runs"
}

# both WHAT N "NAME..." COMMAND...
both() {
	local what=$1 n=$2 names=$3
	shift 3
	watch "$@"
	# shellcheck disable=SC2086 # several names
	judge "$what, live" live.json "$n" $names
	# shellcheck disable=SC2086
	judge "$what, recorded" recorded.json "$n" $names
}

# --- plug-ins --------------------------------------------------------------------------------------

# What differs is a name, and one word of data: it makes the build ids differ.
cat >plug.c <<'END_C'
#include <time.h>
#define TEXT(name) #name
#define NAME(name) TEXT(name)
__attribute__((used)) static const char which[] = NAME(WAIT);
__attribute__((noinline)) static void WAIT(long us)
{
	volatile char room[ROOM];
	struct timespec ts = { .tv_nsec = us * 1000 };

	room[0] = 0;
	nanosleep(&ts, 0);
	__asm__ volatile("" ::: "memory");
}
void plug(long us)
{
	WAIT(us);
	__asm__ volatile("" ::: "memory");
}
#ifdef PAGES
__asm__(".text\n.skip 4096 * " PAGES ", 0x90\n");
#endif
#ifdef MAIN
#include <stdlib.h>
int main(int argc, char **argv)
{
	for (int i = 0; i < atoi(argv[1]); i++)
		plug(500);
	return argc < 0;
}
#endif
END_C
plugin() {
	gcc -O2 -fPIC -shared "-DWAIT=$1" "-DROOM=$2" "${@:4}" -o "$3" plug.c || exit 1
}
plugin plug_a 64 ./a.so
plugin plug_b 64 ./b.so
plugin plug_b 1640 ./roomy.so
plugin plug_b 64 ./longer.so '-DPAGES="1"'

both "a plug-in unloaded, another of equal layout in its place" 300 "plug_a plug_b" \
	"$WORKLOADS/reload" turns --count 300 ./a.so ./b.so
both "another with larger frames" 300 "plug_a plug_b" \
	"$WORKLOADS/reload" turns --count 300 ./a.so ./roomy.so
both "another with one more page" 300 "plug_a plug_b" \
	"$WORKLOADS/reload" turns --count 300 ./a.so ./longer.so
both "siblings that load different plug-ins" 300 "plug_a plug_b" \
	"$WORKLOADS/reload" fork --count 300 ./a.so ./b.so
both "siblings, larger frames" 300 "plug_a plug_b" \
	"$WORKLOADS/reload" fork --count 300 ./a.so ./roomy.so

# --- programs --------------------------------------------------------------------------------------

# program NAME ROOM FILE [OPTION...]: with main
program() { gcc -O2 "-DWAIT=$1" "-DROOM=$2" -DMAIN "${@:4}" -o "$3" plug.c || exit 1; }
mkdir one two
program plug_a 64 one/prog
program plug_b 64 two/prog
program plug_b 1640 roomy
cat >apart <<'END_SH'
i=0
while [ $((i += 1)) -le 30 ]; do
	$1 one/prog 10
	$1 two/prog 10
done
END_SH
both "programs of one name and size" 300 "plug_a plug_b" sh apart ""
both "without address randomisation" 300 "plug_a plug_b" sh apart "setarch -R"

# Written again in place: one inode, one size. Names are gone with what was there before, and code
# whose file has changed is without a name; it must not have a wrong one.
cat >rebuild <<'END_SH'
i=0
while [ $((i += 1)) -le "$1" ]; do
	cat one/prog >prog
	./prog 3
	cat "$2" >prog
	./prog 3
done
END_SH
# the last one that was written is there to be named
rebuilt() {
	local what=$1 json=$2 turns=$3 n
	n=$(counts "$json" plug_a plug_b | awk -F= '{ print $2 }' | paste -sd' ')
	read -r in_a in_b <<<"$n"
	ok "$what: not more in plug_a than there was ($in_a of $((3 * turns)))" [ "$in_a" -le $((3 * turns)) ]
	ok "$what: not more in plug_b than there was ($in_b of $((3 * turns)))" [ "$in_b" -le $((3 * turns)) ]
}
cp one/prog prog
# 160 times there and back: a memory of a few bits of the number of changes would match again
for other in two/prog:160 roomy:20; do
	turns=${other#*:} other=${other%:*}
	watch sh rebuild "$turns" "$other"
	rebuilt "rebuilt in place $((2 * turns)) times ($other), live" live.json "$turns"
	rebuilt "rebuilt in place $((2 * turns)) times ($other), recorded" recorded.json "$turns"
done

# Without build ids only the times of the file tell: those who linked it so have no names, then.
mkdir -p bare/one bare/two
program plug_a 64 bare/one/prog -Wl,--build-id=none
program plug_b 64 bare/two/prog -Wl,--build-id=none
both "a program without a build id" 300 plug_a bare/one/prog 300
watch sh -c 'cd bare && cp one/prog prog && exec sh ../rebuild 20 two/prog'
rebuilt "rebuilt in place, no build id, live" live.json 20
rebuilt "rebuilt in place, no build id, recorded" recorded.json 20

# --- uncommon ways into a function -----------------------------------------------------------------

both "contexts, signals, jumps and patches" 100 \
	"context_a context_b signal_nap jump_a_naps jump_b_naps patch_a patch_b" \
	"$WORKLOADS/contexts"
# both the parent and its child
judge "vfork, live" live.json 200 vfork_a vfork_b
judge "vfork, recorded" recorded.json 200 vfork_a vfork_b

# --- run-time code at one address -------------------------------------------------------------------

watch "$WORKLOADS/jitreuse" --count 300
judge "jitdump, an address used again 600 times, recorded" recorded.json 300 jit_a jit_b
rm -f /tmp/jit-"$(sed -n 's/^pid=//p' record.log)".dump
# Live sums do not tell when: the address has both names, and that is counted.
ok "jitdump, an address used again, live: none under one name alone, and counted" python3 - live.json <<'END_PY'
import json, sys
r = json.load(open(sys.argv[1]))
names = {}
for w in r["waits"]:
    for frame in (w["where"] or "").split(" < "):
        names[frame] = names.get(frame, 0) + w["count"]
assert names.get("jit_b or jit_a", 0) >= 599, names
assert "jit_a" not in names and "jit_b" not in names, names
assert r["losses"]["code_reused"] == 1, r["losses"]
END_PY

# A perf map has no times: whoever watches knows between which two looks a function came.
# named FILE.json: how often there was a wait in "jit_a", "jit_b", and in one or the other
named() {
	python3 - "$1" <<'END_PY'
import json, sys
r = json.load(open(sys.argv[1]))
names = {}
for w in r["waits"]:
    for frame in (w["where"] or "").split(" < "):
        if frame.startswith("jit_"):
            names[frame] = names.get(frame, 0) + w["count"]
both = names.get("jit_b or jit_a", 0) + names.get("jit_a or jit_b", 0)
counted = r["losses"].get("code_reused", 0) > 0
print(names.get("jit_a", 0), names.get("jit_b", 0), both, "counted" if counted else "")
END_PY
}
watch "$WORKLOADS/jitreuse" --map --count 200
for how in live recorded; do
	is "perf map, an address used again, $how: none under one name alone, and counted" \
		"$(named $how.json)" '0 0 400 counted'
done
watch "$WORKLOADS/jitreuse" --slow-map --count 200
is "perf map, code replaced once, live: both names, and counted" "$(named live.json)" '0 0 600 counted'
read -r in_a in_b in_both counted <<<"$(named recorded.json)"
is "perf map, code replaced once, recorded: what came before has its name" "$in_a" 200
ok "... so has what came a second after ($in_b of 400, $in_both have both)" \
	[ "$in_b" -ge 200 -a $((in_b + in_both)) -eq 400 ]
is "... the rest is counted" "${counted:-}" "$([ "$in_both" -gt 0 ] && echo counted)"
grep -ls ' jit_[ab]$' /tmp/perf-*.map | xargs -r rm -f

# A program in a time namespace writes its jitdump by another clock, a later one or an earlier one.
read -r up _ </proc/uptime
for ahead in 100000 -$((${up%.*} / 2)); do
	if ! unshare -T --monotonic $ahead true 2>/dev/null || [ "${up%.*}" -lt 20 ]; then
		skip "no time namespaces, or started just now" 2
		continue
	fi
	watch unshare -T --monotonic $ahead "$WORKLOADS/jitreuse" --count 200
	for how in live recorded; do
		is "jitdump of a clock $ahead s ahead, $how: none under one name alone, and counted" \
			"$(named $how.json)" '0 0 400 counted'
	done
	rm -f /tmp/jit-"$(sed -n 's/^pid=//p' record.log)".dump
done

# A thread of C that calls into Python has a new state each time, and the old one's memory keeps its
# content: C libraries free what they got without clearing it.
cat >calls.c <<'END_C'
#include <pthread.h>
typedef void (*callback)(int);
struct job { callback a, b; int n; };
static void *run(void *p)
{
	struct job *j = p;

	for (int i = 0; i < j->n; i++) {
		j->a(i);
		j->b(i);
	}
	return 0;
}
void calls(callback a, callback b, int n)
{
	struct job j = { a, b, n };
	pthread_t t;

	if (!pthread_create(&t, 0, run, &j))
		pthread_join(t, 0);
}
END_C
gcc -O1 -shared -fPIC -o calls.so calls.c || exit 1
cat >calls.py <<'END_PY'
import ctypes, sys, time
lib = ctypes.CDLL("./calls.so")
KIND = ctypes.CFUNCTYPE(None, ctypes.c_int)
def py_a(i):
    time.sleep(0.0005)
def py_b(i):
    time.sleep(0.0005)
a, b = KIND(py_a), KIND(py_b)
time.sleep(0.3) # the tables of what is mapped by now have come before the first call
lib.calls(a, b, int(sys.argv[1]))
END_PY
if /usr/bin/python3 -c 'import sys, ctypes; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
	watch /usr/bin/python3 calls.py 200
	for how in live recorded; do
		read -r in_a in_b <<<"$(counts $how.json py_a py_b | sed 's/.*=//' | paste -sd' ')"
		ok "a thread of C that calls into Python, $how: under what it called ($in_a and $in_b of 200)" \
			[ "$in_a" -le 200 -a "$in_b" -le 200 -a $((in_a + in_b)) -ge 390 ]
	done
else
	skip "Python before 3.11 has no frames that we read" 2
fi

# Code objects that are freed, and others made where they were. What cannot be read in time has no
# name; none may have the other's.
cat >reuse.py <<'END_PY'
import sys, time, types
def nap():
    time.sleep(0.0005)
for i in range(2 * int(sys.argv[1])):
    name = "py_" + "ab"[i % 2]
    types.FunctionType(nap.__code__.replace(co_name=name, co_qualname=name), globals())()
END_PY
if /usr/bin/python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
	watch /usr/bin/python3 reuse.py 200
	for how in live recorded; do
		read -r in_a in_b <<<"$(counts $how.json py_a py_b | sed 's/.*=//' | paste -sd' ')"
		ok "Python's code at one address, $how: none too many ($in_a and $in_b of 200)" \
			[ "$in_a" -le 200 -a "$in_b" -le 200 ]
		ok "and those that could be read have their name ($((in_a + in_b)))" [ $((in_a + in_b)) -gt 0 ]
	done
else
	skip "Python before 3.11 has no frames that we read" 4
fi
done_testing
