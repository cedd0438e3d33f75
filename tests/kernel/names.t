#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
#
# Names where the file is not where its path says: other mount and PID namespaces, overlays, deleted
# and replaced files. They must be as good as outside.
. "$(dirname "$0")/../lib/test.sh"

need_root
need_cmd unshare python3 chroot ldd
burn=$WORKLOADS/burn
need_file "$burn" "$WORKLOADS/jitlike"
cd "$TMP" || exit 1
export XDG_CACHE_HOME=$TMP/cache # nothing is known from before

# names FILE: "PERCENT NAME" of the functions that samples were taken in, of user space
names() {
	"$FATHOM" fold --kernel --no-inline -i "$1" 2>"$TMP/fold.err" | python3 -c '
import sys
n = {}
for line in sys.stdin:
    stack, count = line.rstrip("\n").rsplit(" ", 1)
    leaf = stack.split(";")[-1]
    if not leaf.endswith("_[k]"):
        n[leaf] = n.get(leaf, 0) + int(count)
total = sum(n.values()) or 1
for name in sorted(n, key=n.get, reverse=True)[:6]:
    print(round(100 * n[name] / total), name)'
}

# is_70_30 NAME FILE FIRST SECOND: the two functions have their shares and nothing else matters
# Workloads go round in 10 ms, with which 499 Hz would keep step: recorded at 461 or 1999 Hz.
is_70_30() {
	local got
	got=$(names "$2")
	if python3 - "$3" "$4" "$got" <<'END'; then
import sys
share = {l.split(" ", 1)[1]: int(l.split()[0]) for l in sys.argv[3].splitlines()}
a, b = share.get(sys.argv[1], 0), share.get(sys.argv[2], 0)
sys.exit(not (a + b >= 90 and 0.55 < a / (a + b) < 0.85))
END
		pass "$1"
	else
		fail "$1" "$got"
		diag "$(head -n 3 "$TMP/fold.err")"
	fi
}

# The process that the namespace's program became: unshare's child.
inner() {
	local i child
	for ((i = 0; i < 100; i++)); do
		read -r child _ <"/proc/$1/task/$1/children" 2>/dev/null
		if [ -n "$child" ] && [ "$(cat "/proc/$child/comm" 2>/dev/null)" = "$2" ]; then
			echo "$child"
			return
		fi
		sleep 0.05
	done
	return 1
}

record() { # FILE PID
	run "$FATHOM" record -e cpu-clock -F 1999 -p "$2" -d 1s -o "$1"
	[ "$status" -eq 0 ] || test_show_run
}

# --- outside --------------------------------------------------------------------------------------

spawn "$burn" --seconds 0 a=70 b=30
record outside.data "$spawned"
kill "$spawned"
is_70_30 'outside: names' outside.data a b

# --- a root of its own in a mount and a PID namespace ---------------------------------------------

# What the programs need, at the places where they look for it.
cat >fill <<END
fill_root() {
	mkdir -p "\$1/bin" "\$1/tmp"
	cp '$burn' "\$1/bin/inside"
	cp '$WORKLOADS/jitlike' "\$1/bin/jitlike"
	ldd '$burn' '$WORKLOADS/jitlike' | grep -o '/[^ ]*\\.so[^ ]*' | sort -u | while read -r lib; do
		mkdir -p "\$1\$(dirname "\$lib")" && cp -L "\$lib" "\$1\$lib"
	done
}
END

mkdir root
# unshare makes its mounts private: all of this is gone with its last process.
cat >enter <<'END'
set -e
root=$1 program=$2
shift 2
mount -t tmpfs tmpfs "$root"
. ./fill
fill_root "$root"
exec chroot "$root" "/bin/$program" "$@"
END
if unshare --mount --pid --fork sh -c 'mount -t tmpfs tmpfs root' 2>/dev/null; then
	spawn unshare --mount --pid --fork --kill-child bash enter root inside --seconds 0 a=70 b=30
	unshared=$spawned
	if pid=$(inner "$unshared" inside); then
		record inside.data "$pid"
		is_70_30 'mount and PID namespace: names as outside' inside.data a b
		like 'inlined functions as outside' "$("$FATHOM" fold --inline -i inside.data 2>/dev/null)" ';a;spin '
		ok 'the path is that of inside' bash -c \
			"'$FATHOM' report -i inside.data --sort dso -g none --no-children 2>/dev/null | grep -q inside"
		not_ok 'no such file here' test -e /bin/inside
	else
		fail 'the program in the namespace runs'
	fi
	kill -KILL "$unshared"
	wait "$unshared" 2>/dev/null
	is_70_30 'the namespace is gone: the recording has the names' inside.data a b

	spawn unshare --mount --pid --fork --kill-child bash enter root jitlike --seconds 20
	unshared=$spawned
	if pid=$(inner "$unshared" jitlike); then
		runs_for "$pid" 10
		run "$FATHOM" record -e cpu-clock -F 461 -p "$pid" -d 1s -o jit.data
		is_70_30 'run-time code is named by the map that its namespace has' jit.data jit_hot jit_warm
	else
		fail 'the program in the namespace runs'
	fi
	kill "$unshared"
