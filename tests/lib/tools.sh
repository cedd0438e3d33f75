# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
#
# Tools against workloads whose truth is known. Source it after test.sh; then there are:
#
#	traced TOOL 'OPTIONS' 'WORKLOAD'   runs the workload (a line of shell) while the tool looks on;
#	                                   rows are in $rows, what it said in $said. A tool that
#	                                   this kernel has nothing for is skipped; false then.
#	traced_until EXPRESSION TOOL 'OPTIONS' 'WORKLOAD'
#	                                   the same, again while the expression does not hold, at most
#	                                   three times: for what the machine may not do the first time
#	figure NAME EXPRESSION             Python: rows (list of dicts, of streams and tables),
#	                                   hists (list), total(key, **equal), some(**equal), unseen:
#	                                   the events that the tool reports as lost or missed,
#	                                   workload: the lines "NAME NUMBER" that the workload wrote
#
# $PID is not known before the workload runs; it writes it to $TMP/pid where a test needs it.
# $TOOL_KEY in the environment of the workload is of no meaning to it.
rows=$TMP/rows
said=$TMP/said
PYTHON=/usr/bin/python3
[ -x "$PYTHON" ] || PYTHON=python3

traced() {
	local tool=$1 pid
	: >"$said"
	# shellcheck disable=SC2086
	"$FATHOM" "$tool" $2 -v --json >"$rows" 2>"$said" &
	pid=$!
	if ! wait_until tool_ready $pid || ! kill -0 $pid 2>/dev/null; then
		wait $pid
		traced_status=$?
		# some have said all at once
		[ $traced_status -ne 0 ] || return 0
		if [ $traced_status -eq 3 ]; then
			skip "$tool: $(head -1 "$said")"
		else
			fail "$tool starts" "$(head -5 "$said")"
		fi
		return 1
	fi
	bash -c "$3" >"$TMP/workload.out" 2>&1 || diag "the workload failed: $(head -3 "$TMP/workload.out")"
	sleep 0.3
	kill -INT $pid 2>/dev/null
	wait $pid
	traced_status=$?
	[ $traced_status -eq 0 ] || fail "$tool ends with 0" "$traced_status: $(cat "$said")"
}

tool_ready() { grep -q 'probes are attached' "$said" || ! kill -0 "$1" 2>/dev/null; }

traced_until() {
	local try expression=$1
	shift
	for try in 1 2 3; do
		traced "$@" || return
		[ "$(evaluate "$expression")" != true ] || return 0
		diag "$1, run $try: not yet $expression"
	done
	return 0
}

# Prints "true", or the value and what there was.
evaluate() {
	"$PYTHON" - "$rows" "$1" "$said" "$TMP/workload.out" 2>&1 <<-'END'
	import json, os, re, sys
	rows, hists = [], []
	for line in open(sys.argv[1], errors="replace"):
	    o = json.loads(line)
	    if "schema" not in o:
	        if o.keys() != {"type", "data"}:
	            rows.append(o)
	        continue
	    rows += o.get("rows", [])
	    for v in o.values():
	        if isinstance(v, list) and v and isinstance(v[0], dict) and "buckets" in v[0]:
	            hists += v
	said = open(sys.argv[3], errors="replace").read()
	unseen = sum(int(n) for n in re.findall(r"^fathom: (\d+) .*(?:lost|missed|full)", said, re.M))
	workload = {w[0]: int(w[1]) for w in map(str.split, open(sys.argv[4], errors="replace"))
	            if len(w) == 2 and w[1].isdigit()} if os.path.exists(sys.argv[4]) else {}
	def match(r, equal):
	    return all(r.get(k) == v for k, v in equal.items())
	def some(**equal):
	    return [r for r in rows if match(r, equal)]
	def total(key, **equal):
	    return sum(r[key] or 0 for r in some(**equal))
	value = eval(sys.argv[2])
	if value is True or (value and value is not False):
	    print("true")
	else:
	    print(repr(value), "of", len(rows), "rows:", *[json.dumps(r) for r in (rows + hists)[:8]], sep="\n")
	    print("said:", said[-1000:])
	END
}

figure() {
	local got
	got=$(evaluate "$2")
	if [ "$got" = true ]; then pass "$1"; else fail "$1" "$2: $got"; fi
}
