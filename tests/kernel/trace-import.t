#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# Programs of several files, and what histograms say besides their rows.
. "$(dirname "$0")/../lib/test.sh"
need_root
need_file /sys/kernel/btf/vmlinux
trace() { run "$FATHOM" trace "$@"; }

mkdir -p "$TMP/scripts/lib"
cat >"$TMP/scripts/lib/a.bt" <<'END'
import "b.bt";
macro twice(x) { x * 2 }
BEGIN { printf("from a: %d\n", thrice(2)); }
END
cat >"$TMP/scripts/lib/b.bt" <<'END'
import "a.bt";
struct point { int x; int y; };
#define SIX 6
macro thrice(x) { x * 3 }
END
cat >"$TMP/scripts/main.bt" <<'END'
#!/usr/bin/env fathom
// import "nothing"
import "lib";
import "lib/a.bt"
BEGIN { printf("%d %d %d import \"x\"\n", twice(5), sizeof(struct point), SIX); }
END
trace "$TMP/scripts/main.bt"
expect_status 0
is 'files once each, in order, from the place of the script' "$out" 'from a: 6
10 8 6 import "x"'
trace --fmt "$TMP/scripts/main.bt"
expect_out 'import "lib";'
trace -I "$TMP/scripts/lib" -e 'import "b.bt"; BEGIN { print(thrice(5)); }'
expect_out '15'
trace --include "$TMP/scripts/lib/b.bt" -e 'BEGIN { print(thrice(4)); }'
expect_out '12'

# A mistake is shown in the file that has it.
printf 'macro wrong() { nope }\nBEGIN { print(nope); }\n' >"$TMP/scripts/wrong.bt"
printf '\nimport "wrong.bt";\nBEGIN { print(other); }\n' >"$TMP/scripts/both.bt"
trace "$TMP/scripts/both.bt"
expect_status 1
expect_err "wrong.bt:2:15-19: ERROR: Unknown identifier: 'nope'"
expect_err "both.bt:3:15-20: ERROR: Unknown identifier: 'other'"

trace -e 'import "no-such-file.bt"; BEGIN { }'
expect_status 1
expect_err "cannot import 'no-such-file.bt'"
: >"$TMP/scripts/x.bpf.c"
trace -I "$TMP/scripts" -e 'import "x.bpf.c"; BEGIN { }'
expect_status 1
expect_err 'C compiler'
mkfifo "$TMP/scripts/pipe.bt"
trace -I "$TMP/scripts" -e 'import "pipe.bt"; BEGIN { }'
expect_err 'it is not a file'
trace -e 'import 5; BEGIN { }'
expect_status 1
expect_err 'expected name of a file'

# --- percentiles ---------------------------------------------------------------------------------
trace -e 'BEGIN { for ($i : 0..1000) { @fine = hist($i, 5); @linear = lhist($i, 0, 1000, 10); } }'
expect_out_like '^p50 (49|50)[0-9], p90 (89|90)[0-9], p99 (98|99|100)[0-9], p99\.9 (99|100|101)[0-9] of 1000$'
expect_out 'p50 500, p90 900, p99 990, p99.9 999 of 1000'
trace -e 'config = { percentiles = false; hist_bits = 2; } BEGIN { @h = hist(100); }'
expect_out '[96, 112)'
unlike 'percentiles can be left out' "$out" 'p50'
done_testing
