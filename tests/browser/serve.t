#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The page of fathom serve in chromium: charts, the past, recordings, tools. See serve.mjs.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
need_root
need_file "$WORKLOADS/burn"
# shellcheck source=tests/lib/browser.sh
. "$(dirname "$0")/../lib/browser.sh"
cd "$TMP" || exit 1

spawn "$FATHOM" serve --listen 127.0.0.1 --budget 0 --share view --share program --allow-programs >address 2>serve.err
wait_until grep -q '(program)' address
trace=$(sed -n 's/  (trace)$//p' address)
program=$(sed -n 's/  (program)$//p' address)
view=$(sed -n 's/  (view)$//p' address)

RUN_TIMEOUT=280
drive serve.mjs "$trace" "$view" "$WORKLOADS" "$program"
unlike 'the HTTP side does not crash' "$(cat serve.err)" 'ended by signal'
done_testing
