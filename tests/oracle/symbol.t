#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
#
# Our names against those of binutils: readelf, nm, addr2line, objdump, c++filt.
. "$(dirname "$0")/../lib/test.sh"

SYMBOL=${SYMBOL:-$TOP/build/oracle/symbol}
need_cmd nm addr2line c++filt objdump readelf gcc strip objcopy ldd
need_file "$SYMBOL"

cat >"$TMP/prog.c" <<'C'
#include <stdio.h>
#include <string.h>
static __attribute__((noinline)) int hidden(int x) { __asm__(""); return x * 3; }
__attribute__((noinline)) int shown(int x) { return hidden(x) + 1; }
int also_shown(int) __attribute__((alias("shown")));
__attribute__((noinline, cold)) int rare(int x) { printf("%d\n", x); return x; }
__asm__(".text\n.type sizeless,@function\nsizeless: nop\nnop\nret\n.Lmark: nop\n");
__asm__(".globl bare\nbare: nop\nnop\nret\n");
int main(int argc, char **argv) {
	return shown(argc) + rare(argc) + (int)strlen(argv[0]);
}
C
gcc -O2 -g -o "$TMP/prog" "$TMP/prog.c" || exit 1
gcc -O2 -g -static -o "$TMP/prog-static" "$TMP/prog.c" 2>/dev/null

# Functions that binutils know: "address name", the address without zeros in front.
functions() {
	readelf -W "$@" 2>/dev/null |
		awk '($4 == "FUNC" || $4 == "IFUNC") && $3 != "0" && $7 ~ /^[0-9]+$/ {
			sub(/^0+/, "", $2); sub(/@.*/, "", $8); print $2, $8 }'
}

