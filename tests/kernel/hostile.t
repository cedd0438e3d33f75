#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# timeout: 240
#
# A profiler that root runs where others can write: directories, links, names and files that somebody
# prepared. Nothing of anybody else is deleted or overwritten, no cache is poisoned, no escape sequence
# reaches the terminal.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_root
need_cmd gcc python3 setpriv
cd "$TMP" || exit 1
chmod 711 "$TMP"
export XDG_CACHE_HOME=$TMP/cache
other=65534

# on_terminal COMMAND...: what a terminal would get, in $out
on_terminal() {
	out=$(timeout 60 python3 - "$@" <<'P'
import os, pty, sys
def read(fd):
    try:
        return os.read(fd, 65536)
    except OSError:
        return b""
data = b""
pid, fd = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
while True:
    piece = read(fd)
    if not piece:
        break
    data += piece
os.waitpid(pid, 0)
sys.stdout.write(repr(data))
P
	)
}

# --- caches -------------------------------------------------------------------------------------

cat >prog.c <<'C'
#include <stdlib.h>
__attribute__((noinline)) void leaf(volatile unsigned long *n)
{
	volatile char room[40];

	for (int i = 0; i < 100000; i++)
		room[i % 40] = (char)++*n;
}
__attribute__((noinline)) void middle(volatile unsigned long *n)
{
	volatile char room[72];

	room[0] = 1;
	leaf(n);
	room[1] = room[0];
}
int main(int argc, char **argv)
{
	volatile unsigned long n = 0;

	for (int i = atoi(argv[argc - 1]); i; i--)
		middle(&n);
	return 0;
}
C
gcc -g -O1 -fomit-frame-pointer -Wl,--build-id=0x00112233445566778899aabbccddeeff00112233 -o prog prog.c || exit 1

mkdir -p home/.cache/fathom theirs
truncate -s 300M theirs/id_rsa theirs/one theirs/two theirs/00112233445566778899aabbccddeeff.sym
ln -s "$TMP/theirs" home/.cache/fathom/symbols
chown -hR $other home theirs
(
	unset XDG_CACHE_HOME
	HOME=$TMP/home timeout 60 "$FATHOM" prebuild --lines "$TMP/prog" >/dev/null 2>&1
)
is 'a linked cache loses no file' "$(find theirs -type f | wc -l)" 4
is "root puts nothing into another user's home" "$(find home theirs -user root | wc -l)" 0

mkdir -p cache/fathom
ln -s "$TMP/theirs" cache/fathom/symbols
run timeout 60 "$FATHOM" prebuild --lines "$TMP/prog"
is 'nor does one below a directory of ours' "$(find theirs -type f | wc -l)" 4
rm -rf cache

mkdir -p cache/fathom/symbols
truncate -s 600M cache/fathom/symbols/notes.txt cache/fathom/symbols/00112233445566778899aabbccddeeff.sym
run timeout 60 "$FATHOM" prebuild --lines "$TMP/prog"
expect_status 0
ok 'foreign files in the cache are kept' test -e cache/fathom/symbols/notes.txt
not_ok '... and old ones of ours go' test -e cache/fathom/symbols/00112233445566778899aabbccddeeff.sym
rm -rf cache

# A program with the build id and the headers of another, and other frame information.
python3 - <<'P' || exit 1
import subprocess
data = bytearray(open("prog", "rb").read())
for line in subprocess.run(["readelf", "-SW", "prog"], capture_output=True, text=True).stdout.split("\n"):
    f = line.replace("[ ", "[").split()
    if len(f) > 5 and f[1] == ".eh_frame":
        at, size = int(f[4], 16), int(f[5], 16)
frame = data[at:at + size]
# the size of a frame, DW_CFA_def_cfa_offset N: another one
i = 0
while i < len(frame) - 1:
    if frame[i] == 0x0e and frame[i + 1] >= 16 and frame[i + 1] % 8 == 0:
        frame[i + 1] += 8
        i += 1
    i += 1
data[at:at + size] = frame
open("fake", "wb").write(data)
P
chmod 755 fake
run timeout 60 "$FATHOM" record -q -e cpu-clock -F 999 -o fake.data -- ./fake 2000
run timeout 60 "$FATHOM" record -q -e cpu-clock -F 999 -o prog.data -- ./prog 2000
run timeout 60 "$FATHOM" fold -i prog.data
like 'a copied build id does not poison the cache' "$out" 'main;middle;leaf'
unlike '... not even in part' "$(grep leaf <<<"$out" | grep -v 'main;middle;leaf' | awk '{n += $NF} END {print n > 20000000}')" 1

