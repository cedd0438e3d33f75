#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# A budget that is not enough: fathom top looks less often and says so; tools begin at that pace.
# shellcheck source=tests/lib/test.sh disable=SC2317 # functions are called by wait_until
. "$(dirname "$0")/../lib/test.sh"

need_root
need_cmd tmux
export HOME=$TMP TERM=xterm-256color LC_ALL=C.UTF-8
unset NO_COLOR TMUX

tm() { tmux -S "$TMP/tmux" -f /dev/null "$@"; }
screen() { tm capture-pane -p -t top; }
shows() { screen | grep -qE -- "$1"; }
waits_for() {
	wait_until shows "$1" && return
	diag "$(screen)"
	return 1
}
trap 'tm kill-server 2>/dev/null; test_end' EXIT
tm new-session -d -s top -x 120 -y 40 "exec $FATHOM top --interval 200ms --budget 0.001 2>$TMP/err"

ok 'looks are fewer, and the screen says so' waits_for 'own [0-9.]+%, looks every [0-9.]+ s'
if "$FATHOM" tools --csv block | grep -q '^biolatency,yes'; then
	tm send-keys -t top 6
	ok 'a tool begins at that pace' waits_for 'latency of requests in the last [0-9]+ s, by disk'
else
	skip 'biolatency does not work here' 1
fi
tm send-keys -t top 5
ok 'waits are shown nevertheless' waits_for 'BLOCKED% +RUNQ%'
tm send-keys -t top q
done_testing
