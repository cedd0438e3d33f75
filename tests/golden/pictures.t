#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Comparisons, heat maps, call graphs, components; other people's formats in and out.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
cd "$TMP" || exit 1

well_formed() {
	if command -v xmllint >/dev/null; then
		ok "$1: well-formed" xmllint --noout "$1"
	else
		skip 'needs xmllint'
	fi
}
# shellcheck disable=SC2317
is_json() { python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$1"; }
content() { sed -e '/<style>/,/<\/style>/d' -e '/<script>/,/<\/script>/d' "$1"; }
titles() { grep -o '<title>[^<]*</title>' "$1" | sed 's/<[^>]*>//g'; }

printf 'shop;main;a 100\nshop;main;b 50\nshop;main;gone;x 25\nshop;main;same 200\n' >before
printf 'shop;main;a 300\nshop;main;b 10\nshop;main;newf;y 25\nshop;main;same 205\n' >after

# --- diff -------------------------------------------------------------------------------------
run "$FATHOM" diff before after
expect_status 0
golden diff.txt "$out_file"
run "$FATHOM" diff before after -o diff.svg
expect_status 0
titles diff.svg >boxes
golden diff-boxes.txt boxes
well_formed diff.svg
run "$FATHOM" diff before after --absolute --json
expect_out '"factor": 1'
run "$FATHOM" diff before after --swap
expect_out 'before: after'
run "$FATHOM" diff before after -o diff.html
expect_status 0
like 'the viewer opens as a comparison' "$(cat diff.html)" 'baseline'
printf 'm;a 10 20\nm;b 30 20\n' >two
run "$FATHOM" diff two --json
expect_out '"symbol": "a"'
run "$FATHOM" diff before
expect_status 1
expect_err 'does not hold two profiles'
run "$FATHOM" diff before no-such-file
expect_err "'no-such-file'"
: >empty
run "$FATHOM" diff before empty
expect_err "'empty' is empty"
run "$FATHOM" diff before after --confidence 100
expect_status 2
run "$FATHOM" diff before --time2 +1,+2
expect_status 2
cat >script.txt <<'END_SCRIPT'
t 1/1 [000] 1.000000:    10 cpu-clock:
	1 early (x)
	2 main (x)

t 1/1 [000] 3.000000:    10 cpu-clock:
	1 late (x)
	2 main (x)

END_SCRIPT
run "$FATHOM" diff script.txt --time +0,+1 --time2 +1,+3 --confidence 0
expect_status 0
expect_out_like 'vanished +100.00% +0.00% .*early'
expect_out_like 'new +0.00% +100.00% .*late'
cp script.txt script2.txt
run "$FATHOM" diff script.txt script2.txt --time +0,+1 --time2 +1,+3 --confidence 0
expect_status 0
expect_out_like 'vanished +100.00% +0.00% .*early'
expect_out_like 'new +0.00% +100.00% .*late'

# --- heat maps --------------------------------------------------------------------------------
awk 'BEGIN { for (i = 0; i < 400; i++) printf "%d %d\n", i * 5000, 2 ^ (i % 12) }' >latency.txt
run "$FATHOM" heatmap -t latency latency.txt
expect_status 0
golden heatmap-latency.txt "$out_file"
run "$FATHOM" heatmap -t latency latency.txt -o latency.svg
expect_status 0
well_formed latency.svg
is 'a cell for each that is not empty' "$(grep -c 'data-c=' latency.svg)" \
	"$("$FATHOM" heatmap -t latency latency.txt --json | python3 -c \
		'import json, sys; print(len(json.load(sys.stdin)["cells"]))')"
run "$FATHOM" heatmap script.txt --step 1s
expect_status 0
expect_out 'in script.txt, a column is 1.00s'
expect_out 'fathom flame -i script.txt --time 1.000,4.000'
run "$FATHOM" heatmap script.txt
expect_status 0
expect_out 'a column is 100ms'
run "$FATHOM" heatmap script.txt -o offsets.svg
like 'the picture knows its file' "$(cat offsets.svg)" 'data-file="script.txt"'
well_formed offsets.svg
run "$FATHOM" heatmap before
expect_status 4
expect_err 'no sample has a time'
printf 'no numbers here\n' >words.txt
run "$FATHOM" heatmap -t latency words.txt
expect_status 1
run "$FATHOM" heatmap --pair nonsense before
expect_status 2

# --- call graph -------------------------------------------------------------------------------
run "$FATHOM" callgraph after
expect_status 0
golden callgraph.txt "$out_file"
run "$FATHOM" callgraph after -o graph.svg
content graph.svg >picture
golden callgraph.svg picture
well_formed graph.svg
run "$FATHOM" callgraph after --dot
golden callgraph.dot "$out_file"
run "$FATHOM" callgraph after --min-node 10
expect_out 'left out: 3 functions'
run "$FATHOM" callgraph after --focus 'zzz*'
expect_status 4
run "$FATHOM" callgraph after -o graph.gif
expect_status 2
run "$FATHOM" callgraph after -o graph.html
expect_status 0

# --- components -------------------------------------------------------------------------------
printf '%s\n' 'iperf;main;send;tcp_sendmsg_[k];_copy_from_iter_[k] 50' \
	'iperf;main;send;tcp_sendmsg_[k] 20' 'iperf;main;tcp_ack.part.0_[k] 10' \
	'iperf;main;_raw_spin_lock_[k] 10' 'iperf;main;nobody_knows_me_[k] 5' 'iperf;main 5' >net
run "$FATHOM" components net
expect_status 0
golden components.txt "$out_file"
run "$FATHOM" components --symbols --json net
is 'symbols as rows' "$(python3 -c '
import json, sys
for row in json.load(open(sys.argv[1]))["symbols"]:
    print(row["symbol"], row["component"], row["samples"])' "$out_file" | sort)" \
	'_copy_from_iter data copy 50
_raw_spin_lock lock 10
main application 5
nobody_knows_me unmapped 5
tcp_ack.part.0 tcp/ip 10
tcp_sendmsg tcp/ip 20'
run "$FATHOM" components --kernel net --json
expect_out '"share": 52.63157895'
run "$FATHOM" components net before -o bars.svg
expect_status 0
well_formed bars.svg
printf '=mine\t#ff0000\n*copy*\tmine\n' >mine.tsv
run "$FATHOM" components --taxonomy mine.tsv net
expect_out_like 'mine +50.00%'
run "$FATHOM" components --taxonomy none-such net
expect_status 1
expect_err 'host-network, storage'
printf 'bad line\n' >bad.tsv
run "$FATHOM" components --taxonomy bad.tsv net
expect_err "'bad.tsv', line 1"

# --- formats ----------------------------------------------------------------------------------
for format in pprof speedscope; do
	run "$FATHOM" export after --format $format -o "after.$format"
	expect_status 0
	run "$FATHOM" import "after.$format"
	is "$format comes back as it went" "$out" "$(LC_ALL=C sort after)"
	run "$FATHOM" report -i "after.$format" --json
	expect_out 'newf'
done
for format in chrome firefox speedscope; do
	run "$FATHOM" export script.txt --format $format -o "script.$format"
	ok "$format is JSON" is_json "script.$format"
done
run "$FATHOM" export script.txt --format csv
is 'CSV' "$out" 'event,unit,command,pid,tid,cpu,time,samples,weight,stack
cpu-clock,ns,t,1,1,0,1.000000000,1,10,main;early
cpu-clock,ns,t,1,1,0,3.000000000,1,10,main;late'
run "$FATHOM" export script.txt -o x.pb.gz
ok 'the name says what to write' gzip -t x.pb.gz
run "$FATHOM" export script.txt -o x.xyz
expect_status 2
printf 'PK\003\004 not a profile' >zip
run "$FATHOM" import zip
expect_status 1
printf '\037\213\010 cut' >cut.pb.gz
run "$FATHOM" import cut.pb.gz
expect_status 1
expect_err 'damaged or truncated'
printf '{"a": [1, 2' >broken.json
run "$FATHOM" import broken.json
expect_status 1

# --- what was written -------------------------------------------------------------------------
for picture in 'flame after' 'diff before after' 'callgraph after' 'components net' \
	'heatmap script.txt'; do
	for suffix in svg html; do
		# shellcheck disable=SC2086
		run "$FATHOM" $picture -o "said.$suffix" --force
		expect_err_like "wrote 'said.$suffix', [0-9]+ KiB: open it in a browser$"
	done
	# shellcheck disable=SC2086
	run "$FATHOM" $picture -q -o quiet.svg --force
	unlike "$picture -q" "$err" 'wrote'
	# shellcheck disable=SC2086
	run "$FATHOM" $picture -o /dev/null
	unlike "$picture to a device" "$err" 'wrote'
done
run "$FATHOM" export after --format pprof -o said.pb.gz
expect_err_like "^fathom: wrote 'said.pb.gz', 1 KiB$"

# --- hostile names ----------------------------------------------------------------------------
printf '</title><script>alert(1)</script>;"\047>&\001\033[31m;\377\376 3\n' >evil
for picture in 'diff evil evil' 'callgraph evil' 'components evil'; do
	# shellcheck disable=SC2086
	run "$FATHOM" $picture -o evil.svg --force
	expect_status 0
	unlike "$picture: names cannot become elements" "$(cat evil.svg)" '<script>alert|</title><script'
	well_formed evil.svg
	# shellcheck disable=SC2086
	run "$FATHOM" $picture
	unlike "$picture: no escape reaches the terminal" "$out" $'\033'
done
for format in speedscope chrome firefox; do
	run "$FATHOM" export evil --format $format -o "evil.$format"
	ok "$format of hostile names is JSON" is_json "evil.$format"
done

# --- ratio ------------------------------------------------------------------------------------
cat >ipc.txt <<'END_SCRIPT'
app 1/1 [000] 1.0: 1000 cycles:
	1 slow (x)

app 1/1 [000] 1.1: 1000 cycles:
	1 fast (x)

app 1/1 [000] 1.2: 3000 instructions:
	1 fast (x)

app 1/1 [000] 1.3: 500 instructions:
	1 slow (x)

END_SCRIPT
run "$FATHOM" flame ipc.txt --ratio cycles,instructions --ratio-samples 1 -o ipc.svg
like 'more than the mean is orange' "$(cat ipc.svg)" 'fast [^<]*IPC 3\)</title><rect [^>]*fill="#ee7f49"'
like 'less is blue' "$(cat ipc.svg)" 'slow [^<]*IPC 0.5\)</title><rect [^>]*fill="#519af4"'
run "$FATHOM" flame ipc.txt --ratio cycles,branches -o none.svg
expect_status 2
expect_err "the recording has no event 'branches'
hint: 'fathom evlist' shows its events; record both: fathom record -e A,B"
run "$FATHOM" flame ipc.txt --ratio cycles,instructions -o few.svg
like 'few samples are grey' "$(cat few.svg)" 'too few samples\)</title><rect [^>]*fill="#d9dce1"'
run "$FATHOM" flame ipc.txt --ratio cycles,none
expect_status 2
run "$FATHOM" flame ipc.txt --ratio cycles,instructions -o page.html
expect_status 0
like 'the viewer opens with the ratio' "$(grep 'id="options"' page.html)" '"event":0,"ratio":1,'
# so much for so much time is per millisecond
sed 's/cycles/cpu-clock/; s/instructions/page-faults/' ipc.txt >faults.txt
run "$FATHOM" flame faults.txt --ratio cpu-clock,page-faults --ratio-samples 1 -o faults.svg
like 'faults per millisecond' "$(cat faults.svg)" 'page-faults per ms 1.75e\+06 overall'

# Two recordings with several events: the one that both have is compared.
sed 's/cycles/branches/' ipc.txt >other.txt
run "$FATHOM" diff ipc.txt other.txt --json
expect_out '"weight_before": 3500'
expect_out '"weight_after": 3500'
grep -v page-faults faults.txt >clock.txt
sed 's/cpu-clock/cycles/; /page-faults/d' faults.txt >cycles.txt
run "$FATHOM" diff clock.txt cycles.txt
expect_err 'shares of different things'
done_testing
