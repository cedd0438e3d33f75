#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# explain and chain against real programs whose waits are known: what they lead with must be right.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_root
need_cmd python3
need_file "$WORKLOADS/burnchild"
cd "$TMP" || exit 1
chmod 755 "$TMP"

# leads FILE STATES KIND WHERE: of all that is blocked the states lead in this order; waits of KIND in
# WHERE took most. Time on CPUs and in run queues depends on who else is there.
leads() {
	python3 - "$@" <<'END'
import json, re, sys
text = open(sys.argv[1]).read()
r = json.loads(text[text.index("{\n"):])
ran = ("user", "kernel", "running", "runnable")
idle = ("poll", "work", "idle")
assert abs(sum(s["percent"] for s in r["states"]) - 100) < 1, r["states"]
states = sorted((s for s in r["states"] if s["state"] not in ran + idle), key=lambda s: -s["time_ns"])
want = sys.argv[2].split()
assert [s["state"] for s in states[:len(want)]] == want, states[:4]
if len(sys.argv) > 3:
    w = r["waits"][0]
    assert w["kind"] == sys.argv[3], r["waits"][:2]
    assert re.search(sys.argv[4], w["where"]), w
assert not [w for w in r["waits"] if w["kind"] in idle], r["waits"]
for w in r["waits"]:
    parts = sum(w[k] or 0 for k in ("waker_ran_ns", "waker_runnable_ns", "waker_blocked_ns"))
    assert parts <= (w["waker_time_ns"] or 0) + 1000, w
END
}

# three FILE LINES [FUNCTION]: the three parts of its time that lead, in this order: on CPUs (cpu),
# waiting for work (work), or a kind of wait; "a|b" is either, "-" that what is left is below a
# percent. How long it had to wait for a CPU depends on who else is there. FUNCTION is among the three
# in which CPU time went, where there are samples enough to say so.
three() {
	python3 - "$@" <<'END'
import json, re, sys
text = open(sys.argv[1]).read()
r = json.loads(text[text.index("{\n"):])
group = {"user": "cpu", "kernel": "cpu", "running": "cpu", "poll": "work", "idle": "work"}
parts = {}
for s in r["states"]:
    name = group.get(s["state"], s["state"])
    if name != "runnable":
        parts[name] = parts.get(name, 0) + s["percent"]
lead = sorted(parts, key=lambda n: -parts[n])
for i, want in enumerate(sys.argv[2].split()):
    if want == "-":
        assert parts[lead[i]] < 1, (lead[i], r["states"], r["waits"][:3])
    else:
        assert lead[i] in want.split("|"), (want, lead[:4], r["states"])
if len(sys.argv) > 3 and r["facts"]["cpu_samples"] >= 30:
    top = r["functions"][:3]
    assert [f for f in top if re.search(sys.argv[3], f["function"] + " " + f["module"])], top
END
}

# waits_first FILE N KIND WHERE: one of the first N waits.
waits_first() {
	python3 - "$@" <<'END'
import json, re, sys
text = open(sys.argv[1]).read()
waits = json.loads(text[text.index("{\n"):])["waits"][:int(sys.argv[2])]
assert [w for w in waits if w["kind"] == sys.argv[3] and re.search(sys.argv[4], w["where"])], waits
END
}

answers() { curl -s -o /dev/null "http://127.0.0.1:$1/"; }
ask() { # PORT N: N clients, until they are killed
	for ((i = 0; i < $2; i++)); do
		(while :; do curl -s -o /dev/null "http://127.0.0.1:$1/" || sleep 0.1; done) &
		clients+=($!)
	done
}
end_clients() {
	kill "${clients[@]}" 2>/dev/null
	wait "${clients[@]}" 2>/dev/null
	clients=()
}
clients=()
port=$((20000 + $$ % 10000))

# --- a child that burns -----------------------------------------------------------------------------

