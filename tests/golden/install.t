#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 300
#
# make install puts everything where packages want it, and nothing else.
. "$(dirname "$0")/../lib/test.sh"

run make -C "$TOP" --no-print-directory install PREFIX=/usr DESTDIR="$TMP/root"
expect_status 0
root=$TMP/root/usr
ok "program" test -x "$root/bin/fathom"
ok "main page" test -s "$root/share/man/man1/fathom.1"
ok "bash completion" bash -n "$root/share/bash-completion/completions/fathom"
ok "zsh completion" test -s "$root/share/zsh/vendor-completions/_fathom"
for command in "$TOP"/src/cmd/*.c; do
	command=${command##*/}
	ok "page of ${command%.c}" test -s "$root/share/man/man1/fathom-${command%.c}.1"
done
if command -v mandoc > /dev/null; then
	run mandoc -Tlint -W warning "$root"/share/man/man1/*.1
	is "pages are clean" "$out" ""
else
	skip "mandoc is not installed"
fi
run env -i "$root/bin/fathom" --version
expect_status 0
expect_out_like '^fathom [0-9]'
done_testing
