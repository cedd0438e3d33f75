#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# timeout: 900
#
# Every example of every command works when pasted. Commands that run until stopped get Ctrl-C
# after a moment; a privilege or mechanism that this machine lacks (status 3) is a skip.
. "$(dirname "$0")/../lib/test.sh"
need_root
need_cmd pgrep cc

cd "$TMP" || exit 1
mkdir bin cache
ln -s "$FATHOM" bin/fathom
export PATH="$TMP/bin:$PATH" XDG_CACHE_HOME="$TMP/cache"

# What examples may name: recordings, folded stacks, a makefile, a running process for 1234 and one
# of its threads for 1235, a core file.
run fathom record -q --off-cpu -o fathom.data -- "$WORKLOADS/burn" --seconds 1 a=70 b=30
[ -s fathom.data ] || run fathom record -q -o fathom.data -- "$WORKLOADS/burn" --seconds 1 a=70 b=30
for name in before after old new perf a b disk run io net; do cp fathom.data "$name.data"; done
cp fathom.data fathom.data.old
fathom fold > out.folded 2> /dev/null
cp out.folded stacks.folded
sed 's/ [0-9]*$/ 3 4/' out.folded > two-columns.folded
seq 1 200 | awk '{ print $1 / 100, $1 * 37 % 91 }' > latencies.txt
for name in cpu old new heap; do fathom export -q --format pprof -o "$name.pb.gz" 2> /dev/null; done
fathom export -q -o cpu.speedscope.json 2> /dev/null
ln -s "$WORKLOADS/burn" program
cc -O2 -g -I "$TOP/include" -o server "$TOP/docs/examples/marks.c"
for name in old new; do
	printf '#!/bin/sh\nexec true\n' > $name && chmod +x $name
done
seq 100000 > big
for name in a b; do fathom stat --json -r 3 -o $name.json -- ./old 2> /dev/null; done
"$FATHOM" record -q -e sched:sched_switch -o sched.data -d 300ms 2> /dev/null
openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -x509 -days 2 -subj /CN=localhost \
	-keyout box.key -out box.pem 2> /dev/null
printf '%032x\n' 1 > other.token
cat > mytool.bt << 'END'
/* tool
summary: a tool of one's own
group: own
column: comm comm 16
example: fathom mytool | until Ctrl-C
*/
interval:ms:300 { row(comm); }
END
export HOME=$TMP
mkdir -p .zsh
printf 'all:\n\t@true\n' > Makefile
# It takes the time that nobody else wants.
spawn nice -n 19 "$WORKLOADS/burn" --seconds 0 --threads 2 a=70 b=30
wait_until is_running "$spawned" burn
pid=$spawned
wait_until has_threads "$pid" 2
tid=$(find "/proc/$pid/task" -mindepth 1 -maxdepth 1 -printf '%f\n' | sort -n | tail -1)
if command -v gcore > /dev/null; then gcore -o core "$pid" > /dev/null 2>&1 && mv "core.$pid" core; fi

"$FATHOM" help --json > help.json
python3 - > examples.txt << 'END'
import json
for c in json.load(open("help.json"))["commands"]:
    for e in c["examples"]:
        print(c["name"] + "\t" + e["line"])
END
ok "commands have examples" test -s examples.txt

# Most examples run until they are stopped and wait meanwhile: several at a time, each in a folder of
# its own. INT is ignored in what a shell puts into the background, unless it is said otherwise.
at_once=8
run_example() { # NUMBER NAME COMMAND
	local dir=work.$1
	mkdir "$dir" && cp -a ./*.data fathom.data.old ./*.folded latencies.txt program server old new big mytool.bt ./[ab].json \
		./box.* other.token Makefile "$dir/"
	[ "$2" = import ] && cp ./*.pb.gz ./*.speedscope.json "$dir/"
	[ -e core ] && ln core "$dir/core"
	(cd "$dir" && env --default-signal=INT timeout -s INT -k 60 2 bash -c "$3" \
		>"../$1.out" 2>"../$1.err" </dev/null)
	echo "$?" >"$1.status"
	rm -rf "$dir"
}

missing_program() { # LINE: what is not installed
	case " $1 " in
	*' perf '*) command -v perf > /dev/null || echo perf ;;
	*' core '*) [ -e core ] || echo gcore ;;
	*'.service '*) [ -d /sys/fs/cgroup/system.slice/x.service ] || echo 'control group of that name' ;;
	*' box.pem '*) [ -s box.pem ] || echo openssl ;;
	esac
}

number=0 running=()
while IFS=$'\t' read -r name line; do
	number=$((number + 1))
	[ -z "$(missing_program "$line")" ] || continue
	# one of the jobs is what the examples look at
	while [ "$(jobs -rp | wc -l)" -gt "$at_once" ]; do wait -n; done
	command=${line//1234/$pid}
	run_example "$number" "$name" "${command//1235/$tid}" &
	running+=("$!")
done < examples.txt
wait "${running[@]}"

number=0
while IFS=$'\t' read -r name line; do
	number=$((number + 1))
	missing=$(missing_program "$line")
	[ -z "$missing" ] || { skip "$name: no $missing for: $line" && continue; }
	status=$(cat "$number.status")
	case $status in
	# 4: nothing of that kind happened just then
	4) pass "$name: $line" && diag "status 4: $(head -1 "$number.err")" ;;
	0 | 124 | 130) pass "$name: $line" ;;
	3) skip "$name: $(head -1 "$number.err")" ;;
	2) if grep -q "has no event 'cycles'" "$number.err"; then
		skip "$name: no hardware counters for: $line"
	else
		fail "$name: $line" "status 2: $(head -2 "$number.err" | tr '\n' ' ')"
	fi ;;
	127) # another program that the example pipes to, never fathom itself
		missing=$(sed -n 's/^bash: line [0-9]*: \(.*\): command not found$/\1/p' "$number.err")
		case $missing in
		'' | fathom) fail "$name: $line" "status 127: $(head -2 "$number.err" | tr '\n' ' ')" ;;
		*) skip "$name: no $missing for: $line" ;;
		esac ;;
	*) fail "$name: $line" "status $status: $(head -2 "$number.err" | tr '\n' ' ')" ;;
	esac
done < examples.txt
done_testing
