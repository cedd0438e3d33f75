#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Stacks of java: compiled code has neither frame information nor, by default, frame pointers.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_cmd javac
need_sampler

cat >"$TMP/Work.java" <<'END'
import java.util.*;

public class Work {
	interface Shape { double area(int n); }
	static class A implements Shape { public double area(int n) { return mix(n); } }
	static class B implements Shape { public double area(int n) { return mix(n) * 2; } }
	static class C implements Shape { public double area(int n) { return deep(n % 12, n); } }

	static double mix(int n) {
		double x = n;
		for (int i = 0; i < 40; i++)
			x = x * 1.0001 + Math.sin(x);
		return x;
	}

	static double deep(int d, int n) { return d == 0 ? mix(n) : deep(d - 1, n) + 1; }

	static String text(int n) {
		StringBuilder b = new StringBuilder();
		for (int i = 0; i < 50; i++)
			b.append(n * i).append(',');
		return b.toString();
	}

	static void work() {
		Shape[] shapes = { new A(), new B(), new C() };
		Map<String, Double> m = new HashMap<>();
		double t = 0;
		for (int i = 0; i < 2000; i++)
			t += shapes[i % 3].area(i);
		for (int i = 0; i < 200; i++)
			m.put(text(i), t);
		List<String> l = new ArrayList<>(m.keySet());
		Collections.sort(l, (a, b) -> b.compareTo(a));
		if (l.hashCode() == 42)
			System.out.println(t);
	}

	public static void main(String[] args) {
		for (;;)
			work();
	}
}
END
javac -d "$TMP" "$TMP/Work.java" 2>"$err_file" || plan_skip "javac failed: $(cat "$err_file")"

# reach NAME LEAST PROGRAM ARGS...: of 1000 stacks, at least this many are complete
reach() {
	local name=$1 least=$2 result user root
	shift 2
	result=$("$sampler" 5 "$@" -cp "$TMP" Work 2>"$err_file")
	read -r _ user root _ <<<"$(tail -n 1 <<<"$result")"
	diag "$name: ${root:-0} of ${user:-0} complete; $(grep '^#' <<<"$result" | tr '\n' ' ')"
	if [ "${user:-0}" -lt 100 ]; then
		fail "$name: stacks are complete" "only ${user:-0} samples: $(cat "$err_file")"
		return
	fi
	ok "$name: at least $least of 1000 stacks are complete" \
		test $((root * 1000)) -ge $((user * least))
}

# Each machine once, whatever names it goes by.
declare -A seen
for java in "$(command -v java)" /usr/lib/jvm/*/bin/java; do
	[ -x "$java" ] || continue
	real=$(readlink -f "$java")
	[ -z "${seen[$real]:-}" ] || continue
	seen[$real]=1
	name=$("$java" -version 2>&1 | sed -n '1s/.* version "\([^"]*\)".*/java \1/p')
	reach "$name" 970 "$java"
	reach "$name with frame pointers" 990 "$java" -XX:+PreserveFramePointer
	reach "$name, interpreted" 985 "$java" -Xint
done

# Interpreted methods are read from the frames of the interpreter, by whoever takes the stack.
for java in "${!seen[@]}"; do
	spawn "$java" -Xint -cp "$TMP" Work
	until "$FATHOM" stack "$spawned" 2>/dev/null | grep -q 'Work\.work'; do
		kill -0 "$spawned" || break
	done
	pass "${java%/bin/java}: fathom stack names an interpreted method"
	run "$FATHOM" record -q -e cpu-clock -F 499 -p "$spawned" -d 1s -o "$TMP/int.data"
	kill -9 "$spawned"
	wait "$spawned" 2>/dev/null
	run "$FATHOM" fold -i "$TMP/int.data"
	rm -f "$TMP/int.data"
	expect_out_like 'Work\.main;Work\.work;(Work\$[ABC]\.area;(Work\.deep;)*Work\.mix|Work\.text)[; ]' \
		"... and a recording all of a stack"
	ok "... of 100 samples at most 5 are in a method without a name" awk '
		{ all += $NF } /;Interpreter|unreadable java/ { bad += $NF }
		END { exit !(all && bad * 20 <= all) }' "$out_file"
done

