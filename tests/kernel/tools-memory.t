#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Tools about memory, locks and CPUs, against programs whose truth is known.
. "$(dirname "$0")/../lib/test.sh"
. "$(dirname "$0")/../lib/tools.sh"
need_root
need_cmd gcc
need_file /sys/kernel/btf/vmlinux

# --- memory: 10 MB are leaked from one of three stacks -------------------------------------------
cat >"$TMP/leak.c" <<-'END'
	#include <stdlib.h>
	#include <string.h>
	#include <sys/mman.h>
	#include <unistd.h>
	static void *volatile sink;
	__attribute__((noinline)) void leaky(void) { sink = malloc(10240); }
	__attribute__((noinline)) void kept(void) { sink = calloc(10, 10); }
	__attribute__((noinline)) void fine(void) { sink = malloc(5000); free(sink); }
	__attribute__((noinline)) void mapped(void)
	{
		char *p = mmap(NULL, 1 << 22, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		memset(p, 1, 1 << 22);
	}
	__attribute__((noinline)) void grown(void) { sink = sbrk(1 << 20); }
	int main(int argc, char **argv)
	{
		for (int i = 0; i < 1024; i++) {
			leaky();
			kept();
			fine();
		}
		mapped();
		grown();
		if (argc > 1) {
			sink = malloc(77);
			free(sink);
		}
		usleep(1500000);
		return 0;
	}
END
gcc -O1 -fomit-frame-pointer -fno-optimize-sibling-calls -o "$TMP/leak" "$TMP/leak.c"
"$FATHOM" memleak 60 --json --flame "$TMP/leak.svg" -- "$TMP/leak" >"$rows" 2>"$said"
figure '10 MB are held by one stack' \
	'[r for r in rows if ";leaky;" in r["stack"] and r["bytes"] == 1024 * 10240 and r["count"] == 1024]'
figure 'which is complete without frame pointers' \
	'[r for r in rows if r["stack"].startswith("_start;") and r["stack"].endswith("main;leaky;malloc")]'
figure 'a little by another' '[r for r in rows if ";kept;" in r["stack"] and r["bytes"] == 102400]'
figure 'nothing by the third' 'not [r for r in rows if ";fine;" in r["stack"]]'
like 'a flame graph of it' "$(cat "$TMP/leak.svg")" 'leaky'
like 'which weighs bytes' "$(cat "$TMP/leak.svg")" '<title>leaky \([0-9,]* samples, 10,485,760 bytes'
# growth: ten megabytes in the first second, as much again in the third
cat >"$TMP/grow.c" <<-'END'
	#include <stdlib.h>
	#include <unistd.h>
	static void *volatile sink;
	__attribute__((noinline)) void growing(int n) { while (n--) sink = malloc(10240); }
	int main(void)
	{
		growing(512);
		usleep(2500000);
		growing(1024);
		usleep(2500000);
		return 0;
	}
END
gcc -O1 -fno-optimize-sibling-calls -o "$TMP/grow" "$TMP/grow.c"
"$FATHOM" memleak 1 --older 1ms --json -- "$TMP/grow" >"$rows" 2>"$said"
figure 'growth over time: so much, nothing, twice as much, nothing' \
	'[r["growth"] for r in rows if ";growing;" in r["stack"] and r["count"] == 512][:2] == [512 * 10240, 0]'
figure 'and of the second place' \
	'[r["growth"] for r in rows if ";growing;" in r["stack"] and r["count"] == 1024][:2] == [1024 * 10240, 0]'
# of the kernel: a pipe that holds 256 pages until it is closed
if traced memleak '--pages --older 100ms 60' "$PYTHON"' -c "import fcntl, os, time
r, w = os.pipe()
fcntl.fcntl(w, 1031, 1 << 20)
os.write(w, bytes(1 << 20))
time.sleep(4)" & sleep 1'; then
	figure 'the kernel holds the pages of a pipe' \
		'sum(r["bytes"] for r in rows if "pipe_write" in r["stack"]) >= 1 << 20'
fi
if traced faults '--comm leak' '"$TMP/leak"'; then
	figure 'page faults: a thousand for four megabytes' 'total("count") >= 1024'
fi
if traced rssgrowth '--comm leak' '"$TMP/leak"'; then
	figure 'the code that touches new pages' 'sum(r["pages"] for r in rows if ";mapped" in r["stack"]) >= 1024'
fi
if traced mmapgrowth '--comm leak' '"$TMP/leak"'; then
	figure 'four megabytes by mmap' '[r for r in rows if ";mapped;" in r["stack"] and r["bytes"] == 1 << 22]'
fi
if traced brkstack '--comm leak' '"$TMP/leak"'; then
	figure 'a megabyte by brk' '[r for r in rows if ";grown;" in r["stack"] and r["bytes"] == 1 << 20]'
fi
if traced pagealloc '60 --comm leak' '"$TMP/leak"'; then
	figure 'pages of the kernel' 'total("bytes", comm="leak") >= 1 << 22'
fi
if traced slabratetop '60 --comm leak' '"$TMP/leak"'; then
	figure 'objects of the kernel' 'total("allocs") > 10'
fi
if traced cobjnew '--comm leak' '"$TMP/leak"'; then
	figure 'allocations by size' 'total("count", **{"class": "malloc <= 64K"}) == 2048'
fi
cat >"$TMP/twice.c" <<-'END'
	#include <stdlib.h>
	static void *volatile p;
	int main(void)
	{
		p = malloc(5000);
		free(p);
		free(p);
		return 0;
	}
END
gcc -O0 -w -o "$TMP/twice" "$TMP/twice.c"
"$FATHOM" doublefree --json -- "$TMP/twice" >"$rows" 2>"$said"
figure 'memory that is freed twice' 'len([r for r in rows if "main" in r["stack"]]) >= 1'
# what is provoked is in tools-provoked.t; pages are moved between nodes where there are two
if [ -d /sys/devices/system/node/node1 ]; then
	if traced numamove '' 'true'; then
		pass 'numamove runs'
	fi
else
	skip 'numamove: this machine has one NUMA node'
fi

# --- locks: held for 50 ms, waited for; taken in two orders --------------------------------------
cat >"$TMP/locks.c" <<-'END'
	#include <pthread.h>
	#include <unistd.h>
	static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
	__attribute__((noinline)) void holder(void)
	{
		pthread_mutex_lock(&a);
		usleep(50000);
		pthread_mutex_unlock(&a);
	}
	__attribute__((noinline)) void waiter(void)
	{
		pthread_mutex_lock(&a);
		pthread_mutex_unlock(&a);
	}
	static void *other(void *x)
	{
		usleep(10000);
		waiter();
		return x;
	}
	__attribute__((noinline)) void first(void)
	{
		pthread_mutex_lock(&a);
		pthread_mutex_lock(&b);
		pthread_mutex_unlock(&b);
		pthread_mutex_unlock(&a);
	}
	__attribute__((noinline)) void second(void)
	{
		pthread_mutex_lock(&b);
		pthread_mutex_lock(&a);
		pthread_mutex_unlock(&a);
		pthread_mutex_unlock(&b);
	}
	int main(void)
	{
		pthread_t t;

		pthread_create(&t, NULL, other, NULL);
		holder();
		pthread_join(t, NULL);
		first();
		first();
		second();
		return 0;
	}
END
gcc -O1 -fno-optimize-sibling-calls -o "$TMP/locks" "$TMP/locks.c" -lpthread
"$FATHOM" mutexes --json -- "$TMP/locks" >"$rows" 2>"$said"
figure 'a mutex is held for 50 ms' '[r for r in rows if ";holder;" in r["stack"] and 50e6 <= r["held"] < 5e9]'
figure 'and waited for' '[r for r in rows if ";waiter;" in r["stack"] and 20e6 < r["wait"] < 5e9]'
"$FATHOM" deadlock --json -- "$TMP/locks" >"$rows" 2>"$said"
figure 'two orders of locking, once' 'len(rows) == 1 and ";second;" in rows[0]["stack"] and ";first;" in rows[0]["other"]'
if traced futexctn '--comm locks' '"$TMP/locks"'; then
	figure 'the same seen from the kernel' '[r for r in rows if ";waiter;" in r["stack"] and 20e6 < r["time"] < 5e9]'
fi
# Four threads change the mappings of one process: its mmap_lock is contended. Each of them can wait
# no longer than the whole takes.
cat >"$TMP/mmaps.c" <<-'END'
	#include <pthread.h>
	#include <stdio.h>
	#include <sys/mman.h>
	#include <time.h>
	static double now(void)
	{
		struct timespec t;

		clock_gettime(CLOCK_MONOTONIC, &t);
		return t.tv_sec + t.tv_nsec / 1e9;
	}
	static void *work(void *x)
	{
		double end = now() + 0.7;

		while (now() < end) {
			char *p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

			munmap(p, 1 << 20);
		}
		return x;
	}
	int main(void)
	{
		double start = now();
		pthread_t t[4];

		for (int i = 0; i < 4; i++)
			pthread_create(&t[i], NULL, work, NULL);
		for (int i = 0; i < 4; i++)
			pthread_join(t[i], NULL);
		printf("%.0f\n", (now() - start) * 1e9);
		return 0;
	}
END
gcc -O1 -o "$TMP/truthmmaps" "$TMP/mmaps.c" -lpthread
if traced klockstat '--comm truthmmaps' '"$TMP/truthmmaps"'; then
	most=$(cat "$TMP/workload.out")
	figure 'waits for mmap_lock, by the code that waits' \
		'[r for r in rows if r["type"].startswith("rwsem") and r["waits"] > 10 and ("mmap" in r["stack"] or "munmap" in r["stack"])]'
	figure 'no longer than four threads can wait' "0 < total('time') < 4 * $most and all(r['worst'] <= r['time'] for r in rows)"
fi
if traced rwlocks '--comm truthmmaps' '"$TMP/truthmmaps"'; then
	most=$(cat "$TMP/workload.out")
	figure 'the same by process' "total('waits') > 10 and 0 < total('time') < 4 * $most"
fi

# --- CPUs -----------------------------------------------------------------------------------------
busy='for i in 1 2 3 4; do timeout 1 sh -c "while :; do :; done" & done; wait'
if traced runqslower '--min 1ms' "$busy"; then
	figure 'threads that waited for a CPU' 'len(rows) > 5 and all(1e6 <= r["lat"] < 20e9 for r in rows)'
fi
if traced cpuwalk '' "$busy"; then
	figure 'every CPU was busy' 'len(rows) == '"$(nproc)"' and all(r["share"] > 50 for r in rows)'
fi
if traced cpuunclaimed '60' "$busy"; then
	figure 'no CPU idles' 'rows[0]["unclaimed"] < 30'
fi
if traced migrations '' "$busy"; then
	figure 'moves between CPUs' 'all(r["from"] != r["to"] for r in rows)'
fi
if traced softirqs '' "$busy"; then
	figure 'soft interrupts' '[r for r in rows if r["count"] > 0 and 0 < r["average"] < 1e9]'
fi
if traced hardirqs '' 'dd if=/dev/zero of=/var/tmp/fathom-irq bs=4k count=50 oflag=direct status=none; rm -f /var/tmp/fathom-irq'; then
	figure 'interrupts' '[r for r in rows if r["count"] > 0]'
fi
if traced timers '' 'sleep 0.3'; then
	figure 'timers that expire' '[r for r in rows if r["count"] > 0 and r["late"] <= r["worst"]]'
fi
cat >"$TMP/busy.c" <<-'END'
	#include <time.h>
	static volatile unsigned long n;
	__attribute__((noinline)) void truth_busy(void) { for (int i = 0; i < 1000000; i++) n++; }
	int main(void)
	{
		while (clock() < CLOCKS_PER_SEC)
			truth_busy();
		return 0;
	}
END
gcc -O1 -fomit-frame-pointer -fno-optimize-sibling-calls -o "$TMP/busy" "$TMP/busy.c"
"$FATHOM" profile -F 199 --json -- "$TMP/busy" >"$rows" 2>"$said"
figure 'a second of CPU time is 199 samples' '160 <= total("count", comm="busy") <= 240'
figure 'nearly all of them in one function' \
	'sum(r["count"] for r in rows if r["user"].endswith("main;truth_busy") and r["user"].startswith("_start;")) >= 150'
"$FATHOM" profile -F 199 -K --json -- "$TMP/busy" >"$rows" 2>"$said"
figure 'hardly any in the kernel' 'total("count", comm="busy") < 60'
cat >"$TMP/slow.c" <<-'END'
	#include <unistd.h>
	__attribute__((noinline)) int truth_slow(int us) { usleep(us); return us; }
	int main(void)
	{
		for (int i = 0; i < 5; i++)
			truth_slow(20000);
		for (int i = 0; i < 50; i++)
			truth_slow(10);
		return 0;
	}
END
gcc -O1 -o "$TMP/slow" "$TMP/slow.c"
if traced funcslower "--file $TMP/slow --min 15ms truth_slow" '"$TMP/slow"'; then
	figure 'five slow calls' 'len(rows) == 5 and all(r["ret"] == "0x4e20" for r in rows)'
fi
if traced funcinterval "--file $TMP/slow truth_slow" '"$TMP/slow"'; then
	figure 'time between calls' 'hists[0]["count"] == 54'
fi
for tool in cpufreq llcstat criticalstat loads kvmexit virtiostat; do
	if traced $tool '' 'sleep 1.2'; then
		pass "$tool runs"
	fi
done
done_testing
