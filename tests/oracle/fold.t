#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
#
# fathom fold against stackcollapse-perf.pl, option by option, on recordings of this machine made by
# perf. The script is in no package: the environment variable STACKCOLLAPSE names it.
. "$(dirname "$0")/../lib/test.sh"
need_root
need_cmd perf perl python3 gcc
need_file "$FATHOM" "$WORKLOADS/forks"
[ -n "${STACKCOLLAPSE:-}" ] || plan_skip "STACKCOLLAPSE does not name stackcollapse-perf.pl"
[ -r "$STACKCOLLAPSE" ] || plan_skip "'$STACKCOLLAPSE' (STACKCOLLAPSE) cannot be read"
cd "$TMP" || exit 1
COMPARE=$TOP/tests/oracle/fold_compare.py

# compare NAME FLAGS: theirs.txt and ours.txt
compare() {
	local text
	# shellcheck disable=SC2086
	if text=$(python3 "$COMPARE" $2 theirs.txt ours.txt 2>&1); then
		pass "$1: $(head -n 1 <<<"$text")"
		diag "$text"
	else
		fail "$1" "$text"
	fi
}

# same NAME TEXT OPTION...: of the same text, the same lines
same() {
	local name=$1 text=$2
	shift 2
	perl "$STACKCOLLAPSE" "$@" <"$text" >theirs.txt 2>theirs.err
	"$FATHOM" fold -i - "$@" <"$text" >ours.txt 2>ours.err
	compare "$name" ''
}

# A program with inlined functions and debug information, in a thread with a blank in its name.
cat >inl.cc <<'END'
#include <pthread.h>
#include <string>
struct P { volatile long x; __attribute__((noinline)) P *operator->() { spin(); return this; }
	inline void spin() { for (int i = 0; i < 20000; i++) x += i; } };
namespace { __attribute__((noinline)) long deep(P &p, std::string s) { p->x++; return p.x + (long)s.size(); } }
int main() { P p{}; pthread_setname_np(pthread_self(), "my own");
	for (int i = 0; i < 30000; i++) deep(p, "x"); return 0; }
END
g++ -g -O2 -fno-omit-frame-pointer -o inl inl.cc || plan_skip 'no compiler for C++'

spawn sh -c "while :; do '$WORKLOADS/forks' 20; dd if=/dev/zero of=/dev/null bs=4k count=20000; done >/dev/null 2>&1"
perf record -q -B -F 999 -a -g -e cpu-clock,page-faults -o all.data -- ./inl >/dev/null 2>record.err ||
	plan_skip "perf cannot record here: $(head -n 1 record.err)"
"$TOP/tests/oracle/script_unleak.py" all.data
perf script --no-inline -i all.data >all.txt 2>/dev/null </dev/null
perf script --no-inline -F +pid -i all.data >pid.txt 2>/dev/null </dev/null
ok 'perf printed samples' [ -s all.txt ]

same 'as it comes' all.txt
for option in --kernel --jit --all --addrs --event-filter=cpu-clock --event-filter=page-faults; do
	same "$option" all.txt $option
done
same '--pid' pid.txt --pid
same '--tid' pid.txt --tid
same '--pid --kernel --addrs' pid.txt --pid --kernel --addrs

# perf asks addr2line for each address: one small program only.
perf record -q -B -F 499 -g -e cpu-clock -o inl.data -- ./inl >/dev/null 2>&1
"$TOP/tests/oracle/script_unleak.py" inl.data
timeout 60 perf script --no-inline -F +srcline -i inl.data >lines.txt 2>/dev/null </dev/null
same '--srcline' lines.txt --srcline
timeout 60 perf script -i inl.data >inl.txt 2>/dev/null </dev/null
same 'inlined frames of the text' inl.txt

# Compiled code that tells what it inlined, and names as the JVM writes them.
cat >jit.txt <<'END'
java 12 [000] 1.000000: 7 cycles:
	7f01 Lorg/a/B;.call(Lorg/a/C;)V->Lorg/a/D;.leaf(I)I (/tmp/perf-12.map)
	7f02 Interpreter (/tmp/perf-12.map)
	5501 [unknown] (/usr/lib/jvm/libjvm.so)

END
same 'names of the JVM' jit.txt --all

# recording NAME OPTION...: ours from the recording, theirs from our text of it
recording() {
	local name=$1
	shift
	"$FATHOM" script --no-inline -F +pid -i all.data 2>/dev/null >text.txt
	perl "$STACKCOLLAPSE" "$@" <text.txt >theirs.txt 2>/dev/null
	"$FATHOM" fold -i all.data "$@" >ours.txt 2>/dev/null
	compare "$name" --recording
}
recording 'a recording'
recording 'a recording, --tid' --tid
recording 'a recording, --pid --kernel' --pid --kernel
recording 'a recording, --all' --all

# --inline: it asks addr2line, which knows C by the names that perf prints
cat >inl.c <<'END'
static inline __attribute__((always_inline)) void spin(volatile long *x) { for (int i = 0; i < 20000; i++) *x += i; }
__attribute__((noinline)) void outer(volatile long *x) { spin(x); *x = *x + 1; }
int main(void) { volatile long x = 0; for (int i = 0; i < 9000; i++) outer(&x); return 0; }
END
gcc -g -O2 -no-pie -fno-omit-frame-pointer -o inlc inl.c
perf record -q -B -F 499 -g -e cpu-clock:u -o inl.data -- ./inlc >/dev/null 2>&1
"$TOP/tests/oracle/script_unleak.py" inl.data
perf script --no-inline -i inl.data 2>/dev/null </dev/null | grep -v 'libc.so\|ld-linux' >inl.txt
timeout 60 perl "$STACKCOLLAPSE" --inline <inl.txt 2>/dev/null | grep ';outer;' >theirs.txt
"$FATHOM" fold --inline -i inl.data 2>/dev/null | sed 's/;__libc_start_call_main;/;/' | grep ';outer;' >ours.txt
compare '--inline' ''
like '--inline shows inlined functions' "$(cat ours.txt)" '^inlc;(main;)?outer;spin [0-9]+$'
timeout 60 perl "$STACKCOLLAPSE" --inline --context <inl.txt 2>/dev/null | grep -o 'spin:inl.c:[0-9]*' | sort -u >theirs.txt
"$FATHOM" fold --inline --context -i inl.data 2>/dev/null | grep -o 'spin:inl.c:[0-9]*' | sort -u >ours.txt
is '--inline --context: the lines of the leaf' "$(cat ours.txt)" "$(cat theirs.txt)"
done_testing
