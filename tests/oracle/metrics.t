#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# /metrics of fathom serve: promtool reads every family, Prometheus scrapes it, and the names and
# values of node_exporter are the same where both have them.
# shellcheck disable=SC2317 # functions are given to wait_until
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
need_cmd curl python3 promtool
cd "$TMP" || exit 1
export TMPDIR=$TMP

exports=()
[ "$(id -u)" = 0 ] && exports=(--export syscount --export biolatency --export runqlat)
spawn "$FATHOM" serve --share view "${exports[@]}" >address 2>serve.err
wait_until grep -q '(view)' address
port=$(sed -n '1s|http://[^:]*:\([0-9]*\)/.*|\1|p' address)
token=$(sed -n '2s/.*token=\([0-9a-f]*\).*/\1/p' address)
scrape() { curl -sS -m 20 -H "Authorization: Bearer $token" "http://127.0.0.1:$port/metrics$1"; }

# a document of each tool comes every five seconds
has_tools() {
	scrape '' >own.txt
	[ "$(grep -cE '^fathom_tool_(syscount_count_total.syscall="read"|runqlat_seconds_bucket.le="\+Inf"). [1-9]' own.txt)" = 2 ]
}
if [ "${#exports[@]}" -gt 0 ]; then
	wait_until has_tools
	ok 'tools of --export are in /metrics' has_tools
	is 'each of them runs' "$(grep -c '^fathom_export_up{.*} 1$' own.txt)" 3
	like 'their labels are those of the tool' "$(cat own.txt)" 'fathom_tool_syscount_count_total\{syscall="[a-z_0-9]+"\} [0-9]+'
	falls=$(awk -F'[ ]' '/^fathom_tool_runqlat_seconds_bucket/ { if ($2 + 0 < last) print; last = $2 + 0 }' own.txt)
	is 'buckets only grow' "$falls" ''
else
	skip '--export needs root'
fi

scrape '' >own.txt
scrape '?compat=node' >node.txt
for names in own node; do
	is "$names: the text has its end mark" "$(tail -1 $names.txt)" '# EOF'
	# promtool lints the older text form, which has no units, no end mark and names counters in full
	sed -e '/^# UNIT/d; /^# EOF/d; s/^# TYPE \(.*\) unknown$/# TYPE \1 untyped/' \
		-e 's/^# TYPE \(.*\) counter$/# TYPE \1_total counter/' $names.txt |
		awk '/^# TYPE/ { total = $4 == "counter" } /^# HELP/ { if (total) $3 = $3 "_total"; print; next } { print }' >$names.old
	promtool check metrics <$names.old >promtool.out 2>&1
	# 3: it was read, and some names or helps are not to its taste
	like "$names: promtool reads it" "$?" '^(0|3)$'
	unlike "$names: no error" "$(cat promtool.out)" 'error while linting'
done
unlike 'own names are to its taste' "$(promtool check metrics <own.old 2>&1)" 'camelCase|no help'
like 'own names' "$(cat own.txt)" '^fathom_cpu_user_seconds_total\{cpu="0"\} [0-9.e+]+$'
ok 'hundreds of series' test "$(grep -vc '^#' own.txt)" -gt 400
is 'no name stands for two' "$(grep '^# TYPE' own.txt | sort | uniq -d)" ''
unlike 'no sum beside its parts' "$(cat own.txt)" 'cpu="all"'

if command -v prometheus-node-exporter >/dev/null; then
	spawn prometheus-node-exporter --web.listen-address=127.0.0.1:19100 2>/dev/null
	wait_until curl -sf -o exporter.txt http://127.0.0.1:19100/metrics
	scrape '?compat=node' >node.txt
	curl -sS http://127.0.0.1:19100/metrics >exporter.txt
	run python3 "$TOP/tests/oracle/metrics.py" node.txt exporter.txt
	while read -r line; do
		case $line in
		'ok '*) pass "${line#ok }" ;;
		'not ok '*) fail "${line#not ok }" ;;
		esac
	done <<<"$out"
	expect_status 0
else
	skip 'prometheus-node-exporter is not installed'
fi

if command -v prometheus >/dev/null; then
	cat >prometheus.yml <<-END
		scrape_configs:
		  - job_name: fathom
		    scrape_interval: 1s
		    authorization: { credentials: $token }
		    static_configs: [ { targets: [ '127.0.0.1:$port' ] } ]
	END
	spawn prometheus --config.file=prometheus.yml --storage.tsdb.path="$TMP/tsdb" --web.listen-address=127.0.0.1:19090 \
		--log.level=error >prometheus.log 2>&1
	asks() { curl -sf -G -m 5 --data-urlencode "query=$1" http://127.0.0.1:19090/api/v1/query; }
	is_up() { asks 'up{job="fathom"}' | grep -q '"1"\]'; }
	wait_until is_up
	ok 'Prometheus scrapes it' is_up
	like 'and has its figures' "$(asks 'fathom_system_switches_total')" '"__name__":"fathom_system_switches_total"'
	[ "${#exports[@]}" = 0 ] ||
		like 'histograms of tools answer quantiles' \
			"$(asks 'histogram_quantile(0.99, sum by (le) (fathom_tool_runqlat_seconds_bucket))')" '"value":\[[0-9.]+,"[0-9.e+-]+"\]'
	like 'as counters with a rate' "$(asks 'count({__name__=~"fathom_.*"}) > 400')" '"value"'
else
	skip 'prometheus is not installed'
fi
done_testing
