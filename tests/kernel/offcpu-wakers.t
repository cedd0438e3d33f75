#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# The waker of a sleep, where that is hard to see: a waker that comes before the thread has left its
# CPU, and one that came before and had nothing to end; new threads, and many timers; sleeps too
# short to be asked for.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_root
need_cmd python3
need_file "$WORKLOADS/early" "$WORKLOADS/naps" "$WORKLOADS/queued"
cd "$TMP" || exit 1

cat >check.py <<'END'
import json, sys

text = open(sys.argv[1]).read()
r = json.loads(text[text.index("{\n"):])
facts = r["facts"]
waits, unseen, inferred = facts["waits"], facts["waker_not_seen"], facts["inferred_ends"]
# A machine may keep tracers from seeing what some threads do, what interrupts them, and what the
# next one does until it leaves; then it hides the switches to that, too, and those are counted.
most = 2 + waits // 100 + 20 * inferred
assert unseen <= most, (unseen, waits, inferred)
lines = [(w["tid"], w["comm"], w["state"], w["waker"], w["where"]) for w in r["waits"]]
assert len(set(lines)) == len(lines), "lines that say the same"
END

# what TEXT COMMAND...: wakers are seen, by typed and by raw tracepoints.
what() {
	local name=$1 how
	shift
	for how in typed raw; do
		if [ $how = raw ] && [ ! -e /sys/kernel/btf/vmlinux ]; then
			skip "$name, raw: no types to read from"
			continue
		fi
		(
			[ $how = typed ] || export FATHOM_NO_BTF=1 FATHOM_BTF=/sys/kernel/btf/vmlinux
			exec "$FATHOM" offwake --threads -n 0 --json -- "$@" >$how.out 2>$how.err
		)
		is "$name, $how" $? 0
		ok "$name, $how: the wakers was seen" python3 check.py $how.out
	done
}

what "a waker that comes early" "$WORKLOADS/early"
for how in typed raw; do
	[ -e $how.out ] || continue
	ok "$how: the waker ended the sleeps, and no nap" python3 - $how.out <<'END'
import json, re, sys
text = open(sys.argv[1]).read()
truth = dict(re.findall(r"^([a-z]+)=([0-9]+)$", text, re.M))
r = json.loads(text[text.index("{\n"):])
rows = r["waits"]
# by the functions: the threads have their names only from the second turn on, perhaps
sleeps = [w for w in rows if "< sleeps <" in w["where"]]
naps = [w for w in rows if "< naps <" in w["where"]]
count = sum(w["count"] for w in sleeps)
by_waker = sum(w["count"] for w in sleeps if "< wakes <" in (w["waker"] or ""))
hidden = 2 + 20 * r["facts"]["inferred_ends"]
assert count and by_waker >= 0.98 * count - hidden, (truth, rows)
assert sum(w["count"] for w in naps) >= 0.98 * int(truth["napped"]) - hidden, (truth, rows)
# a nap whose end was not seen may seem to last until the next sleep
mistaken = sum(w["count"] for w in naps if "< wakes <" in (w["waker"] or ""))
assert mistaken <= hidden, (r["facts"], naps)
END
done
what "new threads that a timer wakes" "$WORKLOADS/naps" --new 500 --us 50
what "a storm of timers" "$WORKLOADS/naps" --threads 16 --count 1000 --us 50

# --min: who ended a shorter sleep is not asked. When the wait for a CPU makes it long enough to be
# shown after all, it must not get the waker of the sleep before.
for how in typed raw; do
	if [ $how = raw ] && [ ! -e /sys/kernel/btf/vmlinux ]; then
		skip "a short sleep, raw: no types to read from"
		continue
	fi
	(
		[ $how = typed ] || export FATHOM_NO_BTF=1 FATHOM_BTF=/sys/kernel/btf/vmlinux
		exec "$FATHOM" offwake --threads -n 0 --min 5ms --json -- "$WORKLOADS/queued" \
			>$how.out 2>$how.err
	)
	is "a short sleep, $how" $? 0
	if grep -qx 'queued=[01]' $how.out; then
		skip "a short sleep, $how: the hog did not go first"
		continue
	fi
	ok "a short sleep, $how: it has not the waker of the sleep before" python3 - $how.out <<'END'
import json, re, sys
text = open(sys.argv[1]).read()
queued = int(re.search(r"^queued=([0-9]+)$", text, re.M)[1])
r = json.loads(text[text.index("{\n"):])
hidden = r["facts"]["inferred_ends"]
rows = [w for w in r["waits"] if "< sleeper_main" in w["where"]]
sleeps = [w for w in rows if "< sleeps_long <" in w["where"]]
naps = [w for w in rows if "< naps <" in w["where"]]
by_patient = lambda ws: sum(w["count"] for w in ws if "< patient_wakes <" in (w["waker"] or ""))
assert by_patient(sleeps), rows
# others may keep the sleeper from going to sleep until the hog burns: that is not a nap
assert sum(w["count"] for w in naps) > queued // 2 - hidden, (queued, hidden, naps)
assert by_patient(naps) <= hidden, (hidden, naps)
END
done
# Wakers of one name and one stack are one, whichever process it was: nobody is shown its number.
cp "$(command -v bash)" waits
cp waits writes
mkfifo fifo
cat >many <<'END'
exec 3<>fifo
./waits -c 'for _ in 1 2 3 4 5 6 7 8 9 10; do read -r x <&3; done' &
for _ in 1 2 3 4 5 6 7 8 9 10; do ./writes -c 'sleep 0.03; echo x >&3'; done
wait
END
run "$FATHOM" offwake -n 0 --json --comm waits -- bash many
expect_status 0
ok "ten processes that wake as one does are one waker" python3 - "$out_file" <<'END'
import json, sys
rows = [w for w in json.load(open(sys.argv[1]))["waits"] if (w["waker"] or "").startswith("writes")]
assert len(rows) == 1 and rows[0]["count"] >= 9, rows
END
# By loopback, the softirq that wakes the other side runs in the sender, which is judged by the order
# of events: likely, not certain, and every view says so.
cat >loopback.py <<'END'
import os, socket, time
listener = socket.socket()
listener.bind(('127.0.0.1', 0))
listener.listen()
def name(text):
    with open('/proc/self/comm', 'w') as f:
        f.write(text)
if os.fork() == 0:
    name('answerer')
    peer, _ = listener.accept()
    while peer.recv(1):
        peer.send(b'x')
    os._exit(0)
name('asker')
s = socket.create_connection(listener.getsockname())
for _ in range(300):
    s.send(b'x')
    s.recv(1)
    time.sleep(0.001)
END
if grep -q ' __local_bh_enable_ip$' /proc/kallsyms; then
	run "$FATHOM" offwake --folded --comm answerer -- python3 loopback.py
	expect_out_like '^answerer;.*;asker [(]likely[)] [0-9]+$' 'a sender that ran the softirq is a likely waker'
	run "$FATHOM" record --chains -o loopback.data -- python3 loopback.py
	for view in offwake chain wakeup explain; do
		for form in '' --json; do
			# shellcheck disable=SC2086 # none or one
			run "$FATHOM" "$view" $form -i loopback.data
			expect_out 'asker (likely)' "$view $form: marks the likely waker"
		done
	done
else
	skip 'the kernel does not name the function that runs softirqs' 9
fi
done_testing
