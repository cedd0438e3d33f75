#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# Tools about processes, against workloads whose truth is known.
. "$(dirname "$0")/../lib/test.sh"
. "$(dirname "$0")/../lib/tools.sh"
need_root
need_file /sys/kernel/btf/vmlinux

cp /bin/true "$TMP/truth"
if traced execsnoop -x 'for i in $(seq 500); do "$TMP/truth" $i; done; "$TMP/none" 2>/dev/null; exit 0'; then
	figure '500 execs are 500 rows' 'len(some(pcomm="truth")) == 500'
	figure 'each with its argument' \
		'sorted(int(r["args"].split()[-1]) for r in some(pcomm="truth")) == list(range(1, 501))'
	figure 'and one that failed' 'len([r for r in some(ret="ENOENT") if r["args"].endswith("/none")]) == 1'
fi
if traced execsnoop '--filter ppid==1' '"$TMP/truth"'; then
	figure 'a filter is applied in the kernel' 'not some(pcomm="truth")'
fi
if traced execsnoop '--comm tru*' '"$TMP/truth"; /bin/false'; then
	figure 'names by a pattern' 'some(pcomm="truth") and not some(pcomm="false")'
fi

# 1,000 calls of getpgid() that fail and 1,000 of getuid() that do not
cat >"$TMP/calls.py" <<-'END'
	import os
	for i in range(1000):
	    os.getuid()
	    try:
	        os.getpgid(2 ** 30)
	    except OSError:
	        pass
END
cp "$(readlink -f "$PYTHON")" "$TMP/truth-python"
if traced syscount '-L --comm truth-python' '"$TMP/truth-python" "$TMP/calls.py"'; then
	figure '1,000 calls' 'total("count", syscall="getpgid") == 1000'
	figure 'and their time' '0 < total("time", syscall="getuid") < 1e9'
fi
if traced syscount '-x --comm truth-python' '"$TMP/truth-python" "$TMP/calls.py"'; then
	figure 'only those that failed' \
		'total("count", syscall="getpgid") == 1000 and not some(syscall="getuid")'
fi
if traced syscount '-P --comm truth-python' '"$TMP/truth-python" "$TMP/calls.py"'; then
	figure 'by process' 'len(rows) == 1 and rows[0]["count"] > 2000'
fi

# --- the end of processes, signals, threads -----------------------------------------------------
if traced exitsnoop '--comm truth*' 'for i in 1 2 3; do "$TMP/truth"; done; bash -c "exec -a truthsleep sleep 5" & sleep 0.2; kill -9 $!; wait'; then
	figure 'three ends with 0' 'len(some(pcomm="truth", code=0, signal="0")) == 3'
fi
cp "$(command -v sleep)" "$TMP/truthsleep"
if traced exitsnoop '-x --comm truthsleep' '"$TMP/truthsleep" 5 & sleep 0.2; kill -9 $!; "$TMP/truthsleep" nonsense 2>/dev/null; exit 0'; then
	figure 'one was killed, after its age' '[r for r in some(pcomm="truthsleep", signal="SIGKILL") if 1e8 < r["age"] < 5e9]'
	figure 'one failed' 'len(some(pcomm="truthsleep", code=1)) == 1'
fi
cat >"$TMP/signals.py" <<-'END'
	import ctypes, os, signal
	signal.signal(signal.SIGUSR1, lambda *a: None)
	for i in range(25):
	    os.kill(os.getpid(), signal.SIGUSR1)
	try:
	    os.kill(2 ** 22 - 1, signal.SIGUSR2)
	except OSError:
	    pass
	span = (ctypes.c_long * 2)(0, 3000000)
	for i in range(10):
	    ctypes.CDLL(None).nanosleep(span, None)
	os.setresuid(0, 0, 0)
END
if traced killsnoop '--comm truth-python' '"$TMP/truth-python" "$TMP/signals.py"'; then
	figure '25 signals to itself' 'len(some(signal="SIGUSR1", result="0")) == 25'
	figure 'and one to nobody' 'len(some(signal="SIGUSR2", result="ESRCH")) == 1'
fi
if traced sigsnoop '-s 10 --comm truth-python' '"$TMP/truth-python" "$TMP/signals.py"'; then
	figure 'signals as they are made' 'len(some(signal="SIGUSR1", tcomm="truth-python")) == 25'
fi
if traced naptime '--comm truth-python' '"$TMP/truth-python" "$TMP/signals.py"'; then
	figure 'ten sleeps of 3 ms' 'len(some(asked=3000000)) == 10'
fi
if traced setuids '--comm truth-python' '"$TMP/truth-python" "$TMP/signals.py"'; then
	figure 'a change of the user' 'len(some(call="setresuid", to=0, result="0")) == 1'
