#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
#
# What is done with recordings as files: written again, listed, converted, archived. perf reads what
# is written here, and says the same of it.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
need_root
need_cmd perf python3 tar readelf
need_file "$FATHOM" "$WORKLOADS/burn"
cd "$TMP" || exit 1
export HOME=$TMP/home
mkdir home
cp "$WORKLOADS/burn" burn
"$FATHOM" record -q -F 499 -o a.data -- ./burn --seconds 0.5 a=70 b=30 || plan_skip "nothing can be recorded here"

# lines FILE: what perf script prints of it
lines() { perf script -i "$1" --no-inline -F comm,tid,time,event,ip,sym 2>/dev/null; }

# --- inject --------------------------------------------------------------------------------------

run "$FATHOM" inject -i a.data -o plain.data
expect_status 0 "decompressed"
is "perf reads the same samples" "$(lines plain.data)" "$(lines a.data)"
unlike "no compressed record is left" "$(perf report -i plain.data --stats 2>/dev/null)" COMPRESSED
run "$FATHOM" inject -z3 -i plain.data -o small.data
like "and compressed again" "$(perf report -i small.data --stats 2>/dev/null)" COMPRESSED
is "it says the same" "$("$FATHOM" script -i small.data)" "$("$FATHOM" script -i a.data)"
is "what it says of its machine, too" \
	"$("$FATHOM" script --header-only -i plain.data | grep -E '^# (hostname|os release|cpudesc|cmdline|total memory)')" \
	"$("$FATHOM" script --header-only -i a.data | grep -E '^# (hostname|os release|cpudesc|cmdline|total memory)')"
"$FATHOM" inject -i a.data -o - >pipe.data
is "through a pipe" "$("$FATHOM" inject -i - -o - <pipe.data 2>/dev/null | "$FATHOM" fold -i - 2>/dev/null)" \
	"$("$FATHOM" fold -i a.data 2>/dev/null)"
"$FATHOM" record -q -e sched:sched_switch -o s.data -- ./burn --seconds 0.1 a=1 2>/dev/null
if [ -s s.data ]; then
	"$FATHOM" inject -q -i s.data -o s2.data
	is "tracepoints keep their formats" "$(perf script -i s2.data 2>/dev/null)" "$(perf script -i s.data 2>/dev/null)"
else
	skip "no tracepoint can be recorded"
fi
# mappings without build ids, as older perfs record them
python3 - plain.data old.data <<-'EOF'
	import struct, sys
	b = bytearray(open(sys.argv[1], "rb").read())
	at, size = struct.unpack_from("<QQ", b, 40)
	end = at + size
	while at < end:
	    kind, misc, n = struct.unpack_from("<IHH", b, at)
	    if kind == 10 and misc & 0x4000:
	        struct.pack_into("<H", b, at + 6 - 2, misc & ~0x4000)
	        b[at + 40:at + 64] = bytes(24)
	    at += n
	open(sys.argv[2], "wb").write(b)
EOF
unlike "no build id of the program" "$("$FATHOM" perf buildid-list -i old.data)" burn
run "$FATHOM" inject -b -i old.data -o ids.data
expect_err_like 'mappings: .* [1-9][0-9]* got one'
like "perf finds them" "$(perf buildid-list -i ids.data 2>/dev/null)" \
	"$(readelf -n burn | sed -n 's/.*Build ID: //p') .*burn"
run "$FATHOM" inject -i /dev/null -o x.data
expect_status 4 "an empty file"
head -c 3000 a.data >cut.data
run timeout 20 "$FATHOM" inject -i cut.data -o x.data
ok "a cut recording ends in order" test "$status" -le 4

# --- build ids -----------------------------------------------------------------------------------

ours=$("$FATHOM" perf buildid-list -H -i a.data | grep -v '^ ' | sort)
theirs=$(perf buildid-list -H -i a.data 2>/dev/null | grep '^[0-9a-f]' | sort)
is "perf lists the same that were hit" "$ours" "$theirs"
id=$(readelf -n burn | sed -n 's/.*Build ID: //p')
is "of a program itself" "$("$FATHOM" buildid-list -i burn --json | python3 -c 'import json, sys
print(json.load(sys.stdin)["rows"][0]["build_id"])')" "$id"
run "$FATHOM" perf --buildid-dir "$TMP/kept" buildid-cache -a burn
expect_status 0 "kept"
ok "where perf has it" cmp burn "kept/.build-id/${id:0:2}/${id:2}/elf"
like "perf lists it" "$(perf --buildid-dir "$TMP/kept" buildid-cache -l 2>/dev/null)" "$id"
like "so do we" "$("$FATHOM" perf --buildid-dir "$TMP/kept" buildid-cache -l)" "$id"
run "$FATHOM" buildid-cache --dir "$TMP/kept" -r "$id"
ok "removed" test ! -e "kept/.build-id/${id:0:2}/${id:2}"
run "$FATHOM" buildid-cache --dir "$TMP/kept" -r '../../etc'
expect_status 1 "no path is a build id"
run "$FATHOM" perf --buildid-dir "$TMP/kept2" record -q -o r.data ./burn --seconds 0.1 a=1
ok "record keeps what ran" cmp burn "kept2/.build-id/${id:0:2}/${id:2}/elf"

