#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Series of fathom serve with node_exporter's names beside those of node_exporter itself:
metrics.py OURS THEIRS. Prints "ok NAME" or "not ok NAME"."""

import re
import sys

WANTED = [
    "node_cpu_seconds_total", "node_load1", "node_memory_MemAvailable_bytes", "node_disk_io_time_seconds_total",
    "node_network_receive_bytes_total", "node_pressure_cpu_waiting_seconds_total", "node_context_switches_total",
    "node_procs_running", "node_netstat_Tcp_RetransSegs", "node_vmstat_pgfault", "node_boot_time_seconds",
]


def read(path):
    out = {}
    with open(path, encoding="utf-8") as text:
        for line in text:
            m = re.match(r"([a-zA-Z0-9_:]+)(\{.*\})? (\S+)$", line)
            if m:
                labels = tuple(sorted(re.findall(r'(\w+)="([^"]*)"', m[2] or "")))
                out[m[1], labels] = float(m[3])
    return out


ours, theirs = read(sys.argv[1]), read(sys.argv[2])
for name in WANTED:
    here, there = (any(k[0] == name for k in side) for side in (ours, theirs))
    print(f"ok {name}" if here or not there else f"not ok {name}")
both = [k for k in ours if k in theirs]
print(f"{'ok' if len(both) > 150 else 'not ok'} {len(both)} series have the same names and labels")
# moments are between the two, and memory moves by hundreds of megabytes in them
off = [(k, ours[k], theirs[k]) for k in both if abs(ours[k] - theirs[k]) > 0.3 * abs(theirs[k]) + 1e9 * k[0].endswith("_bytes") + 200]
print(f"not ok values differ: {off[:3]}" if off else "ok their values are close")
