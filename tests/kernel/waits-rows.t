#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shared
#
# Each row of tools/waits.tsv that names functions of programs, libraries, calls or threads, in a
# program that is made for it: a thread with such functions on its stack sleeps in such a call. So a
# new row has its test at once. Rows of kernel functions are in waits-kernel.t, where they can be
# provoked, and all of them, on made-up stacks, in tests/unit/test_wait_rules.c.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_root
need_cmd gcc python3 objcopy
cd "$TMP" || exit 1

cat >make.py <<'END'
import fnmatch, os, subprocess, sys

# what sleeps in each call; those that cannot sleep for long without a disk are not here
CALLS = {
    "futex": "static int v; syscall(SYS_futex, &v, 128, 0, 0, 0, 0)",
    "poll": "syscall(SYS_poll, 0, 0, -1)",
    "ppoll": "syscall(SYS_ppoll, 0, 0, 0, 0, 0)",
    "select": "syscall(SYS_select, 0, 0, 0, 0, 0)",
    "pselect6": "syscall(SYS_pselect6, 0, 0, 0, 0, 0, 0)",
    "epoll_wait": "struct epoll_event e; syscall(SYS_epoll_wait, epoll_create1(0), &e, 1, -1)",
    "nanosleep": "struct timespec t = { 1000, 0 }; syscall(SYS_nanosleep, &t, 0)",
    "clock_nanosleep": "struct timespec t = { 1000, 0 }; syscall(SYS_clock_nanosleep, 1, 0, &t, 0)",
    "pause": "syscall(SYS_pause)",
    "rt_sigsuspend": "long s = -1; syscall(SYS_rt_sigsuspend, &s, 8)",
    "rt_sigtimedwait": "long s = 2048; syscall(SYS_rt_sigtimedwait, &s, 0, 0, 8)",
    "accept": "struct sockaddr_in a = { AF_INET }; int s = socket(AF_INET, SOCK_STREAM, 0);"
              "bind(s, (void *)&a, sizeof(a)); listen(s, 1); syscall(SYS_accept, s, 0, 0)",
    "wait4": "pid_t c = fork();"
             "if (!c) { prctl(PR_SET_PDEATHSIG, 9); for (;;) pause(); }"
             "syscall(SYS_wait4, c, 0, 0x40000000, 0)",
    "sendto": "int s[2]; static char b[1 << 20]; socketpair(AF_UNIX, SOCK_STREAM, 0, s);"
              "for (;;) syscall(SYS_sendto, s[0], b, sizeof(b), 0, 0, 0)",
    "recvfrom": "int s[2]; char c; socketpair(AF_UNIX, SOCK_STREAM, 0, s);"
                "syscall(SYS_recvfrom, s[0], &c, 1, 0, 0, 0)",
    "pipe": "int p[2]; char c; pipe(p); syscall(SYS_read, p[0], &c, 1)",
}
FUTEX = {  # operation, value
    "lock_pi*": "static int v = 1; v = getpid(); syscall(SYS_futex, &v, 128 | 6, 0, 0, 0, 0)",
    "wait_requeue_pi*": "static int v, w; syscall(SYS_futex, &v, 128 | 11, 0, 0, &w, 0)",
    "wait:*:waiters": "static int v = 1 << 31 | 7; syscall(SYS_futex, &v, 128, 1 << 31 | 7, 0, 0, 0)",
}
HEAD = """
#define _GNU_SOURCE
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
"""

def name(pattern):
    lead = pattern.lstrip("*")
    return lead.replace("*", "Q").replace("?", "Q")

def steps(k, call, users, out):
    """Functions from the outermost to the one that sleeps; the first one's name."""
    own = "static __attribute__((noipa)) void"
    out.append(f"{own} f{k}_{len(users)}(void) {{ {call}; asm volatile(\"\"); }}")
    for i in reversed(range(len(users))):
        out.append(f"{own} f{k}_{i}(void) {{ f{k}_{i + 1}(); asm volatile(\"\"); }}")
    return f"f{k}_0"

