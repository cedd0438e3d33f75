#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
#
# run.pl TOOL CASES: runs every case with "fathom" (in bpftrace's form), "native" (fathom in its own
# form) or "bpftrace" and prints one line per case, "ok NAME", "not ok NAME" with the difference
# behind it, or "skip NAME: REASON".
use strict;
use warnings;

my ($tool, $file) = @ARGV;
my $errors = ($ENV{TMP} // '/tmp') . "/lang-errors.$$";
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

# No shell in between: programs are full of its special characters. A program that does not end is
# interrupted, so that it writes what it has buffered, and killed if that does not help.
sub output_of {
	my ($seconds, @command) = @_;
	my $pid = open my $pipe, '-|';
	die "cannot fork: $!\n" unless defined $pid;
	if (!$pid) {
		open STDERR, '>', "$errors";
		exec 'timeout', '-s', 'INT', '-k', '5', $seconds, @command;
		exit 127;
	}
	local $/;
	my $text = <$pipe> // '';
	close $pipe;
	my $status = $? >> 8;
	return ($text, $status == 124 || $status == 137, $status);
}

sub last_error {
	open my $in, '<', $errors or return '';
	my @lines = grep { !/RLIMIT_MEMLOCK/ } <$in>;
	chomp @lines;
	return $lines[-1] // '';
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
	my @command = $tool eq 'bpftrace' ? ('bpftrace') : ($fathom, 'trace');
	push @command, '--compat' if $tool eq 'fathom';
	push @command, split / /, $c->{flags} if $c->{flags};
	push @command, '-c', $c->{cmd} if $c->{cmd};
	(my $program = $c->{program}) =~ s/\n\z//;
	push @command, '-e', $program;
	push @command, split / /, $c->{args} if $c->{args};
	my ($text, $late, $status) = output_of(30, @command);
	# The peer attaches a uprobe to itself for BEGIN. On a busy machine that takes long, and it
	# may miss its own probe and then waits for ever: what it does not end says nothing about
	# its output. What it ends with, right or wrong, is judged.
	for my $seconds (60, 90) {
		last unless $tool eq 'bpftrace' && ($late || $text eq '' && $c->{output} ne '');
		($text, $late, $status) = output_of($seconds, @command);
	}
	if ($tool eq 'bpftrace' ? same($text, $c->{output}) : $text eq $c->{output}) {
		print "ok $c->{name}\n";
	} else {
		$text =~ s/\n/\\n/g;
		(my $want = $c->{output}) =~ s/\n/\\n/g;
		my $how = ($late ? ', did not end' : ", status $status") . ': ' . last_error();
		print "not ok $c->{name}: got '$text' wanted '$want'$how\n";
	}
	$| = 1;
}
unlink $errors;
