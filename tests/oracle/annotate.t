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
else
	skip "needs the command node"
fi

# --- functions without code ------------------------------------------------------------------------

# Most samples are in the kernel, whose code not every machine shows: the next function is listed.
"$FATHOM" record -q -F 999 -o kernel.data -- dd if=/dev/zero of=/dev/null bs=1 count=700000 2>/dev/null
run "$FATHOM" annotate -i kernel.data
expect_status 0 'without a name, functions whose code cannot be read are passed over'
expect_out_like '[0-9]% +[0-9a-f]+ '
run "$FATHOM" annotate --diff kernel.data -i kernel.data
expect_status 0 'and likewise in a comparison'

done_testing
