#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
#
# fathom annotate against perf annotate and addr2line: the share of each instruction of ten hot
# functions, and the source line of each.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
need_root
need_cmd perf gcc python3 addr2line objdump
need_file "$FATHOM"
"$FATHOM" version | grep -q capstone || plan_skip "built without capstone"
cd "$TMP" || exit 1

# Ten functions, each with a loop, a branch inside and one inlined helper; each runs as long as the next.
{
	echo '#include <stdint.h>'
	echo 'static volatile uint64_t sink;'
	echo 'static inline uint64_t mix(uint64_t x) { x ^= x >> 31; return x * 0x9e3779b97f4a7c15ull; }'
	for i in 0 1 2 3 4 5 6 7 8 9; do
		cat <<-EOF
			__attribute__((noinline)) void hot$i(uint64_t n)
			{
				uint64_t x = $i;
				for (uint64_t i = 0; i < n; i++) {
					x = mix(x + i);
					if (x & $((1 << i)))
						x += sink / ($i + 3);
					else
						sink = x;
				}
				sink += x;
			}
		EOF
	done
	echo 'int main(void) { for (int k = 0; k < 40; k++) {'
	for i in 0 1 2 3 4 5 6 7 8 9; do echo "hot$i(400000);"; done
	echo '} return 0; }'
} >hot.c
gcc -O2 -g -o hot hot.c || plan_skip "no compiler"
"$FATHOM" record -q --call-graph none -F 4000 -o hot.data -- ./hot || plan_skip "nothing can be recorded here"

# pairs: address and share of each instruction
pairs() { sed -n 's/^ *\([0-9.]*\) : *\([0-9a-f]*\):.*/\2 \1/p'; }
# agree FILE FUNCTION
agree() {
	perf annotate --stdio -i "$1" "$2" 2>/dev/null </dev/null | pairs >theirs
	"$FATHOM" annotate --stdio -i "$1" "$2" 2>/dev/null | pairs >ours
	if [ ! -s theirs ]; then
		skip "$2 of $1: perf shows nothing"
	elif cmp -s ours theirs; then
		pass "$2 of $1: $(wc -l <ours) instructions with perf's shares"
	else
		fail "$2 of $1" "$(diff theirs ours | head -n 10)"
	fi
}
for i in 0 1 2 3 4 5 6 7 8 9; do agree hot.data "hot$i"; done
# perf 6.1 ends in an assertion while somebody has a file with an odd build id mapped
if perf record -q -F 2000 -o perf.data ./hot >/dev/null 2>&1; then
	agree perf.data hot2
else
	skip "a file of perf's: it cannot record now"
fi

run "$FATHOM" annotate -i hot.data --top 10 --json
expect_status 0 "as JSON"
if text=$(python3 - "$out_file" <<-'EOF'
	import json, subprocess, sys
	d = json.load(open(sys.argv[1]))
	rows = [r for r in d["instructions"] if r["function"].startswith("hot")]
	addresses = [r["address"] if isinstance(r["address"], str) else hex(r["address"]) for r in rows]
	said = subprocess.run(["addr2line", "-e", "hot"] + addresses, capture_output=True, text=True).stdout.split("\n")
	bad = 0
	for row, line in zip(rows, said):
	    file, _, number = line.split(" ")[0].rpartition(":")
	    if number == "?":
	        continue
	    if not row["file"] or file.split("/")[-1] != row["file"].split("/")[-1] or int(number) != row["line"]:
	        bad += 1
	        print("differs:", row["address"], row["file"], row["line"], line)
	print(len(rows), "instructions,", bad, "lines differ")
	shares = {}
	for r in rows:
	    shares[r["function"]] = shares.get(r["function"], 0) + r["percent"]
	assert len(shares) == 10, shares.keys()
	assert all(abs(s - 100) < 0.01 for s in shares.values()), shares
	assert any(r["inlined"] == "mix" for r in rows)
	assert any(r["kind"] == "branch" and r["target"] for r in rows)
	sys.exit(bad > 0)
EOF
); then
	pass "addr2line has the same lines: $(tail -n 1 <<<"$text")"
