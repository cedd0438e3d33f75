#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs that live for a millisecond, from files that nobody else has mapped: each is gone before
# the tables of its files are asked for, wherever these lie.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
# shellcheck source=tests/lib/waits.sh
. "$(dirname "$0")/../lib/waits.sh"

need_root
need_cmd gcc unshare mount
cd "$TMP" || exit 1
export XDG_CACHE_HOME=$TMP/cache

cat >library.c <<'END'
#include <time.h>
__attribute__((noinline)) void library_naps(void)
{
	struct timespec ts = { .tv_nsec = 1000000 };

	nanosleep(&ts, 0);
	__asm__ volatile("" ::: "memory");
}
END
cat >program.c <<'END'
void library_naps(void);
__attribute__((noinline)) void program_waits(void)
{
	library_naps();
	__asm__ volatile("" ::: "memory");
}
int main(void)
{
	program_waits();
	__asm__ volatile("" ::: "memory");
	return 0;
}
END
mkdir made
gcc -O2 -fomit-frame-pointer -shared -fPIC -o made/libbrief.so library.c || exit 1
gcc -O2 -fomit-frame-pointer -o made/brief program.c -Lmade -lbrief -Wl,-rpath,'$ORIGIN' || exit 1

# Runs the program in the folder for three seconds, again and again, under another name.
cat >again <<'END'
cp "$1/brief" "$1/$2"
end=$(($(date +%s) + 3))
while [ "$(date +%s)" -le $end ]; do
	for _ in 1 2 3 4 5 6 7 8 9 10; do "$1/$2"; done
done
END

# The folder that is mounted, in a mount namespace of its own; 77: it cannot be.
cat >mounted <<'END'
how=$1 fathom=$2
mkdir -p at lower upper work
case $how in
tmpfs) mount -t tmpfs none at && cp made/libbrief.so made/brief at ;;
bind) mkdir -p other/deep && cp made/libbrief.so made/brief other/deep && mount --bind other/deep at ;;
overlay)
	# of the upper and of the lower file system one each
	mount -t tmpfs none work && mkdir -p work/upper work/work &&
		cp made/libbrief.so made/brief lower &&
		mount -t overlay -o "lowerdir=$PWD/lower,upperdir=$PWD/work/upper,workdir=$PWD/work/work" none at
	;;
esac || exit 77
"$fathom" offcpu --folded -o "$how.folded" -- sh again "$PWD/at" "$how"
END

# judge NAME: most of what it waited is known up to main, with names.
judge() {
	local all whole

	all=$(sum_of "$1.folded" "^$1;.*nanosleep")
	whole=$(sum_of "$1.folded" "^$1;_start;.*;main;program_waits;library_naps;(.*;)?[^;]*nanosleep;")
	ok "$2: short lives are known from main on ($whole of $all us)" \
		[ "$all" -gt 20000 -a "$whole" -gt $((all * 2 / 3)) ]
}

mkdir plain
cp made/libbrief.so made/brief plain
run "$FATHOM" offcpu --folded -o plain.folded -- sh again "$TMP/plain" plain
expect_status 0
judge plain "a folder"

for how in tmpfs bind overlay; do
	run unshare -m --propagation private sh mounted "$how" "$FATHOM"
	if [ "$status" -eq 77 ]; then
		skip "$how cannot be mounted: $err" 2
		continue
	fi
	expect_status 0
	judge "$how" "$how"
done
done_testing
