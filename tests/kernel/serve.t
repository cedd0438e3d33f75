#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# fathom serve: who may do what, hostile clients (serve.py), two processes, nothing left behind.
# shellcheck disable=SC2317 # functions are given to wait_until
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
need_root
need_cmd python3 curl setpriv
cd "$TMP" || exit 1
export TMPDIR=$TMP

serve() {
	: >address
	spawn "$FATHOM" serve --budget 0 --unix "$TMP/socket" "$@" >address 2>serve.err
	server=$spawned
	wait_until grep -q '^unix:' address
	port=$(sed -n '1s|http://[^:]*:\([0-9]*\)/.*|\1|p' address)
	token=$(sed -n '1s/.*token=\([0-9a-f]*\).*/\1/p' address)
}
api() { curl -sS -m 20 -H "Authorization: Bearer $token" "$@"; }
job_state() { api "http://127.0.0.1:$port/api/v1/jobs" | grep -o '"state":"[a-z]*"' | tail -1; }
is_done() { [ "$(job_state)" = '"state":"done"' ]; }
http_side() { pgrep -P "$server" -x fathom-http; }
wait_gone() { ! kill -0 "$1" 2>/dev/null; }

serve --share view --share profile --share program
token_of() { sed -n "s/.*token=\([0-9a-f]*\)  ($1)\$/\1/p" address; }
view=$(token_of view)
is 'a token has 128 bits' "${#token}" 32
RUN_TIMEOUT=120
run python3 "$TOP/tests/kernel/serve.py" "$port" "$token" "$view" "$TMP/socket" "$(token_of profile)" "$(token_of program)"
expect_status 0
while read -r line; do
	case $line in
	'ok '*) pass "${line#ok }" ;;
	'not ok '*) fail "${line#not ok }" ;;
	esac
done <<<"$out"
[ "$status" = 0 ] || diag "$err"

# the two processes
pid=$(http_side)
like 'the HTTP side is another user' "$(ps -o user= -p "$pid")" 'nobody|fathom'
is 'it has no capabilities' "$(awk '/^Cap(Prm|Eff|Inh|Amb)/ && $2 !~ /^0+$/' "/proc/$pid/status")" ''
case $FATHOM in
*asan*) skip 'system calls are not filtered in a build with sanitizers' ;;
*) is 'its system calls are filtered' "$(awk '/^Seccomp:/ { print $2 }' "/proc/$pid/status")" 2 ;;
esac
is 'and can get no new privileges' "$(awk '/^NoNewPrivs/ { print $2 }' "/proc/$pid/status")" 1
is 'it has no files but sockets' "$(find "/proc/$pid/fd" -lname '/*' -not -lname '/dev/*' -not -lname "$TMP/serve.err" \
	-not -lname "$TMP/address" | wc -l)" 0
is 'the socket is for its owner' "$(stat -c %a "$TMP/socket")" 600
run setpriv --reuid 65534 --clear-groups curl -sS -m 5 --unix-socket "$TMP/socket" http://localhost/api/v1/about
unlike 'another user sees nothing on it' "$out" schema
run setpriv --reuid 65534 --clear-groups curl -sS -m 5 "http://127.0.0.1:$port/api/v1/about"
unlike 'nor on the port without a token' "$out" schema

nine=0
for cap in 2 5 6 7 19 24 34 38 39; do nine=$((nine | 1 << cap)); done
for set in Bnd Prm; do
	is "the capturing side keeps nine capabilities: $set" \
		$((0x$(awk -v set="Cap$set:" '$1 == set { print $2 }' "/proc/$server/status") & ~nine)) 0
done

# a crash of the HTTP side
kill -SEGV "$pid"
wait_until curl -sf -o /dev/null "http://127.0.0.1:$port/"
like 'a crash of the HTTP side is survived' "$(api "http://127.0.0.1:$port/api/v1/about")" '"schema":1'
like 'and said' "$(cat serve.err)" 'ended by signal 11; it is started again'
like 'what is refused is in the audit log' "$(cat serve.err)" 'audit .* role=none status=401 GET /api/v1/about'
like 'what is begun, too' "$(cat serve.err)" 'audit .* role=trace status=200 POST /api/v1/record'