# --- what a recording names -----------------------------------------------------------------------

# A mapping of a pipe, by a path that leads anywhere. Whoever opens a pipe lets the writer go on.
pipe=/proc/1/root$TMP/pipe
same=$TMP/$(printf 'p%.0s' {1..16})
mkfifo "$TMP/pipe"
cp prog "$same"
run timeout 60 "$FATHOM" record -q --no-names --compress=0 -e cpu-clock -F 999 -o named.data -- "$same" 2000
expect_status 0
python3 - "$same" "$pipe" <<'P' || exit 1
import sys
old, new = (a.encode() for a in sys.argv[1:])
assert len(old) == len(new), (old, new)
data = open("named.data", "rb").read()
assert old in data
open("named.data", "wb").write(data.replace(old, new))
P
(: >pipe; echo >opened) &
writer=$!
for command in "report" "script -F ip,sym,srcline" "annotate leaf" "fold" "flame --code -o x.html"; do
	# shellcheck disable=SC2086 # words
	timeout 60 "$FATHOM" $command -i named.data >/dev/null 2>&1 </dev/null
	[ $? -ne 124 ]
	is "$command of a recording that names a pipe ends" $? 0
done
not_ok '... and none has opened it' test -e opened
timeout 10 cat pipe
wait $writer
ok '... which would have been seen' test -e opened

# --- output files -------------------------------------------------------------------------------

mkdir shared
chown $other shared
echo precious >victim
ln -s "$TMP/victim" shared/out.data
chown -h $other shared/out.data
run timeout 60 "$FATHOM" record -q -e cpu-clock -o shared/out.data --force -- ./prog 100
expect_status 0
is "a recording does not follow another user's link" "$(cat victim)" precious
ok '... it takes its place' test -f shared/out.data -a ! -L shared/out.data
mkdir etc
ln -s "$TMP/etc" shared/dir
chown -h $other shared/dir
run timeout 60 "$FATHOM" record -q -e cpu-clock -o shared/dir/shadow --force -- ./prog 100
expect_err_like 'link of another user'
not_ok '... nor through a linked directory' test -e etc/shadow

# somebody switches the name between a file and a link all the time
setpriv --reuid=$other --regid=$other --clear-groups bash -c \
	"cd '$TMP/shared' && while :; do ln -sfn '$TMP/victim' race.data; rm -f race.data; done" &
racer=$!
for _ in 1 2 3 4 5 6 7 8 9 10; do
	timeout 20 "$FATHOM" record -q -e cpu-clock -o shared/race.data --force -- ./prog 1 >/dev/null 2>&1
done
kill $racer
wait $racer 2>/dev/null
is 'the race is lost by whoever runs it' "$(cat victim)" precious

# --- text on a terminal -------------------------------------------------------------------------

cat >evil.py <<'P'
import sys, time
open("/proc/self/comm", "wb").write(b"\x1b[31mevil")
while True:
    end = time.monotonic() + 0.02
    while time.monotonic() < end:
        pass
    time.sleep(0.02)
P
spawn python3 evil.py
evil=$spawned
is_evil() { grep -q evil "/proc/$evil/comm"; }
wait_until is_evil
run timeout 60 "$FATHOM" record -q -e cpu-clock -F 499 -p "$evil" -d 500ms -o evil.data
expect_status 0
on_terminal "$FATHOM" script -i evil.data -F comm,pid,time
like 'script escapes names on a terminal' "$out" '\\\\x1b\[31mevil'
unlike '... all of them' "$out" "[^\\\\]\\\\x1b\[31mevil"
on_terminal "$FATHOM" script --raw -i evil.data -F comm,pid,time
like '... unless it is asked not to' "$out" "[^\\\\]\\\\x1b\[31mevil"
run "$FATHOM" script -i evil.data -F comm,pid,time
like '... a pipe gets the bytes' "$out" $'\x1b''\[31mevil'
on_terminal "$FATHOM" fold -i evil.data
unlike 'fold' "$out" "[^\\\\]\\\\x1b\[31mevil"
on_terminal "$FATHOM" offcpu -f -p "$evil" -d 500ms
like 'offcpu -f' "$out" '\\\\x1b\[31mevil'
unlike 'offcpu -f: all of them' "$out" "[^\\\\]\\\\x1b\[31mevil"
program="profile:hz:99 /pid == $evil/ { printf(\"<%s>\\n\", comm); @[comm] = count(); exit(); }"
on_terminal "$FATHOM" trace -d 5s -e "$program"
like 'trace' "$out" '\\\\x1b\[31mevil'
unlike 'trace: all of them' "$out" "[^\\\\]\\\\x1b\[31mevil"
on_terminal "$FATHOM" trace --raw -d 5s -e "$program"
like 'trace --raw' "$out" "[^\\\\]\\\\x1b\[31mevil"
kill "$evil"

