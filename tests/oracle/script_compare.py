#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares the text of perf script with ours, line by line.

usage: script_compare.py PERF OURS [--unwind]

Each line that differs is put into a class, and a class is proven for each line where that can be
done: two names of one address by the symbol tables of the file. A line of no class fails the
comparison. --unwind: the chains come from copies of stacks, and ours may go on where perf's end.
"""
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict

CLASSES = {
    "nameless": "perf: [unknown]; ours: the function by its unwind entry (stripped code)",
    "start": "perf: [unknown], or a symbol without size stretched up to there; ours: where the"
             " program or a thread starts, by the entry point and the unwind entry",
    "gone": "the file no longer exists; ours has kept its names",
    "padding": "perf names the padding before a function (__pfx_f); a return address there belongs"
               " to the call before it, which never returns",
    "version": "perf prefers an alias with a version (cfree@GLIBC_2.2.5) where ours has a plain one",
    "plt_got": "perf has no names for the entries of .plt.got; objdump confirms ours",
    "plt": "perf has no name for an entry of the PLT whose relocation has no symbol: '@plt'",
    "alias": "one address, two names; each takes another",
    "local": "perf stretches a symbol without size up to the next; ours ends it at its unwind entry",
    "timer_flags": "perf 6.1 evaluates the flags of timer:timer_start wrongly: it shows D|P|I always",
    "nested_choice": "perf 6.1 evaluates a ? (b ? c : d) : e of sock:sock_recv_length wrongly when the call fails",
    "unwound": "our unwinder goes on where perf's has given up",
    "past_end": "perf's unwinder goes one past the outermost frame: return address 0, minus 1",
    "deep": "perf shows 127 entries of a chain, marks between kernel and user code included",
}
FRAME = re.compile(r"^\t *([0-9a-f]+) (.*) \((.*)\)$")
BARE = re.compile(r"^\t *([0-9a-f]+) (.*)()$")
RECEIVED = re.compile(r"^(.* sock:sock_recv_length: .*length = )(-?[0-9]+), error = (-?[0-9]+)(, flags = .*)$")
LINE_IP = re.compile(r"^(.*: +)([0-9a-f]+) (\S.*) \((.*)\)$")


def split_offset(name):
    m = re.match(r"(.*)\+0x([0-9a-f]+)$", name)
    return (m[1], int(m[2], 16)) if m else (name, None)


def debug_file(path):
    """The separate debug file of a program, by its build id."""
    notes = subprocess.run(["readelf", "-n", path], capture_output=True, text=True, errors="replace")
    m = re.search(r"Build ID: ([0-9a-f]{2})([0-9a-f]+)", notes.stdout)
    return f"/usr/lib/debug/.build-id/{m[1]}/{m[2]}.debug" if m else None


def nm_lines(path):
    for flags in (["-C"], ["-CD"]):
        run = subprocess.run(["nm", *flags, path], capture_output=True, text=True, errors="replace")
        yield from run.stdout.splitlines()


class Tables:
    """Addresses by name, of the files that lines name."""

    def __init__(self):
        self.known = {}

    def load(self, dso):
        table = defaultdict(set)
        if dso.startswith("["):
            with open("/proc/kallsyms") as f:
                lines = f.read().splitlines()
        elif dso.startswith("/") and os.path.exists(dso):
            debug = debug_file(dso)
            lines = list(nm_lines(dso)) + (list(nm_lines(debug)) if debug and os.path.exists(debug) else [])
        else:
            lines = []
        for line in lines:
            parts = line.split(None, 2)
            if len(parts) == 3 and len(parts[1]) == 1:
                table[parts[2].split("\t")[0].split("(")[0]].add(parts[0])
        return table

    def of(self, dso):
        if dso not in self.known:
            self.known[dso] = self.load(dso)
        return self.known[dso]

    def lacks(self, dso, name):
        return name not in self.of(dso)

    def same_address(self, dso, a, b):
        table = self.of(dso)
        names = [n for n in table if n.split("@")[0] == b] if b not in table else [b]
        return any(table[a.split("(")[0]] & table[n] for n in names)


TABLES = Tables()


def in_plt_got(dso, name):
    found = subprocess.run(["objdump", "-d", "-j", ".plt.got", dso], capture_output=True, text=True)
    return f"<{name}>:" in found.stdout


def classify_name(perf, ours, dso):
    """dso "": the lines do not tell the file, so that nothing can be looked up."""
    pname, poff = split_offset(perf)
    oname, ooff = split_offset(ours)
    group = re.match(r"(.*)\+0x[0-9a-f]+$", oname if ooff is not None and "+0x" in oname else ours)
    if perf == "[unknown]" and dso.startswith("/") and not os.path.exists(dso):
        return "gone"
    if perf == "[unknown]" and oname.endswith("@plt"):
        return "plt_got" if in_plt_got(dso, oname) else None
    if oname in ("_start", "thread_start") and TABLES.lacks(dso, oname):
        return "start"
    if perf == "[unknown]":
        return "nameless" if group and (not dso or group[1] == os.path.basename(dso)) else None
    if pname.startswith("__pfx_"):
        return "padding"
    if pname == "@plt" and oname.endswith("@plt") and poff == ooff:
        return "plt"
    if re.search(r"@@?[A-Z]", pname) and poff == ooff and TABLES.same_address(dso, pname, oname):
        return "version"
    if group and (not dso or group[1] == os.path.basename(dso)):
        return "local"
    if poff == ooff and (not dso or TABLES.same_address(dso, pname, oname)):
        return "alias"
    return None


def is_nested_choice(perf, ours):
    """A call that failed with E: length 0 and error E; perf says E and 0, or 0 and 0."""
    p, o = RECEIVED.match(perf), RECEIVED.match(ours)
    return (p and o and p[1] == o[1] and p[4] == o[4] and o[2] == "0" and int(o[3]) < 0 and p[3] == "0"
            and p[2] in ("0", o[3]))


def classify(perf, ours):
    if "timer:timer_start:" in perf and perf.split("flags=")[0] == ours.split("flags=")[0]:
        return "timer_flags"
    if is_nested_choice(perf, ours):
        return "nested_choice"
    for pattern in (FRAME, BARE, LINE_IP):
        p, o = pattern.match(perf), pattern.match(ours)
        if p and o and p.groups()[:-2] == o.groups()[:-2] and p.groups()[-1] == o.groups()[-1]:
            return classify_name(p.groups()[-2], o.groups()[-2], p.groups()[-1])
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
    ok = len(perf) == len(ours) and not counts["unexplained"]
    print(f"share {same * 100:.3f} % (equal {counts['equal'] / lines * 100:.3f} %)")
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
