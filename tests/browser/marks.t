#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The markers of fathom.h and the kernel's log on the time line, in chromium. See marks.mjs.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
need_root
need_cmd gcc readelf nm
[ "$(uname -m)" = x86_64 ] || plan_skip 'registers are named as on x86-64'
# shellcheck source=tests/lib/browser.sh
. "$(dirname "$0")/../lib/browser.sh"
cd "$TMP" || exit 1

cat >server.c <<'END'
#include "fathom.h"
#include <unistd.h>

int main(void)
{
	for (long i = 0; i < 20; i++) {
		FATHOM_BEGIN("request", i);
		usleep(4000);
		FATHOM_MARK("cache miss", i);
		for (volatile long k = 0; k < 300000; k++)
			;
		FATHOM_END("request", i);
		usleep(1000);
	}
	FATHOM_BEGIN("unfinished", 7);
	usleep(2000);
	return 0;
}
END
gcc -O1 -I"$TOP/include" -o server server.c || fail 'build a program with markers'
base=$((0x$(nm server | awk '$3 == "main" { print $1 }')))
group=marks_$$
trap '"$FATHOM" probe --del "$group:*" >/dev/null 2>&1; test_end' EXIT
# "Name: begin", "Location: 0x1170, ...", "Arguments: 8@%rbp -8@%rbx"
while read -r name at args; do
	text=${args% *} id=${args#* }
	text=%${text#*%} id=%${id#*%}
	for r in text id; do
		[[ ${!r} =~ ^%r[a-ds] ]] && printf -v $r '%%%s' "${!r#%r}"
	done
	"$FATHOM" probe -q -f -x server \
		--add "$group:$name=main+$((at - base)) name=+0($text):ustring id=$id" >/dev/null 2>probe.err ||
		plan_skip "no probe can be made: $(head -1 probe.err)"
done < <(readelf -n server | awk '
	$1 == "Name:" { name = $2 }
	$1 == "Location:" { sub(",", "", $2); at = $2 }
	$1 == "Arguments:" { print name, at, $2 " " $3 }')
[ -e /sys/kernel/tracing/events/printk/console ] || plan_skip 'the kernel has no printk:console'
events=$("$FATHOM" probe --list 2>/dev/null | grep -o "$group:[a-z_0-9]*" | sort -u | paste -sd,)
"$FATHOM" record -q -a -o sched.data --call-graph none \
	-e "sched:sched_switch,sched:sched_waking,$events,printk:console" -- \
	sh -c './server; echo "the server is gone" >/dev/kmsg' >/dev/null 2>record.err
case $? in
0) ;;
3) plan_skip "$(head -1 record.err)" ;;
*) fail 'record marks' "$(cat record.err)" ;;
esac
"$FATHOM" sched map -i sched.data -o marks.html || fail 'draw marks'
like 'a span that does not end is drawn to the end' "$(cat marks.html)" '"unfinished","7",0\]'

RUN_TIMEOUT=120
drive marks.mjs
done_testing