run "$FATHOM" explain -d 60s --json -- "$WORKLOADS/burnchild"
expect_status 0
ok "explain: the wait for a child that burns is charged to its running" python3 - "$out_file" <<'END'
import json, sys
text = open(sys.argv[1]).read()
w = json.loads(text[text.index("{\n"):])["waits"][0]
# a child that has ended before its parent comes to wait for it is not waited for
assert w["kind"] == "child" and 2 <= w["count"] <= 5, w
# kernels do not tell every waking; on a busy machine it waits for a CPU, too
assert w["waker_time_ns"] >= 0.5 * w["time_ns"], w
ran = w["waker_ran_ns"] + w["waker_runnable_ns"]
assert ran >= 0.95 * w["waker_time_ns"] and w["waker_blocked_ns"] < 0.05 * w["waker_time_ns"], w
END
ok "... and names the function that burns" python3 - "$out_file" <<'END'
import json, sys
text = open(sys.argv[1]).read()
f = json.loads(text[text.index("{\n"):])["functions"]
assert f[0]["function"] == "burn_child" and f[0]["percent"] > 80, f
END
run "$FATHOM" chain --folded -- "$WORKLOADS/burnchild"
expect_status 0
ok "chain: likewise, and the parts add up to the wait" python3 - "$out_file" <<'END'
import sys
lines = [l.rsplit(" ", 1) for l in open(sys.argv[1]) if "wait4" in l and ";--;" in l]
total = sum(int(n) for _, n in lines)
ran = sum(int(n) for s, n in lines if s.endswith((";[running]", ";[waiting for a CPU]")))
assert total > 500000 and ran >= 0.95 * total, lines
END
run "$FATHOM" chain --interval 150ms --folded -- "$WORKLOADS/burnchild"
expect_status 0
ok "chain --interval: waits that began in an interval before are parted as well" python3 - "$out_file" <<'END'
import sys
lines = [l.rsplit(" ", 1) for l in open(sys.argv[1]) if "wait4" in l and ";--;" in l]
total = sum(int(n) for _, n in lines)
ran = sum(int(n) for s, n in lines if s.endswith((";[running]", ";[waiting for a CPU]")))
assert total > 500000 and ran >= 0.95 * total, lines
END
"$FATHOM" record -q --chains -o burn.data -- "$WORKLOADS/burnchild"
run "$FATHOM" explain -i burn.data --json
ok "explain -i: the same from a recording, and the function that burns" python3 - "$out_file" <<'END'
import json, sys
r = json.load(open(sys.argv[1]))
assert r["functions"][0]["function"] == "burn_child" and r["functions"][0]["percent"] > 80, r["functions"]
w = r["waits"][0]
assert w["kind"] == "child" and w["waker_time_ns"] >= 0.5 * w["time_ns"], w
assert w["waker_ran_ns"] + w["waker_runnable_ns"] >= 0.95 * w["waker_time_ns"], w
END
run "$FATHOM" chain -i burn.data --folded
ok "chain -i: the same" python3 - "$out_file" <<'END'
import sys
lines = [l.rsplit(" ", 1) for l in open(sys.argv[1]) if "wait4" in l and ";--;" in l]
total = sum(int(n) for _, n in lines)
ran = sum(int(n) for s, n in lines if s.endswith((";[running]", ";[waiting for a CPU]")))
assert total > 500000 and ran >= 0.95 * total, lines
END

# --- a shell that waits by a signal -----------------------------------------------------------------

if have dash; then
	run "$FATHOM" explain --json -- dash -c 'sleep 0.3 & wait; true'
	ok "dash: wait is a wait for a child" waits_first "$out_file" 2 child 'sigsuspend'
	ok "... which sleeps" leads "$out_file" 'child sleep'
else
	skip "no dash" 2
fi

# --- the end of a process ---------------------------------------------------------------------------

spawn sleep 4
run timeout 20 "$FATHOM" explain -p "$spawned" -d 60s
expect_status 0 "explain ends with its process"

# --- redis: each command waits until it is on disk --------------------------------------------------

if have redis-server redis-benchmark && [ "$(stat -f -c %T "$TMP")" != tmpfs ]; then
	spawn redis-server --port $port --appendonly yes --appendfsync always --dir "$TMP" --save '' >/dev/null
	pid=$spawned
	wait_until redis-cli -p $port ping >/dev/null 2>&1
	redis-benchmark -p $port -t set -n 10000000 -c 2 -q >/dev/null 2>&1 &
	clients+=($!)
	has_keys() { [ "$(redis-cli -p $port dbsize)" -gt 0 ]; }
	wait_until has_keys
	run "$FATHOM" explain -p "$pid" -d 2s --json
	expect_status 0
	ok "redis with appendfsync always: flushing; its bio threads wait for work" \
		leads "$out_file" flush flush 'fdatasync < .*(flushAppendOnlyFile|redis)'
	ok "... the three lines that lead" three "$out_file" 'work flush|cpu flush|cpu' kernel
	# its clients send by loopback: the softirqs that they run meanwhile serve the disk, too
	run "$FATHOM" offwake -p "$pid" -d 1s --json
	ok "... disks wake those that flush, not who sent something just then" python3 - "$out_file" <<'END'
