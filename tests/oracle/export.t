#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# timeout: 420
# Our exports in the hands of those they are for: go tool pprof, protoc, speedscope's own page and
# schema, the importer of Firefox's profiler.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
need_cmd python3
cd "$TMP" || exit 1

cat >script.txt <<'END'
app 12/13 [001] 1.000000:    4000000 cpu-clock:
	ffff81 do_work+0x1 ([kernel.kallsyms])
	7f0001 lib::call+0x9 (/usr/lib/libx.so)
	550001 main+0x1 (/usr/bin/app)

app 12/13 [001] 1.004000:    8000000 cpu-clock:
	7f0001 lib::call+0x9 (/usr/lib/libx.so)
	550001 main+0x1 (/usr/bin/app)

app 12/14 [000] 1.005000:    2000000 cpu-clock:
	550001 main+0x1 (/usr/bin/app)

END

# The flat list of a profile: "name self total", in nanoseconds.
pprof_top() {
	go tool pprof -top -unit=ns -nodecount=100000 -nodefraction=0 -edgefraction=0 "$1" 2>/dev/null |
		awk 'seen && NF >= 6 { sub("ns", "", $1); sub("ns", "", $4); name = $6
			for (i = 7; i <= NF; i++) if ($i != "(inline)") name = name " " $i
			printf "%s %d %d\n", name, $1, $4 }
		/flat%/ { seen = 1 }' | LC_ALL=C sort
}

our_top() {
	"$FATHOM" callgraph "$@" --min-node 0 --min-arc 0 --nodes 2000 --json | python3 -c '
import json, sys
for n in json.load(sys.stdin)["nodes"]:
    print(n["name"], n["self_weight"], n["total_weight"])' | LC_ALL=C sort
}

if command -v go >/dev/null; then
	"$FATHOM" export script.txt -o script.pb.gz
	pprof_top script.pb.gz >theirs
	our_top script.txt >ours
	ok 'go tool pprof prints the same list' diff theirs ours
	is 'it knows the labels' \
		"$(go tool pprof -tags script.pb.gz 2>/dev/null | grep -c 'comm:\|pid:\|tid:')" 3
	like 'it knows the program' "$(go tool pprof -top script.pb.gz 2>/dev/null)" 'File: app'
	like 'it knows the duration' "$(go tool pprof -top script.pb.gz 2>/dev/null)" 'Duration: 5ms'
	# shellcheck disable=SC2016
	if "$FATHOM" record -q -F 997 -o perf.data -- \
		sh -c 'i=0; while [ $i -lt 400000 ]; do i=$((i + 1)); done; find /usr/lib | sort | gzip' \
		>/dev/null 2>record.log; then
		# a function may be inlined in one place and called in another
		"$FATHOM" export perf.data --no-inline -o real.pb.gz
		# code without name is distinguished by its module here, not there
		pprof_top real.pb.gz | grep -v '^\[' >theirs
		our_top perf.data --no-inline | grep -v '^\[' >ours
		ok "the same for a real recording ($(wc -l <ours) functions)" diff theirs ours
		like 'modules have build ids' \
			"$(go tool pprof -raw real.pb.gz 2>/dev/null | sed -n '/^Mappings/,$p')" \
			'/[^ ]+ [0-9a-f]{40} '
		"$FATHOM" fold --no-inline perf.data >ours
		"$FATHOM" fold real.pb.gz >theirs
		ok 'what we wrote reads as what it was' cmp ours theirs
	else
		skip "cannot record here: $(head -n 1 record.log)" 3
	fi
	# What Go itself writes.
	cat >cpu_test.go <<'END'
package x

import "testing"

func burn(n int) int {
	s := 0
	for i := 0; i < n; i++ {
		s += i * i
	}
	return s
}

func TestBurn(t *testing.T) {
	s := 0
	for i := 0; i < 400; i++ {
		s += burn(1000000)
	}
	if s == 42 {
		t.Fatal()
	}
}
END
	printf 'module x\n\ngo 1.19\n' >go.mod
	if HOME=$TMP GOFLAGS=-mod=mod timeout 120 go test -run TestBurn -cpuprofile go.pprof . \
		>go.log 2>&1 && [ -s go.pprof ]; then
		pprof_top go.pprof >theirs
		our_top go.pprof >ours
		if [ -s theirs ]; then
			ok "a profile of Go's own ($(wc -l <theirs) functions)" diff theirs ours
		else
			skip 'the profiler of Go took no sample'
		fi
	else
		skip 'go cannot test here'
	fi
	chmod -R u+w "$TMP"