# Methods that the compiler inlined: HotSpot's debug positions have them.
cat >"$TMP/Inlined.java" <<'END'
public class Inlined {
	static long leaf(long x) {
		long s = x;
		for (int i = 0; i < 50; i++)
			s = s * 31 + (s >>> 7);
		return s;
	}
	static long mid(long x) { return leaf(x) + leaf(x + 1); }
	static long loop(int n) {
		long s = 0;
		for (int i = 0; i < n; i++)
			s += mid(i + s);
		return s;
	}
	public static void main(String[] args) {
		for (long t = 0;; t += loop(100000))
			if (t == 42)
				System.out.println(t);
	}
}
END
javac -d "$TMP" "$TMP/Inlined.java"
for java in "${!seen[@]}"; do
	spawn "$java" -XX:+UnlockDiagnosticVMOptions -XX:+DebugNonSafepoints -cp "$TMP" Inlined
	runs_for "$spawned" 200
	run "$FATHOM" record -q -e cpu-clock -F 499 -p "$spawned" -d 2s -o "$TMP/inlined.data" --force
	kill -9 "$spawned"
	wait "$spawned" 2>/dev/null
	run "$FATHOM" fold --inline -i "$TMP/inlined.data"
	total=$(awk '/Inlined/ { s += $NF } END { printf "%d", s }' <<<"$out")
	leaf=$(awk '/;Inlined\.loop;Inlined\.mid;Inlined\.leaf/ { s += $NF } END { printf "%d", s }' <<<"$out")
	diag "leaf, inlined into mid and loop: $((total ? leaf * 100 / total : 0)) %"
	ok "$java: inlined methods have their names" \
		test "$total" -gt 0 -a $((leaf * 100)) -ge $((total * 85))
	run "$FATHOM" report -i "$TMP/inlined.data"
	expect_out 'Inlined.leaf (inlined)'
	expect_prose 'unless java runs with DebugNonSafepoints' "positions that may be inexact are said"
done

# Names come from the machine's own description of itself, without a perf map, and stay in the
# recording when the process is gone.
for java in "${!seen[@]}"; do
	spawn "$java" -cp "$TMP" Work
	pid=$spawned
	runs_for "$pid" 100
	run "$FATHOM" record -q -e cpu-clock -F 499 -p "$pid" -d 3s -o "$TMP/java.data" --force
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
	run "$FATHOM" fold -i "$TMP/java.data" --no-inline
	total=$(awk '{ s += $NF } END { printf "%d", s }' <<<"$out")
	work=$(awk '/;Work\.work/ { s += $NF } END { printf "%d", s }' <<<"$out")
	diag "Work.work is in $((total ? work * 100 / total : 0)) % of the time"
	ok "$java: methods have names without a perf map" \
		test "$total" -gt 0 -a $((work * 100)) -ge $((total * 60))
	like "$java: ... in the right order" "$out" ';Work\.work;Work\$[ABC]\.area'
	run "$FATHOM" stacks -i "$TMP/java.data" --json
	ok "$java: run-time code is named" python3 -c '
import json, sys
rows = json.load(open(sys.argv[1]))["binaries"]
code = [r for r in rows if r["path"].startswith("/tmp/perf-")]
sys.exit(not code or code[0]["named_percent"] < 99)' "$out_file"
done

# Where its threads are: methods have names there, too.
spawn java -cp "$TMP" Work
pid=$spawned
runs_for "$pid" 200
run "$FATHOM" stack --json "$pid"
ok 'stack: every thread is complete, methods have names' python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
ends = [t["end"] for t in d["threads"]]
names = [f["function"] or "" for f in d["frames"]]
print("#", ends.count("root"), "of", len(ends), "threads are complete")
sys.exit(ends.count("root") < len(ends) - 1 or len(ends) < 5 or
	 not any(n.startswith("Work.") for n in names))' "$out_file"
kill -9 "$pid"
wait "$pid" 2>/dev/null

# Launched, it has made all its threads before the kernel's unwinder is there.
run "$FATHOM" record -q -e cpu-clock -F 499 -d 5s -o "$TMP/launched.data" -- java -cp "$TMP" Work
run "$FATHOM" stacks -i "$TMP/launched.data" --json
ok 'launched: at least 95 % of the stacks are complete' python3 -c '
import json, sys
facts = json.load(open(sys.argv[1]))["facts"]
print("#", facts["complete_percent"], "% of", facts["user_stacks"])
sys.exit(facts["complete_percent"] < 95 or facts["user_stacks"] < 100)' "$out_file"

# The frames themselves, by the names that the machine gives them.
java=$(command -v java)
if ! command -v jcmd >/dev/null; then
	skip 'no jcmd'
	done_testing
