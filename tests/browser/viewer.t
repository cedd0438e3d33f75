#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The page of `fathom flame -o x.html` in chromium, driven as a person would: mouse, keys, looks;
# what it says is compared with `fathom report`. See viewer.mjs.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
need_cmd python3
# shellcheck source=tests/lib/browser.sh
. "$(dirname "$0")/../lib/browser.sh"

# Twelve seconds at 100 Hz: 'shop' parses for six seconds and then renders, 'db' calls itself.
python3 - >"$TMP/shop.script" <<'END'
for i in range(1200):
    t = 100 + i / 100
    print(f"shop  10/11 [000] {t:.6f}:   10000000 cpu-clock: ")
    if i % 4 == 0:
        print("\tffffffff81000010 copy_page ([kernel.kallsyms])")
        print("\tffffffff81000020 sys_read ([kernel.kallsyms])")
    else:
        print(f"\t401010 {'parse' if i < 600 else 'render'} (/usr/bin/shop)")
    print("\t401020 serve (/usr/bin/shop)\n\t401030 main (/usr/bin/shop)\n")
    if i % 2 == 0:
        print(f"db  20/20 [001] {t + 0.001:.6f}:   10000000 cpu-clock: ")
        print("\t7f0000001000 fib (/usr/bin/db)\n" * (1 + i % 3), end="")
        print("\t402010 std::sort<int> (/usr/bin/db)\n\t402020 main (/usr/bin/db)\n")
END
# Nothing in a name may run or break the page.
cat >"$TMP/evil.folded" <<'END'
</script><script>owned=1</script>;<img src=x onerror=owned=1>;"onload="owned=1 3
{{script}};]]>--><svg onload=owned=1>;javascript:owned=1 2
__proto__;constructor;hasOwnProperty 4
END
cat >"$TMP/two.folded" <<'END'
main;old 100 0
main;same 400 400
main;grown 100 500
main;fresh 0 100
END
python3 - >"$TMP/deep.folded" <<'END'
print("one 1")
print(";".join(f"f{i % 9}" for i in range(10000)), 1)
END
# 'scan' takes six of ten cycles for three of ten instructions.
python3 - >"$TMP/events.script" <<'END'
for i in range(1000):
    for event, cut in (("cycles", 6), ("instructions", 3)):
        print(f"app 5/5 [000] {5 + i / 500:.6f}: 1000000 {event}:")
        print(f"\t401010 {'scan' if i % 10 < cut else 'hash'} (/bin/app)\n\t400000 main (/bin/app)\n")
END
printf 'a;b 1.5\na;c 0.25\n' >"$TMP/part.folded"
for i in {1..9000}; do echo "main;child_$i;leaf 1"; done >"$TMP/tiny.folded"
for input in shop.script events.script evil.folded two.folded deep.folded part.folded tiny.folded; do
	name=${input%.*}
	"$FATHOM" flame -i "$TMP/$input" -o "$TMP/$name.html" || fail "write $name.html"
done
"$FATHOM" report -i "$TMP/shop.script" --json -g none --sort dso,symbol --all \
	>"$TMP/report.json" || fail "report"

RUN_TIMEOUT=250
drive viewer.mjs

size=$(cat "$TOP"/web/viewer.* "$TOP"/web/viewer/* | wc -c)
ok "the viewer's code is below 256 KiB ($size bytes)" [ "$size" -lt 262144 ]
unlike "the page fetches nothing" "$(grep -vE 'id="data"|http-equiv' "$TMP/shop.html")" \
	'(src|href)="?https?:'
done_testing
