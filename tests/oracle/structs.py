# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls with structs, lists and addresses of sockets, the same ones each time."""
import array
import ctypes
import fcntl
import mmap
import os
import resource
import select
import signal
import socket
import struct
import time

call = ctypes.CDLL(None).syscall

os.stat("a")
os.stat("/dev/null")
os.statvfs("/proc")
os.utime("a", ns=(10**9, 2 * 10**9))
os.getcwd()
resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
signal.signal(signal.SIGUSR1, signal.SIG_IGN)
signal.signal(signal.SIGUSR2, lambda *_: None)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGCHLD])
signal.pthread_sigmask(signal.SIG_SETMASK, [])
signal.setitimer(signal.ITIMER_REAL, 100, 7)
signal.setitimer(signal.ITIMER_REAL, 0)
time.sleep(0.001)

a, b = socket.socketpair()
poll = select.poll()
poll.register(a.fileno(), select.POLLIN)
poll.register(b.fileno(), select.POLLIN | select.POLLOUT)
poll.poll(0)
poll.unregister(b.fileno())
poll.poll(1)
select.select([a], [b], [], 0)
os.writev(b.fileno(), [b"one", b"two\n", b"x" * 50])
os.readv(a.fileno(), [bytearray(3), bytearray(40)])
b.sendmsg([b"hello", b"world"])
a.recvmsg(64)
b.sendall(b"y")
epoll = select.epoll()
epoll.register(a.fileno(), select.EPOLLIN | select.EPOLLET)
epoll.poll(1)
epoll.unregister(a.fileno())

server = socket.socket(socket.AF_UNIX)
server.bind("sock")
server.listen(1)
client = socket.socket(socket.AF_UNIX)
client.connect("sock")
server.accept()
server.getsockname()
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind(("127.0.0.1", 0))
try:
    udp.connect(("255.255.255.255", 9))
except OSError:
    pass
try:
    socket.socket(socket.AF_INET6, socket.SOCK_DGRAM).connect(("::1", 9))
except OSError:
    pass

with open("a", "rb+") as file:
    fcntl.lockf(file, fcntl.LOCK_EX, 10, 5)
    fcntl.fcntl(file, fcntl.F_GETFD)
    try:
        fcntl.ioctl(file, 0x541b, array.array("i", [0]))
    except OSError:
        pass
    mmap.mmap(file.fileno(), 0).close()

child = os.fork()
if not child:
    os._exit(3)
os.waitpid(child, 0)
os.uname()
os.pipe()
word = ctypes.c_int(1)
call(202, ctypes.byref(word), 129, 1)
call(202, ctypes.byref(word), 128, 0, None)
call(302, 0, 7, None, ctypes.c_void_p(8))
call(20, 1, ctypes.c_void_p(8), 2)
call(232, 99, ctypes.c_void_p(8), 4, 0)
call(46, 99, ctypes.c_void_p(16), 0)
struct.pack("i", 1)
