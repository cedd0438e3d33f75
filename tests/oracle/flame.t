#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# The same boxes as flamegraph.pl, which Debian ships inside libdevel-nytprof-perl; folded stacks
# as stackcollapse-perf.pl makes them.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
need_cmd perl python3
flamegraph=/usr/share/perl5/Devel/NYTProf/flamegraph.pl
need_file "$flamegraph"
reference=$TOP/tests/oracle/flame_reference.py

# same_boxes NAME FILE [OPTION...]: the options are given to both
same_boxes() {
	local name=$1 file=$2
	shift 2
	perl "$flamegraph" "$@" "$file" >"$TMP/theirs.svg" 2>/dev/null
	"$FATHOM" flame "$file" "$@" -o "$TMP/ours.svg" --force 2>"$TMP/err" || {
		fail "$name" "$(cat "$TMP/err")"
		return
	}
	python3 "$reference" boxes "$TMP/theirs.svg" >"$TMP/theirs"
	python3 "$reference" boxes "$TMP/ours.svg" >"$TMP/ours"
	if [ -s "$TMP/theirs" ] && cmp -s "$TMP/theirs" "$TMP/ours"; then
		pass "$name ($(wc -l <"$TMP/ours") boxes)"
	else
		fail "$name"
		diff "$TMP/theirs" "$TMP/ours" | head -n 20 | sed 's/^/# /'
	fi
}

cat >"$TMP/plain" <<'END'
main;a;b 10
main;a;c 5
main;a 3
main;d_[k];e_[k] 7
other;x_[j];y_[i] 4
other;"quoted" & 'more';z 2
END
same_boxes 'a small profile' "$TMP/plain"
same_boxes 'reversed' "$TMP/plain" --reverse
same_boxes 'with a factor' "$TMP/plain" --factor 10 --countname events
same_boxes 'only wide boxes' "$TMP/plain" --minwidth 200

# 3,000 stacks that share prefixes, some boxes too narrow to be drawn
python3 - >"$TMP/large" <<'END'
import random
random.seed(5)
lines = {}
for i in range(3000):
    walk = random.Random(random.randrange(40))
    stack = [f"f{walk.randrange(30)}" for _ in range(random.randrange(1, 25))]
    stack += [f"g{random.randrange(200)}" for _ in range(random.randrange(0, 8))]
    lines[";".join(stack)] = random.randrange(1, 10 ** random.randrange(1, 5))
for stack in sorted(lines):
    print(stack, lines[stack])
END
same_boxes 'a large profile' "$TMP/large"
same_boxes 'a large profile, only wide boxes' "$TMP/large" --minwidth 3
same_boxes 'a large profile in 400 pixels' "$TMP/large" --width 400
same_boxes 'a large profile reversed' "$TMP/large" --reverse --inverted

# The same colours, of those palettes that Debian's version has. Its shades are by chance unless
# --hash is given; frames with marks it does not know.
cat >"$TMP/named" <<'END'
app;main;std::sort;cmp 10
app;java::util::Map;LazyCompile 20
app;node::Start;Builtin:ArrayPush;Stub:X 9
app;~func /srv/lib.js:3;*opt /srv/x.js:5 7
app;[unknown];read;a;ab;abc;abcd;0123456789 5
END
for palette in hot mem io js red green blue aqua yellow purple orange; do
	perl "$flamegraph" --hash --colors "$palette" "$TMP/named" >"$TMP/theirs.svg" 2>/dev/null
	"$FATHOM" flame "$TMP/named" --hash --colors "$palette" -o "$TMP/ours.svg" --force
	python3 "$reference" colors "$TMP/theirs.svg" >"$TMP/theirs"
	python3 "$reference" colors "$TMP/ours.svg" >"$TMP/ours"
	ok "the colours of --colors $palette ($(wc -l <"$TMP/theirs"))" \
		diff "$TMP/theirs" "$TMP/ours"
done

# Where flamegraph.pl is wrong: sorted as strings, read.part.0 stands between read and read;c.
printf 'read 1\nread.part.0;y 1\nread;c 1\n' >"$TMP/split"
perl "$flamegraph" "$TMP/split" >"$TMP/theirs.svg" 2>/dev/null
"$FATHOM" flame "$TMP/split" -o "$TMP/ours.svg" --force
is 'flamegraph.pl splits a node in two' \
	"$(python3 "$reference" boxes "$TMP/theirs.svg" | grep -c '	read$')" 2
is 'we do not' "$(python3 "$reference" boxes "$TMP/ours.svg" | grep '	read$')" '1	2	read'

# Differential: growth of a box with all that is on it, not of its own line alone.
printf 'p;first 10 30\np;second 10 30\n' >"$TMP/diff"
"$FATHOM" flame "$TMP/diff" -o "$TMP/ours.svg" --force
like 'a parent grows with its children' "$(cat "$TMP/ours.svg")" \
	'<title>p \(60 samples, 100.00%; \+66.67%\)</title>'

# A recording, by both ways. perf has been seen to abort now and then.
cat >"$TMP/load.sh" <<'END'
i=0
while [ $i -lt 40000 ]; do i=$((i + 1)); done
find /usr/lib | sort | gzip
END
perf_records() {
	local try
	command -v perf >/dev/null || return 1
	for try in 1 2 3; do
		perf record -q -B -F 997 -g -o "$TMP/perf.data" -- sh "$TMP/load.sh" >/dev/null 2>&1 && return
		diag "perf record failed, try $try"
	done
	return 1
}
if perf_records; then
	"$TOP/tests/oracle/script_unleak.py" "$TMP/perf.data"
	perf script -i "$TMP/perf.data" >"$TMP/script" 2>/dev/null
	python3 "$reference" fold "$TMP/script" >"$TMP/theirs"
	"$FATHOM" fold "$TMP/script" >"$TMP/ours"
	ok "fold: as stackcollapse-perf.pl ($(wc -l <"$TMP/ours") stacks)" \
		cmp "$TMP/theirs" "$TMP/ours"
	python3 "$reference" fold --all "$TMP/script" >"$TMP/theirs"
	"$FATHOM" fold --all -i "$TMP/script" >"$TMP/ours"
	ok 'fold --all: as stackcollapse-perf.pl' cmp "$TMP/theirs" "$TMP/ours"
	same_boxes 'a real recording' "$TMP/ours"
else
	skip 'perf cannot record here' 3
fi
if "$FATHOM" record -q -F 997 -o "$TMP/ours.data" -- sh "$TMP/load.sh" >/dev/null 2>"$TMP/err"; then
	"$FATHOM" fold -i "$TMP/ours.data" >"$TMP/ours.folded"
	same_boxes 'a recording of ours' "$TMP/ours.folded"
	same_boxes 'a recording of ours, reversed' "$TMP/ours.folded" --reverse
else
	skip "cannot record here: $(head -n 1 "$TMP/err")" 2
fi
done_testing
