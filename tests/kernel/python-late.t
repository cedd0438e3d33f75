#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
#
# Functions of Python also in stacks that the kernel could not finish: those through a library that
# was just loaded, of which it has no table yet. They are copied, and finished here.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_sampler
need_pythons
need_cmd gcc python3
cd "$TMP" || exit 1
export XDG_CACHE_HOME=$TMP/cache

cat >spin.c <<'END'
#include <time.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

volatile unsigned long sink;

__attribute__((noinline)) void spin_inner(double seconds)
{
	double end = now() + seconds;

	while (now() < end)
		for (int i = 0; i < 1000; i++)
			sink += (unsigned long)i;
}

void spin(double seconds)
{
	spin_inner(seconds);
	sink++;
}
END
gcc -O2 -shared -fPIC -Wl,--build-id=none -o spin.so spin.c || plan_skip "gcc makes no libraries here"
# Every library is a file that nobody has seen.
cat >load.py <<'END'
import ctypes, shutil, time

def leaf(i):
    path = "./lib%d.so" % i
    shutil.copy("spin.so", path)
    with open(path, "ab") as f:
        f.write(b"x" * (i + 1))
    spin = ctypes.CDLL(path).spin
    spin.argtypes = [ctypes.c_double]
    spin(0.02)

def work():
    # until the interpreter itself is known
    end = time.monotonic() + 1
    while time.monotonic() < end:
        sum(i * i for i in range(1000))
    for i in range(60):
        leaf(i)

work()
END
for python in "${pythons[@]}"; do
	rm -f late.data lib*.so
	name=$("$python" -c 'import sys; print("python %d.%d.%d" % sys.version_info[:3])')
	"$python" -c 'import ctypes' 2>/dev/null || { skip "$name has no ctypes" 2 && continue; }
	# the whole machine: the unwinder is there before the program
	run "$FATHOM" record -e cpu-clock -F 1999 -a -o late.data -- "$python" load.py
	expect_status 0 "$name: recorded"
	"$FATHOM" script -i late.data -F comm,ip,sym >late.txt 2>/dev/null
	"$FATHOM" stacks --json -i late.data >stacks.json
	ok "$name: functions of Python are in all stacks of new libraries" python3 - <<'END'
import json
rows = json.load(open("stacks.json"))["processes"]
late = sum(r["late"] for r in rows if r["comm"].startswith("python"))
stacks = [s.splitlines() for s in open("late.txt").read().split("\n\n")]
whole = wrong = 0
for s in stacks:
    names = [line.split()[1] for line in s[1:] if len(line.split()) > 1]
    if "spin_inner" not in names or "_start" not in names:
        continue
    whole += 1
    at = [names.index(n) if n in names else -1 for n in ("spin_inner", "leaf", "work")]
    wrong += not 0 <= at[0] < at[1] < at[2]
print("# %d stacks, %d of them finished late, %d without functions or in a wrong order" %
      (whole, late, wrong))
assert late > 10 and whole > 200 and wrong * 200 <= whole
END
done
done_testing
