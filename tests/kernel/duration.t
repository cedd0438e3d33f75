#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
#
# Every command that takes time ends after --duration; where -d is something else, the documents say so.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_root
cd "$TMP" || exit 1
doc=$TOP/docs/program.md

# Rows of its table: `command`, ... | `-d` is
"$FATHOM" help >commands.txt
other=
for command in $(grep -oE '^  +[a-z][a-z_-]+' commands.txt | sort -u); do
	"$FATHOM" "$command" --help >help.txt 2>/dev/null || continue
	grep -qE '^ +-d, --[a-z]' help.txt || continue
	grep -qE '^ +-d, --duration' help.txt && continue
	other+=" $command"
	ok "$command: that -d is not the duration is documented" grep -qE "^\|.*\`$command\`.* \| .*[a-z].* \| .+ \|$" "$doc"
	[ "$command" = probe ] || ok "... and it has --duration" grep -q -- '--duration TIME' help.txt
done
like 'commands with another -d are found' "$other" ' stat.* top'

for command in dstat free ifstat iostat iotop irqtop mpstat netstat numastat pidstat sar slabtop uptime \
	use vmstat; do
	run timeout 60 "$FATHOM" "$command" --duration 200ms
	expect_status 0 "$command --duration ends"
done
run timeout 60 "$FATHOM" vmstat --duration 250ms 100ms --csv
ok 'vmstat: since boot, two intervals, and what is left' [ "$(grep -c '^[0-9]' "$out_file")" -ge 3 ]
run timeout 60 "$FATHOM" counters --duration 200ms --interval 100ms cpu.user
expect_status 0 'counters --duration ends'
run timeout 60 "$FATHOM" stat -a --duration 200ms
expect_status 0 'stat --duration ends'
run timeout 60 "$FATHOM" bpftrace --duration 200ms -e 'BEGIN { }'
expect_status 0 'bpftrace --duration ends'
"$FATHOM" record -q --counters=100ms -o counters.data -d 1s
all=$("$FATHOM" vmstat -i counters.data --csv | wc -l)
few=$("$FATHOM" vmstat -i counters.data --duration 300ms --csv | wc -l)
ok "of a recording: the first 300 ms ($few of $all lines)" [ "$few" -gt 1 -a "$few" -lt "$all" ]
if command -v script >/dev/null; then
	TERM=xterm timeout 60 script -qec "'$FATHOM' top --duration 500ms" screen.txt </dev/null >/dev/null
	is 'top ends' $? 0
else
	skip 'no script(1)'
fi
done_testing
