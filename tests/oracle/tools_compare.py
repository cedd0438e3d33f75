# SPDX-License-Identifier: GPL-2.0-or-later
# tools_compare.py NAME OURS THEIRS PID: what a tool of ours (JSON) and one of theirs (text) show of
# the work of tools_work.py, whose process is PID. Prints "same", or what differs.
import errno
import json
import re
import signal
import sys
from collections import Counter

name, our_file, their_file, pid = sys.argv[1:5]
pid = int(pid)
rows, hists = [], []
ours = open(our_file, errors="replace").read()
# commands that are no tools print one object on many lines
for line in [ours] if ours.startswith("{\n") else ours.splitlines():
    o = json.loads(line)
    if "schema" not in o:
        if o.keys() != {"type", "data"}:
            rows.append(o)
        continue
    rows += o.get("rows", [])
    for v in o.values():
        if isinstance(v, list) and v and isinstance(v[0], dict) and "buckets" in v[0]:
            hists += v
text = open(their_file, errors="replace").read()
lines = [line.split() for line in text.splitlines() if line.strip()]


def number(err):
    return 0 if err in ("0", None, "") else getattr(errno, err, err)


def their_hist_total(part):
    """the sum of the counts of bcc's histograms"""
    return sum(int(m) for m in re.findall(r"\d+ -> \d+\s+: (\d+)", part))


def same(ours, theirs, least=1):
    a, b = Counter(ours), Counter(theirs)
    if a == b and sum(a.values()) >= least:
        return "same"
    return "%d ours, %d theirs; only ours: %s; only theirs: %s" % (
        sum(a.values()), sum(b.values()), list((a - b).items())[:8], list((b - a).items())[:8])


def near(ours, theirs, share, slack=0, least=1):
    """two numbers that were not taken at the very same moment"""
    if ours >= least and theirs >= least and abs(ours - theirs) <= max(ours, theirs) * share + slack:
        return "same"
    return "%s ours, %s theirs" % (ours, theirs)


def execsnoop():
    return same(
        [(r["pid"], r["ppid"], r["args"].split()[-1]) for r in rows if r["pcomm"] == "truthtrue"],
        [(int(w[1]), int(w[2]), w[-1]) for w in lines if w[0] == "truthtrue"], 20)


def exitsnoop():
    mine = [(r["pid"], r["ppid"], r["code"] if r["signal"] == "0" else r["signal"]) for r in rows
            if r["pcomm"] in ("truthtrue", "truthsleep")]
    theirs = []
    for w in lines:
        if w[0] in ("truthtrue", "truthsleep"):
            killed = re.search(r"signal (\d+)", " ".join(w[5:]))
            code = signal.Signals(int(killed.group(1))).name if killed else int(w[-1] if w[-1].isdigit() else 0)
            theirs.append((int(w[1]), int(w[2]), code))
    return same(mine, theirs, 21)


def opensnoop():
    return same([(r["fd"], number(r["err"]), r["path"]) for r in rows],
                [(int(w[2]), int(w[3]), w[4]) for w in lines if w[0] == str(pid)], 41)


def statsnoop():
    return same([(number(r["err"]), r["path"]) for r in rows if "/missing-" in r["path"]],
                [(int(w[-2]), w[-1]) for w in lines if w[0] == str(pid) and "/missing-" in w[-1]], 20)


def killsnoop():
    return same([(number_of(r["signal"]), r["tpid"], -number(r["result"])) for r in rows],
                [(int(w[3]), int(w[4]), int(w[5])) for w in lines if w[1] == str(pid)], 26)


def number_of(sig):
    return int(getattr(signal, sig)) if hasattr(signal, sig) else int(sig)


def sigsnoop():
    usr1 = int(signal.SIGUSR1)
    return same([(number_of(r["signal"]), r["tpid"]) for r in rows if number_of(r["signal"]) == usr1],
                [(int(w[3]), int(w[4])) for w in lines if w[1] == str(pid) and w[3] == str(usr1)], 25)


def mountsnoop():
    theirs = [(m.group(1), m.group(2) or "0") for m in
              re.finditer(r"\b(u?mount)\(.*\) = (?:-?(E\w+)|0)", text)]
    return same([(r["call"].replace("umount2", "umount"), r["err"]) for r in rows], theirs, 2)


def gethostlatency():
    mine = [r for r in rows if r["host"] == "localhost"]
    theirs = [w for w in lines if w[-1] == "localhost" and w[1] == str(pid)]
    if len(mine) != len(theirs) or len(mine) != 3:
        return "%d ours, %d theirs" % (len(mine), len(theirs))
    off = max(abs(r["lat"] / 1e6 - float(w[3])) for r, w in zip(mine, theirs))
    return "same" if off < 20 else "%f ms apart" % off


