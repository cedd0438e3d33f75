#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# shellcheck disable=SC2016
# Functions that need a program, a process or a file to look at; and what the kernel refuses.
. "$(dirname "$0")/../lib/test.sh"
need_root
need_file /sys/kernel/btf/vmlinux
trace() { run "$FATHOM" trace "$@"; }

if command -v gcc >/dev/null; then
	cat >"$TMP/prog.c" <<-'END'
		#include <unistd.h>
		int counter = 77;
		long big = 5000000000;
		__attribute__((noinline)) int work(int n) { asm volatile("" ::: "memory"); return n + counter; }
		int main(void) { int r = work(3); usleep(1000); return r == 80 ? 0 : 1; }
	END
	gcc -O1 -Wl,--build-id -o "$TMP/prog" "$TMP/prog.c"
	trace -c "$TMP/prog" -e "uprobe:$TMP/prog:work { printf(\"%d %ld\n\", *uaddr(\"counter\"), *uaddr(\"big\")); }"
	expect_status 0
	expect_out '77 5000000000'
	id=$(readelf -n "$TMP/prog" | sed -n 's/.*Build ID: //p')
	trace -c "$TMP/prog" -e "uprobe:$TMP/prog:work { @[ustack(build_id, 1)] = count(); @d[dw_ustack(1)] = count(); }"
	expect_status 0
	like 'the build id and the offset in the file' "$out" "$id 0x[0-9a-f]+\$"
	expect_out 'work+0'
	trace -e "uprobe:$TMP/prog:work { print(uaddr(\"no_such_symbol\")); }"
	expect_status 1
	expect_err 'Could not resolve symbol'
	# Writing to user memory is forbidden where the kernel is locked down: a refusal by the verifier.
	trace --unsafe -c "$TMP/prog" -e "BEGIN { printf(\"one line before\n\"); }
		uprobe:$TMP/prog:work {
			write_user(uaddr(\"counter\"), 5);
		}"
	if [ "$status" = 0 ]; then
		skip 'this kernel lets programs write user memory' 4
	elif grep -q 'verifier refuses' "$err_file"; then
		expect_err 'stdin:3:'
		expect_err 'bpf_probe_write_user'
		expect_err 'write_user(uaddr("counter"), 5)'
		expect_err_like '^	*~+$'
	else
		is 'what was written was seen by the program' "$status" 1
	fi
	trace -e "uprobe:$TMP/prog:work { write_user(uaddr(\"counter\"), 5); }"
	expect_err 'unsafe function'
else
	skip 'no gcc for the program' 12
fi

trace -e 'iter:task_file { @[path(ctx->file->f_path)] = count(); }'
expect_status 0
expect_out '@[/dev/null]: '
trace -e 'iter:cgroup { @[ctx.cgroup->kn->id == 1] = count(); }'
expect_status 0
expect_out '@[true]: 1'
trace -lv 'iter:task_file'
expect_out 'struct file * file'
unlike 'a struct without an iterator is not listed' "$("$FATHOM" trace -l 'iter:*')" '__safe_trusted'


# Iterators over one map: of another program, by its name or number.
spawn "$FATHOM" trace -e 'BEGIN { @fathom_elems[1] = 10; @fathom_elems[7] = 70; @fathom_cpus[2] = count(); printf("ready\n"); } interval:s:600 { exit(); }' >"$TMP/maps.out"
for ((i = 0; i < 500; i++)); do
	grep -q ready "$TMP/maps.out" && break
	sleep 0.02
done
trace -e 'iter:bpf_map_elem:fathom_elems { @sum[*(uint64 *)ctx.key] = *(uint64 *)ctx.value; }'
expect_status 0
expect_out '@sum[1]: 10'
expect_out '@sum[7]: 70'
trace -e 'iter:bpf_map { if (str(ctx.map->name) == "fathom_cpus") { printf("%d\n", ctx.map->id); } }'
id=$out
trace -e "iter:bpf_map_elem:$id { printf(\"%d is %d bytes\\n\", *(uint64 *)ctx.key, ctx.map->value_size); }"
expect_out '2 is 8 bytes'
kill "$spawned"
trace -e 'iter:bpf_map_elem { @ = count(); }'
expect_status 1
expect_err "the iterator 'bpf_map_elem' needs a map"
trace -e 'iter:bpf_map_elem:no_such_map { @ = count(); }'
expect_status 1
expect_err "there is no BPF map 'no_such_map'"
# All others that this kernel has start and end.
for name in $("$FATHOM" trace -l 'iter:*' | grep -vE ':(bpf_map_elem|bpf_sk_storage_map|sockmap)$'); do
	trace -e "$name { @ = count(); }"
	expect_status 0
done

# Functions of BPF programs: what there is, what they are called with.
trace -e 'kprobe:bpf:some_program { }'
expect_status 1
expect_err 'the kernel has no kprobe in BPF programs'
trace -e 'fentry:bpf:no_such_program_here { }'
expect_status 1
expect_err 'No matches for fentry bpf:no_such_program_here.'

# A pinned iterator: whoever reads the file runs the program.
if [ "$(stat -f -c %T /sys/fs/bpf 2>/dev/null)" = bpf_fs ]; then
	pin=fathom-test-$$
	trace -e "iter:task:$pin { @n++; if (@n <= 3) { printf(\"%s|%5d|%-4d|%x%%\n\", \"task\", @n, 7, 255); } }"
	expect_status 0
	expect_out "Program pinned to /sys/fs/bpf/$pin"
	is 'what a pinned iterator says' "$(cat "/sys/fs/bpf/$pin")" "$(printf 'task|%5d|7   |ff%%\n' 1 2 3)"
	trace -e "iter:task:/sys/fs/bpf/$pin { printf(\"x\"); }"
	expect_status 1
	expect_err 'file exists'
	rm -f "/sys/fs/bpf/$pin"
else
	skip 'no bpf file system to pin to' 5
fi
trace -e 'iter:task:some_pin { print(1); }'
expect_err 'only printf() works in a pinned iterator'
trace -e 'iter:task:some_pin { printf("%s", ksym(1)); }'
expect_err 'the kernel cannot print this'
trace -e 'iter:task*:some_pin { printf("x"); }'
expect_err 'one iterator can be pinned to one file'

# Packets of the loopback device, as a file that others read.
if command -v python3 >/dev/null; then
	run "$FATHOM" trace -c "bash -c 'for i in 1 2 3; do echo packet \$i of fathom >/dev/udp/127.0.0.1/9; done'" -e "
		rawtracepoint:netif_receive_skb { @[skboutput(\"$TMP/a.pcap\", args.skb, args.skb->len, 0)] = count(); }
		rt:net_dev_queue { _ = skboutput(\"$TMP/b.pcap\", arg0, args.skb->len, 14); }"
	expect_status 0
	expect_out '@[0]: '
	cat >"$TMP/pcap.py" <<-'END'
		import struct, sys
		data = open(sys.argv[1], "rb").read()
		magic, major, minor, _, _, snaplen, link = struct.unpack("<IHHiIII", data[:24])
		assert (magic, major, minor, link) == (0xA1B23C4D, 2, 4, 101), (magic, major, minor, link)
		at, found = 24, []
		while at < len(data):
		    seconds, nanoseconds, captured, length = struct.unpack("<IIII", data[at:at + 16])
		    packet = data[at + 16:at + 16 + captured]
		    assert len(packet) == captured <= length and nanoseconds < 10 ** 9
		    if packet[0] >> 4 == 4 and packet[9] == 17 and b"of fathom" in packet[28:]:
		        found.append(packet[28:].decode().strip())
		    at += 16 + captured
		print(", ".join(found))
	END
	for name in a b; do
		is "packets of $name.pcap" "$(python3 "$TMP/pcap.py" "$TMP/$name.pcap")" \
			'packet 1 of fathom, packet 2 of fathom, packet 3 of fathom'
	done
else
	skip 'no python3 to read packets' 4
fi
trace -e 't:net:net_dev_queue { skboutput("x.pcap", args.skbaddr, 10, 14); }'
expect_err 'skboutput() can only be used with'
trace -e 'rt:net_dev_queue { $s = args.skb; skboutput("x.pcap", $s, 10, 14); }'
expect_err 'expects an argument of the probe such as args.skb'
trace -e 'rt:net_dev_queue { skboutput("/no/such/directory/x.pcap", args.skb, 10, 14); }'
expect_status 1
expect_err "cannot write '/no/such/directory/x.pcap'"
# A dry run says the same, and leaves files alone.
trace --dry-run -e 'rt:net_dev_queue { skboutput("/no/such/directory/x.pcap", args.skb, 10, 14); }'
expect_status 1
expect_err "cannot write '/no/such/directory/x.pcap'"
echo kept >"$TMP/kept.pcap"
trace --dry-run -e "rt:net_dev_queue { skboutput(\"$TMP/kept.pcap\", args.skb, 10, 14); skboutput(\"$TMP/new.pcap\", args.skb, 10, 14); }"
expect_status 0
is 'a dry run does not write to files' "$(cat "$TMP/kept.pcap")" kept
not_ok 'nor does it make any' test -e "$TMP/new.pcap"

trace -l 'struct sched_param'
expect_out 'int sched_priority;'
trace -l 'enum tcp_ca_state'
expect_out 'TCP_CA_Loss = 4,'
trace -l -e 't:sched:sched_switch, i:s:1 { }'
expect_out "tracepoint:sched:sched_switch
interval:s:"
trace -e 'BEGIN { print(path(curtask)); }'
expect_status 1
expect_err 'path() can only be used with iter'
trace -e 'BEGIN { override(5); }' --unsafe
expect_err 'override() can only be used with kprobes'

"$WORKLOADS/burn" --seconds 20 a=100 >/dev/null 2>&1 &
burner=$!
trace -e 'profile:hz:199 /pid == '"$burner"'/ { @[usermode] = count(); @ip[reg("ip") != 0] = count(); } interval:ms:700 { exit(); }'
kill "$burner"
wait "$burner" 2>/dev/null
expect_status 0
expect_out '@[1]: '
expect_out '@ip[true]: '
trace -e 'interval:s:1 { print(reg("ip")); }'
expect_err "reg() can not be used with 'interval' probes"
trace -e 'interval:s:1 { print(usermode); }'
expect_err 'can not be used'
trace -e 'BEGIN { print(cgroupid("/no/such/place")); }'
expect_err 'Failed to retrieve cgroup id'
trace -e 'BEGIN { print(percpu_kaddr("no_such_variable")); }'
expect_err 'no per-CPU variable'
trace -e 'BEGIN { print(kfunc_exist("no_such_function")); print(default_str_length()); print(default_str_length); }'
is 'known when compiled' "$out" 'false
256
256'

# Kernels since 6.10 say which bit is which.
trace -e 'BEGIN { printf("%gr,%gr,%gr,%12gr,%gr\n", 0, 0xcc0, 0xdc0, 0x820, 1 << 63); }'
expect_status 0
if grep -q ___GFP_DMA_BIT /sys/kernel/btf/vmlinux; then
	is 'flags of the allocator by name' "$out" 'none,GFP_KERNEL,GFP_KERNEL|__GFP_ZERO,  GFP_ATOMIC,0x8000000000000000'
else
	is 'flags that the kernel does not name' "$out" 'none,0xcc0,0xdc0,       0x820,0x8000000000000000'
fi
trace -e 'BEGIN { printf("%gr\n", "x"); }'
expect_err '%gr expects a value of type integer'
trace -e 'BEGIN { print(config("no_such_setting")); }'
expect_err "unknown setting 'no_such_setting'"
trace -e 'BEGIN { printf("%g\n", 1); }'
expect_err 'Unknown format string token: %g'
done_testing
