#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
#
# lock, kmem and kwork on recordings: work by construction, and pairs counted another way.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_root
need_cmd python3
cd "$TMP" || exit 1

cat >work.py <<'END'
import os, socket
for i in range(5000):
    os.close(os.eventfd(0))
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("127.0.0.1", 0))
for i in range(2000):
    s.sendto(b"z", s.getsockname())
    s.recv(10)
END
cat >table.py <<'END'
import json, sys
r = json.load(open(sys.argv[1]))
rows, lost = r["rows"], r["losses"].get("lost")
assert eval(sys.argv[2]), (lost, rows[:5])
END
table() { ok "$1" python3 table.py "$out_file" "$2"; }

# --- memory: one call site, 5,000 times ---------------------------------------------------------
run "$FATHOM" record -q -c 1 -m 16M --call-graph=none -e kmem:kmalloc -e kmem:kmem_cache_alloc \
	-e kmem:kfree -e kmem:kmem_cache_free -o kmem.data -- python3 work.py
expect_status 0
run "$FATHOM" kmem -i kmem.data --json
expect_status 0
table '5,000 objects of one call site' \
	'lost or [r for r in rows if "eventfd" in r["callsite"] and r["hits"] == 5000 and 0 < r["asked"] <= r["given"]]'
table 'most bytes first' '[r["given"] for r in rows] == sorted((r["given"] for r in rows), reverse=True)'
run "$FATHOM" kmem --cross -i kmem.data --json
table 'objects that another CPU frees are some of them' \
	'all(0 <= r["cross"] <= r["hits"] for r in rows)'
cat >pages.py <<'END'
import mmap
m = mmap.mmap(-1, 16 << 20)
for at in range(0, 16 << 20, 4096):
    m[at] = 1
m.close()
END
run "$FATHOM" kmem --page --top 0 --json -- python3 pages.py
expect_status 0
table 'live: 4,096 pages of shared memory, all of them given back' \
	'(lambda own: r["losses"]["hits_missed"] or (4096 <= sum(r["hits"] for r in own) < 4200 and
	 sum(r["given"] for r in own) == sum(r["freed"] for r in own) + sum(r["held"] for r in own) and
	 sum(r["freed"] for r in own) >= 16 << 20))([r for r in rows if r["order"] == 0 and "shmem" in r["stack"]])'
run "$FATHOM" kmem --page -i kmem.data
expect_status 2
expect_err '--page has no meaning for a recording'
run "$FATHOM" kmem -i kmem.data --top 3 -o three.txt
expect_status 0
is 'a heading and three rows in a file' "$(wc -l <three.txt)" 4

# --- work: each packet to oneself is a soft interrupt -------------------------------------------
run "$FATHOM" record -q -a -c 1 -m 16M --call-graph=none -e 'irq:*' -e 'workqueue:*' -o kwork.data \
	-- python3 work.py
expect_status 0
run "$FATHOM" kwork -i kwork.data --json
expect_status 0
table '2,000 packets are as many soft interrupts' \
	'lost or sum(r["count"] for r in rows if r["name"] == "net_rx") >= 2000'
table 'times fit' 'all(r["worst"] <= r["time"] <= r["worst"] * r["count"] for r in rows)'
run "$FATHOM" kwork --latency -i kwork.data --json
expect_status 0
table 'waits before soft interrupts' \
	'lost or sum(r["count"] for r in rows if r["name"] == "net_rx") >= 2000'

# --- locks: the position of one file ------------------------------------------------------------
cat >offset.py <<'END'
# one description of a file: its position is behind a mutex
import os, time
f = os.open("blob", os.O_RDWR | os.O_CREAT)
os.write(f, b"x" * (1 << 16))
r, w = os.pipe()
for i in range(8):
    if os.fork() == 0:
        os.close(w)
        os.read(r, 1)  # until all are there
        end = time.monotonic() + 1.5
        for turn in range(4000):
            os.read(f, 65536)
            os.lseek(f, 0, 0)
            if turn > 200 and time.monotonic() > end:
                break
        os._exit(0)
os.close(w)
for i in range(8):
    os.wait()
END
cat >pairs.py <<'END'
# begins and ends of the same lock by the same thread; for a mutex one spins, sleeps, and spins again
import re, sys
open_, pairs, total = {}, 0, 0
for line in open(sys.argv[1]):
    m = re.search(r"\s(\d+) \[\d+\]\s+(\d+)\.(\d+): +lock:contention_(begin|end): (0x[0-9a-f]+) \((.*)\)", line)
    if not m:
        continue
    key, now = (m[1], m[5]), int(m[2]) * 10**9 + int(m[3].ljust(9, "0"))
    if m[4] == "begin":
        flags = set(m[6].replace("flags=", "").split("|"))
        started, before = open_.get(key, (now, set()))
        same = before ^ flags == {"SPIN"} and "MUTEX" in flags
        open_[key] = (started if same else now, flags)
    elif key in open_:
        pairs += 1
        total += now - open_.pop(key)[0]