def tcplife():
    return same([(r["lport"], r["rport"], round(r["tx"] / 1024), round(r["rx"] / 1024)) for r in rows],
                [(int(w[3]), int(w[5]), round(float(w[6])), round(float(w[7]))) for w in lines if w[0] == str(pid)], 10)


def tcpstates():
    theirs = []
    for w in lines:
        if w[2] == "truthpy" and "->" in w:
            theirs.append((int(w[4]), int(w[6]), w[7].upper(), w[9].upper()))
    return same([(r["lport"], r["rport"], r["old"], r["new"]) for r in rows], theirs, 20)


def syscount():
    theirs = {w[0]: int(w[1]) for w in lines if len(w) == 2 and w[1].isdigit()}
    mine = {r["syscall"]: r["count"] for r in rows}
    # theirs counts ends of calls: clone3 ends twice, exit never, and the others have no number then
    for call in "clone3", "clone", "vfork", "exit", "exit_group", "rt_sigreturn", "uretprobe":
        mine.pop(call, None)
        theirs.pop(call, None)
    # what waits at the first or the last moment may be in one of them only
    bad = {k: (mine.get(k, 0), theirs.get(k, 0)) for k in mine.keys() | theirs.keys()
           if abs(mine.get(k, 0) - theirs.get(k, 0)) > 2}
    return "same" if not bad and mine.get("getpgid", 0) >= 400 else "ours, theirs: %s %s" % (bad, mine)


def hist_counts():
    return near(sum(h["count"] for h in hists), their_hist_total(text), 0.05, 5, 100)


def softirqs():
    theirs = {w[0]: int(w[1]) for w in lines if len(w) == 2 and w[1].isdigit()}
    mine = {r["softirq"].lower(): r["time"] for r in rows}
    return near(mine.get("net_rx", 0), theirs.get("net_rx", 0), 0.35, 2e6, 1e6)


def hardirqs():
    theirs = Counter()
    for w in lines:
        if len(w) >= 2 and w[-1].isdigit():
            theirs[" ".join(w[:-1])] += int(w[-1])
    mine = Counter()
    for r in rows:
        mine[r["name"]] += r["count"]
    return near(sum(mine.values()), sum(theirs.values()), 0.4, 50)


def runqslower():
    # both take the time by themselves: what is near the limit may be in one of them only
    mine = Counter(r["tid"] for r in rows if r["comm"] == "truthhog" and r["lat"] >= 1.1e6)
    theirs = Counter(int(w[2]) for w in lines if len(w) >= 6 and w[1] == "truthhog" and int(w[3]) >= 1000)
    total = Counter(r["tid"] for r in rows if r["comm"] == "truthhog")
    hard = Counter(int(w[2]) for w in lines if len(w) >= 6 and w[1] == "truthhog" and int(w[3]) >= 1100)
    missed = sum((mine - theirs).values()) + sum((hard - total).values())
    return "same" if sum(mine.values()) >= 20 and missed <= 2 else "%d are in one only, of %d and %d" % (
        missed, sum(total.values()), sum(theirs.values()))


def biolatency():
    return same([sum(h["count"] for h in hists)], [their_hist_total(text)])


def biopattern():
    disk = {r["disk"]: r for r in rows}
    theirs = [w for w in lines if w[0].startswith("loop")]
    if not theirs or theirs[0][0] not in disk:
        return "ours %s, theirs %s" % (disk.keys(), theirs)
    r = disk[theirs[0][0]]
    # theirs leaves out the first request, which follows none
    return near(r["count"], int(theirs[0][3]), 0, 1, 299)


def bitesize():
    part = text.split("truthdd", 1)[-1]
    mine = sum(h["count"] for h in hists if "truthdd" in h["label"])
    return same([mine], [their_hist_total(part)])


def naptime():
    theirs = [round(float(w[5]) * 1e3) for w in lines if len(w) == 6 and w[3] == str(pid)]
    return same([round(r["asked"] / 1e6) for r in rows if r["asked"] == 3000000], theirs, 10)


def setuids():
    theirs = [w[4] for w in lines if len(w) >= 6 and w[1] == str(pid)]
    return same([r["call"] for r in rows], theirs, 2)


def syncsnoop():
    theirs = [w[3].split("sys_enter_")[-1] for w in lines if len(w) == 4 and w[1] == str(pid)]
    return same([r["call"] for r in rows], theirs, 4)


special = {"syscount-failed": lambda: failed(), "runqlat": hist_counts}


def failed():
    theirs = {w[0]: int(w[1]) for w in lines if len(w) == 2 and w[1].isdigit()}
    mine = {r["syscall"]: r["count"] for r in rows}
    return same([mine.get("getpgid"), mine.get("kill")], [theirs.get("getpgid"), theirs.get("kill")])


print(special.get(name, globals().get(name))())