# --- privileges ---------------------------------------------------------------------------------

cp "$FATHOM" suid
chmod 4755 suid
setpriv --reuid=$other --regid=$other --clear-groups ./suid record -q -e cpu-clock -o - -- \
	bash -p -c 'id -u >&2' >/dev/null 2>ids
is 'a launched program runs as the user, not as a set-uid fathom' "$(grep -x '[0-9]*' ids)" $other

spawn ./prog 100000000
"$FATHOM" record -q -e cpu-clock -a -o caps.data -d 2s >/dev/null 2>&1 &
pid=$!
has_dropped() { ((!(0x$(awk '/^CapEff/ {print $2}' "/proc/$pid/status") & 1 << 7))); }
wait_until has_dropped
effective=$((0x$(awk '/^CapEff/ {print $2}' /proc/$pid/status)))
is 'capabilities are dropped: setuid, sys_module, sys_rawio' \
	$((effective & (1 << 7 | 1 << 16 | 1 << 17))) 0
wait $pid
is '... and what is used stays' $? 0
ok '... the recording is there' test -s caps.data

for command in "stat -a" "syscount -d 20s"; do
	# shellcheck disable=SC2086 # words
	"$FATHOM" $command >/dev/null 2>&1 &
	pid=$!
	wait_until has_dropped
	is "$command drops them, too" \
		$((0x$(awk '/^CapEff/ {print $2}' /proc/$pid/status) & (1 << 7 | 1 << 16 | 1 << 17))) 0
	kill -INT $pid
	wait $pid
	is '... and goes on to its end' $? 0
done

# --- limits -------------------------------------------------------------------------------------

run bash -c "ulimit -n 24; exec '$FATHOM' offcpu -d 200ms"
like 'too few descriptors: the limit is named' "$err" 'ulimit -n'
unlike '... not a version of the kernel' "$err" 'Linux 5'

# limited WHAT LIMIT HINT COMMAND...: it fails, and names the limit; nothing of the libraries is shown
limited() {
	local what=$1 limit=$2 hint=$3
	shift 3
	# shellcheck disable=SC2016 # for the inner shell
	run bash -c 'ulimit -c 0; ulimit $0; exec "$@"' "$limit" "$FATHOM" "$@"
	ok "$what: fails" [ "$status" -ne 0 ]
	like "$what: the limit is named" "$err" "hint: .*$hint"
	unlike "$what: in our words alone" "$err" 'libbpf|Linux 5'
}
# How many it needs depends on the machine: with any number it works or names the limit, by four it fails.
for n in 4 6 8 10 12 16 20 24 28 32 36 40; do
	rm -f limited.data
	run bash -c "ulimit -c 0; ulimit -n $n; exec '$FATHOM' record -q -a -e cpu-clock -d 100ms -o limited.data"
	if [ "$status" -eq 0 ]; then
		run "$FATHOM" script -i limited.data
		is "record, $n descriptors: what it has written is read" "$status" 0
	else
		like "record, $n descriptors: the limit is named" "$err" "hint: .*open files is $n: raise it with 'ulimit -n'"
	fi
	[ $n -gt 4 ] || ok "record, $n descriptors: fails" [ "$status" -ne 0 ]
	unlike "... in our words alone" "$err" 'libbpf|Linux 5'
done
limited 'record --off-cpu, descriptors' '-n 12' "'ulimit -n'" \
	record --force -q -a --off-cpu -d 200ms -o limited.data
limited 'strace, descriptors' '-n 12' "open files is 12" strace -c true
limited 'a tool, descriptors' '-n 8' "open files is 8" syscount -d 200ms
limited 'trace, descriptors' '-n 8' "open files is 8" trace -d 200ms -e 'BEGIN { exit(); }'
limited 'stat, descriptors' '-n 6' "'ulimit -n'|ulimit -n" stat -a -- sleep 0.1
limited 'record, address space' '-v 60000' "address space is 60000 KB: raise it with 'ulimit -v'" \
	record --force -q -a --off-cpu -d 200ms -o limited.data
limited 'offcpu, data' '-d 8000' "data is 8000 KB: raise it with 'ulimit -d'" offcpu -a -d 200ms

done_testing
