#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
#
# fathom script and evlist against perf's, on one recording made by perf: fields, options, records
# besides samples, the header, and the text of every tracepoint that fires here.
. "$(dirname "$0")/../lib/test.sh"
need_root
need_cmd perf python3
need_file "$FATHOM" "$WORKLOADS/burn"
cd "$TMP" || exit 1
COMPARE=$TOP/tests/oracle/script_compare.py

quietly() { "$@" >/dev/null 2>&1; }

# agree NAME FILE ARGUMENTS...: both print the same, but for classes that script_compare.py explains.
agree() {
	local name=$1 file=$2 text
	shift 2
	"$TOP/tests/oracle/script_unleak.py" "$file"
	perf script --no-inline -i "$file" "$@" >perf.txt 2>perf.err </dev/null
	# BPF programs that others loaded and dropped meanwhile: perf 6.1 stops at such a record
	if grep -q 'failed to process type: 17' perf.err; then
		skip "$name: perf cannot read what it recorded"
		return
	fi
	"$FATHOM" script --no-inline -i "$file" "$@" >ours.txt 2>ours.err
	if text=$(python3 "$COMPARE" perf.txt ours.txt 2>&1); then
		pass "$name: $(tail -n 1 <<<"$text")"
	else
		fail "$name" "$text"
		diag "perf: $(head -n 3 perf.err)" "ours: $(head -n 3 ours.err)"
	fi
}

perf record -q -B -o clock.data -F 499 -a -g -- "$WORKLOADS/burn" --seconds 0.4 >/dev/null 2>&1 ||
	plan_skip "perf cannot record here"
agree 'defaults' clock.data
for fields in comm,tid,cpu,time,event,ip,sym,dso comm,pid,tid,time pid tid cpu,misc,time ip \
	ip,sym,symoff period,event sw:comm,ip +pid,-time -symoff trace:time; do
	agree "-F $fields" clock.data -F "$fields"
done
for fields in ip,insn,insnlen comm,time,insn insnlen; do
	agree "-G -F $fields" clock.data -G -F "$fields"
done
agree '-G' clock.data -G
agree '--ns' clock.data --ns -F time,comm
agree '--reltime' clock.data --reltime -F time,comm
agree '--max-stack 3' clock.data --max-stack 3

# Branches, of a CPU that keeps a record of them.
python3 "$TOP/tests/oracle/script_branches.py" "$WORKLOADS/burn" >branches.data
for fields in brstack brstacksym brstackoff ip,sym,brstack dso,brstack dso,brstackoff \
	ip,sym,dso,brstacksym comm,brstack,brstacksym comm,brstackoff,brstacksym; do
	agree "-F $fields" branches.data -F "$fields"
done
cp "$WORKLOADS/burn" gone
python3 "$TOP/tests/oracle/script_branches.py" gone >gone.data
rm gone
agree '-F brstackoff of a file that is gone' gone.data -F brstackoff

# perf 6.1 has no dsoff: each place in a file is where the mapping says.
"$FATHOM" script --no-inline -i clock.data -F ip,dsoff >dsoff.txt
"$FATHOM" script --no-inline -i clock.data -F ip,dso >dso.txt
ok '-F dsoff: the file, and the place in it' python3 - <<'END'
import re
with_place = without = 0
for a, b in zip(open("dsoff.txt"), open("dso.txt")):
    m = re.fullmatch(r"\t *([0-9a-f]+) \((.*)\+0x([0-9a-f]+)\)\n", a)
    if m and m[2].startswith("/"):
        # in chains, code of a file is shown by its place in it
        assert b == a.replace("+0x" + m[3], "") and m[1] == m[3], (a, b)
        with_place += 1
    else:
        assert a == b or m, (a, b)
        without += 1
assert with_place > 50, (with_place, without)
END

# What perf refuses, we refuse.
for fields in comm,addr nothing comm,+pid hw:trace symoff; do
	not_ok "perf refuses -F $fields" quietly perf script -i clock.data -F "$fields"
	run "$FATHOM" script -i clock.data -F "$fields"
	ok "-F $fields is refused" [ "$status" -ne 0 ]
	expect_err 'fathom: '
