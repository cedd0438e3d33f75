#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
#
# run.pl CASES: runs every case with fathom trace and prints one line for each, "ok NAME", or
# "not ok NAME" with the difference.
use strict;
use warnings;

my ($file) = @ARGV;
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

for my $c (@cases) {
	my @command = ($fathom, 'trace');
	push @command, split / /, $c->{flags} if $c->{flags};
	push @command, '-c', $c->{cmd} if $c->{cmd};
	(my $program = $c->{program}) =~ s/\n\z//;
	push @command, '-e', $program;
	push @command, split / /, $c->{args} if $c->{args};
	my ($text, $late, $status) = output_of(30, @command);
	if ($text eq $c->{output}) {
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
