#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares the text of perf script with ours, line by line.

usage: script_compare.py PERF OURS [--least SHARE] [--unwind]

Each line that differs is put into a class. A class is known when it is in CLASSES below, with the
reason for it; a line of no class, or too few lines that are equal or differ only in the name of
code that perf has no name for, fail the comparison. --unwind: the chains come from copies of
stacks, and ours may go on where perf's end.
"""
import re
import sys
from collections import Counter

CLASSES = {
    "nameless": "perf: [unknown]; ours: the function by its unwind entry (stripped code)",
    "padding": "perf names the padding before a function (__pfx_f); a return address there belongs"
               " to the call before it, which never returns",
    "version": "perf keeps the symbol version of a library (f@@GLIBC_2.2.5)",
    "alias": "one address, two names; each takes another",
    "local": "perf stretches a symbol without size up to the next; ours ends it at its unwind entry",
    "timer_flags": "perf 6.1 evaluates the flags of timer:timer_start wrongly: it shows D|P|I always",
    "unwound": "our unwinder goes on where perf's has given up",
    "past_end": "perf's unwinder goes one past the outermost frame: return address 0, minus 1",
    "deep": "perf shows 127 entries of a chain, marks between kernel and user code included",
}
FRAME = re.compile(r"^\t *([0-9a-f]+) (.*) \((.*)\)$")
BARE = re.compile(r"^\t *([0-9a-f]+) (.*)()$")
LINE_IP = re.compile(r"^(.*: +)([0-9a-f]+) (\S.*) \((.*)\)$")


def split_offset(name):
    m = re.match(r"(.*)\+0x([0-9a-f]+)$", name)
    return (m[1], int(m[2], 16)) if m else (name, None)


def classify_name(perf, ours):
    if perf == "[unknown]":
        return "nameless"
    pname, poff = split_offset(perf)
    oname, ooff = split_offset(ours)
    if pname.startswith("__pfx_"):
        return "padding"
    if "@" in pname and pname.split("@")[0] == oname and poff == ooff:
        return "version"
    if re.match(r".*\+0x[0-9a-f]+$", oname):
        return "local"
    if poff == ooff:
        return "alias"
    return None


def classify(perf, ours):
    if "timer:timer_start:" in perf and perf.split("flags=")[0] == ours.split("flags=")[0]:
        return "timer_flags"
    for pattern in (FRAME, BARE, LINE_IP):
        p, o = pattern.match(perf), pattern.match(ours)
        if p and o and p.groups()[:-2] == o.groups()[:-2] and p.groups()[-1] == o.groups()[-1]:
            return classify_name(p.groups()[-2], o.groups()[-2])
    return None


def blocks(path):
    """Samples: lists of lines."""
    block = []
    with open(path, errors="surrogateescape") as f:
        for line in f:
            line = line.rstrip("\n")
            if line == "":
                if block:
                    yield block
                block = []
            elif line.startswith("\t"):
                block.append(line)
            else:
                if block:
                    yield block
                block = [line]
    if block:
        yield block


def compare_block(perf, ours, unwind, counts, examples):
    for i in range(max(len(perf), len(ours))):
        p = perf[i] if i < len(perf) else None
        o = ours[i] if i < len(ours) else None
        counts["lines"] += 1
        if p == o:
            counts["equal"] += 1
            continue
        if p is None and unwind:
            kind = "unwound"
        elif p is None and len(perf) > 120:
            kind = "deep"
        elif o is None and unwind and p.startswith("\tffffffffffffffff [unknown]"):
            kind = "past_end"
        else:
            kind = classify(p, o) if p is not None and o is not None else None
        counts[kind or "unexplained"] += 1
        if len(examples) < 20 and kind is None:
            examples.append((p, o))


def main():
    args = [a for a in sys.argv[1:] if not a.startswith("--")]
    unwind = "--unwind" in sys.argv
    least = 0.999
    if "--least" in sys.argv:
        least = float(args.pop())
    perf, ours = list(blocks(args[0])), list(blocks(args[1]))
    counts, examples = Counter(), []
    for p, o in zip(perf, ours):
        compare_block(p, o, unwind, counts, examples)
    lines = counts["lines"]
    if not lines:
        sys.exit("nothing to compare")
    explained = sum(counts[k] for k in CLASSES)
    print(f"{len(perf)} samples of perf, {len(ours)} of ours, {lines} lines: "
          f"{counts['equal']} equal, {explained} explained, {counts['unexplained']} not")
    for kind, why in CLASSES.items():
        if counts[kind]:
            print(f"  {counts[kind]:7} {kind}: {why}")
    for p, o in examples:
        print(f"  perf: {p}\n  ours: {o}")
    same = (counts["equal"] + explained) / lines
    # in a short recording a single line is more than a thousandth: up to two are shown, not judged
    ok = len(perf) == len(ours) and (same >= least or counts["unexplained"] <= 2)
    print(f"share {same * 100:.3f} % (equal {counts['equal'] / lines * 100:.3f} %)")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
