#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares compiled unwind tables with what readelf makes of the same frame information.

usage: unwind_readelf.py ORACLE FILE...    (ORACLE is the program of tests/oracle/unwind.c)

Prints "files rows differences unsupported"; the first differences as lines that begin with '#'.
"""
import bisect
import re
import subprocess
import sys

CFA = {1: "rsp", 2: "rbp"}
REGS = ["r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
        "rdi", "rsi", "rbp", "rbx", "rdx", "rax", "rcx", "rsp"]
# readelf names the register in a "register" rule by its DWARF number
DWARF = ["r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
         "r5", "r4", "r6", "r3", "r1", "r0", "r2", "r7"]
FDE = re.compile(r"^[0-9a-f]+ [0-9a-f]+ [0-9a-f]+ FDE .*pc=([0-9a-f]+)\.\.([0-9a-f]+)")
CIE = re.compile(r'^[0-9a-f]+ [0-9a-f]+ [0-9a-f]+ CIE "([^"]*)"')
WHICH = re.compile(r"FDE cie=([0-9a-f]+)")


def our_table(oracle, path):
    out = subprocess.run([oracle, "--dump", path], capture_output=True, text=True)
    if out.returncode:
        return None
    segments, offsets, rules = [], [], []
    for line in out.stdout.splitlines():
        word = line.split()
        if word[0] == "S":
            segments.append([int(x, 16) for x in word[1:]])
        else:
            offsets.append(int(word[1], 16))
            rules.append([int(x) for x in word[2:]])
    return segments, offsets, rules


def readelf_rows(path):
    """Yields (signal, address, next address, {column: text}) for each row of each FDE."""
    run = subprocess.Popen(["readelf", "-wF", path], stdout=subprocess.PIPE, text=True,
                           stderr=subprocess.DEVNULL)
    signal_cies, names, rows, fde = set(), None, [], None

    def finish():
        for i, (at, columns) in enumerate(rows):
            after = rows[i + 1][0] if i + 1 < len(rows) else fde[1]
            if after > at:
                yield fde[2], at, after, columns

    for line in run.stdout:
        if line.startswith("Contents of"):
            section = line.split()[3]
        cie, head = CIE.match(line), FDE.match(line)
        if cie or head:
            if fde:
                yield from finish()
            rows, fde, names = [], None, None
            if cie and "S" in cie.group(1):
                signal_cies.add(line.split()[0])
            if head and section == ".eh_frame":
                fde = (int(head.group(1), 16), int(head.group(2), 16),
                       WHICH.search(line).group(1) in signal_cies)
                rows = [(fde[0], None)]
        elif fde and line.lstrip().startswith("LOC"):
            names = line.split()[1:]
            rows = []
        elif fde and names and re.match(r"^[0-9a-f]{16} ", line):
            word = [w for w in line.split() if not w.startswith("(")]
            rows.append((int(word[0], 16), dict(zip(names, word[1:]))))
    if fde:
        yield from finish()
    run.wait()


def expected_cfa(rule):
    cfa, _, _, reg, off = rule[:5]
    if cfa in (1, 2):
        return "%s%+d" % (CFA[cfa], off)
    if cfa == 8:
        return "%s%+d" % (REGS[reg], off)
    return "exp"


def expected_bp(rule):
    kind, off = rule[1], rule[5]
    return {0: ("u", "s", None), 1: ("c%+d" % off,), 2: ("exp",), 3: ("exp",),
            4: ("v%+d" % off,), 5: (DWARF[off & 15],)}[kind]


def expected_ra(rule):
    kind, aux = rule[2], rule[6]
    return {0: "c-8", 1: "c%+d" % aux, 2: DWARF[aux & 15]}[kind]


def expected_bx(rule):
    off = rule[7]
    return ("u", "s", None) if off == 0 else ("c%+d" % off,)


def same(rule, signal, columns):
    if rule[0] == 6:
        return signal
    if rule[0] == 9:
        return columns is None or columns.get("ra") == "u"  # no row is printed for _start
    if columns is None or rule[0] == 0:
        return columns is None and rule[0] != 0
    cfa = expected_cfa(rule)
    # readelf prints an expression that is only "register + n" as an expression too
    if columns["CFA"] != cfa and columns["CFA"] != "exp":
        return False
    if rule[7] != -32768 and columns.get("rbx") not in expected_bx(rule):
        return False
    return columns.get("rbp") in expected_bp(rule) and columns.get("ra") == expected_ra(rule)


def compare(oracle, path, totals):
    table = our_table(oracle, path)
    if not table:
        return
    segments, offsets, rules = table
    totals["files"] += 1
    for signal, start, end, columns in readelf_rows(path):
        for vaddr, file_offset, size in segments:
            if vaddr <= start < vaddr + size:
                shift = file_offset - vaddr
                break
        else:
            continue
        totals["rows"] += 1
        for at in (start, end - 1):
            i = bisect.bisect_right(offsets, at + shift) - 1
            rule = rules[i] if i >= 0 else [0] * 8
            if rule[0] == 7:
                totals["unsupported"] += 1
            elif not same(rule, signal, columns):
                totals["differences"] += 1
                if totals["differences"] <= 10:
                    print("# %s %x: ours %s, readelf %s" % (path, at, rule, columns))


def main():
    totals = {"files": 0, "rows": 0, "differences": 0, "unsupported": 0}
    for path in sys.argv[2:]:
        compare(sys.argv[1], path, totals)
    print(*totals.values())


main()
