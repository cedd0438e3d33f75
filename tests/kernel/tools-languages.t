#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# Tools about languages and databases, against programs whose truth is known.
. "$(dirname "$0")/../lib/test.sh"
. "$(dirname "$0")/../lib/tools.sh"
need_root
need_file /sys/kernel/btf/vmlinux

if traced pythongc '' '/usr/bin/python3 -c "import gc
for i in range(12): gc.collect()"'; then
	figure 'twelve collections of Python' 'len(some(what="generation 2")) >= 12 and all(r["took"] > 0 for r in rows)'
fi
if traced pythoncalls '' '/usr/bin/python3 -c "
def truth_call(): pass
for i in range(30): truth_call()"'; then
	figure 'thirty calls of a function' 'total("calls", method="truth_call") == 30'
fi
if traced pythonflow '' '/usr/bin/python3 -c "
def truth_inner(): pass
def truth_outer(): truth_inner()
truth_outer()"'; then
	figure 'calls in their order' \
		'[r["method"] for r in rows if r["method"].startswith("truth_")] == ["truth_inner", "truth_outer"]'
fi
if traced pythonstat '60' '/usr/bin/python3 -c "import gc; gc.collect()"'; then
	figure 'collections a second' '[r for r in rows if r["gc"] > 0]'
fi

if command -v java >/dev/null; then
	cat >"$TMP/Gc.java" <<-'END'
		public class Gc {
			public static void main(String[] a) throws Exception
			{
				for (int i = 0; i < 5; i++)
					System.gc();
			}
		}
	END
	if traced javagc '' 'java -XX:+UseSerialGC "$TMP/Gc.java"'; then
		figure 'five collections of java' 'len(rows) >= 5'
	fi
	if traced javathreads '' 'java "$TMP/Gc.java"'; then
		figure 'threads of java' '[r for r in some(type="start") if r["name"]]'
	fi
else
	skip 'needs the command java' 2
fi
pg=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -1)
if [ -n "$pg" ] && id postgres >/dev/null 2>&1; then
	chmod 755 "$TMP"
	install -d -o postgres "$TMP/pg"
	cd /
	su postgres -s /bin/sh -c "$pg/initdb -D $TMP/pg/d -A trust >/dev/null && $pg/pg_ctl -D $TMP/pg/d -o '-k $TMP/pg -h \"\"' -l $TMP/pg/log -w start >/dev/null"
	query="su postgres -s /bin/sh -c \"psql -h $TMP/pg -qAtc 'select pg_sleep(0.05), 1;' -c 'select pg_sleep(0.05), 2;' -c 'select 3;'\""
	if traced dbslower "--file $pg/postgres 20" "$query"; then
		figure 'two slow queries of PostgreSQL' \
			'len(rows) == 2 and all(50e6 <= r["lat"] < 20e9 and "pg_sleep(0.05)" in r["query"] for r in rows)'
	fi
	if traced dbstat "--file $pg/postgres 60" "$query"; then
		figure 'three queries in the histogram' 'sum(h["count"] for h in hists) == 3'
	fi
	su postgres -s /bin/sh -c "$pg/pg_ctl -D $TMP/pg/d -m immediate stop >/dev/null"
else
	skip 'needs PostgreSQL' 2
fi
done_testing
