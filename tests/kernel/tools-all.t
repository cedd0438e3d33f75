#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# timeout: 900
#
# Every tool of the library in every form: help, text at 80 and 40 columns, JSON, CSV, a process,
# Ctrl-C. What this kernel has nothing for says so in one line. Tools run side by side, for they only
# look; figures are the matter of the other files.
. "$(dirname "$0")/../lib/test.sh"
. "$(dirname "$0")/../lib/tools.sh"
need_root
need_file /sys/kernel/btf/vmlinux

export PYTHON
spawn sleep 600
export PID=$spawned

# One tool: a line "ok ..." or "not ok ...: why" for each form.
cat >"$TMP/one" <<-'END'
	#!/bin/bash
	tool=$1 dir=$TMP/$1
	mkdir -p "$dir" && cd "$dir" || exit 1
	say() { if [ "$2" = ok ]; then echo "ok $tool: $1"; else echo "not ok $tool: $1: $2 $(head -c 300 err | tr '\n' ' ')"; fi; }
	fits() { awk -v n="$1" '{ gsub(/[\x80-\xbf]/, ""); if (length($0) > n) { print "longer than " n ": " $0; bad = 1; exit } } END { if (!bad) print "ok" }' out; }
	"$FATHOM" "$tool" --help >out 2>err
	say 'help' "$([ $? -eq 0 ] && grep -q '^Usage' out && echo ok)"
	target=()
	grep -q -- '--pid' out && target=(-p "$PID")
	if [ "$tool" = memleak ]; then target=(); fi
	needs=()
	"$FATHOM" "$tool" --source | grep -q '^needs: process$' && needs=(-p "$PID")
	COLUMNS=80 timeout -s INT -k 20 2 "$FATHOM" "$tool" "${needs[@]}" >out 2>err
	code=$?
	if grep -q "^fathom: $tool: " err && [ "$(grep -c . err)" -eq 1 ]; then
		echo "skip $tool: $(head -1 err)"
		exit 0
	fi
	say 'two seconds and Ctrl-C, 80 columns' "$(case $code in 0 | 124) fits 80 ;; *) echo "status $code" ;; esac)"
	COLUMNS=40 timeout -k 20 30 "$FATHOM" "$tool" "${needs[@]}" -d 200ms >out 2>err
	code=$?
	say '40 columns' "$([ $code -eq 0 ] && fits 60)"
	timeout -k 20 30 "$FATHOM" "$tool" "${target[@]}" "${needs[@]}" -d 300ms --json >out 2>err
	code=$?
	say 'JSON of a process' "$([ $code -eq 0 ] && "$PYTHON" -c 'import json, sys
	lines = [json.loads(l) for l in open("out")]
	first, rest = lines[0], lines[1:]
	if "columns" in first: # events
	    names = {c["key"] for c in first["columns"]}
	    good = all(set(r) <= names or set(r) == {"type", "data"} for r in rest)
	else: # a table for each interval
	    good = all("schema" in d and "losses" in d for d in lines)
	print("ok" if good else "neither events nor documents")' 2>&1 | tail -1)"
	timeout -k 20 30 "$FATHOM" "$tool" "${needs[@]}" -d 200ms --csv >out 2>err
	code=$?
	say 'CSV' "$([ $code -eq 0 ] && "$PYTHON" -c 'import csv
	rows = [r for r in csv.reader(open("out", errors="replace")) if r and not r[0].startswith("#")]
	print("ok" if all(len(r) == len(rows[0]) for r in rows) else "uneven")' 2>&1 | tail -1)"
END
sed -i 's/^\t//' "$TMP/one"
chmod +x "$TMP/one"
"$FATHOM" tools --json | "$PYTHON" -c 'import json, sys
for t in json.load(sys.stdin)["tools"]: print(t["name"])' >"$TMP/names"
ok 'there are at least 110 tools' [ "$(wc -l <"$TMP/names")" -ge 110 ]
xargs -P4 -n1 "$TMP/one" <"$TMP/names" >"$TMP/results" 2>&1
while IFS= read -r line; do
	case $line in
	ok\ *) pass "${line#ok }" ;;
	skip\ *) skip "${line#skip }" ;;
	*) fail "${line#not ok }" ;;
	esac
