#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# BPF programs that were loaded before a recording began: their functions are in it by name and
# address, and perf reads what it keeps about them.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_root
need_cmd perf
cd "$TMP" || exit 1

# A tool that loads a program of one function, one that loads programs of several, and both hold
# them.
spawn "$FATHOM" cpudist -d 60s
spawn "$FATHOM" offcpu -d 60s
there() { grep -q 'bpf_prog_.*_offcpu_switch' /proc/kallsyms && grep -q 'bpf_prog_.*_hist_switch' /proc/kallsyms; }
for _ in $(seq 100); do
	there && break
	kill -0 "$spawned" 2>/dev/null || break
	sleep 0.2
done
there || plan_skip "BPF programs do not load here"

# Other tests load theirs at the same time: what counts is what was there all the time. The tag of
# a program of several functions is not that of its first function, which kallsyms alone ignores.
untag() { sed 's/bpf_prog_[0-9a-f]*_//' | sort -u; }
loaded() { grep 'bpf_prog_.*_offcpu_' /proc/kallsyms | awk '{ print $1, $3 }' | untag; }
loaded >first
run "$FATHOM" record -a -F 999 -o before.data -- "$WORKLOADS/burn" --seconds 0.2 a=100
expect_status 0
run "$FATHOM" record -o - -- true
expect_status 0
cp "$out_file" pipe.data
loaded | comm -12 first - >kallsyms
ok "programs of several functions are loaded" test "$(grep -c . kallsyms)" -ge 3

named() { sed -n 's/.*KSYMBOL addr \([0-9a-f]*\) .* flags 0x0 name \(.*\)/\1 \2/p' "$1" | untag; }
for file in before.data pipe.data; do
	"$FATHOM" script -i "$file" --show-bpf-events >ours
	perf script -i "$file" --show-bpf-events >theirs 2>/dev/null
	named ours >functions
	is "$file has functions by the kernel's names and addresses" "$(comm -23 kallsyms functions)" ''
	ok "perf reads the same from it" diff <(grep RECORD_KSYMBOL ours) <(grep RECORD_KSYMBOL theirs)
	ok "programs as well" diff <(grep RECORD_BPF ours) <(grep RECORD_BPF theirs)
done

"$FATHOM" script -I -i before.data --header-only >ours
perf script -I -i before.data --header-only >theirs 2>/dev/null
ok "the header tells of programs" grep -q '# bpf_prog_info [0-9]*: bpf_prog_[0-9a-f]*_hist_switch' ours
ok "and of types" grep -q '# btf info' ours
ok "and of functions by their own names" grep -q 'sub_prog [0-9]*: bpf_prog_[0-9a-f]*_offcpu_[a-z_]* addr' ours
ok "all of it as perf prints it" diff theirs ours

# Programs that come and go: perf 6.1 crashes when it reads of the end of one that it knows.
spawn sh -c "while :; do '$FATHOM' offcpu -d 50ms >/dev/null 2>&1; done"
run "$FATHOM" record -F 999 -d 1500ms -o churn.data
expect_status 0
perf script -i churn.data --show-bpf-events >theirs 2>perf.err
is "perf reads a recording in which programs ended" "$?" 0
ok "of which some began meanwhile" grep -q 'RECORD_KSYMBOL.*flags 0x0' theirs
not_ok "none is said to have ended" grep -q 'RECORD_KSYMBOL.*flags 0x1' theirs

# A word of the attr that is newer than the attr that every perf reads.
run "$FATHOM" record -e software/config=0,config4=1/ -o word.data -- true
if [ "$status" -ne 0 ]; then
	expect_err "sets a config word that this kernel does not have"
fi
done_testing
