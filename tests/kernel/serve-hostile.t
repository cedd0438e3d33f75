#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# fathom serve when the process that reads the network was taken over (serve-hostile.py), stands
# still, or has more to ask than there is room for.
# shellcheck disable=SC2317 # functions are given to wait_until
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
need_root
need_cmd python3 curl
cd "$TMP" || exit 1
export TMPDIR=$TMP
WAIT_SECONDS=60

serve() {
	: >address
	spawn "$FATHOM" serve --budget 0 --no-past-stacks --unix "$TMP/socket" "$@" >address 2>serve.err
	server=$spawned
	wait_until grep -q '^unix:' address
	http_side=$(pgrep -P "$server" -x fathom-http)
}
about() { curl -sS -m 20 --unix-socket "$TMP/socket" http://localhost/api/v1/about; }
descriptors() { find "/proc/$1/fd" -lname /dev/null | wc -l; }
is_gone() { ! kill -0 "$1" 2>/dev/null; }
is_replaced() { grep -q 'it is started again' serve.err && about 2>/dev/null | grep -q schema; }
hostile() {
	RUN_TIMEOUT=120
	kill -STOP "$http_side"
	run python3 "$TOP/tests/kernel/serve-hostile.py" "$http_side" "$1"
	expect_status 0
	while read -r line; do
		case $line in
		'ok '*) pass "${line#ok }" ;;
		'not ok '*) fail "${line#not ok }" ;;
		esac
	done <<<"$out"
	[ "$status" = 0 ] || diag "$err"
}

# --- it claims what it may not ------------------------------------------------------------------
serve --role profile
about >/dev/null
before=$(descriptors "$server")
hostile claims
hostile noise
kill -CONT "$http_side"
like 'the page works after that' "$(about)" '"schema":1'
ok 'and no file that came along is kept' test "$(descriptors "$server")" -le "$before"
is 'nothing is recorded' "$(pgrep -P "$server" -x fathom | wc -l)" 0

# --- it reads nothing ---------------------------------------------------------------------------
hostile deaf
wait_until is_replaced
like 'an HTTP side that takes no answers is replaced' "$(cat serve.err)" 'takes no answers'
like 'by one that works' "$(about)" '"schema":1'
http_side=$(pgrep -P "$server" -x fathom-http)

# --- it stands still ----------------------------------------------------------------------------
kill -STOP "$http_side"
kill -INT "$server"
wait_until is_gone "$server"
wait_until is_gone "$http_side"
pass 'Ctrl+C ends it though the HTTP side stands still'

# --- a crowd that asks at once ------------------------------------------------------------------
cat >crowd.py <<'END'
import os, re, signal, socket, sys, time
port, token, http_side = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
crowd = [socket.create_connection(("127.0.0.1", port)) for _ in range(250)]
request = f"GET /api/v1/about HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
time.sleep(0.3)
os.kill(http_side, signal.SIGSTOP)
for s in crowd:
    s.sendall(request)
os.kill(http_side, signal.SIGCONT)
good = 0
for s in crowd:
    s.settimeout(20)
    try:
        good += s.recv(12) == b"HTTP/1.1 200"
    except TimeoutError:
        break
print(good)
END
serve
port=$(sed -n '1s|http://[^:]*:\([0-9]*\)/.*|\1|p' address)
token=$(sed -n '1s/.*token=\([0-9a-f]*\).*/\1/p' address)
RUN_TIMEOUT=60
run python3 crowd.py "$port" "$token" "$http_side"
is 'all of a crowd that asks at once are answered' "$out" 250
kill -INT "$server"
done_testing
