/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include "base/base.h"

/* CLOCK_MONOTONIC: what BPF and our recordings use. */
u64 clock_mono_ns(void);
/* CLOCK_REALTIME */
u64 clock_wall_ns(void);
/* CPU time of this process, all threads. */
u64 clock_cpu_ns(void);
/* Sleeps to the end even if signals arrive, unless the stop flag is set. */
void clock_sleep_ns(u64 ns);

#endif
