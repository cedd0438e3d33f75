#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A goal of make builds nothing again that another one has built.
. "$(dirname "$0")/../lib/test.sh"

flags_of() {
	make -C "$TOP" --no-print-directory -n "$1" | sed -n "s/.*flags='\(.*\)';.*/\1/p" | sort -u
}

all=$(flags_of all)
like "the program has flags" "$all" '-O2'
for goal in unit oracles install; do
	is "$goal: the flags of the program" "$(flags_of $goal)" "$all"
done
done_testing
