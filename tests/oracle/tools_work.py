# SPDX-License-Identifier: GPL-2.0-or-later
# A bit of everything that tools look at, once a line comes from standard input. Argument 1 is a
# folder with the programs truthtrue and truthsleep.
import ctypes
import os
import signal
import socket
import subprocess
import sys
import threading
import time

folder = sys.argv[1]
libc = ctypes.CDLL(None, use_errno=True)
space = ctypes.create_string_buffer(1024)


def files():
    for i in range(20):
        os.close(os.open(folder + "/opened-%d" % i, os.O_CREAT | os.O_RDWR, 0o600))
        try:
            os.open(folder + "/missing-%d" % i, 0)
        except OSError:
            pass
        # stat(2) itself: the library uses newfstatat(2), which not all tools know
        libc.syscall(4, (folder + "/missing-%d" % i).encode(), space)
    fd = os.open(folder + "/synced", os.O_CREAT | os.O_RDWR, 0o600)
    for i in range(3):
        os.write(fd, b"x" * 5000)
        os.fsync(fd)
    os.fdatasync(fd)
    os.mkdir(folder + "/mounted")
    target = (folder + "/mounted").encode()
    libc.mount(b"truth", target, b"tmpfs", 0, None)
    libc.umount(target)


def processes():
    for i in range(20):
        subprocess.run([folder + "/truthtrue", "word", str(i)], check=False)
    child = subprocess.Popen([folder + "/truthsleep", "60"])
    time.sleep(0.1)
    child.kill()
    child.wait()
    signal.signal(signal.SIGUSR1, lambda *a: None)
    for i in range(25):
        os.kill(os.getpid(), signal.SIGUSR1)
    try:
        os.kill(2**22 - 1, signal.SIGUSR2)
    except OSError:
        pass
    os.setresuid(0, 0, 0)
    os.setuid(0)
    for i in range(5):
        thread = threading.Thread(target=lambda: None)
        thread.start()
        thread.join()
    # nanosleep(2) itself: the library sleeps by clock_nanosleep(2)
    span = (ctypes.c_long * 2)(0, 3000000)
    for i in range(10):
        libc.syscall(35, span, None)


def network():
    for i in range(3):
        socket.getaddrinfo("localhost", 80)
    server = socket.socket()
    server.bind(("127.0.0.1", 0))
    server.listen(7)

    def serve():
        for i in range(5):
            c, _ = server.accept()
            n = 0
            while n < 51200:
                n += len(c.recv(65536))
            c.sendall(b"x" * 3072)
            c.recv(1)
            c.close()

    thread = threading.Thread(target=serve)
    thread.start()
    for i in range(5):
        c = socket.create_connection(server.getsockname())
        c.sendall(b"y" * 51200)
        n = 0
        while n < 3072:
            n += len(c.recv(65536))
        c.close()
    thread.join()
    sink = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sink.bind(("127.0.0.1", 0))
    for i in range(30000):
        sink.sendto(b"z", sink.getsockname())
        sink.recv(10)


def scheduler():
    for i in range(300):
        time.sleep(0.0005)
    for i in range(400):
        os.getpgid(0)
        try:
            os.getpgid(2**30)
        except OSError:
            pass


print("waiting", flush=True)
sys.stdin.readline()
files()
processes()
network()
scheduler()
print("done", flush=True)
sys.stdin.readline()