import json, sys
flushes = [w for w in json.load(open(sys.argv[1]))["waits"] if "fdatasync" in w["where"]]
assert sum(w["count"] for w in flushes) > 50, flushes
assert not [w for w in flushes if "likely" in (w["waker"] or "")], flushes
END
	end_clients
	kill "$pid"
else
	skip "no redis, or '$TMP' is in memory" 4
fi

# --- PostgreSQL: a row that all clients update -------------------------------------------------------

pgbin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)
if [ -n "$pgbin" ] && command -v pgbench >/dev/null && id postgres >/dev/null 2>&1; then
	install -d -o postgres pg
	as_pg() { runuser -u postgres -- "$@" >/dev/null 2>&1; }
	as_pg "$pgbin/initdb" -D "$TMP/pg" -A trust
	as_pg "$pgbin/pg_ctl" -D "$TMP/pg" -o "-p $((port + 1)) -k /tmp" -l "$TMP/pg/log" -w start
	psql -q -h /tmp -p $((port + 1)) -U postgres -c 'create table t (id int, n int)' \
		-c 'insert into t values (1, 0)'
	echo 'begin; update t set n = n + 1; select pg_sleep(0.005); commit;' >lock.sql
	pgbench -h /tmp -p $((port + 1)) -U postgres -n -c 6 -T 60 -f lock.sql postgres >/dev/null 2>&1 &
	clients+=($!)
	has_updates() { [ "$(psql -h /tmp -p $((port + 1)) -U postgres -Atc 'select n from t')" -gt 5 ]; }
	wait_until has_updates
	run "$FATHOM" explain -p "$(head -n 1 pg/postmaster.pid)" -d 2s --json
	expect_status 0
	ok "PostgreSQL: row locks, though it sleeps in epoll; backends without a query wait for work" \
		leads "$out_file" 'lock sleep' lock 'ProcSleep'
	ok "... the three lines that lead" three "$out_file" 'work|lock work|lock sleep'
	end_clients
	as_pg "$pgbin/pg_ctl" -D "$TMP/pg" -m immediate stop
else
	skip "no PostgreSQL" 3
fi

# --- Go ----------------------------------------------------------------------------------------------

if have go curl; then
	cat >server.go <<END
package main

import (
	"fmt"
	"net/http"
)

func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "x") })
	http.ListenAndServe("127.0.0.1:$((port + 2))", nil)
}
END
	HOME=$TMP GOCACHE=$TMP/go-cache GO111MODULE=off go build -o server server.go
	spawn ./server
	pid=$spawned
	wait_until answers $((port + 2))
	ask $((port + 2)) 2
	run "$FATHOM" explain -p "$pid" -d 1.5s --json
	expect_status 0
	ok "Go: threads without a goroutine wait for work, the rest runs" \
		three "$out_file" 'work cpu -' 'runtime|kernel|/server'
	run "$FATHOM" explain -p "$pid" -d 500ms
	expect_out_like '^ +[0-9.]+m?s +[0-9.]+%  waiting for work, which delays no other thread$'
	end_clients
	kill "$pid"
	# It ends while its threads still sleep: none of them may be missing.
	cat >ends.go <<'END'
package main

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"
)

func main() {
	var all sync.WaitGroup
	for i := 0; i < 12; i++ {
		all.Add(1)
		go func() {
			runtime.LockOSThread()
			all.Done()
			time.Sleep(time.Hour)
		}()
	}
	all.Wait()
	time.Sleep(50 * time.Millisecond)
	list, _ := os.ReadDir("/proc/self/task")
	fmt.Println(len(list))
}
END
	HOME=$TMP GOCACHE=$TMP/go-cache GO111MODULE=off go build -o ends ends.go
	alive=$("$FATHOM" record -q --chains -o ends.data -- ./ends)
	"$FATHOM" threads -i ends.data -n 0 --json >threads.json
	"$FATHOM" offcpu -i ends.data --open --idle --json >offcpu.json
	"$FATHOM" report -i ends.data --event offcpu-time --json >report.json
	ok "Go: all threads ($alive at the end) are recorded; threads, offcpu and report agree" \
		python3 - "$alive" <<'END'
