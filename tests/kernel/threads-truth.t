#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# threads against what the kernel itself counts (schedstat, getrusage), and each kind of wait against
# a program that waits for nothing else.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_root
need_cmd python3
need_file "$WORKLOADS/mixed" "$WORKLOADS/kinds"
cd "$TMP" || exit 1

truth() { python3 "$TOP/tests/lib/threads_truth.py" "$@"; }

run "$FATHOM" threads --json -- "$WORKLOADS/mixed"
expect_status 0
cp "$out_file" mixed.txt
ok "the states of each thread sum to its wall time" truth sums mixed.txt
ok "wall time, time on CPU and for a CPU: as clocks and schedstat have them" truth clocks mixed.txt
ok "user and kernel time: as getrusage has them" truth split mixed.txt
ok "switches by choice and by force: as getrusage has them; who yields does so by choice" \
	truth switches mixed.txt
for by in process comm cgroup; do
	run "$FATHOM" threads --by $by --json -- "$WORKLOADS/mixed" --seconds 0.5
	ok "by $by: the sums are whole, too" truth groups "$out_file"
done

# --- one kind of wait after the other ------------------------------------------------------------

# Written to disk, so that it can be forgotten.
head -c 16777216 /dev/urandom >file
sync -f file
on_disk=yes
case $(stat -f -c %T file) in tmpfs | ramfs) on_disk= ;; esac
for kind in disk fault network lock pipe sleep poll epoll child vfork; do
	case $kind in
	disk | fault)
		if [ -z "$on_disk" ]; then
			skip "$kind: '$TMP' is in memory"
			continue
		fi
		;;
	esac
	run "$FATHOM" threads --json -- "$WORKLOADS/kinds" $kind --file file
	ok "$kind: its wait is of that kind, all of it and nothing else" truth kind "$out_file" $kind
done
done_testing
