#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# Tools about files, against a workload whose operations are counted.
. "$(dirname "$0")/../lib/test.sh"
. "$(dirname "$0")/../lib/tools.sh"
need_root
need_file /sys/kernel/btf/vmlinux

dir=$(mktemp -d /var/tmp/fathom-test-XXXXXX)
trap 'rm -rf "$dir"; test_end' EXIT
export dir
cp "$(readlink -f "$PYTHON")" "$TMP/truthpy"
# 50 files: created, 40 writes of 1000 bytes each in all to one of them, read back, renamed, removed
cat >"$TMP/files.py" <<-'END'
	import os, time
	d = os.environ["dir"]
	fd = os.open(d + "/truth-data", os.O_CREAT | os.O_RDWR, 0o600)
	for i in range(40):
	    os.write(fd, b"x" * 1000)
	for i in range(30):
	    os.pread(fd, 500, i * 500)
	for i in range(3):
	    os.fsync(fd)
	for i in range(50):
	    os.close(os.open(d + "/truth-%d" % i, os.O_CREAT | os.O_WRONLY, 0o600))
	for i in range(20):
	    try:
	        os.open(d + "/truth-none", os.O_RDONLY)
	    except OSError:
	        pass
	    try:
	        os.stat(d + "/truth-nothing")
	    except OSError:
	        pass
	os.rename(d + "/truth-0", d + "/truth-new")
	os.unlink(d + "/truth-new")
	time.sleep(0.02)
	for i in range(1, 50):
	    os.unlink(d + "/truth-%d" % i)
	for i in range(5):
	    os.mkdir(d + "/sub")
	    os.rmdir(d + "/sub")
	os.close(fd)
	os.unlink(d + "/truth-data")
END
work='"$TMP/truthpy" "$TMP/files.py"'

if traced opensnoop '--comm truthpy' "$work"; then
	figure '50 files are opened' 'len([r for r in rows if "/truth-" in r["path"] and r["err"] == "0"]) == 51'
	figure 'and 20 are not there' 'len([r for r in rows if r["path"].endswith("/truth-none") and r["err"] == "ENOENT"]) == 20'
fi
if traced opensnoop '-x --comm truthpy' "$work"; then
	figure 'only those that failed' 'rows and all(r["err"] != "0" for r in rows)'
fi
if traced statsnoop '--comm truthpy' "$work"; then
	figure 'calls of stat' 'len([r for r in rows if r["path"].endswith("/truth-nothing") and r["err"] == "ENOENT"]) == 20'
fi
if traced fsslower '0 --comm truthpy' "$work"; then
	figure 'every write with its size' 'len(some(op="write", bytes=1000, file="truth-data")) == 40'
	figure 'every read' 'len(some(op="read", bytes=500, file="truth-data")) == 30'
	figure 'every sync' 'len(some(op="sync", file="truth-data")) == 3'
fi
if traced fsslower '--min 100s --comm truthpy' "$work"; then
	figure 'nothing is as slow as that' 'not rows'
fi
if traced fileslower '0 --comm truthpy' "$work"; then
	figure 'reads and writes' \
		'len(some(op="write", file="truth-data")) == 40 and len(some(op="read", file="truth-data")) == 30'
fi
if traced fsdist '--comm truthpy' "$work"; then
	figure 'histograms by operation' \
		'{h["label"]: h["count"] for h in hists}["operation = sync"] == 3 and {h["label"]: h["count"] for h in hists}["operation = write"] >= 40'
fi
if traced filetop '60 --comm truthpy' "$work"; then
	figure 'bytes by file' \
		'total("wbytes", file="truth-data") == 40000 and total("rbytes", file="truth-data") == 15000'
	figure 'calls by file' \
		'total("writes", file="truth-data") == 40 and total("reads", file="truth-data") == 30'
fi
if traced dirtop '60 --comm truthpy' "$work"; then
	figure 'bytes by folder' '[r for r in rows if r["folder"].startswith("fathom-test-") and r["wbytes"] == 40000]'
fi
if traced fileops '60 --comm truthpy' "$work"; then
	figure 'operations by process' 'total("syncs") == 3 and total("writes") >= 40 and total("opens") >= 71'
fi
if traced filelife '--comm truthpy' "$work"; then
	figure 'files that lived shortly' \
		'len([r for r in rows if "truth-" in r["file"] and 20e6 < r["age"] < 60e9]) >= 49'
fi
if traced filegone '--comm truthpy' "$work"; then
	figure 'what was removed' 'len([r for r in some(action="DELETE") if "truth-" in r["file"]]) == 51'
	figure 'what was renamed' \
		'len(some(action="RENAME")) == 1 and some(action="RENAME")[0]["new"].endswith("truth-new")'
fi
if traced vfsstat '60 --comm truthpy' "$work"; then
	figure 'rates of operations' 'len(rows) == 1 and rows[0]["mkdir"] > 0 and abs(rows[0]["fsync"] / rows[0]["mkdir"] - 3 / 5) < 0.01'
fi
if traced vfscount '--comm truthpy' "$work"; then
	figure 'calls by name' \
		'total("count", function="mkdir") == 5 or total("count", function="vfs_mkdir") == 5'
fi
if traced syncsnoop '--comm truthpy' "$work"; then
	figure 'three syncs' 'len(some(call="fsync")) == 3'
fi
if traced mountsnoop '--comm mount' 'mkdir "$dir/m" && mount -t tmpfs truth "$dir/m" && umount "$dir/m"'; then
	if [ -s "$rows" ] && grep -q tmpfs "$rows"; then
		figure 'a mount' 'len(some(call="mount", source="truth", type="tmpfs", err="0")) == 1'
	else
		skip 'nothing can be mounted here'
	fi
fi
if traced writeback '' 'dd if=/dev/zero of="$dir/w" bs=1M count=8 status=none && sync; rm -f "$dir/w"'; then
	figure 'eight megabytes are written back' 'total("pages") >= 2048'
fi

# The page cache: a file of 64 MB, read cold and then warm.
dd if=/dev/urandom of="$dir/big" bs=1M count=64 status=none
sync
cp "$(command -v cat)" "$TMP/truthcat"
cold='dd of="$dir/big" oflag=nocache conv=notrunc,fdatasync count=0 status=none; "$TMP/truthcat" "$dir/big" >/dev/null'
if traced cachestat '60 --comm truthcat' "$cold"; then
	figure 'cold: 16,384 pages missed' '16384 <= total("misses") < 16384 + 600'
fi
# the kernel may have given pages back meanwhile: another program reads them first
warm='cat "$dir/big" >/dev/null; "$TMP/truthcat" "$dir/big" >/dev/null'
if traced cachestat '60 --comm truthcat' "$warm"; then
	figure 'warm: none' 'total("misses") < 100 and total("hits") >= 16384'
fi
if traced cachetop '60 --comm truthcat' "$warm"; then
	figure 'hits by process' 'total("hits", comm="truthcat") >= 16384 and total("misses") < 100'
fi
if traced readahead '--comm truthcat' "$cold"; then
	figure 'pages that were read ahead' 'total("pages", comm="truthcat") >= 16000'
fi
for tool in dcsnoop dcstat; do
	if traced $tool '--comm truthpy' "$work"; then
		figure "$tool sees the names that are not there" 'len(rows) > 0'
	fi
done
done_testing