else
	skip 'needs go' 8
fi

# The bytes, by the public description of the format.
proto=/usr/share/gocode/src/github.com/google/pprof/proto
if command -v protoc >/dev/null && [ -e "$proto/profile.proto" ]; then
	"$FATHOM" export script.txt -o decoded.pb.gz
	gzip -dc decoded.pb.gz |
		protoc --decode=perftools.profiles.Profile -I "$proto" profile.proto >decoded 2>&1
	is 'protoc knows every field' "$(grep -cE '^ *[0-9]+[:{ ]' decoded)" 0
	is 'protoc: samples, functions, mappings' \
		"$(grep -c '^sample {' decoded) $(grep -c '^function {' decoded) $(grep -c '^mapping {' decoded)" \
		'3 3 3'
else
	skip 'needs protoc and profile.proto (golang-github-google-pprof-dev)' 2
fi

# --- speedscope -------------------------------------------------------------------------------
"$FATHOM" export script.txt --format speedscope -o script.speedscope.json
modules=$TOP/build/npm/node_modules
schema=$modules/speedscope/dist/release/file-format-schema.json
if fetch_npm speedscope/dist/release/file-format-schema.json speedscope ajv; then
	cat >validate.cjs <<'END'
const fs = require("fs");
const Ajv = require(process.argv[2] + "/ajv").default;
const ajv = new Ajv({ strict: false });
const ok = ajv.compile(JSON.parse(fs.readFileSync(process.argv[3])));
if (!ok(JSON.parse(fs.readFileSync(process.argv[4])))) {
	console.error(ok.errors);
	process.exit(1);
}
END
	ok 'the schema of speedscope accepts ours' \
		node validate.cjs "$modules" "$schema" script.speedscope.json
	python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
d["profiles"][0]["type"] = "wrong"
json.dump(d, open(sys.argv[2], "w"))' script.speedscope.json bad.json
	not_ok 'it does not accept everything' \
		node validate.cjs "$modules" "$schema" bad.json 2>/dev/null
else
	skip 'speedscope cannot be installed by npm' 2
fi

playwright=$modules/playwright-core/index.js
index=$modules/speedscope/dist/release/index.html
if [ -e "$index" ] && command -v chromium >/dev/null &&
	fetch_npm playwright-core/index.js "$PLAYWRIGHT"; then
	RUN_TIMEOUT=90
	run node "$TOP/tests/oracle/export_speedscope.mjs" "$playwright" "$(command -v chromium)" \
		"$index" "$TMP/script.speedscope.json" "$TMP/profile.js" 3
	is "speedscope's own page shows the heavier thread" "$out" 'profile script.txt - speedscope
function 12.00ms (100%) 8.00ms (67%) lib::call
function 4.00ms (33%) 4.00ms (33%) do_work
function 12.00ms (100%) 0.00ns (<0.01%) main'
else
	skip 'needs chromium, playwright-core and speedscope'
fi

# --- Firefox ----------------------------------------------------------------------------------
cli=$modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js
firefox() { HOME=$TMP timeout 60 node "$cli" "$@"; }
# npm that could not fetch the one will not fetch the other
if [ -e "$schema" ] && fetch_npm @firefox-devtools/profiler-cli/dist/profiler-cli.js \
	@firefox-devtools/profiler-cli && firefox --version >/dev/null 2>&1; then
	"$FATHOM" export script.txt --format firefox -o firefox.json
	firefox load firefox.json >firefox.log 2>&1
	diag "$(head -n 3 firefox.log)"
	firefox thread functions --json >functions.json 2>>firefox.log
	firefox profile info >info.txt 2>>firefox.log
	firefox stop --all >/dev/null 2>&1
	is "Firefox's importer: self and total of the heavier thread" "$(python3 -c '
import json
for f in json.load(open("functions.json"))["functions"]:
    print(f["name"], f["selfSamples"], f["totalSamples"])' | LC_ALL=C sort)" 'do_work 1 1
lib::call 1 2
main 0 2'
	# the first sample of a thread has none before it
	like 'it knows the time on the CPU' "$(cat info.txt)" 'app 12/13 .* 8\.000ms'
else
	skip 'needs @firefox-devtools/profiler-cli from npm' 2
fi
done_testing
