#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
# timeout: 300
#
# Every command that shows a table takes --json and --csv: each is called with both, what comes out
# is parsed, and a table is never cut where nobody reads it in a terminal.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"
need_root
need_cmd python3
need_file "$FATHOM" "$WORKLOADS/burn"
cd "$TMP" || exit 1
export XDG_CACHE_HOME=$TMP/cache
unset COLUMNS

long=a_program_whose_name_is_longer_than_any_column_of_a_terminal_that_is_eighty_characters_wide
cp "$WORKLOADS/burn" $long
"$FATHOM" record -q --off-cpu -o fathom.data -- ./$long --seconds 0.3 a=70 b=30 2>err ||
	"$FATHOM" record -q -o fathom.data -- ./$long --seconds 0.3 a=70 b=30
"$FATHOM" record -q -o old.data -- "$WORKLOADS/burn" --seconds 0.2 a=50 b=50
"$FATHOM" record -q -e sched:sched_switch -e sched:sched_wakeup -a -d 200ms -o sched.data 2>err || rm -f sched.data
echo 'a;b;c 10' >x.folded

# command: its arguments, or "-" and why it shows no table
cat >calls <<'END'
annotate -i fathom.data a
archive - writes a file
argdist -C p:c:getpid() -d 200ms
bpftrace - prints what bpftrace prints
buildid-cache --list
buildid-list -i fathom.data
callgraph -i fathom.data
chain -d 200ms
completion - a script for a shell
components -i fathom.data
counters
cpudist -d 200ms
data - converts a file
diff old.data fathom.data
doctor
dstat -d 1 1
evlist -i fathom.data
explain -- sleep 0.1
export - converts a file
flame - draws
fold - writes folded stacks
free
ftrace - prints the kernel's trace
funccount -d 200ms vfs_read
funclatency -d 200ms vfs_read
heatmap -i fathom.data
help - its JSON describes options, which are no table
ifstat 1 1
import - converts a file
inject - writes a recording
iostat 1 1
iotop -b -n 1
irqtop 1 1
kallsyms schedule
mem - opens recordings of memory accesses
list sched:*
mpstat 1 1
netstat 1 1
numastat
offcpu -d 200ms
offwake -d 200ms
perf - takes perf's command line and prints what perf prints
pidstat 1 1
prebuild - fills a cache
probe -l
record - writes a recording
report -i fathom.data
run - prints what the script says
runqlat -d 200ms
runqlen -d 200ms
sar 1 1
sched -i sched.data
script - prints a recording as perf script does
serve - serves a browser
slabtop
stack SELF
stackcount -d 200ms vfs_read
stacks -i fathom.data
stat -- true
strace -c -- true
threads -d 200ms
timechart -i sched.data
tools
top --once
topology
trace - what programs print has no columns; it has JSON
turbo 1 1
uptime
use
version
vmstat 1 1
wakeup -d 200ms
workload - runs a program
END

cat >check.py <<'END'
import csv, io, json, os, re, subprocess, sys
fathom, long = os.environ["FATHOM"], sys.argv[1]
calls = dict(l.rstrip("\n").split(" ", 1) if " " in l else (l.strip(), "") for l in open("calls"))
text = subprocess.run([fathom, "help"], capture_output=True, text=True).stdout
names = re.findall(r"^  ([a-z][a-z-]+)(?=  )", text, re.M)
n = 0
def say(good, what, why=""):
    global n
    n += 1
    print(f"{'ok' if good else 'not ok'} {n} - {what}")
    if not good:
        print("# " + str(why).replace("\n", "\n# ")[:1000])
def call(args, form):
    args = [long if a == "./LONG" else str(os.getpid()) if a == "SELF" else a for a in args]
    i = args.index("--") if "--" in args else len(args)
    p = subprocess.run([fathom, args[0], form] + args[1:i] + args[i:], capture_output=True, text=True,
                       stdin=subprocess.DEVNULL, timeout=60)
    return p.returncode, p.stdout, p.stderr
def objects(text):
    d, at, out = json.JSONDecoder(), 0, []
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        o, at = d.raw_decode(text, at)
        out.append(o)
    return out
say(set(names) <= set(calls), "every command is here", set(names) - set(calls))
for name, args in sorted(calls.items()):
    if args.startswith("- "):
        continue
    args = [name] + args.split()
    rc, out, err = call(args, "--json")
    if rc == 3:
        print(f"ok {n + 1} - {name} # SKIP {err.splitlines()[0] if err else 'not here'}")
        n += 1
        continue
    try:
        got = objects(out)
        say(rc in (0, 1) and got and all(isinstance(o, (dict, list)) for o in got), f"{name} --json", err or out[:300])
    except ValueError as e:
        say(False, f"{name} --json", f"{e}: {out[:300]} {err}")
    rc, out, err = call(args, "--csv")
    # "# NAME" before each of several tables, an empty line between them, "# lost: ..." at the end
    tables = [list(csv.reader(io.StringIO(re.sub(r"(?m)^# .*\n?", "", t))))
              for t in re.split(r"\n\n", out.strip()) if t.strip()]
    bad = [t for t in tables if len({len(r) for r in t if r}) != 1]
    say(rc in (0, 1) and tables and not bad, f"{name} --csv", err or bad or out[:300])
print(f"1..{n}")
END
FATHOM=$FATHOM python3 check.py "./$long" >tap 2>err
grep -E '^(not )?ok|^#' tap
test_count=$((test_count + $(grep -Ec '^(not )?ok ' tap)))
# shellcheck disable=SC2034
test_failed=$((test_failed + $(grep -c '^not ok ' tap)))
sed 's/^/# /' err

# --- nothing is cut in a pipe -----------------------------------------------------------------------

run "$FATHOM" report -i fathom.data -g none
expect_out "$long" 'report: names are whole'
run "$FATHOM" report -i fathom.data --hierarchy -g none
expect_out "$long" 'an outline: likewise'
run "$FATHOM" callgraph -i fathom.data
expect_status 0
run env COLUMNS=40 "$FATHOM" stacks -i fathom.data
unlike 'a narrow terminal that nobody reads in cuts nothing' "$out" '\.\.\.$|…'
done_testing