rows, left, code, libs, used, groups = [], [], [HEAD], {}, {}, []
for line in open(sys.argv[1]):
    if line.startswith("#") or not line.strip():
        continue
    kind, *conditions = line.rstrip("\n").split("\t")
    has = {}
    for c in conditions:
        where, pattern = c.split("=", 1)
        has.setdefault(where, []).append(pattern)
    kernel = has.get("kernel", [])
    if kernel and kernel != ["*pipe_read"]:
        continue
    call = CALLS["futex"]
    if kernel:
        call = CALLS["pipe"]
    if "futex" in has:
        call = FUTEX[has["futex"][0]]
    if "syscall" in has:
        fits = [n for n in CALLS if fnmatch.fnmatchcase(n, has["syscall"][0])]
        if not fits:
            left.append(line.strip())
            continue
        call = CALLS[fits[0]]
    k, users = len(rows), has.get("user", [])
    comm = name(has["comm"][0])[:15] if "comm" in has else f"row{k}"
    begin = f'static void *enter{k}(void *p) {{ prctl(PR_SET_NAME, "{comm}");' \
            f'printf("{k} %ld\\n", syscall(SYS_gettid)); fflush(stdout);'
    if "only" in has:
        lib = name(has["only"][0])
        libs[k] = f"./dir{k}/" + lib
        os.mkdir(f"dir{k}")
        source = [HEAD]
        first = steps(k, call, [], source)
        source.append(begin.replace("static ", "") + f"{first}(); return p; }}")
        open("lib.c", "w").write("\n".join(source))
        subprocess.run(["gcc", "-w", "-O1", "-shared", "-fPIC", "-o", libs[k], "lib.c"], check=True)
    else:
        # no object can have two functions of one name
        group = max([used.get(name(u), 0) for u in users], default=0)
        used.update((name(u), group + 1) for u in users)
        if group == len(groups):
            groups.append(([HEAD], []))
        source, names = groups[group]
        first = steps(k, call, users, source)
        names += [f"f{k}_{i} {name(u)}" for i, u in enumerate(users)]
        source.append(begin.replace("static ", "") + f"{first}(); return p; }}")
        code.append(f"void *enter{k}(void *p);")
    rows.append(line.strip())
code.append("#include <dlfcn.h>\nint main(void)\n{\n\tpthread_t t;\n\tvoid *l;")
for k in range(len(rows)):
    if k in libs:
        code.append(f'\tl = dlopen("{libs[k]}", RTLD_NOW); if (!l) puts(dlerror());')
        code.append(f'\tpthread_create(&t, 0, dlsym(l, "enter{k}"), 0);')
    else:
        code.append(f"\tpthread_create(&t, 0, enter{k}, 0);")
code.append("\tfor (;;)\n\t\tpause();\n}")
open("main.c", "w").write("\n".join(code))
for i, (source, names) in enumerate(groups):
    open(f"group{i}.c", "w").write("\n".join(source))
    open(f"group{i}.names", "w").write("\n".join(names) + "\n")
open("rows", "w").write("".join(f"{k}\t{line}\n" for k, line in enumerate(rows)))
print(f"{len(rows)} rows; only in the unit test:", *left, sep="\n")
END
python3 make.py "$TOP/tools/waits.tsv" >made
sed 's/^/# /' made
for source in group*.c; do
	gcc -O1 -w -fno-optimize-sibling-calls -c "$source"
	# such names cannot be written in C
	objcopy --redefine-syms="${source%.c}.names" "${source%.c}.o"
done
gcc -O1 -w -o rows-program main.c group*.o -lpthread -ldl

spawn ./rows-program >tids
count=$(wc -l <rows)
# shellcheck disable=SC2317  # called by wait_until
all_began() { [ "$(wc -l <tids)" -ge "$count" ]; }
wait_until all_began
sleep 0.3
run "$FATHOM" threads -p "$spawned" -d 500ms --idle -n 0 --json
kill "$spawned"
python3 - "$out_file" <<'END' >results
import json, sys
rows = dict(l.rstrip("\n").split("\t", 1) for l in open("rows"))
row_of = {int(t): k for k, t in map(str.split, open("tids"))}
seen = {}
for r in json.load(open(sys.argv[1]))["threads"]:
    state = max((k for k in r if k.endswith("_percent")), key=lambda k: r[k] or 0)
    seen[row_of.get(r["tid"])] = state[:-len("_percent")]
for k, line in rows.items():
    kind, conditions = line.split("\t", 1)
    said = seen.get(k)
    print("good" if said == kind else f"{said}:", conditions.replace("\t", " "), "is", kind)
END
while read -r verdict row; do
	if [ "$verdict" = good ]; then pass "$row"; else fail "$row" "$verdict"; fi
done <results
ok "all $count of them were seen" [ "$(grep -c . results)" -eq "$count" ]
done_testing
