/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libpfm4, which knows the events of each CPU model by their names in the vendor's manual. Its
 * tables hold 46,000 pointers: linked in, relocating them would be most of the time and memory of
 * every start. The shared library is opened when such a name is used; in the static
 * program, where nothing is relocated, it is linked in.
 */
#ifndef CAPTURE_PFM_H
#define CAPTURE_PFM_H

#ifdef HAVE_LIBPFM

#include "base/base.h"

#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>

struct pfm {
	__typeof__(&pfm_initialize) initialize;
	__typeof__(&pfm_get_os_event_encoding) encode;
	__typeof__(&pfm_get_pmu_info) pmu_info;
	__typeof__(&pfm_get_event_next) event_next;
	__typeof__(&pfm_get_event_info) event_info;
	__typeof__(&pfm_get_event_attr_info) attr_info;
};

/* Ready for questions; -ENOSYS when the library is not here. It stays open. */
int pfm_open(struct pfm *ret);

#endif
#endif
