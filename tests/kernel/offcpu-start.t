#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What the wait commands keep about the kernel, so that they begin at once: found out, used again,
# and not believed when it is damaged.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
# shellcheck source=tests/lib/waits.sh
. "$(dirname "$0")/../lib/waits.sh"

need_root
need_cmd python3
need_file "$WORKLOADS/block"
cd "$TMP" || exit 1
export XDG_CACHE_HOME=$TMP/cache

# watch WHAT: the truth about a reader, its stack and kernel names, with the cache as it is.
watch() {
	local got

	run "$FATHOM" offwake --force -o pipe.folded -- "$WORKLOADS/block" pipe
	expect_status 0
	got=$(sum_of pipe.folded '^reader;.*;wait_for_data;read;.*pipe_read;.*;--;.*write_late;.*;writer [0-9]+$')
	# wrong types find no waits or no names; the reader counts its way back to a CPU, too, which
	# may be long
	ok "$1: the reader's waits, and their wakers ($got us)" \
		near "$got" "$(truth "$out_file" waited)" 50
}

kept() { find "$XDG_CACHE_HOME" -name "$1" -size +0 2>/dev/null | sort; }

watch "nothing kept"
types=$(kept '*.btf')
facts=$(kept '*.facts')
is "the types that are read are kept" "$(wc -l <<<"$types")" 1
is "and what the types tell" "$(wc -l <<<"$facts")" 1
[ -n "$types" ] && [ -n "$facts" ] || exit 1
cp "$types" types.good
cp "$facts" facts.good

watch "kept"
ok "what is kept stays as it is" cmp -s "$facts" facts.good

python3 - "$facts" <<'END'
import sys
with open(sys.argv[1], "r+b") as f:
    f.seek(8)
    f.write(b"\x40\x42")  # the kernel would be asked at another place
END
watch "damaged facts"
ok "they are found out anew" cmp -s "$facts" facts.good

: >"$types"
watch "no types"
echo "this is no description of types" >"$types"
watch "damaged types"
watch "after that"
ok "they are made anew" cmp -s "$types" types.good

XDG_CACHE_HOME=/dev/null watch "no place to keep anything"
done_testing
