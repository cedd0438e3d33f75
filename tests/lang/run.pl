#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
#
# run.pl TOOL CASES: runs every case with "fathom" or "bpftrace" and prints one line per case,
# "ok NAME", "not ok NAME" with the difference behind it, or "skip NAME: REASON".
use strict;
use warnings;

my ($tool, $file) = @ARGV;
my $fathom = $ENV{FATHOM} // "$ENV{TOP}/build/fathom";
my @cases;
my ($case, $part);

open my $in, '<', $file or die "cannot open '$file': $!\n";
while (my $line = <$in>) {
	if ($line =~ /^=== (.*)$/) {
		$case = { name => $1, program => '', output => '' };
		push @cases, $case;
		$part = undef;
	} elsif (!$case) {
		next;
	} elsif ($line =~ /^--- (program|output)$/) {
		$part = $1;
	} elsif ($part) {
		$case->{$part} .= $line;
	} elsif ($line =~ /^(\w+): (.*)$/) {
		$case->{$1} = $2;
	}
}
close $in;

# No shell in between: programs are full of its special characters.
sub output_of {
	my @command = @_;
	my $pid = open my $pipe, '-|';
	die "cannot fork: $!\n" unless defined $pid;
	if (!$pid) {
		open STDERR, '>', '/dev/null';
		exec 'timeout', '-s', 'KILL', '20', @command;
		exit 127;
	}
	local $/;
	my $text = <$pipe> // '';
	close $pipe;
	return $text;
}

# Keys with equal values come in no particular order from bpftrace.
sub same {
	my ($a, $b) = @_;
	return 1 if $a eq $b;
	return join("\n", sort split /\n/, $a) eq join("\n", sort split /\n/, $b);
}

for my $c (@cases) {
	if ($tool eq 'bpftrace' && $c->{differs}) {
		print "skip $c->{name}: $c->{differs}\n";
		next;
	}
	my @command = $tool eq 'bpftrace' ? ('bpftrace') : ($fathom, 'trace', '--compat');
	push @command, split / /, $c->{flags} if $c->{flags};
	push @command, '-c', $c->{cmd} if $c->{cmd};
	(my $program = $c->{program}) =~ s/\n\z//;
	push @command, '-e', $program;
	push @command, split / /, $c->{args} if $c->{args};
	my $text = output_of(@command);
	# the peer sometimes dies without a word on a busy machine
	$text = output_of(@command) if $tool eq 'bpftrace' && $text eq '';
	if ($tool eq 'bpftrace' ? same($text, $c->{output}) : $text eq $c->{output}) {
		print "ok $c->{name}\n";
	} else {
		$text =~ s/\n/\\n/g;
		(my $want = $c->{output}) =~ s/\n/\\n/g;
		print "not ok $c->{name}: got '$text' wanted '$want'\n";
	}
	$| = 1;
}
