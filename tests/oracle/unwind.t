#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
#
# Our unwinder against libdw at random stops of real programs, and our tables against readelf.
# UNWIND_STOPS sets the number of stops for each program.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_cmd gcc python3 readelf
stops=${UNWIND_STOPS:-60}
export XDG_CACHE_HOME=$TMP/cache

oracle=$TOP/build/oracle/unwind
need_file "$oracle"

# Tables: every row of every function of some dozen files.
files=()
for file in /bin/ls /bin/bash /usr/bin/perl /usr/bin/git /usr/bin/xz /usr/bin/openssl \
	/lib64/ld-linux-x86-64.so.2 /lib/x86_64-linux-gnu/lib{c,m,ssl,crypto,z,lzma,gcc_s,stdc++,elf,dw}.so.*; do
	[ -r "$file" ] && files+=("$file")
done
result=$(python3 "$TOP/tests/oracle/unwind_readelf.py" "$oracle" "${files[@]}")
diag "$(grep '^#' <<<"$result")"
read -r n_files n_rows n_different n_unsupported <<<"$(tail -n 1 <<<"$result")"
diag "tables: $n_files files, $n_rows rows, $n_different differ, $n_unsupported unsupported"
ok "tables of at least 5 files were compared" test "${n_files:-0}" -ge 5
is "tables agree with readelf" "$n_different" 0

cat >"$TMP/work.py" <<'END'
import json, re
while True:
    data = {str(i): [i] * 10 for i in range(500)}
    text = json.dumps(data, sort_keys=True)
    json.loads(text)
    re.sub(r"(\d+)", lambda m: m.group(1)[::-1], text)
    sorted(data, key=lambda k: -len(k))
END
cat >"$TMP/work.pl" <<'END'
while (1) {
	my %h = map { $_ => [$_ x 3] } 1 .. 500;
	my $s = join ",", sort { $a <=> $b } keys %h;
	$s =~ s/(\d+)/<$1>/g;
}
END
cat >"$TMP/work.js" <<'END'
const text = JSON.stringify(Array.from({ length: 2000 }, (_, i) => ({ i, s: String(i) })));
for (;;) {
	const data = JSON.parse(text);
	data.sort((a, b) => (a.s < b.s ? -1 : 1));
	data.map((x) => x.s.replace(/[0-9]/g, (c) => c + c)).join();
}
END
cat >"$TMP/work.sql" <<'END'
with recursive n(i) as (select 1 union all select i + 1 from n where i < 3000000)
select count(*), sum(i * i % 7), group_concat(i % 3) from n where i % 2 = 0 order by i % 11;
END
python3 - >"$TMP/work.c" <<'END'
print("int printf(const char *, ...);")
for i in range(1500):
    print("int f%d(int *p, int n) { int s = %d; for (int i = 0; i < n; i++) { s += p[i] * %d;"
          " if (s & 1) p[i] ^= s; switch (s %% 7) { case 1: s++; break; case 3: s -= p[0]; break;"
          " default: printf(\"%%d\", s); } } return s; }" % (i, i, i + 3))
END
head -c 30000000 /dev/urandom >"$TMP/random"
base64 "$TMP/random" | tee "$TMP/a.txt" | sed '5~9d' >"$TMP/b.txt"

# stops_of NAME COMMAND...: every stack equal, except where libdw has no rule (see unwind.c), which
# may be one stop in a thousand, or one of few. MAY_LACK is another limit for that.
stops_of() {
	local name=$1 result got equal explained root
	shift
	if ! command -v "$1" >/dev/null; then
		skip "$name is not installed"
		return
	fi
	result=$("$oracle" "$stops" "$@")
	read -r got equal explained root <<<"$(tail -n 1 <<<"$result")"
	diag "$(grep '^#' <<<"$result")"
	diag "$(printf '%-10s %5d stops %5d equal %5d without a rule of libdw %5d to the root' \
		"$name" "$got" "$equal" "$explained" "$root")"
	if [ "${got:-0}" -lt $((stops / 2)) ]; then
		fail "$name: stacks equal libdw's" "only ${got:-0} stops"
	elif [ $((equal + explained)) -eq "$got" ] &&
		[ "$explained" -le "${MAY_LACK:-$((got / 1000 + 1))}" ]; then
		pass "$name: stacks equal libdw's"
	else
		fail "$name: stacks equal libdw's" "$((got - equal)) of $got differ, $explained explained"
	fi
}

stops_of python3 /usr/bin/python3 "$TMP/work.py"
stops_of perl perl "$TMP/work.pl"
stops_of sqlite3 sqlite3 :memory: ".read $TMP/work.sql"
stops_of cc1 "$(gcc -print-prog-name=cc1)" -O2 -quiet -o /dev/null "$TMP/work.c"
stops_of clang clang -O2 -fintegrated-cc1 -c -o /dev/null "$TMP/work.c"
stops_of xz xz -T1 -9e -c "$TMP/random"
stops_of openssl openssl speed -seconds 20 sha256
stops_of git git diff --no-index --stat "$TMP/a.txt" "$TMP/b.txt"
# Its libraries start with assembly that has no rules; on a busy machine many stops are there.
MAY_LACK=$((stops / 3)) stops_of node node "$TMP/work.js"

# Most of its time is spent in clone3, some of it where libdw has no rule.
cat >"$TMP/threads.c" <<'END'
#include <pthread.h>

static void *run(void *arg)
{
	return arg;
}

int main(void)
{
	for (;;) {
		pthread_t t;

		if (!pthread_create(&t, 0, run, 0))
			pthread_join(t, 0);
	}
}
END
gcc -O2 -pthread -o "$TMP/threads" "$TMP/threads.c"
MAY_LACK=$stops stops_of threads "$TMP/threads"
done_testing
