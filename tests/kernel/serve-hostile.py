#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Speaks to the capturing side of fathom serve in place of its HTTP side, as one that was taken over
could: serve-hostile.py PID-OF-HTTP-SIDE PART. The channel is taken with pidfd_getfd()."""

import array
import ctypes
import os
import random
import socket
import struct
import sys
import time

PIDFD_OPEN, PIDFD_GETFD = 434, 438
ABOUT, RECORD, DIFF, TOOL, PROGRAM, STOP, JOBS, RESULT, FILE, WATCH, LEFT = 1, 5, 6, 7, 8, 9, 10, 11, 12, 14, 15
VIEW, PROFILE, TRACE, ALL = 1, 2, 3, 4
NUMBERS = ("ref", "ask", "role", "stream", "number", "id", "job", "other", "seconds", "hz", "since", "to",
           "before_from", "before_to", "kind", "target", "form", "compat")
LAYOUT = struct.Struct("=QII" + "Q" * 11 + "IIII" + "512s64s16384s")
HEAD = struct.Struct("=QIIIIQ")  # of a reply
libc = ctypes.CDLL(None, use_errno=True)


def take_channel(pid):
    """The socket of that process whose other end is in its parent: the only one that is a pair."""
    pidfd = libc.syscall(PIDFD_OPEN, pid, 0)
    for name in os.listdir(f"/proc/{pid}/fd"):
        fd = libc.syscall(PIDFD_GETFD, pidfd, int(name), 0)
        if fd < 0:
            continue
        try:
            s = socket.socket(fileno=fd)
            if s.family == socket.AF_UNIX and s.type == socket.SOCK_SEQPACKET:
                return s
            s.detach()
        except OSError:
            pass
        os.close(fd)
    sys.exit("no channel")


def message(**fields):
    texts = [fields.pop(k, b"") for k in ("group", "name", "text")]
    return LAYOUT.pack(*(fields.get(n, 0) for n in NUMBERS), *texts)


CHANNEL = take_channel(int(sys.argv[1]))


def answer(**fields):
    """The status and the text of the answer to a request that only we know of; the HTTP side stands still."""
    ref = random.getrandbits(60)
    CHANNEL.send(message(ref=ref, **fields))
    end = time.time() + 10
    while time.time() < end:
        data, control, _, _ = CHANNEL.recvmsg(1 << 17, 64)
        for _, _, fds in control:
            for fd in array.array("i", fds):
                os.close(fd)
        got, kind, status, _, _, _ = HEAD.unpack(data[:HEAD.size])
        if kind == 1 and got == ref:
            return status, data[HEAD.size:]
    return 0, b"no answer"


def check(name, good, why=""):
    print(f"ok {name}" if good else f"not ok {name}: {str(why)[:200]}", flush=True)


def is_status(what, wanted, **fields):
    got, text = answer(**fields)
    check(what, got == wanted, f"{got} {text[:150]}")


def claims():
    record = dict(ask=RECORD, kind=1, target=1, seconds=1, hz=99)
    is_status("a role that no address was given is refused", 403, role=TRACE, **record)
    is_status("a role that is too low, too", 403, role=VIEW, **record)
    is_status("a program is", 403, ask=PROGRAM, role=ALL, seconds=1, text=b"BEGIN { exit }")
    is_status("a tool is", 403, ask=TOOL, role=PROFILE, seconds=1, name=b"syscount")
    for field, value in (("seconds", 0), ("seconds", 61), ("seconds", 2**64 - 1), ("hz", 0), ("hz", 10**6),
                         ("id", 2**63), ("kind", 0), ("target", 0), ("group", b"a\x1b[2J")):
        is_status(f"{field} {value} is refused", 400, role=PROFILE, **{**record, field: value})
    is_status("no form of a result is refused", 400, ask=RESULT, role=PROFILE, job=1)
    is_status("a group outside of all groups", 400, role=PROFILE, **{**record, "target": 2, "group": b"/../../etc"})
    is_status("jobs can be listed", 200, ask=JOBS, role=PROFILE)
    _, text = answer(ask=JOBS, role=PROFILE)
    check("and none began", b'"jobs":[]' in text, text)


def noise():
    random.seed(26)
    size = LAYOUT.size
    for i in range(3000):
        kind = i % 4
        if kind == 0:
            data = random.randbytes(random.choice((1, 7, size - 1, size, 40000)))
        elif kind == 1:  # numbers in place of all that is one
            values = {n: random.choice((0, 1, 2, 5, 2**31, 2**32 - 1, 2**63, 2**64 - 1)) for n in NUMBERS}
            for n in ("ask", "role", "kind", "target", "form", "compat"):
                values[n] = random.randrange(7)
            data = message(**{**values, "ask": random.choice((ABOUT, DIFF, STOP, RESULT, FILE, WATCH, LEFT, JOBS))})
        elif kind == 2:  # texts without an end
            data = message(ask=random.choice((FILE, TOOL, RECORD)), role=PROFILE, name=b"x" * 64, group=b"y" * 512)
        else:  # files along with it
            with open("/dev/null", "rb") as f:
                socket.send_fds(CHANNEL, [message(ask=LEFT, stream=7)], [f.fileno()] * 20)
            continue
        CHANNEL.send(data)
        # answers are taken, so that it is not the next test
        try:
            while True:
                _, control, _, _ = CHANNEL.recvmsg(1 << 17, 64, socket.MSG_DONTWAIT)
                for _, _, fds in control:
                    for fd in array.array("i", fds):
                        os.close(fd)
        except BlockingIOError:
            pass
    is_status("after noise it still answers", 200, ask=ABOUT, role=VIEW)


def deaf():
    """Asks, and reads no answer."""
    CHANNEL.settimeout(1)
    try:
        for _ in range(20000):
            CHANNEL.send(message(ask=ABOUT, role=VIEW))
    except OSError:
        pass


{"claims": claims, "noise": noise, "deaf": deaf}[sys.argv[2]]()
