#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# fathom serve over TLS: handshakes of other programs, what is refused, certificates of clients.
# shellcheck disable=SC2317,SC2154 # functions are given to wait_until; spawned is set by spawn
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
need_cmd python3 curl openssl
cd "$TMP" || exit 1
export TMPDIR=$TMP

certificate() { # NAME SUBJECT-NAMES [CA]
	openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$1.key" -subj "/CN=$1" -addext "$2" \
		-days 30 ${3:+-CA "$3.pem" -CAkey "$3.key"} -x509 -out "$1.pem" 2>>openssl.err
}
certificate ca basicConstraints=critical,CA:TRUE
certificate server subjectAltName=DNS:box.example,IP:127.0.0.1 ca
certificate client subjectAltName=DNS:someone ca
certificate stranger basicConstraints=critical,CA:TRUE
openssl ec -in server.key -aes128 -passout pass:x -out locked.key 2>>openssl.err
cat server.pem server.key >both.pem

has_begun() { grep -q token address || ! kill -0 "$server" 2>/dev/null; }
serve() {
	: >address
	spawn "$FATHOM" serve "$@" >address 2>serve.err
	server=$spawned
	wait_until has_begun
	port=$(sed -n '1s|https*://[^/]*:\([0-9]*\)/.*|\1|p' address)
	token=$(sed -n '1s/.*token=\([0-9a-f]*\).*/\1/p' address)
}
serve --listen 0.0.0.0 --tls-cert server.pem --tls-key server.key --tls-client-ca ca.pem --role profile
grep -qE 'has no TLS|needs the library' serve.err && plan_skip "$(head -1 serve.err)"
url=https://127.0.0.1:$port
get() { curl -sS -m 20 --cacert ca.pem "$@"; }

like 'the address names the host of the certificate' "$(cat address)" "^https://box.example:$port/#token="
like 'curl reads over TLS' "$(get -H "Authorization: Bearer $token" "$url/api/v1/about")" '"schema":1'
like 'by the name of the certificate' \
	"$(get --resolve "box.example:$port:127.0.0.1" -H "Authorization: Bearer $token" "https://box.example:$port/api/v1/about")" '"schema":1'
like 'a large answer is whole' "$(get -H "Authorization: Bearer $token" "$url/metrics" | tail -1)" '^# EOF'
like 'the stream goes over TLS' "$(get -m 6 -N -H "Authorization: Bearer $token" "$url/api/v1/stream" 2>/dev/null)" '"c":\['
like 'a token is needed' "$(get "$url/api/v1/about")" 'no token'
like 'a post of the same origin is taken' \
	"$(get -d '{}' -H "Origin: $url" -H "Authorization: Bearer $token" "$url/api/v1/jobs/77/stop")" 'no such job'
like 'a certificate of a client is as good as a token' "$(get --cert client.pem --key client.key "$url/api/v1/about")" '"role":"profile"'
get --cert stranger.pem --key stranger.key "$url/api/v1/about" >stranger.out 2>&1
unlike 'one that nobody signed is not' "$(cat stranger.out)" schema

hello() { openssl s_client -connect "127.0.0.1:$port" -CAfile ca.pem "$@" </dev/null 2>&1; }
like 'openssl agrees on TLS 1.3' "$(hello)" 'TLSv1\.3'
like 'and has checked the certificate' "$(hello)" 'Verify return code: 0'
like 'TLS 1.2 is possible' "$(hello -tls1_2)" 'ECDHE-ECDSA'
for old in tls1 tls1_1; do
	unlike "$old is refused" "$(hello "-$old" -cipher ALL:@SECLEVEL=0)" 'Cipher is [A-Z]*-'
done
unlike 'a cipher without forward secrecy is refused' "$(hello -tls1_2 -cipher AES128-SHA)" 'Cipher is AES'
like 'http in place of https is explained' "$(curl -sS -m 10 "http://127.0.0.1:$port/" 2>&1)" 'speaks TLS only'

# clients that greet by halves are ended, others are served meanwhile
cat >halves.py <<'END'
import os, socket, ssl, sys, time
port = int(sys.argv[1])
whole = ssl.MemoryBIO()
context = ssl._create_unverified_context()
begun = context.wrap_bio(ssl.MemoryBIO(), whole)
try:
    begun.do_handshake()
except ssl.SSLWantReadError:
    pass
hello = whole.read()
half = [socket.create_connection(("127.0.0.1", port)) for _ in range(30)]
for s in half:
    s.sendall(hello[: len(hello) // 2])
junk = socket.create_connection(("127.0.0.1", port))
junk.sendall(b"\x16\x03\x01\x02\x00" + os.urandom(512))
late = context.wrap_socket(socket.create_connection(("127.0.0.1", port)))
late.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
answer = b""
while piece := late.recv(65536):
    answer += piece
print("served", answer.startswith(b"HTTP/1.1 200"))
slow = half[0]
end = time.time() + 60
while time.time() < end:
    try:
        slow.sendall(hello[len(hello) // 2 :][:1])
        slow.settimeout(0.5)
        if not slow.recv(100):
            break
    except socket.timeout:
        continue
    except OSError:
        break
print("ended", time.time() < end)
END
RUN_TIMEOUT=120
run python3 halves.py "$port"
expect_out 'served True'
expect_out 'ended True'
like 'it still answers' "$(get -H "Authorization: Bearer $token" "$url/api/v1/about")" '"schema":1'
if [ "$(id -u)" = 0 ]; then
	kill -SEGV "$(pgrep -P "$server" -x fathom-http)"
	wait_until get -f -o page.html "$url/"
	ok 'a crash of the HTTP side is survived' test -s page.html
fi
kill -INT "$server"

serve --listen 127.0.0.1 --tls-cert both.pem
like 'certificate and key in one file' "$(get -H "Authorization: Bearer $token" "https://127.0.0.1:$port/api/v1/about")" '"schema":1'
kill -INT "$server"

static=$TOP/build/static/fathom
if [ -x "$static" ]; then
	spawn "$static" serve --tls-cert both.pem >address 2>serve.err
	server=$spawned
	wait_until has_begun
	port=$(sed -n '1s|https*://[^/]*:\([0-9]*\)/.*|\1|p' address)
	wait_until get -f -o static.html "https://127.0.0.1:$port/"
	ok 'the static program speaks TLS by itself' test -s static.html
	kill -INT "$server"
else
	skip 'the static program is not built'
fi

refused() { # TEXT PATTERN OPTIONS...
	run "$FATHOM" serve --listen 0.0.0.0 "${@:3}"
	is "$1: it does not start" "$status" 1
	like "$1" "$err" "$2"
}
echo nonsense >bad.pem
refused 'no encryption' 'nothing would be encrypted'
like 'the hint says how' "$err" 'hint: give --tls-cert'
refused 'a wrong key' "key 'client.key' does not belong to certificate 'server.pem'" --tls-cert server.pem --tls-key client.key
refused 'no such key' "'none.key'.*no such file" --tls-cert server.pem --tls-key none.key
refused 'a file that is no certificate' "cannot use certificate 'bad.pem'" --tls-cert bad.pem --tls-key server.key
refused 'a key with a passphrase' "cannot use key 'locked.key'" --tls-cert server.pem --tls-key locked.key
refused 'a key alone' 'needs --tls-cert' --tls-key server.key
refused 'no authorities' "'none.pem'.*no such file" --tls-cert both.pem --tls-client-ca none.pem
done_testing
