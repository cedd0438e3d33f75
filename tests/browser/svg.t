#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The SVG of `fathom flame` in chromium: mouse, search, keyboard, looks. See svg.mjs.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
need_cmd python3
# shellcheck source=tests/lib/browser.sh
. "$(dirname "$0")/../lib/browser.sh"

cp "$TOP/tests/lib/small.folded" "$TMP"
python3 - >"$TMP/deep.folded" <<'END'
print("one 1")
print(";".join(f"f{i % 9}" for i in range(400)), 1)
END
cat >"$TMP/evil.folded" <<'END'
</title><script>owned=1</script>;<img onerror=owned=1>;${owned=1}"' 3
END
for name in small deep evil; do
	"$FATHOM" flame "$TMP/$name.folded" -o "$TMP/$name.svg" || fail "draw $name"
done
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
	printf 'app 1/1 [000] %d.0: 1000 cycles:\n\t1 slow (x)\n\n' "$i"
	printf 'app 1/1 [000] %d.1: 1000 cycles:\n\t1 fast (x)\n\n' "$i"
	printf 'app 1/1 [000] %d.2: 3000 instructions:\n\t1 fast (x)\n\n' "$i"
	printf 'app 1/1 [000] %d.3: 500 instructions:\n\t1 slow (x)\n\n' "$i"
done >"$TMP/ipc.script"
"$FATHOM" flame "$TMP/ipc.script" --ratio cycles,instructions --colors hot -o "$TMP/ratio.svg" || fail "draw a ratio"

printf '%s\n' 'java;serve;Main.run_[j] 40' 'java;serve;vm_[k] 30' 'java;serve;py_[p] 20' \
	'java;serve;copy_[i] 20' 'java;serve;plain 9' >"$TMP/kinds.folded"
"$FATHOM" flame "$TMP/kinds.folded" -o "$TMP/kinds.svg" --title 'What a Server Does all Day' \
	--subtitle '119 samples, 8.64 s of cpu-clock over 1.27 s, none lost, host, stacks complete' ||
	fail 'draw kinds'

RUN_TIMEOUT=120
drive svg.mjs
done_testing
