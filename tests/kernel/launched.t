#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 120
#
# A launched program that has threads or children before the kernel's unwinder is loaded: they are
# sampled by it, too, once each, and nobody else is. And how launched programs end.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_root
need_file "$WORKLOADS/burn"
cd "$TMP" || exit 1
export XDG_CACHE_HOME=$TMP
cp "$WORKLOADS/burn" outsider
spawn ./outsider --seconds 60 a=100 >/dev/null

# recorded FILE: seconds of CPU that its samples stand for
recorded() {
	"$FATHOM" fold -i "$1" | awk '{ s += $NF } END { printf "%.3f\n", s / 1e9 }'
}

# close_to NAME RECORDED USED: the sampling clock starts again with each switch, so some is missing,
# on a busy machine more; tasks that are sampled twice would double it
close_to() {
	diag "$1: $2 s recorded, $3 s used"
	ok "$1: each task counts once" \
		awk -v r="$2" -v u="$3" 'BEGIN { exit !(r > 0.6 * u && r < 1.25 * u + 0.1) }'
}

run "$FATHOM" record -q -e cpu-clock -F 499 -o threads.data -- \
	"$WORKLOADS/burn" --seconds 1.2 --threads 3 a=50 b=50
expect_status 0
used=$(sed -n 's/^process_cpu=//p' <<<"$out")
if "$FATHOM" report -i threads.data 2>/dev/null | grep -q 'unwound in the kernel'; then
	run "$FATHOM" stacks -i threads.data --json
	ok 'threads: most stacks are not copies' python3 -c '
import json, sys
r = json.load(open(sys.argv[1]))
p = [p for p in r["processes"] if p["comm"].startswith("burn")][0]
print("#", p["copied"], "copies of", p["samples"], "samples", p["complete_percent"], "% complete")
sys.exit(p["copied"] > 0.5 * p["samples"] or p["complete_percent"] < 99)' "$out_file"
	close_to threads "$(recorded threads.data)" "$used"
	# and perhaps the first one, which only waits
	ok 'threads: all of them' test \
		"$("$FATHOM" script -i threads.data -F tid | sort -u | grep -c '[0-9]')" -ge 3
else
	skip "no unwinding in the kernel here" 3
fi

cat >tree.sh <<END
for i in 1 2 3; do
	(exec "$WORKLOADS/burn" --seconds 0.6 a=50 b=50)
done
END
run "$FATHOM" record -q -e cpu-clock -F 499 -o tree.data -- bash tree.sh
expect_status 0
used=$(awk -F= '/^process_cpu/ { s += $2 } END { print s }' <<<"$out")
close_to children "$(recorded tree.data)" "$used"
is 'nobody else is sampled' "$("$FATHOM" fold -i tree.data | grep -c '^outsider')" 0
is 'children: all of them' \
	"$("$FATHOM" script -i tree.data -F comm,pid | awk '/burn/ { print $NF }' | sort -u | wc -l)" 3

# --- programs that outlive the command, and programs that are none --------------------------------

# ended NAME COMMAND...: the program that it launched is not left over
ended() {
	local name=$1
	shift
	rm -f pid
	"$@" >/dev/null 2>"$err_file"
	ok "$name: ends its program" test -s pid
	not_ok "$name: it is gone" kill -0 "$(cat pid)"
}
cat >stay.sh <<'END'
echo $$ >pid
exec sleep 600
END
ended record "$FATHOM" record -q -o stay.data -d 500ms -- sh stay.sh
ended stacks "$FATHOM" stacks -d 500ms -- sh stay.sh
ended threads "$FATHOM" threads -d 500ms -- sh stay.sh
ended trace "$FATHOM" trace -c 'sh stay.sh' \
	-e 'tracepoint:syscalls:sys_enter_clock_nanosleep /pid == cpid/ { exit(); }'
for command in 'record --' 'stacks --' 'threads --' 'trace -e BEGIN{} -c'; do
	# shellcheck disable=SC2086
	run "$FATHOM" $command no-such-program
	expect_status 127
	# shellcheck disable=SC2086
	run "$FATHOM" $command /etc/passwd
	expect_status 126
done
# What was ignored when we were started is ignored in the program, but for SIGINT: it ends with us.
# What starts the tests may ignore signals, too (nohup, a runner without a terminal), and a shell cannot
# set those back; 32 and 33, which the C library keeps for itself, not even env can.
ignored() {
	run env --default-signal ${1:+"--ignore-signal=$1"} "$FATHOM" record -q -e cpu-clock -o ignored.data -- \
		sed -n 's/^SigIgn:[[:space:]]*//p' /proc/self/status
	printf '%x' $((0x${out:-0} & 0x7fffffff))
}
is 'what was ignored at the start is ignored in the program' "$(ignored INT,HUP,QUIT,PIPE)" 1005
is 'and nothing else' "$(ignored HUP)" 1
is 'what was not ignored is not' "$(ignored)" 0

bash -c 'trap "" INT; exec "$0" record -q -e cpu-clock -o int.data -- sleep 60' "$FATHOM" &
recorder=$!
wait_until pgrep -x -P "$recorder" sleep > /dev/null
kill -INT "$recorder"
wait "$recorder"
is 'a program in the background ends with its recorder' "$?" 130

# nohup: the end of the terminal does not end a recording
bash -c 'trap "" HUP; exec "$0" record -q -e cpu-clock -o hup.data -- sleep 2' "$FATHOM" &
hup=$!
wait_until pgrep -x -P "$hup" sleep > /dev/null
kill -HUP "$hup"
wait "$hup"
is 'a recording goes on when a signal comes that was ignored' "$?" 0
done_testing