done

perf record -q -B -o side.data -e cpu-clock -c 2000000 -a --switch-events --namespaces --all-cgroups -- \
	sh -c 'ls; sleep 0.1; ls' >/dev/null 2>&1
agree 'records besides samples' side.data --show-task-events --show-mmap-events \
	--show-lost-events --show-switch-events --show-namespace-events --show-cgroup-events \
	--show-bpf-events

for file in clock.data side.data; do
	# names of BPF programs of several functions need their type information: left out
	bpf='bpf_prog_info|sub_prog|# btf info'
	is "header of $file" "$("$FATHOM" script --header-only -i $file | grep -Ev "$bpf")" \
		"$(perf script --header-only -i $file 2>/dev/null | grep -Ev "$bpf")"
	is "evlist of $file" "$("$FATHOM" evlist -i $file)" "$(perf evlist -i $file)"
	is "evlist -v of $file" "$("$FATHOM" evlist -v -i $file)" "$(perf evlist -v -i $file)"
	is "evlist -F of $file" "$("$FATHOM" evlist -F -i $file)" "$(perf evlist -F -i $file)"
done

# --- tracepoints ------------------------------------------------------------------------------

# Opening one takes the kernel a while, whether it fires or not: half of all are of file systems
# that are not mounted.
is_unused_fs() {
	grep -Eq "[[:space:]]$1\$" /proc/filesystems &&
		! awk -v fs="$1" '$3 == fs { found = 1 } END { exit !found }' /proc/mounts
}
# A busy machine does not make the comparison longer: what fires here, fires within this size. When
# it is reached perf ends what it runs, and may take that for its own failure.
most='--max-size=32M'
recorded_most() { grep -q 'size limit reached' record.err; }
systems=
for dir in /sys/kernel/tracing/events/*/; do
	system=$(basename "$dir")
	case $system in
	# refused to perf here, or of the tracer itself; system calls are a test of their own
	irq_vectors | ftrace | xen | hyperv | kvm* | nmi | mce | syscalls) ;;
	*) is_unused_fs "$system" || systems="$systems,$system:*" ;;
	esac
done
cat >load.sh <<'EOF'
ls -l / >/dev/null; sleep 0.05; dd if=/dev/zero of=file bs=64k count=8 conv=fsync 2>/dev/null; rm file
python3 -c "import socket
s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen()
c = socket.create_connection(s.getsockname()); a, _ = s.accept(); a.send(b'x'); c.recv(1)"
EOF
if perf record -q -B -m 4096 $most -o all.data -e "${systems#,}" -a -- sh load.sh >/dev/null 2>record.err ||
	recorded_most; then
	agree 'every tracepoint' all.data
	events=$(awk '{ for (i = 4; i < 8; i++) if ($i ~ /^[a-z0-9_]+:[a-zA-Z0-9_]+:$/) { print $i; next } }' \
		perf.txt | sort -u | wc -l)
	diag "$events tracepoints fired"
	if grep -q 'failed to process type: 17' perf.err; then
		skip 'perf cannot read what it recorded'
	else
		ok 'at least 50 different tracepoints fired' [ "$events" -ge 50 ]
	fi
	unlike 'only few formats are not understood' \
		"$(grep -c 'FAILED TO PARSE' ours.txt)" '^[0-9]{4,}$'
else
	skip "perf cannot record all tracepoints: $(tail -n 1 record.err)" 3
fi
if perf record -q -B -m 4096 $most -o calls.data -e 'syscalls:*' -a -- ls -lR /usr/share/doc >/dev/null 2>record.err ||
	recorded_most; then
	agree 'system calls' calls.data
	is 'evlist --trace-fields' "$("$FATHOM" evlist --trace-fields -i calls.data)" \
		"$(perf evlist --trace-fields -i calls.data)"
else
	skip 'perf cannot record system calls' 2
fi
done_testing
