#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Programs that are started over and over, at other addresses each time: their stacks are those of
# their own files.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
# shellcheck source=tests/lib/waits.sh
. "$(dirname "$0")/../lib/waits.sh"

need_root
need_cmd gcc
need_file "$WORKLOADS/started"
cd "$TMP" || exit 1
export XDG_CACHE_HOME=$TMP/cache STARTED=$WORKLOADS/started

# --- two ways that differ in one address -------------------------------------------------------

# Also with another distance to main, which is a stack of its own.
cat >both <<'END'
i=0
while [ $((i += 1)) -le 60 ]; do
	"$STARTED" near 1000
	"$STARTED" next 4000
	"$STARTED" near 1000 $((i % 2 * 4096))
done >/dev/null
END
run "$FATHOM" offcpu --folded -o both.folded -- sh both
expect_status 0

# True of NAME: at least what was asked for, at most the microseconds that its processes say: they count
# their way back to a CPU, too, which may be long on a busy machine.
said() { awk -F= -v name="$1" '$1 == name { us += $2 * 1e6 } END { printf "%d\n", us }' truth; }
way() { echo "^started;_start;.*;main;$1;nap;.*nanosleep"; }
for name in near:120000 next:240000; do
	least=${name#*:} name=${name%:*}
	got=$(sum_of both.folded "$(way $name)")
	ok "all naps under $name are there ($got us, of $least and more up to $(said $name))" \
		[ "$got" -ge $((least * 95 / 100)) -a "$got" -le $(($(said $name) * 101 / 100)) ]
done
is "no stack goes through both" "$(sum_of both.folded 'near.*;next|next.*;near')" 0
is "nor has one of them another root" \
	"$(grep -E '^started;.*;nap;' both.folded | grep -cvE "$(way '(near|next)')")" 0

# --- one program with another library -----------------------------------------------------------

# Alike to the byte but for the names: which file it is must tell.
cat >lib.c <<'END'
#include <time.h>
__attribute__((noinline)) static void WAIT(long us)
{
	struct timespec ts = { .tv_nsec = us * 1000 };

	nanosleep(&ts, 0);
	__asm__ volatile("" ::: "memory");
}
void library(long us)
{
	WAIT(us);
	__asm__ volatile("" ::: "memory");
}
END
cat >user.c <<'END'
#include <stdlib.h>
void library(long us);
int main(int argc, char **argv)
{
	library(atol(argv[argc - 1]));
	__asm__ volatile("" ::: "memory");
	return 0;
}
END
for name in left_ right; do
	mkdir $name
	gcc -O2 -fPIC -shared -Wl,--build-id=none "-DWAIT=${name}_waits" -o $name/libmine.so lib.c || exit 1
done
gcc -O2 -o user user.c -Lleft_ -lmine || exit 1
cat >others <<'END'
i=0
while [ $((i += 1)) -le 50 ]; do
	LD_LIBRARY_PATH=left_ ./user 1000
	LD_LIBRARY_PATH=right ./user 3000
done
END
run "$FATHOM" offcpu --folded -o others.folded -- sh others
expect_status 0
left=$(sum_of others.folded '^user;.*;main;library;left__waits;.*nanosleep')
right=$(sum_of others.folded '^user;.*;main;library;right_waits;.*nanosleep')
ok "the one waited 50 times 1 ms ($left us)" [ "$left" -gt 49000 -a "$left" -lt 90000 ]
ok "the other 50 times 3 ms ($right us)" [ "$right" -gt 147000 -a "$right" -lt 250000 ]
done_testing
