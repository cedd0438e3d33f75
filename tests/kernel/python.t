#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
#
# Functions of CPython among native frames, without any switch: right names, lines and order.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_sampler
need_pythons

cat >"$TMP/tree.py" <<'END'
import time

def leaf(n):
    t = 0
    for i in range(n):
        t += i * i
    return t

def by_sort(items):
    return sorted(items, key=lambda x: leaf(20) + x)

class Thing:
    def method(self, n):
        return by_sort(range(n))

def gen(n):
    for i in range(n):
        yield leaf(50)

def recurse(n):
    if n == 0:
        return sum(gen(30))
    return recurse(n - 1)

def main():
    end = time.time() + 60
    while time.time() < end:
        Thing().method(30)
        recurse(20)

main()
END

cat >"$TMP/threads.py" <<'END'
import threading, zlib

def burn_a():
    while True:
        sum(i * i for i in range(1000))

def burn_b():
    while True:
        zlib.compress(b"x" * 100000)

threads = [threading.Thread(target=f) for f in (burn_a, burn_b)]
[t.start() for t in threads]
END

# Which lines a function may be at, by the function that it is calling ("-": none).
cat >"$TMP/check.pl" <<'END'
my %lines = (
	'<module> main' => '31', 'main Thing.method' => '28', 'main recurse' => '29',
	'main -' => '25 26 27 28 29', 'Thing.method by_sort' => '14', 'Thing.method -' => '13 14',
	'by_sort by_sort.<locals>.<lambda>' => '10', 'by_sort -' => '9 10',
	'by_sort.<locals>.<lambda> leaf' => '10', 'by_sort.<locals>.<lambda> -' => '10',
	'gen leaf' => '18', 'gen -' => '16 17 18', 'recurse recurse' => '23',
	'recurse gen' => '22', 'recurse -' => '20 21 22 23', 'leaf -' => '3 4 5 6 7',
);
my ($seen, $right, $mixed, $sorts, @wrong) = (0, 0, 0, 0);
sub judge {
	my @stack = @_;
	my @py = grep { / / } @stack;
	return if !$seen && !grep { /^main .*tree.py:/ } @py;
	$seen++;
	my $callee = '-';
	for my $frame (@py) {
		my ($name, $line) = $frame =~ /^(\S+) .*:(\d+)$/;
		my $may = $lines{"$name $callee"};
		if (!defined $may || !grep { $_ == $line } split ' ', $may) {
			push @wrong, "$frame calling $callee";
			return;
		}
		$callee = $name;
	}
	if ($callee ne '<module>') {
		push @wrong, "begins with $callee";
		return;
	}
	$right++;
	my $shape = join ' ', map { / / ? (split ' ')[0] : 'native' } @stack;
	return if $shape !~ /lambda/;
	$sorts++;
	$mixed++ if $shape =~ /<lambda>( native)+ by_sort Thing.method main <module>( native)+$/;
}
my @stack;
while (<STDIN>) {
	chomp;
	next if /^#/;
	if (/^=/ || eof) {
		judge(@stack) if @stack;
		@stack = ();
	} elsif (!/^\d+ \d+ \d+ /) {
		push @stack, $_;
	}
}
print "# $_\n" for @wrong[0 .. ($#wrong > 4 ? 4 : $#wrong)];
print "$seen $right $sorts $mixed\n";
END

for python in "${pythons[@]}"; do
	version=$("$python" -c 'import sys; print(".".join(map(str, sys.version_info[:3])))')
	name="python $version ($(dirname "$(dirname "$python")" | sed "s,^$HOME/,,"))"
	"$sampler" --frames 3 "$python" "$TMP/tree.py" >"$TMP/frames" 2>"$err_file"
	checked=$(perl "$TMP/check.pl" <"$TMP/frames")
	read -r seen right sorts mixed <<<"$(tail -n 1 <<<"$checked")"
	diag "$name: $right of $seen stacks are right; $(grep '^# python' "$TMP/frames" | cut -c 3-)"
	diag "$(grep '^#' <<<"$checked")"
	if [ "${seen:-0}" -lt 50 ]; then
		fail "$name: functions, lines and order" "only ${seen:-0} samples: $(cat "$err_file")"
		continue
	fi
	ok "$name: functions, lines and order in 99 % of the samples" \
		test $((right * 1000)) -ge $((seen * 990))
	ok "$name: native frames stand between, where C called Python" \
		test "$sorts" -gt 0 -a $((mixed * 100)) -ge $((sorts * 97))
	read -r frames unplaced unreadable < <(sed -n \
		's/^# python .* frames \([0-9]*\) unplaced \([0-9]*\) unreadable \([0-9]*\)$/\1 \2 \3/p' \
		"$TMP/frames")
	is "$name: every function finds its place" "$unplaced" 0
	# the code of a module is freed as soon as it has run
	ok "$name: functions can be read" test $((unreadable * 200)) -le "$frames"

	"$sampler" --frames 2 "$python" "$TMP/threads.py" >"$TMP/frames" 2>"$err_file"
	both=$(awk '/^=/ { if (a && b) both++; if (a) na++; if (b) nb++; a = b = 0 }
		/^burn_a/ { a = 1 } /^burn_b/ { b = 1 } END { print both + 0, (na > 5), (nb > 5) }' \
		"$TMP/frames")
	is "$name: threads have their own functions" "$both" '0 1 1'
done
done_testing
