# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# For tests of full-screen commands in a terminal of tmux's; sourced after test.sh.

need_root
need_cmd tmux
export HOME=$TMP TERM=xterm-256color LC_ALL=C.UTF-8
unset NO_COLOR TMUX

tm() { tmux -S "$TMP/tmux" -f /dev/null "$@"; }
# screen [NAME]
# shellcheck disable=SC2120 # tests give the name
screen() { tm capture-pane -p -t "${1:-top}"; }
shows() { screen | grep -qE -- "$1"; }
# waits_for PATTERN; what the screen shows instead is said.
waits_for() {
	wait_until shows "$1" && return
	diag "instead of '$1':" "$(screen)"
	return 1
}
trap 'tm kill-server 2>/dev/null; test_end' EXIT
