#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""topology_compare.py HWLOC.xml OURS.xml: the same objects below one another, with the same facts.

Prints the first differences; the status is 0 when there is none.
"""
import sys
import xml.etree.ElementTree as ET

FACTS = ("os_index", "cache_size", "cache_linesize", "cache_associativity", "cache_type",
         "local_memory", "pci_busid", "pci_type", "bridge_type", "bridge_pci", "osdev_type")


def bits(text):
    value = 0
    for word in (text or "0x0").split(","):
        value = value << 32 | int(word or "0", 16)
    return value


def lines(obj, path=""):
    kind = obj.get("type")
    facts = [f"{k}={obj.get(k)}" for k in FACTS
             if obj.get(k) is not None and not (kind in ("Machine", "Group") and k == "os_index")
             # a bridge has no subsystem: hwloc reads what stands there
             and not (kind == "Bridge" and k == "pci_type")]
    if obj.get("cpuset"):
        facts.append(f"cpuset={bits(obj.get('cpuset')):x} nodeset={bits(obj.get('nodeset')):x}")
    if kind == "OSDev":
        facts.append(f"name={obj.get('name')}")
        facts += sorted(f"{i.get('name')}={i.get('value')}" for i in obj.findall("info")
                        if i.get("name") in ("Size", "Address"))
    here = f"{path}/{kind} " + " ".join(facts)
    yield here
    for child in obj.findall("object"):
        yield from lines(child, f"{path}/{kind}")


def everything(path):
    root = ET.parse(path).getroot()
    out = sorted(lines(root.find("object")))
    for d in root.findall("distances2"):
        values = " ".join(v for e in d.findall("u64values") for v in (e.text or "").split())
        out.append("distances " + values)
    return out


theirs, ours = everything(sys.argv[1]), everything(sys.argv[2])
missing = [x for x in theirs if x not in ours]
added = [x for x in ours if x not in theirs]
for x in missing[:8]:
    print("hwloc:", x)
for x in added[:8]:
    print("ours: ", x)
print(len(theirs), "objects")
sys.exit(1 if missing or added or len(theirs) != len(ours) else 0)
