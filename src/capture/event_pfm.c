/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libpfm4 knows the events of each CPU model by their names in the vendor's manual. */
#include "capture/event_text.h"

#include "capture/pfm.h"

#ifdef HAVE_LIBPFM

int event_pfm_encode(const char *name, struct perf_event_attr *ret)
{
	struct perf_event_attr attr = { .size = PERF_ATTR_SIZE_VER7, .exclude_guest = 1 };
	pfm_perf_encode_arg_t arg = { .attr = &attr, .size = sizeof(arg) };
	struct pfm pfm;
	int r;

	if (pfm_open(&pfm) < 0)
		return -ENOSYS;
	r = pfm.encode(name, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT_EXT, &arg);
	if (r != PFM_SUCCESS)
		return r == PFM_ERR_UMASK || r == PFM_ERR_ATTR || r == PFM_ERR_ATTR_VAL ? -EINVAL
											: -ENOENT;
	*ret = attr;
	return 0;
}

#else

int event_pfm_encode(const char *name UNUSED, struct perf_event_attr *ret UNUSED)
{
	return -ENOSYS;
}

#endif
