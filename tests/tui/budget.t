#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# A budget that is not enough: fathom top looks less often and says so; tools begin at that pace.
# shellcheck disable=SC2317 # functions are called by wait_until
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
# shellcheck source=tests/lib/tmux.sh
. "$(dirname "$0")/../lib/tmux.sh"

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
