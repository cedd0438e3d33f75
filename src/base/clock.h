/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include "base/base.h"

#include <time.h>

/*
 * In a time namespace the clocks of the kernel's programs and of perf's records are not those that
 * the C library reads. Called once, at the start; from then on all times below are the kernel's.
 */
void clock_init(void);
/* How far ahead of the kernel's clock @id is here: 0 outside of time namespaces. */
s64 clock_shift(clockid_t id);
/* @id as the kernel's programs and perf's records have it. */
u64 clock_ns(clockid_t id);
/* CLOCK_MONOTONIC: what BPF and our recordings use. */
u64 clock_mono_ns(void);
/* The kernel's CLOCK_MONOTONIC as the C library wants it for an absolute deadline. */
struct timespec clock_deadline(u64 mono_ns);
/* CLOCK_REALTIME */
u64 clock_wall_ns(void);
/* CPU time of this process, all threads. */
u64 clock_cpu_ns(void);
/* Sleeps to the end even if signals arrive, unless the stop flag is set. */
void clock_sleep_ns(u64 ns);

#endif