else
	fail "lines of addr2line" "$text"
fi
run "$FATHOM" annotate -i hot.data hot3
expect_out_like '\[inlined: mix\]'
expect_out_like '(╭|/).*j'
expect_out 'with skid'

# --- what is not there -----------------------------------------------------------------------------

run "$FATHOM" annotate -i hot.data hott3
expect_status 4 "a function that does not exist"
expect_err "did you mean 'hot3'?"
"$FATHOM" record -q --call-graph none -F 2000 -o old.data -- ./hot 2>/dev/null
cp hot.c hot.orig
sed -i 's/x \* 0x9e3779b97f4a7c15ull/(x * 7) ^ (x >> 3)/' hot.c
gcc -O2 -g -o hot hot.c
# perf keeps a copy of what it has recorded, and that is the right build: not here
HOME=$TMP/none run "$FATHOM" annotate -i old.data hot3
expect_status 1 "another build of the program"
expect_err "is not here as it was recorded"
"$FATHOM" record -q --call-graph none -F 2000 -o new.data -- ./hot 2>/dev/null
cp hot hot.second
mkdir first && gcc -O2 -g -o first/hot -x c hot.orig
"$FATHOM" record -q --call-graph none -F 2000 -o first.data -- ./first/hot 2>/dev/null
run "$FATHOM" annotate -i new.data --diff first.data hot3
expect_status 0 "two builds of one function"
expect_out_like 'lined up by: source line'
strip hot
"$FATHOM" record -q --call-graph none -F 2000 -o bare.data -- ./hot 2>/dev/null
run "$FATHOM" annotate -i bare.data --top 1
expect_status 0 "a stripped program"
run "$FATHOM" record -q -F 999 -e cpu-clock,page-faults -o two.data -- "$FATHOM" workload noploop 1
run "$FATHOM" annotate -i two.data --group noploop
expect_out_like 'samples of cpu-clock.*'
unlike 'an event without samples by definition is not shown' "$out" dummy

headings() { sed -n 's/^ Percent |.*Disassembly of \(.*\) (.*/\1/p' "$1" | LC_ALL=C sort | uniq -c; }
perf annotate --stdio -i two.data >theirs 2>/dev/null </dev/null
run "$FATHOM" annotate --stdio -i two.data
cp "$out_file" ours
if headings theirs | grep -q page-faults; then
	# perf shows the kernel's code where there is a vmlinux, and PLT entries not at all
	is 'several events without --group: a listing for each, as perf has them' \
		"$(headings ours | grep "$(basename "$FATHOM")")" "$(headings theirs | grep "$(basename "$FATHOM")")"
else
	skip 'several events without --group: perf shows none'
fi
run "$FATHOM" annotate -i two.data --top 1
expect_out_like 'samples? of cpu-clock, '
expect_out_like 'samples? of page-faults, '
run "$FATHOM" annotate -i two.data --json --top 1
is 'JSON says which event a column is of' "$(python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
print(d["facts"]["event"], d["facts"]["event_1"], "percent_2" in d["instructions"][0])' "$out_file")" \
	'cpu-clock page-faults False'

