#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Compares what we say about places in the source with what addr2line says:
#	srcline.py places FILE COUNT		addresses inside of functions, the same in every run
#	srcline.py compare OURS THEIRS [JUDGE]	counts what is equal; exits 1 if less than 99.9 %
# Places where the two differ are explained if a third tool (JUDGE) says what we say: the same
# lines, and the same functions, whether by the names in the debug information or by symbols.
import random
import re
import subprocess
import sys


def places(path, count):
    functions = []
    for line in subprocess.run(["nm", "-S", "--defined-only", path], capture_output=True,
                               text=True, check=True).stdout.splitlines():
        f = line.split()
        if len(f) == 4 and f[2] in "tTwW" and int(f[1], 16):
            functions.append((int(f[0], 16), int(f[1], 16)))
    rng = random.Random(7)
    weights = [size for _, size in functions]
    for start, size in rng.choices(functions, weights, k=count):
        print(f"{start + rng.randrange(size):x}")


def read(path):
    answers = []
    with open(path, errors="replace") as f:
        for line in f:
            line = line.rstrip("\n")
            if re.fullmatch("0x[0-9a-f]+", line):
                answers.append((int(line, 16), []))
            else:
                answers[-1][1].append(re.sub(r" \(discriminator \d+\)", "", line))
    return answers


def lines(answer):
    return [re.sub(r":0$", ":?", re.sub(r"/(\./)+", "/", x)) for x in answer[1::2]]


def knows(answer):
    return re.search(r"/.*:\d+$", answer[-1]) is not None


def plain(name):
    """The function's own name, without where it is, what for and its parameters."""
    return re.split(r"[<(]", name)[0].split("::")[-1].split(" ")[-1]


def is_explained(ours, theirs, judge):
    if lines(ours) not in (lines(theirs), lines(judge)):
        return False
    # Without linkage names in the debug information, others show the linker's symbol.
    pairs = zip(ours[::2], judge[::2] if lines(ours) == lines(judge) else theirs[::2])
    return all(plain(a) in b for a, b in pairs)


def compare(ours, theirs, judge):
    n = equal = explained = 0
    strange = []
    for i, ((a, x), (b, y)) in enumerate(zip(ours, theirs)):
        assert a == b
        if not knows(x) and not knows(y):
            continue
        n += 1
        if x[::2] == y[::2] and lines(x) == lines(y):
            equal += 1
        elif is_explained(x, y, judge[i][1] if judge else y):
            explained += 1
        else:
            strange.append((a, x, y))
    for a, x, y in strange[:5]:
        print(f"# {a:x}\n#   ours   {str(x)[:300]}\n#   theirs {str(y)[:300]}")
    print(f"{n} places: {equal} equal, {explained} explained, {len(strange)} not")
    return 1 if n < 100 or len(strange) > n / 1000 else 0


if sys.argv[1] == "places":
    places(sys.argv[2], int(sys.argv[3]))
else:
    sys.exit(compare(*[read(p) for p in sys.argv[2:4]],
                     read(sys.argv[4]) if len(sys.argv) > 4 else None))
