#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
#
# Markers of programs: include/fathom.h with each compiler, in C and C++, and their spans.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
need_root
need_cmd gcc
cd "$TMP" || exit 1

cat >marks.c <<'END'
#include "fathom.h"
#include <unistd.h>

int main(int argc, char **argv)
{
	(void)argv;
	for (long i = 0; i < 5; i++) {
		FATHOM_BEGIN("request", i);
		if (i == 3)
			usleep(60000);
		FATHOM_MARK("half", i * -10);
		FATHOM_END("request", i);
	}
	return argc - 1;
}
END
cp marks.c marks.cc

# spans_of NAME: rows of a run, as name:id:milliseconds
spans_of() {
	run "$FATHOM" spans -x "$TMP/$1" --marks --csv -- "$TMP/$1"
	python3 -c '
import csv, sys
for r in csv.DictReader(open(sys.argv[1])):
    print(r["name"], r["id"], int(r["lat"]) >= 60e6)' "$out_file" | sort
}
want=$(printf '%s\n' 'half -10 False' 'half -20 False' 'half -30 False' 'half -40 False' \
	'half 0 False' 'request 0 False' 'request 1 False' 'request 2 False' 'request 3 True' \
	'request 4 False' | sort)
for how in 'gcc -O2' 'gcc -O0 -std=gnu99' 'gcc -O2 -flto' 'clang -O2' 'clang -O0' 'g++ -O2' 'clang++ -O2'; do
	read -r -a words <<<"$how"
	command -v "${words[0]}" >/dev/null || { skip "needs ${words[0]}" 2; continue; }
	source=marks.c
	case ${words[0]} in *++) source=marks.cc ;; esac
	ok "$how: builds without a warning" "${words[@]}" -Wall -Wextra -Wpedantic -Werror \
		-I"$TOP/include" -o "marks" $source
	is "$how: every span and mark, and the long one is long" "$(spans_of marks)" "$want"
done
run "$FATHOM" spans -x /bin/true -d 1s
ok 'a program without marks is said to have none' [ "$status" != 0 ]
expect_err 'no spans and no marks'
done_testing
