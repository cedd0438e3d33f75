#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Samples taken while a virtual machine ran: their addresses are not of this machine, nor are their
# names. The recording is made here byte by byte, since few machines run guests.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_cmd python3
cd "$TMP" || exit 1
host=$(awk '$3 == "schedule" { print $1; exit }' /proc/kallsyms)
case $host in '' | *[!0]*) ;; *) host= ;; esac
cat >make.py <<'END'
import struct, sys

IP, TID, TIME, CALLCHAIN, CPU, PERIOD = 1, 2, 4, 1 << 5, 1 << 7, 1 << 8
KERNEL, USER, HYPERVISOR, GUEST_KERNEL, GUEST_USER = 1, 2, 3, 4, 5
CONTEXT = {GUEST_KERNEL: 2**64 - 2176, GUEST_USER: 2**64 - 2560, HYPERVISOR: 2**64 - 32}
host = int(sys.argv[1] or "0xffffffff81aaaa00", 16)
chains = sys.argv[2] == "chains"

def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body

def text(s):
    data = s.encode() + b"\0"
    return data + b"\0" * (-len(data) % 8)

def sample(mode, time, ips):
    body = struct.pack("<QIIQIIQ", ips[0], 4242, 4243, time, 0, 0, 1000)
    if chains:
        chain = [CONTEXT[mode]] + ips
        body += struct.pack("<Q%dQ" % len(chain), len(chain), *chain)
    return record(9, mode, body)

attr = struct.pack("<IIQQQQQIIQ", 1, 64, 0, 1000,
                   IP | TID | TIME | CPU | PERIOD | (CALLCHAIN if chains else 0), 0, 1 << 18, 0, 0, 0)
data = record(3, 0, struct.pack("<II", 4242, 4242) + text("qemu") + struct.pack("<IIQII", 4242, 4242, 0, 0, 0))
# where the guest's kernel is said to be, as perf writes it
data += record(1, GUEST_KERNEL, struct.pack("<iiQQQ", 0, 0, 0xffffffff81000000, 0x1000000, 0xffffffff81000000) +
               text("[guest.kernel.kallsyms]_text") + struct.pack("<IIQII", 4242, 4242, 0, 0, 0))
time = 1000
for mode, n, ips in ((GUEST_KERNEL, 5, [0xffffffff81000123, 0xffffffff81001008]),
                     (GUEST_KERNEL, 3, [0xffffffffc0000040]), (GUEST_KERNEL, 2, [0xffffffffc0008010]),
                     (GUEST_KERNEL, 4, [host]), (GUEST_USER, 6, [0x401000]), (HYPERVISOR, 1, [host])):
    for _ in range(n):
        data += sample(mode, time, ips)
        time += 1000
size = len(attr) + 16
head = b"PERFILE2" + struct.pack("<12Q", 104, size, 104, size, 104 + size, len(data), 0, 0, 0, 0, 0, 0)
sys.stdout.buffer.write(head + attr + struct.pack("<QQ", 0, 0) + data)
END
python3 make.py "$host" flat >flat.data
python3 make.py "$host" chains >chains.data
cat >kallsyms <<'END'
ffffffff81000000 T _text
ffffffff81000100 T guest_leaf
ffffffff81001000 T guest_caller
ffffffff81002000 T guest_end
ffffffffc0000000 t guest_driver	[guest_net]
END
cat >modules <<'END'
guest_net 16384 1 - Live 0xffffffffc0000000
guest_disk 8192 0 - Live 0xffffffffc0008000 (OE)
END

of_json() {
	python3 - "$out_file" "$1" <<'END'
import json, sys
r = json.load(open(sys.argv[1]))
rows = {}
for row in r["rows"]:
    rows[row["symbol"], row["module"]] = row["samples"]
assert eval(sys.argv[2]), (rows, r["facts"])
END
}

