#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
#
# Which build a file and the kernel were: perf's header tells it of its recordings, records of
# mappings of ours. Names come from that build, never from another that is in its place now.
. "$(dirname "$0")/../lib/test.sh"
need_root
need_cmd perf python3
need_file "$FATHOM" "$WORKLOADS/burn" "$WORKLOADS/alloc"
cd "$TMP" || exit 1
export XDG_CACHE_HOME=$TMP/cache # nothing is known from before
mkdir home empty

# How many samples have their leaf in function a, by which both programs read the file.
in_a() { grep -cE '^[[:space:]]+[0-9a-f]+ a\+?.*\(.*/prog\)' "$1"; }

cp "$WORKLOADS/burn" prog
if ! HOME=$TMP/home perf record -q -F 999 -e cpu-clock:u -o p.data -- ./prog --seconds 0.5 a=70 b=30 >/dev/null 2>record.err; then
	plan_skip "perf cannot record: $(head -n 1 record.err)"
fi
"$TOP/tests/oracle/script_unleak.py" p.data
HOME=$TMP/empty "$FATHOM" script -G -F ip,sym,dso -i p.data >before.txt
run "$FATHOM" report -i p.data
expect_out_like '^100.00% +[0-9.]+m?s  prog$' "time is shown as time"
expect_prose 'the recording has no call chains'
ok "a function of the program is named" test "$(in_a before.txt)" -gt 100

cp "$WORKLOADS/alloc" new && mv new prog
rm -rf "$XDG_CACHE_HOME"
HOME=$TMP/empty "$FATHOM" script -G -F ip,sym,dso -i p.data >none.txt
is "another program of that path names nothing" "$(grep '/prog)' none.txt | grep -vc unknown)" 0
HOME=$TMP/empty run "$FATHOM" report -i p.data
expect_out_like 'replaced since|build id' "and it is said why"
HOME=$TMP/home "$FATHOM" script -G -F ip,sym,dso -i p.data >kept.txt
ok "what perf kept of the program names it" cmp before.txt kept.txt

# The kernel, by a byte of its build id that is changed in the header.
perf record -q -a -F 999 -e cpu-clock:k -o k.data -- dd if=/dev/zero of=/dev/null bs=1k count=200000 >/dev/null 2>&1
"$TOP/tests/oracle/script_unleak.py" k.data
cat >change.py <<'END'
import sys
notes, at = open("/sys/kernel/notes", "rb").read(), 0
while at + 12 <= len(notes):
    name, desc, kind = (int.from_bytes(notes[at + i:at + i + 4], "little") for i in (0, 4, 8))
    body = at + 12 + (name + 3) // 4 * 4
    if kind == 3 and notes[at + 12:at + 16] == b"GNU\0":
        build_id = notes[body:body + desc]
        break
    at = body + (desc + 3) // 4 * 4
data = open("k.data", "rb").read()
other = bytes([build_id[0] ^ 0xff]) + build_id[1:]
assert data.count(build_id) >= 1
open("other.data", "wb").write(data.replace(build_id, other))
print(build_id.hex(), other.hex())
END
read -r kernel other < <(python3 change.py)
unnamed() { grep -c '\[unknown\] (\[kernel' "$1"; }
HOME=$TMP/empty "$FATHOM" script -G -F ip,sym,dso -i k.data >same.txt
HOME=$TMP/empty "$FATHOM" script -G -F ip,sym,dso -i other.data >another.txt
ok "this kernel names its functions" test "$(grep -c . same.txt)" -gt 10 -a "$(unnamed same.txt)" -eq 0
is "but not those of another" "$(grep -c . another.txt)" "$(unnamed another.txt)"
HOME=$TMP/empty run "$FATHOM" report -i other.data
expect_prose 'the recording was made on another kernel'
mkdir -p "home/.debug/.build-id/${other:0:2}/${other:2}"
cat /proc/kallsyms >"home/.debug/.build-id/${other:0:2}/${other:2}/kallsyms"
HOME=$TMP/home "$FATHOM" script -G -F ip,sym,dso -i other.data >kept.txt
ok "unless perf kept its names" cmp same.txt kept.txt

# Ours.
"$FATHOM" record -q -F 999 -o ours.data -- dd if=/dev/zero of=/dev/null bs=4k count=200000 status=none
is "perf finds the kernel's build id in our files" \
	"$(perf buildid-list -i ours.data 2>/dev/null | grep -F '[kernel.kallsyms]')" "$kernel [kernel.kallsyms]"
done_testing
