#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Heat maps, comparisons, call graphs and bars in chromium. See pictures.mjs.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
# shellcheck source=tests/lib/browser.sh
. "$(dirname "$0")/../lib/browser.sh"
need_root
need_file "$WORKLOADS/burn"
cd "$TMP" || exit 1

for i in 0 1 2 3 4 5 6 7 8 9; do
	printf 't 1/1 [000] 1.%d00000: 10 cpu-clock:\n\t1 f (x)\n\nt 1/1 [000] 2.%d50000: 10 cpu-clock:\n\t1 g (x)\n\n' \
		"$i" "$i"
done >script.txt
awk 'BEGIN { for (i = 0; i < 400; i++) printf "%d %d\n", i * 5000, 2 ^ (i % 12) }' >latency.txt
printf 'shop;main;a 100\nshop;main;b 50\nshop;main;gone;x 25\nshop;main;same 200\n' >before
printf 'shop;main;a 300\nshop;main;b 10\nshop;main;newf;y 25\nshop;main;same 205\n' >after
"$FATHOM" heatmap script.txt --step 1s -o offsets.svg || fail 'draw offsets'
"$FATHOM" heatmap -t latency latency.txt -o latency.svg || fail 'draw latencies'
"$FATHOM" heatmap -t latency latency.txt -o latency.html || fail 'draw a page'
"$FATHOM" diff before after -o diff.svg || fail 'draw a comparison'
"$FATHOM" callgraph after -o graph.svg || fail 'draw a call graph'
printf '_start;main;fork;a 50\n_start;main;fork;b 48\n_start;main;twig 2\n' >trunk
"$FATHOM" callgraph trunk -o trunk.svg || fail 'draw a call graph with a trunk'
for i in {10..49}; do
	echo "main;branch_$i;work_$i $((100 - i))"
done >wide
"$FATHOM" callgraph wide -o wide.svg || fail 'draw a wide call graph'
for i in {1..4000}; do
	echo "main;a_function_with_a_long_name;leaf_$i 1"
done >many
echo 'main;another 4000' >>many
"$FATHOM" flame many --minwidth 0.5 -o many.svg || fail 'draw many boxes'
"$FATHOM" components after -o bars.svg || fail 'draw bars'
"$FATHOM" record -q -a -F 499 -o machine.data -- "$WORKLOADS/burn" --seconds 1 a=1 >/dev/null || fail 'record the machine'
"$FATHOM" heatmap -t utilization -i machine.data -o utilization.svg || fail 'draw utilization'
"$FATHOM" offwake -o wakers.svg -- "$WORKLOADS/block" pipe >/dev/null || fail 'draw wakers'

RUN_TIMEOUT=120
drive pictures.mjs
done_testing
