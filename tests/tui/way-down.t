#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# A machine with a compile, a database under load and idle processes: from the start to the guilty
# function of either in at most four keys.
# shellcheck source=tests/lib/test.sh disable=SC2317 # functions are called by wait_until
. "$(dirname "$0")/../lib/test.sh"

need_root
bin=
for bin in /usr/lib/postgresql/*/bin; do :; done
[ -x "$bin/initdb" ] || plan_skip 'needs PostgreSQL'
need_cmd pgbench setpriv gcc python3
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
# The guilty one is hash_bytes_extended: the same long text is hashed again and again.
echo "with t as materialized (select repeat('x', 100000) as x)
	select max(hashtextextended(x, i)) from t, generate_series(1, 10000) i;" | tr '\n' ' ' >"$TMP/pg/bad.sql"
spawn quiet setpriv --reuid postgres --regid postgres --clear-groups \
	pgbench -n -f "$TMP/pg/bad.sql" -c 2 -T 300 -h "$TMP/pg" postgres
# A compiler that works longer than the test, and starts again should it end.
python3 - >"$TMP/big.c" <<'P'
for i in range(6000):
    print(f"int f{i}(int *a, int n) {{ int s = 0; for (int i = 0; i < n; i++) {{ "
          f"a[i] = a[i] * {i} + s; s ^= a[(i * {i + 3}) % n]; if (s & {i % 7 + 1}) s += a[0]; }} return s; }}")
P
compile() { while gcc -O2 -c -o "$TMP/big.o" "$TMP/big.c"; do :; done >/dev/null 2>&1; }
spawn compile
# and the idle rest
for _ in 1 2 3; do
	spawn sleep 303
done
WAIT_SECONDS=6
working='command ~ "postgres: postgres postgres" or (command ~ "cc1 -quiet" and command ~ '"\"$TMP\")"
top() { RUN_TIMEOUT=120 run "$FATHOM" top --once --size 160x40 "$@"; }
shown() { # REGEX...: all of them, in what the last run printed
	local regex
	for regex; do
		grep -qE -- "$regex" "$out_file" || return 1
	done
}

list() {
	top --filter "$working"
	[ "$status" -ne 0 ] || shown 'postgres: postgres postgres \[local\]' 'cc1 -quiet'
}
ok 'a database and a compiler are on one screen' wait_until list
expect_status 0 'the list of them'
run "$FATHOM" top --once --json --filter 'command ~ "sleep 303"'
ok 'the idle rest is idle' python3 -c '
import json, sys
rows = json.load(open(sys.argv[1]))["processes"]
# the filter is part of the command line of fathom itself
rows = [r for r in rows if r["comm"] == "sleep"]
assert len(rows) >= 3 and all(r["cpu"] < 1 for r in rows), rows' "$out_file"

# A process that waits for its turn has few samples in the second of a frame: again until there are
# some.
database() {
	top --keys 'Enter 3 Enter' --filter 'command ~ "postgres: postgres postgres"'
	[ "$status" -ne 0 ] || shown '^machine [^ ]+ [0-9]+ postgres.* hash_bytes_extended' 'CALLED FROM'
}
ok 'three keys: the guilty function of the database' wait_until database
expect_status 0 'Enter, 3, Enter'
expect_out_like '[0-9.]+ +hashtextextended < ' 'and who calls it'
# Both: the compiler has more memory, so its row is the first; the database is below it.
compiler() {
	top --keys 'Enter 3 Enter' --filter "$working" --sort res
	[ "$status" -ne 0 ] || shown '^machine [^ ]+ [0-9]+ cc1 ' 'CALLED FROM'
}
ok 'three keys: a function of the compiler' wait_until compiler
second() {
	top --keys 'Down Enter 3 Enter' --filter "$working" --sort res
	[ "$status" -ne 0 ] || shown '^machine [^ ]+ [0-9]+ postgres.* hash_bytes_extended'
}
ok 'four keys: from the row below it to that of the database' wait_until second
machine() {
	top --keys 3 --json
	[ "$status" -ne 0 ] || shown '"function": "hash_bytes_extended"' '"module": "[^"]*cc1"'
}
ok 'one key: both are among the functions of the machine' wait_until machine

run "$FATHOM" top --once --size 120x30 --keys '4'
expect_out_like 'samples of .* all: 100.0%' 'the machine as a flame graph'
run "$FATHOM" top --once --size 160x40 --keys '5'
expect_out 'WOKEN BY' 'waits with their wakers'
done_testing