done < <(sort "$TMP/results")
is 'each tool was tried' \
	"$(sed 's/^\(not ok\|ok\|skip\) \([^:]*\):.*/\2/' "$TMP/results" | sort -u | wc -l)" "$(wc -l <"$TMP/names")"

# Names of other collections lead to a command, or say to which.
missing=
for name in $(cat "$TOP/tests/kernel/tools-names"); do
	"$FATHOM" "$name" --help >"$out_file" 2>&1 || grep -q "that is 'fathom" "$out_file" || missing="$missing $name"
done
is 'every name of bcc, libbpf-tools and bpftrace is known' "$missing" ''

# Each of them typed without anything: it runs, or says in one line what is missing: a mechanism of
# the kernel (3), or an operand, or which command it is here (2, with a hint), or that the standard
# input, which it reads as perf's command of the same name does, is empty (4).
cat >"$TMP/typed" <<-'END'
	#!/bin/bash
	timeout -s INT -k 20 0.6 "$FATHOM" "$1" >"$TMP/typed.$1.out" 2>"$TMP/typed.$1" </dev/null
	code=$?
	said=$(grep -c '^fathom: ' "$TMP/typed.$1")
	case $code in
	0 | 124) ;;
	3) [ "$said" -eq 1 ] || echo "$1: status 3: $(head -2 "$TMP/typed.$1" | tr '\n' ' ')" ;;
	4) grep -q 'standard input' "$TMP/typed.$1" || echo "$1: status 4: $(head -2 "$TMP/typed.$1" | tr '\n' ' ')" ;;
	2) [ "$said" -eq 1 ] && grep -q '^hint: ' "$TMP/typed.$1" || echo "$1: status 2: $(head -2 "$TMP/typed.$1" | tr '\n' ' ')" ;;
	*) echo "$1: status $code: $(head -2 "$TMP/typed.$1" | tr '\n' ' ')" ;;
	esac
END
sed -i 's/^\t//' "$TMP/typed"
chmod +x "$TMP/typed"
# what is installed is the list, beside ours
{
	cat "$TOP/tests/kernel/tools-names"
	dpkg -L bpfcc-tools bpftrace libbpf-tools 2>/dev/null | sed -n 's,^/usr/s\?bin/\(.*\)$,\1,p' | grep -v '^bpftrace'
	echo stackcollapse-perf.pl flamegraph.pl
} | tr ' ' '\n' | sort -u >"$TMP/all-names"
sed 's/-bpfcc$//; s/\.bt$//' "$TMP/all-names" | sort -u >"$TMP/plain-names"
diag "$(wc -l <"$TMP/all-names") spellings of $(wc -l <"$TMP/plain-names") names"
is 'each of them typed alone runs, or says in a line why not' "$(xargs -P6 -n1 "$TMP/typed" <"$TMP/plain-names" 2>&1)" ''
missing=
while IFS= read -r name; do
	"$FATHOM" "$name" --help >"$out_file" 2>&1 || grep -q "that is 'fathom" "$out_file" || missing="$missing $name"
done <"$TMP/all-names"
is 'and so does each spelling' "$missing" ''

# One more file is one more command.
mkdir -p "$TMP/config/fathom/tools"
cat >"$TMP/config/fathom/tools/hello.bt" <<-'END'
	/* tool
	summary: who says hello
	group: own
	column: pid pid 7
	column: comm comm 16
	example: fathom hello | until Ctrl-C
	*/
	begin { row(pid, comm); exit(); }
END
export XDG_CONFIG_HOME=$TMP/config
run "$FATHOM" hello
expect_status 0
expect_out_like '^ *PID +COMM'
run "$FATHOM" hello --json
expect_out '"comm":"fathom"'
run "$FATHOM" hello --csv
expect_out 'pid,comm'
run "$FATHOM" hello --help
expect_out 'who says hello'
run "$FATHOM" help --man hello
expect_out '.Dt FATHOM-HELLO 1'
run "$FATHOM" completion bash
expect_out 'hello'
done_testing
