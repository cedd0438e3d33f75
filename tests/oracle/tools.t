#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 300
# Tools of the library against libbpf-tools and bpftrace: both look at the same work at the same time,
# and have to show the same. What of theirs does not run on this kernel is skipped.
. "$(dirname "$0")/../lib/test.sh"
. "$(dirname "$0")/../lib/tools.sh"
need_root
need_file /sys/kernel/btf/vmlinux

trap 'peers_end; test_end' EXIT
peers_end() {
	[ -z "${loop:-}" ] || losetup -d "$loop"
	umount "$TMP/work/mounted" 2>/dev/null
	[ ${#names[@]} -eq 0 ] || kill "${ours[@]}" "${theirs[@]}" "$worker" 2>/dev/null
}
names=()
mkdir "$TMP/work"
cp /bin/true "$TMP/work/truthtrue"
cp "$(command -v sleep)" "$TMP/work/truthsleep"
cp "$(readlink -f "$PYTHON")" "$TMP/truthpy"
cp "$(command -v dd)" "$TMP/truthdd"
cp "$(readlink -f /bin/sh)" "$TMP/truthhog"
export PATH=$PATH:/usr/sbin:/sbin
# a disk of its own, so that nobody else's requests are on it
truncate -s 64M "$TMP/disk"
loop=$(losetup -f --show "$TMP/disk" 2>/dev/null)
disk=${loop##*/}

# The work waits for a line, so that tools can be pointed at it.
mkfifo "$TMP/go"
(cd "$TMP" && exec ./truthpy "$TOP/tests/oracle/tools_work.py" "$TMP/work" <"$TMP/go" >"$TMP/work.out" 2>&1) &
exec 7>"$TMP/go"
worker=$!
wait_until grep -q waiting "$TMP/work.out"

# Theirs look for events below debugfs, which need not be mounted.
cat >"$TMP/theirs" <<-'EOF'
	mount -t debugfs none /sys/kernel/debug 2>/dev/null
	mount -t tracefs none /sys/kernel/tracing 2>/dev/null
	exec "$@"
EOF
declare -A ours theirs scripts
# pair NAME 'OUR COMMAND' THEIR COMMAND...
pair() {
	local name=$1 command=$2
	shift 2
	command -v "$1" >/dev/null || return 0
	case $* in *.bt*)
		[ -e "$2" ] || return 0
		scripts[$name]=yes
		;;
	esac
	names+=("$name")
	# shellcheck disable=SC2086
	"$FATHOM" $command -v --json >"$TMP/$name.ours" 2>"$TMP/$name.said" &
	ours[$name]=$!
	unshare -m sh "$TMP/theirs" "$@" >"$TMP/$name.theirs" 2>"$TMP/$name.err" &
	theirs[$name]=$!
}
pair execsnoop 'execsnoop' execsnoop
pair exitsnoop 'exitsnoop' exitsnoop
pair opensnoop "opensnoop -p $worker" opensnoop -p $worker
pair killsnoop "killsnoop -p $worker" killsnoop -p $worker
pair sigsnoop "sigsnoop -p $worker" sigsnoop -p $worker
pair mountsnoop "mountsnoop -p $worker" mountsnoop -p $worker
pair gethostlatency "gethostlatency -p $worker" gethostlatency -p $worker
pair tcplife "tcplife -p $worker" tcplife -p $worker
pair tcpstates "tcpstates --comm truthpy" tcpstates
pair syscount "syscount -p $worker" syscount -T 500 -p $worker
pair syscount-failed "syscount -x -p $worker" syscount -x -T 500 -p $worker
pair runqlat "runqlat -p $worker" runqlat -p $worker
pair softirqs 'softirqs' softirqs -N
pair hardirqs 'hardirqs' hardirqs -C
pair runqslower 'runqslower --min 1ms' runqslower -P 1000
if [ -n "$disk" ]; then
	pair biolatency "biolatency --disk $disk" biolatency -d "$disk"
	pair biopattern "biopattern 60 --disk $disk" biopattern -d "$disk" 60
	pair bitesize "bitesize --comm truthdd" bitesize -c truthdd
fi
pair statsnoop "statsnoop -p $worker" bpftrace /usr/sbin/statsnoop.bt
pair naptime "naptime -p $worker" bpftrace /usr/sbin/naptime.bt
pair setuids "setuids -p $worker" bpftrace /usr/sbin/setuids.bt
pair syncsnoop "syncsnoop -p $worker" bpftrace /usr/sbin/syncsnoop.bt
[ ${#names[@]} -gt 0 ] || plan_skip 'neither libbpf-tools nor bpftrace is installed'

# One of theirs, or a command of ours that is not a tool, is ready when it holds events or links and
# opens no more of them.
fds() { find "/proc/$1/fd" \( -lname '*perf_event*' -o -lname '*bpf*link*' \) 2>/dev/null | wc -l; }
all_fds() {
	local pid n sum=0
	for pid in "${theirs[@]}" "${ours[runqlat]-0}"; do
		kill -0 "$pid" 2>/dev/null || continue
		n=$(fds "$pid")
		[ "$n" -gt 0 ] || return 1
		sum=$((sum + n))
	done
	echo $sum
}
seen=
all_ready() {
	local now
	for name in "${names[@]}"; do
		# shellcheck disable=SC2034 # tool_ready reads it
		said=$TMP/$name.said
		[ "$name" = runqlat ] || tool_ready "${ours[$name]}" || return 1
		case ${scripts[$name]-} in
		yes) grep -q '^Tracing' "$TMP/$name.theirs" || ! kill -0 "${theirs[$name]}" 2>/dev/null || return 1 ;;
		esac
	done
	now=$(all_fds) || return 1
	[ "$now" != "$seen" ] || return 0
	seen=$now
	sleep 1
	return 1
}
wait_until all_ready

echo go >&7
wait_until grep -q "done" "$TMP/work.out" || diag "the work: $(cat "$TMP/work.out")"
if [ -n "$disk" ]; then
	"$TMP/truthdd" if=/dev/zero of="$loop" bs=64k count=200 oflag=direct status=none
	"$TMP/truthdd" if="$loop" of=/dev/null bs=4k count=100 iflag=direct status=none
fi
for i in 1 2 3 4; do
	timeout 0.7 "$TMP/truthhog" -c 'while :; do :; done' &
	hogs[i]=$!
done
wait "${hogs[@]}" || :
sleep 0.3
for name in "${names[@]}"; do kill -INT "${ours[$name]}" "${theirs[$name]}" 2>/dev/null; done
declare -A failed
for name in "${names[@]}"; do
	wait "${theirs[$name]}"
	wait "${ours[$name]}" || failed[$name]=$?
done
echo end >&7

for name in "${names[@]}"; do
	if [ -n "${failed[$name]:-}" ]; then
		if [ "${failed[$name]}" -eq 3 ]; then skip "$name: $(head -1 "$TMP/$name.said")"; else fail "$name ends with 0" "$(cat "$TMP/$name.said")"; fi
	elif grep -qiE 'failed to|not found|No such file' "$TMP/$name.err" && [ "$(wc -l <"$TMP/$name.theirs")" -lt 2 ]; then
		skip "$name: the other one does not run here: $(tail -1 "$TMP/$name.err")"
	else
		verdict=$("$PYTHON" "$TOP/tests/oracle/tools_compare.py" "$name" "$TMP/$name.ours" "$TMP/$name.theirs" "$worker" 2>&1)
		if [ "$verdict" = same ]; then pass "$name shows the same as the other one"; else fail "$name shows the same as the other one" "$verdict"; fi
	fi
done
done_testing
