#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# Tools about networks, against connections over loopback whose bytes are known.
. "$(dirname "$0")/../lib/test.sh"
. "$(dirname "$0")/../lib/tools.sh"
need_root
need_file /sys/kernel/btf/vmlinux

cp "$(readlink -f "$PYTHON")" "$TMP/truthpy"
# ten connections: 50,000 bytes there, 3,000 bytes back
cat >"$TMP/net.py" <<-'END'
	import socket, threading, time
	s = socket.socket()
	s.bind(("127.0.0.1", 0))
	s.listen(7)
	port = s.getsockname()[1]
	def serve():
	    for i in range(10):
	        c, _ = s.accept()
	        n = 0
	        while n < 50000:
	            n += len(c.recv(65536))
	        c.sendall(b"x" * 3000)
	        c.recv(1)
	        c.close()
	t = threading.Thread(target=serve)
	t.start()
	for i in range(10):
	    c = socket.create_connection(("127.0.0.1", port))
	    c.sendall(b"y" * 50000)
	    n = 0
	    while n < 3000:
	        n += len(c.recv(65536))
	    c.close()
	t.join()
	u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
	u.connect(("127.0.0.1", 9))
	try:
	    socket.create_connection(("127.0.0.1", 1), timeout=5)
	except OSError:
	    pass
	for i in range(3):
	    socket.getaddrinfo("localhost", 80)
	a, b = socket.socketpair()
	socket.send_fds(a, [b"m"], [0])
END
work='"$TMP/truthpy" "$TMP/net.py"'

if traced tcpconnect '--comm truthpy' "$work"; then
	figure 'eleven connections' 'len(rows) == 11 and len(some(dport=1)) == 1 and all(r["daddr"] == "127.0.0.1" for r in rows)'
fi
if traced tcpaccept '--comm truthpy' "$work"; then
	figure 'ten are accepted' 'len(rows) == 10 and len(set(r["lport"] for r in rows)) == 1'
fi
if traced tcpconnlat '--comm truthpy' "$work"; then
	figure 'ten are established, with a time' 'len(rows) == 10 and all(0 < r["lat"] < 5e9 for r in rows)'
fi
if traced tcplife '--comm truthpy' "$work"; then
	figure 'bytes of each end' \
		'len(some(tx=50000, rx=3000)) == 10 and len(some(rx=50000, tx=3000)) == 10'
fi
if traced tcpstates '--comm truthpy' "$work"; then
	figure 'states of connections' \
		'len(some(old="CLOSE", new="SYN_SENT")) == 11 and len(some(old="SYN_SENT", new="ESTABLISHED")) == 10'
	figure 'one begins to listen' 'len(some(new="LISTEN")) == 1'
fi
if traced tcptop '60 --comm truthpy' "$work"; then
	figure 'bytes by connection' 'total("tx") == 10 * 53000 and total("rx") == 10 * 53000'
fi
if traced nettop '60 --comm truthpy' "$work"; then
	figure 'the same by TCP' 'sum(r["tx"] or 0 for r in some(proto="TCP")) == 10 * 53000'
fi
if traced tcptracer '--comm truthpy' "$work"; then
	figure 'connects and accepts' 'len(some(type="connect")) == 10 and len(some(type="accept")) == 10'
fi
if traced tcpdrop '' "$work"; then
	figure 'the packet to a closed port' \
		'[r for r in some(dport=1) if r["reason"] == "NO_SOCKET"]'
fi
if traced skbdrop '60' "$work"; then
	figure 'the same in the table' '[r for r in rows if r["reason"].endswith("NO_SOCKET") and r["count"] >= 1]'
fi
if traced tcprtt '' "$work"; then
	figure 'round-trip times' 'sum(h["count"] for h in hists) >= 20 and all(0 < h["p50"] < 1e9 for h in hists)'
fi
if traced tcpcwnd '' "$work"; then
	figure 'windows' 'len([r for r in rows if r["cwnd"] >= 10 and r["raddr"] == "127.0.0.1"]) >= 10'
fi
if traced tcpsynbl '' "$work"; then
	figure 'ten connections waited to be accepted' \
		'[h for h in hists if h["label"] == "limit = 7" and h["count"] == 10]'
fi
if traced tcpsubnet '60 --prefix 8 --comm truthpy' "$work"; then
	figure 'bytes by subnet' 'total("bytes", subnet="127.0.0.0") == 10 * 53000'
fi
if traced solisten '--comm truthpy' "$work"; then
	figure 'a socket that listens' 'len(some(addr="127.0.0.1", backlog=7)) == 1'
fi
if traced bindsnoop '--comm truthpy' "$work"; then
	figure 'a socket that is bound' 'len([r for r in some(proto="TCP", ret="0", addr="127.0.0.1") if r["port"] > 0]) == 1'
