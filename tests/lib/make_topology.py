#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""make_topology.py KIND DIR: the files of sys/ and proc/ that describe a machine of that kind.

two-socket  2 packages, 16 cores with 2 threads each, a node and an L3 for each package, PCI devices
eight-node  2 packages with 4 nodes each, 2 L3 in each node
hybrid      6 cores with 2 threads, 8 small ones whose clusters of 4 share an L2
many        512 CPUs: 4 packages of 2 dies, 32 cores with 2 threads in each die, offline CPUs
"""
import os
import sys

kind, root = sys.argv[1:]


def write(path, text, binary=False):
    full = os.path.join(root, path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(full, "wb" if binary else "w") as out:
        out.write(text if binary else f"{text}\n")


def mask(cpus):
    value = sum(1 << c for c in cpus)
    words = []
    while value or not words:
        words.insert(0, f"{value & 0xffffffff:08x}")
        value >>= 32
    return ",".join(words)


def ranges(cpus):
    out, cpus = [], sorted(cpus)
    for c in cpus:
        if out and out[-1][1] + 1 == c:
            out[-1][1] = c
        else:
            out.append([c, c])
    return ",".join(f"{a}" if a == b else f"{a}-{b}" for a, b in out)


class Cpu:
    def __init__(self, cpu, package, die, core, cluster=-1, **more):
        self.cpu, self.package, self.die, self.core, self.cluster = cpu, package, die, core, cluster
        self.more = more


def write_cpus(cpus, offline=()):
    base = "sys/devices/system/cpu"
    live = [c for c in cpus if c.cpu not in offline]
    write(f"{base}/possible", ranges(c.cpu for c in cpus))
    write(f"{base}/present", ranges(c.cpu for c in cpus))
    write(f"{base}/online", ranges(c.cpu for c in live))
    for c in cpus:
        write(f"{base}/cpu{c.cpu}/online", 0 if c.cpu in offline else 1)
        if c.cpu in offline:
            continue
        top = f"{base}/cpu{c.cpu}/topology"
        package = [o.cpu for o in live if o.package == c.package]
        die = [o.cpu for o in live if (o.package, o.die) == (c.package, c.die)]
        core = [o.cpu for o in live if (o.package, o.die, o.core) == (c.package, c.die, c.core)]
        cluster = [o.cpu for o in live if (o.package, o.die, o.cluster) == (c.package, c.die, c.cluster)]
        write(f"{top}/physical_package_id", c.package)
        write(f"{top}/die_id", c.die)
        write(f"{top}/core_id", c.core)
        write(f"{top}/cluster_id", c.cluster if c.cluster >= 0 else 65535)
        sets = {"package_cpus": package, "core_siblings": package, "die_cpus": die,
                "core_cpus": core, "thread_siblings": core,
                "cluster_cpus": cluster if c.cluster >= 0 else core}
        for name, members in sets.items():
            write(f"{top}/{name}", mask(members))
            write(f"{top}/{name}_list", ranges(members))
        for name, value in c.more.items():
            write(f"{base}/cpu{c.cpu}/{name.replace('__', '/')}", value)


def write_caches(caches):
    """(level, type, KB, line, ways, id, cpus)"""
    for level, name, size, line, ways, number, cpus in caches:
        for cpu in cpus:
            base = f"sys/devices/system/cpu/cpu{cpu}/cache"
            index = len(os.listdir(os.path.join(root, base))) if os.path.isdir(os.path.join(root, base)) else 0
            at = f"{base}/index{index}"
            for file, value in {"level": level, "type": name, "size": f"{size}K", "id": number,
                                "coherency_line_size": line, "ways_of_associativity": ways,
                                "number_of_sets": size * 1024 // line // ways,
                                "physical_line_partition": 1, "shared_cpu_map": mask(cpus),
                                "shared_cpu_list": ranges(cpus)}.items():
                write(f"{at}/{file}", value)


def write_nodes(nodes, distances):
    """[(cpus, MB)], matrix"""
    base = "sys/devices/system/node"
    for name in ("online", "possible", "has_memory", "has_normal_memory"):
        write(f"{base}/{name}", ranges(range(len(nodes))))
    write(f"{base}/has_cpu", ranges(i for i, n in enumerate(nodes) if n[0]))
    for i, (cpus, mb) in enumerate(nodes):
        write(f"{base}/node{i}/cpumap", mask(cpus) if cpus else "0")
        write(f"{base}/node{i}/cpulist", ranges(cpus))
        write(f"{base}/node{i}/meminfo", f"Node {i} MemTotal:       {mb * 1024} kB\nNode {i} MemFree: 1024 kB")
        write(f"{base}/node{i}/distance", " ".join(str(d) for d in distances[i]))
    write("proc/meminfo", f"MemTotal:       {sum(n[1] for n in nodes) * 1024} kB")


def write_cpuinfo(cpus, offline=()):
    blocks = [f"processor\t: {c.cpu}\nvendor_id\t: GenuineIntel\nmodel name\t: Made-up CPU <& \"x\">\n"
              f"physical id\t: {c.package}\ncore id\t\t: {c.core}\n" for c in cpus if c.cpu not in offline]
    write("proc/cpuinfo", "\n".join(blocks))


def write_pci(address, kind_, ids, cpus, node, parent="", buses=None):
    """A device below the path of its parents; gives that path."""
    host = f"sys/devices/pci{address[:7]}"
    path = (parent or host) + "/" + address
    config = bytearray(256)
    config[0x08] = 2
    if buses:
        config[0x0e] = 1
        config[0x18], config[0x19], config[0x1a] = int(address[5:7], 16), *buses
    config[0x09:0x0c] = kind_.to_bytes(3, "little")
    config[0x00:0x02] = ids[0].to_bytes(2, "little")
    config[0x02:0x04] = ids[1].to_bytes(2, "little")
    if not buses:
        config[0x2c:0x2e] = ids[0].to_bytes(2, "little")
        config[0x2e:0x30] = ids[1].to_bytes(2, "little")
    write(f"{path}/config", bytes(config), binary=True)
    for file, value in {"class": f"0x{kind_:06x}", "vendor": f"0x{ids[0]:04x}", "device": f"0x{ids[1]:04x}",
                        "subsystem_vendor": f"0x{0 if buses else ids[0]:04x}",
                        "subsystem_device": f"0x{0 if buses else ids[1]:04x}", "revision": "0x02",
                        "numa_node": node, "local_cpus": mask(cpus), "local_cpulist": ranges(cpus)}.items():
        write(f"{path}/{file}", value)
    link = os.path.join(root, "sys/bus/pci/devices", address)
    os.makedirs(os.path.dirname(link), exist_ok=True)
    os.symlink(os.path.join("../../..", path[len("sys/"):]), link)
    return path


def write_class(device, klass, name, path, files):
    """A device node such as block/nvme0n1 below a PCI device."""
    at = f"{device}/{path}/{name}"
    for file, value in files.items():
        write(f"{at}/{file}", value)
    full = os.path.join(root, at)
    os.makedirs(full, exist_ok=True)
    os.symlink(os.path.relpath(os.path.join(root, device), full), os.path.join(full, "device"))
    link = os.path.join(root, "sys/class", klass, name)
    os.makedirs(os.path.dirname(link), exist_ok=True)
    os.symlink(os.path.join("../..", at[len("sys/"):]), link)


def two_socket():
    cpus = [Cpu(t * 32 + p * 16 + c, p, 0, c) for t in range(2) for p in range(2) for c in range(16)]
    own = [[p * 16 + c, 32 + p * 16 + c] for p in range(2) for c in range(16)]
    packages = [[c.cpu for c in cpus if c.package == p] for p in range(2)]
    write_cpus(cpus)
    write_cpuinfo(cpus)
    for i, core in enumerate(own):
        write_caches([(1, "Data", 48, 64, 12, i, core), (1, "Instruction", 32, 64, 8, i, core),
                      (2, "Unified", 2048, 64, 16, i, core)])
    write_caches([(3, "Unified", 36864, 64, 12, p, packages[p]) for p in range(2)])
    write_nodes([(packages[0], 65536), (packages[1], 65536)], [[10, 21], [21, 10]])
    bridge = write_pci("0000:00:01.0", 0x060400, (0x8086, 0x1901), packages[0], 0, buses=(1, 2))
    nvme = write_pci("0000:01:00.0", 0x010802, (0x144d, 0xa808), packages[0], 0, parent=bridge)
    write_class(nvme, "block", "nvme0n1", "nvme/nvme0/block", {"size": 2000409264, "dev": "259:0",
                                                              "queue/hw_sector_size": 512})
    write_pci("0000:00:1f.3", 0x0c0500, (0x8086, 0xa123), packages[0], 0)
    net = write_pci("0000:80:02.0", 0x020000, (0x8086, 0x1572), packages[1], 1)
    write_class(net, "net", "eth0", "net", {"address": "02:00:00:00:00:01", "type": 1})
    gpu = write_pci("0000:80:03.0", 0x030200, (0x10de, 0x20b0), packages[1], 1)
    write_class(gpu, "drm", "card0", "drm", {"dev": "226:0"})


def eight_node():
    cpus = [Cpu(i, i // 32, 0, i % 32) for i in range(64)]
    write_cpus(cpus)
    write_cpuinfo(cpus)
    for i in range(64):
        write_caches([(1, "Data", 32, 64, 8, i, [i]), (1, "Instruction", 32, 64, 8, i, [i]),
                      (2, "Unified", 512, 64, 8, i, [i])])
    write_caches([(3, "Unified", 16384, 64, 16, i, list(range(i * 4, i * 4 + 4))) for i in range(16)])
    write_nodes([(list(range(n * 8, n * 8 + 8)), 32768) for n in range(8)],
                [[10 if a == b else 12 if a // 4 == b // 4 else 32 for b in range(8)] for a in range(8)])


def hybrid():
    cpus = [Cpu(i, 0, 0, i // 2 * 4, cpu_capacity=1024, cpufreq__cpuinfo_max_freq=5000000) for i in range(12)]
    cpus += [Cpu(12 + i, 0, 0, 24 + i, cpu_capacity=600, cpufreq__cpuinfo_max_freq=3800000) for i in range(8)]
    write_cpus(cpus)
    write_cpuinfo(cpus)
    for i in range(6):
        core = [i * 2, i * 2 + 1]
        write_caches([(1, "Data", 48, 64, 12, i, core), (1, "Instruction", 32, 64, 8, i, core),
                      (2, "Unified", 1280, 64, 10, i, core)])
    for i in range(8):
        write_caches([(1, "Data", 32, 64, 8, 6 + i, [12 + i]), (1, "Instruction", 64, 64, 8, 6 + i, [12 + i])])
    write_caches([(2, "Unified", 2048, 64, 16, 6 + i, list(range(12 + i * 4, 16 + i * 4))) for i in range(2)])
    write_caches([(3, "Unified", 24576, 64, 12, 0, list(range(20)))])
    write_nodes([(list(range(20)), 32768)], [[10]])
    write("sys/devices/cpu_core/cpus", "0-11")
    write("sys/devices/cpu_atom/cpus", "12-19")


def many():
    cpus = [Cpu(t * 256 + p * 64 + d * 32 + c, p, d, c) for t in range(2) for p in range(4)
            for d in range(2) for c in range(32)]
    offline = {3, 259}
    write_cpus(cpus, offline)
    write_cpuinfo(cpus, offline)
    live = [c for c in cpus if c.cpu not in offline]
    for i in range(256):
        core = [c for c in (i, 256 + i) if c not in offline]
        if core:
            write_caches([(1, "Data", 32, 64, 8, i, core), (1, "Instruction", 32, 64, 8, i, core),
                          (2, "Unified", 1024, 64, 8, i, core)])
    dies = [[c.cpu for c in live if (c.package, c.die) == (p, d)] for p in range(4) for d in range(2)]
    write_caches([(3, "Unified", 98304, 64, 16, i, die) for i, die in enumerate(dies)])
    packages = [[c.cpu for c in live if c.package == p] for p in range(4)]
    write_nodes([(p, 262144) for p in packages],
                [[10 if a == b else 20 for b in range(4)] for a in range(4)])


{"two-socket": two_socket, "eight-node": eight_node, "hybrid": hybrid, "many": many}[kind]()
