#!/usr/bin/env perl
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The runner of tests/run: starts every test file of the layers asked for in a session of its own,
# with a time-out, and counts the TAP it prints.
#
# Files that measure this machine run alone. All others run first, two at a time and across layers,
# the longest first: so a guest boots on one CPU while unit tests and fuzz targets use the other.
# A file of a measuring layer that does not measure says so with a line "# shared".
#
# A file that fails in a layer that depends on the machine is run again, alone, at the end of its
# batch: a file that fails every time counts as failed; one that passes then counts as passed and
# is listed as unsteady with the names of its failed tests.
use strict;
use warnings;
use File::Temp qw(tempdir);
use IO::Select;
use POSIX qw(:sys_wait_h);
use TAP::Parser;
use Time::HiRes qw(time);

my $top = $ENV{TOP} or die "run me as tests/run\n";
$ENV{FATHOM}      //= "$top/build/fathom";
$ENV{FATHOM_ASAN} //= "$top/build/asan/fathom";
$ENV{WORKLOADS}   //= "$top/build/workloads";

# Layers in their order. shared: its files do not measure the machine. first: start order of the
# shared batch, lowest first.
my @layers = (
	{ name => 'unit',    shared => 1, first => 1, timeout => 300 },
	{ name => 'golden',  shared => 1, first => 1, timeout => 120 },
	{ name => 'kernel',  first => 2, timeout => 180, again => 2 },
	{ name => 'oracle',  first => 2, timeout => 300, again => 2 },
	{ name => 'browser', shared => 1, first => 3, timeout => 300, again => 2 },
	{ name => 'tui',     shared => 1, first => 3, timeout => 300, again => 2 },
	{ name => 'vm',      shared => 1, first => 0, timeout => 1200, again => 1 },
	{ name => 'fuzz',    shared => 1, first => 4, timeout => 120 },
);
my $fuzz_seconds = $ENV{FUZZ_SECONDS} // 3;
# Every run of the tests tries the same inputs, so that it fails for what was changed; make fuzz
# continues from other seeds each time.
my $fuzz_seed = $ENV{FUZZ_SEED} // 1;

my $verbose = 0;
my %total = (passed => 0, failed => 0, skipped => 0);
my (@skips, @failures, @unsteady, @again);
my %running;    # pid => test
my $scratch = tempdir('fathom-run-XXXXXX', TMPDIR => 1, CLEANUP => 1);

# Each unwinder appends a line of what it recognised and checked: see src/unwind/checks.h. With
# FATHOM_CHECK_STACKS=1 every recognised stack is checked.
my $check_log = $ENV{FATHOM_CHECK_LOG} //= "$scratch/checks";

$| = 1;
$SIG{INT} = $SIG{TERM} = sub { stop_all(); exit 130 };

# ---- what there is to run ----------------------------------------------------------------------

# A test file may ask for another time-out with a line "# timeout: SECONDS", and say with a line
# "# shared" that it may run beside another file.
sub script_test {
	my ($layer, $path) = @_;
	my $test = { layer => $layer, name => $path =~ s{^tests/}{}r, command => ["./$path"],
		     timeout => $layer->{timeout}, shared => $layer->{shared} };
	open(my $fh, '<', $path) or return $test;
	while (<$fh>) {
		$test->{timeout} = $1 if /^# timeout: ([0-9]+)$/;
		$test->{shared} = 1 if /^# shared$/;
		last if $. > 30;
	}
	return $test;
}

sub unit_tests {
	my ($layer) = @_;
	return map { { layer => $layer, name => $_, command => ["./$_"], shared => 1,
		       timeout => $layer->{timeout} } }
	       grep { -x } qw(build/unit-tests build/asan/unit-tests);
}