# --- archive -------------------------------------------------------------------------------------

run "$FATHOM" archive -i a.data -o case.tar
expect_status 0 "archive"
mkdir -p home/.debug
ok "tar unpacks it" tar xf case.tar -C home/.debug
ok "with the recording" cmp a.data home/.debug/a.data
mv burn burn.away
like "code is found there" "$("$FATHOM" annotate -i home/.debug/a.data --top 1 2>&1)" 'samples of'
unlike "and nothing is missing" "$("$FATHOM" annotate -i home/.debug/a.data --top 1 2>&1)" 'not here as it was recorded'
rm -rf home/.debug
like "without it, it is said" "$("$FATHOM" annotate -i a.data --top 1 2>&1)" 'not here as it was recorded'
mv burn.away burn

# what a program was stripped of travels, too; perf's recording has no names of its own
if command -v gcc >/dev/null && command -v objcopy >/dev/null; then
	cat >spin.c <<-'END'
		static volatile unsigned long n;
		__attribute__((noinline)) static void stripped_loop(void)
		{
			for (unsigned long i = 0; i < 300000000; i++)
				n += i;
		}
		int main(void)
		{
			stripped_loop();
			return 0;
		}
	END
	gcc -O1 -g -Wl,--build-id -o spin spin.c
	objcopy --only-keep-debug spin spin.debug
	objcopy --strip-all --add-gnu-debuglink=spin.debug spin
	# perf 6.1 aborts at the end now and then, and leaves a file without build ids
	whole=
	for _ in 1 2 3 4 5; do
		perf record -q -e task-clock -o p.data ./spin 2>/dev/null && whole=1 && break
	done
	if [ -z "$whole" ]; then
		skip 'perf record aborted five times' 4
	else
		run "$FATHOM" archive -i p.data -o stripped.tar
		expect_status 0 "archive of a stripped program"
		like "has its debug file" "$(tar tf stripped.tar)" '/spin/[0-9a-f]*/debug'
		mkdir -p home2/.debug away
		tar xf stripped.tar -C home2/.debug
		mv spin spin.debug away
		like "names are found there" "$(HOME=$TMP/home2 "$FATHOM" report -i p.data 2>&1)" stripped_loop
		mkdir home3
		unlike "and nowhere else" "$(HOME=$TMP/home3 "$FATHOM" report -i p.data 2>&1)" stripped_loop
	fi
else
	skip 'no gcc or objcopy' 4
fi

# --- data convert --------------------------------------------------------------------------------

run "$FATHOM" data convert --to-json ours.json -i a.data
expect_status 0 "JSON"
perf data convert --to-json theirs.json -i a.data >/dev/null 2>&1
if [ -s theirs.json ]; then
	ok "the samples are those of perf" python3 - <<-'EOF'
		import json
		a, b = (json.load(open(f))["samples"] for f in ("ours.json", "theirs.json"))
		assert len(a) == len(b), (len(a), len(b))
		for x, y in zip(a, b):
		    for key in ("timestamp", "pid", "tid", "cpu", "comm"):
		        assert x[key] == y[key], (x, y)
		    assert [f["ip"] for f in x["callchain"]] == [f["ip"] for f in y["callchain"]], (x, y)
	EOF
else
	skip "perf writes no JSON"
fi
run "$FATHOM" data convert --to-json ours.json -i a.data
expect_err "--force overwrites it"
run "$FATHOM" data convert --to-ctf dir -i a.data
expect_err 'CTF is not written'

# --- kallsyms ------------------------------------------------------------------------------------

like "a kernel function" "$("$FATHOM" perf kallsyms schedule)" '^schedule: \[kernel\] \[kernel.kallsyms\] 0x[0-9a-f]+-0x'
is "none" "$("$FATHOM" perf kallsyms no_such_thing)" 'no_such_thing: not found'
done_testing
