#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""console.py PAGE.md: runs the console blocks of a page and prints TAP.

In a block marked ```console, a line "$ COMMAND" is run by bash; it must succeed. The lines after it
are its output as the page shows it: each must match a line of the real output, in this order, with
any number and unit in place of a number, any blanks in place of blanks, and anything in place of "...".
"$ COMMAND  # status N" expects another status; "# needs NAME" skips a command without that
program, "# not run" is for commands that would change the machine.
"""

import os
import re
import shutil
import subprocess
import sys


def blocks(text):
    return re.findall(r"^```console\n(.*?)^```", text, re.M | re.S)


def commands(block):
    """Pairs of a command and the lines of output that follow it."""
    found = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append([line[2:], []])
        elif found and found[-1][0].endswith("\\"):
            found[-1][0] = found[-1][0][:-1] + line
        elif found and line.strip():
            found[-1][1].append(line)
    return found


def pattern(line):
    out = ""
    for part in re.split(r"(\s*\.\.\.\s*|[0-9][0-9,.]*(?:[num]?s|[KMG])?\b|\s+)", line.strip()):
        if part.strip() == "...":
            out += ".*"
        elif part[:1].isdigit():
            out += r"[0-9][0-9,.]*(?:[num]?s|[KMG])?"
        elif part.isspace():
            out += r"\s+"
        else:
            out += re.escape(part)
    return re.compile(r"\s*" + out + r"\s*")


def missing(expected, real):
    """The first expected line that has no match after the match of the one before."""
    at = 0
    for line in expected:
        p = pattern(line)
        while at < len(real) and not p.fullmatch(real[at]):
            at += 1
        if at == len(real):
            return line
        at += 1
    return None


def check(number, command, expected):
    words, _, comment = command.partition("  # ")
    name = words.strip().replace("#", "\\#")
    need = re.search(r"needs (\S+)", comment)
    if "not run" in comment:
        return f"ok {number} - {name} # SKIP it would change the machine"
    if need and not shutil.which(need.group(1)):
        return f"ok {number} - {name} # SKIP needs {need.group(1)}"
    status = re.search(r"status ([0-9]+)", comment)
    wanted = int(status.group(1)) if status else 0
    done = subprocess.run(["bash", "-c", words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          stdin=subprocess.DEVNULL, timeout=120, check=False)
    real = done.stdout.decode(errors="replace").splitlines()
    if done.returncode != wanted:
        return (f"not ok {number} - {name}\n# status {done.returncode}, not {wanted}\n# "
                + "\n# ".join(real[-20:]))
    line = missing(expected, real)
    if line is not None:
        return f"not ok {number} - {name}\n# not found: {line}\n# " + "\n# ".join(real[:60])
    return f"ok {number} - {name}"


def main():
    with open(sys.argv[1], encoding="utf-8") as page:
        all_commands = [c for b in blocks(page.read()) for c in commands(b)]
    os.environ.setdefault("COLUMNS", "80")
    for number, (command, expected) in enumerate(all_commands, 1):
        print(check(number, command, expected), flush=True)
    print(f"1..{len(all_commands)}")


main()
