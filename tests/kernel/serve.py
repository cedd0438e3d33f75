#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a hostile client may try on fathom serve:
serve.py PORT TOKEN VIEW-TOKEN SOCKET PROFILE-TOKEN PROGRAM-TOKEN.
Prints "ok NAME" or "not ok NAME: why"."""

import json
import socket
import sys
import time

PORT, TOKEN, VIEW, UNIX, PROFILE, PROGRAM = int(sys.argv[1]), *sys.argv[2:7]


def check(name, good, why=""):
    print(f"ok {name}" if good else f"not ok {name}: {str(why)[:200]!r}", flush=True)


def connect():
    s = socket.create_connection(("127.0.0.1", PORT))
    s.settimeout(20)
    return s


def read_all(s):
    out = b""
    try:
        while True:
            piece = s.recv(65536)
            if not piece:
                break
            out += piece
    except (ConnectionResetError, socket.timeout):
        pass
    return out


def raw(data, s=None):
    s = s or connect()
    try:
        s.sendall(data)
    except (BrokenPipeError, ConnectionResetError):
        pass
    out = read_all(s)
    s.close()
    return out


def ask(method, path, token=TOKEN, body=None, headers=(), host="127.0.0.1", s=None):
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}", "Connection: close"]
    if token:
        lines.append(f"Authorization: Bearer {token}")
    data = b"" if body is None else (body if isinstance(body, bytes) else json.dumps(body).encode())
    if method == "POST":
        lines.append(f"Content-Length: {len(data)}")
    lines += list(headers)
    return raw("\r\n".join(lines).encode() + b"\r\n\r\n" + data, s)


def status(answer):
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/") else 0


def body_of(answer):
    return json.loads(answer.split(b"\r\n\r\n", 1)[1])


def is_status(name, answer, wanted):
    check(name, status(answer) == wanted, answer[:200] or "no answer")


def alive(name):
    is_status(f"{name}: it still answers", ask("GET", "/api/v1/about"), 200)


def tokens():
    is_status("no token", ask("GET", "/api/v1/about", token=None), 401)
    is_status("a wrong token", ask("GET", "/api/v1/about", token="0" * 32), 401)
    is_status("a token that is too long", ask("GET", "/api/v1/about", token=TOKEN + "0"), 401)
    is_status("a right token", ask("GET", "/api/v1/about"), 200)
    for path in ("/metrics", "/api/v1/stream", "/api/v1/history", "/api/v1/counters", "/api/v1/jobs",
                 "/api/v1/tools", "/api/v1/openapi.json"):
        is_status(f"{path} needs a token", ask("GET", path, token=None), 401)
    answer = ask("GET", "/", token=None)
    is_status("the page itself has no secrets", answer, 200)
    check("and says nothing about the machine", socket.gethostname().encode() not in answer, answer)


def roles():
    for method, path, body in (("POST", "/api/v1/record", {"seconds": 1}), ("POST", "/api/v1/diff", {}),
                               ("POST", "/api/v1/tools/run", {"tool": "syscount"}),
                               ("POST", "/api/v1/program", {"text": "x"}), ("GET", "/api/v1/jobs", None),
                               ("GET", "/api/v1/tools", None), ("POST", "/api/v1/jobs/1/stop", {})):
        is_status(f"view may not {method} {path}", ask(method, path, token=VIEW, body=body), 403)
    is_status("view may look", ask("GET", "/api/v1/about", token=VIEW), 200)
    for token, name in ((VIEW, "view"), (PROFILE, "profile"), (TOKEN, "trace"), (PROGRAM, "program")):
        about = body_of(ask("GET", "/api/v1/about", token=token))
        check(f"a token of {name} says its role", about["role"] == name, about["role"])
    is_status("profile may list recordings", ask("GET", "/api/v1/jobs", token=PROFILE), 200)
    for method, path, body in (("GET", "/api/v1/tools", None), ("POST", "/api/v1/tools/run", {"tool": "syscount"}),
                               ("POST", "/api/v1/program", {"text": "x"})):
        is_status(f"profile may not {method} {path}", ask(method, path, token=PROFILE, body=body), 403)
    is_status("program may list tools", ask("GET", "/api/v1/tools", token=PROGRAM), 200)
    answer = ask("POST", "/api/v1/program", token=PROGRAM, body={"text": "BEGIN { exit }"})
    check("and programs only where they are allowed", status(answer) == 403 and b"--allow-programs" in answer, answer)
    is_status("trace may not run programs", ask("POST", "/api/v1/program", body={"text": "x"}), 403)
    is_status("a result needs its key", ask("GET", "/result/" + "0" * 32, token=None), 404)


def origins():
    is_status("another host (DNS rebinding)", ask("GET", "/", token=None, host="evil.example"), 421)
    is_status("another host with a token", ask("GET", "/api/v1/about", host="evil.example"), 421)
    time.sleep(2)
    is_status("a POST of another site", ask("POST", "/api/v1/jobs/1/stop", body={}, headers=["Origin: http://evil.example"]), 403)
    is_status("a POST that says cross-site", ask("POST", "/api/v1/jobs/1/stop", body={}, headers=["Sec-Fetch-Site: cross-site"]), 403)
    answer = ask("GET", "/api/v1/about", headers=["Origin: http://evil.example"])
    check("no CORS header and no cookie", b"access-control" not in answer.lower() and b"set-cookie" not in answer.lower(), answer)
    for header in (b"Content-Security-Policy: default-src 'none'", b"nosniff", b"no-referrer", b"no-store"):
        check(f"a header: {header.decode()}", header in answer, answer)


def requests():
    is_status("a head without an end", raw(b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"x" * 9000), 431)
    is_status("a body that is too large", raw(b"POST /api/v1/record HTTP/1.1\r\nHost: localhost\r\nContent-Length: 70000\r\n\r\n"), 413)
    is_status("chunked bodies", raw(b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), 400)
    is_status("two lengths", raw(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"), 400)
    is_status("bytes that are no HTTP", raw(bytes(range(256)) + b"\r\n\r\n"), 400)
    is_status("TLS on a plain port", raw(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n"), 400)
    is_status("a wrong method", ask("GET", "/api/v1/record"), 405)
    is_status("an unknown method", raw(b"DELETE / HTTP/1.1\r\nHost: localhost\r\n\r\n"), 501)
    for path in ("/../../etc/passwd", "/..%2f..%2fetc/passwd", "//etc/passwd", "/serve.js/../../x", "/result/../about",
                 "/api/v1/about/", "/proc/self/environ", "/%00"):
        is_status(f"path {path}", ask("GET", path), 404)
    is_status("bytes in a path", raw(b"GET /\xff\xfe HTTP/1.1\r\nHost: localhost\r\n\r\n"), 400)
    is_status("a query that is no UTF-8", ask("GET", "/api/v1/history?from=%ff"), 400)
    time.sleep(1)
    is_status("a body that is no JSON", ask("POST", "/api/v1/record", body=b"{{{"), 400)
    is_status("a body that is no UTF-8", ask("POST", "/api/v1/record", body=b'{"cgroup":"\xff\xfe"}'), 400)
    time.sleep(1)
    is_status("a group outside of all groups", ask("POST", "/api/v1/record", body={"target": "cgroup", "cgroup": "../../etc"}), 400)
    is_status("a tool that is none", ask("POST", "/api/v1/tools/run", body={"tool": "../../bin/sh"}), 400)
    time.sleep(1.5)
    is_status("an option that writes files", ask("POST", "/api/v1/tools/run", body={"tool": "syscount", "options": ["output=/tmp/x"]}), 400)
    is_status("an option that is none", ask("POST", "/api/v1/tools/run", body={"tool": "syscount", "options": ["; reboot"]}), 400)
    two = raw(f"GET /api/v1/about HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n\r\n".encode() * 2 +
              b"GET /nothing HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    check("requests sent ahead are answered in order", two.count(b"HTTP/1.1 200") == 2 and b"HTTP/1.1 404" in two, two[:100])
    first = ask("GET", "/serve.js", headers=["Accept-Encoding: gzip"])
    tag = [l for l in first.split(b"\r\n") if l.startswith(b"ETag: ")][0].split(b" ", 1)[1].decode()
    is_status("a page that is known is not sent again",
              ask("GET", "/serve.js", headers=["Accept-Encoding: gzip", f"If-None-Match: {tag}"]), 304)
    plain = ask("GET", "/serve.js", headers=["Accept-Encoding: gzip;q=0, br"])
    check("a coding that is refused is not used", b"Content-Encoding" in first and b"Content-Encoding" not in plain, plain[:200])
    alive("after broken requests")


def crowds():
    slow = [connect() for _ in range(20)]
    for s in slow:
        s.sendall(b"GET / HTTP/1.1\r\nHost: loc")
    half = connect()
    half.sendall(b"POST /api/v1/record HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{")
    many = []
    for _ in range(2000):
        try:
            many.append(socket.create_connection(("127.0.0.1", PORT), timeout=5))
        except OSError:
            break
    alive(f"{len(many)} connections that say nothing")
    for s in many:
        s.close()
    begin = time.time()
    late = connect()
    late.settimeout(30)
    late.sendall(b"GET / HTTP/1.1\r\n")
    answer = b""
    try:
        for _ in range(40):
            late.sendall(b"X: y\r\n")
            late.settimeout(0.5)
            try:
                answer += late.recv(1000)
                break
            except socket.timeout:
                continue
    except (BrokenPipeError, ConnectionResetError):
        pass
    took = time.time() - begin
    check("a client that sends a line now and then is ended", took < 19 and (not answer or status(answer) == 408), (took, answer))
    for s in slow + [half, late]:
        s.close()
    floods = [status(ask("GET", "/api/v1/about")) for _ in range(700)]
    check("too many requests are refused", 429 in floods and 200 in floods, set(floods))
    time.sleep(2)
    alive("after a flood")


def watchers():
    s = connect()
    s.sendall(f"GET /api/v1/stream HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n\r\n".encode())
    text = b""
    while text.count(b"\ndata: ") < 3:
        text += s.recv(65536)
    text = text.split(b"\r\n\r\n", 1)[1]
    number = json.loads(text.split(b"data: ", 1)[1].split(b"\n", 1)[0])["stream"]
    check("the stream brings frames", b'"c":[' in text, text[:300])
    job = body_of(ask("POST", "/api/v1/record", body={"seconds": 60, "stream": number}))
    check("a recording begins", job["state"] in ("recording", "queued"), job)
    s.close()
    for _ in range(50):
        time.sleep(0.1)
        mine = [j for j in body_of(ask("GET", "/api/v1/jobs"))["jobs"] if j["job"] == job["job"]][0]
        if mine["state"] == "failed":
            break
    check("and ends when its client vanishes", mine["state"] == "failed" and "gone" in mine["error"], mine)


def local():
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(10)
    s.connect(UNIX)
    is_status("the Unix socket needs no token", ask("GET", "/api/v1/about", token=None, host="localhost", s=s), 200)


for part in (tokens, roles, origins, requests, watchers, local, crowds):
    part()
