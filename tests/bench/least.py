# SPDX-License-Identifier: GPL-2.0-or-later
"""The watcher that does no more than it must: see least.bpf.c. Its object file is the argument;
goes on until it is interrupted."""
import signal
import sys

import bpfobject


def main():
    # Before it is attached: from then on it may be interrupted.
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    programs = bpfobject.BpfObject(sys.argv[1])
    programs.attach("least_switch")
    signal.sigwait([signal.SIGINT])
    programs.release()


if __name__ == "__main__":
    main()
