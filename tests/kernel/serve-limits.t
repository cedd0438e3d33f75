#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# fathom serve at its limits: a full disk, ten thousand connections.
# shellcheck disable=SC2317 # functions are given to wait_until
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
need_root
need_cmd python3 curl
cd "$TMP" || exit 1

ask() { curl -sS -m 20 --unix-socket "$TMP/socket" "$@"; }
state_of() { ask http://localhost/api/v1/jobs | python3 -c '
import json, sys
job = next(j for j in json.load(sys.stdin)["jobs"] if j["job"] == int(sys.argv[1]))
print(job["state"], job.get("error", ""))' "$1"; }
is_over() { state_of "$1" | grep -qE '^(done|failed)'; }
begin() { ask -d "$1" http://localhost/api/v1/record | sed -n 's/^{"job":\([0-9]*\),.*/\1/p'; }

# --- a full disk -------------------------------------------------------------------------------
mkdir small
full_disk() {
	local job
	spawn env TMPDIR="$TMP/small" "$FATHOM" serve --budget 0 --unix "$TMP/socket" >address 2>serve.err
	wait_until grep -q '^unix:' address
	head -c 8M /dev/zero >small/filler 2>/dev/null
	for body in '{"seconds":1}' '{"seconds":1,"kind":"offcpu"}' '{"seconds":1,"kind":"sched"}'; do
		job=$(begin "$body")
		wait_until is_over "$job"
		# which step meets the full disk first depends on the machine; each says its reason
		like "a full disk: $body" "$(state_of "$job")" \
			'^failed .*(no space left on device|cannot (write|create|open|map)|ended by signal|ended with status)'
	done
	like 'the tools say it, too' "$(ask -d '{"tool":"syscount","seconds":1}' http://localhost/api/v1/tools/run)" 'no space left on device'
	rm small/filler
	mount -o remount,size=64m small
	job=$(begin '{"seconds":1}')
	wait_until is_over "$job"
	like 'with room again the next recording is done' "$(state_of "$job")" '^done'
	kill -INT "$spawned"
	wait "$spawned" 2>/dev/null
	umount small
}
if mount -t tmpfs -o size=256k none small 2>mount.err; then
	full_disk
else
	skip "no tmpfs can be mounted here: $(cat mount.err)"
fi

# --- who is there to record for ------------------------------------------------------------------
spawn "$FATHOM" serve -q --role view --share profile >address 2>serve.err
server=$spawned
wait_until grep -q '(profile)' address
watch() { # ROLE: sets watches
	local url
	: >"$1.stream"
	url=$(sed -n "s/  ($1)\$//p" address)
	spawn curl -sN -o "$1.stream" -H "Authorization: Bearer ${url#*token=}" "${url%%#*}api/v1/stream"
	watches=$spawned
}
has_frames() { [ "$(grep -c '^data: .*"c":' "$1.stream")" -ge "$2" ]; }
recorders() { pgrep -P "$server" -x fathom | wc -l; }
are_recorders() { [ "$(recorders)" = "$1" ]; }
watch view
wait_until has_frames view 3
is 'for a page that may only look nothing is attached' "$(recorders)" 0
watch profile
wait_until are_recorders 2
is 'for one that may record, the recorder of the past and latencies of disks' "$(recorders)" 2
wait_until has_frames profile 3
has_latency() { grep -q '"c":.*{"[0-9]*":[0-9.]*[,}]' view.stream; }
write() { dd if=/dev/zero of="$TMP/written" bs=4k count=16 oflag=direct conv=fsync 2>/dev/null; has_latency; }
if dd if=/dev/zero of="$TMP/written" bs=4k count=1 oflag=direct 2>/dev/null; then
	ok 'whose figures are in the frames' wait_until write
else
	skip 'no direct writes here'
fi
kill "$watches"
WAIT_SECONDS=90
ok 'a minute after it has left nothing is attached again' wait_until are_recorders 0
WAIT_SECONDS=30
kill -INT "$server"

# --- ten thousand connections ------------------------------------------------------------------
spawn "$FATHOM" serve -q --unix "$TMP/socket" >address 2>serve.err
server=$spawned
wait_until grep -q '^unix:' address
port=$(sed -n '1s|http://[^:]*:\([0-9]*\)/.*|\1|p' address)
token=$(sed -n '1s/.*token=\([0-9a-f]*\).*/\1/p' address)
cat >crowd.py <<'E2'
import http.client, os, resource, socket, subprocess, sys
port, token, server = int(sys.argv[1]), sys.argv[2], sys.argv[3]
most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
try:
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(most, 10100), max(most, 10100)))
except (ValueError, PermissionError):
    sys.exit(77)
headers = {"Authorization": "Bearer " + token}
def about(c):
    c.request("GET", "/api/v1/about", headers=headers)
    answer = c.getresponse()
    answer.read()
    return answer.status
real = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
print("before", about(real))
crowd = []
for i in range(10000):
    s = socket.socket()
    s.settimeout(10)
    s.connect(("127.0.0.1", port))
    if i % 3 == 0:
        try:
            s.send(b"GET / HTTP/1.1\r\nHost: loc")
        except OSError:
            pass
    crowd.append(s)
print("kept", about(real))
print("fresh", about(http.client.HTTPConnection("127.0.0.1", port, timeout=30)))
http_side = subprocess.check_output(["pgrep", "-P", server, "-x", "fathom-http"], text=True).strip()
print("descriptors", len(os.listdir(f"/proc/{http_side}/fd")))
rss = [l for l in open(f"/proc/{http_side}/status") if l.startswith("VmRSS")][0]
print("kilobytes", rss.split()[1])
E2
RUN_TIMEOUT=120
run python3 crowd.py "$port" "$token" "$server"
figure() { sed -n "s/^$1 //p" <<<"$out"; }
if [ "$status" = 77 ]; then
	skip 'ten thousand descriptors are not allowed here'
else
	expect_status 0
	is 'a client is served before ten thousand come' "$(figure before)" 200
	is 'its connection outlives them' "$(figure kept)" 200
	is 'a new client is served among them' "$(figure fresh)" 200
	ok "connections are bounded: $(figure descriptors) descriptors" test "$(figure descriptors)" -le 540
	ok "memory is bounded: $(figure kilobytes) kB" test "$(figure kilobytes)" -le 100000
fi
kill -INT "$server"
done_testing
