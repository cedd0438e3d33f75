#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
#
# Stacks of node: its compiled code keeps frame pointers, the rest of it has frame information.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_cmd node
need_sampler

cat >"$TMP/work.js" <<'END'
function leaf(n) { let t = 0; for (let i = 0; i < n; i++) t += Math.sqrt(i * n); return t; }
function middle(n) { return [1, 2, 3].map(x => leaf(n + x)).reduce((a, b) => a + b); }
function main() {
	for (;;) {
		middle(2000);
		JSON.stringify({ a: [1, 2, 3], b: 'x'.repeat(100) });
	}
}
main();
END

for options in '' '--perf-basic-prof --interpreted-frames-native-stack'; do
	name="node${options:+ $options}"
	# shellcheck disable=SC2086
	result=$(cd "$TMP" && "$sampler" 4 node $options work.js 2>"$err_file")
	read -r _ user root _ <<<"$(tail -n 1 <<<"$result")"
	diag "$name: ${root:-0} of ${user:-0} complete; $(grep '^#' <<<"$result" | tr '\n' ' ')"
	if [ "${user:-0}" -lt 100 ]; then
		fail "$name: stacks are complete" "only ${user:-0} samples: $(cat "$err_file")"
		continue
	fi
	ok "$name: 99 % of the stacks are complete" test $((root * 1000)) -ge $((user * 990))
done

# Code without a name says whose it is and what would name it; code with one keeps it in the
# recording, also when the map is gone.
for options in '' '--perf-basic-prof'; do
	# shellcheck disable=SC2086
	(cd "$TMP" && exec node $options work.js) &
	pid=$!
	wait_until is_running "$pid" node
	runs_for "$pid" 70
	run "$FATHOM" record -q -e cpu-clock -F 499 -p "$pid" -d 2s -o "$TMP/node.data" --force
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
	rm -f "/tmp/perf-$pid.map"
	for command in report stacks; do
		run "$FATHOM" "$command" -i "$TMP/node.data"
		if [ -n "$options" ]; then
			# but for a sample or two that are older than the line that names their code
			unlike "$command: names were kept" "$(flat "$out $err")" '[0-9]{2} frames of run-time code'
			unlike "$command: nor does it miss a map" "$(flat "$out $err")" 'no perf map names it'
		else
			like "$command: says whose the code is" "$(flat "$out $err")" \
				"run-time code \\(node, process $pid\\) have no name"
			like "$command: says what names it" "$(flat "$out $err")" 'hint: .*--perf-basic-prof'
		fi
	done
	run "$FATHOM" fold -i "$TMP/node.data"
done
like 'names of compiled functions stay in the recording' "$out" '(JS|LazyCompile|Function):[*~^+]*(leaf|middle|main)'
done_testing