# summary and marks of -l; perf's marks depend on its colours, too
cp hot.orig hot.c
gcc -O2 -g -o hot hot.c
"$FATHOM" record -q --call-graph none -F 2000 -o again.data -- ./hot 2>/dev/null
summary() { sed -n '/^Sorted summary/,/Percent |/p' | grep '^ *[0-9.]* [^ ]*:[0-9]*$' | LC_ALL=C sort; }
perf annotate --stdio -l -i again.data hot3 2>/dev/null </dev/null | summary >theirs
"$FATHOM" annotate --stdio -l -i again.data hot3 2>/dev/null >listing
summary <listing >ours
[ -s theirs ] && is "-l: perf's sorted summary" "$(cat ours)" "$(cat theirs)"
like '-l: places after instructions' "$(cat listing)" ' // hot.c:[0-9]+'
bytes() { sed -n 's/^ *[0-9.]* : *\([0-9a-f]*\): *\(\([0-9a-f][0-9a-f] \)*\).*/\1 \2/p'; }
perf annotate --stdio --asm-raw -i again.data hot3 2>/dev/null </dev/null | bytes >theirs
"$FATHOM" annotate --stdio --asm-raw -i again.data hot3 2>/dev/null | bytes >ours
# objdump begins a line after seven bytes, of which perf shows only some
first() { awk 'NR == FNR { is[$1]; next } $1 in is { print $1, $2, $3, $4, $5, $6, $7, $8 }' ours "$1"; }
[ -s theirs ] && is "--asm-raw: perf's bytes" "$(first ours)" "$(first theirs)"

run "$FATHOM" annotate -i again.data hot3
unlike 'sources that are older than the program' "$out" 'is newer'
touch -d '+1 minute' hot.c
run "$FATHOM" annotate -i again.data hot3
expect_out_like "source file '.*hot.c' is newer than '.*hot'"
run "$FATHOM" annotate -i again.data --no-source hot3
unlike 'without sources nothing is said of them' "$out" 'is newer'

mkdir -p moved"$PWD" && mv hot.c moved"$PWD"
run "$FATHOM" annotate -i again.data hot3
unlike 'sources that were moved are not found' "$out" 'x = mix\(x \+ i\);'
run "$FATHOM" annotate -i again.data --prefix moved hot3
expect_out_like 'x = mix\(x \+ i\);'
run "$FATHOM" annotate -i again.data --prefix moved"$PWD" --prefix-strip "$(tr -cd / <<<"$PWD" | wc -c)" hot3
expect_out_like 'x = mix\(x \+ i\);'
mv moved"$PWD"/hot.c .

"$FATHOM" annotate -i first.data --symbols hot3 --csv >one.csv
is '--symbols: the others are left out' "$(sed -n 's/^\(hot[0-9]\),.*/\1/p' one.csv | sort -u)" hot3
run "$FATHOM" annotate -i first.data --no-user --symbols 'hot*'
expect_status 4 '--no-user: functions of programs are left out'

# --- code made at run time -----------------------------------------------------------------------

if command -v node >/dev/null; then
	cat >hot.js <<-'EOF'
		function hotjs(n) { let x = 0; for (let i = 0; i < n; i++) x = (x + i * i) % 1000003; return x; }
		for (let k = 0; k < 60; k++) hotjs(1000000);
	EOF
	"$FATHOM" record -q -k mono --call-graph none -F 999 -o js.data -- node --perf-prof hot.js 2>/dev/null
	run "$FATHOM" annotate -i js.data --top 1
	if grep -q jit- <(ls); then
		expect_out_like 'hotjs'
		expect_out_like '[0-9]% +[0-9a-f]+ '
	else
		skip "this node writes no jitdump"
	fi
	rm -f jit-*.dump
	run "$FATHOM" annotate -i js.data --top 1
	expect_out "made at run time and not kept"

	sed -i 's/k < 60/true/; s/k++//' hot.js
	node --perf-basic-prof hot.js &
	node=$!
	sleep 1
	"$FATHOM" record -q --call-graph none -F 999 -o live.data -p $node -d 1 2>/dev/null
	run "$FATHOM" annotate -i live.data --top 1
	expect_status 0 "no jitdump: from the memory of the process"
	expect_out_like 'hotjs'
	expect_out_like '[0-9]% +[0-9a-f]+ '
	expect_out "as process $node has it now"
	sed -i 's/hotjs/other/' /tmp/perf-$node.map
	run "$FATHOM" annotate -i live.data --top 1
	expect_err "made at run time and not kept"
	sed -i 's/other/hotjs/' /tmp/perf-$node.map
	kill $node
	wait $node 2>/dev/null
	run "$FATHOM" annotate -i live.data --top 1
	expect_err "made at run time and not kept"
	rm -f /tmp/perf-$node.map
