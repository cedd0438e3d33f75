#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
#
# Markers of programs: include/fathom.h with each compiler, in C and C++, and their spans.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
need_root
need_cmd gcc
cd "$TMP" || exit 1

cat >marks.c <<'END'
#include "fathom.h"
#include <unistd.h>

int main(int argc, char **argv)
{
	(void)argv;
	for (long i = 0; i < 5; i++) {
		FATHOM_BEGIN("request", i);
		if (i == 3)
			usleep(60000);
		FATHOM_MARK("half", i * -10);
		FATHOM_END("request", i);
	}
	return argc - 1;
}
END
cp marks.c marks.cc

# spans_of NAME: rows of a run, as name:id:milliseconds
spans_of() {
	run "$FATHOM" spans -x "$TMP/$1" --marks --csv -- "$TMP/$1"
	python3 -c '
import csv, sys
for r in csv.DictReader(open(sys.argv[1])):
    print(r["name"], r["id"], int(r["lat"]) >= 60e6)' "$out_file" | sort
}
want=$(printf '%s\n' 'half -10 False' 'half -20 False' 'half -30 False' 'half -40 False' \
	'half 0 False' 'request 0 False' 'request 1 False' 'request 2 False' 'request 3 True' \
	'request 4 False' | sort)
for how in 'gcc -O2' 'gcc -O0 -std=gnu99' 'gcc -O2 -flto' 'clang -O2' 'clang -O0' 'g++ -O2' 'clang++ -O2'; do
	read -r -a words <<<"$how"
	command -v "${words[0]}" >/dev/null || { skip "needs ${words[0]}" 2; continue; }
	source=marks.c
	case ${words[0]} in *++) source=marks.cc ;; esac
	ok "$how: builds without a warning" "${words[@]}" -Wall -Wextra -Wpedantic -Werror \
		-I"$TOP/include" -o "marks" $source
	is "$how: every span and mark, and the long one is long" "$(spans_of marks)" "$want"
done

# --- the same marks in a recording: named events of the program's static tracepoints ----------------
"$FATHOM" probe --list --csv | grep -q '^sdt_fathom:' && "$FATHOM" probe -q --del 'sdt_fathom:*'
gcc -O2 -I"$TOP/include" -o marks marks.c
run "$FATHOM" probe -x marks '%fathom:*'
expect_status 0
expect_out_like 'sdt_fathom:begin +\(on %fathom:begin in .*/marks with name id\)'
run "$FATHOM" record -q -e 'sched:sched_switch,sdt_fathom:*' -a --call-graph none -o marks.data -- ./marks
expect_status 0
"$FATHOM" script -i marks.data -F event,trace >events
for i in 0 1 2 3 4; do
	for event in "begin: .*name=\"request\" id=$i\$" "mark: .*name=\"half\" id=-\?${i}0\?\$" \
		"end: .*name=\"request\" id=$i\$"; do
		is "once $event" "$(grep -c "sdt_fathom:$event" events)" 1
	done
done
run "$FATHOM" sched map -i marks.data -o marks.html
ok 'they are spans of the time line, with their lengths' python3 - marks.html <<'END'
import json, re, sys
marks = json.loads(re.search(r'"marks":(\[\[.*?\]\])', open(sys.argv[1]).read())[1])
spans = {m[4]: m[1] for m in marks if m[3] == "request"}
assert sorted(spans) == ["0", "1", "2", "3", "4"], marks
assert spans["3"] >= 60e6 and all(spans[i] < spans["3"] for i in "0124"), spans
assert sum(m[3] == "half" and m[1] == -1 for m in marks) == 5, marks
END
run "$FATHOM" probe --del 'sdt_fathom:*'
is 'all of them can be deleted' "$(grep -c '^Removed' "$out_file")" 3
run "$FATHOM" probe -n -x marks %fatom:begin
expect_status 1
expect_err "did you mean '%fathom:begin'?"
run "$FATHOM" probe -n -x marks '%fathom:begin name'
expect_status 2
expect_err 'it has its own'
run "$FATHOM" probe -n %fathom:begin
expect_status 2
expect_err '-x FILE'
# --- texts in trace_marker -----------------------------------------------------------------------------
tracing=/sys/kernel/tracing
say="echo one-$$ >$tracing/trace_marker; sleep 0.1; echo two-$$ >$tracing/trace_marker"
if [ -e $tracing/options/copy_trace_marker ]; then
	run "$FATHOM" record -q -e 'sched:sched_switch,ftrace:print' -a --call-graph none -o texts.data -- sh -c "$say"
	expect_status 0
	run "$FATHOM" script -i texts.data -F comm,event,trace
	is 'both, in order' "$(grep -o "sh .*ftrace:print: .*: [a-z]*-$$" "$out_file" | grep -o '[a-z]*-[0-9]*$' | xargs)" \
		"one-$$ two-$$"
	run "$FATHOM" sched map -i texts.data -o texts.svg
	ok 'they are on the time line' grep -q "one-$$" texts.svg
	if command -v perf >/dev/null; then
		is 'perf reads them' "$(perf script -i texts.data 2>/dev/null | grep -c "ftrace:print: .*-$$")" 2
	else
		skip 'needs perf'
	fi
	run "$FATHOM" ftrace -e sched:sched_process_exec -- sh -c "$say"
	like 'and among the events of a trace' "$out" "one-$$"
	"$FATHOM" record -q -e ftrace:print -a -o killed.data &
	pid=$!
	wait_until [ -d "$tracing/instances/fathom-$pid" ]
	kill -9 $pid
	wait $pid 2>/dev/null
	ok 'kill -9 leaves no instance' wait_until [ ! -d "$tracing/instances/fathom-$pid" ]
else
	run "$FATHOM" record -e ftrace:print -a -o texts.data -- sh -c "$say"
	expect_err 'ftrace:print has no samples: this kernel does not copy'
fi

if [ ! -e /sys/kernel/tracing/user_events_status ]; then
	run "$FATHOM" record -e user_events:request -- true
	ok 'events of programs: refused' [ "$status" -ne 0 ]
	expect_err 'this kernel has no user_events (CONFIG_USER_EVENTS'
fi

run "$FATHOM" spans -x /bin/true -d 1s
ok 'a program without marks is said to have none' [ "$status" != 0 ]
expect_err 'no spans and no marks'
done_testing