import json, sys
rows = json.load(open("threads.json"))["threads"]
assert len(rows) >= int(sys.argv[1]), len(rows)
on = ("user_percent", "kernel_percent", "runnable_percent")
threads = sum(r["wall_ns"] * (100 - sum(r[k] for k in on)) / 100 for r in rows)
offcpu = json.load(open("offcpu.json"))["facts"]["blocked_ns"]
report = sum(n["value"] for n in json.load(open("report.json"))["tree"] if n["depth"] == 0)
assert abs(threads - offcpu) < 0.001 * offcpu and abs(report - offcpu) < 1000, (threads, offcpu, report)
END
else
	skip "no go or curl" 4
fi

# --- java: a pool that fights for a monitor -----------------------------------------------------------

if have java javac; then
	cat >Service.java <<'END'
import java.util.concurrent.*;

public class Service {
	static final Object lock = new Object();

	static void handle() {
		synchronized (lock) {
			try {
				Thread.sleep(5);
			} catch (InterruptedException e) {
			}
		}
	}

	public static void main(String[] args) throws Exception {
		ExecutorService pool = Executors.newFixedThreadPool(6);

		System.out.println("ready");
		for (;;) {
			for (int i = 0; i < 6; i++)
				pool.submit(Service::handle);
			Thread.sleep(25);
		}
	}
}
END
	javac Service.java
	spawn java Service >/dev/null
	pid=$spawned
	sleep 2
	run "$FATHOM" explain -p "$pid" -d 2s --json
	expect_status 0
	ok "java: the pool waits for the monitor; threads of the machine wait for work" \
		leads "$out_file" lock lock 'ObjectMonitor::(EnterI|enter)|Service.handle'
	ok "... the three lines that lead" three "$out_file" 'work lock sleep'
	kill "$pid"
else
	skip "no java" 3
fi

# --- node: work of the thread pool -------------------------------------------------------------------

if have node curl; then
	cat >server.js <<END
const crypto = require('crypto');
require('http').createServer((q, r) => {
	crypto.pbkdf2('a', 'b', 5000, 32, 'sha1', () => r.end('x'));
}).listen($((port + 3)), '127.0.0.1');
END
	spawn node server.js
	pid=$spawned
	wait_until answers $((port + 3))
	ask $((port + 3)) 2
	run "$FATHOM" explain -p "$pid" -d 1.5s --json
	expect_status 0
	ok "node: loop and pool wait for work, or hash" three "$out_file" 'work cpu -' 'sha1|SHA1'
	end_clients
	kill "$pid"
else
	skip "no node or curl" 2
fi

# --- nginx: a master and its workers -----------------------------------------------------------------

if have nginx curl; then
	mkdir -p www
	head -c 100000 /dev/zero >www/index.html
	cat >nginx.conf <<END
daemon off;
worker_processes 2;
pid $TMP/nginx.pid;
error_log $TMP/nginx.log;
events { }
http { access_log off; server { listen 127.0.0.1:$((port + 4)); root $TMP/www; } }
END
	spawn nginx -c "$TMP/nginx.conf" -e "$TMP/nginx.log"
	pid=$spawned
	wait_until answers $((port + 4))
	ask $((port + 4)) 2
	run "$FATHOM" explain -p "$pid" -d 1.5s --json
	expect_status 0
	ok "nginx: master and workers wait for work, the rest runs" \
		three "$out_file" 'work cpu -' 'kernel|nginx'
	run "$FATHOM" explain -p "$pid" -d 500ms
	expect_out_like "^Process $pid \(nginx\): 3 threads with 2 processes that it started"
	end_clients
	kill "$pid"
else
	skip "no nginx or curl" 3
fi

# --- python: a thread for each request ----------------------------------------------------------------

if command -v curl >/dev/null; then
	cat >server.py <<END
import http.server, time
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        time.sleep(0.05)
        self.send_response(200)
        self.end_headers()
    def log_message(self, *args):
        pass
