# SPDX-License-Identifier: GPL-2.0-or-later
"""strace.py FATHOM FILE: each line of FILE is a command; its system calls as strace and fathom
write them, line by line: names, arguments, structs, results and errors. Addresses are not compared, and what
differs from run to run (process numbers, times) not in its value."""
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

FATHOM, FILE = sys.argv[1:]
LINE = re.compile(r"^(\w+)\((.*)\)\s+= (.+)$")
# the program is started in another way, or strace stops it for these
LEFT_OUT = {"execve", "rt_sigreturn", "restart_syscall"}
# the journal of sqlite begins with a random number
BINARY = {"pwrite64"}
# values of a run: what they are is compared, not how many
VARIES = {"getpid", "gettid", "set_tid_address", "clone", "clone3", "vfork", "fork", "wait4",
          "getppid", "getrandom", "times", "sysinfo", "uname", "ioctl", "getdents64"}


def split(text):
    """Arguments: commas inside of quotes, brackets and braces do not count."""
    out, depth, quoted, start, i = [], 0, False, 0, 0
    while i < len(text):
        c = text[i]
        if quoted:
            if c == "\\":
                i += 1
            quoted = c != '"' or text[i - 1:i] == "\\" and c != '"'
        elif c == '"':
            quoted = True
        elif c in "[{(":
            depth += 1
        elif c in "]})":
            depth -= 1
        elif c == "," and not depth:
            out.append(text[start:i].strip())
            start = i + 1
        i += 1
    out.append(text[start:].strip())
    return out


def parse(text):
    calls = []
    for line in text.splitlines():
        line = re.sub(r"^\d+ +", "", line)
        line = re.sub(r"^[^ (]+/\d+ ", "", line)
        # temporary names of mktemp and git
        line = re.sub(r'(tmp\.|/t)(?=\w*\d|\w*[A-Z])\w{6,10}(?=["\\])', r'\1RANDOM', line)
        match = LINE.match(line)
        if match and match[1] not in LEFT_OUT:
            calls.append((match[1], split(match[2]), match[3]))
    return calls


def comparable(arg):
    # places of a process in /proc/self/maps are random
    # so is what /dev/urandom gives
    return not (re.match(r'^"[0-9a-f]{8,}-', arg) or len(re.findall(r"\\[2-3]\d\d", arg)) > 5
                or re.match(r"^(0x[0-9a-f]+|NULL)( /\*.*)?$", arg) or re.match(r"^-?\d{5,}$", arg))


def plain(arg):
    """A struct or a list without addresses, times and comments; names of bits in one order."""
    arg = re.sub(r" ?/\*.*?\*/", "", arg)
    arg = re.sub(r"\b(0x[0-9a-f]+|NULL)\b", "X", arg)
    arg = re.sub(r"(f_(bfree|bavail|ffree)=)\d+", r"\1N", arg)
    arg = re.sub(r"\d+ => ", "", arg)
    arg = re.sub(r"(sec|pid|ru_\w+|htons\()(=?)\d+", r"\1\2N", arg)
    arg = re.sub(r"\b\d{5,}\b", "N", arg)
    return re.sub(r"[A-Z0-9_]+(\|[A-Z0-9_]+)+",
                  lambda m: "|".join(sorted(m[0].split("|"))), arg)


def same_arg(ours, theirs):
    if ours[0:1] in "{[~" and theirs[0:1] in "{[~":
        return plain(ours) == plain(theirs)
    if not comparable(ours) or not comparable(theirs):
        return ours[0:1] not in "{[~" and theirs[0:1] not in "{[~"
    if "|" in ours or "|" in theirs:
        return sorted(ours.split("|")) == sorted(theirs.split("|"))
    return ours == theirs


def same(ours, theirs, counts):
    if ours[0] != theirs[0]:
        return f"name {ours[0]} / {theirs[0]}"
    vary = ours[0] in VARIES
    for a, b in zip(ours[1], theirs[1]):
        if ours[0] in BINARY and a.startswith('"') and b.startswith('"'):
            continue
        if not vary and not same_arg(a, b):
            return f"{ours[0]}: argument {a} / {b}"
        counts["args"] += comparable(a) and comparable(b)
        counts["structs"] += a[0:1] in "{[~" and a[0:1] != ""
        counts["flags"] += bool(re.match(r"^[A-Z]+_[A-Z_|]+", a)) and a == b
    a, b = ours[2].split(" (")[0], theirs[2].split(" (")[0]
    if a.startswith("-1") or b.startswith("-1"):
        counts["errors"] += 1
        if a != b:
            return f"{ours[0]}: result {a} / {b}"
    elif not vary and comparable(a) and comparable(b) and a != b:
        return f"{ours[0]}: result {a} / {b}"
    return None


def prepare(folder):
    """The same files each time, so that a program does the same."""
    for name in "a", "b":
        with open(f"{folder}/{name}", "w", encoding="ascii") as file:
            file.writelines(f"{i} {name}\n" for i in range(300))
    os.mkdir(f"{folder}/d")
    shutil.copy(f"{folder}/a", f"{folder}/d/x")
    if os.path.exists("structs.py"):
        shutil.copy("structs.py", folder)


def run(command):
    # the same name each time: its length is an argument
    folder = os.path.join(tempfile.gettempdir(), f"fathom-strace-{os.getpid()}")
    with tempfile.NamedTemporaryFile("r", errors="replace") as file:
        os.mkdir(folder)
        try:
            prepare(folder)
            subprocess.run(command(file.name), stdin=subprocess.DEVNULL, cwd=folder,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        finally:
            shutil.rmtree(folder)
        return parse(file.read())


def compare(command, sums):
    """What differs, or None."""
    ours = run(lambda path: [FATHOM, "strace", "-o", path, "--"] + command)
    theirs = run(lambda path: ["strace", "-o", path] + command)
    counts = {"args": 0, "structs": 0, "flags": 0, "errors": 0}
    if len(ours) != len(theirs):
        names = [[c[0] for c in calls] for calls in (ours, theirs)]
        at = next((i for i, (a, b) in enumerate(zip(*names)) if a != b), min(map(len, names)))
        return (f"{len(ours)} calls / {len(theirs)}: first difference at {at}: "
                f"{names[0][at:at + 4]} / {names[1][at:at + 4]}")
    for i, (a, b) in enumerate(zip(ours, theirs)):
        fault = same(a, b, counts)
        if fault:
            return f"call {i}: {fault}"
    if not ours:
        return "no calls were seen"
    sums["calls"] += len(ours)
    sums["programs"] += 1
    for key, count in counts.items():
        sums[key] += count
    return None


sums = dict.fromkeys(("programs", "calls", "args", "structs", "flags", "errors"), 0)
faults = 0
with open(FILE, encoding="utf-8") as lines:
    for line in lines:
        command = shlex.split(line)
        if not shutil.which(command[0]):
            print(f"# {command[0]}: not installed", file=sys.stderr)
            continue
        fault = compare(command, sums)
        for _ in range(2):
            # what depends on the time, or on others, may differ once
            fault = fault and compare(command, sums)
        if fault:
            print(f"# {line.strip()}: {fault}", file=sys.stderr)
            faults += 1
print(f"# {sums['programs']} programs, {sums['calls']} calls, {sums['args']} arguments, "
      f"{sums['structs']} structs and lists, {sums['flags']} of them names, {sums['errors']} errors: equal", file=sys.stderr)
sys.exit(bool(faults))
