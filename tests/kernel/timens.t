#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
#
# Fathom in a time namespace, as in a container that was moved: its clocks are not those of the
# kernel's records. Lengths, the time of day and ages are as outside.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_root
need_cmd unshare python3
away=(unshare -T --monotonic 100000 --boottime 5000)
"${away[@]}" true 2>/dev/null || plan_skip "no time namespaces"
cd "$TMP" || exit 1
ahead=$("${away[@]}" cut -d' ' -f1 /proc/uptime)
ok 'the clock is another one' [ $((${ahead%.*} - $(cut -d. -f1 /proc/uptime))) -gt 4000 ]

# near WHAT FILE.json FACT SECONDS: a length in ns of at most so many seconds
near() {
	ok "$1" python3 -c '
import json, sys
got = json.load(open(sys.argv[1]))["facts"][sys.argv[2]] / 1e9
sys.exit(not 0 < got <= float(sys.argv[3]))' "$2" "$3" "$4"
}

began=$(date +%s)
run "${away[@]}" "$FATHOM" record -q --off-cpu -e cpu-clock -F 499 -o waits.data -- \
	sh -c 'sleep 0.2; i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done'
expect_status 0
"$FATHOM" offcpu -i waits.data --json >waits.json
near 'waits of a recording: their time' waits.json duration_ns $(($(date +%s) - began + 1))
"$FATHOM" report -i waits.data --json >report.json
near 'samples of a recording: their time' report.json duration_ns $(($(date +%s) - began + 1))
started=$(python3 -c 'import json; print(json.load(open("report.json"))["facts"]["started"] // 10**9)')
ok 'the time of day' [ "$started" -ge $((began - 1)) -a "$started" -le $((began + 30)) ]

began=$(date +%s)
run "${away[@]}" "$FATHOM" offcpu --json -- sleep 0.3
expect_status 0
near 'offcpu' "$out_file" duration_ns $(($(date +%s) - began + 1))

run "${away[@]}" "$FATHOM" trace -d 5s -e \
	'interval:ms:100 { printf("%llu %s\n", elapsed / 1000000, strftime("%s", nsecs)); exit(); }'
expect_status 0
read -r elapsed clock <<<"$out"
ok "trace: elapsed is since the start ($elapsed ms)" [ "$elapsed" -ge 90 -a "$elapsed" -le 20000 ]
now=$(date +%s)
ok 'trace: strftime() is the time of day' [ "$clock" -ge $((now - 30)) -a "$clock" -le $((now + 1)) ]

began=$(date +%s)
run "${away[@]}" "$FATHOM" strace --json -- true
expect_status 0
ok 'strace: the time of day' python3 - "$out_file" "$began" <<'P'
import json, sys
text = open(sys.argv[1]).read()
result, _ = json.JSONDecoder().raw_decode(text[text.index("{"):])
rows = next(v for v in result.values() if isinstance(v, list) and v)
when = rows[0]["time_ns"]
sys.exit(not (when and -1 <= when / 1e9 - int(sys.argv[2]) <= 30))
P

spawn sleep 100
for without in '' 1; do
	run env ${without:+FATHOM_NO_BPF_TASKS=1} "${away[@]}" "$FATHOM" top --once --json --filter "pid = $spawned"
	age=$(sed -n 's/^ *"age": *\([0-9]*\),*$/\1/p' <<<"$out")
	ok "the age of a process${without:+ from /proc} ($age ns)" \
		[ "${age:-0}" -gt 0 -a "${age:-0}" -lt 600000000000 ]
done
done_testing
