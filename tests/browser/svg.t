#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The SVG of `fathom flame` in chromium: mouse, search, keyboard, looks. See svg.mjs.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
need_cmd node npm chromium python3
playwright=$TOP/build/npm/node_modules/playwright-core/index.js
if [ ! -e "$playwright" ]; then
	mkdir -p "$TOP/build/npm"
	npm install --silent --no-audit --no-fund --prefix "$TOP/build/npm" playwright-core \
		>"$TMP/npm" 2>&1 || plan_skip "playwright-core cannot be installed by npm"
fi
need_file "$playwright"

cat >"$TMP/small.folded" <<'END'
shop;main;serve;parse 30
shop;main;serve;render;escape 25
shop;main;serve;sys_read_[k];copy_[k] 20
shop;main;serve 5
db;main;std::sort;cmp_[i] 15
db;main;jitted_[j] 5
END
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

RUN_TIMEOUT=120
run node "$TOP/tests/browser/svg.mjs" "$playwright" "$(command -v chromium)" "$TMP"
expect_status 0
while read -r line; do
	case $line in
	'ok '*) pass "${line#ok }" ;;
	'not ok '*) fail "${line#not ok }" ;;
	*) diag "$line" ;;
	esac
done <<<"$out"
done_testing
