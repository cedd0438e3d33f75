#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Our exports in the hands of those they are for: go tool pprof, the schema of speedscope.
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
		# code without name is told apart by its module here, not there
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

# --- speedscope -------------------------------------------------------------------------------
"$FATHOM" export script.txt --format speedscope -o script.speedscope.json
modules=$TOP/build/npm/node_modules
schema=$modules/speedscope/dist/release/file-format-schema.json
if [ ! -e "$schema" ] && command -v npm >/dev/null; then
	mkdir -p "$TOP/build/npm"
	npm install --silent --no-audit --no-fund --prefix "$TOP/build/npm" speedscope ajv \
		>npm.log 2>&1
fi
if [ -e "$schema" ] && [ -d "$modules/ajv" ]; then
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
done_testing