# libFuzzer keeps what it finds in the first folder, and reads the seeds from the second.
sub fuzz_tests {
	my ($layer) = @_;
	my @tests;
	my @sources = glob 'tests/fuzz/*.c';
	for my $name (map { m{([^/]+)\.c$} } @sources) {
		my $path = "build/fuzz/$name";
		next unless -x $path;
		my $found = "$scratch/$name";
		mkdir $found;
		my @seeds = grep { -d } ("tests/fuzz/seeds/$name", "tests/fuzz/$name.seeds");
		push @tests, { layer => $layer, name => $path, fuzz => 1, shared => 1,
			       timeout => $layer->{timeout},
			       command => ["./$path", "-max_total_time=$fuzz_seconds",
					   "-seed=$fuzz_seed", '-timeout=10',
					   '-rss_limit_mb=1024', '-verbosity=0',
					   "-artifact_prefix=build/fuzz/$name.crash-", $found, @seeds] };
	}
	if (@sources && !@tests) {
		$total{skipped}++;
		push @skips, 'fuzz: no target is built (make fuzz builds them)';
	}
	return @tests;
}

sub layer_tests {
	my ($layer) = @_;
	my @tests = map { script_test($layer, $_) } glob "tests/$layer->{name}/*.t";
	push @tests, unit_tests($layer) if $layer->{name} eq 'unit';
	push @tests, fuzz_tests($layer) if $layer->{name} eq 'fuzz';
	return @tests;
}

# ---- running -----------------------------------------------------------------------------------

sub start {
	my ($test) = @_;
	$test->{errors} = "$scratch/stderr." . (++$total{started});
	pipe(my $out, my $in) or die "pipe: $!\n";
	my $pid = fork() // die "fork: $!\n";
	if (!$pid) {
		POSIX::setsid();
		# nohup and others ignore some, and a shell cannot set those back
		$SIG{$_} = 'DEFAULT' for qw(HUP INT QUIT PIPE TERM TSTP TTIN TTOU CHLD);
		close $out;
		open(STDIN, '<', '/dev/null');
		open(STDOUT, '>&', $in);
		open(STDERR, '>', $test->{errors});
		{ no warnings; exec { $test->{command}[0] } @{ $test->{command} } }
		print STDERR "cannot run: $!\n";
		POSIX::_exit(127);
	}
	close $in;
	$out->blocking(0);
	@$test{qw(pid out tap begun)} = ($pid, $out, '', time);
	$running{$pid} = $test;
}

# Every process a test has started is of its session, whatever process groups they make.
sub kill_session {
	my ($signal, $session) = @_;
	for my $path (glob '/proc/[0-9]*/stat') {
		open(my $fh, '<', $path) or next;
		my $line = <$fh> // next;
		my ($pid) = $line =~ /^([0-9]+)/;
		my (undef, undef, undef, $of) = split ' ', $line =~ s/^.*\)//r;
		kill $signal, $pid if $of == $session;
	}
}

# Asks first, so that the test can clean up.
sub end_session {
	my ($session) = @_;
	kill_session('TERM', $session);
	select undef, undef, undef, 1;
	kill_session('KILL', $session);
}

sub read_some {
	my ($test) = @_;
	while (my $n = sysread($test->{out}, my $chunk, 65536)) {
		$test->{tap} .= $chunk if length $test->{tap} < 16 << 20;
		print $chunk if $verbose;
	}
}

# One turn of the loop: takes output, and the end of whatever has ended.
sub turn {
	my @finished;
	IO::Select->new(map { $_->{out} } values %running)->can_read(0.05);
	for my $test (values %running) {
		read_some($test);
		my $done = waitpid($test->{pid}, WNOHANG);
		if (!$done && time - $test->{begun} > $test->{timeout}) {
			$test->{timed_out} = 1;
			end_session($test->{pid});
			$done = waitpid($test->{pid}, 0);
		}
		next unless $done;
		$test->{status} = $?;
		$test->{seconds} = time - $test->{begun};
		kill_session('KILL', $test->{pid});
		read_some($test);
		push @finished, $test;
	}
	delete $running{ $_->{pid} } for @finished;
	return @finished;
}

sub stop_all {
	end_session($_) for keys %running;
}

# ---- counting ----------------------------------------------------------------------------------