http.server.ThreadingHTTPServer(("127.0.0.1", $((port + 5))), Handler).serve_forever()
END
	spawn python3 server.py
	pid=$spawned
	wait_until answers $((port + 5))
	ask $((port + 5)) 3
	run "$FATHOM" explain -p "$pid" -d 2s --json
	expect_status 0
	ok "python: requests sleep; the accepting thread waits for work" \
		leads "$out_file" sleep sleep 'nanosleep < Handler.do_GET'
	# Each request waits to be read, and the server until its thread runs; which is longer, and
	# whether the work itself takes more, depends on the machine.
	ok "... the three lines that lead" three "$out_file" 'sleep|work sleep|work cpu|lock|cond|network'
	# it has been woken and wants Python's lock again, where those that hold it get no CPU
	starting() {
		waits_first "$1" 3 cond 'Condition.wait < Event.wait < Thread.start' 2>/dev/null ||
			waits_first "$1" 3 lock 'take_gil < Condition.wait < Event.wait < Thread.start'
	}
	ok "... starting a thread waits until it runs: a condition of Python's" starting "$out_file"
	end_clients
	kill "$pid"
else
	skip "no curl" 4
fi

# --- pools of libraries without names, locks -----------------------------------------------------------

cat >pool.c <<'END'
#include <unistd.h>

int main(void)
{
	for (int k = 0; k < 10; k++) {
#pragma omp parallel num_threads(4)
		{
			volatile double x = 0;

			for (int i = 0; i < 10000; i++)
				x += i;
		}
		usleep(50000);
	}
	return 0;
}
END
if gcc -O1 -fopenmp -o pool pool.c 2>/dev/null; then
	run env OMP_WAIT_POLICY=passive "$FATHOM" threads --json -- ./pool
	ok "OpenMP: idle threads of the pool wait for work" python3 - "$out_file" <<'END'
import json, sys
text = open(sys.argv[1]).read()
rows = json.loads(text[text.index("{\n"):])["threads"]
ran = ("user_percent", "kernel_percent", "runnable_percent")
idle = [100 * r["work_percent"] / (100 - sum(r[k] for k in ran)) for r in rows if r["tid"] != r["pid"]]
assert len(idle) == 3 and min(idle) > 80, rows
END
else
	skip "no OpenMP"
fi
cat >locks.c <<'END'
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

static void *takes(void *arg)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	return arg;
}

static void *waits(void *arg)
{
	pthread_mutex_lock(&other);
	pthread_cond_wait(&cond, &other);
	pthread_mutex_unlock(&other);
	return arg;
}

int main(void)
{
	pthread_t a, b;

	pthread_mutex_lock(&lock);
	pthread_create(&a, NULL, takes, NULL);
	pthread_create(&b, NULL, waits, NULL);
	usleep(500000);
	pthread_mutex_unlock(&lock);
	pthread_mutex_lock(&other);
	pthread_cond_signal(&cond);
	pthread_mutex_unlock(&other);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
END
if gcc -O1 -g -pthread -o locks locks.c; then
	run "$FATHOM" threads --json -- ./locks
	ok "a mutex is a lock, a condition is one" python3 - "$out_file" <<'END'
import json, sys
text = open(sys.argv[1]).read()
rows = json.loads(text[text.index("{\n"):])["threads"]
main = [r for r in rows if r["tid"] == r["pid"]][0]
rest = [r for r in rows if r["tid"] != r["pid"]]
assert main["sleep_percent"] > 50, main
kinds = ["lock" if r["lock_percent"] > 50 else "cond" if r["cond_percent"] > 50 else "?" for r in rest]
assert sorted(kinds) == ["cond", "lock"], rest
END
else
	skip "no compiler"
fi

# --- make: two jobs at once ---------------------------------------------------------------------------

cat >job.py <<'END'
import time

def burn():
    end = time.process_time() + 0.12
    while time.process_time() < end:
        sum(range(20000))

time.sleep(0.5)
burn()
END
printf 'all: a b c d\na b c d:\n\t@/usr/bin/python3 job.py; true\n' >Makefile
run "$FATHOM" explain -d 60s --json -- make -j2
expect_status 0
# make waits for a shell each, which waits for its child
ok "make: it and its shells wait for children" leads "$out_file" 'child sleep'
ok "... the three lines that lead" three "$out_file" 'child sleep cpu' 'burn|python'
ok "... the first waits: shells for children that sleep, and make for its shells" \
	waits_first "$out_file" 3 child '^wait4'
ok "... what the children do" waits_first "$out_file" 5 sleep 'nanosleep < <module>'
done_testing
