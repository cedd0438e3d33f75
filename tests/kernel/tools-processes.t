#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Tools about processes, against workloads whose truth is known.
. "$(dirname "$0")/../lib/test.sh"
. "$(dirname "$0")/../lib/tools.sh"
need_root
need_file /sys/kernel/btf/vmlinux

cp /bin/true "$TMP/truth"
if traced execsnoop -x 'for i in $(seq 500); do "$TMP/truth" $i; done; "$TMP/none" 2>/dev/null; exit 0'; then
	figure '500 execs are 500 rows' 'len(some(pcomm="truth")) == 500'
	figure 'each with its argument' \
		'sorted(int(r["args"].split()[-1]) for r in some(pcomm="truth")) == list(range(1, 501))'
	figure 'and one that failed' 'len([r for r in some(ret="ENOENT") if r["args"].endswith("/none")]) == 1'
fi
if traced execsnoop '--filter ppid==1' '"$TMP/truth"'; then
	figure 'a filter is applied in the kernel' 'not some(pcomm="truth")'
fi
if traced execsnoop '--comm tru*' '"$TMP/truth"; /bin/false'; then
	figure 'names by a pattern' 'some(pcomm="truth") and not some(pcomm="false")'
fi

# 1,000 calls of getpgid() that fail and 1,000 of getuid() that do not
cat >"$TMP/calls.py" <<-'END'
	import os
	for i in range(1000):
	    os.getuid()
	    try:
	        os.getpgid(2 ** 30)
	    except OSError:
	        pass
END
cp "$(readlink -f "$PYTHON")" "$TMP/truth-python"
if traced syscount '-L --comm truth-python' '"$TMP/truth-python" "$TMP/calls.py"'; then
	figure '1,000 calls' 'total("count", syscall="getpgid") == 1000'
	figure 'and their time' '0 < total("time", syscall="getuid") < 1e9'
fi
if traced syscount '-x --comm truth-python' '"$TMP/truth-python" "$TMP/calls.py"'; then
	figure 'only those that failed' \
		'total("count", syscall="getpgid") == 1000 and not some(syscall="getuid")'
fi
if traced syscount '-P --comm truth-python' '"$TMP/truth-python" "$TMP/calls.py"'; then
	figure 'by process' 'len(rows) == 1 and rows[0]["count"] > 2000'
fi
done_testing
