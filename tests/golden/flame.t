#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Folded stacks and perf script text in; pictures, outlines and folded stacks out.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
cd "$TMP" || exit 1

cp "$TOP/tests/lib/small.folded" .

# What the picture consists of, without the style and the script that every one has.
content() { sed -e '/<style>/,/<\/style>/d' -e '/<script>/,/<\/script>/d' "$1"; }

run "$FATHOM" flame small.folded -o small.svg
expect_status 0
expect_err_like "^fathom: wrote 'small.svg', [0-9]+ KiB: open it in a browser$"
content small.svg >picture
golden flame.svg picture
run "$FATHOM" flame small.folded -o other.svg --inverted --reverse --colors mem \
	--title 'A <title>' --subtitle '' --width 800 --countname 'kB & more' --notes 'a "note"'
content other.svg >picture
golden flame-options.svg picture
if command -v xmllint >/dev/null; then
	ok 'well-formed' xmllint --noout small.svg other.svg
else
	skip 'needs xmllint'
fi

run "$FATHOM" flame small.folded
expect_no_err "nothing to complain about"
golden flame.txt "$out_file"
run "$FATHOM" flame small.folded --inverted --order left-heavy --max-depth 3
golden flame-left-heavy.txt "$out_file"
run "$FATHOM" flame small.folded --json
expect_out '"label": "std::sort"'
expect_out '"value": 100'

# --- files ------------------------------------------------------------------------------------
run "$FATHOM" flame small.folded -o small.svg
expect_status 1
expect_err "'small.svg' exists"
run "$FATHOM" flame small.folded -o small.svg --force
expect_status 0
run "$FATHOM" flame small.folded -o small.gif
expect_status 2
expect_err "'small.gif'"
run "$FATHOM" flame small.folded -o -
expect_out_like '^<svg '
run "$FATHOM" flame no-such-file
expect_status 1
expect_err "'no-such-file'"
: >empty
run "$FATHOM" flame empty
expect_status 4
expect_err "'empty' is empty"
printf 'a;b 0\n' >zero
run "$FATHOM" flame zero
expect_status 4
expect_err 'nothing to draw'

# --- bad input --------------------------------------------------------------------------------
printf 'a;b 5\nno count here\na;c -3\na;d 2.5\n' >odd.folded
run "$FATHOM" flame odd.folded
expect_status 0
expect_out '7.5 samples, 2 unreadable'
printf '</title><script>alert(1)</script>;"\047>&\001\033[31m;\377\376 3\n' >evil.folded
run "$FATHOM" flame evil.folded -o evil.svg
expect_status 0
unlike 'names cannot become elements' "$(cat evil.svg)" '<script>alert|</title><script'
if command -v xmllint >/dev/null; then
	ok 'well-formed with evil names' xmllint --noout evil.svg
else
	skip 'needs xmllint'
fi
run "$FATHOM" flame evil.folded
unlike 'no escape reaches the terminal' "$out" $'\033'
python3 -c "print('a 1'); print(';'.join('f%d' % (i % 9) for i in range(10000)), 1)" >deep.folded
run "$FATHOM" flame deep.folded -o deep.svg
expect_status 0
is 'a stack of 10,000 frames has as many boxes' "$(grep -c '^<g><title>' deep.svg)" 10002
run "$FATHOM" flame --width 1 small.folded
expect_status 2
run "$FATHOM" flame --minwidth x small.folded
expect_status 2

# --- palette.map ------------------------------------------------------------------------------
echo 'main->rgb(1,2,3)' >palette.map
run "$FATHOM" flame small.folded -o cp.svg --cp --colors hot
expect_status 0
like 'colours come from the map' "$(cat cp.svg)" '<title>main [^<]*</title><rect [^>]*fill="#010203"'
like 'new names are added to it' "$(cat palette.map)" '^parse->rgb\([0-9]+,[0-9]+,[0-9]+\)$'

# --- fold -------------------------------------------------------------------------------------
run "$FATHOM" fold small.folded --all
is 'folded stacks come out as they went in' "$out" "$(LC_ALL=C sort small.folded)"
cat >script.txt <<'END'
my app 12/13 [000] 1.000000:    100 cycles:
	ffffffff81 do_work+0x1 ([kernel.kallsyms])
	    7f0001 lib::call(int, char*)+0x9 (/usr/lib/libx.so)
	    550001 [unknown] (/usr/bin/my app)

my app 12/13 [000] 1.100000:    50 cycles:
	    7f0002 lib::call(int, char*)+0x20 (/usr/lib/libx.so)
	    550001 [unknown] (/usr/bin/my app)

END
run "$FATHOM" fold script.txt --kernel
is 'perf script text' "$out" 'my_app;[my app];lib::call 50
my_app;[my app];lib::call;do_work_[k] 100'
run "$FATHOM" fold script.txt --tid --counts
expect_out 'my_app-12/13;[my app];lib::call 1'
run "$FATHOM" fold script.txt --addrs
is '--addrs: code without name by its address' "$out" 'my_app;[my app <550001>];lib::call 50
my_app;[my app <550001>];lib::call;do_work 100'
cat >lines.txt <<'END'
app 12 1.000000:    10 cycles:
	    7f0001 void lib::call<int>(int)+0x9 (/usr/lib/libx.so)
  x.c:12
	    7f0002 [unknown] (/usr/lib/liby.so)
  liby.so[1234]
	    550001 main+0x1 (/usr/bin/app)
  app[1]

java 13 1.100000:    7 cycles:
	    7f01 Lorg/a/B;.call(Lorg/a/C;)V->Lorg/a/D;.leaf(I)I (/tmp/perf-12.map)
	    7f02 Interpreter (/tmp/perf-12.map)

node 14 1.200000:    3 cycles:
	    7f03 LazyCompile:*leaf /work.js:1 (/tmp/perf-14.map)

END
run "$FATHOM" fold lines.txt --jit
is 'names of C++, Java and V8; _[i] and _[j]' "$out" 'app;main;[liby.so];lib::call<int> 10
java;Interpreter_[j];org/a/B:.call_[j];org/a/D:.leaf_[i] 7
node;LazyCompile:*leaf /work.js:1_[j] 3'
run "$FATHOM" fold lines.txt --srcline --comms app
is '--srcline: lines, else modules' "$out" 'app;main:app;[liby.so]:liby.so;lib::call<int>:x.c:12 10'
run "$FATHOM" fold small.folded -o x.folded
expect_status 0
run "$FATHOM" fold small.folded -o x.folded
expect_err "'x.folded' exists"
done_testing
