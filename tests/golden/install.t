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
if command -v zsh > /dev/null; then
	where=("$root"/share/zsh/*/_fathom)
	# shellcheck disable=SC2016 # for zsh
	is "zsh completes fathom" "$(zsh -fc 'fpath=($1 $fpath); autoload -Uz compinit; compinit -u -D
		print $_comps[fathom]; autoload +X _fathom && print loaded' zsh "${where%/*}" | paste -sd' ')" \
		'_fathom loaded'
	folder=${where%/_fathom}
	# shellcheck disable=SC2016 # for zsh
	ok "in a folder that zsh searches" grep -Fqx "${folder#"$TMP/root"}" <(zsh -fc 'print -l $fpath')
else
	skip "zsh is not installed" 2
fi
for command in "$TOP"/src/cmd/*.c; do
	command=${command##*/} command=${command%.c} command=${command//_/-}
	ok "page of $command" test -s "$root/share/man/man1/fathom-$command.1"
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