fi
if traced elfsnoop '--comm truth' 'for i in 1 2 3 4; do "$TMP/truth"; done'; then
	figure 'four programs are loaded' 'len([r for r in some(comm="truth") if r["file"].endswith("/truth")]) == 4'
fi
if traced pidpersec '60' 'for i in $(seq 200); do "$TMP/truth"; done'; then
	figure 'forks' 'len(rows) == 1 and rows[0]["forks"] > 10'
fi
cat >"$TMP/threads.c" <<-'END'
	#include <pthread.h>
	void *truth_thread(void *x) { return x; }
	int main(void)
	{
		pthread_t t;

		for (int i = 0; i < 20; i++) {
			pthread_create(&t, NULL, truth_thread, NULL);
			pthread_join(t, NULL);
		}
		return 0;
	}
END
if command -v gcc >/dev/null && gcc -o "$TMP/truththreads" "$TMP/threads.c" -lpthread; then
	if traced threadsnoop '--comm truththreads' '"$TMP/truththreads"'; then
		figure '20 threads' 'len(some(func="truth_thread")) == 20'
	fi
	if traced uthreads '--comm truththreads' '"$TMP/truththreads"'; then
		figure 'the same by uthreads' 'len(some(name="truth_thread")) == 20'
	fi
else
	skip 'needs the command gcc' 2
fi
if traced shmsnoop '' "$PYTHON"' -c "import ctypes; l = ctypes.CDLL(None); i = l.shmget(0, 8192, 0o1600); l.shmctl(i, 0, None)"'; then
	figure 'shared memory' '[r for r in some(call="shmget") if r["size"] == 8192]'
fi
if traced undump '--comm truth-python' '"$TMP/truth-python" -c "import socket
a, b = socket.socketpair()
a.send(b\"truth-text\")
b.recv(100)"'; then
	figure 'text over a Unix socket' '[r for r in rows if r["text"] == "truth-text" and r["bytes"] == 10]'
fi
if traced capable '--comm truth-python' '"$TMP/truth-python" -c "import os; os.setpriority(os.PRIO_PROCESS, 0, -5)"'; then
	figure 'a capability' 'some(name="sys_nice")'
fi
if traced ttysnoop '--comm truth-python' 'script -qc "\"$TMP/truth-python\" -c \"print(12345 * 3)\"" /dev/null'; then
	figure 'text to a terminal' '[r for r in rows if "37035" in r["text"]]'
fi
if traced bashreadline '' 'printf "echo truth-line\nexit\n" | script -qc "bash --norc -i" /dev/null'; then
	if command -v script >/dev/null; then
		figure 'a line that was typed' '[r for r in rows if r["command"] == "echo truth-line"]'
	else
		skip 'needs the command script'
	fi
fi
if traced bpflist '' 'true'; then
	figure 'we hold programs ourselves' '[r for r in some(type="bpf-prog") if r["count"] > 0]'
fi
# --- what all tools share -----------------------------------------------------------------------
run "$FATHOM" execsnoop --filter 'nonsense == 1'
expect_status 1
expect_err "unknown column"
expect_err "the columns are: pcomm"
run "$FATHOM" syscount --sort nonsense -d 100ms
expect_status 2
run "$FATHOM" execsnoop -p 4194303 -d 100ms
expect_err 'no process 4194303 exists'
run "$FATHOM" execsnoop --json -- "$TMP/truth" word
expect_out '"args":"'"$TMP/truth"' word"'
mkdir -p "$TMP/config/fathom/tools"
sed 's/^column: args.*/&\ncolumn: bad nonsense/' "$TOP/tools/execsnoop.bt" >"$TMP/config/fathom/tools/mine.bt"
XDG_CONFIG_HOME=$TMP/config run "$FATHOM" mine -d 100ms
expect_err_like "mine.bt:[0-9]+:[0-9]+-[0-9]+: ERROR: unknown type of a column"
cp "$TOP/tools/execsnoop.bt" "$TMP/config/fathom/tools/mine.bt"
cp "$TOP/tools/execsnoop.bt" "$TMP/config/fathom/tools/syscount.bt"
cp "$TOP/tools/execsnoop.bt" "$TMP/config/fathom/tools/record.bt"
XDG_CONFIG_HOME=$TMP/config run "$FATHOM" mine -d 100ms
expect_status 0
XDG_CONFIG_HOME=$TMP/config run "$FATHOM" syscount -d 100ms
expect_err 'is used instead of the tool of that name'
XDG_CONFIG_HOME=$TMP/config run "$FATHOM" tools own
expect_err "is a command of fathom itself"
done_testing
