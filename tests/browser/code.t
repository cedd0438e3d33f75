#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# The panel with instructions in the page of `fathom flame --code`; its figures are those of
# `fathom annotate --json`. See code.mjs.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
need_root
need_cmd gcc
"$FATHOM" version | grep -q capstone || plan_skip "built without capstone"
# shellcheck source=tests/lib/browser.sh
. "$(dirname "$0")/../lib/browser.sh"
cd "$TMP" || exit 1
cat >hot.c <<'END'
static volatile unsigned long sink;
__attribute__((noinline)) void hot(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++) /* </script><script>owned=1</script> */
		sink += i * i;
}
int main(void)
{
	for (int i = 0; i < 60; i++)
		hot(8000000);
	return 0;
}
END
gcc -O1 -g -o hot hot.c || plan_skip "no compiler"
"$FATHOM" record -q -F 499 -o hot.data -- ./hot || plan_skip "nothing can be recorded here"
"$FATHOM" annotate -i hot.data --json hot >code.json || fail "annotate"
"$FATHOM" flame -i hot.data --code -o code.html || fail "draw"
RUN_TIMEOUT=120
drive code.mjs
done_testing
