#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A storm of short processes: compiles, git, python, shells, hundreds that live under 50 ms. Of
# those with three samples or fewer, how many have only complete stacks; with a warm cache of tables
# and with an empty one. STORM_ROUNDS sets how long it blows.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_root
need_cmd python3 git gcc
need_file "$WORKLOADS/forks"
cd "$TMP" || exit 1

for i in $(seq 40); do
	echo "int f$i(int *p, int n) { for (int i = 0; i < n; i++) p[i] ^= i * $i; return n; }"
done >small.c
git init -q repo
git -C repo -c user.name=x -c user.email=x@x commit -q --allow-empty -m x
cat >storm.sh <<'END'
for i in $(seq "$2"); do
	gcc -O1 -c small.c -o small.o
	git -C repo log --oneline
	git -C repo status --short
	/usr/bin/python3 -c 'print(sum(range(1000)))'
	sh -c 'ls -l / | sort | head -n 3'
	awk 'BEGIN { for (i = 0; i < 20000; i++) s += i; print s }'
	"$1" 20
	expr "$i" + 1
done
END

# shares FILE: processes, those with few samples, the percentage of those that are complete
shares() {
	"$FATHOM" stacks -i "$1" --json | python3 -c '
import json, sys
rows = [r for r in json.load(sys.stdin)["processes"] if r["user_stacks"] and r["pid"]]
few = [r for r in rows if r["user_stacks"] <= 3]
good = [r for r in few if r["complete"] == r["user_stacks"]]
for r in few:
    if r not in good:
        print("#", r["pid"], r["comm"], r["ended"], file=sys.stderr)
print(len(rows), len(few), "%.1f" % (100.0 * len(good) / len(few) if few else 0))'
}

storm() { # CACHE LEAST NAME OPTION...
	local cache=$1 least=$2 name=$3
	shift 3
	XDG_CACHE_HOME=$cache RUN_TIMEOUT=180 run "$FATHOM" record -e cpu-clock -F 999 -o storm.data -f \
		"$@" -- sh storm.sh "$WORKLOADS/forks" "${STORM_ROUNDS:-15}"
	expect_status 0 "$name: recorded"
	diag "$(grep -E 'samples|stacks' <<<"$err")"
	read -r all few good <<<"$(shares storm.data 2>reasons)"
	ok "$name: a storm it is ($all processes with samples, $few with 3 or fewer)" test "$few" -gt 50
	if awk -v a="$good" -v b="$least" 'BEGIN { exit !(a >= b) }'; then
		pass "$name: $good % of those are complete"
	else
		fail "$name: $good % of those are complete" "wanted at least $least %"
	fi
	diag "$(sort reasons | head -n 5)"
}

storm "$TMP/cache" 85 "cold, the whole machine" -a
storm "$TMP/cache" 95 "warm, the whole machine" -a
storm "$TMP/cache2" 85 "cold, one tree of processes"
storm "$TMP/cache2" 95 "warm, one tree of processes"

done_testing