run "$FATHOM" report -i flat.data --no-children --sort symbol,dso
expect_status 0
unlike 'no name of the host' "$out" '\] schedule'
like 'a guest has a place of its own' "$out" '\[g\] 0xffffffff81000123 +\[guest\.kernel\]'
like '... and so have its programs' "$out" '\[u\] 0x401000 +\[guest\.user\]'
like '... and the hypervisor' "$out" '\[h\] 0xffffffff[0-9a-f]+ +\[hypervisor\]'
like 'they are counted' "$out$err" '20 samples were taken in virtual machines; 14 of them'
like 'and the way to names is said' "$out$err" '\-\-guestkallsyms FILE'

run "$FATHOM" report -i flat.data --no-children --sort symbol,dso --guestkallsyms kallsyms --guestmodules modules
expect_status 0
like 'a function of the guest' "$out" '23\.8.% +5 +\[g\] guest_leaf +\[guest\.kernel\]'
like 'one of its modules' "$out" '\[g\] guest_driver +\[guest\.guest_net\]'
like 'a module without names' "$out" '\[g\] 0xffffffffc0008010 +\[guest\.guest_disk\]'
unlike 'still no name of the host' "$out" '\] schedule'
run "$FATHOM" report -i flat.data --json --no-children --sort symbol,dso --guestkallsyms kallsyms
is 'facts' "$(python3 -c 'import json, sys
f = json.load(open(sys.argv[1]))["facts"]
print(f["guest_samples"], f["guest_samples_without_name"])' "$out_file")" '20 6'

run "$FATHOM" fold -i chains.data --guestkallsyms kallsyms
is 'a stack of the guest' "$(grep guest_leaf "$out_file")" 'qemu;guest_caller;guest_leaf 5000'
is 'its module' "$(grep -c 'guest_driver 3000' "$out_file")" 1
run "$FATHOM" flame -i chains.data --guestkallsyms kallsyms -o guest.svg
expect_status 0
ok 'in the flame graph' grep -q guest_caller guest.svg
run "$FATHOM" script -i chains.data --guestkallsyms kallsyms
expect_out 'ffffffff81000123 guest_leaf+0x23 ([guest.kernel])'
expect_out 'ffffffff81001008 guest_caller+0x8 ([guest.kernel])'
expect_out '401000 [unknown] ([guest.user])'
expect_out '[unknown] ([hypervisor])'
run "$FATHOM" script -i flat.data
unlike 'script, too, has no name of the host' "$out" ' schedule '
expect_out '[unknown] ([guest.kernel])'
run "$FATHOM" perf report -i flat.data --stdio --guestkallsyms kallsyms
expect_status 0
expect_out 'guest_leaf'

# what perf makes of the same file
if command -v perf >/dev/null; then
	perf kvm --guest --guestkallsyms kallsyms --guestmodules modules report -i flat.data --stdio \
		--sort symbol 2>/dev/null >perf.txt
	if grep -q guest_leaf perf.txt; then
		"$FATHOM" report -i flat.data --no-children --sort symbol --guestkallsyms kallsyms | sed '1,/SELF/d' >ours.txt
		is "the share of a function is perf's" \
			"$(awk '/guest_leaf/ { print $1; exit }' ours.txt | tr -d %)" \
			"$(awk '/guest_leaf/ { print $1; exit }' perf.txt | tr -d %)"
	else
		skip 'this perf names no guest of this file'
	fi
else
	skip 'needs the command perf'
fi

# files that cannot be what they are said to be
run "$FATHOM" report -i flat.data --guestkallsyms nothing
expect_status 1
expect_err "cannot open 'nothing'"
echo 'prose' >prose
run "$FATHOM" report -i flat.data --guestkallsyms prose
expect_status 1
expect_err "there are no kernel functions in 'prose'"
expect_err 'hint: it is to be a copy'
sed 's/^[0-9a-f]*/0000000000000000/' kallsyms >hidden
run "$FATHOM" script -i flat.data --guestkallsyms hidden
expect_err "the addresses in 'hidden' are all 0"
printf 'm 18446744073709551615 1 - Live 0xffffffffffffffff\n\n\n a b\n' >bad
run "$FATHOM" report -i flat.data --guestmodules bad
expect_status 1
expect_err "there are no modules with addresses in 'bad'"
done_testing