# Every one of them is found at its start by one of its names.
check_all() {
	local name=$1 table=$2 file=$3 n
	functions "$table" "$file" >"$TMP/known"
	cut -d' ' -f1 "$TMP/known" | sort -u | "$SYMBOL" names "$file" >"$TMP/ours"
	n=$(awk 'NR == FNR { known[$1 " " $2] = 1; next }
		$1 != $2 || !(($1 " " $4) in known) { print > "/dev/stderr"; n++ }
		END { print n + 0 }' "$TMP/known" "$TMP/ours" 2>"$TMP/missed")
	if [ "$n" -eq 0 ] && [ -s "$TMP/ours" ]; then
		pass "$name: all $(wc -l <"$TMP/ours") functions have one of their names"
	else
		fail "$name: all functions have one of their names" "$n missed"
		diag "$(head -n 20 "$TMP/missed")"
	fi
}

export SYMBOL_NO_DEBUG=1
check_all program -s "$TMP/prog"
if [ -e "$TMP/prog-static" ]; then check_all 'static program' -s "$TMP/prog-static"; else skip 'no static libc'; fi
libc=$(ldd "$TMP/prog" | awk '$1 == "libc.so.6" { print $3 }')
check_all 'C library, exported names' --dyn-syms "$libc"
if [ -x /usr/bin/node ]; then check_all node -s "$(readlink -f /usr/bin/node)"; else skip 'no node here'; fi
unset SYMBOL_NO_DEBUG

# Labels without a type or a size, as nm shows them.
nm "$TMP/prog" | awk '$3 == "bare" || $3 == "sizeless" { sub(/^0+/, "", $1); print $1, $3 }' >"$TMP/known"
is 'functions of assembler without size' \
	"$(cut -d' ' -f1 "$TMP/known" | "$SYMBOL" names "$TMP/prog" | awk '{ print $2, $4 }')" "$(cat "$TMP/known")"

# Inside of functions: the whole text of the program in steps, against addr2line.
text=$(objdump -h "$TMP/prog" | awk '$2 == ".text" { print $4, $3 }')
start=$((16#${text% *})) size=$((16#${text#* }))
for ((a = start; a < start + size; a += 3)); do printf '%x\n' "$a"; done >"$TMP/places"
"$SYMBOL" names "$TMP/prog" <"$TMP/places" | awk '{ print $4 }' >"$TMP/ours"
addr2line -f -e "$TMP/prog" <"$TMP/places" | awk 'NR % 2' >"$TMP/theirs"
# addr2line counts padding to the function before, and knows one name of two.
differ=$(paste -d' ' "$TMP/ours" "$TMP/theirs" | sed 's/also_shown/shown/g' |
	awk '$1 != "?" && $2 != "??" && $1 != $2' | sort | uniq -c)
is 'inside of functions: addr2line agrees' "$differ" ''
named=$(grep -vc '?' "$TMP/ours")
ok 'most places have names' test "$((named * 10))" -gt "$(($(wc -l <"$TMP/ours") * 8))"

# Stubs: objdump names them, too.
objdump -d -j .plt -j .plt.sec -j .plt.got "$TMP/prog" 2>/dev/null |
	awk '/^[0-9a-f]+ <.*@plt>:$/ { sub(/^0+/, "", $1); gsub(/[<>:]/, "", $2); print $1, $2 }' >"$TMP/stubs"
is 'stubs have the names that objdump gives them' \
	"$(cut -d' ' -f1 "$TMP/stubs" | "$SYMBOL" names "$TMP/prog" | awk '{ print $1, $4 }')" "$(cat "$TMP/stubs")"

# A debug file by build id, and by .gnu_debuglink with its checksum.
want=$(functions -s "$TMP/prog" | awk '$2 == "hidden" { print $1 }')
mkdir -p "$TMP/debug/.build-id" "$TMP/bin"
objcopy --only-keep-debug "$TMP/prog" "$TMP/prog.debug"
strip -o "$TMP/bin/stripped" "$TMP/prog"
like 'stripped: grouped by the unwind entry' \
	"$(echo "$want" | SYMBOL_DEBUG_DIR=$TMP/none "$SYMBOL" names "$TMP/bin/stripped")" \
	"^$want $want 1 stripped\+0x$want$"
id=$(readelf -n "$TMP/prog" | awk '/Build ID/ { print $3 }')
if [ -n "$id" ]; then
	mkdir -p "$TMP/debug/.build-id/${id:0:2}"
	cp "$TMP/prog.debug" "$TMP/debug/.build-id/${id:0:2}/${id:2}.debug"
	like 'debug file by build id' \
		"$(echo "$want" | SYMBOL_DEBUG_DIR=$TMP/debug "$SYMBOL" names "$TMP/bin/stripped")" ' hidden$'
else
	skip 'the compiler writes no build id'
fi
# The table packed into the file itself, as Fedora does it.
if command -v xz >/dev/null; then
	xz -k "$TMP/prog.debug"
	objcopy --add-section ".gnu_debugdata=$TMP/prog.debug.xz" "$TMP/bin/stripped" "$TMP/bin/packed"
	like 'packed symbol table' \
		"$(echo "$want" | SYMBOL_DEBUG_DIR=$TMP/none "$SYMBOL" names "$TMP/bin/packed")" ' hidden$'
else
	skip 'no xz here'
fi
# Section headers are not needed.
if objcopy --help | grep -q strip-section-headers; then
	objcopy --strip-section-headers "$TMP/bin/stripped" "$TMP/bin/bare"
else
	cp "$TMP/bin/stripped" "$TMP/bin/bare"
	printf '\0\0\0\0\0\0\0\0' | dd of="$TMP/bin/bare" bs=1 seek=40 conv=notrunc status=none
	printf '\0\0\0\0' | dd of="$TMP/bin/bare" bs=1 seek=60 conv=notrunc status=none
fi
like 'no section headers: still grouped by the unwind entry' \
	"$(echo "$want" | "$SYMBOL" names "$TMP/bin/bare")" "^$want $want 1 bare\+0x$want$"
objcopy --remove-section .note.gnu.build-id "$TMP/bin/stripped" "$TMP/bin/linked"
(cd "$TMP/bin" && cp ../prog.debug linked.debug && objcopy --add-gnu-debuglink=linked.debug linked)
linked() { echo "$want" | SYMBOL_DEBUG_DIR=$TMP/none "$SYMBOL" names "$TMP/bin/linked"; }
like 'debug file by link' "$(linked)" ' hidden$'
echo >>"$TMP/bin/linked.debug"
like 'a debug file with another checksum is refused' "$(linked)" ' linked\+0x'

# Names of C++, Rust and D.
if [ -x /usr/bin/node ]; then
	nm /usr/bin/node 2>/dev/null | awk '$3 ~ /^_Z/ { print $3 }' | head -n 20000 >"$TMP/mangled"
	"$SYMBOL" demangle <"$TMP/mangled" >"$TMP/ours"
	c++filt -i <"$TMP/mangled" >"$TMP/theirs"
	ok "$(wc -l <"$TMP/mangled") names of C++ as c++filt reads them" cmp -s "$TMP/ours" "$TMP/theirs"
else
	skip 'no node here'
fi
printf '%s\n' _ZN4core3fmt9Formatter3pad17h1234567890abcdefE _RNvCs1234_7mycrate3foo _D3std5stdio4FileZ plain >"$TMP/m"
is 'names of Rust and D as c++filt reads them' "$("$SYMBOL" demangle <"$TMP/m")" \
	"$(c++filt -i -s rust <"$TMP/m" | c++filt -i | c++filt -i -s dlang)"

# A stripped Go program still names its functions; those of assembler without their ".abi0".
cat >"$TMP/t.go" <<'GO'
package main

import "fmt"

//go:noinline
func work(n int) int { return n * n }
func main()          { fmt.Println(work(7)) }
GO
if command -v go >/dev/null && (cd "$TMP" && export GOCACHE=$TMP/gocache GO111MODULE=off GOFLAGS= &&
	go build -o go-full t.go && go build -ldflags '-s -w' -o go-bare t.go) 2>/dev/null; then
	nm "$TMP/go-full" | awk '$2 ~ /^[tT]$/ && $3 ~ /^(main|runtime|fmt)\./ { print $1, $3 }' >"$TMP/known"
	n=$(cut -d' ' -f1 "$TMP/known" | SYMBOL_DEBUG_DIR=$TMP/none "$SYMBOL" names "$TMP/go-bare" |
		awk '{ print $4 }' | paste -d' ' - "$TMP/known" | sed 's/\.abi0//' | awk '$1 != $3' | wc -l)
	ok "Go, stripped: all but $n of $(wc -l <"$TMP/known") functions" \
		test "$((n * 100))" -lt "$(wc -l <"$TMP/known")"
else
	skip 'no Go here'
fi

# The kernel's.
if [ "$(id -u)" -eq 0 ] && [ -r /proc/kallsyms ]; then
	awk '$2 == "T" && !/__pfx_|__cfi_/ && $4 == "" { print $1, $3 }' /proc/kallsyms |
		awk 'NR % 50 == 0' >"$TMP/k"
	n=$(cut -d' ' -f1 "$TMP/k" | "$SYMBOL" kernel | awk '{ print $3 }' |
		paste -d' ' - "$TMP/k" | awk '$1 != $3' | wc -l)
	ok "kernel functions by their address ($(wc -l <"$TMP/k") asked, $n have another alias)" \
		test "$((n * 20))" -lt "$(wc -l <"$TMP/k")"
else
	skip 'kernel addresses need root'
fi

done_testing
