#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# timeout: 400
#
# System calls of many programs, as strace writes them: names, arguments, results and errors.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_root
need_cmd strace python3
[ -n "$("$FATHOM" list 'syscalls:sys_enter_close' 2>/dev/null)" ] ||
	plan_skip 'this kernel describes no system calls'
cd "$TMP" || exit 1
cat >commands.txt <<'END'
ls
ls -la d
cat a b
cat missing
cp a c
cp -r d e
mv a c
ln a c
ln -s a c
rm a
rm -r d
rm missing
mkdir -p x/y
rmdir d
touch a z
chmod 600 a
chown 0:0 a
stat a d
head -n 3 a
tail -n 3 a
tail -c 100 a
wc a b
sort a
uniq a
cut -c 1-3 a
tr a b
tee c
dd if=a of=c bs=512 count=3
truncate -s 100 a
du .
df .
find . -name x
grep 7 a
grep 7 missing
sed s/1/2/ a
awk 1 a
cmp a b
diff a b
md5sum a
sha256sum a
base64 a
od a
split a
paste a b
join a b
comm a b
expand a
fold a
nl a
seq 10
id
whoami
uname -a
hostname
date
sleep 0.01
env
printenv
pwd
readlink missing
realpath a
basename a
test -e a
mktemp
sync a
nice true
python3 -S -c print(1)
python3 -S -c open('a').read()
git --version
git init -q r
git hash-object a
sqlite3 t.db 'create table t(x); insert into t values(1)'
tar cf c.tar a b d
gzip a
xz a
python3 -S structs.py
END
cp "$TOP/tests/oracle/structs.py" .
ok 'calls of 60 programs are those of strace, line by line' \
	python3 "$TOP/tests/oracle/strace.py" "$FATHOM" commands.txt
done_testing
