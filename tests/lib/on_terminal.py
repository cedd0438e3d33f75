# SPDX-License-Identifier: GPL-2.0-or-later
"""on_terminal.py LINES CTRL_C_AFTER PROGRAM [ARGS...]

Runs a program on a terminal of 80 columns and prints what appears there, and its status.
Ctrl-C is typed when the text CTRL_C_AFTER has appeared; '' is never.
"""
import fcntl, os, pty, struct, sys, termios

lines, stop, program = int(sys.argv[1]), sys.argv[2].encode(), sys.argv[3:]
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", lines, 80, 0, 0))
    os.execv(program[0], program)
text = b""
while True:
    try:
        piece = os.read(fd, 4096)
    except OSError:
        break
    if not piece:
        break
    text += piece
    if stop and stop in text:
        os.write(fd, b"\x03")
        stop = b""
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
sys.stdout.write(text.decode().replace("\r\n", "\n"))
print("status", status)
