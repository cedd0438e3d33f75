#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# fathom top on a real terminal: keys, mouse, resizes, and the terminal as it was on every way out.
# shellcheck disable=SC2317 # functions are called by wait_until
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
# shellcheck source=tests/lib/tmux.sh
. "$(dirname "$0")/../lib/tmux.sh"
"$FATHOM" version 2>/dev/null | grep -q 'ncurses' || diag 'version does not name ncurses'

# Loading the sampler and reading names take long on a slow machine.
export WAIT_SECONDS=90

# open NAME WxH WORDS...: a shell in which fathom top runs
open() {
	local name=$1 size=$2
	shift 2
	tm new-session -d -s "$name" -x "${size%x*}" -y "${size#*x}" \
		bash --norc -c "export TERM=xterm-256color; set -m; stty -g >$TMP/$name.before; $*; status=\$?
		while jobs -p | grep -q .; do wait_for_fg=\$(cat $TMP/fifo); fg; status=\$?; done
		echo \$status >$TMP/$name.status; stty -g >$TMP/$name.after; echo ended; exec sleep 300"
}
pid_of() { # the process that runs in the pane, below its shell
	pgrep -P "$(tm list-panes -t "$1" -F '#{pane_pid}')" -x fathom
}
restored() { # NAME TEXT
	wait_until test -s "$TMP/$1.after"
	is "$2: the terminal is as it was" "$(cat "$TMP/$1.after")" "$(cat "$TMP/$1.before")"
	ok "$2: the screen is that of the shell" wait_until eval "screen $1 | grep -q ended"
	not_ok "$2: and nothing of ours is left on it" eval "screen $1 | grep -q COMMAND"
}
mkfifo "$TMP/fifo"

# Other tests have processes of this name at the same time: ours is found by its number.
spawn "$WORKLOADS/burn" --seconds 300 c=1

open top 80x24 "$FATHOM top --interval 300ms --filter 'pid = $spawned'"
ok 'it comes up' waits_for '2 Processes'
ok 'with the process that works' waits_for '[0-9]+ root .* /'
tm send-keys -t top '?'
ok '? explains the figure' waits_for 'from: sum_exec_runtime'
tm send-keys -t top Escape
tm send-keys -t top F1
ok 'F1 lists keys' waits_for 'narrow every screen'
tm send-keys -t top Escape
# from start to the guilty function: three keys
tm send-keys -t top Enter
ok 'Enter narrows to the process' waits_for "machine . $spawned burn"
ok 'and shows its threads' waits_for 'TID'
tm send-keys -t top 3
ok '3: its functions' waits_for '[0-9.]+ +[0-9.]+ burn +\[\.\] c$'
tm send-keys -t top Enter
ok 'Enter: who calls it' waits_for 'CALLED FROM'
ok 'and its source lines' waits_for '[0-9.]+ .*(burn.c|workload.h):[0-9]+'
tm send-keys -t top Escape
ok 'Esc goes back' waits_for 'FUNCTION'
tm send-keys -t top 4
ok '4: its flame graph' waits_for 'samples of .* all: 100.0%'
ok 'with main at the bottom' waits_for 'main'
# from CPU time to waits, to both
tm send-keys -t top o
waits_for '(waits, |nothing was waited for|waits are watched)' >/dev/null
tm send-keys -t top o
ok 'o, o: what it does on CPUs beside what it waits for' waits_for 'time of threads in a second: [0-9.]+.?s on CPUs'
ok 'with the function that it is in' waits_for 'on CPUs [0-9.]+%'
tm send-keys -t top o
ok 'o: CPU time again' waits_for 'samples of .* all: 100.0%'
tm send-keys -t top Escape
ok 'Esc goes back to all processes' waits_for '2 Processes'
# the mouse: a click on a tab, a click on a heading
tm send-keys -t top -l $'\033[<0;2;1M'
tm send-keys -t top -l $'\033[<0;2;1m'
ok 'a click on a tab opens it' waits_for '1 Overview'
tm send-keys -t top 2
waits_for '2 Processes'
# resizes
tm resize-window -t top -x 200 -y 60
ok 'a larger window is filled' waits_for '9 Interrupts'
for size in '20 5' '1 1' '150 10' '33 44' '80 24'; do
	# shellcheck disable=SC2086 # two words
	set -- $size
	tm resize-window -t top -x "$1" -y "$2"
done
ok 'a storm of resizes is survived' waits_for 'Tasks: [0-9]+'
is 'the frame has the size of the window' "$(screen top | head -1 | grep -c '1All  2 Processes 3Func ')" 1
# stopped and continued
tm send-keys -t top C-z
pid=$(pid_of top)
stopped() { grep -q '^State:.*T' "/proc/$pid/status"; }
ok 'Ctrl-Z stops it' wait_until stopped
echo go >"$TMP/fifo"
clock() { screen top | grep -oE '[0-9:]{8}' | head -1; }
before=$(clock)
goes_on() { [ "$(clock)" != "$before" ]; }
ok 'it comes back' wait_until goes_on
ok 'as it was' waits_for '2 Processes'
tm send-keys -t top p
ok 'p stops time' waits_for PAUSED
tm send-keys -t top '['
ok 'and [ goes back in it' waits_for 'look [0-9]+ of [0-9]+'
tm send-keys -t top q
restored top q
is 'with status 0' "$(cat "$TMP/top.status")" 0

# other ways out
for signal in TERM HUP INT; do
	open "$signal" 80x24 "$FATHOM top --interval 300ms"
	wait_until eval "screen $signal | grep -q Processes"
	kill -"$signal" "$(pid_of "$signal")"
	restored "$signal" "SIG$signal"
done
open SEGV 80x24 "$FATHOM top --interval 300ms"
wait_until eval "screen SEGV | grep -q Processes"
kill -SEGV "$(pid_of SEGV)"
restored SEGV 'a crash'

# a recording
"$FATHOM" record -q -o "$TMP/x.data" -- "$WORKLOADS/burn" --seconds 1 c=1 >/dev/null
open plain 80x24 "$FATHOM report -i $TMP/x.data --no-pager"
ok 'report on a terminal offers the browser' wait_until eval "screen plain | grep -q 'report --tui'"
open report 80x24 "$FATHOM report -i $TMP/x.data --tui"
ok 'report --tui browses a file' wait_until eval "screen report | grep -qE '\[\.\] c$'"
tm send-keys -t report Enter
ok 'down to the callers' wait_until eval "screen report | grep -q 'CALLED FROM'"
tm send-keys -t report q
restored report 'q in a recording'

# terminals that cannot
TERM=dumb open dumb 80x24 "TERM=dumb $FATHOM top"
ok 'a dumb terminal is answered with what works' wait_until eval "screen dumb | grep -q -- '--once prints one frame'"
open wrong 80x24 "TERM=no-such-terminal $FATHOM top"
ok 'an unknown one, too' wait_until eval "screen wrong | grep -q 'terminfo does not know'"
open tiny 20x5 "$FATHOM top --interval 300ms"
ok '20x5 is enough' wait_until eval "screen tiny | grep -q 'PID'"
tm send-keys -t tiny q
restored tiny 'q in 20x5'
done_testing