else
	skip 'no mount namespaces here' 6
fi

# --- an overlay -----------------------------------------------------------------------------------

cat >overlay <<'END'
set -e
mount -t tmpfs tmpfs root
mkdir root/low root/up root/work root/all
. ./fill
fill_root root/low
mount -t overlay overlay -o lowerdir=root/low,upperdir=root/up,workdir=root/work root/all
exec chroot root/all /bin/inside --seconds 0 a=70 b=30
END
spawn unshare --mount --pid --fork --kill-child bash overlay
unshared=$spawned
if pid=$(inner "$unshared" inside); then
	record overlay.data "$pid"
	is_70_30 'overlay: names as outside' overlay.data a b
else
	skip 'no overlay can be mounted here'
fi
kill "$unshared" 2>/dev/null

# --- deleted and replaced files -------------------------------------------------------------------

# Until the process runs the program, however busy the machine is.
wait_exec() {
	for _ in $(seq 200); do
		[ "$(readlink "/proc/$1/exe")" = "$2" ] && return
		sleep 0.1
	done
}

cp "$burn" gone
spawn "$TMP/gone" --seconds 0 a=70 b=30
wait_exec "$spawned" "$TMP/gone"
rm gone
record gone.data "$spawned"
is_70_30 'deleted file: names' gone.data a b
kill "$spawned"
is_70_30 'deleted file, its process ended: names' gone.data a b

cp "$burn" replaced
spawn "$TMP/replaced" --seconds 0 a=70 b=30
wait_exec "$spawned" "$TMP/replaced"
cp "$WORKLOADS/chain" new && mv new replaced
record replaced.data "$spawned"
is_70_30 'replaced file: the names of what runs' replaced.data a b
kill "$spawned"

cat >memfd.py <<'END'
import os, sys
fd = os.memfd_create("sealed", 0)
os.write(fd, open(sys.argv[1], "rb").read())
os.execve(fd, sys.argv[1:], os.environ)
END
spawn python3 "$TMP/memfd.py" "$burn" --seconds 0 a=70 b=30
for _ in $(seq 100); do grep -q memfd:sealed "/proc/$spawned/maps" && break; sleep 0.1; done
record memfd.data "$spawned"
is_70_30 'a program that is only in memory: names' memfd.data a b
kill "$spawned"

if command -v strip >/dev/null; then
	cp "$burn" stripped && strip stripped
	run "$FATHOM" record -e cpu-clock -F 499 -o stripped.data -- ./stripped --seconds 0.3 a=100
	like 'a stripped program: its stacks begin at its start' \
		"$("$FATHOM" fold -i stripped.data | cut -d ';' -f 1-3 | sort | uniq -c | sort -rn | head -n 1)" \
		'stripped;_start;__libc_start_main'
else
	skip 'no strip here'
fi

# --- other libraries and languages ----------------------------------------------------------------

src=$TOP/tests/workloads/burn.c
if command -v musl-gcc >/dev/null && musl-gcc -std=gnu17 -D_GNU_SOURCE -O2 -g -static -o musl "$src" -lm 2>/dev/null; then
	run "$FATHOM" record -e cpu-clock -F 461 -o musl.data -- ./musl --seconds 1 a=70 b=30
	is_70_30 'musl: names' musl.data a b
else
	skip 'musl-gcc cannot build the workload'
fi

# in_order NAME FILE PATTERN: of the samples in the innermost function, 97 % have these callers
in_order() {
	local name=$1 leaf=$3 pattern=$4 all right
	"$FATHOM" fold -i "$2" --no-inline 2>/dev/null | sed 's/;asm_.*\( [0-9]*\)$/\1/' >folded
	all=$(awk -v leaf="$leaf" 'index($0, leaf) { s += $NF } END { print s + 0 }' folded)
	right=$(awk -v p="$pattern" '$0 ~ p { s += $NF } END { print s + 0 }' folded)
	diag "$name: $right of $all ns"
	ok "$name: the callers are right" test "$all" -gt 0 -a $((right * 100)) -ge $((all * 97))
}

