#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# fathom top on terminals that are poor, slow or wrong: what is drawn, what is said, what is left.
# shellcheck source=tests/lib/test.sh disable=SC2317 # functions are called by wait_until
. "$(dirname "$0")/../lib/test.sh"

need_root
need_cmd tmux
export HOME=$TMP LC_ALL=C.UTF-8
unset NO_COLOR TMUX
tm() { TERM=xterm-256color tmux -S "$TMP/tmux" -f /dev/null "$@"; }
screen() { tm capture-pane -p -t "$1"; }
trap 'tm kill-server 2>/dev/null; test_end' EXIT
open() { # NAME WxH WORDS...
	local name=$1 size=$2
	shift 2
	tm new-session -d -s "$name" -x "${size%x*}" -y "${size#*x}" \
		bash --norc -c "$*; echo status \$?; exec sleep 300"
}
waits_for() { # NAME TEXT
	wait_until eval "screen $1 | grep -qE -- '$2'" && return
	diag "$(screen "$1")"
	return 1
}

# no TERM, no entry, no file of entries
open unset 80x24 "unset TERM; $FATHOM top"
ok 'TERM unset: the way out is named' waits_for unset '--once prints one frame'
ok 'with a status of its own' waits_for unset 'status 3'
mkdir "$TMP/empty"
open noinfo 80x24 "TERM=no-such TERMINFO=$TMP/empty TERMINFO_DIRS=$TMP/empty $FATHOM top"
ok 'no terminfo: said, with what to set' waits_for noinfo 'terminfo does not know'
open other 80x24 "TERM=vt100 $FATHOM top --interval 300ms"
ok 'a terminal without colours is drawn' waits_for other 'PID'
tm send-keys -t other q
ok 'and left' waits_for other 'status 0'
open ascii 80x24 "LC_ALL=C NO_COLOR=1 TERM=xterm $FATHOM top --interval 300ms --ascii"
ok 'NO_COLOR and --ascii' waits_for ascii 'PID'
# tmux gives only what differs from its own default
tm capture-pane -p -e -t ascii >"$TMP/ascii"
not_ok 'no colours are written' grep -qE $'\033\\[([0-9;]*;)?[34][0-8]' "$TMP/ascii"
not_ok 'and nothing beyond ASCII' eval "screen ascii | LC_ALL=C grep -q '[^ -~]'"

# a storm of resizes, to sizes without room for anything
open storm 80x24 "TERM=xterm-256color $FATHOM top --interval 200ms"
waits_for storm 'PID' >/dev/null
for size in '20 5' '1 1' '300 2' '2 90' '10 10' '250 80' '7 3' '80 24'; do
	# shellcheck disable=SC2086 # two words
	set -- $size
	tm resize-window -t storm -x "$1" -y "$2"
	tm send-keys -t storm Tab
done
tm send-keys -t storm 2
ok 'a storm of resizes with keys' waits_for storm '2 Processes'

# names: escape sequences, wide characters, right to left
mkdir "$TMP/names"
for name in $'esc\033[2J\033]0;x\007' '宽字符进程' 'שלום' $'bad\xff\xfe'; do
	cp /bin/sleep "$TMP/names/$name"
	spawn "$TMP/names/$name" 300
done
open names 160x30 "TERM=xterm-256color $FATHOM top --interval 300ms --filter names/"
ok 'wide characters are drawn' waits_for names '宽字符进程'
ok 'right to left, too' waits_for names 'שלום'
ok 'escape sequences are made visible' waits_for names 'esc.x1b'
is 'the frame stays whole' "$(screen names | grep -c ' 2 Processes ')" 1

# keys that arrive late and in pieces, as over a slow line: an escape sequence is cut in two
open slow 80x24 "TERM=xterm-256color $FATHOM top --interval 300ms"
waits_for slow 'PID' >/dev/null
tm send-keys -t slow -l $'\033'
tm send-keys -t slow -l '[B'
tm send-keys -t slow -l 'pp'
ok 'keys in pieces do not end it' waits_for slow '2 Processes'

# the terminal goes away
open gone 80x24 "TERM=xterm-256color $FATHOM top --interval 300ms"
waits_for gone 'PID' >/dev/null
pid=$(pgrep -P "$(tm list-panes -t gone -F '#{pane_pid}')" -x fathom)
tm kill-session -t gone
ended() { [ ! -d "/proc/$1" ] || grep -q '^State:.*Z' "/proc/$1/status"; }
ok 'without its terminal it ends' wait_until ended "$pid"
done_testing
