#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
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
seen=$(on_terminal '' runqlat -d 1s -q)
unlike '-q: nothing but the result' "$seen" watching
seen=$(on_terminal '' threads -- sleep 0.1)
unlike 'the terminal is the program'"'"'s' "$seen" watching
done_testing