fi
spawn "$sampler" --frames 9 "$java" -cp "$TMP" Work >"$TMP/frames" 2>"$err_file"
sleep 6
pid=$(pgrep -n -f -- "-cp $TMP Work")
if jcmd "$pid" Compiler.perfmap >/dev/null 2>&1 && [ -s "/tmp/perf-$pid.map" ]; then
	mv "/tmp/perf-$pid.map" "$TMP/map"
	wait "$spawned"
	result=$(perl - "$TMP/map" "$TMP/frames" <<'END'
my (@map, @stacks);
open my $m, '<', $ARGV[0] or die;
while (<$m>) {
	push @map, [ hex $1, hex($1) + hex $2, $3 ] if /^(?:0x)?([0-9a-f]+) (?:0x)?([0-9a-f]+) (.*)/;
}
@map = sort { $a->[0] <=> $b->[0] } @map;
open my $f, '<', $ARGV[1] or die;
while (<$f>) {
	chomp;
	if (/^=/) { push @stacks, [] } elsif (/^[0-9a-f]+$/) { push @{ $stacks[-1] }, hex }
}
sub name {
	my ($lo, $hi) = (0, scalar @map);
	while ($lo < $hi) {
		my $mid = int(($lo + $hi) / 2);
		if ($_[0] < $map[$mid][0]) { $hi = $mid }
		elsif ($_[0] >= $map[$mid][1]) { $lo = $mid + 1 }
		else { return $map[$mid][2] }
	}
	return '';
}
my ($all, $right) = (0, 0);
# what was compiled early is gone from the map by now
for my $stack (@stacks[@stacks / 2 .. $#stacks]) {
	my $names = join ' < ', grep { $_ ne '' } map { name($_ - 1) } @$stack;
	next if $names !~ /Work[.\$]/;
	$all++;
	$right++ if $names =~ /void Work\.work\(\)( < Interpreter| < void Work\.main\S*)* < StubRoutines/;
}
print "$all $right\n";
END
	)
	read -r all right <<<"$result"
	diag "$right of $all stacks lead from a compiled function through work() to the start"
	ok 'compiled frames: the callers are right' \
		test "${all:-0}" -gt 50 -a $((${right:-0} * 100)) -ge $((${all:-1} * 98))
else
	skip 'jcmd Compiler.perfmap does not work here'
fi
# Classes that are unloaded: others take the place of their methods, compiled and interpreted. Each waits
# 50 times; what cannot be known has several names, and none may have the waits of others.
python3 - "$TMP" <<'END' || exit 1
import sys
TURNS = 24
text = """import java.net.*;
import java.nio.file.*;
import java.util.concurrent.locks.LockSupport;

public class Unload {
	public static void main(String[] args) throws Exception {
		URL[] here = { Paths.get(args[0]).toUri().toURL() };

		for (int i = 0; i < %d; i++) {
			URLClassLoader loader = new URLClassLoader(here, null);
			java.lang.reflect.Constructor<?> c = loader.loadClass("W" + i).getDeclaredConstructor();

			c.setAccessible(true);
			((Runnable)c.newInstance()).run();
			c = null;
			loader.close();
			loader = null;
			System.gc();
			System.gc();
		}
	}
}
""" % TURNS
for i in range(TURNS):
    text += """
class W%d implements Runnable {
	static long sum;
	static long rest_%d(long n, boolean really) {
		for (int i = 0; i < 50; i++)
			n = n * 31 + (n >>> 7) + %d;
		if (really)
			LockSupport.parkNanos(500000);
		return n;
	}
	public void run() {
		for (int i = 0; i < 30000; i++)
			sum += rest_%d(i, false);
		for (int i = 0; i < 50; i++)
			sum += rest_%d(i, true);
	}
}
""" % (i, i, i, i, i)
open(sys.argv[1] + "/Unload.java", "w").write(text)
END
javac -d "$TMP" "$TMP/Unload.java" || exit 1
# judge HOW FILE.json MOST: live, a name that was given stays, also when the next look knows of others
judge() {
	ok "$java, classes unloaded, $1: no method has the waits of another, and it is counted" python3 - "$2" "$3" <<'END'
import json, re, sys
text = open(sys.argv[1]).read()
r = json.loads(text[text.index("{\n"):])
names = {}
for w in r["waits"]:
    for frame in set((w["where"] or "").split(" < ")):
        if "rest_" in frame:
            names[frame] = names.get(frame, 0) + w["count"]
wrong = {f: n for f, n in names.items() if re.fullmatch(r"W\d+\.rest_\d+", f) and n > int(sys.argv[2])}
assert not wrong, (wrong, names)
assert sum(names.values()) > 100, names
assert r["losses"]["code_reused"] > 0, r["losses"]
END
}
for real in "${!seen[@]}"; do
	java=$("$real" -version 2>&1 | sed -n '1s/.* version "\([^"]*\)".*/java \1/p')
	unload=("$real" -XX:+UseSerialGC -Xmx64m -XX:ReservedCodeCacheSize=8m -Xbatch -cp "$TMP" Unload "$TMP")
	run "$FATHOM" offcpu -n 0 --json -- "${unload[@]}"
	judge live "$out_file" 100
	run "$FATHOM" record -q --force --off-cpu -e cpu-clock -F 99 -o "$TMP/unload.data" -- "${unload[@]}"
	run "$FATHOM" offcpu -n 0 -i "$TMP/unload.data" --json
	judge recorded "$out_file" 50
done
done_testing