print(pairs, total)
END
if "$FATHOM" list lock:contention_begin | grep -q contention_begin; then
	run "$FATHOM" record -q -c 1 -m 16M -e lock:contention_begin -e lock:contention_end \
		-o lock.data -- python3 offset.py
	expect_status 0
	"$FATHOM" script -i lock.data --ns >script.txt
	read -r pairs total < <(python3 pairs.py script.txt)
	diag "$pairs pairs, $total ns"
	for by in '' --lock-addr --threads; do
		# shellcheck disable=SC2086
		run "$FATHOM" lock $by -i lock.data --json
		if [ "$pairs" -eq 0 ]; then
			skip 'no lock was contended'
			continue
		fi
		expect_status 0
		table "as many waits as pairs ${by:-by stack}" \
			"sum(r['contended'] for r in rows) == $pairs and sum(r['total'] for r in rows) == $total"
	done
	run "$FATHOM" lock --threads --top 0 --json -- "$FATHOM" record -q -c 1 -m 64M \
		--call-graph=none -e lock:contention_begin -e lock:contention_end -o same.data -- python3 offset.py
	expect_status 0
	cp "$out_file" live.json
	run "$FATHOM" lock --threads --top 0 -i same.data --json
	if python3 -c 'import json, sys
l = [json.load(open(f))["losses"] for f in sys.argv[1:]]
sys.exit(not any(v for d in l for k, v in d.items() if k != "no_end"))' live.json "$out_file"; then
		skip 'events were lost'
	else
		ok 'live: the waits of each thread are those of a recording of the same time' \
			python3 - live.json "$out_file" <<-'END'
			import json, sys
			def threads(path):
			    t = {}
			    for r in json.load(open(path))["rows"]:
			        if r["type"] == "mutex":
			            n, ns = t.get(r["tid"], (0, 0))
			            t[r["tid"]] = n + r["contended"], ns + r["total"]
			    return t
			live, recorded = threads(sys.argv[1]), threads(sys.argv[2])
			wrong = {t: (v, live.get(t)) for t, v in recorded.items()
			         if t not in live or live[t][0] != v[0] or abs(live[t][1] - v[1]) > 0.02 * v[1] + 2000 * v[0]}
			print(len(recorded), "threads", wrong)
			assert len(recorded) >= 2 and not wrong
		END
	fi
	cat >maps.py <<-'END'
		import mmap, threading, time
		end = time.monotonic() + 1
		def work():
		    while time.monotonic() < end:
		        mmap.mmap(-1, 1 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | mmap.MAP_POPULATE).close()
		threads = [threading.Thread(target=work) for i in range(4)]
		for t in threads:
		    t.start()
	END
	run "$FATHOM" lock --lock-addr --top 0 --json --comm 'python3*' -- python3 maps.py
	expect_status 0
	table 'live: the lock of the mappings has its name' \
		'(lambda own: len(own) == 1 and own[0]["type"].startswith("rwsem") and own[0]["contended"] > 3)(
		 [r for r in rows if r["of"] == "mmap_lock" and r["type"] == "rwsem:W"])'
	run "$FATHOM" lock --owner --top 0 --json -- python3 offset.py
	expect_status 0
	ok 'live: the position of the file is held by one of those who wait for it' python3 - "$out_file" <<-'END'
		import json, sys
		own = [r for r in json.load(open(sys.argv[1]))["rows"] if "fdget_pos" in r["stack"]]
		# where waiters sleep, a lock that is free is contended, too, but not for long
		time, known = sum(r["total"] for r in own), [r for r in own if r["owner_tid"]]
		print(sum(r["contended"] for r in own), time, known[:3])
		assert known and sum(r["total"] for r in known) > 0.5 * time
		assert all(r["owner"].startswith("python") for r in known)
		assert len(set(r["owner_tid"] for r in known)) <= 8
	END
	run "$FATHOM" lock --owner -i lock.data
	expect_status 2
	expect_err '--owner has no meaning for a recording'
	run "$FATHOM" perf lock contention -i lock.data
	expect_status 0
	expect_out 'CONTENDED'
	run "$FATHOM" perf lock report -i lock.data
	expect_status 0
	expect_out 'LOCK'
else
	skip 'the kernel has no tracepoints of contention'
fi
run "$FATHOM" perf kmem stat -i kmem.data
expect_status 0
expect_out 'CALLSITE'
run "$FATHOM" perf kwork latency -i kwork.data
expect_status 0
expect_out 'net_rx'
mkdir own
cd own || exit 1
run "$FATHOM" perf kmem record -- true
expect_status 0
run "$FATHOM" perf kmem stat
expect_status 0
expect_out 'CALLSITE'
cd ..

# --- bad input ----------------------------------------------------------------------------------
run "$FATHOM" lock -i kmem.data
expect_status 4
expect_err 'does not have the events'
run "$FATHOM" lock -i no-such-file
expect_status 1
run "$FATHOM" kmem -i kmem.data -d 1s
expect_status 2
expect_err '--duration has no meaning for a recording'
head -c $(($(stat -c %s kwork.data) / 2)) kwork.data >half.data
run "$FATHOM" kwork -i half.data
ok 'half a file: no crash' [ "$status" -lt 5 ]
done_testing
