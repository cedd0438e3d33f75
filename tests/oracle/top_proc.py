#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""top_proc.py FATHOM: processes of `fathom top --once --json` against /proc.

Two frames, and a look at /proc between them: what stays is the same, what grows lies between.
"""

import json
import os
import pwd
import subprocess
import sys

TICK = 1e9 / os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


def proc(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as f:
        text = f.read()
    comm = text[text.index("(") + 1:text.rindex(")")]
    fields = text[text.rindex(")") + 2:].split()
    status = {}
    with open(f"/proc/{pid}/status", encoding="utf-8", errors="replace") as f:
        for line in f:
            key, _, value = line.partition(":")
            status[key] = value.split()
    uid = int(status["Uid"][0])
    try:
        user = pwd.getpwuid(uid).pw_name
    except KeyError:
        user = str(uid)
    return {
        "comm": comm, "ppid": int(fields[1]), "nice": int(fields[16]), "user": user,
        "threads": int(fields[17]), "virt": int(fields[20]), "res": int(fields[21]) * PAGE,
        "time": (int(fields[11]) + int(fields[12])) * TICK, "state": fields[0],
    }


def near(key, real):
    """By how much the two looks may differ: pages that the kernel counts in batches, ticks."""
    return {"res": 64 * PAGE, "time": 4 * TICK + 0.01 * real}.get(key, 0)


def differences(before, real, after):
    """What lies neither at nor between the frames before and after the look at /proc."""
    for key in ("ppid", "nice", "user"):
        if real[key] not in (before[key], after[key]):
            yield key
    # workers of the kernel have what they work on behind their name
    if not real["comm"].startswith((before["comm"], after["comm"])):
        yield "comm"
    for key in ("threads", "virt", "res", "time"):
        least, most = sorted((before[key], after[key]))
        # what went up or down may have been anywhere in between
        if key != "time" and least != most:
            continue
        if not least - near(key, real[key]) <= real[key] <= most + near(key, real[key]):
            yield key


def frame(fathom):
    out = subprocess.run([fathom, "top", "--once", "--json", "--interval", "500ms"], check=True,
                         stdout=subprocess.PIPE, timeout=60).stdout
    return {int(r["pid"]): r for r in json.loads(out)["processes"] if r["state"] != "X"}


def main():
    before = frame(sys.argv[1])
    real = {}
    for pid in before:
        try:
            real[pid] = proc(pid)
        except (OSError, ValueError):
            pass
    after = frame(sys.argv[1])
    compared, different, lines = 0, 0, []
    for pid in sorted(set(before) & set(real) & set(after)):
        # a program that starts between the looks is another one
        if not before[pid]["age"] < after[pid]["age"] or before[pid]["comm"] != after[pid]["comm"]:
            continue
        compared += 1
        found = list(differences(before[pid], real[pid], after[pid]))
        different += bool(found)
        lines += [f"{pid} {before[pid]['comm']}: {k}: {before[pid][k]}, {real[pid][k]}, "
                  f"{after[pid][k]}" for k in found]
    print(f"compared: {compared}\ndifferent: {different} of {compared}")
    print("\n".join(lines[:20]))


main()