cat >go.go <<'GO'
package main

import (
	"fmt"
	"os"
	"time"
)

//go:noinline
func leaf(n int) int {
	t := 0
	for i := 0; i < n; i++ {
		t += i ^ (t << 1)
	}
	return t
}

//go:noinline
func middle(n int) int { return leaf(n) + 1 }

func worker(c chan int) {
	s := 0
	for end := time.Now().Add(1500 * time.Millisecond); time.Now().Before(end); {
		s += middle(100000)
	}
	c <- s
}

func main() {
	c := make(chan int)
	go worker(c)
	fmt.Fprintln(os.Stderr, <-c)
}
GO
for flags in '' '-s -w'; do
	name="go${flags:+, stripped}"
	if command -v go >/dev/null && GOCACHE=$TMP/go GO111MODULE=off go build -ldflags="$flags" -o go.bin go.go 2>/dev/null; then
		run "$FATHOM" record -e cpu-clock -F 499 -o go.data --force -- ./go.bin
		# the innermost function has no frame: frame pointers alone would miss its caller
		in_order "$name" go.data ';main.leaf' \
			';runtime.goexit(.abi0)?;main.main.func1;main.worker;main.middle;main.leaf '
	else
		skip "$name: no go here"
	fi
done

cat >rust.rs <<'RS'
use std::time::{Duration, Instant};
struct Thing { n: u64 }
impl Thing {
    #[inline(never)]
    fn leaf(&self) -> u64 {
        let mut t = self.n;
        for i in 0..100000u64 { t = t.wrapping_mul(31).wrapping_add(i ^ (t >> 3)); }
        t
    }
}
trait Shape { fn area(&self) -> u64; }
impl Shape for Thing {
    #[inline(never)]
    fn area(&self) -> u64 { self.leaf() + 1 }
}
fn main() {
    let end = Instant::now() + Duration::from_millis(1500);
    let b: Box<dyn Shape> = Box::new(Thing { n: std::env::args().count() as u64 });
    let mut s = 0u64;
    while Instant::now() < end { s = s.wrapping_add(b.area()); }
    println!("{}", s);
}
RS
if command -v rustc >/dev/null && rustc -O -o rust.bin rust.rs 2>/dev/null; then
	run "$FATHOM" record -e cpu-clock -F 499 -o rust.data -- ./rust.bin
	in_order rust rust.data '::leaf ' 'rust::main;<rust::Thing as rust::Shape>::area;<?rust::Thing>?::leaf '
else
	skip 'rust: no rustc here'
fi

# --- inlined functions and lines ------------------------------------------------------------------

cat >inl.c <<'C'
static volatile unsigned long sink;
static inline __attribute__((always_inline)) void tight(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		sink += i;
}
static __attribute__((noinline)) void visible(void) { tight(200000000); }
int main(void) { visible(); return 0; }
C
if command -v gcc >/dev/null && gcc -O2 -g -fno-omit-frame-pointer -o inl inl.c; then
	run "$FATHOM" record -e cpu-clock -F 499 -o inl.data -- ./inl
	table() { "$FATHOM" report -i inl.data --no-children -g none "$@" 2>/dev/null; }
	like 'inlined functions are frames' "$("$FATHOM" report -i inl.data 2>/dev/null)" 'tight \(inlined\)'
	like 'and belong to their function' "$(table --sort symbol)" '\[\.\] visible'
	like 'and not with --no-inline' "$(table --sort symbol --no-inline)" '\[\.\] visible'
	unlike 'then they are not there' "$(table --sort symbol --no-inline)" 'tight'
	like 'their caller is the function whose code it is' "$("$FATHOM" fold --inline -i inl.data 2>/dev/null)" 'visible;tight(_\[i\])? '
	like 'lines' "$(table --sort srcline)" "$TMP/inl.c:[45]"
	unlike 'and nothing is said to be missing' "$(flat "$(table --sort srcline)")" "no source lines of .*'inl'"
	gcc -O2 -o bare inl.c
	run "$FATHOM" record -e cpu-clock -F 499 -o bare.data -- ./bare
	bare() { "$FATHOM" report -i bare.data --no-children -g none "$@" 2>/dev/null; }
	like 'why there are no lines' "$(flat "$(bare --sort srcline)")" "no source lines of 'bare'.*: no debug information"
	unlike 'only if lines are asked for' "$(flat "$(bare --sort symbol)")" 'no source lines'
	rm bare
	like 'also when the program is gone' "$(flat "$(bare --sort srcline)")" "no source lines of 'bare'"
else
	skip 'no gcc here' 10
fi

done_testing
