#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What flame graphs are compared with.

    boxes FILE.svg            depth, count and name of every box, sorted
    colors FILE.svg           name and colour of every box, sorted
    fold [--all] FILE         the text of `perf script` as stackcollapse-perf.pl folds it, written
                              here anew from its documented rules, but that programs of BPF, which
                              others may run meanwhile, are marked as the kernel's
"""
import html
import re
import sys
from collections import Counter


def boxes(path):
    """From an SVG of ours or of flamegraph.pl: both have a title and a rectangle for each box."""
    with open(path, encoding="utf-8", errors="replace") as f:
        text = f.read()
    rows = []
    # what is too narrow to be a box of its own is a shade between them
    text = re.sub(r'<g class="rest">.*?</g>', "", text)
    pattern = r"<title>([^<]*) \(([\d,.]+) [^()]*\)</title>\s*<rect ([^>]*)>"
    for name, count, attributes in re.findall(pattern, text):
        y = float(re.search(r'\by="([\d.]+)"', attributes).group(1))
        rows.append((y, round(float(count.replace(",", ""))), html.unescape(name)))
    levels = {y: i for i, y in enumerate(sorted({y for y, _, _ in rows}, reverse=True))}
    for depth, count, name in sorted((levels[y], c, re.sub(r"_\[[kwij]\]$", "", n))
                                     for y, c, n in rows):
        print(f"{depth}\t{count}\t{name}")


def colors(path):
    """As red, green, blue: ours are in hexadecimal."""
    with open(path, encoding="utf-8", errors="replace") as f:
        text = f.read()
    rows = set()
    for name, attributes in re.findall(r"<title>([^<]*) \([^()]*\)</title>\s*<rect ([^>]*)>", text):
        fill = re.search(r'fill="([^"]*)"', attributes).group(1)
        if fill.startswith("#"):
            fill = ",".join(str(int(fill[i:i + 2], 16)) for i in (1, 3, 5))
        rows.add(f"{html.unescape(name)}\t{fill.removeprefix('rgb(').rstrip(')')}")
    print("\n".join(sorted(rows)))


HEADER = re.compile(r"^(\S.*?)\s+(\d+)(?:/(\d+))?\s+(?:\[\d+\]\s+)?[\d.]+:")
EVENT = re.compile(r":\s*(\d+)?\s+(\S+):\s*$")
FRAME = re.compile(r"^\s*(\w+)\s*(.+) \((.*)\)")


def frame_name(raw, module, marks):
    name = re.sub(r"\+0x[\da-f]+$", "", raw)
    if name == "[unknown]":
        name = "[" + (module.split("/")[-1] if module != "[unknown]" else "unknown") + "]"
    name = name.replace(";", ":")
    if not re.search(r"\.\(.*\)\.", name):
        name = re.sub(r"\((?!anonymous namespace\)).*", "", name)
    name = re.sub(r"[\"']", "", name)
    if marks and re.search(r"^\[|vmlinux$|^bpf_prog_", module) and "unknown" not in module \
            and module not in ("[vdso]", "[vsyscall]"):
        name += "_[k]"
    elif marks and re.search(r"/tmp/perf-\d+\.map", module):
        name += "_[j]"
    return name


def fold(path, marks):
    stacks, first, comm, stack, period = Counter(), None, None, [], 1
    with open(path, encoding="utf-8", errors="replace") as f:
        lines = f.read().split("\n") + [""]
    for line in lines:
        header, frame = HEADER.match(line), FRAME.match(line)
        if line.startswith("#"):
            continue
        if not line.strip():
            if comm is not None:
                stacks[";".join([comm] + stack[::-1])] += period
            comm, stack = None, []
        elif header:
            event = EVENT.search(line)
            first = first or event.group(2)
            comm = header.group(1).replace(" ", "_") if event.group(2) == first else None
            period = int(event.group(1) or 1)
        elif frame and comm is not None:
            stack.append(frame_name(frame.group(2), frame.group(3), marks))
    for key in sorted(stacks, key=lambda k: k.encode()):
        print(key, stacks[key])


if __name__ == "__main__":
    if sys.argv[1] == "boxes":
        boxes(sys.argv[2])
    elif sys.argv[1] == "colors":
        colors(sys.argv[2])
    else:
        fold(sys.argv[-1], "--all" in sys.argv)
