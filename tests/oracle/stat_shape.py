#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The shape of 'perf stat' lines: every field, with digits replaced where runs must differ.

Usage: stat_shape.py csv|json FILE
Numbers keep their form: sign, whether they have decimals and how many, quotes, padding of the time.
Units of rates (/sec, K/sec) depend on values, so they become one. A thread's name loses its number.
"""
import json
import re
import sys


def number(text):
    pad = len(text) - len(text.lstrip())
    body = text.strip()
    if re.fullmatch(r"-?\d+", body):
        shape = "N"
    elif re.fullmatch(r"-?\d+\.\d+", body):
        shape = "N." + "d" * len(body.split(".")[1])
    elif re.fullmatch(r"-?\d+\.\d+%", body):
        shape = "N." + "d" * (len(body.split(".")[1]) - 1) + "%"
    else:
        return re.sub(r"^[KMG]?/sec$", "RATE/sec", re.sub(r"-\d+$", "-N", text))
    return (" " * pad if pad and "dddddddd" in shape else "") + shape


def csv_line(line):
    return ",".join(number(f) for f in line.split(","))


def json_line(line):
    pairs = json.loads(line.replace('"(null)"', '""'), object_pairs_hook=list)
    out = []
    raw = dict(re.findall(r'"([a-z-]+)" : ("[^"]*"|[^,}]*)', line))
    for key, value in pairs:
        text = raw[key].strip()
        if text.startswith('"'):
            text = '"' + number(text[1:-1].replace("(null)", "")) + '"'
        else:
            text = number(text)
        out.append(f"{key}={text}")
    # the order and the exact punctuation between fields
    gaps = re.sub(r'"[^"]*"|[-\d.]+', "#", line)
    return " ".join(out) + " | " + gaps


kind, path = sys.argv[1:]
with open(path, encoding="utf-8") as lines:
    for each in lines:
        each = each.rstrip("\n")
        if each and not each.startswith(("#", "Events ")):
            print(csv_line(each) if kind == "csv" else json_line(each))
