#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# On a terminal, who looks says so while it looks; elsewhere nothing but the result is written.
# shellcheck source=tests/lib/test.sh
. "$(dirname "$0")/../lib/test.sh"

need_root
need_cmd python3
export TERM=xterm PAGER=

# Runs fathom on a terminal, with Ctrl-C when the line is there if the first word is "stop".
on_terminal() {
	timeout -k 5 60 python3 - "$1" "$FATHOM" "${@:2}" <<'END'
import fcntl, os, pty, struct, sys, termios
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 500, 80, 0, 0))
    os.execv(sys.argv[2], sys.argv[2:])
text, stop = b"", sys.argv[1] == "stop"
while True:
    try:
        piece = os.read(fd, 4096)
    except OSError:
        break
    if not piece:
        break
    text += piece
    if stop and b"shows the result" in text:
        os.write(fd, b"\x03")
        stop = False
sys.stdout.write(text.decode().replace("\r\n", "\n"))
print("status", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
END
}

gone=$'\r\033\\[K'
for words in offcpu threads runqlat 'sched latency'; do
	# shellcheck disable=SC2086 # words are words
	seen=$(on_terminal stop $words)
	like "$words says that it looks, until Ctrl-C" "$seen" "${gone}watching\\.\\.\\. Ctrl-C ends it"
	like "$words: the line goes" "$seen" "result(\^C)?${gone}"
	like "$words: the result comes" "$seen" '^status 0$'
done
for words in 'offwake -d 1s' 'stacks -d 1s' 'cpudist -d 1s'; do
	# shellcheck disable=SC2086 # words are words
	seen=$(on_terminal wait $words)
	like "$words says for how long" "$seen" "${gone}watching for 1 s"
	like "$words: the result comes" "$seen" '^status 0$'
	# shellcheck disable=SC2086 # words are words
	run "$FATHOM" $words
	expect_no_err "$words elsewhere: nothing but the result"
done
seen=$(on_terminal wait offcpu -d 1s -q)
unlike '-q: nothing but the result' "$seen" watching
seen=$(on_terminal wait threads -- sleep 1)
unlike 'the terminal is the program'"'"'s' "$seen" watching
done_testing
