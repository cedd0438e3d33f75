#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
#
# Kinds of waits of threads that all sleep in futex(): by the names of the C library's functions,
# and by the call itself where there are none (musl has no frame information, stripped programs no
# names). What the call cannot tell stays "futex": a wrong kind is worse than none.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_root
need_cmd gcc

cat >"$TMP/locks.c" <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <sys/prctl.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, with = PTHREAD_MUTEX_INITIALIZER, pi;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t sem;

static void in_mutex(void) { pthread_mutex_lock(&mutex); }
static void in_pi(void) { pthread_mutex_lock(&pi); }
static void in_cond(void) { pthread_mutex_lock(&with); pthread_cond_wait(&cond, &with); }
static void in_rwlock(void) { pthread_rwlock_rdlock(&rwlock); }
static void in_sem(void) { sem_wait(&sem); }
static void in_barrier(void) { pthread_barrier_wait(&barrier); }
static void *sleeps(void *p) { prctl(PR_SET_NAME, "k-sleep"); for (;;) pause(); return p; }
static void in_join(void)
{
	pthread_t t;

	pthread_create(&t, NULL, sleeps, NULL);
	pthread_join(t, NULL);
}

static const struct job { const char *name; void (*run)(void); } jobs[] = {
	{ "k-lock", in_mutex }, { "k-pi", in_pi }, { "k-cond", in_cond }, { "k-rwlock", in_rwlock },
	{ "k-semaphore", in_sem }, { "k-barrier", in_barrier }, { "k-join", in_join },
};

static void *begin(void *p)
{
	const struct job *j = p;

	prctl(PR_SET_NAME, j->name);
	j->run();
	return NULL;
}

int main(void)
{
	pthread_mutexattr_t a;
	pthread_t t;

	pthread_mutexattr_init(&a);
	pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_INHERIT);
	if (pthread_mutex_init(&pi, &a))
		pthread_mutex_init(&pi, NULL);
	pthread_mutex_lock(&mutex);
	pthread_mutex_lock(&pi);
	pthread_rwlock_wrlock(&rwlock);
	pthread_barrier_init(&barrier, NULL, 2);
	sem_init(&sem, 0, 0);
	for (unsigned i = 0; i < sizeof(jobs) / sizeof(*jobs); i++)
		pthread_create(&t, NULL, begin, (void *)&jobs[i]);
	for (;;)
		pause();
}
END

# kinds PROGRAM: "k-lock=lock k-pi=lock ..." of its threads, of waits that had begun before
kinds() {
	spawn "$1"
	until [ "$(grep -l '^202 ' /proc/"$spawned"/task/*/syscall | wc -l)" -ge 7 ]; do
		kill -0 "$spawned" || return
	done
	run "$FATHOM" threads -p "$spawned" -d 200ms --idle --json
	kill "$spawned"
	wait "$spawned" 2>/dev/null
	seen=$(python3 - "$out_file" <<'END'
import json, sys
d = json.load(open(sys.argv[1]))
for r in sorted(d["threads"], key=lambda r: str(r["comm"])):
	if not r["comm"].startswith("k-") or r["comm"] == "k-sleep":
		continue
	state = max((k for k in r if k.endswith("_percent")), key=lambda k: r[k] or 0)
	print(r["comm"][2:] + "=" + state[:-len("_percent")], end=" ")
END
	)
}

by_name='barrier=barrier cond=cond join=join lock=lock pi=lock rwlock=rwlock semaphore=semaphore '
gcc -O2 -w "$TMP/locks.c" -o "$TMP/named" -lpthread
kinds "$TMP/named"
is 'glibc: each kind by the name of its function' "$seen" "$by_name"

if gcc -O2 -w -static "$TMP/locks.c" -o "$TMP/static" -lpthread 2>/dev/null && strip "$TMP/static"; then
	kinds "$TMP/static"
	is 'static and stripped: a lock that lends its priority by its operation, no other kind guessed' \
		"$seen" 'barrier=futex cond=futex join=futex lock=futex pi=lock rwlock=futex semaphore=futex '
fi

if command -v musl-gcc >/dev/null; then
	musl-gcc -O2 -w "$TMP/locks.c" -o "$TMP/musl"
	kinds "$TMP/musl"
	is 'musl: a mutex by the value that it waits on, no other kind guessed' "${seen//barrier=barrier/barrier=futex}" \
		'barrier=futex cond=futex join=futex lock=lock pi=lock rwlock=futex semaphore=futex '
else
	skip 'no musl-gcc'
fi

# A rule of the user's own.
mkdir -p "$TMP/config/fathom"
printf 'join\tfutex=wait_bitset:shared:*:other\n' >"$TMP/config/fathom/waits.tsv"
if [ -x "$TMP/static" ]; then
	XDG_CONFIG_HOME=$TMP/config kinds "$TMP/static"
	like 'futex= in a rule of the user' "$seen" 'join=join '
fi

done_testing
