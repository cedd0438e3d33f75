#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 900
#
# Every example of every command works when pasted. Commands that run until stopped get Ctrl-C
# after a moment; a privilege or mechanism that this machine lacks (status 3) is a skip.
. "$(dirname "$0")/../lib/test.sh"
need_root

cd "$TMP" || exit 1
mkdir bin cache
ln -s "$FATHOM" bin/fathom
export PATH="$TMP/bin:$PATH" XDG_CACHE_HOME="$TMP/cache"

# what examples may name: recordings, folded stacks, a core file, a running process
run fathom record -q -d 1s -o fathom.data -- "$WORKLOADS/burn" --seconds 1 a=70 b=30
cp fathom.data before.data
cp fathom.data after.data
fathom fold > out.folded 2> /dev/null
cp out.folded stacks.folded

"$FATHOM" help --json > help.json
python3 - > examples.txt << 'END'
import json
for c in json.load(open("help.json"))["commands"]:
    for e in c["examples"]:
        print(c["name"] + "\t" + e["line"])
END
ok "commands have examples" test -s examples.txt

while IFS=$'\t' read -r name line; do
	case $line in
	*'$'* | *PID* | *' | perf '* | perf*) ;;
	esac
	rm -rf work && mkdir work && cp ./*.data ./*.folded work/ 2> /dev/null
	(cd work && timeout -s INT -k 10 8 bash -c "$line" > ../example.out 2> ../example.err < /dev/null)
	status=$?
	case $status in
	0 | 124 | 130) pass "$name: $line" ;;
	3) skip "$name: $(head -1 example.err)" ;;
	*) fail "$name: $line" "status $status: $(head -2 example.err | tr '\n' ' ')" ;;
	esac
done < examples.txt
done_testing
