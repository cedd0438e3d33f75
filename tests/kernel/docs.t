#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# timeout: 600
#
# The commands of the pages for learners and of the README are run, and show what the pages say.
. "$(dirname "$0")/../lib/test.sh"
need_root
need_cmd python3 cc
need_file "$WORKLOADS/burn"
cd "$TMP" || exit 1
export XDG_CACHE_HOME=$TMP/cache
# as on a terminal: the pages show trees with lines
export LC_ALL=C.UTF-8
mkdir bin
ln -s "$FATHOM" bin/fathom
PATH=$TMP/bin:$PATH
ln -s "$TOP/docs" docs
ln -s "$TOP/include" include
ln -s "$WORKLOADS/burn" burn

for page in "$TOP"/README.md "$TOP"/docs/*.md; do
	grep -q '^```console' "$page" || continue
	python3 "$TOP/tests/lib/console.py" "$page" >tap 2>err
	awk -v page="${page##*/}" -v n="$test_count" '
		/^(not )?ok [0-9]+ - / { n++; sub(/ok [0-9]+ - /, "ok " n " - " page ": ") }
		!/^1\.\./' tap
	test_count=$((test_count + $(grep -Ec '^(not )?ok ' tap)))
	# shellcheck disable=SC2034
	test_failed=$((test_failed + $(grep -c '^not ok ' tap)))
	sed 's/^/# /' err
done
done_testing
