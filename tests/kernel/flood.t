#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Events that come faster than they are shown: whoever reads them still hears that it has to stop.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_root
cd "$TMP" || exit 1

# stops COMMAND...: it runs until there is output, gets a stop request, and does so within 20 seconds
stops() {
	local pid i
	"$@" >shown 2>said &
	pid=$!
	for ((i = 0; i < 200; i++)); do
		[ -s shown ] && break
		sleep 0.1
	done
	kill -INT $pid
	for ((i = 0; i < 200; i++)); do
		kill -0 $pid 2>/dev/null || break
		sleep 0.1
	done
	if ((i == 200)); then
		kill -KILL $pid
		wait $pid 2>/dev/null
		return 1
	fi
	wait $pid
}

# a second of these is more than what is printed in a second
for _ in 1 2; do
	spawn dd if=/dev/zero of=/dev/null bs=1 count=1000000000 status=none
done
ok "a flood of lines with stacks ends when it gets a stop request" stops "$FATHOM" trace -e \
	'tracepoint:syscalls:sys_enter_read /comm == "dd"/ { printf("%d %s %s\n", pid, comm, ustack()) }'
ok "it had shown something" [ -s shown ]
if [ "$(nproc)" -le 4 ]; then
	like "and says what was lost" "$(cat said)" 'events lost'
else
	skip "many CPUs may print as fast as that"
fi
done_testing