sub status_text {
	my ($test) = @_;
	return "timed out after $test->{timeout} s" if $test->{timed_out};
	return 'killed by signal ' . ($test->{status} & 127) if $test->{status} & 127;
	return 'ended with status ' . ($test->{status} >> 8);
}

# One skip line per reason, whatever the number of tests it covers.
sub note_skips {
	my ($test, $count, @order) = @_;
	push @skips, "$test->{name}: $_" . ($count->{$_} > 1 ? " ($count->{$_} tests)" : '') for @order;
}

sub count_tap {
	my ($test) = @_;
	# No output at all is a plan that is missing, not an error of ours.
	my $parser = TAP::Parser->new({ tap => $test->{tap} eq '' ? "\n" : $test->{tap} });
	my (%n, %reason, @order);
	@n{qw(passed failed skipped)} = (0, 0, 0);
	while (my $r = $parser->next) {
		next unless $r->is_test;
		if ($r->has_skip || $r->has_todo) {
			my $why = $r->explanation || 'no reason given';
			$why = "to do: $why" if $r->has_todo;
			push @order, $why unless $reason{$why}++;
			$n{skipped}++;
		} else {
			$n{ $r->is_ok ? 'passed' : 'failed' }++;
		}
	}
	if (defined $parser->skip_all && !$parser->tests_run) {
		push @order, $parser->skip_all || 'no reason given';
		$reason{ $order[-1] } = $n{skipped} = 1;
	}
	my @errors = $parser->parse_errors;
	push @errors, status_text($test) if $test->{status} && !$n{failed};
	$n{failed}++ if @errors;
	note_skips($test, \%reason, @order) unless $n{failed} && may_rerun($test);
	return (\%n, @errors);
}

sub count_fuzz {
	my ($test) = @_;
	my %n = (passed => 0, failed => 0, skipped => 0);
	$n{ $test->{status} ? 'failed' : 'passed' } = 1;
	return (\%n, $test->{status} ? status_text($test) : ());
}

