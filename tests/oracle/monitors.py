#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""monitors.py WHAT FATHOM: our figures beside those of the tools that people know.

Both run in the same seconds, but never start in the same instant: figures that move are compared
by their mean, and a figure may differ by what a shift of the window explains."""

import json
import subprocess
import sys

WHAT, FATHOM = sys.argv[1:3]


def say(text):
    print("# " + text, file=sys.stderr)


def keyed(path):
    """'key value' lines of a file of the kernel."""
    out = {}
    with open(path, encoding="ascii") as text:
        for line in text:
            words = line.split()
            if len(words) > 1 and words[1].isdigit():
                out[words[0].rstrip(":")] = int(words[1])
    return out


def by_column(path, skip, first):
    """{instance: [values]} of lines with a name and columns."""
    out = {}
    with open(path, encoding="ascii") as text:
        for line in list(text)[skip:]:
            words = line.replace(":", " ").split()
            out[words[first - 1]] = [int(w) for w in words[first:]]
    return out


def pairs(path):
    out = {}
    with open(path, encoding="ascii") as text:
        lines = list(text)
    for names, values in zip(lines[::2], lines[1::2]):
        group = names.split(":")[0].lower()
        for name, value in zip(names.split()[1:], values.split()[1:]):
            out[f"{group}.{name}"] = int(value)
    return out


def hand():
    """{(name, instance): raw value} as a person would read them."""
    out = {}
    for key, value in keyed("/proc/vmstat").items():
        out["vm." + key, None] = value
    for name, values in by_column("/proc/diskstats", 0, 3).items():
        for field, value in zip(DISK, values):
            out["disk." + field, name] = value * SCALE.get(field, 1)
    for name, values in by_column("/proc/net/dev", 2, 1).items():
        for field, value in zip(NET, values):
            out["net." + field, name] = value
    for path in "/proc/net/snmp", "/proc/net/netstat":
        for name, value in pairs(path).items():
            out[name, None] = value
    with open("/proc/stat", encoding="ascii") as text:
        for line in text:
            words = line.split()
            if words[0].startswith("cpu"):
                for field, value in zip(CPU, words[1:]):
                    out["cpu." + field, words[0][3:] or "all"] = int(value) * 10_000_000
            elif words[0] == "ctxt":
                out["system.switches", None] = int(words[1])
    return out


DISK = ("reads reads_merged read_bytes read_time writes writes_merged write_bytes write_time "
        "in_flight busy_time queue_time discards discards_merged discard_bytes discard_time "
        "flushes flush_time").split()
SCALE = {f: 512 for f in DISK if f.endswith("_bytes")} | {
    f: 1_000_000 for f in DISK if f.endswith("_time")}
NET = ["rx_bytes", "rx_packets", "rx_errors", "rx_dropped", "rx_fifo", "rx_frame", "rx_compressed",
       "rx_multicast", "tx_bytes", "tx_packets", "tx_errors", "tx_dropped", "tx_fifo",
       "tx_collisions", "tx_carrier", "tx_compressed"]
CPU = "user nice system idle iowait irq softirq steal guest guest_nice".split()


def counters():
    """Each cumulative counter lies between what was read before and after it."""
    before = hand()
    shown = json.loads(subprocess.run([FATHOM, "counters", "--all", "--json", "--interval", "50ms"],
                                      check=True, capture_output=True).stdout)
    after = hand()
    checked = 0
    for row in shown["counters"]:
        key = row["name"], row["instance"]
        if key not in before or key not in after or row["value"] is None:
            continue
        factor = 1
        if row["name"].startswith("vm."):
            factor = {"bytes": 4096, "count": 1}[row["unit"]]
            if row["field"] in ("pgpgin", "pgpgout", "nr_kernel_stack"):
                factor = 1024
        low, high = before[key] * factor, after[key] * factor
        if row["kind"] == "gauge" or row["name"] == "cpu.iowait":
            assert row["value"] >= 0, row
        else:
            assert low <= row["value"] <= high, (row, low, high)
        checked += 1
    say(f"{checked} counters of {len(shown['counters'])} rows read by hand")
    assert checked > 400, checked


def together(ours, theirs):
    """Both commands at once; their texts."""
    one = subprocess.Popen(ours, stdout=subprocess.PIPE, text=True)
    other = subprocess.Popen(theirs, stdout=subprocess.PIPE, text=True,
                             env={"PATH": "/usr/bin:/bin:/usr/sbin", "LC_ALL": "C", "S_TIME_FORMAT": "ISO"})
    return one.communicate()[0], other.communicate()[0]


def near(what, a, b, share, least):
    assert abs(a - b) <= max(share * max(a, b), least), (what, a, b)


def vmstat():
    ours, theirs = together([FATHOM, "vmstat", "--json", "1", "5"], ["vmstat", "1", "5"])
    ours = [json.loads(line)["vmstat"][0] for line in ours.splitlines()][1:]
    lines = [line.split() for line in theirs.splitlines()]
    names = lines[1]
    theirs = [dict(zip(names, map(int, line))) for line in lines[2:] if line[0].isdigit()][1:]
    assert len(ours) == len(theirs) == 4, (ours, theirs)
    text = subprocess.run([FATHOM, "vmstat"], check=True, capture_output=True, text=True).stdout
    assert names == text.splitlines()[-2].split(), (names, text)
    keys = dict(swpd="swapped_kib", free="free_kib", buff="buffers_kib", cache="cache_kib",
                us="user_percent", sy="system_percent", id="idle_percent", wa="iowait_percent",
                st="steal_percent", cs="switches", **{"in": "interrupts"})
    for theirs_key, key in keys.items():
        a = sum(line[key] for line in ours) / 4
        b = sum(line[theirs_key] for line in theirs) / 4
        # percents: theirs are whole numbers, and the seconds are shifted by some milliseconds
        if key.endswith("percent"):
            near(key, a, b, 0.1, 3)
        else:
            near(key, a, b, 0.15, 200)
    say("vmstat: " + ", ".join(f"{k} {sum(l[keys[k]] for l in ours) / 4:.0f}/"
                               f"{sum(l[k] for l in theirs) / 4:.0f}" for k in keys))


def columns_of(text, first):
    """The headings of the first line that begins with @first."""
    return next(line.split() for line in text.splitlines() if line.split()[:1] == [first])


def iostat():
    """Since boot both divide the same counts by nearly the same time: all columns are equal."""
    ours, theirs = together([FATHOM, "iostat", "-x"], ["iostat", "-x"])
    names = columns_of(theirs, "Device")
    assert columns_of(ours, "Device") == names, (ours, theirs)
    rows = [{line.split()[0]: list(map(float, line.split()[1:])) for line in text.splitlines()
             if len(line.split()) == len(names) and line.split()[0] != "Device"}
            for text in (ours, theirs)]
    assert rows[0].keys() == rows[1].keys() and rows[0], rows
    for disk in rows[0]:
        for name, a, b in zip(names[1:], rows[0][disk], rows[1][disk]):
            near(f"{disk} {name}", a, b, 0.02, 0.05)
    cpu = [text.splitlines()[at].split() for text, at in ((ours, 4), (theirs, 3))]
    for a, b in zip(cpu[0], cpu[1]):
        near("avg-cpu", float(a), float(b), 0.02, 0.1)
    say(f"iostat: {len(names) - 1} columns of {', '.join(rows[0])}")


def mpstat():
    ours, theirs = together([FATHOM, "mpstat", "-P", "ALL", "--json", "1", "3"],
                            ["mpstat", "-P", "ALL", "1", "3"])
    text = subprocess.run([FATHOM, "mpstat"], check=True, capture_output=True, text=True).stdout
    mean = [line.split() for line in theirs.splitlines() if line.startswith("Average")]
    assert mean[0][1:] == text.splitlines()[-2].split()[1:], (mean[0], text)
    last = {row["cpu"]: row for row in json.loads(ours.splitlines()[-1])["cpus"]}
    keys = [k for k in last["all"] if k.endswith("percent")]
    assert len(mean) - 1 == len(last) >= 2, (mean, last)
    for line in mean[1:]:
        for key, value in zip(keys, line[2:]):
            near(f"CPU {line[1]} {key}", last[line[1]][key], float(value), 0.1, 5)
    say(f"mpstat: {len(keys)} columns of {len(last)} rows")


def pidstat():
    """A process that burns: CPU time, faults and switches as sysstat sees them."""
    burn = subprocess.Popen([sys.argv[3], "--seconds", "20", "a=100"], stdout=subprocess.DEVNULL)
    try:
        for flag, table in ("-u", "cpu"), ("-r", "memory"), ("-w", "switches"):
            pid = str(burn.pid)
            ours, theirs = together([FATHOM, "pidstat", flag, "-p", pid, "--json", "2", "1"],
                                    ["pidstat", flag, "-p", pid, "2", "1"])
            text = subprocess.run([FATHOM, "pidstat", flag, "-p", pid], check=True,
                                  capture_output=True, text=True).stdout
            names = next(l.split() for l in theirs.splitlines() if "UID" in l)
            values = next(l.split() for l in theirs.splitlines() if pid in l.split())
            shown = next(l.split() for l in text.splitlines() if "TIME" in l)
            assert shown[1:] == names[1:], (shown, names)
            row = json.loads(ours.splitlines()[-1])[table][0]
            row = [v for k, v in row.items() if k not in ("time_ns", "tid")]
            for name, a, b in zip(names[1:], row, values[1:]):
                if name in ("CPU", "Command", "%wait", "nvcswch/s"):
                    continue
                near(f"pidstat {flag} {name}", a, float(b), 0.1, 6)
            say(f"pidstat {flag}: {' '.join(names[1:])}")
    finally:
        burn.kill()


# Words of netstat(8) for counters that it does not call by their names.
WORDS = {
    "total packets received": "ip.InReceives", "forwarded": "ip.ForwDatagrams",
    "incoming packets discarded": "ip.InDiscards", "incoming packets delivered": "ip.InDelivers",
    "requests sent out": "ip.OutRequests", "ICMP messages received": "icmp.InMsgs",
    "ICMP messages sent": "icmp.OutMsgs", "active connection openings": "tcp.ActiveOpens",
    "passive connection openings": "tcp.PassiveOpens",
    "failed connection attempts": "tcp.AttemptFails",
    "connection resets received": "tcp.EstabResets", "connections established": "tcp.CurrEstab",
    "segments received": "tcp.InSegs", "segments sent out": "tcp.OutSegs",
    "segments retransmitted": "tcp.RetransSegs", "bad segments received": "tcp.InErrs",
    "resets sent": "tcp.OutRsts", "packets received": "udp.InDatagrams",
    "packets to unknown port received": "udp.NoPorts", "packet receive errors": "udp.InErrors",
    "packets sent": "udp.OutDatagrams", "receive buffer errors": "udp.RcvbufErrors",
    "send buffer errors": "udp.SndbufErrors",
    "TCP sockets finished time wait in fast timer": "tcpext.TW",
    "packet headers predicted": "tcpext.TCPHPHits",
    "acknowledgments not containing data payload received": "tcpext.TCPPureAcks",
    "predicted acknowledgments": "tcpext.TCPHPAcks",
}


def their_netstat():
    out, group = {}, ""
    text = subprocess.run(["netstat", "-s"], check=True, capture_output=True, text=True,
                          env={"PATH": "/usr/bin:/bin:/usr/sbin", "LC_ALL": "C"}).stdout
    for line in text.splitlines():
        words = line.split()
        if not line.startswith(" "):
            group = line.rstrip(":").lower()
        elif len(words) == 2 and words[0].endswith(":") and words[1].isdigit():
            out[f"{group}.{words[0][:-1]}"] = int(words[1])
        elif words and words[0].isdigit() and " ".join(words[1:]) in WORDS:
            out[WORDS[" ".join(words[1:])]] = int(words[0])
    return out


def netstat():
    before = their_netstat()
    ours = json.loads(subprocess.run([FATHOM, "netstat", "-s", "--all", "--json"], check=True,
                                     capture_output=True).stdout)
    after = their_netstat()
    shown = {f"{group}.{row['name']}": row["value"] for group, rows in ours.items()
             if isinstance(rows, list) and group != "notes" for row in rows}
    for name, low in before.items():
        low, high = sorted((low, after.get(name, low)))
        assert low <= shown[name] <= high, (name, low, shown[name], high)
    say(f"netstat: {len(before)} counters of {len(shown)}")
    assert len(before) > 25, before


def numastat():
    def theirs():
        text = subprocess.run(["numastat"], check=True, capture_output=True, text=True).stdout
        lines = [line.split() for line in text.splitlines()]
        return lines[0], {line[0]: list(map(int, line[1:])) for line in lines[1:] if line}
    nodes, before = theirs()
    ours = json.loads(subprocess.run([FATHOM, "numastat", "--json"], check=True,
                                     capture_output=True).stdout)["allocations"]
    _, after = theirs()
    assert [row["name"] for row in ours] == list(before), (ours, before)
    for row in ours:
        for i, node in enumerate(nodes):
            assert before[row["name"]][i] <= row[node] <= after[row["name"]][i], row
    memory = json.loads(subprocess.run([FATHOM, "numastat", "-m", "--json"], check=True,
                                       capture_output=True).stdout)["memory"]
    text = subprocess.run(["numastat", "-m"], check=True, capture_output=True, text=True).stdout
    total = next(line.split() for line in text.splitlines() if line.startswith("MemTotal"))
    # balloons of guests move it
    near("MemTotal", memory[0]["total"], float(total[-1]), 0.1, 0.1)
    child = subprocess.Popen([sys.executable, "-c", "x = b'1' * (64 << 20); print(1, flush=True); input()"],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        child.stdout.readline()
        table = json.loads(subprocess.run([FATHOM, "numastat", "-p", str(child.pid), "--json"],
                                          check=True, capture_output=True).stdout)["process"]
        resident = table[-1]["total"]
        assert resident > 64, table
        text = subprocess.run(["numastat", "-p", str(child.pid)], check=True, capture_output=True,
                              text=True).stdout
        total = next(line.split() for line in text.splitlines() if line.startswith("Total"))
        near("memory of a process", resident, float(total[-1]), 0.02, 0.5)
    finally:
        child.kill()
    say(f"numastat: {len(ours)} rows of {len(nodes)} nodes, process {resident:.1f} MB")


{"netstat": netstat, "numastat": numastat, "pidstat": pidstat, "counters": counters, "vmstat": vmstat, "iostat": iostat, "mpstat": mpstat}[WHAT]()
