# SPDX-License-Identifier: GPL-2.0-or-later
"""How often a thread waited where: reads `fathom offcpu --json` and prints "NAME=COUNT" for each
NAME given, of the sleeps whose user frames have that function."""
import json
import re
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    waits = json.load(file)["waits"]
for name in sys.argv[2:]:
    pattern = re.compile(r"(^|< )(" + name + r")( |$)")
    found = (w for w in waits if w["state"] not in ("R", "P") and pattern.search(w["where"] or ""))
    print(f"{name}={sum(w['count'] for w in found)}")
