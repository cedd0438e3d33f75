# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=sh disable=SC1091,SC2154
#
# Short lives, on a stock kernel: a program from a file that nobody else has mapped is gone before
# its table is requested, so the kernel says where the file lies.
. /tests/lib.sh
need_cmd fathom
need_workload naps
cd /tmp || exit 1

cat >again <<'END'
i=0
while [ $i -lt 80 ]; do
	"$1" --threads 1 --us 1000 >/dev/null
	i=$((i + 1))
done
END

# brief FOLDER: what the naps of a program there took is known up to the thread's start, but for the
# first ones: how many, until the table is there, is a matter of how busy the host is.
brief() {
	cp "$workloads/naps" "$1/brief"
	run fathom offcpu --folded -- sh again "$1/brief"
	expect_status 0
	share=$(printf '%s\n' "$out" | awk '/^napper;.*nanosleep/ { all += $NF }
		/^napper;[^;]+;[^;]+;nap_main;.*nanosleep/ { known += $NF }
		END { print all ? int(100 * known / all) : 0 }')
	ok "$1: short lives are known ($share % of their time)" [ "$share" -gt 33 ]
}

mkdir -p a/b mounted bound
brief "$PWD/a/b"
if mount -t tmpfs none mounted && mkdir -p mounted/c/d; then
	brief "$PWD/mounted/c/d"
	mount --bind mounted/c bound && brief "$PWD/bound/d"
	umount bound
	umount mounted
else
	skip "a tmpfs cannot be mounted"
fi
done_testing
