#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fathom serve: chains and time lines of each target, differences, the budget of a recording, the queue.
# shellcheck disable=SC2317 # functions are given to wait_until
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
need_root
need_cmd python3 curl
need_file "$WORKLOADS/burn"
cd "$TMP" || exit 1
export TMPDIR=$TMP
WAIT_SECONDS=90

serve() {
	: >address
	spawn "$FATHOM" serve -q --unix "$TMP/socket" "$@" >address 2>serve.err
	server=$spawned
	wait_until grep -q '^unix:' address
}
ask() { curl -sS -m 20 --unix-socket "$TMP/socket" "$@"; }
# Eight at once, then two a second may begin something: each part below stays under that.
post() { ask -d "$2" "http://localhost/api/v1/$1"; }
begin() { post "$@" | sed -n 's/^{"job":\([0-9]*\),.*/\1/p'; }
# "STATE NOTE ERROR" of a job.
about() { ask http://localhost/api/v1/jobs | python3 -c '
import json, sys
job = next(j for j in json.load(sys.stdin)["jobs"] if j["job"] == int(sys.argv[1]))
print(job["state"], job.get("note", ""), job.get("error", ""))' "$1"; }
is_over() { about "$1" | grep -qE '^(done|failed)'; }

is_state() { about "$1" | grep -q "^$2"; }

# --- every target --------------------------------------------------------------------------------
# a process that waits for another one all the time
cat >wait.py <<'END'
import os, threading, time
there, back = os.pipe(), os.pipe()
def answer():
    while True:
        os.write(back[1], os.read(there[0], 1))
threading.Thread(target=answer, daemon=True).start()
while True:
    os.write(there[1], b"x")
    os.read(back[0], 1)
    time.sleep(0.002)
END
serve --budget 0
spawn python3 wait.py
waits=$spawned
groups=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
leave_group() { [ -z "$own_group" ] || { kill -KILL "$waits"; wait_until rmdir "$own_group"; } 2>/dev/null; }
own_group=
if [ -n "$groups" ] && mkdir "$groups/fathom-test-$$" 2>/dev/null; then
	own_group=$groups/fathom-test-$$
	echo "$waits" >"$own_group/cgroup.procs"
fi
group=$(sed -n 's/^0:://p' "/proc/$waits/cgroup")
draw() { # KIND TARGET-JSON NAME
	local job
	job=$(begin record "{\"kind\":\"$1\",\"seconds\":1,\"target\":$2}")
	[ -n "$job" ] || { fail "$3" 'no job'; return; }
	wait_until is_over "$job"
	like "$3" "$(about "$job")" '^done'
	ask -o page "http://localhost/api/v1/jobs/$job/result?as=html"
	like "$3: a page" "$(head -c 200 page)" '<!doctype html>|<!DOCTYPE html>'
	[ "$1" = sched ] || like "$3: its heading" "$(grep -o '<title>[^<]*' page)" "^<title>Chains of wakers of .*$4"
}
for kind in chain sched; do
	draw $kind '"machine"' "$kind of the machine" "$(uname -n), 20"
	draw $kind "\"process\",\"id\":$waits" "$kind of a process" "process $waits on $(uname -n), 20"
	draw $kind "\"thread\",\"id\":$waits" "$kind of a thread" "thread $waits on "
done
if [ -n "$group" ]; then
	for kind in chain sched; do
		draw $kind "\"cgroup\",\"cgroup\":\"$group\"" "$kind of a control group" "$group on "
	done
else
	skip 'no control groups of version 2 here'
fi
like 'a time line of the past is refused with a reason' "$(post record '{"kind":"sched","from":1000,"to":2000}')" \
	'switches are not kept of the past'
like 'so is a thread without a number' "$(post record '{"kind":"sched","target":"thread"}')" "'id' is missing"
sleep 30 &
asleep=$!
job=$(begin record "{\"seconds\":1,\"target\":\"process\",\"id\":$asleep}")
wait_until is_over "$job"
like 'a process that does not run says so' "$(about "$job")" '^failed .*nothing was recorded: the target did not run'
kill "$asleep"
leave_group
kill -KILL "$waits" 2>/dev/null

# --- differences ---------------------------------------------------------------------------------
like 'a difference of jobs that are not there' "$(post diff '{"job":98,"other":99}')" 'job 98 has no recording'
like 'a time line has nothing to compare' "$(post diff '{"job":4,"other":4}')" 'job 4 has no recording'
like 'a difference of nothing' "$(post diff '{}')" 'the end of a span is not after its begin'
like 'spans that nothing is known of' "$(post diff '{"from":1,"to":2,"before_from":3,"before_to":4}')" 'nothing is known of that time'
kill -INT "$server"
wait "$server" 2>/dev/null

# --- tools ---------------------------------------------------------------------------------------
serve --budget 0
spawn "$WORKLOADS/burn" --seconds 60 a=100
burns=$spawned
tool() { # TOOL SECONDS: sets job, when it is over
	job=$(begin tools/run "{\"tool\":\"$1\",\"seconds\":$2}")
	wait_until is_over "$job"
}
facts() { ask http://localhost/api/v1/jobs | grep -o "\"job\":$job,[^}]*"; }
tool profile 2
like 'a tool whose rows have stacks has a picture of them' "$(facts)" '"state":"done".*"picture":true'
like 'which is a page' "$(ask "http://localhost/api/v1/jobs/$job/result?as=html" | head -c 200)" '<!doctype html>|<!DOCTYPE html>'
like 'and its rows' "$(ask "http://localhost/api/v1/jobs/$job/result?as=json")" '"rows":\[\{.*"user":"[^"]*work;a'
kill "$burns"
tool tcpdrop 1
like 'without a stack there is none, and it is no failure' "$(facts)" '"state":"done".*"picture":false'
like 'but its rows' "$(ask "http://localhost/api/v1/jobs/$job/result?as=json")" '"columns"'
like 'types of columns come with the list of tools' "$(ask http://localhost/api/v1/tools | tr -d ' \n')" \
	'"columns":\[\{"key":"disk","type":"string","unit":null\},\{"key":"stack","type":"stack"'
kill -INT "$server"
wait "$server" 2>/dev/null

# --- the queue -----------------------------------------------------------------------------------
serve --budget 0
first=$(begin record '{"seconds":60}')
wait_until is_state "$first" recording
last=$first
for _ in 1 2 3 4; do last=$(begin record '{"seconds":1}'); done
like 'four wait' "$(about "$last")" '^queued'
like 'a fifth is refused' "$(post record '{"seconds":1}')" '4 recordings wait already.*"hint"'
like 'what waits can be stopped' "$(post "jobs/$last/stop" '{}')" 'stopped before it began'
post "jobs/$first/stop" '{}' >/dev/null
wait_until is_over "$first"
like 'what is stopped early is drawn' "$(about "$first")" '^done'
wait_until is_over "$((last - 1))"
like 'the next ones have their turn' "$(about "$((last - 1))")" '^done'
kill -INT "$server"
wait "$server" 2>/dev/null

# --- the budget ----------------------------------------------------------------------------------
# any recording takes more than this
serve --budget 0.0001
job=$(begin record '{"seconds":60,"hz":99}')
wait_until is_over "$job"
like 'a recording over its budget is stopped, drawn, and says so' "$(about "$job")" \
	'^done stopped: recording took [0-9.]*% of all CPUs for 5 s, more than the budget of'
kill -INT "$server"
done_testing
