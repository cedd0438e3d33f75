/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The headers of the system in which names of calls and of values stand: see values.list. */
#ifndef SYSCALLS_HEADERS_H
#define SYSCALLS_HEADERS_H

#include <asm/prctl.h>
#include <asm/unistd.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <linux/futex.h>
#include <linux/magic.h>
#include <linux/prctl.h>
#include <linux/stat.h>
#include <linux/rseq.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#endif