# TEST_AGAIN=0 is for work on a test: it fails at once.
sub may_rerun {
	my ($test) = @_;
	return 0 if ($ENV{TEST_AGAIN} // '') eq '0';
	return ($test->{runs} // 1) <= ($test->{layer}{again} // 0);
}

# The names of what failed, for the list of the unsteady.
sub failed_names {
	my ($test, @errors) = @_;
	my @names = $test->{tap} =~ /^not ok [0-9]+ -? ?(.*?)(?: #.*)?$/mg;
	return join '; ', @names ? @names : @errors;
}

# The failed tests with the comment lines that follow them, and the end of stderr.
sub show_failure {
	my ($test, @errors) = @_;
	my $show = 0;
	for (split /\n/, $test->{tap}) {
		$show = 1 if /^not ok/ && !/# *(TODO|SKIP)/i;
		$show = 0 if /^ok/;
		$show = 0 if /^not ok.*# *(TODO|SKIP)/i;
		print "    $_\n" if $show && !$verbose;
	}
	print "    $_\n" for @errors;
	open(my $fh, '<', $test->{errors}) or return;
	my @lines = <$fh>;
	splice @lines, 0, @lines - 40 if @lines > 40;
	print "    stderr: $_" for @lines;
}

sub finish {
	my ($test) = @_;
	my ($n, @errors) = $test->{fuzz} ? count_fuzz($test) : count_tap($test);
	my $rerun = $n->{failed} && may_rerun($test);
	if (!$rerun) {
		$total{$_} += $n->{$_} for qw(passed failed skipped);
	}
	my $what = join ', ', map { $n->{$_} ? "$n->{$_} $_" : () } qw(passed failed skipped);
	$what = 'ok, nothing run' if $what eq '';
	printf "%-44s %s (%.1f s)\n", $test->{name}, $what, $test->{seconds};
	show_failure($test, @errors) if $n->{failed};
	unlink $test->{errors};
	if ($rerun) {
		push @again, { %$test{qw(layer name command timeout shared)}, runs => ($test->{runs} // 1) + 1,
			       before => failed_names($test, @errors) };
	} elsif ($n->{failed}) {
		push @failures, "$test->{name}: $n->{failed}";
	} elsif ($test->{before}) {
		push @unsteady, "$test->{name}: $test->{before} (passed in run $test->{runs})";
	}
}

sub run_tests {
	my ($jobs, @queue) = @_;
	while (@queue || %running) {
		start(shift @queue) while @queue && keys %running < $jobs;
		finish($_) for turn();
	}
	return unless @again;
	my @failed = splice @again;
	print "-- again, alone: ", join(', ', map { $_->{name} } @failed), "\n";
	run_tests(1, @failed);
}

# ---- the whole ---------------------------------------------------------------------------------

sub usage {
	print STDERR "usage: tests/run [-v] [", join('|', map { $_->{name} } @layers), "|FILE.t]...\n";
	exit 2;
}

# The tests of the layers and files asked for, in that order.
sub asked_tests {
	my (@asked) = @_;
	my %known = map { $_->{name} => $_ } @layers;
	my @tests;
	for my $what (@asked) {
		if (my $layer = $known{$what}) {
			push @tests, layer_tests($layer);
		} elsif ($what =~ m{([^/]+)/[^/]+\.t$} && -e $what) {
			my $layer = $known{$1} // { name => $1, first => 2, timeout => 300 };
			push @tests, script_test($layer, $what =~ s{^\./}{}r);
		} else {
			print STDERR "no such layer or test file: '$what'\n";
			usage();
		}
	}
	return @tests;
}

sub run_asked {
	my @tests = asked_tests(@_);
	my @shared = sort { $a->{layer}{first} <=> $b->{layer}{first} } grep { $_->{shared} } @tests;
	my @alone = grep { !$_->{shared} } @tests;
	print "== two at a time\n" if @shared;
	run_tests(2, @shared);
	print "== alone\n" if @alone;
	run_tests(1, @alone);
}

# Tests of instances and probe events work in the directory itself, which a bare machine has not
# mounted. Programs that find none are tested by kernel/tracefs.t.
sub mount_tracefs {
	return if $> != 0 || -e '/sys/kernel/tracing/events' || !-d '/sys/kernel/tracing';
	system('mount -t tracefs nodev /sys/kernel/tracing 2>/dev/null');
}

# A stack that was taken for another one is a failure, whatever the test was about.
sub count_checks {
	my %n = (runs => 0, recognised => 0, checked => 0, misrecognised => 0);
	open(my $fh, '<', $check_log) or return;
	while (<$fh>) {
		my ($recognised, $checked, $wrong) = /^([0-9]+) ([0-9]+) ([0-9]+) / or next;
		$n{runs}++;
		$n{recognised} += $recognised;
		$n{checked} += $checked;
		$n{misrecognised} += $wrong;
	}
	print "\nstacks of $n{runs} unwinders: $n{recognised} recognised, $n{checked} checked, ",
		"$n{misrecognised} misrecognised\n" if $n{runs};
	return unless $n{misrecognised};
	$total{failed}++;
	push @failures, "$n{misrecognised} user stacks were not what they had been recognised as";
}

while (@ARGV && $ARGV[0] =~ /^-/) {
	my $arg = shift @ARGV;
	if ($arg eq '-v') { $verbose = 1 } else { usage() }
}
mount_tracefs();
run_asked(@ARGV ? @ARGV : map { $_->{name} } @layers);
count_checks();
if (@skips) {
	print "\nskipped:\n";
	print "  $_\n" for @skips;
}
if (@unsteady) {
	print "\nunsteady:\n";
	print "  $_\n" for @unsteady;
}
if (@failures) {
	print "\nfailed:\n";
	print "  $_\n" for @failures;
}
print "\n$total{passed} passed, $total{failed} failed, $total{skipped} skipped\n";
exit($total{failed} == 0 && $total{passed} > 0 ? 0 : 1);
