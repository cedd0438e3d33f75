#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# fathom serve --peer: charts of other machines, here other servers on this one: over loopback and
# mutual TLS; a peer that vanishes and comes back; peers that are wrong or hostile.
# shellcheck disable=SC2317,SC2154 # functions are given to wait_until; spawned is set by spawn
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
need_cmd python3 curl
cd "$TMP" || exit 1
export TMPDIR=$TMP

is_gone() { ! kill -0 "$1" 2>/dev/null; }
has_begun() { grep -q token "$name.address" || is_gone "$server"; }
serve() { # NAME OPTIONS...: sets server, port, token, url
	name=$1
	: >"$name.address"
	spawn "$FATHOM" serve -q "${@:2}" >"$name.address" 2>"$name.err"
	server=$spawned
	wait_until has_begun
	grep -q token "$name.address" || fail "$name serves" "$(cat "$name.err")"
	port=$(sed -n '1s|https*://[^/]*:\([0-9]*\)/.*|\1|p' "$name.address")
	token=$(sed -n '1s/.*token=\([0-9a-f]*\).*/\1/p' "$name.address")
	url=http://127.0.0.1:$port
	echo "$token" >"$name.token"
}
# A server keeps its port until it has ended, and the next one here takes the same.
end() { # PID...
	local pid
	kill -INT "$@"
	for pid; do wait_until is_gone "$pid" || fail "$pid ends"; done
}
# free ports, which nobody else on this machine takes by chance
ports=$(python3 -c 'import socket
s = [socket.socket() for _ in range(3)]
for one in s: one.bind(("127.0.0.1", 0))
print(*[one.getsockname()[1] for one in s])')
read -r port_a port_b port_c <<<"$ports"

ask() { curl -sS -m 20 -H "Authorization: Bearer $page_token" "$page$1"; }
# The stream is what connects: a page.
look() {
	spawn curl -sN -o "$1" -H "Authorization: Bearer $page_token" "$page/api/v1/stream"
	looking=$spawned
}
state() { ask /api/v1/peers | python3 -c '
import json, sys
p = json.load(sys.stdin)["peers"][int(sys.argv[1]) - 1]
print(p["state"], p.get("why", ""))' "$1"; }
# Leaves it in $seen: a moment later it may be another one, as when a peer is tried again.
is_state() {
	seen=$(state "$1")
	[[ $seen =~ $2 ]]
}
has_frames() { [ "$(ask "/api/v1/peers/$1/history" | wc -l)" -ge "$2" ]; }

serve other --listen "127.0.0.1:$port_a" --role view --no-past-stacks
other=$server
serve page --listen "127.0.0.1:$port_b" --no-past-stacks --peer "127.0.0.1:$port_a" --peer-token other.token
page=$url page_token=$token page_server=$server
is 'nobody looks: it rests' "$(state 1)" 'resting '
look stream.out
wait_until is_state 1 '^live'
is 'somebody looks: it is live' "$seen" 'live '
wait_until has_frames 1 2
like 'its frames are kept' "$(ask /api/v1/peers/1/history | head -1)" '^\{"t":[0-9]+,"s":'
like 'and passed on' "$(cat stream.out)" 'event: peerframe'
like 'with our own beside them' "$(cat stream.out)" '^data: \{"t":'
like 'what it is' "$(ask /api/v1/peers)" '"about":.*"charts":\[\{"id":"cpu"'
like 'its clock' "$(ask /api/v1/peers)" '"clock":\{"ahead_ms":-?[0-9.]+(e-[0-9]+)?,"error_ms":[0-9.]+'
like 'its clock is ours' "$(ask /api/v1/peers | python3 -c '
import json, sys
c = json.load(sys.stdin)["peers"][0]["clock"]
print("good" if abs(c["ahead_ms"]) <= c["error_ms"] + 1 else c)')" good
like 'there is no other' "$(ask /api/v1/peers/2/history)" 'no such peer'
like 'without a token nothing is said' "$(curl -sS "$page/api/v1/peers")" 'no token'

end "$other"
wait_until is_state 1 '^gone'
like 'it is gone, and why' "$seen" '^gone (connection refused|it has closed|connection reset)'
like 'since when' "$(ask /api/v1/peers)" '"since":[0-9]{13}'
before=$(ask /api/v1/peers/1/history | wc -l)
ok 'its past is kept' test "$before" -ge 2
serve other --listen "127.0.0.1:$port_a" --role view --no-past-stacks
wait_until is_state 1 'answers 401'
like 'a token of before is refused, and that is said' "$seen" '^gone it answers 401: no token, or a wrong one'
end "$page_server" "$looking" "$server"

# two that look at each other come to rest when nobody looks at them
serve one --listen "127.0.0.1:$port_a" --no-past-stacks --peer "127.0.0.1:$port_b"
one=$server
serve page --listen "127.0.0.1:$port_b" --no-past-stacks --peer "127.0.0.1:$port_a" --peer-token one.token
page=$url page_token=$token page_server=$server
look stream.out
wait_until is_state 1 '^live'
is 'a page on the one' "$seen" 'live '
page=http://127.0.0.1:$port_a page_token=$(cat one.token)
is 'does not make the other one look back' "$(state 1)" 'resting '
end "$one" "$page_server" "$looking"

# --- mutual TLS ---------------------------------------------------------------------------------
if command -v openssl >/dev/null; then
	certificate() { # NAME SUBJECT-NAMES [CA]
		openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$1.key" -subj "/CN=$1" -addext "$2" \
			-days 30 ${3:+-CA "$3.pem" -CAkey "$3.key"} -x509 -out "$1.pem" 2>>openssl.err
	}
	certificate ca basicConstraints=critical,CA:TRUE
	certificate server subjectAltName=IP:127.0.0.1 ca
	certificate client subjectAltName=DNS:someone ca
	certificate elsewhere subjectAltName=DNS:elsewhere.example ca
	cat client.pem client.key >both.pem
	serve other --listen "127.0.0.1:$port_a" --role view --no-past-stacks --tls-cert server.pem --tls-key server.key --tls-client-ca ca.pem
fi
if command -v openssl >/dev/null && ! grep -qE 'has no TLS|needs the library' other.err; then
	other=$server
	serve elsewhere --listen "127.0.0.1:$port_c" --no-past-stacks --tls-cert elsewhere.pem --tls-key elsewhere.key
	serve page --listen "127.0.0.1:$port_b" --no-past-stacks --peer "https://127.0.0.1:$port_a" --peer "https://127.0.0.1:$port_c" \
		--peer-ca ca.pem --peer-cert both.pem
	page=$url page_token=$token page_server=$server
	look stream.out
	wait_until is_state 1 '^live'
	is 'a certificate in place of a token' "$seen" 'live '
	wait_until has_frames 1 1
	ok 'frames come over TLS' has_frames 1 1
	wait_until is_state 2 '^gone'
	like 'a certificate of another name is refused' "$seen" '^gone TLS: .*mismatch'
	end "$page_server" "$looking" "$other"
else
	skip 'mutual TLS: no openssl, or no TLS in this build'
fi

# --- peers that are hostile ---------------------------------------------------------------------
cat >hostile.py <<'END'
import socket, sys, threading, time

about = b'{"schema":1,"host":"<script>alert(1)</script>\\u001b[31m","now":%d,"charts":[]}'
frame = b'{"t":%d,"s":1,"c":[],"p":[[1,"<img src=x>\\u001b[2J",1,2,3,4,5]]}'


def answer(body):
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body


def now():
    return int(time.time() * 1000)


def request(s):
    got = b""
    while b"\r\n\r\n" not in got:
        piece = s.recv(4096)
        if not piece:
            return b""
        got += piece
    return got


def greet(s, past=b""):
    for _ in range(3):
        request(s)
        s.sendall(answer(about % now()))
    request(s)
    s.sendall(answer(past))
    request(s)
    s.sendall(b"HTTP/1.1 200 OK\r\n\r\nevent: hello\ndata: {}\n\n")


def flood(s):
    greet(s)
    while True:
        s.sendall(b"data: " + frame % now() + b"\n\n")
        time.sleep(0.002)


def long_line(s):
    greet(s)
    while True:
        s.sendall(b"x" * 65536)


def long_head(s):
    while True:
        s.sendall(b"x" * 65536)


def large(s):
    request(s)
    s.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n")
    time.sleep(60)


def nonsense(s):
    request(s)
    s.sendall(answer(b'{"host":[1],"now":"x","charts":{}}'))
    time.sleep(60)


def ahead(s):
    greet(s)
    s.sendall(b"data: " + frame % (now() + 3600000) + b"\n\n")
    time.sleep(60)


def markup(s):
    greet(s, frame % (now() - 2000) + b"\n")
    while True:
        s.sendall(b"event: job\ndata: {\n\ndata: " + frame % now() + b"\n\n")
        time.sleep(1)


kinds = [flood, long_line, long_head, large, nonsense, ahead, markup]
ports = []


def run(kind, s):
    try:
        kind(s)
    except OSError:
        pass
    s.close()


def listen(kind, server):
    while True:
        s, _ = server.accept()
        threading.Thread(target=run, args=(kind, s), daemon=True).start()


for kind in kinds:
    server = socket.create_server(("127.0.0.1", 0))
    ports.append(server.getsockname()[1])
    threading.Thread(target=listen, args=(kind, server), daemon=True).start()
print(*ports, flush=True)
time.sleep(300)
END
spawn python3 hostile.py >ports
wait_until test -s ports
peers=()
for p in $(cat ports); do peers+=(--peer "127.0.0.1:$p"); done
serve page --listen "127.0.0.1:$port_b" --no-past-stacks "${peers[@]}"
page=$url page_token=$token page_server=$server
http_side=$(pgrep -P "$server" -x fathom-http)
look stream.out
expected() { # NUMBER TEXT PATTERN
	wait_until is_state "$1" "$3"
	like "$2" "$seen" "$3"
}
expected 1 'more frames than it should' 'more than [0-9]+ frames a second'
expected 2 'a line without an end' 'a line of more than'
expected 3 'a head without an end' 'does not speak'
expected 4 'an answer without an end' 'does not speak'
expected 5 'an answer of another form' 'of an unknown form'
expected 6 'frames of the future' 'clock or ours was set'
expected 7 'one that is a peer, with names that are markup' '^live'
wait_until has_frames 7 2
unlike 'no escape sequence comes through' "$(cat stream.out; ask /api/v1/peers; ask /api/v1/peers/7/history)" '\\u001b|'$'\e'
unlike 'its events are not ours' "$(cat stream.out)" 'event: job'
wait_until grep -q '^data: {"t":' stream.out
like 'the page still has its own frames' "$(cat stream.out)" '^data: \{"t":'
is 'the HTTP side has not crashed' "$(pgrep -P "$page_server" -x fathom-http)" "$http_side"
memory=$(awk '/^Rss:/ { print $2 }' "/proc/$http_side/smaps_rollup" 2>/dev/null || echo 0)
grep -q asan <<<"$FATHOM" || ok 'and stays small' test "$memory" -lt 40000
end "$page_server" "$looking"

# --- what cannot be started ---------------------------------------------------------------------
refused() { # TEXT PATTERN OPTIONS...
	run "$FATHOM" serve --listen "127.0.0.1:$port_b" "${@:3}"
	unlike "$1: it does not start" "$status" '^0$'
	like "$1" "$err" "$2"
}
printf 'bad token\r\nX: y\n' >bad.token
refused 'no encryption on the way' "nothing would be encrypted on the way to '192.0.2.7:7777'" --peer http://192.0.2.7:7777
like 'the hint says how' "$err" 'ssh -L 8001:localhost:7777 192.0.2.7'
refused 'no address' "'a b' is not the address of a peer" --peer 'a b'
refused 'a token that is none' "first line of 'bad.token' is not a token" --peer 127.0.0.1 --peer-token bad.token
refused 'no such token file' "'none.token'.*no such file" --peer 127.0.0.1 --peer-token none.token
refused 'tokens for others' '2 files of --peer-token for 1 peers' --peer 127.0.0.1 --peer-token bad.token --peer-token bad.token
done_testing
