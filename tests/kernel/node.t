#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Stacks of node: its compiled code keeps frame pointers, the rest of it has frame information.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_root
need_cmd node
sampler=$TOP/build/oracle/unwind_sampler
need_file "$sampler" "$WORKLOADS/burn"
if ! "$sampler" 0.2 "$WORKLOADS/burn" --seconds 0.1 a=100 >"$TMP/try" 2>&1; then
	plan_skip "the sampler does not load here: $(tail -n 1 "$TMP/try")"
fi

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
done_testing
