#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# From the start to the guilty function of a database under load, in three keys.
# shellcheck source=tests/lib/test.sh disable=SC2317 # functions are called by wait_until
. "$(dirname "$0")/../lib/test.sh"

need_root
bin=
for bin in /usr/lib/postgresql/*/bin; do :; done
[ -x "$bin/initdb" ] || plan_skip 'needs PostgreSQL'
need_cmd pgbench setpriv
export HOME=$TMP
chmod 755 "$TMP"
mkdir "$TMP/pg" && chown postgres "$TMP/pg"
as() { setpriv --reuid postgres --regid postgres --clear-groups env HOME="$TMP/pg" "$@"; }
cd "$TMP/pg" || exit 1
as "$bin/initdb" -D "$TMP/pg/data" -A trust >"$TMP/log" 2>&1 || plan_skip 'initdb does not work here'
quiet() { exec "$@" >/dev/null 2>&1; }
spawn quiet setpriv --reuid postgres --regid postgres --clear-groups \
	"$bin/postgres" -D "$TMP/pg/data" -k "$TMP/pg" -c listen_addresses=''
server() { as "$bin/pg_isready" -q -h "$TMP/pg"; }
wait_until server || plan_skip 'the server does not start'
as pgbench -q -i -h "$TMP/pg" postgres >>"$TMP/log" 2>&1
spawn quiet setpriv --reuid postgres --regid postgres --clear-groups \
	pgbench -n -S -c 2 -T 120 -h "$TMP/pg" postgres

RUN_TIMEOUT=120
run "$FATHOM" top --once --size 120x20 --filter 'command ~ "postgres: postgres"'
expect_out_like 'postgres: postgres postgres \[local\]' 'the title that the server gives its work'
# A server that waits for its turn has few samples in the second of a frame: again until there are some.
functions() {
	run "$FATHOM" top --once --json --filter 'command ~ "postgres: postgres"' --keys 'Enter 3'
	names=$(grep -oE '"function": "[^"]*"' "$out_file" | head -40)
	[ "$status" -ne 0 ] ||
		grep -qE 'exec_|Exec|hash_search|heap_|LWLock|Parse|Postgres|postgres\+' <<<"$names"
}
ok 'functions of the server are among them' wait_until functions
expect_status 0 'Enter, 3: its functions'
callers() {
	run "$FATHOM" top --once --size 160x20 --filter 'command ~ "postgres: postgres"' --keys 'Enter 3 Enter'
	[ "$status" -ne 0 ] || grep -qE '[0-9.]+ .* < ' "$out_file"
}
ok 'Enter: one function, by which path' wait_until callers
expect_status 0 'Enter: one function'
expect_out 'CALLED FROM' 'who calls it'
run "$FATHOM" top --once --size 120x30 --keys '4'
expect_out_like 'samples of .* all: 100.0%' 'the machine as a flame graph'
run "$FATHOM" top --once --size 160x40 --keys '5'
expect_out 'WOKEN BY' 'waits with their wakers'
done_testing
