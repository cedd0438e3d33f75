#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs of the language with the answers of the reference.

reference.py check FILE...    fathom against the stored answers
reference.py live FILE...     the reference against the stored answers
reference.py record FILE...   stores the answers of the reference anew

ONLY=REGEX runs the cases of these names, PART=N/M every M-th, NEW=1 records those without an answer.

A case is "=== name", then lines "flags:", "args:", "cmd:", "env:" or "differs:" (why fathom's answer
is another one), then the program. "--- output" is the standard output, "--- error" the first error
with its place, "--- status" an exit status other than 0. "--- ours" is fathom's output where it
differs. Of an error only its place is compared: the words are ours.
"""

import concurrent.futures
import json
import os
import re
import shlex
import signal
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FATHOM = os.environ.get("FATHOM", os.path.join(TOP, "build/fathom"))
KEYS = ("flags", "args", "cmd", "env", "differs", "needs")
ERROR = re.compile(r"^((?:stdin|[^ :]+\.bt):[0-9:-]+: )?(?:ERROR|FATAL): .*$", re.M)


class Case:
    def __init__(self, name):
        self.name = name
        self.keys = {}
        self.program = ""
        self.parts = {}

    def text(self):
        out = [f"=== {self.name}"]
        out += [f"{k}: {self.keys[k]}" for k in KEYS if k in self.keys]
        out += [self.program.rstrip("\n")]
        for part in ("output", "error", "status", "ours"):
            if self.parts.get(part):
                out += [f"--- {part}", self.parts[part].rstrip("\n") if part != "output" else
                        self.parts[part][:-1] if self.parts[part].endswith("\n") else
                        self.parts[part] + "\\"]
        return "\n".join(out) + "\n"


def load(path):
    head, cases, part = [], [], None
    for line in open(path, encoding="utf-8", errors="surrogateescape", newline="\n"):
        if line.startswith("=== "):
            cases.append(Case(line[4:].strip()))
            part = "program"
        elif not cases:
            head.append(line)
        elif line.startswith("--- "):
            part = line[4:].strip()
            cases[-1].parts[part] = ""
        elif part == "program":
            key = re.match(r"^(\w+): (.*)$", line)
            if key and key[1] in KEYS and not cases[-1].program:
                cases[-1].keys[key[1]] = key[2]
            else:
                cases[-1].program += line
        else:
            cases[-1].parts[part] += line
    for case in cases:
        for part in ("output", "ours"):
            if case.parts.get(part, "").endswith("\\\n"):
                case.parts[part] = case.parts[part][:-2]
    return head, cases


def run(case, reference):
    command = [os.path.join(TOP, "scripts/reference"), "bpftrace"] if reference else [FATHOM, "bpftrace"]
    command += shlex.split(case.keys.get("flags", ""))
    if "cmd" in case.keys:
        command += ["-c", case.keys["cmd"]]
    if case.program.strip():
        command += ["-e", case.program.rstrip("\n")]
    command += shlex.split(case.keys.get("args", ""))
    env = dict(os.environ, TZ="UTC", BPFTRACE_COLOR="never")
    env.update(pair.split("=", 1) for pair in shlex.split(case.keys.get("env", "")))
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=TOP, env=env,
                             stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        out, err = child.communicate(timeout=20 if reference else 10)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGINT)
        try:
            out, err = child.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            out, err = child.communicate()
        out += b"\n[did not end]\n"
    return (out.decode("utf-8", "surrogateescape"), err.decode("utf-8", "surrogateescape"),
            child.returncode)


def answer(case, reference):
    out, err, status = run(case, reference)
    parts = {"output": out}
    if status:
        found = ERROR.search(err)
        parts["error"] = (found[0] if found else (err.strip().splitlines() or [""])[0]) + "\n"
        parts["status"] = f"{status}\n"
    return parts, err


def place(error):
    found = re.match(r"^(stdin:[0-9:-]+): ", error)
    return found[1] if found else ""


def same(a, b):
    """The reference shows the keys of a map in no order."""
    return a == b or sorted(map(unordered, a.split("\n"))) == sorted(map(unordered, b.split("\n")))


def unordered(line):
    try:
        return json.dumps(json.loads(line), sort_keys=True) if line.startswith("{") else line
    except ValueError:
        return line


def verdict(case, got, err, ours):
    want = case.parts
    if ours and "ours" in want:
        if same(got["output"].strip("\n"), want["ours"].strip("\n")):
            return None
        return f"got {got['output']!r}, wanted {want['ours']!r} ({case.keys.get('differs')}) {err[-200:]!r}"
    if bool(got.get("status")) != bool(want.get("status")):
        return (f"status {got.get('status', '0').strip()}, wanted {want.get('status', '0').strip()}"
                f" ({want.get('error', '').strip()}): {err[-300:]!r}")
    if not same(got["output"], want.get("output", "")):
        return f"got {got['output']!r}, wanted {want.get('output', '')!r}: {err[-200:]!r}"
    wanted = place(want.get("error", ""))
    if wanted and not re.search(r"^" + re.escape(wanted) + ": ", err, re.M):
        return f"no error at {wanted} ({want['error'].strip()}): {err[:300]!r}"
    return None


def main():
    mode, files = sys.argv[1], sys.argv[2:]
    only = os.environ.get("ONLY")
    part, parts = map(int, os.environ.get("PART", "0/1").split("/"))
    bad = 0
    for path in files:
        head, cases = load(path)
        todo = [c for i, c in enumerate(cases) if (not only or re.search(only, c.name)) and
                not (mode == "record" and os.environ.get("NEW") and c.parts) and i % parts == part]
        with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
            answers = list(pool.map(lambda c: answer(c, mode != "check"), todo))
        for case, (got, err) in zip(todo, answers):
            if mode == "record":
                ours = case.parts.get("ours")
                case.parts = got
                if ours is not None:
                    case.parts["ours"] = ours
                continue
            why = verdict(case, got, err, mode == "check")
            bad += why is not None
            print(f"not ok {case.name}: {why}" if why else f"ok {case.name}")
        if mode == "record":
            with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="\n") as out:
                out.write("".join(head) + "".join(c.text() for c in cases))
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
