#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The kernel's unwinder: stacks of workloads and of real programs reach their beginning.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

export XDG_CACHE_HOME=$TMP/cache
need_sampler

# Of 1000 stacks, how many must be complete.
least=990

# sample NAME ARGS...: leaves $samples $user $root $depth $deepest $rescued $lost
sample() {
	local name=$1 result
	shift
	result=$("$sampler" "$@" 2>"$err_file")
	read -r samples user root depth deepest rescued lost micros <<<"$(tail -n 1 <<<"$result")"
	diag "$(printf '%-12s %5d samples, %5d of %5d complete, depth %s (at most %d), %d rescued, %s us' \
		"$name" "${samples:-0}" "${root:-0}" "${user:-0}" "$depth" "$deepest" "$rescued" "$micros")"
	reasons=$(grep '^#' <<<"$result" | tr '\n' ' ')
	diag "$reasons"
}

complete() {
	if [ "${user:-0}" -lt 50 ]; then
		fail "$1: stacks are complete" "only ${user:-0} samples: $(cat "$err_file")"
	else
		ok "$1: stacks are complete" test $((root * 1000)) -ge $((user * least))
	fi
	is "$1: nothing is lost" "$lost" 0
}

sample burn 2 "$WORKLOADS/burn" --seconds 3 a=70 b=30
complete burn
sample deep 2 "$WORKLOADS/deep" 900
complete 'deep recursion'
ok 'deep recursion: more than 900 frames' test "$deepest" -gt 900
sample 'too deep' 1.5 "$WORKLOADS/deep" 3000
is 'too deep: cut at 1024 frames' "$deepest" 1024
sample sigframe 2 "$WORKLOADS/sigframe"
complete 'a signal handler on its own stack'
sample jitlike 2 "$WORKLOADS/jitlike"
complete 'code without a file'
sample cold --cold 2 "$WORKLOADS/burn" --seconds 3 a=70 b=30
complete 'without tables at the start'
ok 'without tables at the start: the first stacks are rescued' test "$rescued" -ge 1

# children that inherit the event
# shellcheck disable=SC2016
sample children 3 sh -c 'for i in 1 2 3 4 5 6; do "$0" --seconds 0.3 a=100; done' "$WORKLOADS/burn"
complete 'children'
unlike 'children: samples know their event' "$reasons" wrong_event

cat >"$TMP/work.py" <<'END'
import json
while True:
    json.loads(json.dumps({str(i): [i] * 10 for i in range(500)}, sort_keys=True))
END
if [ -x /usr/bin/python3 ]; then
	sample python3 2 /usr/bin/python3 "$TMP/work.py"
	complete python3
fi
if command -v perl >/dev/null; then
	# shellcheck disable=SC2016
	sample perl 2 perl -e 'while (1) { @a = sort { $a <=> $b } map { $_ * 7 % 1000 } 1 .. 1000 }'
	complete perl
fi
if command -v xz >/dev/null; then
	sample xz 2 xz -T1 -9e -c "$(command -v node || command -v bash)"
	[ "${user:-0}" -lt 50 ] || complete xz
fi
done_testing
