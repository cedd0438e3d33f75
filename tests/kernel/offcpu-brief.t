#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Programs that live for a millisecond, from files that nobody else has mapped: each is gone before
# the tables of its files are requested, wherever these lie.
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

# Code in no file: what it is must be asked for while its process is there, and nobody polls for that
# as often as such a process ends.
cat >jit.c <<'END'
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
static void naps(void)
{
	struct timespec ts = { .tv_nsec = 20000000 };

	nanosleep(&ts, 0);
}
int main(void)
{
	/* push %rbp; mov %rsp,%rbp; call *%rdi; pop %rbp; ret */
	static const unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3 };
	char path[64], *at = mmap(0, 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	FILE *f;

	memcpy(at, code, sizeof(code));
	mprotect(at, 4096, PROT_READ | PROT_EXEC);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	f = fopen(path, "w");
	fprintf(f, "%lx %zx jit_waits\n", (unsigned long)at, sizeof(code));
	fclose(f);
	((void (*)(void (*)(void)))at)(naps);
	puts(path);
	return 0;
}
END
if [ "$(uname -m)" != x86_64 ]; then
	skip 'x86-64 code only' 2
	done_testing
fi
gcc -O2 -o briefjit jit.c || exit 1
"$FATHOM" offcpu --comm briefjit -d 4s --folded -o jit.folded 2>jit.err &
watcher=$!
attached() { grep -qs 'tp_name:.sched_switch' "/proc/$watcher/fdinfo/"*; }
wait_until attached
for _ in $(seq 40); do ./briefjit; done >maps
wait "$watcher"
ok "processes with code of their own, that live for 20 ms: it ends well ($(cat jit.err))" [ -s jit.folded ]
all=$(sum_of jit.folded '^briefjit;.*nanosleep') named=$(sum_of jit.folded '^briefjit;_start;.*;main;jit_waits;naps;')
ok "their code has its name ($named of $all us)" [ "$all" -gt 500000 -a "$named" -gt $((all * 2 / 3)) ]
xargs rm -f <maps
done_testing
