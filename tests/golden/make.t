#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The makefile: a goal builds nothing again that another one has built, libraries are found.
. "$(dirname "$0")/../lib/test.sh"

flags_of() {
	make -C "$TOP" --no-print-directory -n "$1" | sed -n "s/.*flags='\(.*\)';.*/\1/p" | sort -u
}

all=$(flags_of all)
like "the program has flags" "$all" '-O2'
for goal in unit oracles install; do
	is "$goal: the flags of the program" "$(flags_of $goal)" "$all"
done

# A library that is installed later is found by the next make, which rebuilds nothing otherwise.
mkdir "$TMP/tree" "$TMP/bin"
cp "$TOP/Makefile" "$TMP/tree"
for folder in src scripts tests web tools; do ln -s "$TOP/$folder" "$TMP/tree/$folder"; done
cat >"$TMP/bin/cc" <<'END'
#!/bin/sh
case "$*" in *-l"$ABSENT"*) exit 1 ;; esac
exec gcc "$@"
END
chmod +x "$TMP/bin/cc"
config=$TMP/tree/build/gen/config.mk
probe() { # ABSENT
	ABSENT=$1 make -C "$TMP/tree" --no-print-directory CC="$TMP/bin/cc" PACKAGES="$TMP/status" \
		build/gen/config.mk >"$TMP/out" 2>"$TMP/err"
}
installed() { # a package, after the last look
	touch -d '-9 seconds' "${config%mk}probed"
	touch -d '-5 seconds' "$TMP/status"
}
touch -d '-5 seconds' "$TMP/status"
probe zstd
is "without a library: a feature less" "$(grep libzstd "$config")" 'FEATURE_libzstd := 0'
like "... which make says" "$(cat "$TMP/err")" 'built without:.* libzstd'
like "... with the remedy" "$(cat "$TMP/err")" 'scripts/deps build'
probe none
is "nothing was installed since: not looked for again" "$(grep libzstd "$config")" 'FEATURE_libzstd := 0'
installed
probe none
is "a package was installed: the library is found" "$(grep libzstd "$config")" 'FEATURE_libzstd := 1'
before=$(stat -c %y "$config")
installed
probe none
is "a package of no interest changes nothing" "$(stat -c %y "$config")" "$before"
cp "$config" "$TMP/last"
rm "$config"
probe bpf
ok "without libbpf nothing is built" test ! -e "$config"
like "... and make says so" "$(cat "$TMP/err")" 'cannot be built without: libbpf'
done_testing
