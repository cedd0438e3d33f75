#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
#
# Our source lines and inlined callers against those of addr2line, with llvm-addr2line as the judge
# where the two differ: binutils 2.40 takes the wrong file for some lines of DWARF 5, loses inlined
# callers of clang's DWARF 5, and shows the symbol where a function has no linkage name.
. "$(dirname "$0")/../lib/test.sh"

SRCLINE=${SRCLINE:-$TOP/build/oracle/srcline}
COMPARE=$TOP/tests/oracle/srcline.py
need_cmd addr2line nm python3 gcc objcopy strip readelf
need_file "$SRCLINE"
if ! grep -q 'FEATURE(libdw, 1)' "$TOP/build/gen/features.inc" 2>/dev/null; then plan_skip 'built without libdw'; fi
judge=$(command -v llvm-addr2line llvm-addr2line-19 llvm-addr2line-16 llvm-addr2line-14 | head -n 1)
export SYMBOL_DEBUG_DIR=$TMP/none

# check NAME FILE [COUNT]
check() {
	local name=$1 file=$2 text
	if [ ! -e "$file" ]; then skip "$name: no '${file#"$TOP"/}'" && return; fi
	"$COMPARE" places "$file" "${3:-3000}" >"$TMP/places"
	"$SRCLINE" lines "$file" <"$TMP/places" >"$TMP/ours"
	addr2line -a -i -f -C -e "$file" <"$TMP/places" >"$TMP/theirs" 2>/dev/null
	set -- "$TMP/ours" "$TMP/theirs"
	if [ -n "$judge" ] && "$judge" -a -i -f -C -e "$file" <"$TMP/places" >"$TMP/judge" 2>/dev/null; then
		set -- "$@" "$TMP/judge"
	fi
	if text=$("$COMPARE" compare "$@"); then
		pass "$name: $text"
	elif [ -z "$judge" ]; then
		skip "$name: no llvm-addr2line to judge differences: ${text##*$'\n'}"
	else
		fail "$name: as addr2line says" "$text"
	fi
}

cp "$TOP/build/fathom" "$TMP/fathom" # others may build a new one meanwhile
check 'fathom itself (-g1)' "$TMP/fathom" 10000
for w in burn chain deep block; do check "workload $w" "$TOP/build/workloads/$w"; done

cat >"$TMP/t.cc" <<'C'
#include <algorithm>
#include <iostream>
#include <map>
#include <string>
#include <vector>
namespace { struct Box { int v; template <class F> int apply(F f) const { return f(v) + 1; } }; }
template <class T> static T twice(T x) { return x + x; }
int main(int argc, char **argv) {
	std::map<std::string, std::vector<int>> m;
	for (int i = 0; i < argc * 1000; i++) m[std::to_string(i % 17)].push_back(twice(i));
	for (auto &p : m)
		std::sort(p.second.begin(), p.second.end(), [](int a, int b) { return (a ^ 5) < (b ^ 5); });
	Box b{argc};
	long s = 0;
	for (auto &p : m) s += b.apply([&](int x) { return x + p.second[0]; });
	std::cout << s << argv[0] << "\n";
}
C
# cxx NAME COMPILER OPTION...
cxx() {
	local name=$1
	shift
	if command -v "$1" >/dev/null && "$@" -O2 -o "$TMP/prog" "$TMP/t.cc" 2>/dev/null; then
		check "$name" "$TMP/prog"
	else
		skip "$name: cannot be compiled here"
	fi
}
cxx 'C++, DWARF 5' g++ -g
cxx 'C++, DWARF 4' g++ -gdwarf-4
cxx 'C++, compressed' g++ -g -gz
cxx 'C++, link-time optimisation' g++ -g -flto=2
cxx 'C++ by clang, DWARF 4' clang++ -gdwarf-4
if [ -n "$judge" ]; then cxx 'C++ by clang, DWARF 5' clang++ -g; else skip 'no llvm-addr2line to judge'; fi
if command -v rustc >/dev/null; then
	echo 'fn main() { let v: Vec<String> = (0..99).map(|i| format!("{}", i * i)).collect(); println!("{}", v.join(" ")); }' >"$TMP/t.rs"
	if (cd "$TMP" && rustc -O -g -o rust t.rs) 2>/dev/null; then check 'Rust' "$TMP/rust"; else skip 'rustc fails here'; fi
else
	skip 'no rustc here'
fi