fi
if traced udpconnect '--comm truthpy' "$work"; then
	figure 'a UDP socket' 'len(some(daddr="127.0.0.1", dport=9)) == 1'
fi
if traced sofdsnoop '--comm truthpy' "$work"; then
	figure 'a descriptor that is passed on' 'len(some(fd=0)) == 1'
fi
if traced netqtop '60 -n lo' "$work"; then
	figure 'packets of lo' 'len(some(device="lo", dir="tx")) == 1 and some(device="lo", dir="tx")[0]["packets"] > 1'
	least='(64 * (r["small"] or 0) + 512 * (r["medium"] or 0) + 2048 * (r["large"] or 0) + 16384 * (r["huge"] or 0))'
	count='sum(r[k] or 0 for k in ("tiny", "small", "medium", "large", "huge"))'
	figure 'and each is of one size' \
		"all($count > 1 and $least <= (r['average'] + 1) * $count for r in rows)"
fi
if traced gethostlatency '--comm truthpy' "$work"; then
	figure 'names that are resolved' 'len(some(host="localhost")) == 3 and all(r["lat"] > 0 for r in rows)'
fi
if traced sockerrors '--comm truthpy' "$work"; then
	figure 'a refused connection' 'some(err="ECONNREFUSED", rport=1)'
fi
if traced tcppktlat '0 --comm truthpy' "$work"; then
	figure 'data that waited' 'len(rows) >= 10'
fi

# Loss: 2 % of the packets of a name space's loopback are dropped.
if ip netns add fathom-truth 2>"$TMP/err" && ip -n fathom-truth link set lo up &&
	tc -n fathom-truth qdisc add dev lo root netem loss 2% limit 10000 2>"$TMP/err"; then
	cat >"$TMP/lossy.py" <<-'END'
		import socket, threading
		s = socket.socket()
		s.bind(("127.0.0.1", 0))
		s.listen(1)
		def serve():
		    c, _ = s.accept()
		    while c.recv(1 << 20):
		        pass
		t = threading.Thread(target=serve)
		t.start()
		c = socket.create_connection(s.getsockname())
		c.setsockopt(socket.SOL_TCP, socket.TCP_MAXSEG, 1000)
		c.sendall(b"z" * 30000000)
		c.close()
		t.join()
	END
	lossy='ip netns exec fathom-truth ethtool -K lo tso off gso off >/dev/null 2>&1; timeout 20 ip netns exec fathom-truth "$TMP/truthpy" "$TMP/lossy.py"'
	if traced tcpretrans '' "$lossy"; then
		figure 'retransmits with their causes' 'len(rows) > 0 and [r for r in rows if r["cause"] in ("fast", "RTO", "TLP", "RACK")]'
	fi
	if traced tcpcong '' "$lossy"; then
		figure 'time in the states of congestion control' '[r for r in rows if r["changes"] > 0 and (r["recovery"] or r["loss"] or r["disorder"])]'
	fi
else
	skip "no loss can be made here: $(head -1 "$TMP/err")" 2
fi
ip netns del fathom-truth 2>/dev/null

# TLS: a handshake and ten messages.
if command -v openssl >/dev/null && openssl req -x509 -newkey rsa:2048 -nodes -keyout "$TMP/key" -out "$TMP/cert" \
	-days 1 -subj /CN=truth 2>/dev/null; then
	cat >"$TMP/tls.py" <<-'END'
		import os, socket, ssl, threading
		tmp = os.environ["TMP"]
		server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
		server.load_cert_chain(tmp + "/cert", tmp + "/key")
		client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
		client.check_hostname = False
		client.verify_mode = ssl.CERT_NONE
		s = socket.socket()
		s.bind(("127.0.0.1", 0))
		s.listen(1)
		def serve():
		    c = server.wrap_socket(s.accept()[0], server_side=True)
		    for i in range(10):
		        c.recv(100)
		t = threading.Thread(target=serve)
		t.start()
		c = client.wrap_socket(socket.create_connection(s.getsockname()))
		for i in range(10):
		    c.send(b"truth-secret")
		t.join()
	END
	if traced ssllatency '' "$PYTHON $TMP/tls.py"; then
		figure 'calls of OpenSSL' 'sum(r["count"] for r in rows if r["call"].startswith("SSL_write")) >= 10'
	fi
	if traced sslsniff '' "$PYTHON $TMP/tls.py"; then
		figure 'clear text, sent and received' \
			'len([r for r in some(func="write") if r["data"] == "truth-secret"]) == 10 and [r for r in some(func="read") if "truth-secret" in r["data"]]'
	fi
else
	skip 'needs the command openssl' 2
fi
done_testing