# hostile names: of a process, on the page and in a recording
cp "$WORKLOADS/burn" './<img src=x>' 2>/dev/null && {
	spawn './<img src=x>' --seconds 60 a=100 >/dev/null
	hostile=$spawned
	api -X POST -d "{\"seconds\":3,\"target\":\"process\",\"id\":$hostile}" "http://127.0.0.1:$port/api/v1/record" >/dev/null
	wait_until is_done
	number=$(api "http://127.0.0.1:$port/api/v1/jobs" | grep -o '"job":[0-9]*' | tail -1 | cut -d: -f2)
	api "http://127.0.0.1:$port/api/v1/jobs/$number/result?as=html" >x.html
	unlike 'a name is no markup in a page' "$(cat x.html)" '<img src'
	api "http://127.0.0.1:$port/api/v1/jobs/$number/result?as=svg" >x.svg
	like 'a result as SVG' "$(head -c 300 x.svg)" '<svg'
	unlike 'nor in a picture' "$(cat x.svg)" '<img src'
	api "http://127.0.0.1:$port/api/v1/jobs/$number/result?as=data" >x.data
	run "$FATHOM" report -i x.data
	expect_status 0
	like 'a result as a recording' "$out" '\[\.\] a'
	api "http://127.0.0.1:$port/api/v1/jobs/$number/result?as=json" >x.json
	ok 'a result as JSON' python3 -m json.tool x.json /dev/null
}

# the end
main=$server
kill -INT "$main"
wait_until wait_gone "$main"
is 'no folder is left' "$(find "$TMP" -maxdepth 1 -name 'fathom-serve-*' | wc -l)" 0
ok 'no socket is left' test ! -e "$TMP/socket"

# the capturing side is killed while it records
serve
api -X POST -d '{"seconds":60}' "http://127.0.0.1:$port/api/v1/record" >/dev/null
wait_until pgrep -P "$server" -x fathom
recorder=$(pgrep -P "$server" -x fathom)
pid=$(http_side)
kill -KILL "$server"
wait_until wait_gone "$recorder"
pass 'a recording ends with the engine'
wait_until wait_gone "$pid"
pass 'and so does the HTTP side'
serve
is 'its folder is removed by the next start' "$(find "$TMP" -maxdepth 1 -name 'fathom-serve-*' | wc -l)" 1

# bad options and addresses
run "$FATHOM" serve --listen "127.0.0.1:$port"
expect_status 1
expect_err 'hint: another program has it'
run "$FATHOM" serve --listen 0.0.0.0:7799
expect_status 1
expect_err 'nothing would be encrypted'
run "$FATHOM" serve --listen nowhere
expect_status 2
run "$FATHOM" serve --share everything
expect_status 2
kill -INT "$server"

# one recording, read-only
"$FATHOM" record -q -F 199 -o once.data -- "$WORKLOADS/burn" --seconds 1 a=100 >/dev/null
serve --once once.data
wait_until is_done
like 'one recording is shown' "$(api "http://127.0.0.1:$port/api/v1/jobs/1/result?as=json")" '"a"'
like 'nothing of the machine is' "$(api "http://127.0.0.1:$port/metrics")" 'only a recording'
like 'and nothing is recorded' "$(api -X POST -d '{}' "http://127.0.0.1:$port/api/v1/record")" 'without the privileges'
ok 'it can be saved as it is' cmp once.data <(api "http://127.0.0.1:$port/api/v1/jobs/1/result?as=data")
kill -INT "$server"
run "$FATHOM" serve --once no-such-file
expect_status 1
expect_err no-such-file

# a socket that systemd opened
cat >activate.py <<'END'
import os, socket, sys
s = socket.create_server(("127.0.0.1", 0))
open("activated", "w").write(str(s.getsockname()[1]))
os.dup2(s.fileno(), 3)
os.set_inheritable(3, True)
os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()))
os.execv(sys.argv[1], [sys.argv[1], "serve"])
END
spawn python3 activate.py "$FATHOM" >address 2>serve.err
wait_until grep -q token address
token=$(sed -n '1s/.*token=\([0-9a-f]*\).*/\1/p' address)
like 'a socket of systemd is used' "$(api "http://127.0.0.1:$(cat activated)/api/v1/about")" '"schema":1'
like 'and its port is printed' "$(cat address)" ":$(cat activated)/"

# documents
for path in $("$FATHOM" serve --openapi | grep -oE '"/[^"]*": ' | tr -d '": '); do
	like "docs/serve.md has $path" "$(grep -F "$path" "$TOP/docs/serve.md")" .
done

# without privileges charts work, recordings say why not
chmod 755 "$TMP"
mkdir -m 777 theirs
spawn setpriv --reuid 65534 --regid 65534 --clear-groups env TMPDIR="$TMP/theirs" "$FATHOM" serve --unix "$TMP/theirs/socket" >address 2>serve.err
wait_until grep -q '^unix:' address
port=$(sed -n '1s|http://[^:]*:\([0-9]*\)/.*|\1|p' address)
token=$(sed -n '1s/.*token=\([0-9a-f]*\).*/\1/p' address)
like 'without privileges the page says what it cannot do' "$(api "http://127.0.0.1:$port/api/v1/about")" '"may_record":false,"why_not"'
like 'a recording is refused' "$(api -X POST -d '{}' "http://127.0.0.1:$port/api/v1/record")" 'without the privileges'
like 'charts work' "$(curl -sS -m 4 -N -H "Authorization: Bearer $token" "http://127.0.0.1:$port/api/v1/stream" 2>/dev/null)" '"c":\[\['
done_testing