else
	skip "needs the command node"
fi

if command -v javac >/dev/null; then
	cat >Hot.java <<-'EOF'
		public class Hot {
		    static long spin(long n) { long x = 0; for (long i = 0; i < n; i++) x = (x * 31 + i * i) % 1000003; return x; }
		    public static void main(String[] a) { for (long s = 0;;) s += spin(1000000); }
		}
	EOF
	javac Hot.java
	for java in /usr/lib/jvm/*/bin/java; do
		case $(readlink -f "$java") in */jvm/"$(basename "${java%/bin/java}")"/*) ;; *) continue ;; esac
		name=$(basename "${java%/bin/java}")
		"$java" -Xmx64m -cp . Hot &
		pid=$!
		sleep 2
		"$FATHOM" record -q -F 999 -o java.data -p $pid -d 1 2>/dev/null
		run "$FATHOM" annotate -i java.data Hot.spin
		expect_status 0 "$name: the code of its compiler, from its memory"
		expect_out_like '[0-9]% +[0-9a-f]+ .*(imul|lea|sub|add|mov|shl|sar)'
		unlike "$name: only code" "$out" '\(bad\)'
		kill $pid
		wait $pid 2>/dev/null
		run "$FATHOM" annotate -i java.data Hot.spin
		expect_err "made at run time and not kept"
	done
else
	skip "needs java"
fi

# --- a function of 100 MB ----------------------------------------------------------------------------

cat >huge.S <<'EOF'
	.globl huge
	.type huge, @function
huge:	.fill 52428800, 1, 0x90
	mov $300000000, %rcx
again:	dec %rcx
	jnz again
	.fill 52428800, 1, 0x90
	ret
	.size huge, . - huge
	.globl main
	.type main, @function
main:	call huge
	xor %eax, %eax
	ret
	.size main, . - main
	.section .note.GNU-stack, "", @progbits
EOF
if [ "$(uname -m)" = x86_64 ] && gcc -o huge huge.S; then
	"$FATHOM" record -q --call-graph none -F 999 -o huge.data -- ./huge
	(ulimit -v 4000000; "$FATHOM" annotate -i huge.data huge >huge.out)
	is 'a function of 100 MB: in 4 GB of memory' $? 0
	ok 'its part with most samples' test "$(grep -cE '[0-9]% +[0-9a-f]+ .*(decq|jne)' huge.out)" -gt 0
	ok 'and no more of it' test "$(wc -l <huge.out)" -lt 1100000
	ok 'which is reported' grep -q 'the function is too long' huge.out
	rm -f huge huge.data huge.out
else
	skip 'a function of 100 MB: for x86-64'
fi

# --- functions without code ------------------------------------------------------------------------

# Most samples are in the kernel, whose code not every machine shows: the next function is listed.
"$FATHOM" record -q -F 999 -o kernel.data -- dd if=/dev/zero of=/dev/null bs=1 count=700000 2>/dev/null
run "$FATHOM" annotate -i kernel.data
expect_status 0 'without a name, functions whose code cannot be read are passed over'
expect_out_like '[0-9]% +[0-9a-f]+ '
run "$FATHOM" annotate -i kernel.data -k /dev/null entry_SYSCALL_64_after_hwframe
unlike 'no core file: no code' "$out" '[0-9]% +[0-9a-f]+ '
expect_err_like "'/dev/null'|no sample"
run "$FATHOM" annotate --diff kernel.data -i kernel.data
expect_status 0 'and likewise in a comparison'

done_testing