# The debug information in other files.
cat >"$TMP/p.c" <<'C'
#include <stdlib.h>
static inline int square(int x) { return x * x; }
__attribute__((noinline)) int area(int x) { volatile int y = square(x); return y; }
int main(int argc, char **argv) { return area(argc) + atoi(argv[0]); }
C
sed 's/area/field/; s/square/cube/' "$TMP/p.c" >"$TMP/q.c"
gcc -O2 -g -o "$TMP/p" "$TMP/p.c" && gcc -O2 -g -o "$TMP/q" "$TMP/q.c" || exit 1
want=$(nm "$TMP/p" | awk '$3 == "area" { print $1 }')
ask() { echo "$want" | "$SRCLINE" lines "$@" | sed -n '2,$p' | sed "s,$TMP/,," | paste -sd' '; }
wanted=$(echo "$want" | addr2line -i -f -C -e "$TMP/p" | sed "s,$TMP/,," | paste -sd' ')
is 'one place' "$(ask "$TMP/p")" "$wanted"
mkdir -p "$TMP/bin" "$TMP/debug/.build-id" "$TMP/bin/.debug"
objcopy --only-keep-debug "$TMP/p" "$TMP/p.debug"
strip -o "$TMP/bin/p" "$TMP/p"
is 'stripped: nothing' "$(ask "$TMP/bin/p")" '?? ??:?'
id=$(readelf -n "$TMP/p" | awk '/Build ID/ { print $3 }')
if [ -n "$id" ]; then
	mkdir -p "$TMP/debug/.build-id/${id:0:2}"
	cp "$TMP/p.debug" "$TMP/debug/.build-id/${id:0:2}/${id:2}.debug"
	is 'a debug file by build id' "$(SYMBOL_DEBUG_DIR=$TMP/debug ask "$TMP/bin/p")" "$wanted"
else
	skip 'the compiler writes no build id'
fi
# A server's file: debuginfod-find is asked only when servers are named, and not forever.
mkdir -p "$TMP/path"
cat >"$TMP/path/debuginfod-find" <<END
#!/bin/sh
echo "\$DEBUGINFOD_URLS \$*" >>"$TMP/asked"
[ "\$1 \$2" = "debuginfo $id" ] && echo "$TMP/p.debug"
END
chmod +x "$TMP/path/debuginfod-find"
with_path() { PATH=$TMP/path:$PATH ask "$TMP/bin/p"; }
is 'no server is asked by itself' "$(with_path) $([ -e "$TMP/asked" ] && echo asked)" '?? ??:? '
if [ -n "$id" ]; then
	is 'a debug file of a server' "$(FATHOM_DEBUGINFOD=http://x.invalid with_path)" "$wanted"
	like 'the servers are those that were named' "$(cat "$TMP/asked")" "^http://x.invalid debuginfo $id"
else
	skip 'the compiler writes no build id' 2
fi
(cd "$TMP/bin/.debug" && cp ../../p.debug . && objcopy --add-gnu-debuglink=p.debug ../p)
is 'a debug file by link' "$(ask "$TMP/bin/p")" "$wanted"
if command -v dwz >/dev/null; then
	cp "$TMP/p" "$TMP/p.z" && cp "$TMP/q" "$TMP/q.z"
	if dwz -m "$TMP/common" "$TMP/p.z" "$TMP/q.z" 2>/dev/null &&
		readelf -SW "$TMP/p.z" | grep -q gnu_debugaltlink; then
		is 'names moved to an alternate file' "$(ask "$TMP/p.z")" "$wanted"
		rm "$TMP/common"
		unlike 'the alternate file is gone: no wrong names' "$(ask "$TMP/p.z")" 'cube|field'
		mkfifo "$TMP/common"
		run timeout 10 "$SRCLINE" lines "$TMP/p.z" <<<"$want"
		expect_status 0 'the alternate file is a FIFO: does not hang'
	else
		skip 'dwz found nothing in common' 3
	fi
else
	skip 'no dwz here' 3
fi
(cd "$TMP" && gcc -O2 -g -gsplit-dwarf -o split p.c) || exit 1
is 'split debug information' "$(ask "$TMP/split")" "$wanted"
rm -f "$TMP"/*.dwo
is 'split, and its other half is gone: lines only' "$(ask "$TMP/split")" \
	"?? $(cut -d' ' -f2 <<<"$wanted")"

# Damage.
size=$(stat -c %s "$TMP/p")
broken=0
for i in $(seq 1 60); do
	cp "$TMP/p" "$TMP/damaged"
	for j in 1 2 3 4 5 6; do
		printf '%b' "\\x$(printf %x $(((i * 37 + j * 11) % 256)))" |
			dd of="$TMP/damaged" bs=1 seek=$(((i * 7919 + j * 104729) % size)) conv=notrunc status=none
	done
	timeout 10 "$SRCLINE" lines "$TMP/damaged" <<<"$want" >/dev/null 2>&1
	[ $? -lt 2 ] || broken=$((broken + 1))
done
is '60 damaged files: no crash, no hang' "$broken" 0

done_testing
