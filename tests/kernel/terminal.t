#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# On a terminal, who looks says so while it looks; elsewhere nothing but the result is written.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_root
need_cmd python3
export TERM=xterm PAGER=

# on_terminal TEXT WORDS... : Ctrl-C when TEXT is there; '' is never
on_terminal() {
	timeout -k 5 60 python3 "$TOP/tests/lib/on_terminal.py" 500 "$1" "$FATHOM" "${@:2}"
}

gone=$'\r\033\\[K'
ends='^status [04]$' # 4: in so short a time nothing may happen
for words in offcpu runqlat 'sched latency'; do
	# shellcheck disable=SC2086 # words are words
	seen=$(on_terminal 'shows the result' $words)
	like "$words says that it looks, until Ctrl-C" "$seen" "${gone}watching\\.\\.\\. Ctrl-C ends it"
	like "$words: the line goes" "$seen" "result(\^C)?${gone}"
	like "$words: it ends" "$seen" "$ends"
done
for words in stacks cpudist; do
	# shellcheck disable=SC2086 # words are words
	seen=$(on_terminal '' $words -d 1s)
	like "$words says for how long" "$seen" "${gone}watching for 1 s"
	like "$words: it ends" "$seen" "$ends"
	# shellcheck disable=SC2086 # words are words
	run "$FATHOM" $words -d 200ms --json
	unlike "$words elsewhere: nothing but the result" "$err" watching
done
# Errors are filled there, and stay lines elsewhere.
time='no time, but a text that has this many words that no line of a terminal has room for all of them'
seen=$(on_terminal '' offcpu -d "$time")
like 'an error goes on below, indented' "$seen" '^  [a-z]'
not_ok 'errors keep to the terminal' grep -Eq '^.{81}' <<<"$seen"
run "$FATHOM" offcpu -d "$time"
expect_err "'$time'" 'elsewhere it is a line'
# -d 0 is no limit, for all of them
for words in 'offcpu -d 0' 'threads -d 0' "explain -p $$ -d 0" 'runqlat -d 0' 'sched latency -d 0' 'stacks -d 0'; do
	# shellcheck disable=SC2086 # words are words
	seen=$(on_terminal 'shows the result' $words)
	like "$words: until Ctrl-C" "$seen" "${gone}watching\\.\\.\\. Ctrl-C ends it"
	like "$words: it ends" "$seen" "$ends"
done
for words in "record -d 0 -o $TMP/x.data" 'funccount -d 0 t:sched:sched_switch'; do
	# shellcheck disable=SC2086,SC2016 # words are words; for the shell inside
	run sh -c 'timeout -s INT 3 "$@"; [ $? -eq 124 ]' sh "$FATHOM" $words
	expect_status 0 "$words: until it is ended"
done

# A program that prints only at its end is reported as running; one that prints speaks for itself.
seen=$(on_terminal 'shows the result' trace -e 'tracepoint:sched:sched_switch { @ = count(); }')
like 'trace says that it looks' "$seen" "${gone}watching 1 probe\\.\\.\\. Ctrl-C ends it"
like 'trace: the line goes before the result' "$seen" "result(\\^C)?${gone}"
like 'trace: the result' "$seen" '@: [0-9]+'
seen=$(on_terminal '' trace -e 'BEGIN { printf("here\n"); } interval:s:1 { exit(); }')
like 'a program that prints' "$seen" here
unlike '... speaks for itself' "$seen" watching
seen=$(on_terminal '' trace -c 'sleep 1' -e 'interval:s:10 { }')
unlike 'trace -c: the terminal is the program'"'"'s' "$seen" watching
run "$FATHOM" trace -e 'interval:s:1 { exit(); }'
unlike 'trace elsewhere: nothing but the result' "$err$out" watching
seen=$(on_terminal '' runqlat -d 1s -q)
unlike '-q: nothing but the result' "$seen" watching
seen=$(on_terminal '' threads -- sleep 0.1)
unlike 'the terminal is the program'"'"'s' "$seen" watching
done_testing
