#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares folded stacks of stackcollapse-perf.pl with ours.

usage: fold_compare.py [--recording] THEIRS OURS

Of the same text, every line must be equal and in the same order, but for the classes of frames
below. With --recording ours come from the recording itself and theirs from its text: our callers
are looked up one byte before their return addresses, so names of callers may differ; weights by
command and depth, and by command and leaf, must not.
"""
import re
import sys
from collections import Counter

CLASSES = {
    "deleted": "it splits 'f (/x (deleted))' at the last bracket: 'f ', and no module for [unknown]",
    "arrow": "it splits names of C++ at '->': operator-> is operator",
    "anonymous": "it leaves out names that begin with '(': (anonymous namespace)::f",
    "bpf": "it takes programs of BPF for code of user space",
    "vdso": "it takes every module in brackets for the kernel's: [vdso]_[k]",
}


def plain(frame):
    """The class of a frame, and what makes it equal to its like; None: not there."""
    if frame.startswith("(anonymous"):
        return "anonymous", None
    if frame.endswith(" "):
        return "deleted", frame[:-1]
    if re.match(r"\[.* \(deleted\)( <\w+>)?\](_\[[jk]\])?$", frame):
        return "deleted", "[unknown]"
    if "operator->" in frame:
        return "arrow", frame.replace("operator->", "operator")
    if re.match(r"bpf_(prog|trampoline)_\w+_\[k\]$", frame):
        return "bpf", frame[:-4]
    if frame.endswith("_[k]") and re.match(r"__vdso_|__kernel_|\[\[vdso\]", frame):
        return "vdso", frame[:-4]
    return None, frame


def plain_stack(stack):
    frames = [plain(f) for f in stack.split(";")]
    return ";".join(f for _, f in frames if f is not None), {kind for kind, _ in frames if kind}


def read(path):
    with open(path, errors="surrogateescape") as f:
        return [line.rstrip("\n").rpartition(" ")[::2] for line in f]


def compare_text(theirs, ours):
    kinds, equal, bad = Counter(), 0, []
    for a, b in zip(theirs, ours):
        if a == b:
            equal += 1
            continue
        (x, why_x), (y, why_y) = plain_stack(a[0]), plain_stack(b[0])
        kinds.update(why_x | why_y)
        if x != y or a[1] != b[1]:
            bad.append((a, b))
    print(f"{len(theirs)} lines of theirs, {len(ours)} of ours: {equal} equal, {len(bad)} not explained")
    for kind, n in kinds.items():
        print(f"  {n} {kind}: {CLASSES[kind]}")
    for a, b in bad[:10]:
        print(f"  theirs: {' '.join(a)}\n  ours:   {' '.join(b)}")
    return len(theirs) == len(ours) and not bad


def sums(lines, key):
    """By command, and by what else key() tells of the plain stack."""
    out = {}
    for stack, weight in lines:
        frames = plain_stack(stack)[0].split(";")
        out.setdefault(frames[0], Counter())[key(frames)] += int(weight)
    return out


def compare_recording(theirs, ours):
    """perf drops a chain that holds a mark it does not know; ours keeps the rest of it."""
    ok, dropped = True, Counter()
    for stack, weight in theirs:
        if ";" not in stack:
            dropped[stack] += int(weight)
    for what, key in (("depth", len), ("leaf", lambda frames: frames[-1])):
        a, b = sums(theirs, key), sums(ours, key)
        ok &= a.keys() == b.keys()
        for comm in a.keys() & b.keys():
            less = {k: a[comm][k] - b[comm][k] for k in a[comm] if a[comm][k] > b[comm][k]}
            if sum(less.values()) > dropped[comm]:
                ok = False
                print(f"{comm}: by {what}, ours lack {dict(list(less.items())[:9])}")
    ours = dict(ours)
    total = sum(int(w) for _, w in theirs)
    equal = sum(int(w) for s, w in theirs if ours.get(s) == w)
    print(f"{100 * equal / total:.2f} % of the weight in equal lines, "
          f"{100 * sum(dropped.values()) / total:.3f} % in chains that perf drops")
    return ok and total > 0 and sum(dropped.values()) < total / 100


def main():
    args = [a for a in sys.argv[1:] if not a.startswith("--")]
    theirs, ours = read(args[0]), read(args[1])
    if not theirs:
        sys.exit("nothing to compare")
    how = compare_recording if "--recording" in sys.argv else compare_text
    return 0 if how(theirs, ours) else 1


if __name__ == "__main__":
    sys.exit(main())
